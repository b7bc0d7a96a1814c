#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Before each instruction of an exception that is thrown, looked
# for and caught, the stack is either whole or said to be truncated: none ends
# early and passes for complete.
#
# Easy to get wrong: on the way to a handler libgcc has put the return
# addresses of another frame on the stack than that which the registers are
# of, for a few dozen instructions of some ten thousand.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd g++ nm readelf
tmpdir

g++ -O2 -fomit-frame-pointer -o throws "$SRC/tests/work/stacks/throws.cc" ||
    fail "g++"
mkfifo go
"$work/steps" ./throws once <go >steps &
stepper=$!
kill_at_end $stepper
exec 9>go
await "it stands before the second throw" grep -q held steps
read -r child _ <"/proc/$stepper/task/$stepper/children"
kill_at_end "$child"
record_begin -e sched:sched_switch --buffer 16M -o a.dtp -p "$child"
exec 9>&-
wait $stepper || fail "steps: $?"
record_wait 0
steps=$(tail -n 1 steps)
py "$SRC/tests/kern" "$steps" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import recording as rec
import stacks

steps = int(sys.argv[2])
all_of = stacks.Stacks("a.dtp")
by, early = stacks.collections.Counter(), stacks.collections.Counter()
for sample in all_of.samples():
    status = all_of.status(sample)
    by[status] += 1
    if status == "elsewhere":
        early[" ".join(all_of.names(sample))] += 1
for names, count in early.most_common(10):
    print("%d complete? %s" % (count, names))
print("%d steps: %r" % (steps, dict(by)))
rec.check(sum(by.values()) >= steps > 5000, "too few samples")
rec.check(not by["elsewhere"], "%d end early and pass for complete" %
          by["elsewhere"])
rec.check(by["ok"] > 0.99 * steps, "too few are whole")
rec.ok("of %d stacks none ends early and passes for complete, %d are "
       "truncated" % (sum(by.values()), sum(by.values()) - by["ok"]))
END
