#!/bin/sh
# ASSERTION: what make install puts below DESTDIR and PREFIX is enough, where
# the sources are not to be seen, to record, report and draw, to read the
# manuals, to complete in bash, and to build and run the example program with
# pkg-config's flags, against the shared library and the archive; and make
# uninstall removes all of it.  Easy to get wrong: a header that prof.h
# includes, a template that is read from the sources.
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd pkg-config gcc mandoc unshare col gnuplot
need_perf
tmpdir
where="DESTDIR=$tmp/root PREFIX=/usr"

# Not in the directory being tested, whose flags are not ours.
# shellcheck disable=SC2086 # words
variant clang $CLANG_BUILD $where install || fail "make install"

# The rest, where the sources and what was built of them are hidden.
cat >user.sh <<'END'
. "$1/lib.sh"
trap - EXIT
tmp=$1
cd "$tmp" || fail "cd"
[ ! -e "$SRC/GNUmakefile" ] || fail "the sources are still there"
PKG_CONFIG_PATH=$tmp/root/usr/lib/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$tmp/root
LD_LIBRARY_PATH=$tmp/root/usr/lib
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
example=root/usr/share/doc/dtprof/examples/hottest.c
version=$(pkg-config --modversion libprof) || fail "pkg-config"

# shellcheck disable=SC2046 # flags are words
gcc -Wall -Wextra -Werror -o hottest $example \
    $(pkg-config --cflags --libs libprof) || fail "does not link"
# shellcheck disable=SC2046
gcc -o hottest-static $example $(pkg-config --cflags libprof) \
    -Wl,-Bstatic $(pkg-config --libs libprof) \
    -Wl,-Bdynamic $(pkg-config --static --libs libprof) ||
    fail "does not link with the archive"
cat >work.c <<'C'
#include <time.h>
int
hot(void)
{
	volatile int n = 0;
	while (clock() < CLOCKS_PER_SEC / 5)
		for (int i = 0; i < 100000; i++)
			n += i;
	return (n & 0);
}
int
main(void)
{
	return (hot());
}
C
gcc -g -o work work.c || fail "gcc"
export LD_LIBRARY_PATH
for program in hottest hottest-static; do
	[ $program = hottest ] || unset LD_LIBRARY_PATH
	expect 0 ./$program ./work
	head -n 1 "$tmp/out" >first
	grep -q " hot  $tmp/work\$" first || fail "$program: $(cat "$tmp/out")"
	expect 1 ./$program ./no-such-command
	expect_err 'no-such-command'
done
ok "hottest, shared and static, names the hot function first"

dtprof=$tmp/root/usr/bin/dtprof
expect 0 "$dtprof" --version
expect_out "^dtprof $version\$" "the version of libprof.pc"
expect 0 "$dtprof" record -q -o x.dtp -F 499 -- ./work
expect 0 "$dtprof" report x.dtp
expect_out ' hot '
expect 0 "$dtprof" annotate --source -o x.html --html hot x.dtp
expect 0 "$dtprof" flamegraph -o flame.html x.dtp
grep -q 'hot' flame.html && grep -q '</html>' flame.html ||
    fail "no page"
expect 0 "$dtprof" report --plot rates -o rates.svg x.dtp
expect 0 "$dtprof" script --limit 1 x.dtp
ok "records, reports, annotates, draws and plots"

for page in man1/dtprof.1 man3/libprof.3 man5/dtprof-format.5; do
	mandoc -T ascii "root/usr/share/man/$page" | col -b |
	    grep -q '^NAME' ||
	    fail "no $page"
done
completed=$(PATH=$tmp/root/usr/bin:$PATH bash -c '
	. root/usr/share/bash-completion/completions/dtprof
	COMP_LINE="dtprof flameg" COMP_POINT=13
	_dtprof; echo "${COMPREPLY[@]}"')
[ "$completed" = flamegraph ] || fail "completed: $completed"
ok "manuals and completion"
END
cp "$SRC/tests/lib.sh" lib.sh
# As somebody else's namespace where this is not root.
as_root=
[ "$(id -u)" -eq 0 ] || as_root=-r
# shellcheck disable=SC2086 # an option or nothing
unshare -m $as_root true 2>/dev/null ||
    skip "no mount namespace, so the sources cannot be hidden"
# shellcheck disable=SC2086 # an option or nothing
unshare -m $as_root sh -c '
	mount -t tmpfs none "$SRC" && { [ ! -e "$B/dtprof" ] ||
	    mount -t tmpfs none "$B"; } && exec sh "$1/user.sh" "$1"' \
    sh "$tmp" || fail "the installed tree"

# shellcheck disable=SC2086 # words
variant clang $CLANG_BUILD $where uninstall || fail "make uninstall"
[ -d root/usr ] || fail "no directory left to look into"
left=$(find root ! -type d)
[ -z "$left" ] || fail "left behind: $left"
left=$(find root -name '*dtprof*' -o -name '*libprof*')
[ -z "$left" ] || fail "directories left behind: $left"
ok "nothing is left"
