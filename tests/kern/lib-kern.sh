# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# What the tests of recordings share, beyond tests/lib.sh:
#	. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
# The Python of a test has recording.py at hand.

. "${SRC:=$PWD}/tests/lib.sh"
work=$B/tests/work
PYTHONPATH=$SRC/tests/kern
export PYTHONPATH work
recorder=
stats=

need_recording()
{
	need_root
	need_cmd python3
	need_bpf
}

# dtprof record, quietly, with this status in the end; messages in $tmp/err
record()	# status argument ...
{
	record_want=$1
	shift
	"$DTPROF" record -q "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	record_got=$?
	[ "$record_got" -eq "$record_want" ] && return 0
	sed 's/^/err: /' "$tmp/err" | tail -n 20
	fail "record: status $record_got, not $record_want: $*"
}

# The same in the background: returns when it records; its pid in $recorder.
# Descriptor 9 is the test's own, to hold up workloads.
record_begin()	# argument ...
{
	"$DTPROF" record -q "$@" >"$tmp/out" 2>"$tmp/err" </dev/null \
	    9>&- &
	recorder=$!
	kill_at_end "$recorder"
	await_recording "$recorder"
}

# It records when it takes a mark.  On a busy machine that can take long; the
# end of waiting is the recorder's end, or the test's time limit.
await_recording()	# pid [messages]
{
	until "$DTPROF" mark --recorder "$1" ready >/dev/null 2>&1; do
		if ! kill -0 "$1" 2>/dev/null; then
			sed 's/^/err: /' "${2:-$tmp/err}"
			fail "the recorder ended before it recorded"
		fi
		nap
	done
}

# dtprof stat in the background: returns when it counts; its pid in $stats,
# after those before, its messages in OUTPUT.err.
stat_begin()	# output argument ...
{
	stat_out=$1
	shift
	"$DTPROF" stat -o "$stat_out" "$@" >"$stat_out.err" 2>&1 \
	    </dev/null 9>&- &
	kill_at_end $!
	await_recording $! "$stat_out.err"
	stats="$stats $!"
}

stats_wait()
{
	# shellcheck disable=SC2086 # a list of words
	wait $stats || fail "stat: $(cat ./*.err)"
}

# bpftrace in the background, whose script prints "ready" when it begins; its
# pid in $bpftrace.  It finds tracepoints where tracefs is mounted.
bpftrace_begin()	# script output
{
	unshare -m sh -c "mount -t tracefs none /sys/kernel/tracing
	    exec bpftrace -B none '$1'" >"$2" 2>"$2.err" 9>&- &
	bpftrace=$!
	kill_at_end "$bpftrace"
	until grep -q ready "$2"; do
		kill -0 "$bpftrace" 2>/dev/null ||
		    skip "bpftrace: $(cat "$2.err")"
		nap
	done
}

# It prints what it has.
bpftrace_end()
{
	while kill -INT "$bpftrace" 2>/dev/null; do
		nap
	done
	wait "$bpftrace"
}

# Interrupt the recorder and wait for its end, with this status.
record_end()	# status
{
	kill -INT "$recorder" || fail "the recorder has gone already"
	record_wait "$1"
}

record_wait()	# status
{
	wait "$recorder"
	record_got=$?
	[ "$record_got" -eq "$1" ] && return 0
	sed 's/^/err: /' "$tmp/err" | tail -n 20
	fail "record: status $record_got, not $1"
}

# Python on standard input; what it asserts is the test's.
py()		# argument ...
{
	python3 - "$@" || fail "see above"
}

# CPU time that the host of this machine took, in ticks.
stolen()
{
	awk '/^cpu / { print $9 }' /proc/stat
}

# Every event of a recording balances, to the unit, and the file is whole.
balance()	# file
{
	py "$1" <<'END'
import sys
import recording
recording.balance(sys.argv[1])
END
}

# A process in the state stopped, the two last fields of what it has open.
stopped()	# pid
{
	grep -q '^State:[[:space:]]*T' "/proc/$1/status"
}

# Nothing of ours is left in the kernel that no process holds.
no_orphans()
{
	"$work/orphans" 500 || fail "left behind in the kernel, see above"
}
