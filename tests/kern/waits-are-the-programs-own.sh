#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: threads that sleep, wait for a mutex, a pipe, sockets, epoll, poll,
# a page and a CPU, and a stopped process, have waited as long, in that function
# and for that reason, as the program's own clocks say; each is woken by the
# thread that ends the wait, by a timer or by the network; all waits of a
# thread for a CPU are what the kernel's schedstat has, as often as it came to
# one; running, runnable and blocked time, each counted at its own place, are
# exactly the elapsed time; a thread that only runs has no blocked time.  report
# and flamegraph show samples of running and waiting time as one event, and all
# wake-up latencies can be plotted.
# Kernel stacks end in the scheduler: they have no frame of the BPF program.
# Waits are recorded up to a pause, and pauses are not waits.  A note gives the
# number of waits without a stack.
#
# Easy to get wrong: the time from the wakeup to the switch is not blocked; a
# thread that is preempted is runnable; who is current at a wakeup is anybody;
# the stack is that of the wait and not of what runs when it ends.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

waits_record()
{
	record 0 -e cpu-clock -e off-cpu/min=0ns/ --record-comm -o w.dtp -- \
	    "$work/planted_waits"
	mv "$tmp/out" truth
	balance w.dtp
	"$DTPROF" report --json --by function,reason -e 'off-cpu*' w.dtp \
	    >report || fail "no report"
	"$DTPROF" report --json --by tid,state w.dtp >states ||
		fail "no states"
	"$DTPROF" report --stats --json w.dtp >stats || fail "no stats"
	"$DTPROF" script --json w.dtp >samples || fail "no script"
	expect 0 "$DTPROF" flamegraph --state running,runnable,blocked w.dtp
	expect 0 "$DTPROF" report --plot latency -e 'off-cpu*' -o wakeups.tsv \
	    --filter 'state == "runnable" && prev_state != 0' w.dtp
	python3 "$SRC/tests/browser/page_data.py" flame.html >page ||
		fail "no page"
}

cat >check.py <<'END'
import collections
import json
import re
import sys

a = [a for a in json.load(open("stats"))["accounting"] if "waits" in a][0]
w = a["waits"]
print(w)
# Kernels have been seen to switch without telling, which is counted.
assert w["balances"] and w["gaps"] <= w["turns"] // 20
identity = json.load(open("states"))["identity"]
assert identity == {
    "difference_ns": w["elapsed_ns"] - w["running_ns"] - w["runnable_ns"] -
    w["blocked_ns"], **{key: w[key] for key in (
        "elapsed_ns", "running_ns", "runnable_ns", "blocked_ns", "gaps")}}

# If the machine stands still between two looks at the clock, times differ, too:
# then it is measured again.
differ = []

def close(a, b, least, what):
    print("%s: %.3f ms, by itself %.3f ms" % (what, a / 1e6, b / 1e6))
    if abs(a - b) > .01 * b + least + w["gap_ns"]:
        differ.append(what)

rows = [line.split() for line in open("truth")]
start, threads, end = rows[0], rows[1:-1], rows[-1]
assert len(threads) == 12
total = collections.defaultdict(collections.Counter)
for f in json.load(open("report"))["rows"]:
    if f["event"] != "off-cpu/min=0ns/":
        continue
    total[f["name"]][f["args"]["reason"]] += f["total"]
ways = {"sleep": "wait_in_sleep", "futex": "wait_in_mutex",
        "read": "wait_in_pipe", "socket": "wait_in_socket",
        "network": "wait_in_network", "epoll": "wait_in_epoll",
        "poll": "wait_in_poll", "page fault": "wait_in_fault",
        "stopped": "wait_in_stop", "preempted": "wait_for_cpu"}
of_thread = {"mutex": "futex", "pipe": "read", "fault": "page fault",
             "cpu": "preempted"}
truth = collections.Counter()
for name, tid, wall, cpu, *_ in threads:
    truth[of_thread.get(name, name)] += int(wall) - int(cpu)
for reason, function in ways.items():
    took = total[function]
    # What a switch itself takes is in either.
    close(sum(took.values()), truth[reason], 40 * 20000, function)
    reason = "socket" if reason == "network" else reason
    assert set(took) <= {reason, "preempted", "wake-up latency"}, took
    late = took["wake-up latency"] + (reason != "preempted" and
                                      took["preempted"])
    assert took[reason] >= .5 * (sum(took.values()) - late), took
looked = {int(t[1]): int(t[4]) for t in threads}
turns, state, innermost = (collections.Counter() for _ in range(3))
whole = collections.Counter()
wakeups = 0
woken = collections.defaultdict(collections.Counter)
for s in map(json.loads, open("samples")):
    if s["type"] != "sample":
        continue
    if s["event"] == "cpu-clock":
        whole[s["tid"], "running"] += s["weight"]
        continue
    whole[s["tid"], s["args"]["state"]] += s["weight"]
    wakeups += s["args"]["state"] == "runnable" and \
        s["args"]["prev_state"] != 0
    if s["args"]["state"] == "blocked":
        woken[s["comm"], s["args"]["reason"]][s["args"]["waker"],
                                              s["args"]["waker_tid"]] += 1
    if s["time_ns"] <= looked.get(s["tid"], 0):
        state[s["tid"], s["args"]["state"]] += s["weight"]
        turns[s["tid"]] += s["args"]["state"] == "runnable"
    if s.get("kernel_frames"):
        innermost[s["kernel_frames"][0]["function"].split(".")[0]] += 1
keeper = "keeper", int([t[1] for t in threads if t[0] == "keeper"][0])
for key, waker in {
        ("sleep", "sleep"): ("hardirq", 0), ("epoll", "epoll"): ("hardirq", 0),
        ("poll", "poll"): ("hardirq", 0), ("network", "socket"): ("softirq", 0),
        ("mutex", "futex"): keeper, ("pipe", "read"): keeper,
        ("socket", "socket"): keeper, ("fault", "page fault"): keeper,
        ("stopped", "stopped"): keeper}.items():
    print(key, dict(woken[key]))
    # At the end the main thread continues the child.
    others = {("planted_waits", int(start[1]))}
    if w["unwoken_ns"]:  # the kernel reported an end of a wait, but no wakeup
        others.add(("-", 0))
    assert set(woken[key]) - others == {waker}, key
assert innermost and set(innermost) <= {"__bpf_trace_sched_switch",
    "__traceiter_sched_switch", "__schedule"}, innermost
for name, tid, _, _, _, ran, delay, count in threads:
    tid = int(tid)
    close(state[tid, "runnable"], int(delay), int(count) * 20000 +
          w["unwoken_ns"], name + " for a CPU")
    # A wait whose wakeup was not reported has no runnable part.
    assert abs(turns[tid] - int(count)) <= w["gaps"] + w["unwoken"], \
        (name, turns, count)
    assert name != "cpu" or state[tid, "blocked"] <= \
        .02 * state[tid, "runnable"] + 1e6, state
assert w["threads"] == 13 and w["short"] == 0 and w["unwalked"] == 0
assert a["weight"] == w["runnable_ns"] + w["blocked_ns"]
# Running and waiting time in one table.
rows = json.load(open("states"))["rows"]
assert {row["event"] for row in rows} == {"elapsed"}, rows
assert whole == {(row["tid"], row["args"]["state"]): row["total"]
                 for row in rows}
table = [line.split("\t") for line in open("wakeups.tsv")]
assert sum(int(row[-1]) for row in table[1:]) == wakeups > 0, wakeups
picture = collections.Counter()
for line in open("page"):
    if not line.startswith("elapsed "):
        continue
    frames, weight = re.match(r"elapsed \d+ (.*) \d+ (\d+)$", line).groups()
    picture[frames.split(";")[1]] += int(weight)
assert picture == collections.Counter({
    name: sum(n for (_, state), n in whole.items() if state == name)
    for name in ("running", "runnable", "blocked")}), picture
ran = sum(row["total"] for row in rows if row["args"]["state"] == "running")
close(ran, w["running_ns"], .1 * w["running_ns"], "samples of running time")
own = sum(int(t[5]) for t in threads) + int(end[5]) - int(start[5])
close(w["running_ns"], own, w["turns"] * 20000, "running")
if differ:
    print("not as the program and the kernel say: " + ", ".join(differ))
    sys.exit(3)
END
for _ in 1 2 3; do
	waits_record
	python3 check.py
	status=$?
	[ $status -eq 3 ] || break
done
[ $status -eq 0 ] || fail "see above"

# What waits before, in and after a pause, and is recorded to a second one.
cat >pausing <<'END2'
sleep 1000 &
trap "kill $!" EXIT
sleep .1
"$DTPROF" mark --recorder $PPID --pause || exit 9
sleep .2
"$DTPROF" mark --recorder $PPID --resume || exit 9
sleep .1
"$DTPROF" mark --recorder $PPID --pause || exit 9
sleep .2
END2
TMPDIR=$tmp record 0 -e off-cpu/min=0ns/ -o p.dtp -- sh pausing
balance p.dtp
"$DTPROF" report --stats --json p.dtp >stats || fail "no stats"
"$DTPROF" script --show all --json p.dtp >samples || fail "no script"
py <<'END'
import json

a = [a for a in json.load(open("stats"))["accounting"] if "waits" in a][0]
w = a["waits"]
print(w)
assert w["balances"], w
records = [json.loads(line) for line in open("samples")]
at = [r["time_ns"] for r in records if r["type"] in ("pause", "resume")]
born = next(r for r in records if r["type"] == "fork")
samples = [r for r in records if r["type"] == "sample"]
assert not [r for r in samples if at[0] < r["time_ns"] < at[1] or
            at[2] < r["time_ns"]]
weight = sum(r["weight"] for r in samples if r["pid"] == born["pid"])
alive = at[0] - born["time_ns"] + at[2] - at[1]
print("%.3f of %.3f ms" % (weight / 1e6, alive / 1e6))
assert alive - w["running_ns"] - w["gap_ns"] <= weight <= alive + 1e6
assert w["elapsed_ns"] <= w["threads"] * alive * 1.5
END

# More threads wait at once than there are stacks kept.
cat >many.py <<'END'
import threading

go = threading.Event()
for _ in range(320):
    threading.Thread(target=go.wait).start()
go.set()
END
expect 0 "$DTPROF" record -e off-cpu/min=0ns/ -o m.dtp -- python3 many.py
expect_err 'note: off-cpu.*: [0-9]+ waits have no stack, because more than 256'
"$DTPROF" report --stats --json m.dtp >stats || fail "no stats"
py <<'END'
import json
import re

w = [a for a in json.load(open("stats"))["accounting"] if "waits" in a][0]
n = int(re.search(r"(\d+) waits have no", open("err").read()).group(1))
assert n == w["waits"]["unwalked"] > 0, (n, w)
END
ok "$(grep -o '[0-9]* waits have no stack' err)"
