#!/bin/sh
# ASSERTION: conserve-overloaded.sh holds with ten times
# the calls, the reader stopped for seconds ten times over.
# TIMEOUT: 1800
export STORM=50000 STOPS=10
exec sh "${SRC:=$PWD}/tests/kern/conserve-overloaded.sh"
