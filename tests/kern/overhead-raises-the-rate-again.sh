#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A rate that --max-overhead lowered is raised again, to what was
# asked for, when the last ten seconds leave room for that, and is lowered when
# they turn out to be wrong; each change has a mark and a note, each sample the
# weight of its own period, and all weights, with the periods that timers were
# late for, make up the time that the kernel had the events of the program on.
# The summary says how low the rate has been.
# TIMEOUT: 200
#
# Easy to get wrong: what is late where a long period begins or ends.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd python3
tmpdir

# It computes, and sleeps until dtprof says what it waits for.
cat >phases.py <<'END'
import sys
import time

def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def sleep_until(text, times):
    for _ in range(120):
        with open("err") as f:
            if f.read().count(text) == times:
                return
        time.sleep(1)
    sys.exit("never said: " + text)

compute(3)
sleep_until("rate raised to the requested one", 1)
compute(3)
END
# One percent of a CPU.
"$DTPROF" record -o a.dtp --call-graph none -e cpu-clock -c 50000 \
    --max-overhead "$(awk "BEGIN { print 1 / $(nproc) }")" \
    -- python3 phases.py >said 2>err || fail "$(cat err)"
"$DTPROF" report --stats --json a.dtp >stats.json || fail "stats"
py <<'END'
import json
import recording as rec

PERIOD = 50000
marks, weights, after = rec.lowered("a.dtp", PERIOD)
rec.balance("a.dtp", ["cpu-clock"])
back, low = marks.index(1), marks.index(max(marks[:marks.index(1)]))
rec.check(marks[:low + 1] == sorted(marks[:low + 1]) and
          marks[low:back + 1] == sorted(marks[low:back + 1], reverse=True),
          "not down and up: %r" % marks)
rec.check(len(marks) > back + 1, "not lowered again: %r" % marks)
notes = [line for line in open("err") if "note: rate " in line]
rec.check(len(notes) == len(marks), "%d notes of %r" % (len(notes), marks))
j = json.load(open("stats.json"))
said = j["recording"]["info"]["less.rate"]
rec.check(said == "rate lowered to 1/%d" % max(marks) +
          (", later raised again" if marks[-1] < max(marks) else ""), said)
a = next(a for a in j["accounting"] if a["event"] == "cpu-clock")
known = weights + a["overruns"] * PERIOD
# A timer that begins or ends, as at each change, holds back less than a period,
# and so it is when another task has the CPU.
bound = 4 * (1 + sum(marks)) * PERIOD + a["enabled_ns"] / 500
said = "%.4f s of %.4f s, +-%.4f s" % (known / 1e9, a["enabled_ns"] / 1e9,
                                     bound / 1e9)
rec.check(abs(known - a["enabled_ns"]) <= bound, said)
rec.ok("1/%s; %s" % (", 1/".join(map(str, marks)), said))
END
