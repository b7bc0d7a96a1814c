#!/bin/sh
# ASSERTION: every target that make help lists exists, and every target that
# people are meant to call is listed.
. "${SRC:=$PWD}/tests/build/lib.sh"
tmpdir
targets=$(make -C "$SRC" -s help | sed -n 's/^  \([a-z-]*\): .*/\1/p')
[ "$(echo "$targets" | wc -l)" -ge 10 ] || fail "make help lists too few"
for target in $targets; do
	make -C "$SRC" -n O="$tmp/b" "$target" >/dev/null 2>&1 ||
	    fail "make $target"
done
ok "$(echo "$targets" | wc -l) targets"
for target in all demo check check-sanitized check-guest accept lint fuzz \
    install uninstall dist clean help; do
	echo "$targets" | grep -qx "$target" || fail "$target is not listed"
done
ok "the promised ones are among them"
