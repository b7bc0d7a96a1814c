#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: no byte that was never set reaches a file, and the writer and the
# reader neither leak nor read what is not theirs: valgrind looks at each
# write.
#
# Easy to get wrong: padding of a struct, the rest of a fixed buffer.
# TIMEOUT: 300
. "${SRC:=$PWD}/tests/lib.sh"

command -v valgrind >/dev/null || skip "no valgrind"
[ -z "${SAN:-}" ] || skip "built with $SAN, which valgrind cannot run"
program=$B/tests/unit/recording-bytes-are-determined
[ -x "$program" ] || skip "$program is not built"

valgrind -q --error-exitcode=9 --leak-check=full --track-fds=no \
    --trace-children=no "$program" >"$B/valgrind.out" 2>&1
status=$?
if [ "$status" -ne 0 ]; then
	sed -n 1,40p "$B/valgrind.out"
	fail "valgrind ended with $status"
fi
grep -q '^==' "$B/valgrind.out" && fail "valgrind: $(cat "$B/valgrind.out")"
rm -f "$B/valgrind.out"
ok "five files written and read under valgrind"
