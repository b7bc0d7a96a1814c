#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: At random stops of python3 and of clang, the stack that was walked
# in the kernel at that very moment is, frame by frame, the one that gdb finds
# in the stopped process.
#
# Easy to get wrong: a rule that is a byte off, the last frames, the first.
# The walk is that of the task switch with which the process stops: its
# registers stay as they are until gdb has looked.  STOPS is how many (40),
# WALK how dtprof walks (auto).

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gdb clang++ python3
tmpdir

STOPS=${STOPS:-40}
SEED=${SEED:-$$}
OUT=$tmp/stops
export STOPS SEED OUT
echo "seed $SEED"

compare()	# title
{
	py "$1" <<'END'
import bisect
import json
import sys
import recording as rec

stops = [json.loads(line) for line in open("stops")]
samples = [r for r in rec.samples("a.dtp") if "user" in r]
times = [r["time_ns"] for r in samples]
same = differ = unseen = 0
for resumed, looked, pcs in stops:
    n = bisect.bisect(times, looked) - 1
    if n < 0 or times[n] < resumed:
        unseen += 1
        continue
    got = samples[n]
    whole = got["user_status"] == "ok"
    if got["user_status"] == "short":       # as far as the copy goes
        pcs = pcs[:len(got["user"])]
        whole = len(pcs) > 1
    if got["user"] == pcs and whole:
        same += 1
        continue
    differ += 1
    print("dtprof %s: %s" % (got["user_status"], " ".join(got["user"])))
    print("gdb: %s" % " ".join(pcs))
frames = sum(len(pcs) for _, _, pcs in stops) / max(len(stops), 1)
print("%s: %d of %d stops the same (%.0f frames on average), %d differ, "
      "%d not seen" % (sys.argv[1], same, len(stops), frames, differ, unseen))
rec.check(same * 10 >= len(stops) * 9 > 0, "too few were compared")
rec.check(differ == 0, "%d stops differ" % differ)
END
}

look()		# title command ...
{
	title=$1
	shift
	"$@" >/dev/null 2>&1 9>&- &
	worker=$!
	kill_at_end $worker
	await "$title computes" computes $worker
	record_begin -o a.dtp --call-graph "${WALK:-auto}" \
	    -e sched:sched_switch -p $worker
	gdb -batch -nx -p $worker -x "$SRC/tests/interop/gdb_stops.py" \
	    >gdb.out 2>&1
	record_end 0
	kill -9 $worker
	compare "$title"
}

computes()	# pid
{
	read -r stat <"/proc/$1/stat" || return 1
	# shellcheck disable=SC2086 # a list of numbers
	set -- ${stat##*) }
	[ $((${12} + ${13})) -gt 20 ]
}

sh "$SRC/tests/work/load_cxx.sh" 400 >load.cc
look python3 /usr/bin/python3 "$SRC/tests/work/load.py"
# The compiler itself, not the driver that starts it.
clang=$(clang++ -### -O2 -c load.cc -o load.o 2>&1 | tail -n 1)
eval "look clang $clang"
ok "stacks are what gdb sees"
