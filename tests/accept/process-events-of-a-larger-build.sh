#!/bin/sh
# ASSERTION: process-events-of-a-build.sh holds for a build of 400 files.
# TIMEOUT: 1800
export FILES=400
exec sh "${SRC:=$PWD}/tests/kern/process-events-of-a-build.sh"
