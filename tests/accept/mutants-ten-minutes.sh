#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: 20,000 mutants of each format and ten minutes of CPU time find
# nothing, by a seed that is drawn (MUTANTS_SEED=N: by that one).
# TIMEOUT: 10800
MUTANTS_SEED=${MUTANTS_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
MUTANTS_COUNT=${MUTANTS_COUNT:-20000}
MUTANTS_SECONDS=${MUTANTS_SECONDS:-600}
MUTANTS_NICE=19
export MUTANTS_SEED MUTANTS_COUNT MUTANTS_SECONDS MUTANTS_NICE
exec sh "${SRC:=$PWD}/tests/build/mutants-few-seconds.sh"
