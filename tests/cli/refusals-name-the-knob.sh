#!/bin/sh
# ASSERTION: who may not record is told which knob, capability or profile
# forbids it, in two lines with status 125, and no file is left; what still
# works without BPF is done, with a note.  Easy to get wrong because the
# kernel answers EPERM and EACCES for a dozen reasons.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_root
need_cmd setpriv
tmpdir
cp "$DTPROF" "$B/tests/work/refuse" .
mkdir user
chmod 777 user
cd user || fail "no directory"

refused()	# pattern of what, pattern of cure, command
{
	what=$1 cure=$2
	shift 2
	expect 125 "$@"
	[ "$(wc -l <"$tmp/err")" -eq 2 ] || fail "$*: $(cat "$tmp/err")"
	sed -n 1p "$tmp/err" | grep -Eq "$what" ||
	    fail "what for $*: $(cat "$tmp/err")"
	sed -n 2p "$tmp/err" | grep -Eq "^dtprof: hint: .*$cure" ||
	    fail "cure for $*: $(cat "$tmp/err")"
	[ -z "$(ls -A)" ] || fail "left behind: $(ls -A)"
	ok "$(sed -n 1p "$tmp/err")"
}

paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$paranoid" -gt 0 ] && [ "$paranoid" -le 2 ]; then
	refused 'kernel.perf_event_paranoid' 'sysctl|root' as_user ../dtprof \
	    record -q -a -e cpu-clock --duration 10ms
fi
refused 'CAP_BPF|bpf' 'root' as_user ../dtprof record -q \
    -e sched:sched_switch -- true
if [ -d /sys/kernel/tracing/events ] &&
    ! as_user test -r /sys/kernel/tracing/events; then
	expect 1 as_user ../dtprof list 'sched:*'
	expect_err 'hint: run as root.* groups of tracepoints'
fi
refused 'process 1 ' 'that user|root' as_user ../dtprof record -q \
    -e cpu-clock -p 1 --duration 10ms
refused 'seccomp' 'seccomp profile' ../refuse perf_event_open ../dtprof \
    record -q -e cpu-clock -- true
refused 'seccomp' 'seccomp profile' ../refuse bpf ../dtprof record -q \
    -e sched:sched_switch -- true
expect 0 ../refuse bpf ../dtprof record -e cpu-clock -- true
expect_err 'note: recording without BPF'
expect 0 ../dtprof report --stats
expect_out '^backend +perf'
ok "without BPF the fallback records, and says so"
