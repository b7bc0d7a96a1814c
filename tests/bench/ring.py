# SPDX-License-Identifier: ISC
"""What a ring costs on an idle machine: see ring.sh."""
import os
import random
import signal
import statistics
import subprocess
import sys
import time

DTPROF = os.environ["DTPROF"]
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SECONDS = 20
# Of the distribution of Student, 97.5%, by degrees of freedom.
T = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31,
     9: 2.26}


def idle_s():
    """Of all CPUs, and how many there are."""
    with open("/proc/stat", encoding="ascii") as file:
        lines = file.read().splitlines()
    fields = lines[0].split()
    return ((int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK"),
            sum(line[3:4].isdigit() for line in lines))


def processes(recorder):
    """The recorder and those that it has started."""
    path = "/proc/%d/task/%d/children" % (recorder.pid, recorder.pid)
    with open(path, encoding="ascii") as file:
        return [recorder.pid] + [int(pid) for pid in file.read().split()]


def spent_s(pids):
    spent = 0
    for pid in pids:
        for tid in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/schedstat" % (pid, tid),
                      encoding="ascii") as file:
                spent += int(file.read().split()[0])
    return spent / 1e9


def window(pids):
    """How busy the machine and these processes are, in % of a CPU."""
    begun, (idle, ncpus), spent = time.monotonic(), idle_s(), spent_s(pids)
    time.sleep(SECONDS)
    elapsed = time.monotonic() - begun
    return (100 * (ncpus - (idle_s()[0] - idle) / elapsed),
            100 * (spent_s(pids) - spent) / elapsed)


def resident_mb(pids):
    """What they share counts once."""
    total = 0
    for pid in pids:
        with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
            total += next(int(line.split()[1]) for line in file
                          if line.startswith("Pss:"))
    return total * 1024 / 1e6


def with_ring():
    recorder = subprocess.Popen(
        [DTPROF, "record", "-q", "-a", "-F", "19", "--ring", "16M", "-o",
         "ring.%n.dtp"], stderr=subprocess.DEVNULL)
    # It reads what runs already.
    time.sleep(6)
    pids = processes(recorder)
    seen = window(pids), resident_mb(pids), os.listdir(".")
    recorder.send_signal(signal.SIGINT)
    if recorder.wait() != 0:
        sys.exit("the recorder failed")
    for name in os.listdir("."):
        os.unlink(name)
    return seen


more, own, memory, written = [], [], [], set()
for _ in range(ROUNDS):
    is_first = random.random() < 0.5
    if not is_first:
        without = window([])[0]
    (busy, spent), megabytes, files = with_ring()
    if is_first:
        time.sleep(1)
        without = window([])[0]
    more.append(busy - without)
    own.append(spent)
    memory.append(megabytes)
    written.update(files)
print("  --ring 16M -a -F 19: %.3f%% of a CPU (%s), of which its own processes "
      "%.3f%%; %.1f MB at most; files before a dump: %d" % (
          statistics.mean(more), "no interval" if ROUNDS < 2 else
          "+- %.3f" % (T.get(ROUNDS - 1, 2.26) * statistics.stdev(more) /
                       ROUNDS ** 0.5),
          statistics.mean(own), max(memory), len(written)))
