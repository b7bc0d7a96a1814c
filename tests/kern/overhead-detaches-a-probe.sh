#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a probe that costs more than --max-overhead allows is detached
# within the looks that are promised, with a note, a marker and a word in the
# recording; no sample of it is younger than the marker, what there is balances,
# and other events go on at their rate.  One that costs less stays.  Of spans
# both ends are detached, each once; spans until then are complete and their
# time adds up, and none after that is open or orphan.
#
# Easy to get wrong: slowing the timers for what a probe costs; the trap itself
# is in no statistics; samples that were under way when it was detached, whose
# cost is seen when the probe is gone.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd python3
tmpdir

record()	# output argument ...
{
	out=$1
	shift
	"$DTPROF" record -o "$out" --call-graph none -e cpu-clock "$@" \
	    >said 2>err </dev/null
}

record a.dtp -e uprobe:libc.so.6:syscall --max-overhead 0.5 --duration 4s \
    -- "$work/calls" 0
grep -q 'note: uprobe:libc.so.6:syscall was detached and is no' \
    err || fail "not detached: $(cat err)"
grep -q 'rate lowered' err && fail "the timer was slowed: $(cat err)"
"$DTPROF" report --stats --json a.dtp >stats || fail "stats"
py <<'END'
import json
import re
import recording as rec

rec.balance("a.dtp", ["uprobe:libc.so.6:syscall", "cpu-clock"])
records = rec.records("a.dtp", "all", "--no-symbols")
marks = [r for r in records if r["type"] == "marker" and
         r["text"].startswith("uprobe:libc.so.6:syscall was detached")]
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
said = re.fullmatch("uprobe:libc.so.6:syscall detached after "
                    r"([\d.]+) s; recorded ([\d.]+) s in total",
                    info["less.probes"])
start = next(r["time_ns"] for r in records if r["type"] == "start")
stop = next(r["time_ns"] for r in records if r["type"] == "stop")
rec.check(said and abs(float(said[1]) - (at - start) / 1e9) < 0.5 and
          abs(float(said[2]) - (stop - start) / 1e9) < 0.5, "%r" % info)
rec.ok("%d samples, then none; %d of the clock behind" % (len(calls), behind))
END
"$DTPROF" report --stats a.dtp 2>/dev/null |
    grep -q '^degraded .*syscall detached after' || fail "report does not tell"

record b.dtp -e uprobe:libc.so.6:syscall --max-overhead 100 \
    -- "$work/calls" 3000
grep -q detached err && fail "detached without need: $(cat err)"
py <<'END'
import recording as rec
rows = rec.balance("b.dtp", ["uprobe:libc.so.6:syscall"])
rec.check(rows["uprobe:libc.so.6:syscall"]["stored"] == 3000, "%r" % rows)
rec.ok("within what is allowed it stays")
END

record c.dtp --span call=uprobe:libc.so.6:syscall --max-overhead 0.01 \
    --duration 2s -- "$work/calls" 0
[ "$(grep -c 'note: u.*probe:libc.so.6:syscall was detached' err)" -eq 2 ] &&
    [ "$(grep -c detach err)" -eq 2 ] || fail "detached: $(cat err)"
"$DTPROF" report --by span --json c.dtp >spans || fail "report"
py <<'END'
import json
import recording as rec

got = json.load(open("spans"))
info, span = got["recording"]["info"], got["spans"][0]
first = min(int(info["detached.%d" % n]) for n in (2, 3))
calls = rec.samples("c.dtp", None, "-e", "*syscall")
ends = sum(c["time_ns"] < first and c["event"].startswith("uret")
           for c in calls)
rec.check(0 < span["count"] == ends and span["open"] == span["orphan"] == 0,
          "%d ends before: %r" % (ends, span))
# Kernels have been seen to switch without telling, which is counted.
rec.check(span["total_ns"] == span["inside_ns"] - span["ambiguous_ns"] and
          span["running_ns"] > 0 and span["clockless"] == 0 and
          (span["difference_ns"] > 0) == (span["gaps"] > 0),
          "does not add up: %r" % span)
rec.ok("%d spans, then none" % ends)
END
