#!/bin/sh
# ASSERTION: mk/modules.py, which lint runs, sees an include upwards, a call
# upwards, a file of no module, an object that is missing, a struct of function
# pointers that is no interface, a count that has grown, and exemptions that
# are more than there is; the sources have none of these.  Easy to get wrong: a
# checker that finds no objects, or cannot tell one module from another.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 nm gcc
tmpdir

# Two modules above one another, and ten more, since so many there must be.
mkdir -p tree/mk tree/libprof tree/sys && cd tree || fail "no directory"
cp "$SRC/mk/modules.py" mk/
for m in low high a b c d e f g h i j; do
	mkdir "libprof/$m"
	echo "int $m(void);" >"libprof/$m/$m.h"
	printf '#include "%s.h"\nint\n%s(void)\n{\n\treturn (0);\n}\n' $m $m \
	    >"libprof/$m/$m.c"
	echo "module $m libprof/$m/"
done >mk/modules

compile()	# file of the tree ...
{
	for file; do
		mkdir -p "build/obj/${file%/*}"
		gcc -Ilibprof -c "$file" -o "build/obj/${file%c}o" ||
		    fail "gcc $file"
	done
}

check()		# status, then what is said (or nothing)
{
	# As if make had run.
	[ ! -d build ] || find build -name '*.o' -exec touch {} +
	expect "$1" env B=build python3 mk/modules.py
	[ -z "$2" ] || grep -qF "$2" "$tmp/out" || fail "not said: $2"
}

check 1 'libprof/low/low.c: there is no build/obj/libprof/low/low.o'
compile libprof/*/*.c
check 0
touch libprof/low/low.c
expect 1 env B=build python3 mk/modules.py
grep -q 'low.c: is newer than' "$tmp/out" || fail "an old object counts"
ok "modules that use nothing of each other are layered"

cp libprof/high/high.c high.c
echo 'int (*down)(void) = low;' | cat libprof/low/low.h - >>libprof/high/high.c
compile libprof/high/high.c
check 0
cp high.c libprof/high/high.c
ok "downwards is allowed"

cp libprof/low/low.c low.c
echo '#include "high/high.h"' >>libprof/low/low.c
check 1 'libprof/low/low.c:7: includes libprof/high/high.h, which is upwards'
cp low.c libprof/low/low.c
echo '/* #include "high/high.h" */' >>libprof/low/low.c
check 0
cp low.c libprof/low/low.c
printf 'char s[] = "/*";\n#include "high/high.h"\n/* */\n' >>libprof/low/low.c
check 1 'libprof/low/low.c:8: includes libprof/high/high.h, which is upwards'
cp low.c libprof/low/low.c
ok "an include upwards is seen, a comment is none"

printf 'int high(void);\nint up(void);\nint up(void) { return (high()); }\n' \
    >>libprof/low/low.c
compile libprof/low/low.c
check 1 'libprof/low/low.c: asks for high, which is upwards, from low to high'
echo 'up libprof/low/low.c high 1 for a time' >>mk/modules
check 0
sed -i 's/high 1 for/high 2 for/' mk/modules
check 1 '2 exemptions of libprof/low/low.c are 1 by now'
sed -i '/^up/d' mk/modules
cp low.c libprof/low/low.c
compile libprof/low/low.c
ok "a call upwards is seen; an exemption holds for as many as it says"

echo 'int nobody;' >libprof/nobody.c
check 1 'libprof/nobody.c: belongs to no module'
rm libprof/nobody.c
printf 'struct ops {\n\tint\t(*op_do)(int);\n};\n' >>libprof/a/a.h
check 1 'libprof/a/a.h: struct ops has function pointers'
echo 'interface libprof/a/a.h ops what a does' >>mk/modules
check 0
sed -i '/^struct ops/,$d' libprof/a/a.h
check 1 'there is no interface ops in libprof/a/a.h'
sed -i '/^interface/d' mk/modules
ok "a table of functions has to be a named interface"

echo 'count kinds 1 KIND libprof/low/' >>mk/modules
echo 'int n = KIND;' >>libprof/low/low.h
check 1 'kinds: 0 by now'
echo 'extern int KIND;' >>libprof/b/b.h
check 0
echo 'extern int KIND;' >>libprof/c/c.h
check 1 '2 times kinds, 1 allowed: libprof/b/b.h:2 libprof/c/c.h:2'
sed -i '/^count/d' mk/modules
awk 'BEGIN { while (i++ < 99) print "extern int a;" }' >>libprof/d/d.h
check 1 'd has '
sed -i '/^module d /d' mk/modules
check 1 'only 11 modules'
ok "a count may only fall; no module is large, and there are twelve"

# The same in the sources themselves, with one include and one call planted.
cd "$SRC" || fail "no sources"
[ -d "$B/obj/libprof" ] || skip "nothing is built"
expect 0 python3 mk/modules.py
ok "the sources are layered"
mkdir "$tmp/copy" "$tmp/copy/build" && cp -r cmd libprof sys mk "$tmp/copy" &&
    cp -r "$B/obj" "$tmp/copy/build/" && cd "$tmp/copy" || fail "no copy"
check 0
cp libprof/base/glob.c glob.c
echo '#include "session/control.h"' >>libprof/base/glob.c
check 1 \
    'includes libprof/session/control.h, which is upwards, from base to session'
cp glob.c libprof/base/glob.c
{
	echo 'void prof_control_close(void *);'
	echo 'void planted(void *m) { prof_control_close(m); }'
} >libprof/base/planted.c
compile libprof/base/planted.c
check 1 'asks for prof_control_close, which is upwards, from base to session'
ok "and are not with one include or one call upwards"
