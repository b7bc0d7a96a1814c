#!/bin/sh
# SPDX-License-Identifier: ISC
#
# fuzz.sh dir seconds name ...: run each fuzzer for so long.  Called by make
# fuzz.  Starts from the corpus below tests/fuzz/corpus, which is only read;
# new inputs go to dir/new/NAME, and one that breaks something to
# dir/found/NAME-*.  One line for each fuzzer; status 1 when one broke.

dir=$1
seconds=$2
shift 2
[ $# -gt 0 ] || {
	echo 'fuzz: there is no fuzzer in tests/fuzz' >&2
	exit 1
}

# One line, or what it found.
one()		# name
{
	corpus=tests/fuzz/corpus/$1
	mkdir -p "$dir/new/$1"
	[ -d "$corpus" ] || {
		echo "fuzz: $1 has no corpus in $corpus" >&2
		return 1
	}
	"$dir/$1" -max_total_time="$seconds" -rss_limit_mb=2048 \
	    -timeout=10 -print_final_stats=1 \
	    -artifact_prefix="$dir/found/$1-" \
	    "$dir/new/$1" "$corpus" >"$dir/$1.log" 2>&1 </dev/null || {
		echo "fuzz: $1: BROKE"
		tail -n 40 "$dir/$1.log"
		return 1
	}
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/$1.log")
	echo "fuzz: $1: no finding in $seconds s, $runs runs"
	[ "${runs:-0}" -gt 0 ]
}

# As many at once as there are processors.
collect()	# pid ...
{
	for pid; do
		wait "$pid" || broken=1
	done
}

mkdir -p "$dir/found" || exit 1
broken=0
pids=
running=0
for name; do
	one "$name" &
	pids="$pids $!"
	running=$((running + 1))
	[ $((running % $(nproc))) -eq 0 ] || continue
	# shellcheck disable=SC2086 # a list of numbers
	collect $pids
	pids=
done
# shellcheck disable=SC2086
collect $pids
exit "$broken"
