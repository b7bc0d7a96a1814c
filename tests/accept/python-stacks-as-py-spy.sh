# SPDX-License-Identifier: ISC
# ASSERTION: Of threads that sleep below random calls, py-spy and dtprof name
# the same Python functions, files and lines, frame by frame: py-spy of the
# process that it stops meanwhile, dtprof of the sample with which each thread
# went to sleep.
#
# Easy to get wrong: the line of a caller, generators and coroutines, frames of
# another thread.
# TIMEOUT: 300
#
# PYTHON is what runs the program, ROUNDS how often it is asked (40).

. "${SRC:=$PWD}/tests/lib.sh"
need_root
: "${PYTHON:=/usr/bin/python3}" "${ROUNDS:=40}"
[ -x "$PYTHON" ] || skip "no $PYTHON"
. "$SRC/tests/accept/lib-pyspy.sh"
[ -n "$PYSPY" ] || skip "py-spy cannot be had: $(tail -n 1 \
    "$B/peers/py-spy.log")"
tmpdir

cat >sleepers.py <<'END'
import asyncio
import functools
import random
import sys
import threading
import time

PERIOD = 0.6


def asleep():
    now = time.monotonic()
    time.sleep(PERIOD - now % PERIOD)


class Way:
    def method(self, rng, depth):
        down(rng, depth)

    @property
    def value(self):
        return self.method(random.Random(7), 3)


def generated(rng, depth):
    yield down(rng, depth)


async def awaited(rng, depth):
    (
        down(rng,
             depth)
    )


def driven(rng, depth):
    try:
        awaited(rng, depth).send(None)
    except StopIteration:
        pass


def recursive(rng, depth, n=9):
    if n:
        return recursive(rng, depth, n - 1)
    try:
        raise KeyError
    except KeyError:
        down(rng, depth)


def down(rng, depth):
    if depth == 0:
        return asleep()
    return rng.choice((
        lambda: down(rng, depth - 1),
        lambda: Way().method(rng, depth - 1),
        lambda: list(generated(rng, depth - 1)),
        lambda: driven(rng, depth - 1),
        lambda: recursive(rng, depth - 1),
        lambda: sorted([1], key=lambda _: down(rng, depth - 1)),
        functools.partial(down, rng, depth - 1),
    ))()


def sleeper(seed, rounds):
    rng = random.Random(seed)
    for _ in range(rounds):
        if rng.random() < 0.1:
            Way().value
        else:
            down(rng, rng.randrange(1, 12))


threads = [threading.Thread(target=sleeper, args=(seed, int(sys.argv[1])))
           for seed in range(4)]
time.sleep(1)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
END
cat >compare.py <<'END'
import collections
import json
import sys

calls = collections.defaultdict(list)
for line in open("script.json"):
    record = json.loads(line)
    if record.get("type") == "sample":
        calls[record["tid"]].append((record["time_ns"], [
            (f["function"], f.get("file"), f.get("line"))
            for f in record["user_frames"] if f["kind"] == "py"]))
same = stacks = frames = 0
bad = []
for line in open("dumps.json"):
    begin, end, threads = json.loads(line)
    for thread in threads:
        mine = calls[thread["os_thread_id"]]
        before = [c for c in mine if c[0] < begin]
        # Being stopped it sleeps again, by the same call.
        if not before or any(begin <= at <= end and stack != before[-1][1]
                             for at, stack in mine):
            continue
        theirs = [(f["name"], f["filename"], f["line"])
                  for f in thread["frames"]]
        ours = before[-1][1]
        stacks += 1
        frames += len(theirs)
        if ours != theirs:
            bad.append((ours, theirs))
for ours, theirs in bad[:3]:
    print("FAIL: dtprof %s\n      py-spy %s" % (ours, theirs))
if bad or stacks < int(sys.argv[1]) * 3:
    print("FAIL: %d of %d stacks differ" % (len(bad), stacks))
    sys.exit(1)
print("ok: %d stacks, %d frames: functions, files and lines" %
      (stacks, frames))
END
cat >ask.py <<'END'
import json
import os
import subprocess
import sys
import time

pid, rounds = int(sys.argv[1]), int(sys.argv[2])
with open("dumps.json", "w") as out:
    for _ in range(rounds):
        now = time.monotonic()
        time.sleep(0.6 - now % 0.6 + 0.2)
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        ran = subprocess.run([os.environ["PYSPY"], "dump", "--json", "-p",
                              str(pid)], capture_output=True)
        end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if ran.returncode == 0:
            print(json.dumps([begin, end, [
                t for t in json.loads(ran.stdout)
                if t["thread_name"] != "MainThread"]]), file=out)
END
"$PYTHON" sleepers.py $((ROUNDS + 20)) &
pid=$!
kill_at_end $pid
"$DTPROF" record -q -o x.dtp -e syscall:clock_nanosleep:entry -p $pid \
    2>record.err &
recorder=$!
kill_at_end $recorder
nap
python3 ask.py $pid "$ROUNDS" || fail "py-spy"
kill -INT $recorder
wait $recorder || fail "record: $(cat record.err)"
"$DTPROF" script --json --lines x.dtp >script.json 2>script.err ||
    fail "script: $(cat script.err)"
python3 compare.py "$ROUNDS" || fail "see above"
