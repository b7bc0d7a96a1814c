# SPDX-License-Identifier: ISC
# ASSERTION: flamegraph writes its file whole or not at all, names what it
# cannot do, and opens what it wrote as the user who asked.
#
# Easy to get wrong: a full disk that leaves half a page where a good one was.

. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
cp "$SRC/doc/demo.dtp" dtprof.dtp

expect 0 "$DTPROF" flamegraph
grep -q 'id="data"' flame.html || fail "flame.html is not there"
ok "dtprof.dtp becomes flame.html"
expect 0 "$DTPROF" flamegraph --title '<b>&"hello' -o t.svg
python3 -c 'import sys, xml.etree.ElementTree as t
print(t.parse("t.svg").getroot()[0].text)' >title || fail "not XML"
[ "$(cat title)" = '<b>&"hello' ] || fail "title: $(cat title)"
ok "the title is the one given"
mkdir directory.html
for bad in '--ratio a/b' '-e none' '--filter )' \
    '-o /none/x.html' '-o directory.html'; do
	# shellcheck disable=SC2086 # words
	expect 1 "$DTPROF" flamegraph $bad
	expect_err '^dtprof: flamegraph: ' "$bad"
	[ "$(wc -l <err)" -ge 2 ] || fail "no cure: $bad"
done
ok "what cannot be done is named, with a cure"
cp flame.html before
(ulimit -f 16; trap '' XFSZ; "$DTPROF" flamegraph 2>err) &&
	fail "a full disk went unnoticed"
cmp flame.html before || fail "half a page"
[ "$(find . -name 'flame.html*' | wc -l)" -eq 1 ] || fail "left-overs"
ok "too large for the disk: the old page stays, nothing else"
"$DTPROF" flamegraph -o /dev/stdout >out.html || fail "/dev/stdout"
cmp out.html before || fail "another page on /dev/stdout"
ok "to standard output"
mkdir bin
cat >bin/xdg-open <<'END'
#!/bin/sh
printf '%s %s\n' "$(id -u)" "$1" >"$(dirname "$0")/opened"
END
chmod 755 bin/xdg-open
chmod 777 bin .
PATH=$PWD/bin:$PATH expect 0 "$DTPROF" flamegraph --open -o ./-x.html
[ "$(cat bin/opened)" = "$(id -u) $PWD/-x.html" ] ||
	fail "opened: $(cat bin/opened)"
ok "--open shows it"
if [ "$(id -u)" -eq 0 ]; then
	rm -f bin/opened
	SUDO_UID=65534 SUDO_GID=65534 PATH=$PWD/bin:$PATH \
	    expect 0 "$DTPROF" flamegraph --open
	[ "$(cut -d ' ' -f 1 bin/opened)" = 65534 ] || fail "as root"
	[ "$(stat -c %u flame.html)" = 65534 ] || fail "root's file"
	ok "under sudo: file and browser are the caller's"
fi
