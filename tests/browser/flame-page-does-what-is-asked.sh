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
in_browser flame-page.mjs "$tmp/known.html" "$tmp/ratio.html" \
    "$tmp/empty.html" "$tmp/many.html" "$tmp/lines.html"
