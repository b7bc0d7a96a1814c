# SPDX-License-Identifier: ISC
"""
A recorder of everything beside storms that change; what it uses, as the kernel
has it.  For storms-within-limits.sh, in its directory.
"""

import bisect
import collections
import ctypes
import json
import os
import random
import re
import signal
import statistics
import subprocess
import threading
import time

import recording as rec

SEED = int(os.environ["SEED"])
DURATION = int(os.environ["DURATION"])
LIMIT = float(os.environ["LIMIT"])
MEMORY = int(os.environ["MEMORY"])
HZ = int(os.environ["HZ"])
WORK = os.environ["work"]
CPUS = os.cpu_count()
WINDOW = 10.0
FUNCTIONS = ("seventy", "twenty", "ten")
rnd = random.Random(SEED)


def enable_stats():
    """The kernel measures BPF programs as long as the descriptor is open."""
    attr = ctypes.create_string_buffer(128)
    number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
    rec.check(ctypes.CDLL(None).syscall(number, 32, attr, 128) >= 0,
              "BPF_ENABLE_STATS")


class Watch(threading.Thread):
    """What a recorder and its children have used, twice a second."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.used = {}          # pid -> seconds
        self.programs = {}      # id -> nanoseconds
        self.looks = []         # ns, CPU seconds, programs' s, kB
        self.is_over = False

    def family(self):
        """The process and its descendants."""
        parents = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                text = open("/proc/%s/stat" % name, encoding="latin").read()
            except OSError:
                continue
            parent = int(text.rsplit(")", 1)[1].split()[1])
            parents.setdefault(parent, []).append(int(name))
        pids = [self.pid]
        for pid in pids:
            pids += parents.get(pid, [])
        return pids

    def look_at_clocks(self):
        """The kernel's, of their CPU time; of one that ended: the last."""
        for pid in self.family():
            try:
                self.used[pid] = time.clock_gettime(~pid << 3 | 2)
            except OSError:
                continue

    def look_at_programs(self):
        """As its descriptors have them; what is closed runs no more."""
        folder = "/proc/%d/fdinfo" % self.pid
        for name in os.listdir(folder):
            try:
                text = open(folder + "/" + name).read()
            except OSError:
                continue
            if "run_time_ns" in text:
                of = dict(re.findall(r"(\w+):\s*(\d+)\n", text))
                self.programs[of["prog_id"]] = int(of["run_time_ns"])

    def look(self):
        """One more."""
        self.look_at_clocks()
        with open("/proc/%d/status" % self.pid) as status:
            memory = int(re.search(r"VmRSS:\s*(\d+)", status.read())[1])
        self.look_at_programs()
        self.looks.append((
            time.monotonic_ns(), sum(self.used.values()),
            sum(self.programs.values()) / 1e9, memory))

    def run(self):
        while not self.is_over:
            try:
                self.look()
            except (OSError, TypeError):
                break
            time.sleep(0.5)

    def windows(self):
        """Each of ten seconds: two looks."""
        end = 0
        for first in self.looks:
            while end < len(self.looks) and (
                    self.looks[end][0] - first[0]) / 1e9 < WINDOW:
                end += 1
            if end == len(self.looks):
                return
            yield first, self.looks[end]

    def shares(self):
        """Percent of all CPUs in each window."""
        return [100e9 * (last[1] - first[1] + last[2] - first[2]) /
                (last[0] - first[0]) / CPUS
                for first, last in self.windows()]


class Recorder:
    """dtprof record -a, watched."""

    def __init__(self, path, *args):
        self.path = path
        self.err = open(path + ".err", "w+")
        self.process = subprocess.Popen(
            [rec.DTPROF, "record", "-o", path, "-a", "-e", "cpu-clock", "-F",
             str(HZ), *args], stdin=subprocess.DEVNULL, stderr=self.err)
        while subprocess.run([rec.DTPROF, "mark", "--recorder",
                              str(self.process.pid), "ready"], check=False,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL).returncode:
            rec.check(self.process.poll() is None, "the recorder ended: " +
                      open(path + ".err").read())
            time.sleep(0.02)
        self.watch = Watch(self.process.pid)
        self.watch.start()

    def end(self):
        """Status 0."""
        self.watch.is_over = True
        self.watch.join()
        self.process.send_signal(signal.SIGINT)
        rec.check(self.process.wait() == 0, open(self.path + ".err").read())


def storm(kind):
    """As many at once as there are CPUs."""
    command = {"idle": None, "exec": [WORK + "/spawn", "names", "1000000",
                                      "0", "4"]}.get(
        kind, [WORK + "/storms", kind])
    return [subprocess.Popen(command, stdout=subprocess.DEVNULL)
            for _ in range(0 if command is None else
                           1 if kind == "exec" else CPUS)]


def new_files(seconds):
    """Large programs, each with a build-id that no other has."""
    path = subprocess.check_output(["gcc", "-print-prog-name=cc1"], text=True)
    program = open(path.strip(), "rb").read()
    at = program.index(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0") + 16
    until, n = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        n += 1
        name = "./large%d" % n
        with open(name, "wb") as copy:
            copy.write(program[:at] + rnd.randbytes(20) + program[at + 20:])
        os.chmod(name, 0o755)
        subprocess.run([name, "-quiet", "-O2", "-o", os.devnull, "large.c"],
                       check=True)
        os.unlink(name)
    return n


def end_storm(processes):
    """All of them."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait()


def storms(seconds):
    """One after the other; what programs beside them say of themselves."""
    kinds = ["idle", "known", "switch", "exec", "fork", "vfork", "syscall",
             "mmap", "map", "thread", "fault", "signal"]
    until, known, order = time.monotonic() + seconds, [], []
    while time.monotonic() < until:
        if not order:
            order = rnd.sample(kinds, len(kinds))
        kind = order.pop()
        begin = time.monotonic()
        processes = storm("idle" if kind == "known" else kind)
        length = rnd.uniform(2, 6)
        if kind == "known" or rnd.random() < 0.4:
            known.append((time.monotonic_ns(), [
                json.loads(line) for line in subprocess.check_output(
                    ["./known", str(int(100 * length))]).splitlines()],
                time.monotonic_ns()))
        time.sleep(max(0, begin + length - time.monotonic()))
        end_storm(processes)
    return known


def check_windows(watch, what):
    """Within the limit."""
    shares = watch.shares()
    rec.check(shares and max(shares) <= LIMIT, "%s: %.3f %% of all CPUs in "
              "10 s, above %.2f" % (what, max(shares), LIMIT))
    rec.ok("%s: at most %.3f %% of all CPUs in any 10 s, median %.2f %%; "
           "limit %.2f %%" % (what, max(shares), statistics.median(shares),
                              LIMIT))


def read_marks(path):
    """When the rate was lowered or raised to what: (ns, factor)."""
    change = re.compile(r"rate (?:lowered|raised) to (?:1/(\d+)|the requ)")
    return [(r["time_ns"], int(got[1] or 1))
            for r in rec.records(path, "markers") if r["type"] == "marker" and
            (got := change.match(r["text"]))]


def nominal(marks, begin_ns, end_ns):
    """Periods of one CPU between these times."""
    edges = [(0, 1)] + marks + [(end_ns, 0)]
    return sum(max(0, min(end_ns, later[0]) - max(begin_ns, at)) * HZ / factor
               for (at, factor), later in zip(edges, edges[1:])) / 1e9


def check_rates(watch, times, marks):
    """As many samples as the rate says; the CPUs were never idle."""
    lowest = [(bisect.bisect(times, last[0]) - bisect.bisect(times, first[0]))
              / CPUS / nominal(marks, first[0], last[0])
              for first, last in watch.windows()]
    rec.check(min(lowest) >= 0.9, "%.3f of the samples of 10 s" % min(lowest))
    rec.ok("at least %.3f of the samples of any 10 s, median %.3f; rate "
           "changed %d times, lowest 1/%d" % (
               min(lowest), statistics.median(lowest), len(marks),
               max(m[1] for m in marks) if marks else 1))


def check_told(watch, path):
    """The most that the recording says was used is what we saw."""
    budgets = {b["name"]: b for b in rec.report(path)["budgets"]}
    told = budgets["max-overhead"]["used_max"]
    rec.check(abs(told - max(watch.shares())) <= 0.15 * LIMIT,
              "%.2f %% are told, %.2f %% used" % (told,
                                                      max(watch.shares())))
    # The kernel's count of pages lags behind.
    rec.check(max(look[3] for look in watch.looks) * 1024 <=
              1.02 * budgets["max-memory"]["used_max"], "%r" % budgets)
    rec.ok("told: %r" % budgets)


def check_memory(watch):
    """It does not grow once it has seen all storms, and has its limit."""
    kilobytes = [look[3] for look in watch.looks]
    rec.check(max(kilobytes) <= MEMORY * 1024, "%d kB" % max(kilobytes))
    # What is read of a large file is there for a moment.
    early, late = (statistics.median(part) for part in (
        kilobytes[:len(kilobytes) // 2], kilobytes[len(kilobytes) // 2:]))
    rec.check(DURATION < 300 or late <= 1.1 * early, "from %d to %d kB" %
              (early, late))
    rec.ok("memory: at most %d kB, median %d kB in the first half, then "
           "%d kB" % (max(kilobytes), early, late))


def samples_of(path):
    """Each, and the functions of the known programs in it."""
    with subprocess.Popen(
            [rec.DTPROF, "script", "--json", "--show", "samples", path],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as script:
        for line in script.stdout:
            sample = json.loads(line)
            names = {f.get("function") for f in
                     sample.get("user_frames", [])}
            # Stacks may lack callers: again() is called by ten() alone.
            if "again" in names:
                names.add("ten")
            yield sample, [f for f in FUNCTIONS if f in names]


def check_shares(path, known, marks):
    """Of each program: its functions, its threads, within their intervals."""
    weights = [collections.Counter() for _ in known]
    threads = [collections.Counter() for _ in known]
    squares = [0] * len(known)
    program = {(line["pid"], line["tid"], n): line["k"]
               for n, (_, lines, _) in enumerate(known) for line in lines}
    begins = [begin_ns for begin_ns, _, _ in known]
    unknown = total = 0
    times = []
    for sample, functions in samples_of(path):
        times.append(sample["time_ns"])
        # Numbers of threads come again.
        n = bisect.bisect(begins, sample["time_ns"]) - 1
        thread = sample["pid"], sample["tid"], n
        if thread not in program or sample["time_ns"] > known[n][2]:
            continue
        total += 1
        threads[n][program[thread]] += sample["weight"]
        if len(functions) != 1:
            unknown += 1
            continue
        squares[n] += sample["weight"] ** 2
        weights[n][functions[0]] += sample["weight"]
    judged = []
    for n, (_, lines, _) in enumerate(known):
        truth = collections.Counter()
        for line in lines:
            for function in FUNCTIONS:
                truth[function] += line[function]
                truth[line["k"]] += line[function]
        whole = sum(weights[n][f] for f in FUNCTIONS)
        size = whole * whole / squares[n] if whole else 0
        if size >= 30:
            judged += [(n, key, truth[key] / sum(truth[f] for f in FUNCTIONS),
                        weights[n][key] / whole if key in FUNCTIONS else
                        threads[n][key] / sum(threads[n].values()), size)
                       for key in truth]
    rec.check(judged, "no program had 30 samples")
    z = statistics.NormalDist().inv_cdf(1 - 0.001 / 2 / len(judged))
    worst = 0
    for n, key, p, got, size in judged:
        bound = z * (p * (1 - p) / size) ** 0.5 + 1 / size
        worst = max(worst, abs(got - p) / bound)
        rec.check(abs(got - p) <= bound, "program %d: %s has %.4f, by its own "
                  "clock %.4f +-%.4f" % (n, key, got, p, bound))
    rec.check(unknown <= total / 10, "%d of %d samples without a function" %
              (unknown, total))
    rec.ok("%d shares of %d of %d programs within their intervals (z %.2f), "
           "the worst at %.2f of its bound; %d samples, %d without a "
           "function, %d changes of the rate" % (
               len(judged), len({j[0] for j in judged}), len(known), z, worst,
               total, unknown, len(marks)))
    return times


def check_time(path):
    """Weights and overruns make up what the event itself counted."""
    row = rec.balance(path, ["cpu-clock"])["cpu-clock"]
    lost = row["full"] + row["nested"] + row["error"]
    rec.ok("%d samples stored, %d lost (%.3f %%); weight %.3f s of %.3f s, "
           "%d overruns" % (row["stored"], lost, 100 * lost / max(
               1, row["stored"] + lost), row["weight"] / 1e9,
                            row["enabled_ns"] / 1e9, row["overruns"]))
    rec.check(row["weight"] >= 0.9 * row["enabled_ns"], "weights")


def keep_busy():
    """An idle CPU may have no timer; this yields to all others."""
    for _ in range(CPUS):
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            while True:
                pass


def main():
    """With a limit, beside storms, then large programs; then without."""
    enable_stats()
    keep_busy()
    recorder = Recorder("a.dtp", "--max-overhead", str(LIMIT),
                        "--max-memory", "%dM" % MEMORY)
    known = storms(DURATION)
    recorder.end()
    print(open("a.dtp.err").read())
    check_windows(recorder.watch, "with --max-overhead")
    check_memory(recorder.watch)
    check_told(recorder.watch, "a.dtp")
    marks = read_marks("a.dtp")
    check_time("a.dtp")
    times = check_shares("a.dtp", known, marks)
    check_rates(recorder.watch, times, marks)

    recorder = Recorder("c.dtp", "--max-overhead", str(LIMIT))
    number = new_files(6 * WINDOW)
    recorder.end()
    check_windows(recorder.watch, "%d large programs" % number)

    control = Recorder("b.dtp")
    for kind in ("map", "thread", "exec"):
        processes = storm(kind)
        time.sleep(WINDOW + 2)
        end_storm(processes)
    control.end()
    most = max(control.watch.shares())
    rec.check(most > LIMIT, "without a limit only %.2f %%" % most)
    rec.ok("without a limit: up to %.2f %%" % most)


main()
