#!/bin/sh
# ASSERTION: record --with instructions says how many instructions each sample
# of cycles had: two cycles an instruction on this processor, in sum, in each
# phase of a program, in the report and as a ratio in the flame graph.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# Easy to get wrong: what the sampling itself takes, and what is counted while
# others run.  Of user space alone, because each sample costs the kernel about
# as many instructions as the program runs between two.  To be exact it is of
# one task, as a period that several share belongs to the one in which it ends;
# of the CPU's own counter each sample of the program is, between two of it.

. "${SRC:=$PWD}/tests/guest/lib.sh"
need_cmd aarch64-linux-gnu-nm

guest_boot <<'END'
dtprof record -q --no-inherit -e cycles:u -c 1000000 --with instructions:u \
    -o values.dtp -- guest_phases 10 2
dtprof record -q -e cycles:u -c 1000000 --with instructions:u \
    -o shared.dtp -- guest_phases 2 2
END
accounting results/values.dtp
accounting results/shared.dtp
"$DTPROF" script --json --show samples results/values.dtp >samples ||
    fail "no script"
aarch64-linux-gnu-nm -S "$GUEST_BUILD/tests/work/guest_phases" >symbols ||
    fail "no symbols"
awk '/ phase_/ { print $1, $2, $4 }' symbols >phases
"$DTPROF" script --json --show samples results/shared.dtp >shared ||
    fail "no script"
verify samples phases <<'END'
where = {name: range(int(at, 16), int(at, 16) + int(size, 16))
    for at, size, name in map(str.split, open(argv[0]))}
samples = [r for r in j if r["type"] == "sample"]
got = [(r["weight"], r["with"]["instructions:u"], int(r["ip"], 16))
    for r in samples if r.get("with")]
need(len(got) >= 200 and len(samples) - len(got) <= 2,
    "%d samples, %d of them with values" % (len(samples), len(got)))
cycles, instructions = sum(g[0] for g in got), sum(g[1] for g in got)
need(abs(cycles / instructions / 2 - 1) < 0.001,
    "%d cycles, %d instructions" % (cycles, instructions))
for name, code in where.items():
    own = [g for g in got if g[2] in code]
    ratio = sum(g[1] for g in own) / sum(g[0] for g in own)
    need(len(own) > 50 and abs(ratio / 0.5 - 1) < 0.001,
        "%s: %.4f instructions a cycle in %d samples" %
        (name, ratio, len(own)))
END
verify shared <<'END'
import statistics
got = [r["with"]["instructions:u"] / r["weight"] for r in j
    if r["type"] == "sample" and r.get("with")]
middle = statistics.median(got)
need(len(got) > 50 and abs(middle / 0.5 - 1) < 0.001,
    "by the CPU's counter %.4f in the middle of %d samples" %
    (middle, len(got)))
END
"$DTPROF" report --json results/values.dtp >report 2>/dev/null ||
    fail "no report"
verify report <<'END'
rows = {f["name"]: f for f in j["functions"]
    if f["event"] == "instructions:u"}
for name in "phase_one", "phase_three":
    need(abs(rows[name]["self_ratio"] / 0.5 - 1) < 0.001,
        "%s: %.4f in the report" % (name, rows[name]["self_ratio"]))
END
"$DTPROF" flamegraph --ratio cycles:u/instructions:u -o flame.svg \
    results/values.dtp 2>/dev/null || fail "no flame graph"
echo '[]' >none
verify none flame.svg <<'END'
import re
svg = open(argv[0]).read()
for name in "phase_one", "phase_three":
    found = re.search("<title>%s\n[^<]*?%%, ([^<]*?) events, .*?\n([^<]*?) "
        "instructions:u" % name, svg)
    need(found, "%s is in the flame graph" % name)
    cycles, instructions = (int(re.sub(r"\D", "", g)) for g in
        found.groups())
    need(abs(cycles / instructions / 2 - 1) < 0.001,
        "%s: %d cycles, %d instructions in the flame graph" %
        (name, cycles, instructions))
END
