# SPDX-License-Identifier: ISC
"""What scale.sh measures with, and how it fits what was measured.

A figure is a line "axis size step seconds megabytes bytes", with tabs.
"""
import math
import os
import subprocess
import sys
import time


def figure(*words):
    print(*words, sep="\t")


def run(rounds, axis, size, step, *command):
    """The least CPU time and the most memory of a command, and its output."""
    best, most = math.inf, 0
    for _ in range(int(rounds)):
        pid = os.fork()
        if pid == 0:
            os.dup2(os.open("stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
                            0o600), 1)
            os.execvp(command[0], command)
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            sys.exit(f"{' '.join(command)}: status {status}")
        with open("stdout", encoding="utf-8") as stdout:
            if stdout.readline().startswith("no samples"):
                sys.exit(f"{' '.join(command)}: nothing to measure")
        best = min(best, usage.ru_utime + usage.ru_stime)
        most = max(most, usage.ru_maxrss / 1024)
    output = command[command.index("-o") + 1] if "-o" in command else "stdout"
    figure(axis, size, step, f"{best:.3f}", f"{most:.0f}",
           os.path.getsize(output))


def follow(minutes, path, *command):
    """CPU time, memory and bytes of a recorder while time passes."""
    ticks = os.sysconf("SC_CLK_TCK")
    with subprocess.Popen(command) as recorder:
        begun = time.monotonic()
        for part in (1 / 8, 1 / 4, 1 / 2, 0.99):
            time.sleep(max(0, begun + part * 60 * float(minutes) -
                           time.monotonic()))
            with open(f"/proc/{recorder.pid}/stat", encoding="ascii") as stat:
                words = stat.read().rpartition(")")[2].split()
            with open(f"/proc/{recorder.pid}/statm", encoding="ascii") as statm:
                pages = int(statm.read().split()[1])
            figure("minutes", f"{part * float(minutes):g}", "record",
                   (int(words[11]) + int(words[12])) / ticks,
                   pages * os.sysconf("SC_PAGESIZE") >> 20,
                   os.path.getsize(path))
    if recorder.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {recorder.returncode}")


def unit():
    """A unit of source whose debug information is about a megabyte."""
    for n in range(700):
        print(f"""struct u0_s{n} {{ int u0_a{n}; struct u0_s{n} *u0_next{n};
    union {{ long u0_l{n}; double u0_d{n}; char u0_c{n}[{n + 1}]; }}; }};
static inline int u0_in{n}(struct u0_s{n} *s, int k)
{{
    int u0_sum{n} = 0;
    for (int i = 0; i < k; i++)
        u0_sum{n} += s[i].u0_a{n} * k + (int)s[i].u0_l{n};
    return (u0_sum{n});
}}
int u0_f{n}(struct u0_s{n} *s, int k)
{{
    int u0_local{n} = u0_in{n}(s, k);
    if (k > {n})
        u0_local{n} += u0_in{n}(s->u0_next{n}, k / 2) << 3;
    return (u0_local{n} * k);
}}""")


def debug(*files):
    """Megabytes of debug information in these files."""
    total = 0
    files = [f for f in files if os.path.exists(f)]
    for line in subprocess.run(["readelf", "-SW", *files], text=True,
                               check=False, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL).stdout.splitlines():
        words = line.partition("]")[2].split()
        if words and words[0].startswith(".debug_"):
            total += int(words[4], 16)
    print(total // 1000000)


def slope(points):
    """Of log y over log x, by least squares."""
    logs = [(math.log(x), math.log(y)) for x, y in points if y > 0]
    if len(logs) < 2:
        return math.nan
    mx, my = (sum(v) / len(logs) for v in zip(*logs))
    return sum((x - mx) * (y - my) for x, y in logs) / \
        sum((x - mx) ** 2 for x, _ in logs)


def show(path):
    """A row for each step, and the fits; also a block for each, to plot."""
    series = {}
    with open(path, encoding="utf-8") as figures:
        for line in figures:
            axis, size, step, *rest = line.rstrip("\n").split("\t")
            series.setdefault((axis, step), []).append(
                (float(size), *map(float, rest)))
    with open("plot.tsv", "w", encoding="utf-8") as plot:
        for (axis, step), rows in series.items():
            rows.sort()
            cpu = [(r[0], r[1]) for r in rows]
            print(f"{axis:10} {step:14} {rows[0][0]:g} to {rows[-1][0]:g}: "
                  f"{' '.join(f'{r[1]:.2f}' for r in rows)} s, "
                  f"{' '.join(f'{r[2]:.0f}' for r in rows)} MiB, "
                  f"{rows[-1][3]:.0f} bytes; exponent of time "
                  f"{slope(cpu):.2f}, of the last step "
                  f"{slope(cpu[-2:]):.2f}, of memory "
                  f"{slope([(r[0], r[2]) for r in rows]):.2f}")
            if len(rows) > 1:
                print("\n\n" if plot.tell() else "", f'"{axis}: {step}"\n',
                      sep="", end="", file=plot)
                for size, seconds, *_ in rows:
                    print(size / rows[-1][0], seconds, sep="\t", file=plot)


{"run": run, "follow": follow, "unit": unit, "debug": debug,
 "show": show}[sys.argv[1]](*sys.argv[2:])
