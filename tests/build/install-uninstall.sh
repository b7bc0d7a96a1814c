#!/bin/sh
# ASSERTION: what make install puts below DESTDIR is enough to build and run a
# program against libprof with pkg-config's flags, and make uninstall removes
# every file of it.  Easy to get wrong: a header that prof.h includes.
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd pkg-config gcc
tmpdir
where="DESTDIR=$tmp/root PREFIX=/usr"

# Not in the directory being tested, whose flags are not ours.
# shellcheck disable=SC2086 # words
variant clang CC=clang DEBUG=1 $where install || fail "make install"
cat >user.c <<'END'
#include <prof.h>
#include <stdio.h>
int
main(void)
{
	return (puts(prof_version()) < 0);
}
END
PKG_CONFIG_PATH=$tmp/root/usr/lib/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$tmp/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
# shellcheck disable=SC2046 # flags are words
gcc -o user user.c $(pkg-config --cflags --libs libprof) || fail "does not link"
version=$(LD_LIBRARY_PATH=$tmp/root/usr/lib ./user) || fail "does not run"
[ "$version" = "$(pkg-config --modversion libprof)" ] ||
    fail "version $version is not that of libprof.pc"
ok "a program against libprof $version"
root/usr/bin/dtprof --version | grep -q "$version" || fail "dtprof --version"
ok "the installed dtprof"

# shellcheck disable=SC2086 # words
variant clang CC=clang DEBUG=1 $where uninstall || fail "make uninstall"
left=$(find root ! -type d)
[ -z "$left" ] || fail "left behind: $left"
ok "nothing is left"
