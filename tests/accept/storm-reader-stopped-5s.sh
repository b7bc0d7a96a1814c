#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A reader that is stopped for 5 s in the middle of a storm loses
# what came meanwhile and says so; before and after everything is there, the
# file is whole, and the recorder goes on by itself.
# TIMEOUT: 1200
#
# Easy to get wrong: what is refused for seconds has to be one counted gap,
# and the times of the merged CPUs must still be in order behind it.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

record_begin -o a.dtp -a --buffer 256K --call-graph none -e cpu-clock \
    -c 100000 -e sched:sched_switch -e syscall::close:entry
"$work/calls" -u 20 0 >/dev/null &
calls=$!
kill_at_end "$calls"
kill -STOP "$recorder"
await "the recorder stops" stopped "$recorder"
sleep 5
kill -CONT "$recorder"
await "the reader goes on" "$DTPROF" mark --recorder "$recorder" again
"$work/calls" 100 >after.json || fail "calls"
record_end 0
kill "$calls"
py <<'END'
import json
import recording as rec

rows = rec.balance("a.dtp", ["cpu-clock", "sched:sched_switch",
                             "syscall::close:entry"])
rec.check(rec.report("a.dtp")["recording"]["cut"] is None, "it was cut")
every = rec.in_order("a.dtp")
gaps = [r for r in every if r["type"] == "lost" and "since_ns" in r]
rec.check(max(g["time_ns"] - g["since_ns"] for g in gaps) > 3e9,
          "no gap is as long as the reader stood still")
for name, row in rows.items():
    told = sum(g["count"] for g in gaps if g["event"] == name)
    rec.check(told == row["full"] + row["nested"] + row["error"],
              "%s: gaps of %d, refused %d" % (name, told, row["full"]))
pid = json.load(open("after.json"))["pid"]
after = [r for r in every if r["type"] == "sample" and r["pid"] == pid and
         r.get("args", {}).get("fd", 0) >= 0x40000000]
rec.check(len(after) == 100, "%d of 100 calls after it" % len(after))
rec.ok("%d refused in %d gaps; all is there afterwards" %
       (sum(g["count"] for g in gaps), len(gaps)))
END
