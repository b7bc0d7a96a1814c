#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: with all that a program can have - filter, arguments, strings,
# both stacks by tables, script frames, values of eight counters - the kernel's
# verifier goes through at most 30,000 instructions of it.  Easy to get wrong: a
# branch more in what is inlined everywhere, and recording takes seconds to
# begin.
. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
eight=context-switches,task-clock,minor-faults,major-faults
eight=$eight,cpu-migrations,alignment-faults,emulation-faults,dummy
n=0
while read -r options; do
	n=$((n + 1))
	# So long that runs comes to see the programs on a busy machine, too.
	# shellcheck disable=SC2086 # a list of words
	"$work/runs" runs.json "$DTPROF" record -q -a --record-comm -g \
	    $options --filter 'pid>0&&comm!="x"&&cpu<4096' \
	    -o x.dtp -- sleep 0.3 </dev/null 2>err ||
	    fail "$options: $(cat err)"
	python3 - "$options" <<'END' || fail "$options: $(cat runs.json)"
import json
import sys
programs = json.load(open("runs.json"))
most = max(programs, key=lambda p: p["verified"])
print("ok: %s: at most %d, of %s" % (sys.argv[1], most["verified"],
                                     most["name"]))
sys.exit(not 5000 < most["verified"] <= 30000)
END
done <<END
-e cpu-clock -e page-faults --with $eight
-e sched:sched_switch --with $eight
-e sched:sched_process_exec --with $eight
-e syscall:::entry --with $eight
-e syscall:::return --with $eight
-e off-cpu
END
[ "$n" -eq 6 ] || fail "$n of six"
