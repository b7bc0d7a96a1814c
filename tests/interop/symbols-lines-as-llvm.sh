# SPDX-License-Identifier: ISC
# ASSERTION: Lines and chains of inlined functions are those that
# llvm-symbolizer finds, with the names that c++filt makes, for C and C++, gcc
# and clang, DWARF 4 and 5, compressed or not, shared by dwz or not, and for
# what the system ships.
#
# Easy to get wrong: the line of an inlined function is where it calls the
# next one; files are numbered from 0 or from 1; ranges have bases; clang and
# gcc nest scopes and namespaces differently.

. "${SRC:=$PWD}/tests/interop/lib-symbols.sh"
need_cmd python3
need_cmd llvm-symbolizer
need_cmd clang
need_cmd c++filt
need_cmd dwz

cat >a.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
namespace outer { namespace {
template <class T> struct Bag {
	std::vector<T> v;
	void fill(int n) { for (int i = 0; i < n; i++) v.push_back(T(i)); }
	template <class F> long each(F f) {
		long s = 0;
		for (auto &x : v) s += f(x);
		return s;
	}
};
}
long work(int n)
{
	struct Local {
		static long twice(long x) { return printf("%ld\n", x); }
	};
	Bag<long> bag;
	bag.fill(n);
	std::sort(bag.v.begin(), bag.v.end(), [](long a, long b) {
		return a % 7 < b % 7; });
	return bag.each([n](long x) { return x * n + Local::twice(x); });
}
}
int main(int argc, char **argv)
{
	std::map<std::string, int> m;
	for (int i = 0; i < argc; i++) m[argv[i]] += i;
	return outer::work(argc + (int)m.size()) > 3;
}
END
cat >b.c <<'END'
#include <stdio.h>
#include <string.h>
static inline int square(int x) { return x * x + puts("x"); }
static inline int cube(int x) { { int y = square(x); return y * x; } }
static int __attribute__((noinline)) loop(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		s += cube(i);
		if (s & 1)
			s ^= square(s);
	}
	return s;
}
int nested(int n)
{
	int add(int x) { return x + loop(n); }
	return add(3) + add(n);
}
int main(int argc, char **argv) { (void)argv; return loop(argc); }
END
sed -e '/^int nested/,/^}/d' b.c >c.c

make_one()	# name command ...
{
	name=$1
	shift
	"$@" -o "$name" || fail "cannot compile: $*"
	echo "$tmp/$name $tmp/$name" >>files
}
make_one gcc5 g++ -O2 -g -gdwarf-5 a.cc
make_one gcc4 g++ -O2 -g -gdwarf-4 -gz a.cc
make_one clang5 clang++ -O2 -g -gdwarf-5 a.cc
make_one clang4 clang++ -O1 -g -gdwarf-4 a.cc
make_one c-gcc gcc -O2 -g b.c
make_one c-clang clang -O2 -g -no-pie c.c
# What files have in common, in a file of its own beside them; llvm-symbolizer
# cannot read that and gets what was there before.
for level in 2 3; do
	g++ -O$level -g -gdwarf-4 -o plain$level a.cc || fail "cannot compile"
	cp plain$level dwz$level
	echo "$tmp/dwz$level $tmp/plain$level" >>files
done
dwz -m shared.debug -M shared.debug dwz2 dwz3 || fail dwz
[ -e shared.debug ] || fail "dwz found nothing in common"
# Without it, or with a pipe in its place, there are no lines, and no waiting.
mkdir lost && cp dwz2 lost/ && mkfifo lost/shared.debug
echo 1000 | timeout 10 "$tool" lines lost/dwz2 /nonexistent >out 2>&1
[ $? -eq 3 ] || fail "lines without what is shared"
# The C library's, when its debug file is installed.
libc=$(ldd /bin/sh | awk '/libc\.so/ { print $3 }')
id=$(readelf -n "$libc" | sed -n 's/.*Build ID: //p')
debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" |
    cut -c 3-).debug
[ -e "$debug" ] && echo "$libc $debug" >>files
case $(nm "$DTPROF" 2>/dev/null | grep -c ' T main') in
1)	echo "$DTPROF $DTPROF" >>files ;;
esac

seed=${SEED:-$(date +%s)}
echo "seed $seed"
python3 "$SRC/tests/interop/symbols_lines.py" "$tool" files \
    "${ADDRESSES:-1000}" "$seed" || fail "see above"
