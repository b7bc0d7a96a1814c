#!/bin/sh
# ASSERTION: stalled-recorder-is-counted.sh holds for recorders that are
# stopped for 60 s.
# TIMEOUT: 600
export STOP_S=60
exec sh "${SRC:=$PWD}/tests/kern/stalled-recorder-is-counted.sh"
