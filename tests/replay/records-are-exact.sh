#!/bin/sh
# ASSERTION: records hold what they should, byte for byte, and nothing of
# what was in the ring before: parts, arguments, text, stacks, lives; late
# timers are counted; one wakeup.
# Easy to get wrong: unset bytes of a slot of text look right on a new ring.
. "${SRC:=$PWD}/tests/replay/lib.sh"
tmpdir
build_sanitized records
./records || fail "records"
ok "records are exact"
