#!/bin/sh
# ASSERTION: no parser of foreign bytes breaks in ten minutes of fuzzing.
# TIMEOUT: 10800
FUZZ_SECONDS=${FUZZ_SECONDS:-600}
export FUZZ_SECONDS
exec sh "${SRC:=$PWD}/tests/sanitized/fuzzers-few-seconds.sh"
