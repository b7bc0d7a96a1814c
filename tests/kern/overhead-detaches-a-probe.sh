#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a probe that costs more than --max-overhead allows is detached
# within the looks that are promised, with a note, a marker and a word in the
# recording; no sample of it is younger than the marker, what there is balances,
# and other events go on at their rate.  One that costs less stays.
#
# Easy to get wrong: slowing the timers for what a probe costs; the trap itself
# is in no statistics; samples that were under way when it was detached.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd python3
tmpdir

record()	# output argument ...
{
	out=$1
	shift
	"$DTPROF" record -o "$out" --call-graph none \
	    -e uprobe:libc.so.6:syscall -e cpu-clock "$@" \
	    >said 2>err </dev/null
}

record a.dtp --max-overhead 0.5 --duration 4s -- "$work/calls" 0
grep -q 'note: uprobe:libc.so.6:syscall detached, nothing of it is recorded' \
    err || fail "not detached: $(cat err)"
grep -q 'rate lowered' err && fail "the timer was slowed: $(cat err)"
"$DTPROF" report --stats --json a.dtp >stats || fail "stats"
py <<'END'
import json
import recording as rec

rec.balance("a.dtp", ["uprobe:libc.so.6:syscall", "cpu-clock"])
records = rec.records("a.dtp", "all", "--no-symbols")
marks = [r for r in records if r["type"] == "marker" and
         r["text"].startswith("uprobe:libc.so.6:syscall detached")]
rec.check(len(marks) == 1, "%d markers" % len(marks))
at = marks[0]["time_ns"]
of = {}
for r in records:
    if r["type"] == "sample":
        of.setdefault(r["event"], []).append(r["time_ns"])
calls, clock = of["uprobe:libc.so.6:syscall"], of["cpu-clock"]
rec.check(max(calls) <= at, "%d samples behind the marker" %
          sum(t > at for t in calls))
behind = sum(t > at for t in clock)
rec.check(behind > 0, "no sample of the clock behind the marker")
info = json.load(open("stats"))["recording"]["info"]
rec.check(info["less.probes"].startswith(
    "uprobe:libc.so.6:syscall detached after "), "%r" % info)
rec.ok("%d samples, then none; %d of the clock behind" % (len(calls), behind))
END
"$DTPROF" report --stats a.dtp 2>/dev/null |
    grep -q '^degraded .*syscall detached after' || fail "report does not tell"

record b.dtp --max-overhead 100 -- "$work/calls" 3000
grep -q detached err && fail "detached without need: $(cat err)"
py <<'END'
import recording as rec
rows = rec.balance("b.dtp", ["uprobe:libc.so.6:syscall"])
rec.check(rows["uprobe:libc.so.6:syscall"]["stored"] == 3000, "%r" % rows)
rec.ok("within what is allowed it stays")
END
