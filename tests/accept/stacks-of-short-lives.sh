#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Of the user stacks of short commands in a shell and of a fork storm
# at least 98 % are whole, of a parallel build 99.3 %, at any rate: as in
# tests/kern, five times as long.  Easy to get wrong: what is finished in user
# space has a limit a second, which a higher rate exceeds.
# TIMEOUT: 900

: "${SRC:=$PWD}"
for rate in 997 3989 9973; do
	echo "$rate Hz:"
	TIMES=5 RATE=$rate sh "$SRC/tests/kern/stacks-of-short-lives.sh" ||
	    exit 1
done
