#!/bin/sh
# SPDX-License-Identifier: ISC
#
# deb.sh build-directory version: Debian packages of the archive that make dist
# has made.  The packaging is in mk/debian, which becomes debian/ in a copy of
# the sources, so that the sources stay as they are.  Called by make deb.
# Needs debhelper; the packages lie in build-directory/deb.
#
# The same commit gives the same bytes: the clock is that of the commit.

cd "$(dirname "$0")/.." || exit 1
O=$1 version=$2
command -v dh >/dev/null || {
	echo "make deb needs debhelper: apt-get install debhelper" >&2
	exit 1
}
epoch=$(git log -1 --format=%ct) || exit 1
rm -rf "$O/deb" || exit 1
mkdir -p "$O/deb" || exit 1
cp "$O/dtprof-$version.tar.gz" "$O/deb/dtprof_$version.orig.tar.gz" || exit 1
cd "$O/deb" || exit 1
tar -xzf "dtprof_$version.orig.tar.gz" || exit 1
cd "dtprof-$version" || exit 1
cp -R mk/debian debian || exit 1
# The build is the package's own, not part of the make that calls this.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES O DEBUG SAN COV CFLAGS LDFLAGS
SOURCE_DATE_EPOCH=$epoch dpkg-buildpackage -us -uc -rfakeroot \
    >../build.log 2>&1 || {
	tail -n 30 ../build.log
	echo "the packages could not be built: see $O/deb/build.log" >&2
	exit 1
}
cd .. && rm -rf "dtprof-$version" && ls -- *.deb
