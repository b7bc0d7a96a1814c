#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Whether counters sit on the target's tasks or on all CPUs, a
# recording holds the same: of each process of a command, through fork, exec
# and threads, and of each thread that a running process starts and ends, the
# CPU time that it used by its own clock; every count is within its bound, with
# several events, by rate and by period, with pauses, and with a lower rate
# for descendants that exist already.  On tasks nothing fires elsewhere.
#
# Easy to get wrong: an inherited event has neither the attach cookie nor, at
# its start, its parent's remainder; a task that is started while events are
# being opened has them twice or not at all; events that take over from others
# must take over from the inherited ones, too.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# Lines "pid ns" of what ran are in "used"; how far a process may be off, in
# periods.
cat >judge.py <<'END'
import sys
import recording as rec


def loading_ns():
    """From when the kernel starts a command's events until its exec.

    It starts them when it gives the task its new name, and tells of the exec
    once the program is loaded.
    """
    named = None
    for record in rec.records("a.dtp", "process-events"):
        if record["type"] == "comm":
            named = record["time_ns"]
        elif record["type"] == "exec":
            return record["time_ns"] - named
    return None


what, way, period, held = sys.argv[1:5]
period, held = int(period), int(held)
rows = rec.balance("a.dtp", ["cpu-clock"])
info = rec.report("a.dtp")["recording"]["info"]
rec.check(info["attach"] == way, "%s: %r" % (what, info))
rec.check("attach.moved" not in info, "%s: %r" % (what, info))
for name, row in rows.items():
    if row.get("count") is None:
        continue
    rec.check(row["unaccounted_excess"] == 0,
              "%s, %s: %d beyond its bound: %r" %
              (what, name, row["unaccounted_excess"], row))
row = rows["cpu-clock"]
# Before its exec a command is no target, although its events count already.
if way == "tasks":
    loading = loading_ns()
    most = 0 if loading is None else loading // period + 1
    rec.check(row["filtered"] <= most, "%s: %d filtered, of at most %d" %
              (what, row["filtered"], most))
weights = {}
for r in rec.samples("a.dtp", "cpu-clock"):
    for number in {r["pid"], r["tid"]}:
        weights[number] = weights.get(number, 0) + r["weight"]
n = 0
for line in open("used"):
    number, ns = map(int, line.split())
    got = weights.get(number, 0)
    rec.check(abs(got - ns) <= held * period + ns / 10,
              "%s: %d used %.3f ms, its samples say %.3f ms" %
              (what, number, ns / 1e6, got / 1e6))
    n += 1
rec.check(n > 0, "nothing ran")
rec.ok("%s: %d tasks, %d samples" % (what, n, row["stored"]))
END

# shellcheck disable=SC2016
family='"$work/spin" -t 3 60; "$work/spin" 120 & "$work/spin" 90; wait
	exec "$work/spin" 60'
for way in tasks cpus; do
	record 0 --attach $way -F 997 -e cpu-clock -e profile:::499hz \
	    -o a.dtp -- sh -c "$family"
	mv out used
	python3 judge.py "a command by rate" $way 1003009 3 ||
	    fail "see above"
	record 0 --attach $way -e cpu-clock -c 200000 -o a.dtp -- \
	    sh -c "\"\$DTPROF\" mark --recorder \$PPID --pause &&
	    \"\$DTPROF\" mark --recorder \$PPID --resume && $family"
	grep -v '[a-z]' out >used
	python3 judge.py "a command with a pause" $way 200000 3 ||
	    fail "see above"
done

# Threads come and go; only those that lie within are looked at.  The clock of
# a CPU does not begin anew with each slice of time that a thread gets.
cat >threads.py <<'END'
import sys
import threading
import time


def burn():
    """Use some CPU time and say how much."""
    while time.thread_time_ns() < 30000000:
        pass
    print(threading.get_native_id(), time.thread_time_ns(), flush=True)


sys.stdin.readline()
for _ in range(12):
    thread = threading.Thread(target=burn)
    thread.start()
    thread.join()
sys.stdin.readline()
END
for way in tasks cpus; do
	rm -f go && mkfifo go
	python3 threads.py <go >used &
	kill_at_end $!
	exec 9>go
	record_begin --attach $way -F 997 -e cpu-clock -o a.dtp -p $!
	echo >&9
	await "the threads end" sh -c 'test $(wc -l <used) -eq 12'
	record_end 0
	exec 9>&-
	held=3
	[ $way = tasks ] || held=6
	python3 judge.py "threads that come and go" $way 1003009 $held ||
	    fail "see above"
done

# What is late by periods is counted on tasks, too.
record 0 --attach tasks -e profile:::4999hz -o a.dtp -- sh -c "$family"
py <<'END'
import recording as rec

row = rec.balance("a.dtp")["profile:::4999hz"]
rec.check(row["unaccounted_excess"] == 0, "%d beyond its bound: %r" %
          (row["unaccounted_excess"], row))
rec.ok("4999 Hz: %d ns unaccounted, %d late, bound %d" % (
    row["unaccounted"], row["overruns"], row["unaccounted_bound"]))
END

# A lower rate takes hold of descendants that exist when it changes.
sh -c '"$1" 0 & "$1" 0 & echo >born; wait' - "$work/spin" &
pid=$!
kill_at_end $pid
await "they run" test -s born
for child in $(cat /proc/$pid/task/$pid/children); do
	kill_at_end "$child"
done
record 0 --attach tasks -e cpu-clock -c 100000 --max-overhead 0.001 \
    --duration 3s -o a.dtp -p $pid
py "$(cat /proc/$pid/task/$pid/children)" <<'END'
import sys
import recording as rec

rows = rec.balance("a.dtp", ["cpu-clock"])
marks, weights, after = rec.lowered("a.dtp", 100000)
rec.check(marks and after > 0, "%r, then %d samples" % (marks, after))
row = rows["cpu-clock"]
rec.check(row["unaccounted_excess"] == 0 and row["filtered"] == 0, "%r" % row)
slow = {r["tid"] for r in rec.samples("a.dtp") if
        r["weight"] == marks[-1] * 100000}
rec.check(slow == set(map(int, sys.argv[1].split())), "%r" % slow)
rec.ok("lowered to 1/%d, for both children" % marks[-1])
END
