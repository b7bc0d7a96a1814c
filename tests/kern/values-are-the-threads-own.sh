#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what --with brings in samples is what the thread had since its
# sample before: page faults to the unit, sample by sample, and switches, of
# threads that go from CPU to CPU beside a process that faults all the time;
# by function the report shows the sums, as many pages as each touches.
#
# Easy to get wrong: counts of a CPU given to who runs next, or given twice
# when an interrupt takes a sample too; what came before the exec; the switch
# itself, which the kernel counts after its tracepoint, and samples of it.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
rounds=150

for how in command -p -a; do
	set -- -o v.dtp -e syscalls:sys_enter_pwrite64 \
	    -e cpu-clock:u/freq=4000/ -e context-switches/period=1/ \
	    --with page-faults,context-switches,task-clock
	case $how in
	-p)	mkfifo go
		"$work/values" -p $rounds 3 >ready <go &
		worker=$!
		kill_at_end "$worker"
		exec 9>go
		await "it is ready" grep -q ready ready
		record_begin "$@" -p "$worker"
		echo go >&9
		exec 9>&-
		wait "$worker" || fail "values"
		record_wait 0 ;;
	-a)	record 0 "$@" -a -- "$work/values" $rounds 3 ;;
	*)	record 0 "$@" -- "$work/values" $rounds 3 ;;
	esac
	py "$how" $rounds <<'END'
import collections
import statistics
import sys
import recording as rec

how, rounds = sys.argv[1], int(sys.argv[2])
marks = 2 * (rounds + (0 if how == "-p" else 2))
had = collections.defaultdict(collections.Counter)  # thread -> event -> sum
off = collections.defaultdict(list)     # thread -> event -> less the truth
truth, clock, others, bare = {}, ([], []), 0, 0


def falling(offs):
    return offs == sorted(offs, reverse=True)


def falls(offs):
    return sum(a != b for a, b in zip([0] + offs, offs))


for s in rec.samples("v.dtp"):
    if s["comm"] != "values":
        continue
    tid = s["tid"]
    bare += "with" not in s
    had[tid].update(s.get("with", {}))
    if s["event"] != "syscalls:sys_enter_pwrite64":
        others += 1
        continue
    last = truth.get(tid)
    truth[tid] = [s["args"][a] for a in ("count", "pos", "buf")]
    truth[tid].append(had[tid]["task-clock"])
    if last is not None:
        _, switches, own, ours = (b - a for a, b in zip(last, truth[tid]))
        # A stretch that a host steals may take no time by the thread's clock.
        clock[switches > 0].append(ours / max(own, 1))
    off[tid].append((had[tid]["page-faults"] - truth[tid][0],
                     had[tid]["context-switches"] - truth[tid][1]))
seen = {tid: len(offs) for tid, offs in off.items()}
rec.check(sorted(seen.values()) == 3 * [marks], "marks: %r" % seen)
rows = rec.balance("v.dtp", ["page-faults", "context-switches"])
# Stretches after a switch that the kernel did not tell of: nobody's.
lost = rows["page-faults"]["error"]
for offs in off.values():
    # Attached in its midst: what came before is not known to us.
    begin = offs[0][0] if how == "-p" else 0
    faults = [f - begin for f, _ in offs]
    # Some switches come between the look of the program and its call.
    heard = [s for _, s in offs]
    least = [min(heard[n:n + 5]) for n in range(len(heard) - 4)]
    begin = least[0] if how == "-p" else 0
    switches = [s - begin for s in least]
    # A stretch that is nobody's may have a switch, and no fault.
    lost -= max(falls(faults), falls(switches))
    rec.check(falling(faults) and falling(switches) and lost >= 0,
              "%d stretches too few are nobody's: page faults %r, switches %r" %
              (-lost, faults, switches))
    early = sum(a > b for a, b in zip(heard, least))
    rec.check(early < len(least) / 2, "%d switches are early" % early)
rec.ok("%s: page faults of %d samples, with %d between them, are those that "
       "the kernel counted for the threads, and so are switches; %d came "
       "without values, %d stretches are nobody's" %
       (how, 3 * marks, others, bare, rows["page-faults"]["error"]))
# The kernel's clock of a thread begins when it is woken, ours at the switch.
stayed, slept = (statistics.median(ratios) for ratios in clock)
rec.check(0.9 < stayed < 1.1 and 0.8 < slept < 1.2,
          "task-clock: %r" % [stayed, slept])
rec.ok("task-clock: %.3f of what the threads saw in %d stretches on a CPU, "
       "%.3f in %d with switches" %
       (stayed, len(clock[0]), slept, len(clock[1])))
row = rows["page-faults"]
rec.check(row["count"] >= row["weight"] > 0, "%r" % row)
END
done

# By function, with the one event that ends each.
# Where libc's table is late, more stacks end there than are copied, and what
# they had belongs to no function.
for left in 4 3 2 1 0; do
	record 0 -o f.dtp -e syscalls:sys_enter_pwrite64 --with page-faults \
	    -- "$work/values" $rounds 3
	"$DTPROF" report --stats f.dtp >stats || fail "report --stats"
	grep -q nomod stats || break
	[ "$left" -gt 0 ] || {
		grep nomod stats
		skip "five times stacks ended before libc's table was there"
	}
done
"$DTPROF" report --json f.dtp >f.json || fail "report"
py f.json $rounds <<'END'
import json
import sys
import recording as rec

calls = 3 * (int(sys.argv[2]) + 2)
got = {f["name"]: f for f in json.load(open(sys.argv[1]))["functions"]
       if f["event"] == "page-faults"}
beta, alpha = got["beta"], got["alpha"]
# A switch that the kernel did not tell of takes a call's pages at most.
lost = 11 * rec.balance("f.dtp", ["page-faults"])["page-faults"]["error"]
rec.check(0 <= 11 * calls - beta["total"] <= lost, "beta: %r" % beta)
rec.check(abs(beta["total_ratio"] * calls / beta["total"] - 1) < 1e-6 and
          beta["ratio_to"] == "syscalls:sys_enter_pwrite64",
          "ratio: %r" % beta)
# What begins a thread comes before its first call.
rec.check(-lost <= alpha["total"] - 3 * calls < 20, "alpha: %r" % alpha)
rec.ok("by function: beta %d pages in %d calls, alpha %d" %
       (beta["total"], calls, alpha["total"]))
END
