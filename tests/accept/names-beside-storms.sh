#!/bin/sh
# ASSERTION: names-beside-storms.sh holds for 20 recordings.
# TIMEOUT: 900
export RUNS=20
exec sh "${SRC:=$PWD}/tests/kern/names-beside-storms.sh"
