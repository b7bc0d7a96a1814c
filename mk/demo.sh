#!/bin/sh
# SPDX-License-Identifier: ISC
#
# demo.sh builddir: record a workload whose answer is known, and show what
# was recorded: the accounting, the first records, the functions that took
# most, a flame graph.  Called by make demo.
#
# Where the kernel refuses BPF, dtprof records another way by itself and says
# so.  Where it refuses perf_event_open too, nothing can be recorded; then
# the recording that comes with the sources is shown instead, and it says so.

B=$1
file=$B/demo.dtp
work=$B/tests/work/demo
can=$B/tests/work/can

show()		# recording
{
	printf '\nWhat was fired, stored and lost (dtprof report --stats):\n'
	"$B/dtprof" report --stats "$1" || exit 1
	printf '\nThe first records (dtprof script):\n'
	"$B/dtprof" script "$1" | head -n 12
	printf '\nWhere the time went (dtprof report --sort total):\n'
	"$B/dtprof" report --sort total --limit 10 \
	    -e cpu-clock "$1" || exit 1
	"$B/dtprof" flamegraph -o "$B/demo.html" "$1" || exit 1
	cat <<-END

	The flame graph (dtprof flamegraph): $B/demo.html
	Next: open it in a browser; three functions do 70, 20 and 10 % of the
	work.
	Then record something of yours, and look at it:
	  $B/dtprof record -- COMMAND
	  $B/dtprof report
	  $B/dtprof flamegraph --open
	END
}

# Static probes need BPF; samples of the CPU clock do not.
set -- -e cpu-clock
if "$can" bpf 2>/dev/null; then
	set -- "$@" -e sched:sched_switch -e syscalls:sys_enter_getppid
fi

echo "dtprof record $* -o $file -- $work"
"$B/dtprof" record "$@" -o "$file" -- "$work"
status=$?
if [ $status -eq 0 ]; then
	show "$file"
	exit 0
fi
if "$can" perf 2>/dev/null || "$can" bpf 2>/dev/null; then
	echo "demo: the recording failed though this kernel permits one" >&2
	exit "$status"
fi
cat <<END

This kernel lets us neither load BPF nor open perf events, so nothing can be
recorded here.  SHOWN INSTEAD: doc/demo.dtp, a recording of the same program
made on another machine, which comes with the sources.
END
show doc/demo.dtp
