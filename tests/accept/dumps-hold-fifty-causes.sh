#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: dumps-hold-their-cause.sh holds for 50 incidents of each kind.
# TIMEOUT: 1200
export ROUNDS=50
exec sh "${SRC:=$PWD}/tests/kern/dumps-hold-their-cause.sh"
