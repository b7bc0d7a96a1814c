#!/bin/sh
# ASSERTION: what cli/compare-simulated-trials and
# cli/compare-equals-seldom-fail demand of few trials holds of 400: at most 31
# false alarms, at most 5 failures of --fail-on slower:2.
# Easy to get wrong: a rate of errors that few trials cannot tell from a good
# one.  Needs no privilege and no quiet machine; TRIALS=40 in a tenth.
# TIMEOUT: 7200
. "${SRC:=$PWD}/tests/lib.sh"
export TRIALS="${TRIALS:-400}"
for test in compare-simulated-trials compare-equals-seldom-fail; do
	sh "$SRC/tests/cli/$test.sh" || fail "$test"
done
