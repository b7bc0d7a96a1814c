# SPDX-License-Identifier: ISC
# ASSERTION: Names of functions, threads, modules, events and commands that
# try to be markup or script are shown as text, whole and visible, by the page
# and by the drawing; nothing runs and nothing is fetched.
#
# Easy to get wrong: </script> in the data ends it whatever JSON says, and a
# control character makes a drawing that no XML parser takes.

. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/browser/lib-browser.sh"
tmpdir
need_browser
make_page hostile hostile.html
make_page hostile hostile.svg
[ "$(grep -c '<script' hostile.html)" -eq 2 ] ||
	fail "the data opens a tag"
ok "the data holds no tag"
in_browser flame-hostile.mjs "$tmp/hostile.html" "$tmp/hostile.svg"
