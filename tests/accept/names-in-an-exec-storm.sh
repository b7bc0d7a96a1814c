#!/bin/sh
# ASSERTION: names-in-an-exec-storm.sh holds for 30,000 execs, as many a second
# as two workers make, which says the test.
# TIMEOUT: 1800
export EXECS=30000 WORKERS=2
exec sh "${SRC:=$PWD}/tests/kern/names-in-an-exec-storm.sh"
