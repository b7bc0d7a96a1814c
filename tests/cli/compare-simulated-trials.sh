#!/bin/sh
# ASSERTION: in many simulated comparisons of 10 + 10 runs with 40 functions
# equals are called changed in no more than 5 of 100 and what chance adds (31
# of 400), also when drifting; in sequential order they are fooled; 2 % and
# 5 % that one function costs are its, in 90 and in 99 of 100, and another's
# in at most 10; of a balance both sides are named, and the total the same.
# Easy to get wrong: what holds in the few trials of the unit test by luck.
# TRIALS=400 is the full size (accept/compare-simulated).
# TIMEOUT: 3600
. "${SRC:=$PWD}/tests/lib.sh"
"$B/tests/unit/comparison-finds-what-was-planted" "${TRIALS:-40}" \
    "${SEED:-20261122}" || fail "see above"
ok "as planted"
