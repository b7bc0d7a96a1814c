#!/bin/sh
# ASSERTION: a program of 40 functions whose total grows by 2 % through one
# of them: named in at least 90 of 100 comparisons of 10 + 10 runs, another
# one in at most 10; by 5 %: named in at least 99.  A speed-up that a
# slow-down balances: both named, the total the same.
# TIMEOUT: 14400
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/accept/lib-compare.sh"
need_perf
tmpdir
: "${TRIALS:=100}"
build_pool_reader
make_pool two 15 20
resample two "$TRIALS" 25
[ $((100 * named)) -ge $((90 * TRIALS)) ] || fail "2 %: named in $named"
[ $((100 * others)) -le $((10 * TRIALS)) ] || fail "2 %: others in $others"
[ "$samples" -ge "$MIN_SAMPLES" ] ||
    fail "$samples samples in a run are too few"
ok "2 %"
make_pool five 20 50
resample five "$TRIALS" 30
[ $((100 * named)) -ge $((99 * TRIALS)) ] || fail "5 %"
ok "5 %"
make_pool both 4 -30 15 30
resample both "$TRIALS" 14 0 0 -1
[ $((100 * named)) -ge $((90 * TRIALS)) ] || fail "the faster one"
resample both "$TRIALS" 25
[ $((100 * named)) -ge $((90 * TRIALS)) ] || fail "the slower one"
# Where the runs do not tell, so many as compare says are made.
total()		# member
{
	"$DTPROF" compare --json both >out || fail compare
	json out "j['comparisons'][0]['total']['$1']"
}
if [ "$(total verdict)" = inconclusive ]; then
	needed=$(total runs_needed)
	echo "the total is inconclusive, $needed runs would tell"
	[ "$needed" -le $((5 * POOL_RUNS)) ] || fail "that is too many"
	"$DTPROF" bench -r $((needed + needed / 4)) -o both >both.out 2>&1 ||
	    { tail -n 3 both.out; fail "bench goes on"; }
fi
[ "$(total verdict)" = "no change" ] ||
    fail "the total: $(json out 'j["comparisons"][0]["total"]')"
ok "balanced: both named, the total the same"
