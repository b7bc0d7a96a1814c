#!/bin/sh
# ASSERTION: threads that sleep, read a pipe, wait for a CPU and for the CPU
# quota of their cgroup have the reasons that doc/RECORDING.md has for this
# kernel, with BPF and without, and wait as long as they asked for and as
# cpu.stat says; the others are not throttled.
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
cat >planted <<'PLANTED'
/bin/sleep .2
/bin/sleep .2 | /bin/cat
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
verify bpf.rows <<'END'
import collections
import json

planted = {  # with BPF, without
    "sleep": ("sleep", "unknown"), "cat": ("read", "unknown"),
    "burner": ("preempted", "preempted"),
    "limited": ("throttled", "preempted")}
for n, backend in enumerate(("bpf", "perf")):
    took = collections.defaultdict(collections.Counter)
    for row in json.load(open(backend + ".rows"))["rows"]:
        took[row["comm"]][row["args"]["reason"]] += row["total"]
    for comm, reasons in planted.items():
        print(backend, comm, dict(took[comm]))
        need(took[comm].most_common(1)[0][0] == reasons[n],
            "%s: %s waits for the reason %s" % (backend, comm, reasons[n]))
        need(comm == "limited" or took[comm]["throttled"] == 0,
            "%s: %s is not throttled" % (backend, comm))
    asleep = took["sleep"][planted["sleep"][n]] / 1e9
    need(.4 <= asleep <= .43, "%s: asleep for %.3f s of 0.4 s" %
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
