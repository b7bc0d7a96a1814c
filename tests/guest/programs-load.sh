#!/bin/sh
# ASSERTION: every provider's programs load and fire on the guest's kernel, and
# its verifier goes through at most 30,000 instructions of each, but 100,000 of
# that of wall, which has a loop over the pages of a stack; so do those
# that count by process, that aggregate and that print stacks; times in spans
# add up.
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
spans -e cpu-clock -c 1000000 --span read=syscall:read:entry
wall -e wall/freq=499/ --filter state!="x"&&comm!="x"&&uid==0
waits -e off-cpu/min=0ns/ --filter state!=""&&comm!="x"&&uid==0
EVENTS
guest_burn 1000000 &
burns=$!
runs alloc.runs /bin/dtprof record -q -e alloc/interval=4K/ -p $burns \
    --duration 1s -o alloc.dtp </dev/null 2>err || {
	echo "cannot record allocations: $(cat err)"
	exit 1
}
kill $burns
sleep 1000 &
sleeps=$!
dtprof stacks --json -p $sleeps >stacks.json || exit 1
kill $sleeps
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
    entry values return calls uprobe spans wall waits alloc; do
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
accounting results/waits.dtp >/dev/null
verify stats <<'END'
w = [a["waits"] for a in j["accounting"] if "waits" in a][0]
need(w["balances"] and w["threads"] > 2 and w["turns"] >= 200 and
    w["gaps"] <= w["turns"] / 100,
    "waits: %(threads)d threads, %(turns)d turns, %(gaps)d gaps" % w)
END
"$DTPROF" report --json --by comm,reason,waker,file results/waits.dtp \
    >reasons.json
verify reasons.json <<'END'
found = {row["args"]["reason"] for row in j["rows"]
         if row["comm"].startswith("guest_pingpong"[:15])}
need("read" in found and found <= {"read", "preempted", "wake-up latency",
    "child process", "page fault", "exit", "file", "memory", "system call"},
    "reasons: %s" % ", ".join(sorted(found)))
found = {row["args"]["waker"] for row in j["rows"]
         if row["comm"].startswith("guest_pingpong"[:15]) and
         row["args"]["reason"] == "read"}
need(found == {"guest_pingpong"}, "wakers: %s" % ", ".join(sorted(found)))
found = {row["args"]["file"].split("[")[0] for row in j["rows"]
         if row["comm"].startswith("guest_pingpong"[:15]) and
         row["args"]["reason"] == "read"}
need(found == {"pipe:"}, "files: %s" % ", ".join(sorted(found)))
END
for target in -a ''; do
	verify "results/split$target.json" <<-'END'
	for n, event in enumerate(j["events"]):
	    tasks = [t["counts"][n] for t in j["tasks"]]
	    need(sum(tasks) == event["counts"][0] > 0,
	        "%s of %d processes: %d" % (event["name"], len(tasks),
	        sum(tasks)))
	END
done
verify results/stacks.json <<'END'
threads = j["threads"]
need(len(threads) == 1 and threads[0]["state"] == "blocked" and
    "nanosleep" in threads[0]["reason"],
    "a thread that sleeps: %(state)s in %(reason)s" % threads[0])
END
for n in 1 2 3; do
	verify results/by$n.json <<-'END'
	a = j["accounting"][0]
	need(a["stored"] == sum(g["count"] for g in j["groups"]) > 0 and
	    a["fired"] == a["stored"] + a["filtered"] + a["nested"] +
	    a["error"] and j["dropped_groups"] == 0,
	    "%d groups of %d events" % (len(j["groups"]), a["stored"]))
	END
done
"$DTPROF" report --by span --json results/spans.dtp >span || fail "no spans"
verify span <<'END'
s = j["spans"][0]
unknown = s["inside_ns"] - s["running_ns"] - s["not_running_ns"] - \
    s["ambiguous_ns"]
# Linux 7 skips a begin or a switch now and then, which is told.
need(s["count"] >= 400 and s["gaps"] + s["clockless"] <= s["count"] / 100 and
    s["running_ns"] > 0 and s["not_running_ns"] > 0 and
    0 <= unknown <= .05 * s["inside_ns"] and
    (unknown == 0 or s["gaps"] + s["clockless"] > 0),
    "times in %(count)d spans, %(gaps)d gaps, %(clockless)d without" % s)
END
[ "$(grep -c '"type":"sample"' results/trace.lines)" -gt 400 ] ||
    fail "trace: $(wc -l <results/trace.lines) lines"
"$DTPROF" script --json results/arguments.dtp >samples || fail "no script"
verify samples <<'END'
args = [r["args"] for r in j if r["type"] == "sample"]
need(all(len(a) == 8 and a["name"] == "lo" and a["len"] > 0 for a in args),
    "all eight arguments, as of " + str(args[0]))
END
