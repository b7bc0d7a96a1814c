#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Every fork, exec, exit and mapping of a target is recorded once,
# although the hooks see the whole system, the side band too, and targets are
# listed from /proc besides.
#
# Easy to get wrong: what existed at the start and what begins while the list
# is read come from two sources.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

for how in -p -a --; do
	set -- -q -o a.dtp --call-graph none -e syscall::close:entry
	rm -f go && mkfifo go
	case $how in
	--)	record 0 "$@" -- "$work/tree" -e 2 2 5
		cp out tree.out ;;
	*)	"$work/tree" -w 2 2 5 <go >tree.out &
		tree=$!
		kill_at_end "$tree"
		exec 9>go
		await "the tree is born" grep -q born tree.out
		if [ "$how" = -p ]; then
			record_begin "$@" -p "$tree"
		else
			record_begin "$@" -a
		fi
		exec 9>&-
		wait "$tree"
		[ "$how" = -p ] || kill -INT "$recorder"
		record_wait 0 ;;
	esac
	py "$how" <<'END'
import sys
import recording as rec

how = sys.argv[1]
pids = [int(line.split()[0]) for line in open("tree.out")
        if line != "born\n"]
rec.check(len(pids) == 7, "%d processes in the tree" % len(pids))
count, maps = {}, {}
for r in rec.in_order("a.dtp"):
    if r["pid"] in pids:
        count[r["pid"], r["type"]] = count.get((r["pid"], r["type"]), 0) + 1
        # The new image is mapped after its name is set, before "exec".
        if r["type"] == "comm":
            maps[r["pid"]] = set()
        if r["type"] == "mmap":
            place = (r["addr"], r["len"])
            rec.check(place not in maps.setdefault(r["pid"], set()),
                      "twice: %r" % r)
            maps[r["pid"]].add(place)
root = min(pids)
for pid in pids:
    exits = count.get((pid, "exit"), 0)
    rec.check(exits == 1, "%s: %d ended %d times" % (how, pid, exits))
    tasks = count.get((pid, "task"), 0)
    forks = count.get((pid, "fork"), 0)
    execs = count.get((pid, "exec"), 0)
    if how == "--":
        rec.check(tasks + forks == 1, "%d: %d task, %d fork" %
                  (pid, tasks, forks))
        rec.check(execs == 1, "%d ran %d times" % (pid, execs))
        rec.check(len(maps[pid]) >= 3, "%d has %d mappings" %
                  (pid, len(maps[pid])))
    else:
        rec.check((tasks, forks, execs) == (1, 0, 0), "%s: %d: %d task, "
                  "%d fork, %d exec" % (how, pid, tasks, forks, execs))
        rec.check(len(maps.get(pid, [])) > 0, "%d has no mapping" % pid)
rec.balance("a.dtp")
rec.ok("%s: 7 processes, each born, run and ended once, %d mappings" %
       (how, sum(len(m) for m in maps.values())))
END
done
