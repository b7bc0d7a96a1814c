#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: With the reader stopped, a full buffer refuses the newest and
# counts each of them as full; what was stored before is intact, the oldest,
# in order and without a hole; the workload does not wait for the reader;
# and when the reader goes on, samples are stored again.
#
# Easy to get wrong: a writer that waits for room, that overwrites what was
# not yet read, or that stores a smaller record where a larger was refused
# and so shows a time that never was.  All calls are of one size here, so a
# hole would show in their numbers.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
: "${CALLS:=20000}"

record_begin -o a.dtp -p $$ --comm calls --buffer 64K --call-graph none \
    -e syscall::close:entry --filter 'fd >= 0x40000000'
kill -STOP "$recorder"
await "the recorder stops" stopped "$recorder"
"$work/calls" -c 0 "$CALLS" >first.json || fail "calls"
kill -0 "$recorder" && stopped "$recorder" || fail "the reader went on"
ok "$CALLS calls were made while the reader stood still"
kill -CONT "$recorder"
# It goes on when it takes a mark.
await "the reader goes on" "$DTPROF" mark --recorder "$recorder" again
"$work/calls" -c 0 500 >second.json || fail "calls"
record_end 0
py "$CALLS" <<'END'
import json
import sys
import recording as rec

calls = int(sys.argv[1])
row = rec.balance("a.dtp")["syscall::close:entry"]
first = json.load(open("first.json"))["pid"]
second = json.load(open("second.json"))["pid"]
seen = [r["args"]["fd"] - 0x40000000 for r in rec.samples("a.dtp")
        if r["pid"] == first]
rec.check(0 < len(seen) < calls, "%d of %d stored" % (len(seen), calls))
rec.check(seen == list(range(len(seen))),
          "what was stored is not the oldest, without a hole")
rec.check(row["full"] == calls - len(seen), "%d refused, %d missing" %
          (row["full"], calls - len(seen)))
rec.check(row["nested"] == row["error"] == 0, "%r" % row)
rec.ok("the oldest %d are there in order, %d newer ones are counted as full" %
       (len(seen), row["full"]))
after = [r["args"]["fd"] - 0x40000000 for r in rec.samples("a.dtp")
         if r["pid"] == second]
rec.check(after == list(range(500)), "%d of 500 after it went on" % len(after))
rec.ok("after the reader went on all 500 calls are there")
END
