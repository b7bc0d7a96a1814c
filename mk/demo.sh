#!/bin/sh
# SPDX-License-Identifier: ISC
#
# demo.sh builddir: record a workload whose answer is known, and show its
# functions, one line of accounting and a flame graph.  Called by make demo.
#
# Without BPF, dtprof falls back to perf rings and says so.  Without
# perf_event_open too, nothing can be recorded; then the recording that comes
# with the sources is shown instead, and this is said.

B=$1
file=$B/demo.dtp
work=$B/tests/work/demo
can=$B/tests/work/can

# One line of all samples: what fired, and where it went.  Process events are
# accounted for too; the samples that record counts are the other ones.
accounting()	# recording
{
	"$B/dtprof" report --stats --json "$1" | tr ',{' '\n\n' | awk -F: '
	/^"event":/ { is_sample = $2 != "\"proc\"" }
	/^"(fired|stored|filtered|full|nested|error)":/ {
		n[$1] += is_sample * $2
	}
	/^"balances":/ { if ($2 != "true") odd = 1 }
	END {
		lost = n["\"full\""] + n["\"nested\""] + n["\"error\""]
		printf "Accounting: %d fired = %d stored + %d filtered " \
		    "+ %d lost (%s)\n", n["\"fired\""], n["\"stored\""],
		    n["\"filtered\""], lost,
		    odd ? "does not balance" : "balances"
	}'
}

show()		# recording
{
	printf '\nFunctions (dtprof report):\n'
	"$B/dtprof" report --limit 6 -e cpu-clock "$1" || exit 1
	"$B/dtprof" flamegraph -o "$B/demo.html" "$1" || exit 1
	accounting "$1"
	cat <<-END
	Flame graph (dtprof flamegraph): $B/demo.html

	The program does 70%, 20% and 10% of its work in three functions.  Next:
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
