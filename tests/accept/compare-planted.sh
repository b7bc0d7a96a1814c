#!/bin/sh
# ASSERTION: a program of 40 functions whose total grows by 2 % through one
# of them: named in at least 90 of 100 comparisons of 10 + 10 runs, another
# one in at most 10; by 5 %: named in at least 99.  A speed-up that a
# slow-down balances: both named, the total the same.
# TIMEOUT: 7200
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/accept/lib-compare.sh"
need_perf
tmpdir
build_pool_reader
make_pool two 15 20
resample two 100 25
[ "$named" -ge 90 ] && [ "$others" -le 10 ] || fail "2 %"
[ "$samples" -ge 3000 ] || fail "$samples samples in a run are too few"
ok "2 %"
make_pool five 20 50
resample five 100 30
[ "$named" -ge 99 ] || fail "5 %"
ok "5 %"
make_pool both 4 -30 15 30
resample both 100 14
[ "$named" -ge 90 ] || fail "the faster one"
resample both 100 25
[ "$named" -ge 90 ] || fail "the slower one"
"$DTPROF" compare --json both >out || fail compare
[ "$(json out 'j["comparisons"][0]["total"]["verdict"]')" = same ] ||
    fail "the total: $(json out 'j["comparisons"][0]["total"]')"
ok "balanced: both named, the total the same"
