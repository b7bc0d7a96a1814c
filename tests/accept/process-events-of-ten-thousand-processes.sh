#!/bin/sh
# ASSERTION: process-events-of-short-processes.sh holds for 10,000 processes.
# TIMEOUT: 3600
export PROCESSES=10000 WARM=1000
exec sh "${SRC:=$PWD}/tests/kern/process-events-of-short-processes.sh"
