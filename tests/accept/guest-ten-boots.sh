#!/bin/sh
# ASSERTION: what check-guest shows holds in ten boots of the guest.
# TIMEOUT: 7200
. "${SRC:=$PWD}/tests/build/lib.sh"
tmpdir
make -C "$SRC" O="$B" accept-guest >out 2>&1 </dev/null
status=$?
grep -E '^(pass|fail|skip) |^	\||passed,' out
why=$(sed -n 's/^skip .*: //p' out | head -n 1)
[ "$status" -eq 0 ] || fail "in the guest"
grep -q '^pass' out || skip "no guest: $why"
grep -q '^skip' out && fail "some were skipped: $why"
ok "in the guest"
