#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of more than 10,000 wakeups by a timer, by the network, by a thread
# at a futex and by a thread at a pipe, each has the waker that it had, by name
# and number; none has a task that an interrupt only interrupted, though threads
# run on all CPUs, which bpftrace says were current at many of the wakeups.
#
# TIMEOUT: 300
# Easy to get wrong: who is current at a wakeup has nothing to do with it if an
# interrupt woke the thread.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd bpftrace ip unshare
tmpdir

cat >current.bt <<'END2'
BEGIN { printf("ready\n"); }
tracepoint:sched:sched_waking { @[comm, args->comm] = count(); }
END2
bpftrace_begin current.bt current
mkfifo go
# In a network of its own, in which any CPU may receive what another one sends.
cat >network <<'END2'
mount -t sysfs none /sys || exit
ip link set lo up || exit
echo "$1" >/sys/class/net/lo/queues/rx-0/rps_cpus || exit
exec "$work/wakers" 3000
END2
unshare -n -m sh network "$(printf %x $(((1 << $(nproc)) - 1)))" <go &
wakers=$!
kill_at_end $wakers
exec 9>go
record_begin -o w.dtp -e off-cpu/min=0ns/ --record-comm --buffer 64M \
    -p $wakers
exec 9>&-
wait $wakers || fail "the program failed"
record_wait 0
bpftrace_end
"$DTPROF" report --stats --json w.dtp >stats || fail "no stats"
"$DTPROF" script --json --filter 'state == "blocked"' w.dtp >samples ||
    fail "no script"
py <<'PY'
import collections
import json
import re

(w,) = [a["waits"] for a in json.load(open("stats"))["accounting"]
        if "waits" in a]
woken = collections.defaultdict(collections.Counter)
tid = {}
for sample in map(json.loads, open("samples")):
    if sample["type"] != "sample":
        continue
    tid.setdefault(sample["comm"], set()).add(sample["tid"])
    call = {"timer": "sleep", "network": "socket", "thread": "futex",
            "pipe": "read"}.get(sample["comm"])
    if sample["args"]["reason"] == call:
        woken[sample["comm"]][sample["args"]["waker"],
                              sample["args"]["waker_tid"]] += 1
right = {"timer": ("hardirq", 0), "network": ("softirq", 0)}
for name in ("thread", "pipe"):
    (number,) = tid[name + ".end"]
    right[name] = name + ".end", number
wrong = 0
for name, waker in right.items():
    print(name, dict(woken[name]))
    wrong += sum(woken[name].values()) - woken[name][waker]
    assert woken[name][waker] >= 2500, name
# Some kernels do not report each wakeup, which is counted.
assert wrong <= w["unwoken"], (wrong, w)
total = sum(sum(wakers.values()) for wakers in woken.values())
current = {name: int(n) for name, n in re.findall(
    r"@\[bystander, (\w+)\]: (\d+)", open("current").read())}
print("bystander was current, by bpftrace:", current)
assert total >= 10000 and current["timer"] > 100, (total, current)
print("%d wakeups, %d without a waker" % (total, wrong))
PY
ok "no bystander is a waker"
