#!/bin/sh
# ASSERTION: full-keeps-the-oldest.sh holds for a million calls.
# TIMEOUT: 1800
export CALLS=1000000
exec sh "${SRC:=$PWD}/tests/loss/full-keeps-the-oldest.sh"
