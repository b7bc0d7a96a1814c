# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# The packages of make deb in a bare Debian of release BARE_RELEASE: built
# twice, installed, used, upgraded, removed.  A newer version is the same files
# with a later entry in the changelog.

. "${SRC:=$PWD}/tests/accept/lib-bare.sh"

packages_make()
{
	need_cmd dh lintian fakeroot
	make -C "$SRC" O="$B" deb >"$tmp/deb.log" 2>&1 || {
		cat "$tmp/deb.log"
		fail "make deb"
	}
	# Built in another folder they are the same.
	make -C "$SRC" O="$tmp/again" deb >"$tmp/deb.log" 2>&1 || {
		cat "$tmp/deb.log"
		fail "make deb, again"
	}
	for deb in "$B"/deb/*.deb; do
		cmp "$deb" "$tmp/again/deb/${deb##*/}" ||
			fail "the bytes differ"
	done
	ok "two builds are identical"
	mkdir "$bare/old" "$bare/new"
	cp "$B"/deb/*.deb "$bare/old/"
	rm -f "$bare"/old/*-dbgsym_*
	# The next release, as far as dpkg is concerned.
	for deb in "$bare"/old/*.deb; do
		dpkg-deb -R "$deb" "$tmp/unpacked" &&
		    sed -i -e 's/^Version: .*/Version: 99.0-1/' -e \
		    's/\(libprof0 (= \)[^)]*/\199.0-1/' \
		    "$tmp/unpacked/DEBIAN/control" &&
		    dpkg-deb -b "$tmp/unpacked" "$bare/new" >/dev/null ||
		    fail "cannot make a newer package"
		rm -rf "$tmp/unpacked"
	done
	ok "$(find "$bare/old" -name '*.deb' | wc -l) packages"
}

files_of()	# what was there: every path but what apt itself keeps
{
	chroot "$bare" find / -xdev \( -path /proc -o -path /sys -o \
	    -path /dev -o -path /src -o -path /tmp -o -path /var/cache -o \
	    -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log -o \
	    -path /old -o -path /new \) -prune -o -print | sort
}

packages_go()
{
	bare_begin
	packages_make
	bare_run root 'apt-get update && apt-get install -y gcc libc6-dev \
	    pkg-config man-db binutils $(dpkg -I /old/dtprof_*.deb | sed -n \
	    "s/^ Depends: //p" | tr , "\n" | sed "s/(.*//")'
	bare_expect 0 . "what they depend on comes from the archive"
	files_of >"$tmp/before"
	bare_run offline 'dpkg -i /old/*.deb'
	bare_expect 0 'Setting up dtprof' "installed"
	bare_run offline 'AUTOPKGTEST_TMP=$(mktemp -d) sh -x \
	    mk/debian/tests/records-and-reports'
	bare_expect 0 '100\.00.* hot|[0-9]+\.[0-9]+ .* hot' \
	    "records, reports, draws; a program is built with libprof-dev"
	bare_run offline 'dpkg -i /new/*.deb && dtprof --version'
	bare_expect 0 'dtprof .*over|^dtprof [0-9]' "upgraded"
	bare_run offline 'dpkg --purge dtprof libprof-dev libprof0 dtprof-doc'
	bare_expect 0 'Removing|Purging' "removed"
	files_of >"$tmp/after"
	diff "$tmp/before" "$tmp/after" >"$tmp/left" || {
		cat "$tmp/left"
		fail "something is left, or gone"
	}
	ok "nothing is left"
}
