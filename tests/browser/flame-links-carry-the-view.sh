# SPDX-License-Identifier: ISC
# ASSERTION: The address of a page holds all of its view: whatever is chosen,
# searched, filtered, folded, enlarged or turned round by clicks and keys is
# there, to the last box and its color, in another window with that address.
# Where threads run and wait, frames have the color of their state.
# Easy to get wrong: a part of the state that nobody put into the address.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/browser/lib-browser.sh"
tmpdir
need_browser
make_page known known.html
make_page states states.html
in_browser flame-links.mjs "$tmp/known.html" "$tmp/states.html"
