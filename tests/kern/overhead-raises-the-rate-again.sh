#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A rate that --max-overhead lowered stays low while the program
# computes, and is raised again, to the requested rate, after ten seconds that
# leave room for that.  If it has to be lowered again, the next raise comes
# after twice that time.  Each change has a marker and a note, each sample has
# the weight of its own period, and all weights and overruns add up to the time
# for which the kernel had the program's events on.  The summary names the
# lowest rate.
# TIMEOUT: 400
#
# Easy to get wrong: overruns where a long period begins or ends.

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

def said(text):
    with open("err") as f:
        return f.read().count(text)

# Until the rate has not changed for 13 s: it is raised after 10 s of sleep.
def compute_until_calm():
    times, calm = 0, 0
    for _ in range(90):
        compute(1)
        calm = calm + 1 if said("note: rate ") == times else 0
        times = said("note: rate ")
        if times and calm == 13:
            return

def sleep_until(text, times):
    for _ in range(120):
        if said(text) == times:
            return
        time.sleep(1)
    sys.exit("never said: " + text)

compute_until_calm()
with open("computed", "w") as f:
    f.write("%d" % time.monotonic_ns())
sleep_until("rate raised to the requested one", 1)
compute(3)
sleep_until("rate raised to the requested one", 2)
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
rec.check(marks.count(1) == 2 and len(marks) > back + 2,
          "not lowered and raised again: %r" % marks)
changes = [(r["time_ns"], r["text"]) for r in rec.records("a.dtp", "markers")
           if r["type"] == "marker" and r["text"].startswith("rate ")]
waits = [(at - before) / 1e9
         for (before, low), (at, high) in zip(changes, changes[1:])
         if low.startswith("rate lowered") and high.startswith("rate raised")]
computed = int(open("computed").read())
rec.check(changes[back][0] > computed, "raised while it computed: %r" % changes)
# 20 and 40 looks, half a second apart.
rec.check(len(waits) == 2 and waits[0] >= 9 and waits[1] >= 18,
          "raised after %r s" % waits)
notes = [line for line in open("err") if "note: rate " in line]
rec.check(len(notes) == len(marks), "%d notes of %r" % (len(notes), marks))
j = json.load(open("stats.json"))
said = j["recording"]["info"]["less.rate"]
rec.check(said == "rate lowered to 1/%d" % max(marks) +
          ", later raised again", said)
a = next(a for a in j["accounting"] if a["event"] == "cpu-clock")
known = weights + a["overruns"] * PERIOD
# A timer loses less than a period when it begins, when it ends, and when
# another task takes the CPU.
bound = 4 * (1 + sum(marks)) * PERIOD + a["enabled_ns"] / 500
said = "%.4f s of %.4f s, +-%.4f s" % (known / 1e9, a["enabled_ns"] / 1e9,
                                     bound / 1e9)
rec.check(abs(known - a["enabled_ns"]) <= bound, said)
rec.ok("1/%s; raised after %r s; %s" % (", 1/".join(map(str, marks)), waits,
                                        said))
END
