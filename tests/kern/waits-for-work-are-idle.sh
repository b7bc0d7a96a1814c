#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: waits of an event loop that a timeout or a process outside of the
# targets ended are one row, idle, as long as the program's own clocks say;
# waits that a thread of a target ended, that are in a callback of the loop, or
# in no loop, are not idle.  --idle shows the functions, and the same time.
# Waits for the lock of the Python interpreter have this reason for as long as
# threads that only compute do neither run nor wait for a CPU; those for another
# lock do not have it, and a program of one thread has none.
#
# Easy to get wrong: all of these threads wait in epoll_wait, and an interrupt
# ends most of these waits.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

loops()	# the name of "outside" if it is idle, other targets
{
	mkfifo feed
	"$work/idle_loops" <feed >truth &
	loops=$!
	kill_at_end "$loops"
	exec 9>feed
	record_begin -e off-cpu/min=0ns/ -p "$loops$2" -o l.dtp
	echo >&9
	n=0
	while [ $((n += 1)) -le 20 ]; do
		sleep .015
		echo >&9
	done
	exec 9>&-
	wait "$loops" || fail "idle_loops: status $?"
	rm feed
	kill -INT "$recorder"
	wait "$recorder" || fail "record: $(cat err)"
	"$DTPROF" report --json --by tid,state,reason l.dtp >folded ||
	    fail "no report"
	"$DTPROF" report --json --idle --by tid,state,reason l.dtp >shown ||
	    fail "no report"
	IDLE=$1 py <<'END'
import collections
import json
import os

def read(name):
    time = collections.defaultdict(collections.Counter)
    for row in json.load(open(name))["rows"]:
        key = row["args"]["reason"] if row["args"]["state"] == "blocked" \
            else row["args"]["state"]
        time[row["tid"]][key] += row["total"]
    return time

folded, shown = read("folded"), read("shown")
for name, tid, ns in map(str.split, open("truth")):
    got, all, ns = folded[int(tid)], shown[int(tid)], int(ns)
    print("%s: waited %.1f ms, idle %.1f ms, other %.1f ms" % (name, ns / 1e6,
          got["idle"] / 1e6, (got["epoll"] + got["sleep"]) / 1e6))
    assert all["idle"] == 0 and sum(all.values()) == sum(got.values())
    is_idle = name == "timer" or name == os.environ["IDLE"]
    reason = "sleep" if name == "sleep" else "idle" if is_idle else "epoll"
    late = got["runnable"] + got["unknown"]
    others = {"idle", "epoll", "sleep"} - {reason}
    assert not any(got[other] for other in others), got
    assert .95 * ns - late - 1e6 <= got[reason] <= 1.01 * ns + 1e6, got
document = json.load(open("folded"))
assert document["folded"]["idle_ns"] == \
    sum(time["idle"] for time in folded.values())
assert {"name": "libuv", "part": "callbacks"} in document["schedulers"]
END
}

loops outside ''
"$DTPROF" report --by state l.dtp >table || fail "no table"
grep -q 'waits for work (.*) are one row, idle; --idle shows' table ||
	fail "no note of idle waits: $(cat table)"
grep -q 'not of callbacks (libuv)' table || fail "no note of callbacks"
# The writer is this shell.
loops nobody ",$$"

cat >gil.py <<'END'
import os
import sys
import threading
import time

def say(name, ns):
    os.write(1, b"%s %d %d\n" % (name.encode(), threading.get_native_id(), ns))

# Wall-clock time less the CPU time of this thread and what the host took, which
# is not in the clock of a thread.
def passed():
    with open("/proc/stat") as f:
        stolen = int(f.readline().split()[8])
    return time.monotonic_ns() - time.thread_time_ns() - \
        stolen * 1000000000 // os.sysconf("SC_CLK_TCK")

def spin():
    begin, waited = time.monotonic_ns(), passed()
    while time.monotonic_ns() - begin < 700000000:
        pass
    say("spin", passed() - waited)

def wait():
    begin = time.monotonic_ns()
    with lock:
        say("lock", time.monotonic_ns() - begin)

lock = threading.Lock()
with lock:
    threads = [threading.Thread(target=spin) for _ in range(int(sys.argv[1]))]
    threads.append(threading.Thread(target=wait))
    for thread in threads:
        thread.start()
    for thread in threads[:-1]:
        thread.join()
END
for n in 3 1; do
	record 0 -e off-cpu/min=0ns/ -o g.dtp -- python3 gil.py $n
	mv out truth
	"$DTPROF" report --json --by tid,state,reason g.dtp >rows$n ||
		fail "no report"
	"$DTPROF" report --json --by reason,waker_tid g.dtp >wakers ||
		fail "no report"
	N=$n py <<'END'
import collections
import json
import os

n = int(os.environ["N"])
time = collections.defaultdict(collections.Counter)
for row in json.load(open("rows%d" % n))["rows"]:
    time[row["tid"]][row["args"]["reason"]] += row["total"]
truth = [(name, int(tid), int(ns))
         for name, tid, ns in map(str.split, open("truth"))]
for name, tid, ns in truth:
    got = time[tid]
    print("%s of %d: %.1f ms, by reason %s" % (name, n, ns / 1e6, dict(got)))
    gil = got["python GIL"]
    if name == "lock":
        assert got["futex"] >= .9 * ns - gil - got["wake-up latency"] - \
            got["preempted"], got
        continue
    cpu = got["preempted"] + got["wake-up latency"]
    # It also waits before it looks at its clock, and after.
    assert gil + cpu >= .95 * ns - 2e7, (gil, cpu, ns)
    # The interpreter's own mutex is a futex, too, and seldom waited for.
    assert got["futex"] <= .3 * gil + 5e6
    assert gil > 5e6 if n > 1 else gil <= 1e8, got
tids = {0} | set(time)
for row in json.load(open("wakers"))["rows"]:
    assert row["args"]["reason"] != "python GIL" or \
        int(row["args"]["waker_tid"]) in tids, row
END
done
ok "idle waits, and waits for the lock of the Python interpreter"
