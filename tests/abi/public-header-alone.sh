#!/bin/sh
# ASSERTION: prof.h compiles alone, as C99 and as C++, without a warning, and
# every function that it declares is exported by libprof.so.0, no other, and
# named in libprof(3), where one whose struct comes with its size has the name
# of its macro.  Easy to get wrong by using a type whose header is included by
# luck.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd gcc clang nm
tmpdir

echo '#include "prof.h"' >alone.c
strict="-Wall -Wextra -Werror -pedantic -I$SRC/libprof -fsyntax-only"
# shellcheck disable=SC2086 # flags are words
for compiler in gcc clang; do
	$compiler -std=c99 $strict -x c alone.c || fail "$compiler, C99"
	ok "$compiler, C99"
done
if echo 'int x;' | g++ -fsyntax-only -x c++ - 2>/dev/null; then
	cxx=g++
elif echo 'int x;' | clang -fsyntax-only -x c++ - 2>/dev/null; then
	cxx=clang
fi
if [ -n "$cxx" ]; then
	# shellcheck disable=SC2086 # flags are words
	$cxx -std=c++11 $strict -x c++ alone.c || fail "$cxx, C++11"
	ok "$cxx, C++11"
else
	fail "no C++ compiler"
fi

gcc -E -P -I"$SRC/libprof" alone.c | tr '\n' ' ' |
    grep -o '\bprof_[a-z0-9_]*(' | tr -d '(' | sort -u >declared
nm -D --defined-only "$B/libprof.so.0" | awk '$2 == "T" { print $3 }' |
    sed 's/@.*//' | sort -u >exported
[ -s exported ] || fail "libprof.so.0 exports nothing"
diff declared exported >difference || {
	cat difference
	fail "prof.h (<) and libprof.so.0 (>) differ"
}
ok "$(wc -l <exported) functions declared and exported"

page=$SRC/doc/libprof.3
sed -n 's/^\.\(It \|Pq \)\{0,1\}Fn //p' "$page" | tr -s ' ,' '\n\n' |
    grep '^prof_' | sort -u >described
sed 's/_sized$//' declared | sort | diff - described >difference || {
	cat difference
	fail "prof.h (<) and libprof.3 (>) differ"
}
ok "all of them in libprof.3"
