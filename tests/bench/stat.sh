#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Measures what counting costs: how long dtprof stat and perf stat take for a
# command that does nothing, and by how much a command that works becomes
# slower under them, with the same events.
#
# BENCH_ROUNDS (5) says how often; BENCH_PERF=0 leaves perf out.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/bench/lib-bench.sh"
need_perf
need_cmd awk
tmpdir
rounds=${BENCH_ROUNDS:-5}
data=$tmp/data
: >"$data"
for name in under paths; do
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -I"$SRC/libprof" \
	    -o "$tmp/$name" "$SRC/tests/bench/$name.c" ||
	    fail "cannot build $name"
done
# shellcheck disable=SC2034 # lib-bench.sh; run.sh has raised us already
faster=
cpu=$(($(nproc) - 1))
has_perf=
[ "${BENCH_PERF:-1}" = 0 ] || ! command -v perf >/dev/null || has_perf=1
events='-e task-clock,page-faults,context-switches,cpu-migrations'

ten()		# name command ...
{
	name=$1
	shift
	n=0 begun=$(date +%s%N)
	while [ $n -lt 10 ]; do
		"$@" >/dev/null 2>&1 || fail "$*"
		n=$((n + 1))
	done
	keep "$name" "$(calc "($(date +%s%N) - $begun) / 1e7")"
}

added()		# name command ...: to 300,000 system calls
{
	name=$1
	shift
	go -- "$@" "$tmp/paths" -r "$tmp/w" -c "$cpu" -n 300000 flat
	keep "$name" "$(calc "($w_cpu / $base_cpu - 1) * 100")"
}

# shellcheck disable=SC2086 # a list of events
one_round()
{
	ten alone /bin/true
	ten dtprof "$DTPROF" stat -q $events -o "$tmp/out" -- true
	[ -z "$has_perf" ] || ten perf perf stat $events -o "$tmp/out" -- true
	alone -c "$cpu" -n 300000 flat
	added added.dtprof "$DTPROF" stat -q $events -o "$tmp/out" --
	[ -z "$has_perf" ] ||
	    added added.perf perf stat $events -o "$tmp/out" --
}

round=0
while [ $((round += 1)) -le "$rounds" ]; do
	one_round
done
show alone "true, without a counter" ms
show dtprof "dtprof stat -- true" ms
show perf "perf stat -- true" ms
show_ratio dtprof perf "dtprof against perf, of the same round"
show added.dtprof "added to 300,000 calls by dtprof stat" "% of CPU time"
show added.perf "added to 300,000 calls by perf stat" "% of CPU time"
