# SPDX-License-Identifier: ISC
"""What a probe adds to a call of a program, by dtprof and by bpftrace.

    probes.py PROGRAM ROUNDS N OUTPUT

In each round every row of the table runs once by itself, by dtprof and by
bpftrace, one after the other, in random order; what a tool adds is its time
less that of the same round without it.  Both must count each call, or the round
is void.  Prints minimum, median and maximum of the rounds, and of the ratios
within a round; OUTPUT gets all runs as JSON.  Called by probes.sh.
"""

import csv
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

DTPROF = os.environ["DTPROF"]
# What, and how much slower than others: it gets so many fewer calls.
ROWS = [
    ("hit: nop", "nop", "count", 1),
    ("hit: nop of 5 bytes", "nop5", "count", 1),
    ("hit: push", "push", "count", 1),
    ("hit: other (mov)", "other", "count", 8),
    ("hit: endbr64, then push", "endbr", "count", 8),
    ("return", "push", "return", 2),
    ("static probe (USDT)", "usdt", "count", 1),
    ("counted by one key", "push", "key", 1),
    ("12 frames, by stack", "push", "stack", 2),
]


def probe_of(what, how, program):
    """The probe's name, by dtprof and by bpftrace."""
    if what == "usdt":
        return ("usdt:%s:bench:turn" % program,) * 2
    kind = "uretprobe" if how == "return" else "uprobe"
    return ("%s:%s:at_%s" % (kind, program, what),) * 2


def by_dtprof(what, how, run, where):
    """The command, and how many calls it saw."""
    probe = probe_of(what, how, run[0])[0] + ("/arg0/" if how == "key" else
                                              "")
    out = os.path.join(where, "out")
    if how == "stack":
        command = [DTPROF, "record", "-q", "-e", probe, "-o", out]
    else:
        command = [DTPROF, "stat", "-q", "-e", probe, "--csv", "-o", out]
        command += ["--by", "arg0"] if how == "key" else []
    said = subprocess.run(command + ["--"] + run, check=True,
                          stdout=subprocess.PIPE).stdout
    if how == "stack":
        stats = json.loads(subprocess.check_output(
            [DTPROF, "report", "--stats", "--json", out],
            stderr=subprocess.DEVNULL))
        row = stats["accounting"][-1]
        return float(said), row["fired"], row["fired"] - row["stored"]
    with open(out, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return float(said), sum(int(r["count"]) for r in rows), 0


def by_bpftrace(what, how, run, where):
    """The same."""
    probe = probe_of(what, how, run[0])[1]
    key = {"count": "", "return": "", "key": "[arg0]", "stack": "[ustack]"}
    script = "%s { @%s = count(); }" % (probe, key[how])
    done = subprocess.run(["bpftrace", "-e", script, "-c", " ".join(run)],
                          check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, cwd=where, text=True)
    said = re.search(r"^([\d.]+)$", done.stdout, re.M).group(1)
    counts = re.findall(r"^(?:@|[^@]*\])?(?:\[.*\])?: (\d+)$|^\]: (\d+)$",
                        done.stdout, re.M)
    return float(said), sum(int(a or b) for a, b in counts), 0


def spread(values):
    """Minimum, median, maximum."""
    def text(value):
        return "%.0f" % value if abs(value) >= 100 else "%.3g" % value
    return " / ".join(text(f(values)) for f in
                      (min, statistics.median, max))


def main(program, rounds, n, output):
    """The table."""
    draw = random.Random(int(os.environ.get("SEED", "1")))
    rows = {row[0]: {"alone": [], "dtprof": [], "bpftrace": [], "lost": 0}
            for row in ROWS}
    with tempfile.TemporaryDirectory() as where:
        for _ in range(rounds):
            for name, what, how, slower in draw.sample(ROWS, len(ROWS)):
                calls = n // slower
                run = [program, what, str(calls)]
                tools = [("dtprof", by_dtprof), ("bpftrace", by_bpftrace)]
                draw.shuffle(tools)
                alone = float(subprocess.check_output(run))
                rows[name]["alone"].append(alone)
                for tool, command in tools:
                    each, saw, lost = command(what, how, run, where)
                    if saw != calls:
                        sys.exit("%s, %s: %d of %d calls" %
                                 (name, tool, saw, calls))
                    rows[name][tool].append(each - alone)
                    rows[name]["lost"] += lost
    print("  %-26s %-22s %-22s %s" % ("added to a call, ns", "dtprof",
                                      "bpftrace", "ratio in a round"))
    for name, row in rows.items():
        print("  %-26s %-22s %-22s %s%s" % (
            name, spread(row["dtprof"]), spread(row["bpftrace"]),
            spread([a / b for a, b in zip(row["dtprof"], row["bpftrace"])]),
            ", %d lost" % row["lost"] if row["lost"] else ""))
    with open(output, "w", encoding="ascii") as file:
        json.dump(rows, file)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
