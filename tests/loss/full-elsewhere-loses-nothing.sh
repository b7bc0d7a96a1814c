#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A CPU that floods its buffer costs the others nothing: of slow
# events on CPU 1 none is lost while CPU 0 loses most of its own.
#
# Easy to get wrong: a reader that empties the first CPU until it finds it
# empty never comes to the second.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
[ -d /sys/devices/system/cpu/cpu1 ] || skip "needs two CPUs"
tmpdir
: "${SLOW:=1000}"

record_begin -o a.dtp -p $$ --comm calls --buffer 64K --call-graph none \
    -e syscall::close:entry -e syscall::close:return
"$work/calls" -c 0 0 >/dev/null &
flood=$!
kill_at_end "$flood"
"$work/calls" -c 1 -u 1000 "$SLOW" >slow.json || fail "calls"
# Loss is not a matter of luck: the reader stands still for a moment, but
# for less than CPU 1 takes to fill its buffer.
kill -STOP "$recorder"
await "the recorder stops" stopped "$recorder"
"$work/calls" -c 1 50 >more.json || fail "calls"
kill -CONT "$recorder"
kill "$flood"
wait "$flood"
record_end 0
py "$SLOW" <<'END'
import json
import sys
import recording as rec

slow = int(sys.argv[1])
rows = rec.balance("a.dtp")
lost = sum(rows[name]["full"] for name in rows)
for name, calls in [("slow.json", slow), ("more.json", 50)]:
    pid = json.load(open(name))["pid"]
    seen = [r["args"]["fd"] - 0x40000000 for r in
            rec.samples("a.dtp", None, "-e", "syscall::close:entry",
                        "--filter", "pid == %d && fd >= 0x40000000" % pid)]
    rec.check(seen == list(range(calls)), "%d of %d slow calls" %
              (len(seen), calls))
rec.check(lost > 0, "the flood lost nothing, so this shows nothing")
rec.ok("all %d slow calls on CPU 1 are there, while CPU 0 lost %d records" %
       (slow, lost))
END
