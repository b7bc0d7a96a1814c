#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Where a thread comes out of the system call that made it, its
# stack is complete and has one frame, for nobody called there; the stack of
# the thread that made it, at the same instruction, goes on to _start.
#
# Easy to get wrong: both return from one call, and the new one's stack holds
# nothing yet, often a 0 where a return address would be.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd readelf
[ "$(uname -m)" = x86_64 ] || skip "known by its code on x86-64 only"
tmpdir

"$work/storms" thread 200000 >/dev/null 9>&- &
storm=$!
kill_at_end $storm
await "the program has begun" [ "/proc/$storm/exe" -ef "$work/storms" ]
record 0 -e syscall:clone3:return -o a.dtp --duration 300ms -p $storm
kill -9 $storm
py "$SRC/tests/kern" <<'END'
import collections
import sys
sys.path.insert(0, sys.argv[1])
import recording as rec
import stacks

all_of = stacks.Stacks("a.dtp")
born, made = collections.Counter(), collections.Counter()
for sample in all_of.samples():
    which = born if sample["args"]["ret"] == 0 else made
    which[(sample["user_status"], len(sample["user"]) == 1)] += 1
print("new threads: %r, who made them: %r" % (dict(born), dict(made)))
rec.check(born[("ok", True)] >= 50, "too few new threads")
rec.check(made[("ok", False)] >= 50, "too few that made them")
rec.check(born[("ok", True)] >= 0.99 * sum(born.values()), "see above")
rec.check(made[("ok", False)] >= 0.99 * sum(made.values()), "see above")
rec.ok("%d new threads begin, %d go on" % (sum(born.values()),
                                           sum(made.values())))
END
