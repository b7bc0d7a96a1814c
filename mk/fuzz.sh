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

broken=0
mkdir -p "$dir/found"
for name; do
	corpus=tests/fuzz/corpus/$name
	mkdir -p "$dir/new/$name"
	[ -d "$corpus" ] || {
		echo "fuzz: $name has no corpus in $corpus" >&2
		exit 1
	}
	if "$dir/$name" -max_total_time="$seconds" -rss_limit_mb=2048 \
	    -timeout=10 -print_final_stats=1 \
	    -artifact_prefix="$dir/found/$name-" \
	    "$dir/new/$name" "$corpus" >"$dir/$name.log" 2>&1 </dev/null
	then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' \
		    "$dir/$name.log")
		echo "fuzz: $name: no finding in $seconds s, $runs runs"
		[ "${runs:-0}" -gt 0 ] || broken=1
	else
		broken=1
		echo "fuzz: $name: BROKE"
		tail -n 40 "$dir/$name.log"
	fi
done
exit "$broken"
