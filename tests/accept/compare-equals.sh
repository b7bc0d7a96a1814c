#!/bin/sh
# ASSERTION: of 400 comparisons of equals, ten runs a side drawn from a pool
# of real recordings of 3000 samples and more, at most 31 call anything
# changed, and --fail-on slower:2 fails in at most 5: on a quiet machine,
# beside two memory hogs, and with a drift of 10 %.  In sequential order the
# same drifting data fail.
# TIMEOUT: 7200
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/accept/lib-compare.sh"
need_perf
tmpdir
: "${TRIALS:=400}"
build_pool_reader
check()		# directory drift
{
	resample "$1" "$TRIALS" -1 "$2" 0
	[ "$called" -le "$(at_most "$TRIALS" 50)" ] ||
	    fail "$called of $TRIALS false alarms"
	[ "$failed" -le "$(at_most "$TRIALS" 5)" ] ||
	    fail "slower:2 fails in $failed of $TRIALS"
	[ "$samples" -ge "$MIN_SAMPLES" ] ||
	    fail "$samples samples in a run are too few"
}
make_pool quiet 12 0
check quiet 0
check quiet 10
ok "quiet, and drifting by 10 %"
resample quiet "$TRIALS" -1 10 1
[ "$called" -ge $((TRIALS / 2)) ] ||
    fail "sequential order is not fooled: $called"
ok "in sequential order the same data fail"
for seed in 1 2; do
	"$B/tests/work/hog" $seed &
	kill_at_end $!
done
make_pool hogs 12 0
check hogs 0
check hogs 10
ok "beside two hogs"
