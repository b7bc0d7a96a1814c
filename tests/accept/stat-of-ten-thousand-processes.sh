#!/bin/sh
# ASSERTION: stat-of-short-processes.sh holds for 10,000 processes.
# TIMEOUT: 1800
export PROCESSES=10000
exec sh "${SRC:=$PWD}/tests/kern/stat-of-short-processes.sh"
