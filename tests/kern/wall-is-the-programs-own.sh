#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: wall-clock samples of a thread add up to the time that the thread
# existed; threads that sleep or wait for a pipe are blocked in that function
# for as long as the program's own clocks say; a thread that waits once has few
# samples, however many passes there were.  A thread that only runs is not
# blocked.  A pause has no time.
#
# Easy to get wrong: the time of a thread that ends while its last sample is
# said to go on; the stacks of a thread that is found as before.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

record 0 -e cpu-clock -e wall/freq=499/ -o w.dtp -- "$work/planted_waits"
mv "$tmp/out" truth
balance w.dtp
"$DTPROF" report --json --limit 100000 -e wall/freq=499/ w.dtp >report ||
    fail "no report"
"$DTPROF" report --stats --json w.dtp >stats || fail "no stats"
"$DTPROF" script --json -e wall/freq=499/ w.dtp >samples || fail "no script"
py <<'END'
import collections
import json

a = [a for a in json.load(open("stats"))["accounting"] if "wall_passes" in a][0]
passes, same = a["wall_passes"], a["same_again"]
rows = [line.split() for line in open("truth")]
samples = [s for s in map(json.loads, open("samples"))
           if s["type"] == "sample"]
state, whole, count = (collections.Counter() for _ in range(3))
for s in samples:
    state[s["tid"], s["args"]["state"]] += s["weight"]
    whole[s["tid"]] += s["weight"]
    count[s["tid"]] += 1
first = min(s["time_ns"] - s["weight"] for s in samples)
last = max(s["time_ns"] for s in samples)
# A thread that runs has a sample of each pass: so late was one at most.
gap = 2 * max(s["weight"] for s in samples
              if s["args"]["state"] == "running") + 5e6
print("%d passes, %d times the same, gap %.1f ms" % (passes, same, gap / 1e6))

def close(a, b, what):
    print("%s: %.1f ms, by itself %.1f ms" % (what, a / 1e6, b / 1e6))
    assert abs(a - b) <= .05 * b + gap, what

main = int(rows[0][1])
close(whole[main], last - first, "main, all of it")
start_ns = int(rows[0][4])
for name, tid, wall, cpu, end, ran, delay, turns in rows[1:-1]:
    close(whole[int(tid)], int(end) - start_ns, name)
    if name == "cpu":
        assert state[int(tid), "blocked"] <= gap, name
total = {f["name"]: f["total"]
         for f in json.load(open("report"))["functions"]}
for name, tid, wall, cpu, *_ in rows[1:-1]:
    if name in ("sleep", "pipe"):
        close(total["wait_in_" + name], int(wall), "wait_in_" + name)
# It joins the threads, one after the other.
joined = [s for s in samples if s["tid"] == main and s["time_ns"] > start_ns +
          gap and s["args"]["state"] == "blocked"]
assert len(joined) <= 30 < passes and same > passes / 4, len(joined)
END
ok "wall-clock time is the program's own"
