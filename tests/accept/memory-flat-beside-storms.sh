#!/bin/sh
# ASSERTION: memory-flat-beside-storms.sh holds for ten minutes.
# TIMEOUT: 1200
export SECONDS_LONG=600
exec sh "${SRC:=$PWD}/tests/kern/memory-flat-beside-storms.sh"
