#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Measures the flame graph page in Chromium: minimum, median and maximum of
# BENCH_ROUNDS (5).  Called by run.sh; doc/PERFORMANCE.md holds figures.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/browser/lib-browser.sh"
tmpdir
need_browser
for n in 100000 500000; do
	make_page "$n" "frames-$n.html"
done
chromium --version 2>/dev/null
node "$SRC/tests/bench/page.mjs" "${BENCH_ROUNDS:-5}" \
    "$tmp/frames-100000.html" "$tmp/frames-500000.html"
