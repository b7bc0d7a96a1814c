#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
#
# Collects pools of real runs, from which tests draw comparisons:
#
#	compare_pools.py quiet >tests/bench/pools/quiet.txt
#	compare_pools.py hogs  >tests/bench/pools/hogs.txt
#	compare_pools.py short >tests/bench/pools/short.txt
#
# quiet: tests/work/forty on a machine that does nothing else; hogs: beside a
# busy loop on each CPU; short: a command of 1 ms.  Kinds of runs follow each
# other at random: "base", "half" with one function of 10 % made half as slow
# again, "two" with 2 % of the total added to one function.  DTPROF and B are
# as for tests.  About 170 s, 230 s and 3 s.
#
# A line for each run, in the order in which they were made: its kind, wall,
# user and system time in us, minor faults, voluntary and involuntary
# switches, then the samples of each function, f10 first ("-": none are kept).
import os
import random
import subprocess
import sys
import tempfile
import time

ROUNDS = 2700       # more than 2,000 samples
HZ = "4999"         # as many samples in a fifth of the time
KINDS = {"base": [], "half": ["0", "51"], "two": ["15", "20"]}
RUNS = {"quiet": {"base": 130, "half": 40, "two": 40},
        "hogs": {"base": 70, "half": 30, "two": 30}}


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


def main():
    pool = sys.argv[1]
    build = os.environ.get("B", "build")
    dtprof = os.environ.get("DTPROF", build + "/dtprof")
    print("# compare_pools.py " + pool)
    if pool == "short":
        for _ in range(400):
            print("base", *run(["true"]), "-")
        return
    kinds = [kind for kind, n in RUNS[pool].items() for _ in range(n)]
    random.Random(1).shuffle(kinds)
    hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"])
            for _ in range(os.cpu_count() if pool == "hogs" else 0)]
    try:
        with tempfile.TemporaryDirectory() as directory:
            path = directory + "/x.dtp"
            for kind in kinds:
                usage = run([dtprof, "record", "-q", "-e", "cpu-clock", "-F",
                             HZ, "-o", path, "--", build +
                             "/tests/work/forty", str(ROUNDS), *KINDS[kind]])
                print(kind, *usage, *samples(dtprof, path), flush=True)
    finally:
        for hog in hogs:
            hog.kill()


main()
