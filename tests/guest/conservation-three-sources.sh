#!/bin/sh
# ASSERTION: counter, tracepoint and syscalls together lose nothing unnamed.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# On a machine of another architecture, whose BPF atomics are other
# instructions, interrupts of the counter nest into the programs of the
# probes.  The workload's system calls are known to the unit.

. "${SRC:=$PWD}/tests/guest/lib.sh"

passes=3000
guest_boot <<END
dtprof record -q --call-graph fp -e $counter -e sched:sched_switch \\
    -e syscall::write:entry -e syscall::write:return -e syscall::read:entry \\
    -e syscall:write -o three.dtp -- guest_pingpong $passes || exit
# The smallest buffer, and nobody to empty it.
dtprof record -q -a --buffer 64K --call-graph fp -e $counter \\
    -e sched:sched_switch -e syscall:::entry -e syscall:::return \\
    -o full.dtp -- guest_pingpong -f $passes
END
accounting results/three.dtp
verify stats $passes "${counter%% *}" <<'END'
of = {a["event"]: a for a in j["accounting"]}
writes = 2 * int(argv[0])
for name, calls in ("syscall::write:entry", writes), \
    ("syscall::write:return", writes), ("syscall::read:entry", writes - 1), \
    ("syscall:write", writes):
	a = of[name]
	named = a["full"] + a["nested"] + a["error"] + a["missed"]
	need(a["stored"] + named == calls, "%s: %d stored + %d named of %d" %
	    (name, a["stored"], named, calls))
switch = of["sched:sched_switch"]["stored"]
need(switch >= writes - 10, "%d switches" % switch)
sampled = of[argv[1]]["stored"]
need(sampled > 1000, "%d of %s" % (sampled, argv[1]))
END
"$DTPROF" script --json results/three.dtp >samples || fail "no script"
verify samples <<'END'
samples = [r for r in j if r["type"] == "sample"]
times = [r["time_ns"] for r in samples]
need(len(times) > 20000, "%d samples" % len(times))
need(times == sorted(times), "they stand in order of time")
need(len({(r["event"], r["pid"]) for r in samples
    if r["event"].startswith("syscall")}) == 8,
    "both processes made all calls")
need(all(r["kernel"] for r in samples if r["event"] == "sched:sched_switch"),
    "each switch has a kernel stack")
END
accounting results/full.dtp
verify stats $passes <<'END'
full = sum(a["full"] for a in j["accounting"])
need(full > 1000, "%d refused by a full buffer, and counted" % full)
need(all(a["stored"] == a["in_file"] for a in j["accounting"][1:]),
    "what was stored is in the file")
END
