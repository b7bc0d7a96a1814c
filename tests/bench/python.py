# SPDX-License-Identifier: ISC
"""What it costs to have Python functions in samples; see python.sh."""
import json
import mmap
import os
import random
import signal
import statistics
import struct
import subprocess
import time

import differing

DTPROF, PYTHON, B = (os.environ[x] for x in ("DTPROF", "PYTHON", "B"))
WINDOW = 0.2

TARGET = differing.FUNCTIONS + """
import mmap
file = open("counter", "r+b")
counter = mmap.mmap(file.fileno(), 8)
n = 0
while True:
    for top in tops:
        top(n)
    n += 1
    counter[:] = n.to_bytes(8, "little")
"""

DEEP = """
import sys, time
depth, differ = int(sys.argv[1]), int(sys.argv[2])
sys.setrecursionlimit(5000)
def leaf(n):
    end = time.monotonic() + 3
    while time.monotonic() < end:
        sum(range(1000))
def same(n):
    return same(n - 1) if n else leaf(0)
call = leaf
for n in range(depth if differ else 0):
    scope = {"inner": call}
    exec("def f%d(n):\\n    return inner(n)" % n, scope)
    call = scope["f%d" % n]
time.sleep(1)
call(0) if differ else same(depth)
"""

def upper(values):
    """Of their mean, by resampling: the upper end of a 95 % interval."""
    chance = random.Random(1)
    means = sorted(statistics.mean(chance.choices(values, k=len(values)))
                   for _ in range(4000))
    return means[3899]


def write(name, text):
    with open(name, "w", encoding="ascii") as file:
        file.write(text)
    return name


def lost():
    with open("counter", "wb") as file:
        file.write(bytes(8))
    with open("counter", "r+b") as file:
        counter = mmap.mmap(file.fileno(), 8)
    target = subprocess.Popen([PYTHON, write("target.py", TARGET)])
    recorder = subprocess.Popen([DTPROF, "record", "-q", "-F", "997", "-o",
                                 "x.dtp", "-p", str(target.pid)])
    time.sleep(3)
    chance = random.Random(int(os.environ.get("BENCH_SEED", "1")))

    def now():
        with open("/proc/%d/schedstat" % target.pid, encoding="ascii") as file:
            return struct.unpack("<Q", counter[:])[0], int(
                file.read().split()[0])

    def rate(way):
        subprocess.run([DTPROF, "mark", "--" + way, "--recorder",
                        str(recorder.pid)], stdout=subprocess.DEVNULL,
                       check=True)
        count, cpu = now()
        time.sleep(WINDOW)
        count_end, cpu_end = now()
        return (count_end - count) / (cpu_end - cpu)

    pairs = []
    subprocess.run([DTPROF, "mark", "--pause", "--recorder",
                    str(recorder.pid)], stdout=subprocess.DEVNULL, check=True)
    for _ in range(int(os.environ.get("BENCH_ROUNDS", "100"))):
        seen = {way: rate(way) for way in ("resume", "pause")}
        pairs.append(1 - seen["resume"] / seen["pause"])
    recorder.send_signal(signal.SIGINT)
    recorder.wait()
    target.kill()
    target.wait()
    print("throughput lost at 997 Hz: %.2f %%, at most %.2f %% (95 %%, %d "
          "pairs, median %.2f %%)" % (
              100 * statistics.mean(pairs), 100 * upper(pairs), len(pairs),
              100 * statistics.median(pairs)))


def deep():
    program = write("deep.py", DEEP)
    for differ, what in (0, "of one function"), (1, "that all differ"):
        took = {}
        for depth in 1, 101, 501:
            subprocess.run([os.path.join(B, "tests/work/runs"), "runs.json",
                            DTPROF, "record", "-q", "-F", "997", "-o", "x.dtp",
                            "--", PYTHON, program, str(depth), str(differ)],
                           check=True)
            with open("runs.json", encoding="ascii") as file:
                most = max(json.load(file), key=lambda p: p["time_ns"])
            took[depth] = most["time_ns"] / most["runs"]
        print("frames %s: %s; %.0f ns a frame" % (what, ", ".join(
            "%d: %.1f us" % (n, ns / 1000) for n, ns in took.items()),
            (took[501] - took[1]) / 500))


lost()
deep()
