#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what record --keep-if keeps of a hundred random programs has
# exactly the tokens that full sessions select by the same filter, and samples
# of the timer balance, none of them outside a selected span.
#
# TIMEOUT: 1800
# Easy to get wrong: see kern/keep-if-commits-what-a-filter-selects, which does
# the same with a session of five programs.
#
# Usage: keep-if-of-a-hundred-programs.sh [SESSIONS [SEED]]

exec sh "${SRC:=$PWD}/tests/kern/keep-if-commits-what-a-filter-selects.sh" \
    "${1:-20}" ${2:+"$2"}
