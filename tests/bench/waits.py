# SPDX-License-Identifier: ISC
"""What it costs to record waits; see waits.sh."""
import contextlib
import json
import os
import random
import re
import resource
import signal
import statistics
import subprocess
import sys
import time

DTPROF, PG_BIN, IDLE = (os.environ[x] for x in ("DTPROF", "PG_BIN", "IDLE"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "8"))
SETTLE, WINDOW = 4, 1
STATS = "/proc/sys/kernel/bpf_stats_enabled"
IDLE_THREADS, IDLE_SECONDS = 10000, 10

# offcputime of bcc, by the tracepoint alone.
OFFCPUTIME = """
tracepoint:sched:sched_switch {
    @start[tid] = nsecs; @kernel[tid] = kstack; @user[tid] = ustack;
    $start = @start[args->next_pid];
    if ($start) {
        @off[@kernel[args->next_pid], @user[args->next_pid],
            args->next_comm] = sum(nsecs - $start);
        delete(@start[args->next_pid]);
    }
}
END { clear(@start); clear(@kernel); clear(@user); }
"""

# Of all processes, as perf and bpftrace record; each writes a file "out".
RECORD = [DTPROF, "record", "-q", "-e", "off-cpu", "-a", "-o", "out"]
TOOLS = {
    "dtprof record --off-cpu": [DTPROF, "record", "-q", "--off-cpu", "-a",
                                "-o", "out"],
    "dtprof, no CPU event": RECORD,
    "dtprof, no CPU event, walk=1": [
        x.replace("off-cpu", "off-cpu/walk=1/") for x in RECORD],
    "dtprof, no CPU event, no stacks": RECORD + ["--call-graph", "none"],
    "dtprof, CPU event alone": [DTPROF, "record", "-q", "-a", "-o", "out"],
    "perf sched record": ["unshare", "-m", "perf", "sched", "record", "-o",
                          "out"],
    "bpftrace offcputime": ["bpftrace", "-o", "out", "-e", OFFCPUTIME],
}
TOOLS = {name: command for name, command in TOOLS.items()
         if re.search(os.environ.get("BENCH_TOOLS", ""), name)}


def run(command, **options):
    """What a command prints; its failure ends the bench."""
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False,
                          **options)
    if done.returncode != 0:
        sys.exit("%s: %s" % (command[0], done.stderr))
    return done.stdout


def ticks_of(pid):
    """CPU time of a process and of the children that it waited for, in s."""
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def spent_by(pid):
    """The same, also of children that still run."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid),
                  encoding="ascii") as file:
            return ticks_of(pid) + sum(spent_by(int(child))
                                       for child in file.read().split())
    except FileNotFoundError:  # its parent has its time in a moment
        return 0


class Recorder:
    """
    A tool that records while this is entered, or, if it can pause, from resume
    to pause.  Paused, its probes are there still.
    """

    def __init__(self, command):
        self.command = command
        self.is_ours = command[0] == DTPROF
        self.can_pause = self.is_ours or "perf" in command
        if self.can_pause and not self.is_ours:
            for name in "control", "ack":
                if not os.path.exists(name):
                    os.mkfifo(name)
            self.control, self.ack = (os.open(name, os.O_RDWR)
                                      for name in ("control", "ack"))
            self.command = command + ["--control", "fifo:control,ack"]

    def tell(self, is_on):
        """Pause or resume."""
        if self.is_ours:
            run([DTPROF, "ctl", "resume" if is_on else "pause", "--recorder",
                 str(self.process.pid)])
        else:
            os.write(self.control, b"enable\n" if is_on else b"disable\n")
            os.read(self.ack, 16)

    def __enter__(self):
        if os.path.exists("out"):
            os.unlink("out")
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(SETTLE)
        return self

    def spent(self):
        """CPU time so far."""
        return spent_by(self.process.pid)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate()[1]
        if not os.path.exists("out") or os.path.getsize("out") == 0:
            sys.exit("%s recorded nothing: %s" % (self.command[0], said))


class Postgres:
    """A server with its files here, and pgbench's transactions."""
    user = ["setpriv", "--reuid=postgres", "--regid=postgres",
            "--init-groups"]

    def __init__(self, options):
        self.options = options

    def __enter__(self):
        os.chmod(".", 0o777)
        self.tool("initdb", "-D", "data", "-A", "trust")
        self.tool("pg_ctl", "-D", "data", "-w", "-l", "log", "-o",
                  "-k %s -c listen_addresses=" % os.getcwd(), "start")
        self.pgbench("-i", "-q", "-s", "10")
        with open("data/postmaster.pid", encoding="ascii") as file:
            self.pid = int(file.readline())
        return self

    def __exit__(self, *_):
        self.tool("pg_ctl", "-D", "data", "-w", "-m", "fast", "stop")
        run(self.user + ["rm", "-rf", "data"])

    def tool(self, name, *options):
        """A program of the server."""
        with open("tool", "w", encoding="ascii") as out:
            subprocess.run(self.user + [os.path.join(PG_BIN, name)] +
                           list(options), stdout=out, check=True)

    def pgbench(self, *options):
        """What it prints."""
        return run(self.user + ["pgbench", "-h", os.getcwd()] +
                   list(options) + ["postgres"])

    def work(self):
        """One window: how many, and in how many seconds."""
        said = self.pgbench("-n", "-c", "4", "-T", str(WINDOW), *self.options)
        n = int(re.search(r"actually processed: (\d+)", said).group(1))
        return n, n / float(re.search(r"tps = ([\d.]+)", said).group(1))


class Redis:
    """A server that writes no files, and requests for GET."""

    def __enter__(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket",
             os.path.abspath("redis"), "--save", "", "--appendonly", "no"],
            stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        time.sleep(1)
        self.requests = 10000
        n, seconds = self.work()
        self.requests = int(n / seconds * WINDOW)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def work(self):
        """One window: how many, and in how many seconds."""
        said = run(["redis-benchmark", "-s", os.path.abspath("redis"),
                    "--csv", "-t", "get", "-n", str(self.requests)])
        rate = float(said.splitlines()[-1].split(",")[1].strip('"'))
        return self.requests, self.requests / rate


def bounds(values):
    """Of their mean, by resampling: a 95 % interval."""
    chance = random.Random(1)
    means = sorted(statistics.mean(chance.choices(values, k=len(values)))
                   for _ in range(4000))
    return means[100], means[3899]


def window(server, recorder=None):
    """
    Requests a second, and a second of CPU time of all that takes part, and how
    much of a CPU the recorder takes.
    """
    def spent():
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return [children.ru_utime + children.ru_stime + spent_by(server.pid),
                recorder.spent() if recorder else 0]

    before = spent()
    n, seconds = server.work()
    time.sleep(.1)  # until the server has waited for its children
    worked, recorded = (b - a for a, b in zip(before, spent()))
    return n / seconds, n / (worked + recorded), recorded / seconds


def pairs_of(recorder, server):
    """Windows with the tool, and one without beside each, in any order."""
    with contextlib.ExitStack() as stack:
        if recorder.can_pause:
            stack.enter_context(recorder)
        for _ in range(ROUNDS):
            seen = {}
            for is_with in random.sample((False, True), 2):
                if recorder.can_pause:
                    recorder.tell(is_with)
                    seen[is_with] = window(server, recorder)
                elif is_with:
                    with recorder:
                        seen[is_with] = window(server, recorder)
                else:
                    seen[is_with] = window(server)
            yield seen[True], seen[False]


def lost(what, server):
    """What each tool costs, one after another."""
    pairs, rates = {tool: [] for tool in TOOLS}, []
    shares = {tool: [] for tool in TOOLS}
    with server:
        server.work()
        for tool, command in TOOLS.items():
            for on, off in pairs_of(Recorder(command), server):
                pairs[tool].append([1 - a / b for a, b in
                                    zip(on[:2], off)])
                shares[tool].append(on[2])
                rates.append(off[0])
    print("  %s, %.0f a second (%.0f to %.0f)" % (
        what, statistics.median(rates), min(rates), max(rates)))
    for tool, rows in pairs.items():
        print("    lost to %s, which takes %.1f%% of a CPU itself" % (
            tool, 100 * statistics.median(shares[tool])))
        for how, values in zip(("time", "CPU time"), zip(*rows)):
            low, high = bounds(values)
            print("      by %-9s %5.1f%%, 95%%: %5.1f to %5.1f%%, median "
                  "%5.1f%%" % (how, 100 * statistics.mean(values), 100 * low,
                               100 * high, 100 * statistics.median(values)),
                  flush=True)


def programs(names):
    """Nanoseconds and runs so far, of the BPF programs of these names."""
    shown = json.loads(run(["bpftool", "prog", "show", "-j"]))
    return {p["name"]: (p.get("run_time_ns", 0), p.get("run_cnt", 0))
            for p in shown if p.get("name") in names}


def pipe():
    """Switches of two threads on one CPU; run time of the BPF programs."""
    bench = ["taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-T",
             "-l", "200000"]

    def took():
        return float(re.search(r"([\d.]+) usecs/op", run(bench)).group(1)) / 2

    seen = {tool: [] for tool in ["nothing"] + list(TOOLS)}
    spent = {tool: [] for tool in seen}
    with open(STATS, encoding="ascii") as file:
        before = file.read()
    for n in range(2 * ROUNDS):
        # A round for the time of a switch, and one for that of programs.
        is_counted = n % 2
        with open(STATS, "w", encoding="ascii") as file:
            file.write("1" if is_counted else before)
        for tool in random.sample(list(seen), len(seen)):
            if tool == "nothing":
                if not is_counted:
                    seen[tool].append(took())
                continue
            with Recorder(TOOLS[tool]):
                old = programs(["on_wait_switch"])
                us = took()
                new = programs(["on_wait_switch"])
            if not is_counted:
                seen[tool].append(us)
            for name, (ns, runs) in new.items() if is_counted else ():
                spent[tool].append((ns - old[name][0]) /
                                   (runs - old[name][1]))
    with open(STATS, "w", encoding="ascii") as file:
        file.write(before)
    print("  sched pipe on one CPU: a switch, minimum / median / maximum")
    for tool, values in seen.items():
        print("    %-24s %s us%s" % (
            tool, " / ".join("%.2f" % f(values) for f in
                             (min, statistics.median, max)),
            "; its program %.0f / %.0f / %.0f ns" % (
                min(spent[tool]), statistics.median(spent[tool]),
                max(spent[tool])) if spent[tool] else ""))


def wall():
    """CPU time of the recorder of idle threads, of which some run."""
    for busy in 0, 10:
        shares = []
        for _ in range(ROUNDS):
            idle = subprocess.Popen([IDLE, str(IDLE_THREADS), str(busy), "1"],
                                    stdout=subprocess.PIPE)
            idle.stdout.readline()
            recorder = Recorder([DTPROF, "record", "-q", "-e", "wall", "-o",
                                 "out", "-p", str(idle.pid)])
            with recorder:
                before = recorder.spent()
                time.sleep(IDLE_SECONDS)
                shares.append((recorder.spent() - before) / IDLE_SECONDS)
            idle.kill()
            idle.wait()
        print("  --wall, %d idle threads, %d that run and sleep: %s%% of a "
              "CPU, minimum / median / maximum" % (
                  IDLE_THREADS, busy, " / ".join(
                      "%.1f" % (100 * f(shares)) for f in
                      (min, statistics.median, max))), flush=True)


PARTS = {
    "tpcb": lambda: lost("pgbench, TPC-B", Postgres([])),
    "select": lambda: lost("pgbench -S", Postgres(["-S"])),
    "redis": lambda: lost("redis-benchmark, GET", Redis()),
    "pipe": pipe,
    "wall": wall,
}
# Servers end with it.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
for part in sys.argv[1:]:
    PARTS[part]()
