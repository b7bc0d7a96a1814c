#!/bin/sh
# ASSERTION: lives-of-a-build.sh holds for a build of 400 files.
# TIMEOUT: 1800
export FILES=400
exec sh "${SRC:=$PWD}/tests/kern/lives-of-a-build.sh"
