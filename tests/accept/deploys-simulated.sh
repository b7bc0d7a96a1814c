#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what unit/deploys-are-told demands of few trials holds of 200: at
# most 17 false alarms a world, what is planted named in 180.
# Easy to get wrong: a rate of errors that few trials cannot tell from a good
# one.  TRIALS=40 in a fifth; SEED=2 for others.
# TIMEOUT: 3600
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
"$B/tests/unit/deploys-are-told" worlds >worlds
tr '\n' '\0' <worlds | xargs -0 -P "$(nproc)" -I '{}' \
    "$B/tests/unit/deploys-are-told" "${TRIALS:-200}" "${SEED:-20261126}" \
    '{}' >out || failed=yes
sed '/^ok$/d; s/^/	/' out
[ -z "$failed" ] || fail "see above"
[ "$(grep -c '^ok$' out)" = "$(wc -l <worlds)" ] || fail "a world is missing"
ok "$(wc -l <worlds) worlds, as planted"
