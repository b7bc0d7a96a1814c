#!/bin/sh
# SPDX-License-Identifier: ISC
#
# ASSERTION: A recording at a known rate of up to 1000 samples a second has
# buffers of 8 MiB, one at a higher rate, of a tracepoint or with copies of all
# stacks 16 MiB, and --buffer has the last word.
#
# Easy to get wrong: two events whose rates add up; a counter with a fixed
# period, whose rate nobody knows.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
tmpdir

buffer()	# bytes that are expected, then options of record
{
	want=$1
	shift
	"$DTPROF" record -q -o x.dtp "$@" true 2>err || fail "$(cat err)"
	"$DTPROF" report --stats --json x.dtp >json || fail "report"
	grep -q "\"buffer_bytes\":\"$want\"" json ||
	    fail "$*: not $want: $(grep -o '"buffer_bytes":"[0-9]*"' json)"
}
[ "$(nproc --all)" -le 32 ] || skip "so many CPUs have smaller buffers"
buffer 8388608 -e cpu-clock -F 997
buffer 8388608 -e cpu-clock -F 99 -e task-clock -F 99
ok "8 MiB at known, low rates"
buffer 16777216 -e cpu-clock -F 4999
buffer 16777216 -e cpu-clock -e task-clock -F 1500
buffer 16777216 -e sched:sched_switch
buffer 16777216 -e page-faults -c 100
buffer 16777216 -e cpu-clock -F 997 --call-graph dwarf
ok "16 MiB at higher and unknown ones, and with copies of all stacks"
buffer 1048576 -e cpu-clock -F 997 --buffer 1M
ok "--buffer decides"
