# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# What the full-size tests of compare share: pools of real runs.  Smaller, to
# see that all of it works: POOL_RUNS of each command (10 or more), of
# POOL_ROUNDS rounds and MIN_SAMPLES samples or more, TRIALS comparisons.

: "${CC:=cc}" "${POOL_RUNS:=40}" "${POOL_ROUNDS:=17000}" "${MIN_SAMPLES:=3000}"

# So many of the trials may err at a rate of per in a thousand: 31 of 400 at
# 50, 5 of 400 at 5.
at_most()	# trials per
{
	awk -v n="$1" -v per="$2" 'BEGIN {
		mean = n * per / 1000
		print int(mean + 2.5 * sqrt(mean)) }'
}

build_pool_reader()
{
	compile -I"$SRC/libprof" -o compare_pool \
	    "$SRC/tests/bench/compare_pool.c" "$B/libprof.a" \
	    -Wl,--as-needed -lbpf -ldw -lelf -lz -llzma -liberty -lpfm \
	    -lzstd -lxxhash "-lunwind-$(uname -m)" -lunwind -lm \
	    -pthread 2>cc.log || { cat cc.log; fail "the reader"; }
}

# Runs of the base, and of what was planted, interleaved.
make_pool()	# directory function permille ...
{
	pool=$1
	shift
	"$DTPROF" bench --record -w 1 -r "$POOL_RUNS" -n base -n new \
	    -o "$pool" "$B/tests/work/forty $POOL_ROUNDS" \
	    "$B/tests/work/forty $POOL_ROUNDS $*" >"$pool.out" 2>&1 ||
	    { tail -n 3 "$pool.out"; fail "bench"; }
}

# trials called named others samples failed
resample()	# directory trials function [drift sequential]
{
	./compare_pool "$@" >drawn || { cat drawn; fail "resampling"; }
	read -r trials called named others samples failed <drawn
	echo "$*: of $trials, $called with anything called changed, the" \
	    "planted named in $named, another in $others;" \
	    "$samples samples or more a run; --fail-on slower:2 fails in" \
	    "$failed"
}
