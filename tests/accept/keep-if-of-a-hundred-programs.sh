#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the spans that record --keep-if keeps of a hundred random programs
# have exactly the tokens that full sessions select by the same filter, and the
# samples of the timer balance, none of them outside a selected span.
#
# Easy to get wrong: see kern/keep-if-commits-what-a-filter-selects, which does
# the same with five programs, a session.
#
# Usage: keep-if-of-a-hundred-programs.sh [SESSIONS [SEED]]

. "${SRC:=$PWD}/tests/lib.sh"
need_root
sh "$SRC/tests/kern/keep-if-commits-what-a-filter-selects.sh" "${1:-20}" \
    ${2:+"$2"} >"${TMPDIR:-/tmp}/keep-if.$$" 2>&1
status=$?
cat "${TMPDIR:-/tmp}/keep-if.$$"
compared=$(grep -c 'tokens, .* samples of the timer' \
    "${TMPDIR:-/tmp}/keep-if.$$")
rm -f "${TMPDIR:-/tmp}/keep-if.$$"
[ $status -eq 0 ] || exit $status
ok "$((compared * 5)) programs compared"
