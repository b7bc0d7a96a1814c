#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the flame graph, with its timeline and table, a differential one
# and the page of a comparison fit windows of 1600, 1024 and 390 pixels, light
# and dark: nothing to scroll aside, no text cut, the hot frame in sight as the
# page opens, and nothing serious that axe-core knows of.
# In the timeline of threads all that it offers works at each of these sizes,
# and the totals of a range are the report's of this range, to the nanosecond;
# waits begin and end when the threads waited, and are drawn there.
# Easy to get wrong: names without a place to break, in a table and in a
# picture, that push all else out of a narrow window; a picture without a name.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/browser/lib-browser.sh"
need_cmd python3
tmpdir
need_browser
make_page known known.html
"$B/tests/browser/make_difference" planted planted.html ||
    fail "make_difference"
cat >make.py <<'END2'
import json
noise = [1 + k * 7 % 12 / 500 for k in range(12)]
json.dump({"results": [{"command": c, "times": [m * n for n in noise]}
    for c, m in (("./old --with=/a/path/" + "of_one_word" * 9, 0.1),
                 ("./new" + " and many words" * 9, 0.11))]},
    open("r.json", "w"))
names = ["std::map<unsigned long, std::allocator<char>>::find" * 3,
         "short", "one_word_that_has_no_place_to_break" * 3, "W" * 60,
         "\u6f22\u5b57" * 30, "\u00e9\u00f1" * 40]
for side in "ab":
    for run in range(8):
        with open("%s%d" % (side, run), "w") as f:
            for k, name in enumerate(names):
                w = 100 + 10 * k + (200 if side == "b" and k == 1 else 0)
                f.write("main;%s %d\n" % (name, w + (run + k) % 5))
END2
python3 make.py || fail make.py
expect 0 "$DTPROF" compare -o metrics.html r.json
expect 0 "$DTPROF" compare -o functions.html a? -- b?
"$B/tests/browser/make_waits" 250 2 6000 waits.dtp waits.txt ||
    fail make_waits
expect 0 "$DTPROF" flamegraph -o waits.html waits.dtp
expect 0 "$DTPROF" report --json --from 700000001ns --to 1300000003ns waits.dtp
cp "$tmp/out" range.json || fail "no report"
in_browser pages-fit-each-screen.mjs "$tmp/known.html" "$tmp/planted.html" \
    "$tmp/metrics.html" "$tmp/functions.html" \
    "$tmp/waits.html" "$tmp/range.json" "$tmp/waits.txt"
