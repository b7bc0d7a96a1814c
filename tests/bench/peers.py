# SPDX-License-Identifier: ISC
"""The same work recorded by dtprof and by what a user would pick instead.

    peers.py OUTPUT [WORK ...]

In each round each work runs once by itself and once under each tool, in an
order that chance decides.  What a tool adds is its run minus the run by itself
of the same round: CPU time of all processes, and time.  Prints medians with
the least and the most; OUTPUT gets all runs as JSON.  Called by peers.sh, in
an empty directory.
"""

import json
import os
import random
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time

import differing

DTPROF = os.environ["DTPROF"]
PEERS = os.environ["PEERS"]
HZ = "997"
# Where processes and threads begin, of libraries without their own symbols.
ROOT = re.compile(r"_start\b|__libc_start_(call_)?main|__libc_init_first|"
                  r"_?_?clone3?\b|start_thread|_dl_start")
OUTERMOST = 3       # of these frames one is a root
TRIES = 5


def find(name):
    """The path of a program, of ours first; None: not installed."""
    return shutil.which(name, path=os.path.join(PEERS, "bin") + os.pathsep +
                        os.environ["PATH"])


def missing(name, crate=None):
    """Why a program is not there; None: it is."""
    if find(name):
        return None
    if not crate:
        return "%s is not installed" % name
    if not shutil.which("cargo"):
        return "%s is not installed, and no cargo to build it" % name
    log = os.path.join(PEERS, crate + ".log")
    if not os.path.exists(log):
        return "%s is not installed, nor was it to be built" % name
    return "%s is not installed, and cargo could not build it: see %s" % (
        name, log)


# ------------------------------------------------------------------- running

class Failed(Exception):
    """A command ended with an error."""


class Run:
    """Time, CPU time of a command and all it waited for, and its status."""

    def __init__(self, command, out=subprocess.DEVNULL):
        begun = time.monotonic()
        self.process = subprocess.Popen(command, stdout=out,
                                        stderr=open("err", "wb"))
        self.begun = begun
        self.command = command

    def end(self):
        """Wait for it."""
        _, status, usage = os.wait4(self.process.pid, 0)
        self.wall = time.monotonic() - self.begun
        self.cpu = usage.ru_utime + usage.ru_stime
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode not in (0, 130, -signal.SIGINT):
            with open("err", errors="replace") as file:
                raise Failed("%s: status %d: %s" % (
                    " ".join(self.command), self.process.returncode,
                    file.read().strip()))
        return self


def run(command, out=subprocess.DEVNULL):
    """Run a command to its end."""
    return Run(command, out).end()


def lines_of(command):
    """What a command prints, line by line."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                          errors="replace",
                          stderr=subprocess.DEVNULL) as process:
        yield from process.stdout


def is_whole(outermost):
    """Do frames, the outermost first, reach where a thread begins?"""
    return any(ROOT.search(frame) for frame in outermost[:OUTERMOST])


def share(stacks):
    """Of pairs of outermost frames and weight, the whole ones; None: none."""
    whole = total = 0
    for outermost, weight in stacks:
        total += weight
        whole += weight * is_whole(outermost)
    return whole / total if total else None


# --------------------------------------------------------------------- tools

class Tool:
    """How a tool records, and what it leaves."""

    name = ""
    files = []
    answer = None       # prints a first table; None: recording does

    def why_not(self):
        """Why it cannot be measured here; None: it can."""
        return None

    def record(self, command, pid):
        """The command that records a command, or a process."""
        raise NotImplementedError

    def can(self, work):
        """May it be asked to record this?"""
        return work.name != "python" or type(self) in (Dtprof, Perf)

    def shares(self):
        """The share of user stacks that are whole; None: not known."""
        return None

    def bytes(self):
        """The size of what it left."""
        return sum(os.path.getsize(f) for f in self.files)


class Dtprof(Tool):
    """dtprof record."""

    name = "dtprof"
    files = ["x.dtp"]
    answer = [DTPROF, "report", "x.dtp"]

    def record(self, command, pid):
        return [DTPROF, "record", "-q", "-F", HZ, "-o", "x.dtp"] + (
            ["-p", str(pid)] if pid else ["--"] + command)

    def shares(self):
        try:
            run([DTPROF, "export", "--format", "folded", "-o", "x.folded",
                 "x.dtp"])
        except Failed:
            return None         # no sample
        return share(self.folded())

    @staticmethod
    def folded():
        """Stacks of the recording that have user frames."""
        with open("x.folded", errors="replace") as file:
            for line in file:
                stack, weight = line.rsplit(" ", 1)
                frames = [f for f in stack.split(";")[1:]
                          if not f.endswith("_[k]")]
                if frames:
                    yield frames[:OUTERMOST], float(weight)


class Perf(Tool):
    """perf record: no stacks, by frame pointers, by copies of the stack."""

    def __init__(self, name, how):
        self.name, self.how = name, how
        self.files = ["perf.data"]
        self.answer = ["perf", "report", "--stdio", "--no-inline", "-i",
                       "perf.data"]

    def record(self, command, pid):
        return ["perf", "record", "-q", "-F", HZ] + self.how + [
            "-o", "perf.data"] + (["-p", str(pid)] if pid else
                                  ["--"] + command)

    def shares(self):
        return share(self.script()) if self.how else None

    @staticmethod
    def script():
        """Stacks as perf script prints them, the innermost frame first."""
        frames = []
        for line in lines_of(["perf", "script", "--no-inline", "-F",
                              "comm,ip,sym", "-i", "perf.data"]):
            frame = line.split(None, 1)
            if line.startswith((" ", "\t")) and len(frame) == 2:
                if not re.match("ffff", frame[0]):
                    frames.append(frame[1])
            else:
                if frames:
                    yield frames[::-1][:OUTERMOST], 1
                frames = []
        if frames:
            yield frames[::-1][:OUTERMOST], 1


class Samply(Tool):
    """samply record; its report is a page that a browser loads."""

    name = "samply"
    files = ["samply.json.gz"]
    answer = "a browser"

    def why_not(self):
        return missing("samply", "samply")

    def record(self, command, pid):
        return [find("samply"), "record", "--save-only", "-r", HZ, "-o",
                "samply.json.gz"] + (["-p", str(pid)] if pid else
                                     ["--"] + command)


class Bpftrace(Tool):
    """bpftrace's profile probe, which counts stacks in the kernel; of one
    process, without those that it starts."""

    name = "bpftrace"

    def why_not(self):
        return missing("bpftrace")

    def record(self, command, pid):
        program = ("profile:hz:%s /pid == %s/ "
                   "{ @[kstack, ustack] = count(); }" % (
                       HZ, pid if pid else "cpid"))
        line = [find("bpftrace"), "-o", "bpftrace.out", "-e", program]
        if pid:
            return line
        # It looks for no program, and knows no quotes.
        with open("work.sh", "w", encoding="ascii") as file:
            file.write("exec %s\n" % shlex.join(command))
        return line + ["-c", "/bin/sh work.sh"]

    files = ["bpftrace.out"]

    def shares(self):
        stacks = list(self.maps())
        # It looks names up at the end, when a command has gone.
        if all(s[0][0].startswith("0x") for s in stacks):
            return None
        return share(stacks)

    @staticmethod
    def maps():
        """Keys of the map: kernel stack, user stack and count."""
        frames, keys = [], 0
        with open("bpftrace.out", errors="replace") as file:
            for line in file:
                text = line.strip()
                if text.startswith("@["):
                    frames, keys = [], 0
                elif text == ",":
                    frames, keys = [], keys + 1
                elif text.startswith("]:"):
                    if frames:
                        yield frames[::-1][:OUTERMOST], int(text[2:])
                    frames = []
                elif text:
                    frames.append(text)


class PySpy(Tool):
    """py-spy record, which stops the program for each sample; of Python
    programs that run already."""

    def __init__(self, hz):
        self.name = "py-spy %s" % hz
        self.hz = hz
        self.files = ["spy.raw"]

    def why_not(self):
        return None if os.environ.get("PYSPY") else "py-spy cannot be had"

    def can(self, work):
        return work.name == "python"

    def record(self, command, pid):
        return [os.environ["PYSPY"], "record", "-r", self.hz, "-f", "raw",
                "-o", "spy.raw", "-p", str(pid)]


TOOLS = [Dtprof(), Perf("perf -g", ["-g"]), Perf("perf", []),
         Perf("perf dwarf", ["--call-graph", "dwarf"]), Samply(), Bpftrace(),
         PySpy(HZ), PySpy("100")]


# ---------------------------------------------------------------------- work

def write_c(name, functions):
    """A file that keeps a compiler busy, some 2 ms a function."""
    with open(name, "w", encoding="ascii") as file:
        for n in range(functions):
            file.write(
                "int f%d(int *p, int k) { int r = 0; for (int i = 0; i < k; "
                "i++) { r += p[i] * k; switch (r & 7) { case 1: r ^= p[1]; "
                "break; case 2: r += p[2]; break; default: r <<= 1; } } "
                "return (r); }\n" % n)


class Command:
    """A command that is recorded from its begin to its end."""

    def __init__(self, name, command, needs=None, prepare=None):
        self.name, self.command = name, command
        self.needs, self.prepare = needs, prepare

    def why_not(self):
        """What is missing for it; None: nothing."""
        if self.needs and not shutil.which(self.needs):
            return "%s is not installed" % self.needs
        return None

    def begin(self):
        """Make what it works on."""
        if self.prepare:
            self.prepare()

    def bare(self):
        """By itself: time and CPU time."""
        ran = run(self.command)
        return {"wall": ran.wall, "cpu": ran.cpu}

    def under(self, tool):
        """Recorded by a tool."""
        ran = run(tool.record(self.command, None))
        return {"wall": ran.wall, "cpu": ran.cpu}

    def end(self):
        """Nothing is left of it."""


class Daemon(Command):
    """redis, which answers a client while a recorder is attached."""

    SOCKET = "redis.sock"

    def __init__(self):
        super().__init__("daemon", ["redis-benchmark", "-s", self.SOCKET,
                                    "-q", "-t", "set,get,lrange_100", "-n",
                                    "60000"], "redis-benchmark")
        self.server = None

    def begin(self):
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.SOCKET,
             "--save", "", "--loglevel", "warning"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(self.SOCKET):
            time.sleep(0.02)
        run(self.command)

    def cpu(self):
        """CPU time that the server has had."""
        with open("/proc/%d/schedstat" % self.server.pid,
                  encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9

    def bare(self):
        before = self.cpu()
        ran = run(self.command)
        return {"wall": ran.wall, "cpu": self.cpu() - before}

    def under(self, tool):
        recorder = Run(tool.record(None, self.server.pid))
        time.sleep(1.5)
        took = self.bare()
        recorder.process.send_signal(signal.SIGINT)
        took["cpu"] += recorder.end().cpu
        return took

    def end(self):
        self.server.terminate()
        self.server.wait()


class Python(Daemon):
    """Python functions, 25 deep, of which each calls another one, and the
    time that they take while a recorder is attached to their process."""

    PROGRAM = "import sys" + differing.FUNCTIONS + """
for line in sys.stdin:
    for n in range(int(line)):
        for top in tops:
            top(n)
    print("done", flush=True)
"""

    def __init__(self):
        super().__init__()
        self.name, self.needs = "python", "/usr/bin/python3"

    def begin(self):
        with open("target.py", "w", encoding="ascii") as file:
            file.write(self.PROGRAM)
        self.server = subprocess.Popen(
            [self.needs, "target.py"], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 4000
        self.count = int(self.count * 2 / self.bare()["cpu"])

    def bare(self):
        begun, before = time.monotonic(), self.cpu()
        print(self.count, file=self.server.stdin)
        if self.server.stdout.readline() != "done\n":
            raise Failed("the target ended")
        cpu = self.cpu() - before
        return {"wall": time.monotonic() - begun, "cpu": cpu, "own": cpu}


def build_files():
    """Many small files and what makes them."""
    for n in range(24):
        write_c("b%d.c" % n, 4)
    with open("Makefile", "w", encoding="ascii") as file:
        file.write("all: $(patsubst %.c,%.o,$(wildcard b*.c))\n"
                   "%.o: %.c\n\tcc -O1 -c -o $@ $<\n")


WORKS = [
    Command("true", ["true"]),
    Command("clang-short", ["clang", "-O2", "-c", "-o", "s.o", "s.c"],
            "clang", lambda: write_c("s.c", 290)),
    Command("clang-long", ["clang", "-O2", "-c", "-o", "l.o", "l.c"],
            "clang", lambda: write_c("l.c", 4000)),
    Command("build", ["make", "-s", "-B", "-j2"], "make", build_files),
    Daemon(),
    Python(),
    Command("stock", ["sqlite3", ":memory:",
                      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT "
                      "x + 1 FROM c WHERE x < 3000000) SELECT sum(x % 7), "
                      "max(hex(x)) FROM c;"], "sqlite3"),
]


# ------------------------------------------------------------------- results

def text(value, digits=3):
    """A number of so many digits."""
    return "-" if value is None else "%.*g" % (digits, value)


def spread(values, digits=3):
    """Median, least and most."""
    return "%s (%s to %s)" % (text(statistics.median(values), digits),
                              text(min(values), digits),
                              text(max(values), digits))


def measure_one(work, tool):
    """One run under a tool, and what it left."""
    for file in tool.files:
        if os.path.exists(file):
            os.unlink(file)
    one = work.under(tool)
    one["bytes"] = tool.bytes()
    if isinstance(tool.answer, list):
        one["answer"] = one["wall"] + run(tool.answer).wall
    elif tool.answer is None:
        one["answer"] = one["wall"]
    one["whole"] = tool.shares()
    return one


def measure(work, tools, chance, failures):
    """One round.  A tool that fails (perf 6.1 crashes now and then) tries
    again, and is missing in this round when it fails every time."""
    took = {}
    tools = [None] + [tool for tool in tools if tool.can(work)]
    for tool in chance.sample(tools, len(tools)):
        if tool is None:
            took["none"] = work.bare()
            continue
        for left in range(TRIES, 0, -1):
            try:
                took[tool.name] = measure_one(work, tool)
                break
            except Failed as why:
                failures.append(str(why))
                time.sleep(TRIES - left)
    return took


def added(rounds, tool, what):
    """What a tool adds to a work, in the rounds that have it."""
    return [r[tool][what] - r["none"][what] for r in rounds if tool in r]


def show_tool(tool, rounds):
    """The row of a tool."""
    mine = [r[tool.name] for r in rounds if tool.name in r]
    if not mine:
        print("%-11s failed every time" % tool.name)
        return
    whole = mine[-1]["whole"]
    print("%-11s %-26s %-26s %10.0f %9s  %s" % (
        tool.name, spread(added(rounds, tool.name, "cpu")),
        spread(added(rounds, tool.name, "wall")),
        statistics.median(m["bytes"] for m in mine),
        "-" if whole is None else "%.1f%%" % (100 * whole),
        spread([m["answer"] for m in mine]) if "answer" in mine[-1] else
        tool.answer))


def show_lost(tool, rounds):
    """Of the work that the target does in a time, and in a CPU time of its
    own; with the upper end of a 95 % interval, by resampling rounds."""
    for what, name in ("wall", "time"), ("own", "CPU time of the target"):
        lost = [1 - r["none"][what] / r[tool.name][what] for r in rounds
                if tool.name in r]
        chance = random.Random(1)
        means = sorted(statistics.mean(chance.choices(lost, k=len(lost)))
                       for _ in range(4000))
        print("  throughput lost by %s: %.2f %%, at most %.2f %% (95 %%)" % (
            name, 100 * statistics.mean(lost), 100 * means[3899]))


def show(work, tools, rounds, failures):
    """The rows of a work."""
    tools = [tool for tool in tools if tool.can(work)]
    print("\n%s: %d rounds, whose least and most hold the true median with "
          "%.1f %%; by itself %s s, CPU time %s s" % (
              work.name, len(rounds), 100 * (1 - 2 * 0.5 ** len(rounds)),
              spread([r["none"]["wall"] for r in rounds]),
        spread([r["none"]["cpu"] for r in rounds])))
    print("%-11s %-26s %-26s %10s %9s  %s" % (
        "", "CPU time added, s", "time added, s", "bytes", "complete",
        "first answer, s"))
    for tool in tools:
        show_tool(tool, rounds)
        if work.name == "python":
            show_lost(tool, rounds)
    for tool in tools[1:]:
        both = [r for r in rounds if tool.name in r and "dtprof" in r]
        if both:
            print("  CPU time added, dtprof / %-10s %s" % (
                tool.name, spread([mine / max(other, 1e-9) for mine, other in
                                   zip(added(both, "dtprof", "cpu"),
                                       added(both, tool.name, "cpu"))], 2)))
    if failures:
        print("  ended with an error and ran again: %d times, the last: %s" % (
            len(failures), failures[-1][:200].replace("\n", " ")))


# ------------------------------------------------------------------- picture

def picture(rounds, chance):
    """From a recording to a flame graph."""
    work = next(w for w in WORKS if w.name == "clang-short")
    if work.why_not():
        print("\npicture: left out: %s" % work.why_not())
        return {}
    work.begin()
    failures = []
    first = measure(work, TOOLS[:2], chance, failures)
    if len(first) < 3:
        print("\npicture: left out: %s" % failures[-1])
        return {}
    script = "perf script --no-inline -i perf.data | "
    ways = {"dtprof": (None, "%s flamegraph -o dtprof.svg x.dtp" % DTPROF)}
    ways["inferno"] = (
        missing("inferno-flamegraph", "inferno"), script + "%s | %s >i.svg" % (
            find("inferno-collapse-perf"), find("inferno-flamegraph")))
    ways["FlameGraph"] = (
        missing("stackcollapse-perf.pl") or missing("flamegraph.pl"),
        script + "stackcollapse-perf.pl | flamegraph.pl >f.svg")
    took = {}
    for name, (why, _) in ways.items():
        if why:
            print("\npicture by %s: left out: %s" % (name, why))
        else:
            took[name] = []
    for _ in range(rounds):
        for name in chance.sample(sorted(took), len(took)):
            ran = run(["sh", "-c", ways[name][1]])
            took[name].append({"wall": ran.wall, "cpu": ran.cpu})
    print("\npicture of clang-short, from the recording:")
    for name, runs in took.items():
        print("%-11s time %-26s s, CPU time %s s" % (
            name, spread([r["wall"] for r in runs]),
            spread([r["cpu"] for r in runs])))
    return took


def main():
    """Rounds of everything that is asked for."""
    rounds = int(os.environ.get("BENCH_ROUNDS", "5"))
    seed = int(os.environ.get("BENCH_SEED", time.time_ns() % 10 ** 6))
    chance = random.Random(seed)
    wanted = sys.argv[2:] or [w.name for w in WORKS] + ["picture"]
    tools, kept = [], {"seed": seed, "rounds": rounds}
    only = os.environ.get("BENCH_TOOLS")
    before = {}
    if os.environ.get("BENCH_ADD") and os.path.exists(sys.argv[1]):
        with open(sys.argv[1], encoding="ascii") as file:
            before = json.load(file)
    print("%d rounds, seed %d, load %s; median (least to most)" % (
        rounds, seed, " ".join("%.1f" % n for n in os.getloadavg())))
    for tool in TOOLS:
        if only and tool.name not in only.split(","):
            continue
        if tool.why_not():
            print("left out: %s" % tool.why_not())
        else:
            tools.append(tool)
    for work in WORKS:
        if work.name not in wanted:
            continue
        if work.why_not():
            print("\n%s: left out: %s" % (work.name, work.why_not()))
            continue
        failures = []
        work.begin()
        try:
            kept[work.name] = before.get(work.name, []) + [
                measure(work, tools, chance, failures)
                for _ in range(rounds)]
        finally:
            work.end()
        show(work, tools, kept[work.name], failures)
    if "picture" in wanted:
        kept["picture"] = picture(rounds, chance)
    with open(sys.argv[1], "w", encoding="ascii") as file:
        json.dump(kept, file)


main()
