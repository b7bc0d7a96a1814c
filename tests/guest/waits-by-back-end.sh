#!/bin/sh
# ASSERTION: threads that sleep, read an empty pipe, write to a full one, wait
# for a child, a FIFO, a signal, a CPU and the CPU quota of their cgroup have
# the reasons that the table of doc/RECORDING.md has for this kernel, with BPF
# and without, and wait as long as they asked for and as cpu.stat says; the
# others are not throttled.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400

. "${SRC:=$PWD}/tests/guest/lib.sh"

guest_boot <<'END'
uname -r >release
mkdir /tmp/bin
cp /bin/guest_burn /tmp/bin/burner
cp /bin/guest_burn /tmp/bin/limited
PATH=/tmp/bin:$PATH
top=/sys/fs/cgroup
echo +cpu >$top/cgroup.subtree_control || exit 1
mkdir $top/quota
echo 10000 50000 >$top/quota/cpu.max || exit 1
mkfifo /tmp/written /tmp/silent
script()	# name: a program of this name, whose text is on stdin
{
	{
		echo '#!/bin/sh'
		cat
	} >/tmp/bin/$1
	chmod 755 /tmp/bin/$1
}
script waiter <<'WAITER'
/bin/sleep .2
:
WAITER
script opener <<'OPENER'
: </tmp/written
OPENER
script poller <<'POLLER'
read -t 1 line <>/tmp/silent
:
POLLER
script halted <<'HALTED'
kill -STOP $$
:
HALTED
cat >planted <<'PLANTED'
/bin/sleep .2
/bin/sleep .2 | /bin/cat
/bin/yes | waiter
opener & /bin/sleep .2; : >/tmp/written
wait
poller
halted & /bin/sleep .2; kill -CONT $!
burner 15 & burner 15
wait
sh -c 'echo $$ >/sys/fs/cgroup/quota/cgroup.procs; exec limited 15'
PLANTED
for backend in bpf perf; do
	cat $top/quota/cpu.stat >$backend.before
	dtprof record -q --backend $backend -e off-cpu/min=0ns/ \
	    -o $backend.dtp -- sh planted 2>err || {
		cat err
		exit 1
	}
	cat $top/quota/cpu.stat >$backend.after
done
END
echo "kernel $(cat results/release)"
for backend in bpf perf; do
	accounting results/$backend.dtp
	cp stats $backend.stats
	"$DTPROF" report --json --by comm,reason results/$backend.dtp \
	    >$backend.rows || fail "no report"
done
cp "$SRC/doc/RECORDING.md" results/
verify bpf.rows <<'END'
import collections
import json
import re

SLEEPS = 5
release = [int(n) for n in re.findall(r"\d+", open("results/release").read())]
planted = {}  # with BPF, without
for line in open("results/RECORDING.md"):
    row = [re.findall("`(.*?)`", cell) for cell in line.split("|")[1:-1]]
    if len(row) == 4 and line.startswith("| `") and ":" in line and \
            all(len(cell) == 1 for cell in row):
        comm, newer, older, rings = [cell[0] for cell in row]
        planted[comm] = newer if release[:2] >= [6, 18] else older, rings
need(len(planted) == 9, "the table has the waits: %s" % sorted(planted))
for n, backend in enumerate(("bpf", "perf")):
    took = collections.defaultdict(collections.Counter)
    for row in json.load(open(backend + ".rows"))["rows"]:
        took[row["comm"]][row["args"]["reason"]] += row["total"]
    for comm, reasons in planted.items():
        print(backend, comm, dict(took[comm]))
        need(took[comm].most_common(1)[0][0] == reasons[n] and
            took[comm][reasons[n]] > .1e9,
            "%s: %s waits for the reason %s" % (backend, comm, reasons[n]))
        need(comm == "limited" or took[comm]["throttled"] == 0,
            "%s: %s is not throttled" % (backend, comm))
    asleep = took["sleep"][planted["sleep"][n]] / 1e9
    need(SLEEPS * .2 <= asleep <= SLEEPS * .215, "%s: asleep for %.3f s" %
        (backend, asleep))
    stat = [dict(line.split() for line in
        open("results/%s.%s" % (backend, when)))
        for when in ("before", "after")]
    kernel = [int(s["throttled_usec"]) * 1000 for s in stat]
    kernel = kernel[1] - kernel[0]
    limited = took["limited"][planted["limited"][n]]
    # Without BPF, a thread is not followed after the record of its exit.
    least = kernel - 50e6 * n
    need(kernel > 200e6 and
        .98 * least - 2e6 <= limited <= 1.02 * kernel + 2e6,
        "%s: throttled for %.3f ms, cpu.stat says %.3f ms" %
        (backend, limited / 1e6, kernel / 1e6))
stats = json.load(open("bpf.stats"))
(row,) = [a for a in stats["accounting"] if "waits" in a][0]["waits"][
    "throttled"]
need(row["cgroup"] == "/quota" and row["quota_ns"] == 10000000 and
    row["period_ns"] == 50000000, "the cgroup with its quota: %s" % row)
END
