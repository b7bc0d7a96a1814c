# SPDX-License-Identifier: ISC
"""What it costs to have functions of scripts in samples; see python.sh."""
import json
import mmap
import os
import random
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
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

MANY = """
import random
def leaf(n):
    return sum(x * n % 7 for x in range(40))
calls = [leaf]
for n in range(20000):
    scope = {"inner": leaf if n % 20 == 0 else calls[-1]}
    exec("def g%d(n):\\n    return inner(n)" % n, scope)
    calls.append(scope["g%d" % n])
tops = calls[20::20]
while True:
    random.choice(tops)(3)
"""


IS_PYTHON = os.environ.get("LANGUAGE") != "javascript"
if not IS_PYTHON:
    TARGET = differing.JAVASCRIPT + """
const fs = require('fs');
const file = fs.openSync('counter', 'r+'), counter = new BigUint64Array(1);
function turn() {
	for (const until = Date.now() + 50; Date.now() < until; counter[0]++) {
		for (let i = 0; i < 20; i++)
			for (const top of tops)
				top(i);
		fs.writeSync(file, counter, 0, 8, 0);
	}
	setImmediate(turn);
}
turn();
"""
    DEEP = """
'use strict';
const depth = Number(process.argv[2]), differ = Number(process.argv[3]);
let x = 0;
function leaf() {
	for (const end = Date.now() + 3000; Date.now() < end;)
		for (let i = 0; i < 20000; i++)
			x += i % 7;
	return 0;
}
function same(n) {
	return 1 + (n > 0 ? same(n - 1) : leaf());
}
let text = '';
for (let n = 0; n < depth; n++)
	text += `function f${n}(a) { return 1 + ${n ? 'f' + (n - 1) :
	    'leaf'}(a); }\n`;
const top = eval(`(() => { ${text} return ${depth ? 'f' + (depth - 1) :
    'leaf'}; })()`);
setTimeout(() => differ ? top(0) : same(depth), 1000);
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


class Dtprof:
    """Samples from resume on, until pause."""

    def __init__(self, pid, options):
        self.process = subprocess.Popen(
            [DTPROF, "record", "-q", "-F", "997", "-o", "x.dtp", "-p",
             str(pid)] + options)

    def tell(self, what):
        subprocess.run([DTPROF, "mark", "--" + what, "--recorder",
                        str(self.process.pid)], stdout=subprocess.DEVNULL,
                       check=True)


class Perf:
    """The same by perf."""

    def __init__(self, pid, options):
        for name in "control", "ack":
            if not os.path.exists(name):
                os.mkfifo(name)
        self.control = os.open("control", os.O_RDWR)
        self.ack = os.open("ack", os.O_RDWR)
        self.process = subprocess.Popen(
            ["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-o",
             "perf.data", "-p", str(pid), "--control",
             "fifo:control,ack"] + options, stderr=subprocess.DEVNULL)

    def tell(self, what):
        os.write(self.control, {"pause": b"disable\n",
                                "resume": b"enable\n"}[what])
        os.read(self.ack, 16)


def lost(what, recorder, options, python=PYTHON):
    with open("counter", "wb") as file:
        file.write(bytes(8))
    with open("counter", "r+b") as file:
        counter = mmap.mmap(file.fileno(), 8)
    target = subprocess.Popen([python, write("target.py", TARGET)])
    recorder = recorder(target.pid, options)
    time.sleep(3)

    def now():
        with open("/proc/%d/schedstat" % target.pid, encoding="ascii") as file:
            return struct.unpack("<Q", counter[:])[0], int(
                file.read().split()[0])

    def rate(way):
        recorder.tell(way)
        count, cpu = now()
        time.sleep(WINDOW)
        count_end, cpu_end = now()
        return (count_end - count) / (cpu_end - cpu)

    pairs = []
    recorder.tell("pause")
    for _ in range(int(os.environ.get("BENCH_ROUNDS", "100"))):
        seen = {way: rate(way) for way in ("resume", "pause")}
        pairs.append(1 - seen["resume"] / seen["pause"])
    recorder.process.send_signal(signal.SIGINT)
    recorder.process.wait()
    target.kill()
    target.wait()
    print("throughput lost at 997 Hz to %s: %.2f %%, at most %.2f %% (95 %%, "
          "%d pairs, median %.2f %%)" % (
              what, 100 * statistics.mean(pairs), 100 * upper(pairs),
              len(pairs), 100 * statistics.median(pairs)), flush=True)


def native():
    """The interpreter, as one whose frames nobody knows."""
    path = os.path.realpath(subprocess.run(
        [PYTHON, "-c", "import sys; print(sys.executable)"],
        stdout=subprocess.PIPE, text=True, check=True).stdout.strip())
    with open(path, "rb") as file:
        text = file.read()
    name = b".PyRuntime\0"
    if name not in text:
        return None
    with open("python-native", "wb") as file:
        file.write(text.replace(name, b".PyUnknown\0"[:len(name)]))
    os.chmod("python-native", 0o755)
    return os.path.abspath("python-native")


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


def spent(pid):
    """CPU time of the threads of a process and of its children, by name."""
    seen = {}
    for tid in os.listdir("/proc/%d/task" % pid):
        task = "/proc/%d/task/%s/" % (pid, tid)
        with open(task + "comm", encoding="ascii") as file:
            name = file.read().strip()
        with open(task + "schedstat", encoding="ascii") as file:
            seen[name] = seen.get(name, 0) + int(file.read().split()[0]) / 1e9
        with open(task + "children", encoding="ascii") as file:
            for child in file.read().split():
                for key, value in spent(int(child)).items():
                    key = "its child " + key
                    seen[key] = seen.get(key, 0) + value
    return seen


def naming(seconds=30):
    target = subprocess.Popen([PYTHON, write("many.py", MANY)])
    time.sleep(3)
    recorder = subprocess.Popen(
        [DTPROF, "record", "-q", "-F", "997", "-o", "x.dtp", "-p",
         str(target.pid)])
    time.sleep(seconds)
    seen = spent(recorder.pid)
    recorder.send_signal(signal.SIGINT)
    recorder.wait()
    target.kill()
    target.wait()
    names = subprocess.run(
        [DTPROF, "report", "--csv", "x.dtp"],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    named = len({name for name in re.findall(r'"(g\d+)"', names)})
    print("CPU time in %d s, %d functions of 20,000 named: %s" % (
        seconds, named, ", ".join("%s %.2f s (%.1f %%)" % (
            name, s, 100 * s / seconds) for name, s in sorted(seen.items()))))


SLEEPS = """
import os, time
while True:
    os.stat("/")
    time.sleep(0.1)
"""


def others():
    """A native program, recorded with a Python process that sleeps or not."""
    sleeps = subprocess.Popen([PYTHON, write("sleeps.py", SLEEPS)])
    spins = subprocess.Popen([os.path.join(B, "tests/work/spin"), "0"],
                             stdout=subprocess.DEVNULL)
    took = {False: [], True: []}
    for n in range(2 * int(os.environ.get("BENCH_ROUNDS", "20"))):
        beside = n % 4 in (1, 2)
        pids = "%d,%d" % (spins.pid, sleeps.pid) if beside else spins.pid
        subprocess.run([os.path.join(B, "tests/work/runs"), "runs.json",
                        DTPROF, "record", "-q", "-F", "1997", "-e",
                        "cpu-clock", "-e", "syscall:newfstatat:entry", "-o",
                        "x.dtp", "-p", str(pids), "--", "sleep", "1.5"],
                       check=True)
        text = subprocess.run([DTPROF, "script", "--json", "x.dtp"],
                              stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        assert ('"kind":"py"' in text) == beside, "no Python frames"
        with open("runs.json", encoding="ascii") as file:
            timer, = [p for p in json.load(file) if p["runs"] > 0 and
                      p["name"] in ("on_timer", "on_overflow")]
        took[beside].append(timer["time_ns"] / timer["runs"])
    for process in sleeps, spins:
        process.kill()
        process.wait()
    more = [b - a for a, b in zip(took[False], took[True])]
    print("a native program's sample: %.0f ns, beside a Python process %.0f "
          "ns: %.0f more, at most %.0f (95 %%, %d pairs, median %.0f)" % (
              statistics.mean(took[False]), statistics.mean(took[True]),
              statistics.mean(more), upper(more), len(more),
              statistics.median(more)))


def losses():
    lost("dtprof", Dtprof, [])
    if IS_PYTHON and native() is not None:
        os.environ["PYTHONHOME"] = subprocess.run(
            [PYTHON, "-c", "import sys; print(sys.prefix)"],
            stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        lost("dtprof, native frames alone", Dtprof, [], native())
        del os.environ["PYTHONHOME"]
    lost("dtprof, no stacks", Dtprof, ["--call-graph", "none"])
    if shutil.which("perf"):
        lost("perf, no stacks", Perf, [])
        lost("perf -g, whose user stacks end early", Perf, ["-g"])


parts = {"lost": losses, "deep": deep, "naming": naming}
if IS_PYTHON:
    parts["others"] = others
for part in sys.argv[1:] or parts:
    parts[part]()
