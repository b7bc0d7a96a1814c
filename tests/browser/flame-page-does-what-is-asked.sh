# SPDX-License-Identifier: ISC
# ASSERTION: On a page whose profile is known, everything it promises works
# when clicked or typed: zoom, exact matched shares, callers and callees,
# links, Back, keys, table, dark, times, several events.
#
# Easy to get wrong: a share that counts a stack twice where matches nest, a
# state that the link does not carry, a canvas that nobody can read aloud.

. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/browser/lib-browser.sh"
tmpdir
need_browser
make_page known known.html
make_page empty empty.html
make_page 20000 many.html
make_page lines lines.html
RATIO=1 make_page known ratio.html
# As page_latency.c writes it, which cli/report-latency-is-the-calls checks.
sed 's/^"columns":/"latency":[{"name":"syscall:read","count":13,"lost":2,\
"begin_ns":0,"cell_ns":2000000000,"columns":5,\
"rows_ns":[1000000,2000000,4000000,8000000],\
"cells":[0,0,5,3,2,7,4,1,1]}],\
&/' "$tmp/known.html" >"$tmp/calls.html"
grep -q '"latency"' "$tmp/calls.html" || fail "no place for latency"
in_browser flame-page.mjs "$tmp/known.html" "$tmp/ratio.html" \
    "$tmp/empty.html" "$tmp/many.html" "$tmp/lines.html" "$tmp/calls.html"
