#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the page of 1,000 threads that switch 2 million times in a minute
# has a timeline and at most 10 MB.  The totals of a range are the report's of
# this range, to the nanosecond, though the page rounds times; each wait is
# drawn less than the unit of time away from where it was.
# Easy to get wrong: sums of rounded times; a sample on the wrong side of the
# begin of a range; a unit that the page does not name.
# Negative control: without the rests of the rounding the totals differ.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/browser/lib-browser.sh"
tmpdir
need_browser
"$B/tests/browser/make_waits" 1000 60 "${WAITS:-2000000}" waits.dtp waits.txt ||
    fail make_waits
expect 0 "$DTPROF" flamegraph -o waits.html waits.dtp
export DTPROF
in_browser ../accept/timeline_of_many.mjs "$tmp/waits.html" "$tmp/waits.dtp" \
    "$tmp/waits.txt"
