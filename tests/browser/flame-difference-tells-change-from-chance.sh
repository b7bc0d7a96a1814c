# SPDX-License-Identifier: ISC
# ASSERTION: A differential graph has none of the known faults of such graphs:
# callers without the color of what they call, paths that are gone without a
# place, noise in color, rates, lengths and totals taken for changes, one run
# a side taken for a finding.
#
# Easy to get wrong: a color by own weight alone, the union of two trees of
# which one decides the widths, counts of samples at two rates, a tree made
# from the tested one (reversed, filtered) that keeps chances which are no
# longer its own.

. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/browser/lib-browser.sh"
tmpdir
need_browser
set --
for fixture in parents vanished noise one rates planted totals; do
	"$B/tests/browser/make_difference" "$fixture" "$fixture.html" ||
		fail "make_difference $fixture"
	set -- "$@" "$tmp/$fixture.html"
done
in_browser flame-difference.mjs "$@"
