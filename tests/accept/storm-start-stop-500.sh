#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: 500 sessions are started and stopped under load, under the
# address and undefined-behaviour sanitizers, without a finding.
# TIMEOUT: 3600
#
# Easy to get wrong: see tests/unit/session-start-stop-loop.c.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

"${MAKE:-make}" -C "$SRC" O="$tmp/b" SAN=address,undefined \
    "$tmp/b/tests/unit/session-start-stop-loop" \
    "$tmp/b/tests/unit/session-arm-all-or-nothing" >make.out 2>&1 ||
    fail "$(tail -n 5 make.out)"
LOOPS=500 "$tmp/b/tests/unit/session-start-stop-loop" >out 2>&1 ||
    fail "$(tail -n 30 out)"
cat out
"$tmp/b/tests/unit/session-arm-all-or-nothing" >out 2>&1 ||
    fail "$(tail -n 30 out)"
cat out
