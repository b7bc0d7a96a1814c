#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Overloaded, with three kinds of sources at once on all CPUs, the
# smallest buffers and a reader that is stopped for a while, every firing is
# still accounted for, to the unit; writers nested in writers are stored, no
# record is torn, and what was reserved was drained.
#
# Easy to get wrong: the timer comes in the middle of the tracepoint's
# program, on the same CPU, into the same buffer.  Numbers in the calls show
# a torn or doubled record; stored = read = in the file shows a lost one.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
: "${STORM:=5000}" "${STOPS:=2}"

record_begin -o a.dtp -a --buffer 64K --call-graph none \
    -e profile:::50us -e sched:sched_switch -e syscall::close:entry \
    -e syscall::close:return -e syscall:close
"$work/calls" -t 2 0 >calls.json &
storm=$!
kill_at_end "$storm"
for _ in $(seq "$STOPS"); do
	kill -STOP "$recorder"
	await "the recorder stops" stopped "$recorder"
	"$work/calls" "$STORM" >/dev/null || fail calls
	kill -CONT "$recorder"
	"$work/calls" "$STORM" >/dev/null || fail calls
done
record_end 0
kill "$storm"
wait "$storm"
py <<'END'
import recording as rec

names = ["profile:::50us", "sched:sched_switch", "syscall::close:entry",
         "syscall::close:return", "syscall:close"]
rows = rec.balance("a.dtp", names)
rec.check(rec.report("a.dtp")["recording"]["cut"] is None, "it was cut")
full = sum(rows[n]["full"] for n in names)
nested = sum(rows[n]["nested_stored"] for n in names)
rec.check(full > 0, "nothing was refused: this was no overload")
rec.check(nested > 0, "no nested writer was stored")
calls = rows["syscall:close"]["calls"]
rec.check(calls["balances"] and calls["unkept"] == 0, "calls: %r" % calls)
last = {}
n = 0
for r in rec.in_order("a.dtp"):
    if r["type"] != "sample" or r["event"] != "syscall::close:entry":
        continue
    # Not the numbers of calls: others' descriptors, -1 too.
    if not 0x40000000 <= r["args"]["fd"] < 0x80000000:
        continue
    rec.check(r["args"]["fd"] > last.get(r["tid"], 0),
              "call %d of thread %d after %d: torn, doubled or out of order"
              % (r["args"]["fd"], r["tid"], last.get(r["tid"], 0)))
    last[r["tid"]] = r["args"]["fd"]
    n += 1
rec.check(n > 1000, "just %d calls were seen" % n)
rec.ok("%d refused as full, %d nested writers stored, %d calls in order" %
       (full, nested, n))
END
