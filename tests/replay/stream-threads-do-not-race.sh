#!/bin/sh
# ASSERTION: threads that write to one stream and one that reads it have no
# data race under the thread sanitizer, and lose nothing uncounted.
# Easy to get wrong on machines that reorder; so the same program with weak
# atomics, and with a writer that publishes too early, must be found out.
. "${SRC:=$PWD}/tests/replay/lib.sh"
tmpdir
build threads -fsanitize=thread
for counts in '3 30000' '8 10000'; do
	# shellcheck disable=SC2086 # two arguments
	./threads $counts >out 2>&1 || { tail -n 40 out; fail "$counts"; }
	ok "$counts: $(head -n 1 out)"
done
./threads 4 30000 4 >out 2>&1 && fail "publishing too early was not found"
ok "publishing too early: found"
build threads -fsanitize=thread -DHOST_ORDER=__ATOMIC_RELAXED
./threads 4 30000 >out 2>&1 && fail "weak atomics were not found"
grep -q 'data race' out || fail "weak atomics: not by the sanitizer"
ok "weak atomics: found"
