#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: aggregation in the kernel is aggregation of the raw stream: the
# same random firings through the same program, as records and as groups, give
# the same counts, sums, least and most values and histograms, to the unit; a
# full table and an interrupt at any step lose nothing unseen.  Easy to get
# wrong: the sign of values, a bucket's edge, a slot that two claim at once.
. "${SRC:=$PWD}/tests/replay/lib.sh"
tmpdir

build_sanitized groups
for seed in 1 2 $$; do
	./groups $seed >out 2>&1 || { cat out; fail "seed $seed"; }
	ok "$(cat out)"
done
