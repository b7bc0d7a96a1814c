#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: programs load, stacks are whole and nothing is lost unnamed on
# Linux 6.1 and 6.12, on x86-64 and arm64, and on the newest 7 on x86-64, also
# where that preempts programs.
# TIMEOUT: 7200
. "${SRC:=$PWD}/tests/build/lib.sh"
tmpdir
make -C "$SRC" O="$B" check-kernels >out 2>&1 </dev/null
status=$?
grep -E '^(pass|fail|skip) |^	\||^a.*:$|passed,' out
why=$(sed -n 's/^skip .*: //p' out | head -n 1)
[ "$status" -eq 0 ] || fail "on one of the kernels"
grep -q '^skip' out && skip "not all kernels: $why"
[ "$(grep -c '^4 passed, 0 failed, 0 skipped' out)" -eq 5 ] ||
    fail "not four tests on each of five kernels"
grep -q '^1 passed, 0 failed, 0 skipped' out || fail "not one of preemption"
ok "on five kernels"
