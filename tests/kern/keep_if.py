# SPDX-License-Identifier: ISC
"""A random program with spans, and what two recordings of it have.

A thread is in a call from getpgid(0) to getsid(0), and a task, which another
thread may end, goes from sched_getscheduler(KEY) to sched_getparam(KEY).  A
token is what getpriority is asked for: each one is asked for once.
"""

import collections
import contextlib
import json
import os
import queue
import random
import sys
import threading
import time

LIMIT_NS = 6000000
FAR_NS = 1000000
TOKEN = "syscall:getpriority:entry"
EXPRESSIONS = [
    "span.duration > 6ms",
    "span.duration > 0 && !(span.duration >= 6ms)",
    'span == "call" && span.duration >= 6ms',
    'span == "task" && span.duration > 6ms',
    'span == "task" && span.duration > 6ms || '
    'span == "call" && span.duration < 6ms',
]


class Program:
    """Threads that do what a seed says, and what it came to."""

    def __init__(self, seed):
        self.seed = seed
        self.near = 0
        self.tokens = 0
        self.lock = threading.Lock()
        self.handed = queue.SimpleQueue()

    def token(self):
        """One more, which nobody else has."""
        with self.lock:
            self.tokens += 1
            own = 100000000 + self.seed % 1000 * 10000 + self.tokens
        with contextlib.suppress(OSError):
            os.getpriority(os.PRIO_PROCESS, own)

    def stay_away(self, begin):
        """Of a duration that is not near the limit, when it ends now."""
        while abs(time.monotonic_ns() - begin - LIMIT_NS) < 2 * FAR_NS:
            pass
        return time.monotonic_ns()

    def ended(self, begin, before):
        """Its end lies between before and now."""
        self.near += (before - begin < LIMIT_NS + FAR_NS and
                      time.monotonic_ns() - begin > LIMIT_NS - FAR_NS)

    def task_end(self, key, begin):
        """Of a task that some thread began."""
        before = self.stay_away(begin)
        with contextlib.suppress(OSError):
            os.sched_getparam(key)
        self.ended(begin, before)

    def work(self, rng):
        """For a while, asleep or not."""
        ms = rng.choice([0, 0, 1, 1, 2, 4, 9])
        if rng.random() < .5:
            time.sleep(ms / 1000)
        else:
            until = time.monotonic_ns() + ms * 1000000
            while time.monotonic_ns() < until:
                pass

    def call(self, rng, depth):
        """A span of the thread, with whatever is in it."""
        begin = time.monotonic_ns()
        os.getpgid(0)
        self.steps(rng, rng.randrange(1, 4), depth + 1)
        before = self.stay_away(begin)
        os.getsid(0)
        self.ended(begin, before)

    def task(self, rng, depth):
        """A span with a key; who ends it is left to chance."""
        key = 200000000 + rng.randrange(100000000)
        begin = time.monotonic_ns()
        with contextlib.suppress(OSError):
            os.sched_getscheduler(key)
        self.steps(rng, rng.randrange(0, 3), depth + 1)
        if rng.random() < .4:
            self.handed.put((key, begin))
        else:
            self.task_end(key, begin)

    def steps(self, rng, count, depth):
        """Tokens before, between and behind them."""
        self.token()
        for _ in range(count):
            what = rng.random()
            if what < .3 and depth < 3:
                self.call(rng, depth)
            elif what < .55 and depth < 3:
                self.task(rng, depth)
            elif what < .7 and not self.handed.empty():
                with contextlib.suppress(queue.Empty):
                    self.task_end(*self.handed.get_nowait())
            else:
                self.work(rng)
            self.token()

    def run(self):
        """All threads; tasks that nobody ended are ended by the first."""
        threads = [threading.Thread(target=self.steps, args=(
            random.Random(self.seed * 10 + n), 12, 0)) for n in range(
                1 + self.seed % 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while not self.handed.empty():
            self.task_end(*self.handed.get())
        self.token()


def tokens(rec, path, *args):
    """The tokens in a recording, each with how often it is there."""
    found = json.loads(rec.run(
        "report", "--json", "--by", "who", "--limit", "1000000", "-e", TOKEN,
        *args, path))
    return collections.Counter({row["args"]["who"]: row["samples"]
                                for row in found["rows"]})


def selected(rec, path, expression):
    """What keep-if may commit: samples of one span alone that it selects."""
    inside = 'span == "call" || span == "task"'
    return tokens(rec, path, "--filter",
                  "(%s) && (%s)" % (expression, inside))


def compare(rec, full, keep, expression, change=None):
    """Exactly the tokens of a full session; a balance; no stray sample.

    change: to be found, a token that --keep-if lacks, or has and should not.
    """
    want, have = selected(rec, full, expression), tokens(rec, keep)
    if change == "lacks":
        have.subtract([next(iter(have), "none")])
    elif change == "has":
        have.update(["one"])
    rec.check(want == have, "%s: lacks %r, has %r" % (
        expression, dict(want - have), dict(have - want)))
    rows = {row["event"]: row for row in rec.report(keep)["accounting"]}
    every = {row["event"]: row for row in rec.report(full)["accounting"]}
    for name, row in rows.items():
        if name == "proc":
            continue
        kept = row["keep_if"]
        rec.check(kept["taken"] == kept["committed"] + kept["discarded"] +
                  kept["lost"] and row["balances"] and kept["committed"] ==
                  row["in_file"] == row["stored"] and not kept["lost"] and
                  kept["discarded"] <= row["filtered"], "%s: %r" % (
                      name, row))
        if name != "cpu-clock":
            rec.check(kept["taken"] == every[name]["read"], "%s: %d taken, "
                      "not %d" % (name, kept["taken"], every[name]["read"]))
    clock = json.loads(rec.run(
        "report", "--json", "-e", "cpu-clock", "--filter",
        expression, keep))["quality_by_event"][0]["samples"]
    rec.check(clock == rows["cpu-clock"]["keep_if"]["committed"],
              "%s: %d of %d samples of the timer in selected spans" % (
                  expression, clock,
                  rows["cpu-clock"]["keep_if"]["committed"]))
    return len(have), rows[TOKEN]["keep_if"]["taken"], clock


def main():
    """program SEED: be that program.

    expression SEED: print one; compare FULL KEEP EXPRESSION [CHANGE]: do so.
    """
    if sys.argv[1] == "program":
        program = Program(int(sys.argv[2]))
        program.run()
        print(json.dumps({"near": program.near, "tokens": program.tokens}))
        return
    if sys.argv[1] == "expression":
        print(random.Random(int(sys.argv[2])).choice(EXPRESSIONS))
        return
    import recording as rec
    got, taken, clock = compare(rec, *sys.argv[2:])
    rec.check(taken > 0, "no token was taken")
    rec.ok("%s: %d of %d tokens, %d samples of the timer" % (
        sys.argv[4], got, taken, clock))


if __name__ == "__main__":
    main()
