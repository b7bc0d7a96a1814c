#!/bin/sh
# SPDX-License-Identifier: ISC
# From perf.data to folded stacks: perf report -g folded, and dtprof import
# with dtprof export; and to a table: perf report and dtprof report; in turns.
# Of two recordings, page faults with stacks: "many", 150 short programs each
# of which lies elsewhere in memory, and "one", a single program.
#
#	import.sh [rounds]
. "${SRC:=$PWD}/tests/lib.sh"

rounds=${1:-5}
need_cmd perf python3
tmpdir
cat >run.py <<'END'
import os, resource, sys, time
name, *command = sys.argv[1:]
begun = time.monotonic()
pid = os.fork()
if pid == 0:
    os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.dup2(os.open("err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.execvp(command[0], command)
_, status, usage = os.wait4(pid, 0)
if status != 0:
    sys.exit("%s: %s" % (command, open("err").read()))
print(name, time.monotonic() - begun, usage.ru_utime + usage.ru_stime,
      usage.ru_maxrss / 1024)
END
record()	# file command ...
{
	data=$1
	shift
	perf record -q --buildid-mmap -m 16M -e page-faults -c 1 -g \
	    -o "$data" -- "$@" 2>perf.err || fail "$(cat perf.err)"
}
record many.data sh -c 'i=0; while [ $i -lt 150 ]; do
    python3 -c "import json, subprocess"; i=$((i + 1)); done'
cat >touch.py <<'END'
import mmap
for n in range(1000):
    with mmap.mmap(-1, 1 << 22) as memory:
        for page in range(0, 1 << 22, 4096):
            memory[page] = 1
END
record one.data python3 touch.py
run()		# name command ...
{
	python3 run.py "$@" >>all.figures || fail "$1"
}
for _ in $(seq "$rounds"); do
	for of in many one; do
		run "$of.perf-folded" perf report -i $of.data --no-children \
		    --stdio -g folded,count,0
		run "$of.import" "$DTPROF" import -q -o $of.dtp $of.data
		run "$of.export" "$DTPROF" export -o $of.folded $of.dtp
		run "$of.perf-report" perf report -i $of.data --no-children \
		    --stdio -g none
		run "$of.report" "$DTPROF" report $of.dtp
	done
done
for of in many one; do
	echo "$of: $(awk '{ n += $NF } END { print n }' $of.folded) samples," \
	    "$(stat -c %s $of.data) bytes of perf.data," \
	    "$(stat -c %s $of.dtp) of recording"
done
echo "load $(cut -d ' ' -f 1-3 /proc/loadavg), $rounds rounds," \
    "minimum / median / maximum"
cat >show.py <<'END'
import collections
rows = collections.defaultdict(list)
for line in open("all.figures"):
    name, *figures = line.split()
    rows[name].append([float(f) for f in figures])
def text(values):
    values = sorted(values)
    return "%.2f / %.2f / %.2f" % (values[0], values[len(values) // 2],
                                   values[-1])
for name, runs in rows.items():
    wall, cpu, memory = zip(*runs)
    print("  %-18s %s s, CPU time %s s, memory %.0f MiB" % (name, text(wall),
        text(cpu), max(memory)))
for of in "many", "one":
    ratio = [[p[k] / (i[k] + e[k]) for k in (0, 1)] for p, i, e in
             zip(rows[of + ".perf-folded"], rows[of + ".import"],
                 rows[of + ".export"])]
    print("  %s: perf / (import + export): %s; of CPU time %s" % (of,
        text([r[0] for r in ratio]), text([r[1] for r in ratio])))
END
python3 show.py
