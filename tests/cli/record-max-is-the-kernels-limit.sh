#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: -F max asks for the rate that is the kernel's limit, on both paths,
# and one more is refused.
#
# Easy to get wrong: the kernel lowers its limit while it runs.

. "${SRC:=$PWD}/tests/lib.sh"
need_perf
tmpdir
limit=/proc/sys/kernel/perf_event_max_sample_rate

for path in auto perf; do
	before=$(cat $limit)
	expect 0 "$DTPROF" record -q --backend $path -F max \
	    -e page-faults:u -- true
	after=$(cat $limit)
	expect 0 "$DTPROF" report --json dtprof.dtp
	rate=$(json out '[e["frequency_hz"] for e in j["events"]
	    if e["name"].startswith("page-faults")][0]')
	[ "$rate" -le "$before" ] && [ "$rate" -ge "$after" ] ||
	    fail "$rate Hz, where the kernel allowed $before, and then $after"
	ok "$path: $rate Hz, of $before"
done
expect 125 "$DTPROF" record -q -F $((after + 1)) -e page-faults:u -- true
expect_err "Hz.*perf_event_max_sample_rate"
ok "one more is refused"
