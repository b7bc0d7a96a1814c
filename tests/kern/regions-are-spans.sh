#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the macros of prof_region.h mark regions that record --span takes
# as spans: as many as the program ran, of each name, nested, and of a region
# that ends in two places, none open and none orphan; the header compiles alone
# as C99 and as C++, and without optimization.
#
# Easy to get wrong: one name, several places.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

times=500
at=usdt:$work/regions:region
record 0 -o a.dtp -e cpu-clock --span outer="$at:outer_begin,$at:outer_end" \
    --span inner="$at:inner_begin,$at:inner_end" -- "$work/regions" $times
expect 0 "$DTPROF" report --by span --json a.dtp
py $times <<'END'
import json
import sys
import recording as rec

times = int(sys.argv[1])
spans = json.load(open("out"))["spans"]
rec.check(len(spans) == 2, "not two spans: %r" % spans)
for span in spans:
    expected = times * {"outer": 1, "inner": 3}[span["name"]]
    rec.check((span["count"], span["open"], span["orphan"], span["lost"]) ==
              (expected, 0, 0, 0), "%r, not %d" % (span, expected))
    rec.ok("%d spans of region %s" % (expected, span["name"]))
END
printf '#include "prof_region.h"\nint main(void) { PROF_REGION_BEGIN(a);
PROF_REGION_END(a); return (0); }\n' >alone.c
cp alone.c alone.cc
"${CC:-cc}" -std=c99 -pedantic -Wall -Werror -O0 -I"$SRC/libprof" \
    -o c alone.c || fail "not as C99"
command -v g++ >/dev/null && { g++ -Wall -Werror -I"$SRC/libprof" -o cc \
    alone.cc || fail "not as C++"; }
expect 0 "$DTPROF" list "usdt:$PWD/c:region:*"
[ "$(grep -c region: out)" -eq 2 ] || fail "not two probes: $(cat out)"
ok "the header alone makes two probes"
