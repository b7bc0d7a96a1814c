# SPDX-License-Identifier: ISC
# ASSERTION: A stripped file has the functions and lines of the whole one
# when its debug file lies where its build-id or its link says, and its
# functions when it carries them compressed; another build's debug file is
# never used.
#
# Easy to get wrong: a debug file under the right name that is of another
# build gives wrong names without any sign of it.

. "${SRC:=$PWD}/tests/interop/lib-symbols.sh"
need_cmd nm
need_cmd readelf
need_cmd objcopy
need_cmd xz
need_cmd addr2line
need_cmd python3

cat >a.c <<'END'
#include <stdio.h>
static inline __attribute__((always_inline)) int
twice(int x)
{
	return (puts("twice") + x * 2);
}
static __attribute__((noinline)) int
hidden(int x)
{
	__asm__ volatile(".globl mark_inside\nmark_inside: nop");
	return (twice(x) + 1);
}
__asm__(".text\n.globl untyped\nuntyped: ret\nnop\n");
__attribute__((weak)) int
maybe(int x)
{
	return (hidden(x) + 3);
}
int
main(int argc, char **argv)
{
	(void)argv;
	return (maybe(argc));
}
END
cc=${CC:-cc}
# shellcheck disable=SC2086 # CC may hold options
$cc -O2 -g -Wl,--build-id -o whole a.c || fail "cannot compile"
sed 's/hidden/another/' a.c >b.c
# shellcheck disable=SC2086
$cc -O2 -g -Wl,--build-id -o other b.c || fail "cannot compile"
objcopy --only-keep-debug whole whole.debug
objcopy --only-keep-debug other other.debug
strip -o stripped whole

# Where readelf has a function, we have.
readelf -sW whole | awk '$4 == "FUNC" && $7 != "UND" { print $2 }' |
    sed 's/^0*//' | sort -u >wanted
[ "$(wc -l <wanted)" -ge 8 ] || fail "readelf has hardly a function"
"$tool" list whole /nonexistent >list.whole || fail "list"
cut -d ' ' -f 1 list.whole | sort -u >found
comm -23 wanted found >missing
[ ! -s missing ] || fail "none at $(head -n 1 missing), where readelf has one"
grep -q ' puts@plt$' list.whole || fail "no stub of the PLT"
for name in main maybe hidden; do
	want=$(nm whole | sed -n "s/^0*\([0-9a-f]*\) . $name\$/\1/p")
	grep -q "^$want [1-9a-f][0-9a-f]* $name\$" list.whole ||
	    fail "no $name at $want"
done
ok "$(wc -l <list.whole) functions, as readelf and nm have them"

# A label takes nothing from the function around it, but names what has none.
for pair in mark_inside:hidden untyped:untyped; do
	at=$(nm whole | sed -n "s/^0*\([0-9a-f]*\) . ${pair%:*}\$/\1/p")
	echo "$at" | "$tool" find whole /nonexistent >now
	grep -q " ${pair#*:}\$" now || fail "at ${pair%:*}: $(cat now)"
done
ok "labels"

# addresses of instructions in the program's own functions
awk '$3 ~ /^(main|maybe|hidden)$/ { print $1, $2 }' list.whole |
    while read -r at size; do
	i=0
	while [ $i -lt $((0x$size)) ]; do
		printf '%x\n' $((0x$at + i))
		i=$((i + 1))
	done
done >addresses
addr2line -a -f -i -e whole <addresses |
    sed 's/ (discriminator [0-9]*)//; s/^0x0*/0x/' >want.lines
grep -q '^twice$' want.lines || fail "nothing was inlined"

same()		# what file dirs [lines]
{
	"$tool" list "$2" "$3" >list.now 2>&1 || fail "$1: $(cat list.now)"
	cmp -s list.whole list.now || {
		diff list.whole list.now | head
		fail "$1: other functions"
	}
	if [ -n "$4" ]; then
		"$tool" lines "$2" "$3" <addresses >lines.now
		cmp -s want.lines lines.now || {
			diff want.lines lines.now | head
			fail "$1: other lines"
		}
	fi
	ok "$1"
}

# The stripped file has what is exported, and the PLT.
poor()		# what file dirs
{
	"$tool" list "$2" "$3" >list.now 2>/dev/null
	grep -Eq ' (hidden|another)$' list.now && fail "$1: a name"
	"$tool" lines "$2" "$3" <addresses >lines.now 2>/dev/null &&
	    fail "$1: lines"
	ok "$1"
}

same "the whole file" whole /nonexistent lines
poor "stripped, and nothing beside it" stripped /nonexistent

id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
tail=${id#??}
mkdir -p "tree/.build-id/${id%"$tail"}" tree2
kept=tree/.build-id/${id%"$tail"}/$tail.debug
cp whole.debug "$kept"
same "by build-id" stripped "tree2:$tmp/tree" lines
cp other.debug "$kept"
poor "another build's under this build-id" stripped "$tmp/tree"
rm "$kept"
mkfifo "$kept"
poor "a pipe in its place" stripped "$tmp/tree"

mkdir -p "linked/.debug" "far$tmp/linked"
objcopy --add-gnu-debuglink=whole.debug stripped linked/file
cp whole.debug linked/
same "by link, beside it" linked/file /nonexistent lines
mv linked/whole.debug linked/.debug/
same "by link, in .debug" linked/file /nonexistent lines
mv linked/.debug/whole.debug "far$tmp/linked/"
same "by link, below the directory for such files" linked/file \
    "$tmp/far" lines
cp other.debug linked/whole.debug
poor "by link, of another build" linked/file /nonexistent
cp whole.debug linked/whole.debug
printf x >>linked/whole.debug
poor "by link, with another checksum" linked/file /nonexistent

# Without section headers, by the segment that the loader reads.
for style in sysv gnu; do
	# shellcheck disable=SC2086
	$cc -O2 -rdynamic -Wl,--hash-style=$style -o "with-$style" a.c ||
	    fail "cannot compile"
	python3 - "with-$style" "bare-$style" <<'END'
import sys

elf = bytearray(open(sys.argv[1], "rb").read())
elf[0x28:0x30] = bytes(8)       # e_shoff
elf[0x3c:0x40] = bytes(4)       # e_shnum, e_shstrndx
open(sys.argv[2], "wb").write(elf)
END
	nm -D --defined-only "with-$style" | grep -v ' data_start$' |
	    sed -n 's/^0*\([0-9a-f]*\) [TW] /\1 /p' | sort >want
	grep -q ' maybe$' want || fail "$style: nm has no function"
	"$tool" list "bare-$style" /nonexistent | awk '{ print $1, $3 }' |
	    sort >now
	cmp -s want now || {
		diff want now | head
		fail "no sections, $style: other functions"
	}
	ok "no sections, $style: $(wc -l <now) functions as nm -D has them"
done

# Only functions that .dynsym lacks, as distributions do it.
nm -D whole --format=posix --defined-only | awk '{ print $1 }' |
    sort >dynamic
nm whole --format=posix --defined-only |
    awk '$2 == "T" || $2 == "t" || $2 == "W" { print $1 }' | sort >all
comm -13 dynamic all >keep
objcopy -S --remove-section .comment --keep-symbols=keep whole.debug mini
xz mini
objcopy --add-section .gnu_debugdata=mini.xz stripped carrying
"$tool" list carrying /nonexistent >list.now || fail "compressed"
for name in main maybe hidden; do
	grep " $name\$" list.whole >want
	grep -qxFf want list.now || fail "compressed: no $name"
done
ok "compressed in the file itself"
# Half of it is damage, not names.
head -c $(($(stat -c %s mini.xz) / 2)) mini.xz >half.xz
objcopy --add-section .gnu_debugdata=half.xz stripped broken
poor "compressed, and damaged" broken /nonexistent
