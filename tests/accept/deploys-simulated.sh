#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what unit/deploys-are-told demands of few trials holds of 200: at
# most 18 false alarms a world, what is planted named in 180.
# Easy to get wrong: a rate of errors that few trials cannot tell from a good
# one.  TRIALS=40 in a fifth; SEED=2 for others.
# TIMEOUT: 3600
. "${SRC:=$PWD}/tests/lib.sh"
"$B/tests/unit/deploys-are-told" "${TRIALS:-200}" "${SEED:-20261126}" ||
    fail "see above"
ok "as planted"
