#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: When the reader stands still and the buffer is full, the hole in
# the samples is in the recording with its beginning, end and size, per event
# and CPU; recording goes on by itself when the reader does.
#
# Easy to get wrong: a total at the end says how much was lost, but not that
# the quiet minute in the middle was none.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

record_begin -o a.dtp -p $$ --buffer 64K --call-graph none \
    -e syscall::close:entry --filter 'fd >= 0x40000000'
"$work/calls" -c 0 500 >before.json || fail "calls"
await "it takes a mark" "$DTPROF" mark --recorder "$recorder" begin
kill -STOP "$recorder"
await "the recorder stops" stopped "$recorder"
"$work/calls" -c 0 5000 >hole.json || fail "calls"
kill -CONT "$recorder"
await "the reader goes on" "$DTPROF" mark --recorder "$recorder" again
"$work/calls" -c 0 500 >after.json || fail "calls"
record_end 0
py <<'END'
import json
import recording as rec

row = rec.balance("a.dtp")["syscall::close:entry"]
every = rec.in_order("a.dtp")
before, hole, after = (json.load(open(f + ".json"))["pid"]
                       for f in ("before", "hole", "after"))
seen = {}
for r in every:
    if r["type"] == "sample":
        seen.setdefault(r["pid"], []).append(r["time_ns"])
rec.check(len(seen[before]) == 500 and len(seen[after]) == 500,
          "samples before and after: %d, %d" % (len(seen[before]),
                                                len(seen[after])))
rec.check(0 < len(seen[hole]) < 5000, "%d in the hole" % len(seen[hole]))
gaps = [r for r in every if r["type"] == "lost" and
        r.get("event") == "syscall::close:entry"]
rec.check(sum(g["count"] for g in gaps) == row["full"], "gaps of %d, full %d"
          % (sum(g["count"] for g in gaps), row["full"]))
rec.check(row["full"] + len(seen[hole]) == 5000, "%d stored + %d refused" %
          (len(seen[hole]), row["full"]))
since = min(g["since_ns"] for g in gaps)
until = max(g["time_ns"] for g in gaps)
# It begins at the last look that found none, which may be a little earlier.
rec.check(since >= seen[before][0], "the gap begins before there was one")
rec.check(since <= seen[hole][-1] <= until <= seen[after][0],
          "gap from %d to %d, samples until %d and from %d" %
          (since, until, seen[hole][-1], seen[after][0]))
rec.check(all(g["cpu"] == 0 for g in gaps), "on another CPU: %r" % gaps)
rec.ok("%d gaps: %d refused from %d ns after the last sample before to "
       "%d ns before the next one" % (len(gaps), row["full"], max(0, since -
       seen[before][-1]), seen[after][0] - until))
END
"$DTPROF" report --stats a.dtp >out
grep -q '^GAPS' out || fail "the report does not speak of gaps"
"$DTPROF" script --show all a.dtp | grep -q 'events lost since' ||
    fail "the script does not show the gap"
ok "report and script say so"
