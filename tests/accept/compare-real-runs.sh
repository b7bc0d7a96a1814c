#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what unit/comparison-keeps-its-word-on-real-runs demands of few
# trials holds of 400 in each of its cells, and of 8,000 over twenty: equals
# are called changed in at most 31 of 400 and 450 of 8,000; what is planted is
# named in 90 of 100; nothing has the wrong sign in 1,000.  And compare and
# flamegraph --base agree on every function and on the whole in 1,000.
# Easy to get wrong: a rate of errors that few trials cannot tell from a good
# one.  Needs no privilege and no quiet machine; SEED draws others.
# TIMEOUT: 3600
. "${SRC:=$PWD}/tests/lib.sh"
: "${TRIALS:=400}" "${SEED:=20261126}"
tmpdir
# Worlds side by side: each has random numbers of its own.
n=13
for world in $(seq 0 $((n - 1))); do
	{
		"$B/tests/unit/comparison-keeps-its-word-on-real-runs" \
		    "$TRIALS" "$SEED" "$world" >"$world"
		echo $? >"$world.status"
	} &
done
wait
for world in $(seq 0 $((n - 1))); do
	cat "$world"
	[ "$(cat "$world.status")" -eq 0 ] || fail "world $world"
done | grep -v -e '^seed' -e 'equals of the first' >said
cat said
! grep FAIL said || fail "see above"
# 450 of 8,000, of equals in the first four worlds.
cat 0 1 2 3 | awk -F'[: ]+' '/^equals of the first four/ {
	called += $6; all += $8 }
	END { print "of the first four worlds: " called " of " all
	exit(!(all > 0 && called <= all * 0.05 + 2.5 * sqrt(all * 0.05))) }' ||
    fail "too many in all"
ok "equals and planted"
TRIALS=$((TRIALS * 5 / 2)) SEED=$SEED \
    sh "$SRC/tests/cli/compare-agrees-with-page.sh" || fail "see above"
