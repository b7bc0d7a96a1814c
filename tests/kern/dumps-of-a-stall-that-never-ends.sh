#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: --dump-on 'off-cpu > TIME' writes a dump while a thread is stuck,
# once for each such wait, not before the time is over and not for shorter
# waits; it names the thread and for how long it has waited.
#
# Easy to get wrong: a record comes only when the wait ends; when it does, it
# is no second trigger; a wait that is longer than all before is one all along.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

mkfifo stuck
cat >program.py <<'DONE'
import os
import time

for number in range(2):
    for n in range(20):
        time.sleep(0.05)
    print(time.monotonic_ns(), os.getpid(), flush=True)
    open("stuck").read()
DONE
"$DTPROF" record --ring 1M --dump-after 0s --dump-on 'off-cpu > 700ms' \
    --off-cpu -o 'd.%n.dtp' -- python3 program.py >out 2>err </dev/null &
recorder=$!
kill_at_end $recorder
py $recorder <<'DONE'
import os
import re
import sys
import time
import recording as rec


def dumps(tid):
    """Dumps of this thread: number, ms, and whether it is still stuck."""
    said = re.findall(r"dump (\d+) \(off-cpu ([0-9.]+) (m?s) > 700 ms in "
                      r"thread %d(, which still waits)?.* in d" % tid,
                      open("err").read())
    return [(number, float(ms) * (1 if unit == "ms" else 1000), bool(still))
            for number, ms, unit, still in said]


def lines():
    """What the program has said before it got stuck."""
    return [[int(word) for word in line.split()]
            for line in open("out").read().splitlines()]


for number in range(2):
    while len(lines()) <= number:
        time.sleep(0.02)
    began, tid = lines()[-1]
    while len([d for d in dumps(tid) if d[2]]) <= number:
        os.kill(int(sys.argv[1]), 0)
        time.sleep(0.02)
    state = open("/proc/%d/stat" % tid).read().rsplit(")", 1)[1].split()[0]
    rec.check(state == "S", "the thread is no longer stuck: " + state)
    which, waited, _ = dumps(tid)[-1]
    dump = rec.report("d.%s.dtp" % which)["recording"]["dump"]
    late = (dump["requested_ns"] - began) / 1e6
    rec.check(700 <= waited <= late * 1.006, "%s, %.1f ms after it began" %
              (dump["reason"], late))
    rec.ok("%s: %.1f ms after it began, by its own clock" % (dump["reason"],
                                                             late))
    # It stays one dump, while it waits and when it ends.
    time.sleep(1.5)
    rec.check(dumps(tid)[-1][0] == which, "more: %s" % dumps(tid))
    with open("stuck", "w") as end:
        end.write("go on")
DONE
wait $recorder || fail "record: status $?: $(cat err)"
# A busy machine may keep it from running for long, but not for so long.
grep '^dtprof: record: dump ' err >dumps
[ "$(grep -c 'still waits' dumps)" -eq 2 ] ||
    fail "not one for each wait: $(cat err)"
grep -v 'still waits' dumps | grep '(off-cpu [2-9][0-9.]* s' &&
	fail "a second one for a wait when it ended"
ok "one dump for each of two waits"
