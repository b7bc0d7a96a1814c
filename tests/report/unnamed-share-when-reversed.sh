#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the share without a name is that of samples whose innermost
# function has none, however the stacks are shown: by function or by line,
# from the root or reversed.
# Easy to get wrong: reversed, a path ends with the outermost caller; a line
# is no function, but has one.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 nm readelf
tmpdir
cat >work.c <<'END'
int main(void) { return (0); }
END
${CC:-cc} -g -O1 -Wl,--build-id -o work work.c || fail cc
# Of four one has no name, and of three the caller has none.
PYTHONPATH=$SRC/tests/report python3 - <<'END' || fail "cannot write"
from perfdata import NOWHERE, Program
Program("work").write("x.data", [[NOWHERE, ("main", 0)]] +
                      [[("main", 0), NOWHERE]] * 3)
END
expect 0 "$DTPROF" import -o x.dtp x.data
expect 0 "$DTPROF" report x.dtp
grep -q '25.0% of samples are at unresolved addresses' out ||
    fail "a report: $(cat out err)"
for how in '' --lines --reverse '--reverse --lines'; do
	# shellcheck disable=SC2086 # several options
	expect 0 "$DTPROF" flamegraph $how -o x.svg x.dtp
	expect 0 "$DTPROF" flamegraph $how -o x.html x.dtp
	grep -q '25\.0% of samples are at unresolved' x.html ||
	    fail "flamegraph $how: $(grep -o '[0-9.]*% of samples at' x.html)"
done
grep -q 'work\.c:1' x.svg || fail "no lines in it"
ok "the same share however stacks are shown"
