#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What computes is sampled on its tasks, so that no timer fires on
# a CPU where it does not run; what switches often, or starts many tasks, is
# sampled on all CPUs, also when it turns out to later; and so is everything
# that tasks cannot be had for.  Either can be asked for; what is chosen opens
# the same events as what is asked for.  The recording says which it was and
# why, as report --stats does.
#
# Easy to get wrong: a command has no switches yet when it is chosen for, and
# one that starts short processes would have next to no samples on tasks.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

on()		# where, moved or not, pattern of the reason, argument ...
{
	where=$1 moved=$2 why=$3
	shift 3
	record "$status" -o a.dtp --call-graph none -e cpu-clock -F 997 "$@"
	"$DTPROF" report --stats a.dtp >stats || fail "report"
	py "$where" "$moved" "$why" "$*" <<'END'
import re
import sys
import recording as rec

where, moved, why, what = sys.argv[1:]
info = rec.report("a.dtp")["recording"]["info"]
rec.check(info.get("attach") == where, "%s: %r" % (what, info))
rec.check(("attach.moved" in info) == (moved == "moved"), "%s: %r" %
          (what, info))
said = info["attach.moved" if moved == "moved" else "attach.why"]
rec.check(re.search(why, said), "%s: %s" % (what, said))
stats = open("stats").read()
rec.check("attached to  %s: %s\n" % (where, info["attach.why"]) in stats,
          stats)
rec.check(moved != "moved" or "then         " + said in stats, stats)
row = rec.balance("a.dtp")["cpu-clock"]
if where == "tasks" and moved != "moved":
    rec.check(row["filtered"] == 0 and row["fired"] > 0, "%r" % row)
rec.ok("%s: %s, %s" % (what, where, said))
END
}

status=0
on tasks stays 'command' -- "$work/spin" 200
on cpus stays 'by --attach' --attach cpus -- "$work/spin" 100
on tasks stays 'by --attach' --attach tasks -- "$work/spin" 100
on tasks moved 'started [0-9]+ tasks' -- "$work/storms" fork 2000
# By SIGTERM, when the time is over.
status=143
on tasks moved 'switches \([0-9]+/s\) cost more' --duration 4s -- \
    "$work/guest_pingpong" 100000000
status=0
on cpus stays 'every process' -a --duration 100ms
on cpus stays 'counters' --with page-faults -- "$work/spin" 100

# The kernel takes events away from a program that takes other rights.
cp "$work/spin" other && chown 65534 other && chmod 4755 other
on tasks moved 'set-user-ID' -- sh -c 'exec ./other 300'
py <<'END'
import recording as rec

weight = sum(s["weight"] for s in rec.samples("a.dtp"))
rec.check(weight > 150e6, "%.3f ms of 300 ms" % (weight / 1e6))
rec.ok("%.0f ms of a program with other rights" % (weight / 1e6))
END

for option in -a "--with page-faults"; do
	# shellcheck disable=SC2086 # an option and its argument
	expect 125 "$DTPROF" record --attach tasks $option -- true
	expect_err '--attach tasks cannot be used' "$option"
done
ok "what samples CPUs is not had on tasks"

"$work/spin" 0 >/dev/null &
pid=$!
kill_at_end $pid
on tasks stays 'switches \([0-9]+/s\) cost less' --duration 200ms \
    -p $pid
on cpus stays 'by --attach' --attach cpus --duration 200ms -p $pid
on tasks stays 'single threads' --duration 200ms -t $pid
kill $pid
"$work/guest_pingpong" 100000000 &
pid=$!
kill_at_end $pid
await "it switches" grep -q . /proc/$pid/task/$pid/children
kill_at_end "$(cat /proc/$pid/task/$pid/children)"
on cpus stays 'switches \([0-9]+/s\) cost more' --duration 200ms \
    -p $pid
on tasks stays 'by --attach' --attach tasks --duration 200ms -p $pid

# What is chosen costs what is forced, for it is the same to the kernel.
need_cmd strace
opened()		# name of the list, option ...
{
	list=$1
	shift
	strace -qq -f -o calls -e trace=perf_event_open,ioctl \
	    "$DTPROF" record -q -o a.dtp -F 997 --duration 200ms "$@" -p $pid \
	    >said 2>&1 || fail "record $*: $(cat said)"
	cut -d ' ' -f 2- calls | grep -E 'perf_event_open|PERF_EVENT_IOC' |
	    sed 's/  *= .*//; s/([0-9]*, /(/; s/_ID, .*/_ID/' >"$list"
	grep -q 'perf_event_open.* -1, [01]' "$list" || fail "nothing opened"
}
opened chosen
opened forced --attach cpus
diff chosen forced >said || fail "chosen and forced differ: $(cat said)"
ok "chosen and forced open the same $(wc -l <chosen) times"
