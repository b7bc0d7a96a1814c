#!/bin/sh
# ASSERTION: each reason for not storing (full, nested, filtered, error), for
# being nobody's (outside) and for a missing stack (busy) is counted exactly
# once when it is provoked, and what was stored before is unharmed.  A program
# that may be preempted walks stacks outside of the stream.
# Easy to get wrong on the ways out that a test on a kernel never takes.
. "${SRC:=$PWD}/tests/replay/lib.sh"
tmpdir
build_sanitized refusals
./refusals || fail "refusals"
ok "every reason was provoked"
