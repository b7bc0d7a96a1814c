#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: If a recorder is stopped for longer than --max-stall, the kernel
# stores no samples from then on, until the recorder goes on: of numbered
# calls, those of one period are missing, exactly as many as are counted as
# stalled, all others are there, and the recording says so.  A recorder with a
# longer --max-stall, stopped at the same time, has all of them.
#
# Easy to get wrong: samples that are refused have to take part in the
# accounting, and the buffers have room, so nothing else would say it.
# $STOP_S: how long they are stopped.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd python3
tmpdir
: "${STOP_S:=3}"

cp "$work/calls" ./stalled-calls || fail cp
set -- -a --call-graph none -e syscall::close:entry \
    --filter 'comm == "stalled-calls" && fd >= 0x40000000'
record_begin -o patient.dtp --max-stall 1h "$@"
patient=$recorder
"$DTPROF" record -o stalled.dtp --max-stall 2s "$@" >out 2>err </dev/null &
recorder=$!
kill_at_end "$recorder"
await_recording "$recorder"
./stalled-calls -u 500 0 >calls.json &
calls=$!
kill_at_end "$calls"
sleep 0.5
kill -STOP "$patient" "$recorder"
await "the recorder stops" stopped "$recorder"
sleep "$STOP_S"
kill -CONT "$patient" "$recorder"
await "the reader goes on" "$DTPROF" mark --recorder "$recorder" again
sleep 0.5
kill "$calls"
wait "$calls"
record_end 0
expect_err 'no samples were stored in the last .* due to --max-stall 2s' \
    'nothing is said of the stall'
recorder=$patient
record_end 0
py "$STOP_S" <<'END'
import json
import sys
import recording as rec

NAME = "syscall::close:entry"
made = json.load(open("calls.json"))["calls"]
expected = set(range(0x40000000, 0x40000000 + made))
rows = {}
seen = {}
for path in ("stalled.dtp", "patient.dtp"):
    rows[path] = rec.balance(path, [NAME])[NAME]
    seen[path] = {r["args"]["fd"]: r["time_ns"]
                  for r in rec.samples(path, NAME)}
    rec.check(seen[path].keys() <= expected, "%s: other calls" % path)
row = rows["stalled.dtp"]
missing = sorted(expected - seen["stalled.dtp"].keys())
rec.check(len(missing) == row["stalled"] == row["error"] > 0,
          "%d of %d calls are missing, but %r" % (len(missing), made, row))
rec.check(missing == list(range(missing[0], missing[-1] + 1)),
          "more than one hole")
before, after = missing[0] - 1, missing[-1] + 1
rec.check(before in expected and after in expected, "a hole at an end")
marks = [r for r in rec.records("stalled.dtp") if r["type"] == "marker" and
         "--max-stall 2s" in r["text"]]
rec.check(len(marks) == 1, "%d marks" % len(marks))
times = seen["stalled.dtp"]
hole = (times[after] - times[before]) / 1e9
rec.check(0 < hole < float(sys.argv[1]) + 60, "a hole of %.1f s" % hole)
rec.check(times[before] < marks[0]["time_ns"] <= times[after],
          "the mark is not at the end of the hole")
gaps = [r for r in rec.records("stalled.dtp") if r["type"] == "lost"]
rec.check(sum(g["count"] for g in gaps if g["event"] == NAME) ==
          len(missing), "gaps: %r" % gaps)
row = rows["patient.dtp"]
rec.check(row["stalled"] == row["error"] == row["full"] == 0 and
          seen["patient.dtp"].keys() == expected,
          "the control: %d of %d calls, %r" %
          (len(seen["patient.dtp"]), made, row))
rec.ok("of %d calls %d in one hole of %.1f s were counted as stalled, none "
       "where %s was allowed" % (made, len(missing), hole, "an hour"))
END
