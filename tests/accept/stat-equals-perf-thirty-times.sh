#!/bin/sh
# ASSERTION: stat-equals-perf.sh holds for 30 pairs.
# TIMEOUT: 1800
export PAIRS=30
exec sh "${SRC:=$PWD}/tests/interop/stat-equals-perf.sh"
