#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
#
# Collects pools of real runs, from which tests draw comparisons:
#
#	compare_pools.py [--seed N] POOL >tests/bench/pools/POOL.txt
#
# quiet	tests/work/forty on a machine that does nothing else
# hogs	the same beside a busy loop on each CPU
# short	a command of 1 ms
# drift	series in each of which a load beside it grows from nothing to a tenth
#	of each CPU, and what forty has to do grows by 10 %, as data do
# step	series amid each of which a busy loop begins on each CPU
# tails	forty, which then writes 1 MiB and waits until the disk has it
# modes	forty --heap: by where the kernel puts its heap, which is random, there
#	is a huge page in it or not
# chain	a load beside it on each CPU that wanders slowly
#
# Kinds of runs follow each other at random: "base", "half" with one function
# of 10 % made half as slow again, "two" with 2 % of the total added to one
# function.  DTPROF and B are as for tests.  Half a minute to four minutes each.
#
# A line for each run, in the order in which they were made: its kind, wall,
# user and system time in us, minor faults, voluntary and involuntary
# switches, then the samples of each function, f10 first ("-": none are kept).
# "--" begins a series.  quiet and hogs were recorded with twice the rounds at
# half the rate: as many samples.  Whatever else was at work then stands in the
# first line of a pool: drift, step, tails, modes and chain were recorded while
# others built and tested, so their times are noisier than the load makes them.
import argparse
import multiprocessing
import os
import random
import subprocess
import tempfile
import time

ROUNDS = 1350       # more than 2,000 samples
HZ = "9998"         # as many samples in a tenth of the time
SHORT = 400
PLANTED = {"base": [], "half": ["0", "51"], "two": ["15", "20"]}
SERIES = {"drift": 3, "step": 3}
RUNS = {"quiet": {"base": 130, "half": 40, "two": 40},
        "hogs": {"base": 70, "half": 30, "two": 30},
        "drift": {"base": 36, "half": 10, "two": 20},
        "step": {"base": 36},
        "tails": {"base": 64}, "modes": {"base": 64},
        "chain": {"base": 80}}
PERIOD = 0.02       # of a load that takes part of a CPU


def burn(cpu, share):
    """A load on one CPU; share: a shared number from 0 to 1."""
    os.sched_setaffinity(0, [cpu])
    while True:
        begin = time.monotonic()
        while time.monotonic() < begin + PERIOD * share.value:
            pass
        time.sleep(max(0, begin + PERIOD - time.monotonic()))


class Load:
    """The same load on each CPU, while it lasts."""

    def __init__(self):
        self.share = multiprocessing.Value("d", 0, lock=False)
        self.processes = [
            multiprocessing.Process(target=burn, args=(cpu, self.share),
                                    daemon=True)
            for cpu in sorted(os.sched_getaffinity(0))]

    def __enter__(self):
        for process in self.processes:
            process.start()
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.join()


def run(argv):
    """Wall time and what the kernel says of a command and its children."""
    begin = time.monotonic()
    pid = os.posix_spawnp(argv[0], argv, os.environ)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - begin
    assert status == 0, (argv, status)
    return [int(1e6 * wall), int(1e6 * usage.ru_utime),
            int(1e6 * usage.ru_stime), usage.ru_minflt, usage.ru_nvcsw,
            usage.ru_nivcsw]


def samples(dtprof, path):
    """Of each of the forty functions, which are leaves."""
    folded = subprocess.run([dtprof, "export", "--format", "folded", "-o",
                             "-", path], check=True, capture_output=True)
    count = [0] * 40
    for line in folded.stdout.decode().splitlines():
        stack, n = line.rsplit(" ", 1)
        leaf = stack.rsplit(";", 1)[-1]
        if leaf[0] == "f" and leaf[1:].isdigit() and 10 <= int(leaf[1:]) < 50:
            count[int(leaf[1:]) - 10] += int(n)
    return count


class Series:
    """Runs of one pool, the i-th of n of a series at a time."""

    def __init__(self, pool, rng, load, directory):
        self.pool, self.rng, self.load = pool, rng, load
        self.build = os.environ.get("B", "build")
        self.dtprof = os.environ.get("DTPROF", self.build + "/dtprof")
        self.path, self.file = directory + "/x.dtp", directory + "/written"
        self.level = rng.gauss(0, 1)
        self.step = rng.uniform(0.2, 0.8)

    def set_load(self, place):
        self.level = 0.95 * self.level + self.rng.gauss(0, (1 - 0.95 ** 2)
                                                        ** 0.5)
        self.load.share.value = {
            "drift": 0.1 * place, "hogs": 1,
            "step": float(place > self.step),
            "chain": min(max(0.25 + 0.15 * self.level, 0), 0.9),
        }.get(self.pool, 0)

    def command(self, kind, place):
        grown = 1 + 0.1 * place if self.pool == "drift" else 1
        argv = [self.build + "/tests/work/forty", str(int(ROUNDS * grown)),
                *PLANTED[kind]]
        if self.pool == "modes":
            argv.insert(1, "--heap")
        if self.pool == "tails":
            argv = ["sh", "-c", '"$@" && exec dd if=/dev/zero bs=64k count=16 '
                    f"conv=fsync status=none of={self.file}", "sh", *argv]
        return argv

    def record(self, kind, place):
        self.set_load(place)
        usage = run([self.dtprof, "record", "-q", "-e", "cpu-clock", "-F", HZ,
                     "-o", self.path, "--", *self.command(kind, place)])
        print(kind, *usage, *samples(self.dtprof, self.path), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("pool", choices=["short", *RUNS])
    args = parser.parse_args()
    print(f"# compare_pools.py --seed {args.seed} {args.pool}")
    if args.pool == "short":
        for _ in range(SHORT):
            print("base", *run(["true"]), "-")
        return
    rng = random.Random(args.seed)
    for _ in range(SERIES.get(args.pool, 1)):
        if args.pool in SERIES:
            print("--")
        kinds = [kind for kind, n in RUNS[args.pool].items() for _ in range(n)]
        rng.shuffle(kinds)
        with Load() as load, tempfile.TemporaryDirectory() as directory:
            series = Series(args.pool, rng, load, directory)
            for i, kind in enumerate(kinds):
                series.record(kind, i / (len(kinds) - 1))


main()
