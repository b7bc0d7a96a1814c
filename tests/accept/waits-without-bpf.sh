#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: without BPF, each thread's time off the CPU is what perf's records
# of context switches, dtprof's BPF programs and the kernel's schedstat say, for
# root and for an ordinary user; each switch to a thread ends one wait; running,
# off-CPU and unknown time are exactly the elapsed time, also of threads that
# never switch, around pauses, and where rings lost records, which is counted.
#
# Easy to get wrong: a thread leaves its CPU once more after its exit; a lost
# record joins two waits, or two turns on a CPU, to one; a thread that sleeps
# all the time has no record at all.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd perf
tmpdir
event=off-cpu/min=0ns/
PYTHONPATH=$PYTHONPATH:$tmp

cat >waits.py <<'END'
import collections
import json
import re

import recording as rec


def counts(path):
    """The row of the accounting, which balances."""
    stats = json.loads(rec.run("report", "--stats", "--json", path))
    a = [a for a in stats["accounting"] if "waits" in a][0]
    rec.check(a["balances"] and a["waits"]["balances"], "%s: %s" % (path, a))
    print(path, a["waits"])
    return a, a["waits"]


def records(path):
    return [json.loads(line) for line in
            rec.run("script", "--show", "all", "--json", path).splitlines()]


def by_thread(path, until):
    """Of each thread: time preempted, new and otherwise off the CPU."""
    off = collections.defaultdict(collections.Counter)
    for s in records(path):
        if s["type"] == "sample" and s["time_ns"] <= until.get(s["tid"], 0):
            reason = s["args"]["reason"]
            off[s["tid"]]["preempted" if reason in ("preempted", "yield")
                          else "other"] += s["weight"]
            if reason == "wake-up latency":
                off[s["tid"]]["new"] += s["weight"]
    return off


def by_perf(path, until):
    """The same from perf's own records, but for the wait of a new thread."""
    off, since = collections.defaultdict(collections.Counter), {}
    for line in open(path):
        m = re.search(r"/(\d+) +([\d.]+): PERF_RECORD_SWITCH (\S+)(.*)", line)
        tid, ns = int(m.group(1)), int(m.group(2).replace(".", ""))
        if m.group(3) == "OUT":
            since[tid] = ns, "preempt" in m.group(4)
        elif tid in since and ns <= until.get(tid, 0):
            began, preempted = since.pop(tid)
            off[tid]["preempted" if preempted else "other"] += ns - began
            off[tid]["turns"] += 1
    return off


def close(a, b, whole, least, what):
    """Within 1% of all, and what a switch itself takes."""
    rec.check(abs(a - b) <= .01 * whole + least, "%s: %d ns, not %d ns" %
              (what, a, b))


def threads():
    """What the program says of its threads, up to a time before their ends."""
    rows = [line.split() for line in open("truth")]
    return {int(r[1]): [int(n) for n in r[4:]] for r in rows[1:-1]}
END

# Three recorders of one program, and what perf has recorded.
measure()
{
	perf record -q -B -N -k mono --switch-events -e dummy:u \
	    -o perf.data -- \
	    "$DTPROF" record --backend perf -e $event -o perf.dtp -- \
	    "$DTPROF" record -q -e $event -o bpf.dtp -- \
	    "$work/planted_waits" >truth 2>err || return
	cp err messages
	perf script -i perf.data --show-switch-events --ns -F pid,tid,time \
	    >records 2>err
}

# Some perfs crash now and then, when they end or read what they recorded.
tries=0
until measure; do
	# Ended by a signal?
	{ [ $? -ge 128 ] && [ $tries -lt 5 ]; } || fail "$(cat err)"
	tries=$((tries + 1))
done
grep -q 'note: off-cpu.*the waker of blocked time are unknown' messages ||
    fail "no note: $(cat messages)"
grep PERF_RECORD_SWITCH records >switches || fail "perf: $(cat err)"
py <<'END'
import waits

a, w = waits.counts("perf.dtp")
_, b = waits.counts("bpf.dtp")
until = {tid: t[0] for tid, t in waits.threads().items()}
perf = waits.by_perf("switches", until)
ours, bpf = (waits.by_thread(p, until) for p in ("perf.dtp", "bpf.dtp"))
waits.rec.check(w["gaps"] == 0 and a["fired"] == w["turns"] + w["open"],
                str(w))
for tid in until:
    of, least = ours[tid], perf[tid]["turns"] * 20000
    whole = of["preempted"] + of["other"]
    print(tid, dict(of), dict(perf[tid]), dict(bpf[tid]))
    waits.close(of["preempted"], perf[tid]["preempted"], whole, least,
                "preempted, perf")
    waits.close(of["other"] - of["new"], perf[tid]["other"], whole, least,
                "blocked, perf")
    least += b["gap_ns"] + b["unwoken_ns"]
    waits.close(of["preempted"], bpf[tid]["preempted"], whole, least,
                "preempted, BPF")
    waits.close(of["other"], bpf[tid]["other"], whole, least, "blocked, BPF")
END

# An ordinary user, and what the kernel itself counts.
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	mkdir user
	chown 65534 "$tmp" user
	as_user "$DTPROF" record -q -e $event -o user/u.dtp -- \
	    "$work/planted_waits" >truth 2>err || fail "$(cat err)"
	py <<-'END'
	import collections
	import waits

	_, w = waits.counts("user/u.dtp")
	truth = waits.threads()
	off, turns, born = (collections.Counter() for _ in range(3))
	for s in waits.records("user/u.dtp"):
	    if s["type"] == "fork":
	        born[s["tid"]] = s["time_ns"]
	    elif s["type"] == "sample" and s["tid"] in truth and \
	            s["time_ns"] <= truth[s["tid"]][0]:
	        off[s["tid"]] += s["weight"]
	        turns[s["tid"]] += 1
	for tid, (looked, ran, _, count) in truth.items():
	    print(tid, turns[tid], count)
	    waits.rec.check(abs(turns[tid] - count) <= w["gaps"], "turns")
	    whole = looked - born[tid]
	    waits.close(off[tid], whole - ran, whole, count * 20000, "off")
	END
fi

# Threads that never switch, and pauses.
sleep 1000 &
sleeper=$!
kill_at_end $sleeper
record_begin --backend perf -e $event -p $sleeper -o s.dtp
for mark in --pause --resume; do
	sleep .2
	"$DTPROF" mark --recorder "$recorder" $mark || fail "no $mark"
done
sleep .2
kill -INT "$recorder"
wait "$recorder"
py <<'END'
import waits

_, w = waits.counts("s.dtp")
at = {r["type"]: r["time_ns"] for r in waits.records("s.dtp")}
print(at)
all_ns = at["pause"] - at["start"] + at["stop"] - at["resume"]
waits.rec.check(w["open"] == 2 == w["threads"] and w["turns"] == 0 and
                w["blocked_ns"] == w["elapsed_ns"], str(w))
waits.rec.check(.9 * all_ns < w["blocked_ns"] < 1.1 * all_ns + 20e6,
                "%d ns of %d ns" % (w["blocked_ns"], all_ns))
END

# A recorder that is stopped, and rings that are full meanwhile.
cat >pingpong.py <<'END'
import os

there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(there[1])
    while os.read(there[0], 1):
        os.write(back[1], b"x")
while True:
    os.write(there[1], b"x")
    os.read(back[0], 1)
END
python3 pingpong.py &
pingpong=$!
kill_at_end $pingpong
record_begin --backend perf --buffer 64K -e $event -p $pingpong -o l.dtp
sleep .2
kill -STOP "$recorder"
sleep .5
kill -CONT "$recorder"
sleep .2
kill -INT "$recorder"
wait "$recorder"
kill $pingpong
py <<'END'
import waits

a, w = waits.counts("l.dtp")
lost = [r for r in waits.records("l.dtp") if r["type"] == "lost"]
waits.rec.check(a["full"] > 1000 and lost, "nothing was lost: %s" % a)
waits.rec.check(w["gaps"] > 0 and w["gap_ns"] > .3e9,
                "lost time counts as known: %s" % w)
waits.rec.ok("%d lost records, %d gaps" % (a["full"], w["gaps"]))
END
