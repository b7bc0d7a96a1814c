# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# Versions of Python that this system does not have: those of other releases of
# Debian, unpacked into $B/python with their own C library and loader, and
# whatever python3.11 to 3.14 is on PATH or in PYTHONS.  Include it after
# tests/lib.sh and tmpdir.

. "$SRC/mk/lib-apt.sh"

# The packages of a release of Debian, through a package state of our own.
unpacked()	# release version
{
	to=$B/python/$1-$2
	[ ! -e "$to/done" ] || return 0
	state=$PWD/apt-$1
	mkdir -p "$to"
	apt_state "$state"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
	    awk -v keyring=$keyring -v release="$1" '/\/debian\/?$/ {
		printf("deb [signed-by=%s] %s %s main\n", keyring, $1, release)
		exit
	    }' >"$state/sources.list"
	apt-get -qq -c "$state/apt.conf" update >apt.log 2>&1 || return 1
	mkdir -p deb-"$1"
	(cd deb-"$1" && apt-get -qq -c "$state/apt.conf" download \
	    python"$2" python"$2"-minimal libpython"$2"-minimal \
	    libpython"$2"-stdlib libc6 libexpat1 zlib1g libssl3t64 libffi8 \
	    libbz2-1.0 liblzma5 libzstd1 libuuid1) >>apt.log 2>&1 || return 1
	for deb in deb-"$1"/*.deb; do
		dpkg-deb -x "$deb" "$to" || return 1
	done
	: >"$to/done"
}

# A command, behind which the interpreter of an unpacked release is put.
unpacked_to()	# release version command [argument ...]
{
	root=$B/python/$1-$2/usr
	lib=$root/lib/$(uname -m)-linux-gnu
	python=$root/bin/python$2
	shift 2
	"$@" env PYTHONHOME="$root" "$lib/ld-linux-x86-64.so.2" \
	    --library-path "$lib" "$python"
}

# For each of those releases a command: with what it is called, and how.
with_unpacked()	# command
{
	for release in trixie:3.13 unstable:3.14; do
		version=${release#*:}
		release=${release%:*}
		unpacked "$release" "$version" ||
		    skip "no python$version of $release: $(tail -n 1 apt.log)"
		unpacked_to "$release" "$version" "$1" \
		    "Python $version of $release"
	done
}

# Those on PATH, one a line: what is there may be a script that looks for it.
other_pythons()
{
	for python in $(echo "$PATH" | tr : '\n' | while read -r folder; do
		for name in 3.11 3.12 3.13 3.14; do
			[ ! -x "$folder/python$name" ] ||
			    echo "$folder/python$name"
		done
	done) ${PYTHONS-}; do
		"$python" -c 'import os, sys
print(os.path.realpath(sys.executable))' 2>/dev/null
	done | sort -u
}
