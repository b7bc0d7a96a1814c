#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: At 300 random stops of python3 and of clang the stack is, frame by
# frame, the one that gdb finds: walked in the kernel, and walked in user
# space from a copy of the stack.
# TIMEOUT: 1800

for walk in auto dwarf,63K; do
	echo "== $walk"
	STOPS=${STOPS:-300} WALK=$walk \
	    sh "${SRC:=$PWD}/tests/interop/unwind-equals-gdb.sh" || exit
done
