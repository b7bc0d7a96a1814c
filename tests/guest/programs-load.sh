#!/bin/sh
# ASSERTION: every provider's programs load and fire on the guest's kernel, and
# its verifier goes through at most 30,000 instructions of each; so do those
# that count by process, and those that aggregate.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# Linux 6.1 is the oldest that is promised, and its verifier follows less than
# that of newer ones; GUEST_KERNEL=6.12 tries a newer one.  All parts that a
# program can have are asked for: filter, arguments, strings, both stacks.

. "${SRC:=$PWD}/tests/guest/lib.sh"

sed "s/COUNTER/$counter/" >script <<'END'
uname -r >release
ip link set lo up
while read -r name options; do
	runs $name.runs /bin/dtprof record -q -a --record-comm $options \
	    -o $name.dtp -- sh -c \
	    'ping -c 1 127.0.0.1 >/dev/null && guest_pingpong 200' \
	    </dev/null || {
		echo "cannot record $name: $options"
		exit 1
	}
done <<'EVENTS'
counter -e COUNTER --filter pid>0&&comm!="x"&&cpu<4
software --call-graph fp -e page-faults -c 1 -e context-switches -c 1
clock --call-graph fp -e cpu-clock -c 1000000
timers --call-graph fp -e profile:::1000hz -e interval:::1ms
switches -e sched:sched_switch --filter prev_pid>0||next_pid>0
arguments --call-graph fp -e net:netif_rx_entry
tracepoints -e sched:sched_process_exec
entry -e syscall:::entry --filter nr>0&&uid==0
values -e cpu-clock -c 1000000 --with page-faults,context-switches,task-clock
return -e syscall:::return --filter nr>=0&&ret!=-1
calls -e syscall --filter duration>0&&syscall!="close"
uprobe -e uprobe:/bin/guest_pingpong:main/str(arg0),arg1/ --filter arg1!=0
EVENTS
guest_burn 1000000 &
burns=$!
runs alloc.runs /bin/dtprof record -q -e alloc/interval=4K/ -p $burns \
    --duration 1s -o alloc.dtp </dev/null 2>err || {
	echo "cannot record allocations: $(cat err)"
	exit 1
}
kill $burns
for target in -a ''; do
	dtprof stat --json --per-process $target -o split$target.json \
	    -e context-switches,page-faults -- guest_pingpong 200 || exit 1
done
n=0
while read -r options; do
	n=$((n + 1))
	dtprof stat --json -a $options -o by$n.json -- guest_pingpong 200 \
	    </dev/null || {
		echo "cannot aggregate: $options"
		exit 1
	}
done <<'EVENTS'
-e syscall --by syscall,comm,tid,cpu
-e syscall:read --by comm,ret,cpu,uid --hist ret --sum ret
-e sched:sched_switch --by prev_comm,cpu --hist next_prio,lin=0:140:10
EVENTS
dtprof trace -a -q -e syscall,sched:sched_switch --json -o trace.lines \
    -- guest_pingpong 200 || exit 1
END
guest_boot <script
echo "kernel $(cat results/release)"
for name in counter software clock timers switches arguments tracepoints \
    entry values return calls uprobe alloc; do
	accounting results/$name.dtp
	verify results/$name.runs <<-'END'
	most = max(j, key=lambda program: program["verified"])
	need(0 < most["verified"] <= 30000, "%(name)s: %(verified)d verified" %
	    most)
	END
	[ $name != alloc ] || continue
	verify stats $name <<-'END'
	need(j["recording"]["backend"] == "bpf", argv[0] + " by BPF")
	for a in j["accounting"]:
	    need(a["fired"] > 0, "%(event)s fired %(fired)d" % a)
	END
done
for target in -a ''; do
	verify "results/split$target.json" <<-'END'
	for n, event in enumerate(j["events"]):
	    tasks = [t["counts"][n] for t in j["tasks"]]
	    need(sum(tasks) == event["counts"][0] > 0,
	        "%s of %d processes: %d" % (event["name"], len(tasks),
	        sum(tasks)))
	END
done
for n in 1 2 3; do
	verify results/by$n.json <<-'END'
	a = j["accounting"][0]
	need(a["stored"] == sum(g["count"] for g in j["groups"]) > 0 and
	    a["fired"] == a["stored"] + a["filtered"] + a["nested"] +
	    a["error"] and j["dropped_groups"] == 0,
	    "%d groups of %d events" % (len(j["groups"]), a["stored"]))
	END
done
[ "$(grep -c '"type":"sample"' results/trace.lines)" -gt 400 ] ||
    fail "trace: $(wc -l <results/trace.lines) lines"
"$DTPROF" script --json results/arguments.dtp >samples || fail "no script"
verify samples <<'END'
args = [r["args"] for r in j if r["type"] == "sample"]
need(all(len(a) == 8 and a["name"] == "lo" and a["len"] > 0 for a in args),
    "all eight arguments, as of " + str(args[0]))
END
