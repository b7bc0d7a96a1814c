#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: report -e EVENT has the functions that EVENT met, as many as
# --json lists, and no rows of other events; without -e there are more.  The
# same holds of --callers and --callees; of a function without samples of EVENT
# a note says so.
# Easy to get wrong: rows are found by all samples, and one whose values are
# all 0 looks like an answer.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
tmpdir
expect 0 "$DTPROF" record -o x.dtp -e cpu-clock -e page-faults -- \
    sh -c 'for n in 1 2 3 4 5 6 7 8 9 10; do ls -lR /usr/share/doc; done' \
    >/dev/null
expect 0 "$DTPROF" report --csv -e page-faults x.dtp
cp "$tmp/out" faults
expect 0 "$DTPROF" report --csv x.dtp
cp "$tmp/out" all
expect 0 "$DTPROF" report --json -e page-faults x.dtp
python3 - "$tmp/out" <<'END' >names || fail "see above"
import csv
import json
import sys

faults, every = ([r for r in csv.DictReader(open(name))]
                 for name in ("faults", "all"))
listed = [f for f in json.load(open(sys.argv[1]))["functions"]
          if f["event"] == "page-faults"]
print("%d rows of faults, %d listed, %d in all" %
      (len(faults), len(listed), len(every)), file=sys.stderr)
assert len(faults) == len(listed) > 0
assert len(every) > len(faults)

# A function that faults did not meet, and one that they did.
met = {r["name"] for r in faults}
print(next(r["name"] for r in every if r["name"].isidentifier() and
           r["name"] not in met))
print(next(r["name"] for r in faults if r["name"].isidentifier()))
END
{
	read -r unmet
	read -r met
} <names
ok "page faults have rows of their own"

# [self] is there without samples, too.
expect 0 "$DTPROF" report --csv --callers "$unmet" -e page-faults x.dtp
[ "$(wc -l <"$tmp/out")" -eq 1 ] || fail "--callers: $(cat "$tmp/out")"
expect_err 'note: the function has no samples of the shown events'
expect 0 "$DTPROF" report --csv --callees "$unmet" -e page-faults x.dtp
[ "$(wc -l <"$tmp/out")" -eq 2 ] || fail "--callees: $(cat "$tmp/out")"
for which in callers callees; do
	expect 0 "$DTPROF" report --csv "--$which" "$met" -e page-faults x.dtp
	expect_out '^"page-faults"'
	! grep ',0.$' "$tmp/out" | grep -v '\[self\]' ||
	    fail "--$which: rows without samples"
done
ok "so do callers and callees of $met; $unmet has none"
