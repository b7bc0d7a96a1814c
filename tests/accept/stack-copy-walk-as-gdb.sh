#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: At 300 stops each of python3, xz and clang, the walk out of a copy
# of the stack finds the frames that gdb finds.
# TIMEOUT: 3600

. "${SRC:=$PWD}/tests/lib.sh"
ACCEPT=1 STOPS=${STOPS:-300} sh "$SRC/tests/interop/stack-copy-walk-as-gdb.sh"
