#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: where a waits for b and b for c, who ended a's wait is b, and who
# ended b's wait is c, and who ended c's is the timer; a's wait is as long as by
# the program's own clock, and so is the part of it in which b waited.  Where b
# sleeps before it wakes a, the timer ends the chain, and where b was woken
# before a began to wait, b does: c is in neither.
# In a round in which b's time was over before it could sleep, c may be.
# Easy to get wrong: in all three c woke b, and b woke a.
. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

record 0 -e off-cpu/min=0ns/ -o c.dtp -- "$work/chained_waits"
mv "$tmp/out" truth
"$DTPROF" report --json --by waker-chain c.dtp >chains || fail "no report"
"$DTPROF" report --csv --by waker-chain --filter 'comm == "linked-a"' c.dtp \
    >some || fail "no report with a filter"
"$DTPROF" report --by waker-chain c.dtp >text || fail "no table"
py <<'END'
import collections
import csv
import json

CHAIN = {
    "linked": "linked-a (read) <- linked-b (futex) <- linked-c (sleep)"
              " <- hardirq",
    "timer": "timer-a (read) <- timer-b (sleep) <- hardirq",
    "ran": "ran-a (read) <- ran-b",
}
own, least, most = (collections.Counter() for _ in range(3))
awake = []  # how long a waited where b did not sleep
for line in open("truth"):
    way, *times = line.split()
    a, a_woken, b, b_woken, slept = map(int, times)
    if way == "timer" and not slept:
        awake.append(a_woken - a)
        continue
    own[way] += a_woken - a
    # How long b waited meanwhile; it sleeps 6 ms, after it was woken.
    least[way] += {"linked": b_woken - max(a, b), "timer": 6000000,
                   "ran": 0}[way]
    most[way] += {"linked": b_woken - max(a, b), "timer": a_woken - b_woken,
                  "ran": 0}[way]
chains = json.load(open("chains"))["chains"]
text = open("text").read()
for way, name in CHAIN.items():
    of_a = [c for c in chains if c["threads"][0] == {
        "thread": way + "-a", "reason": "read",
        "wait_ns": c["threads"][0]["wait_ns"]}]
    all_ns = sum(c["time_ns"] for c in of_a)
    chain, = (c for c in of_a if c["chain"] == name)
    next_ns = chain["threads"][1]["wait_ns"]
    print("%s: a waited %.2f ms, in %d chains %.2f ms, in its own %.2f; b"
          " %.2f to %.2f ms, in the chain %.2f" % (way, own[way] / 1e6,
          len(of_a), all_ns / 1e6, chain["time_ns"] / 1e6, least[way] / 1e6,
          most[way] / 1e6, next_ns / 1e6))
    others = awake if way == "timer" else []
    assert abs(all_ns - own[way] - sum(others)) <= .01 * own[way] + 2e6
    assert chain["time_ns"] >= .9 * own[way] and chain["waits"] <= 12
    assert .9 * least[way] - 1e6 <= next_ns <= 1.01 * most[way] + 2e6
    assert chain["longest_ns"] <= chain["time_ns"]
    assert name in text
    by_c = [c for c in of_a if way != "linked"
            and way + "-c" in [t["thread"] for t in c["threads"]]]
    assert sum(c["waits"] for c in by_c) <= len(others), by_c
some = list(csv.DictReader(open("some")))
assert some and all(row["chain"].startswith("linked-a (") for row in some)
assert sum(int(row["time_ns"]) for row in some) == sum(
    c["time_ns"] for c in chains if c["threads"][0]["thread"] == "linked-a")
END
ok "chains of wakers end where the wait of a waker does not explain the next"
