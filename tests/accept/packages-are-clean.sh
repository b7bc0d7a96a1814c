#!/bin/sh
# ASSERTION: make deb makes four packages that lintian finds nothing wrong
# with, the same bytes from the same commit in another directory.  Easy to get
# wrong with a path or a clock in them.
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd dh lintian fakeroot git
git -C "$SRC" rev-parse HEAD >/dev/null 2>&1 || skip "no repository here"
tmpdir
chmod 711 .
for n in 1 2; do
	make -C "$SRC" O="$tmp/o$n" deb >log 2>&1 || fail "$(cat log)"
	(cd o$n/deb && sha256sum -- *.deb) >sums$n
done
diff sums1 sums2 || fail "the bytes differ"
for package in dtprof libprof0 libprof-dev dtprof-doc; do
	grep -q " ${package}_[0-9]" sums1 || fail "no package $package"
done
ok "$(wc -l <sums1) packages, the same bytes each time"
lintian --fail-on error,warning --allow-root o1/deb/*.changes >lintian 2>&1 || {
	cat lintian
	fail "lintian has something to say"
}
ok "lintian is content"
