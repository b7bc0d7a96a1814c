#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: lost is lost / (stored + lost) of the samples that were wanted, and
# the summary, --max-loss, report, its JSON, --stats, the page and compare say
# the same; so do mapping and process events that were dropped.
#
# Easy to get wrong: a share of everything that fired, what the filter refused
# included: beside a storm of another program nearly all of what was wanted
# may be missing, and still "0.3 % lost".

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
: "${CALLS:=20000}" "${MAPS:=60000}"

cp "$work/calls" tgt || fail "no workload"
# The recorder stands still while what it wants comes, among much more.
cat >script.sh <<'END'
kill -STOP $PPID
"$@" >/dev/null
kill -CONT $PPID
END
cat >calls.sh <<'END'
"$work/calls" $((5 * $1))
./tgt "$1"
END
lossy()		# file max-loss status
{
	file=$1 limit=$2 want=$3
	"$DTPROF" record -a -o "$file" --buffer 64K --call-graph none \
	    --max-loss "$limit" -e syscall::close:entry \
	    --filter 'comm == "tgt"' -- sh script.sh sh calls.sh "$CALLS" \
	    >out 2>err </dev/null
	got=$?
	[ "$got" -eq "$want" ] || fail "status $got, not $want: $(cat err)"
}
lossy a.dtp 20 124
grep -q 'samples lost: more than --max-loss' err || fail "$(cat err)"
cp err summary
"$DTPROF" report a.dtp >report.text 2>&1 || fail "report"
"$DTPROF" report --stats a.dtp >stats 2>&1 || fail "report --stats"
"$DTPROF" report --stats --json a.dtp >stats.json 2>err || fail "--json"
"$DTPROF" flamegraph -o a.html a.dtp 2>err || fail "flamegraph"
"$DTPROF" compare a.dtp -- a.dtp >compare.text 2>&1 || fail "compare"
PYTHONPATH=$PYTHONPATH:$SRC/tests/browser py "$CALLS" <<'END'
import json
import re
import sys
import page_data
import recording as rec

calls = int(sys.argv[1])
row = rec.balance("a.dtp")["syscall::close:entry"]
stored = sum(r["comm"] == "tgt" for r in
             rec.samples("a.dtp", None, "--no-symbols"))
lost = row["full"] + row["nested"] + row["error"]
share = lost / (stored + lost)
rec.check(stored + lost >= calls and share > 0.2, "%r" % row)
rec.check(row["filtered"] > stored + lost, "nothing was filtered: %r" % row)
said = []


def equal(name, value):
    """It says the share."""
    rec.check(abs(value - share) < 0.006, "%s says %f, not %f" %
              (name, value, share))
    said.append(name)


def percent(name, text, pattern):
    """The one number of that text."""
    found = re.search(pattern, text)
    rec.check(found, "%s does not say it: %s" % (name, text))
    equal(name, float(found.group(1)) / 100)


percent("summary", open("summary").read(),
        r"record: %d samples, %d lost \(([0-9.]+) ?%%\)" % (stored, lost))
LOST = r"([0-9.]+) ?% (?:of samples )?(?:were )?lost"
percent("report", open("report.text").read(), LOST)
percent("--stats", open("stats").read(),
        r"%d of %d samples \(([0-9.]+)%%\)" % (lost, stored + lost))
percent("page", "".join(page_data.read("a.html")[0]["events"][0]["quality"]),
        LOST)
percent("compare", open("compare.text").read(), LOST)
equal("JSON", json.load(open("stats.json"))["quality"]["lost"])
equal("by event", rec.report("a.dtp")["quality_by_event"][0]["lost"])
rec.ok("%d of %d wanted are lost, of %d that fired: %s say %.1f%%" %
       (lost, stored + lost, row["fired"], ", ".join(said), 100 * share))
END

# Executable mappings of the one process that is recorded.
record_maps()	# limit status
{
	"$DTPROF" record -o b.dtp --max-loss "$1" -F 97 -e cpu-clock -- \
	    sh script.sh "$work/storms" mmap "$MAPS" >out 2>err </dev/null
	got=$?
	[ "$got" -eq "$2" ] || fail "status $got, not $2: $(cat err)"
}
record_maps 100 0
lost=$(sed -n 's/^.*, \([0-9]*\) mapping and process events lost (.*/\1/p' err)
[ "${lost:-0}" -gt 0 ] || skip "no mapping was lost: $(cat err)"
cp err summary
"$DTPROF" report b.dtp >report.text 2>&1 || fail "report"
"$DTPROF" report --stats b.dtp >stats 2>&1 || fail "report --stats"
"$DTPROF" flamegraph -o b.html b.dtp 2>err || fail "flamegraph"
"$DTPROF" compare b.dtp -- b.dtp >compare.text 2>&1 || fail "compare"
for place in summary report.text stats b.html compare.text; do
	grep -Eq "$lost .*mapping and process events" $place ||
	    fail "$place does not name $lost: $(head -n 20 $place)"
done
[ "$("$DTPROF" report --json b.dtp | python3 -c 'import json, sys
j = json.load(sys.stdin)
print(j["recording"]["sideband_lost"], j["quality"]["sideband_lost"] > 0)')" = \
    "$lost True" ] || fail "JSON does not name $lost"
record_maps 0 124
grep -q 'mapping and process events lost: more than --max-loss' err ||
    fail "--max-loss: $(cat err)"
ok "$lost mapping and process events that were dropped are named everywhere"
