#!/bin/sh
# ASSERTION: a second make does nothing, a changed flag or a changed header
# rebuilds, and an error stays an error until it is mended.  Easy to get wrong
# where flags are not a dependency.
# TIMEOUT: 300
. "${SRC:=$PWD}/tests/build/lib.sh"
tmpdir
# A small tree: the build's rules, and sources that are quick to compile.
mkdir -p libprof cmd/dtprof sys/preload
cp -r "$SRC/GNUmakefile" "$SRC/mk" .
cp "$SRC"/libprof/prof*.h "$SRC"/libprof/errors.def libprof/
echo '{ global: value; local: *; };' >libprof/prof.map
cat >libprof/value.c <<'END'
#include "value.h"
int value(void);
int value(void) { return (VALUE); }
END
echo 'int loaded;' >sys/preload/alloc.c
echo '#define VALUE 3' >libprof/value.h
echo 'int value(void); int main(void) { return (value()); }' \
    >cmd/dtprof/main.c

build()
{
	make "$@" >log 2>&1
}
build || fail "the small tree does not build: $(cat log)"
build/dtprof
[ $? -eq 3 ] || fail "the program is wrong"
build && grep -q 'Nothing to be done' log || fail "built again: $(cat log)"
ok "a second make does nothing"
echo '#define VALUE 4' >libprof/value.h
build
build/dtprof
[ $? -eq 4 ] || fail "a changed header was not noticed"
ok "a changed header"
build CFLAGS='-O1 -DX' && grep -q 'CC.*value.c' log || fail "a changed flag"
ok "a changed flag"
build CFLAGS='-O1 -DX' && grep -q 'Nothing' log || fail "built once more"
build V=1 CPPFLAGS=-DUSERS CFLAGS=-Os LDFLAGS=-Wl,-O1
for flag in -DUSERS -Os -Wl,-O1; do
	grep -q -e "$flag" log || fail "the user's $flag is not used"
done
ok "the user's flags"
echo 'broken' >>libprof/value.c
build && fail "an error passes"
build && fail "the error passes the second time"
ok "an error"
mkdir elsewhere
cp "$SRC"/libprof/prof*.h libprof/
sed '$d' libprof/value.c >v && mv v libprof/value.c
build O=elsewhere/o && elsewhere/o/dtprof
[ $? -eq 4 ] || fail "O=dir"
ok "O=dir"
