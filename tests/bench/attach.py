# SPDX-License-Identifier: ISC
"""What sampling on tasks and on all CPUs costs its target, beside perf.

    attach.py spin ROUNDS MILLISECONDS OUTPUT
    attach.py pgbench ROUNDS SECONDS OUTPUT

spin: one thread on CPU 0 that computes.  pgbench: four clients of a server of
PostgreSQL that read, which switch at each query.  In each round everything
runs once, in an order that chance decides.  Prints medians of the rounds, and
the mean loss against the run of the same round without a recorder, with its
95 % interval; OUTPUT gets all runs as JSON.  "busy" is the share of all CPUs
that a recorder and its BPF programs take, by the kernel's own clocks: it tells
apart what the noise of a server's speed hides.  Called by attach.sh.
"""

import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

DTPROF = os.environ["DTPROF"]
PG = os.environ.get("PGBIN", "/usr/lib/postgresql/15/bin")
# Student's t, two-sided 95 %, by degrees of freedom.
T95 = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
       2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
       2.086]
WAYS = ["none", "perf", "auto", "tasks", "cpus"]
RUNS = os.path.join(os.path.dirname(os.environ["TICKS"]), "runs")
PERF = ["perf", "record", "-q", "-B", "-N", "-g", "-e", "cpu-clock", "-F",
        "997"]


def recorder(way, where):
    """The command of a recorder, up to its target."""
    if way == "perf":
        return PERF + ["-o", os.path.join(where, "perf.data")]
    return [DTPROF, "record", "-q", "--attach", way, "-e", "cpu-clock", "-F",
            "997", "-o", os.path.join(where, "x.dtp")]


def interval(values):
    """Mean, and how far the 95 % interval goes to each side."""
    if len(values) < 2:
        return statistics.fmean(values), float("inf")
    t = T95[min(len(values) - 1, len(T95) - 1)]
    return (statistics.fmean(values),
            t * statistics.stdev(values) / len(values) ** 0.5)


def moved(way, where):
    """What the recording says of where it sampled."""
    if way in ("none", "perf"):
        return ""
    info = json.loads(subprocess.check_output(
        [DTPROF, "report", "--json", os.path.join(where, "x.dtp")],
        stderr=subprocess.DEVNULL))["recording"]["info"]
    return info["attach"] + (", then cpus" if "attach.moved" in info else "")


def spin(way, where, milliseconds):
    """One run: turns a second, and interrupts a second of the other CPU."""
    ticks = [os.environ["TICKS"], "0", "1", str(milliseconds)]
    command = ticks if way == "none" else \
        recorder(way, where) + ["--"] + ticks
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout
    turns, loc = map(int, out.split()[:2])
    return {"speed": turns * 1e3 / milliseconds,
            "interrupts": loc * 1e3 / milliseconds, "on": moved(way, where)}


class Server:
    """A server of its own, which listens to a socket in its directory."""

    def __init__(self, where):
        self.where = os.path.join(where, "pg")
        os.mkdir(self.where)
        subprocess.run(["chown", "postgres", self.where], check=True)
        self.as_user("initdb", "-A", "trust", "-D", "data")
        self.as_user("pg_ctl", "-D", "data", "-w", "-l", "log", "-o",
                     "-k %s -c listen_addresses= -c fsync=off" % self.where,
                     "start")
        self.as_user("pgbench", "-h", self.where, "-i", "-s", "5", "-q",
                     "postgres")

    def as_user(self, name, *args):
        """Run one of its programs to its end."""
        subprocess.run(self.command(name, *args), check=True, cwd=self.where,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @staticmethod
    def command(name, *args):
        """One of its programs, as the user it belongs to."""
        return ["setpriv", "--reuid=postgres", "--regid=postgres",
                "--clear-groups", os.path.join(PG, name)] + list(args)

    def pids(self):
        """The first process, and all."""
        with open(os.path.join(self.where, "data", "postmaster.pid"),
                  encoding="ascii") as file:
            first = int(file.readline())
        with open("/proc/%d/task/%d/children" % (first, first),
                  encoding="ascii") as file:
            return first, [first] + [int(pid) for pid in file.read().split()]

    def stop(self):
        """End it."""
        self.as_user("pg_ctl", "-D", "data", "-m", "immediate", "stop")


def pgbench(way, where, seconds, server):
    """One run: transactions a second while the recorder records."""
    bench = subprocess.Popen(
        server.command("pgbench", "-h", server.where, "-S", "-n", "-c", "4",
                       "-j", "2", "-P", "1", "-T", str(seconds + 2),
                       "postgres"), cwd=server.where,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    first, every = server.pids()
    recording = None
    programs = os.path.join(where, "programs.json")
    began = time.monotonic()
    if way != "none":
        command = recorder(way, where)
        if way != "perf":
            command = [RUNS, programs] + command
        recording = subprocess.Popen(
            command + ["-p", str(first) if way != "perf" else
                       ",".join(map(str, every))],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rates = []
    for line in bench.stderr:
        found = re.search(r"progress: ([0-9.]+) s, ([0-9.]+) tps", line)
        if found and float(found[1]) > 2:
            rates.append(float(found[2]))
    busy = 0
    if recording is not None:
        recording.send_signal(signal.SIGINT)
        elapsed = time.monotonic() - began
        used = os.wait4(recording.pid, 0)[2]
        busy = used.ru_utime + used.ru_stime
        if way != "perf":
            with open(programs, encoding="ascii") as file:
                busy += sum(program["time_ns"] for program in json.load(file)
                            ) / 1e9
        busy *= 100 / elapsed / os.cpu_count()
    if bench.wait() != 0 or not rates:
        sys.exit("pgbench failed")
    return {"speed": statistics.fmean(rates), "interrupts": 0, "busy": busy,
            "on": moved(way, where)}


def show(rounds, ways):
    """The table."""
    for way in ways:
        speed = statistics.median(r[way]["speed"] for r in rounds)
        loc = statistics.median(r[way]["interrupts"] for r in rounds)
        loss, wide = interval([100 * (1 - r[way]["speed"] / r["none"]["speed"])
                               for r in rounds])
        busy = statistics.median(r[way].get("busy", 0) for r in rounds)
        print("%-6s %12.1f/s  loss %6.2f %% +- %.2f  %7.1f interrupts/s  "
              "busy %.2f %%  %s" % (way, speed, loss, wide, loc, busy,
                                    rounds[-1][way]["on"]))


def main():
    """Rounds of everything."""
    what, count, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    seed = int(os.environ.get("SEED", time.time_ns() % 10 ** 6))
    chance = random.Random(seed)
    ways = [way for way in os.environ.get("WAYS", " ".join(WAYS)).split()]
    rounds = []
    with tempfile.TemporaryDirectory(prefix="dtprof-attach.") as where:
        os.chmod(where, 0o755)
        server = Server(where) if what == "pgbench" else None
        try:
            for _ in range(count):
                order = chance.sample(ways, len(ways))
                rounds.append({way: pgbench(way, where, length, server)
                               if server else spin(way, where, length)
                               for way in order})
        finally:
            if server:
                server.stop()
    print("%s: %d rounds, seed %d" % (what, count, seed))
    show(rounds, ways)
    with open(sys.argv[4], "w", encoding="ascii") as file:
        json.dump(rounds, file)


main()
