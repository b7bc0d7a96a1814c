#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: whatever a recording, perf.data, a profile of pprof, folded
# stacks, text of perf script, an executable with DWARF or a map of a JIT
# says, reading all of it touches no memory but its own, leaks none, takes at
# most 256 MB and four times the input, and ends within ten seconds of CPU
# time; more than half of the mutants pass the door.
# Easy to get wrong: a checksum or a magic number keeps random changes out, and
# what lies behind is never looked at.
# (make accept: ten minutes and 20,000 mutants of each, by another --seed.)
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd clang gcc g++
: "${MUTANTS_SEED:=1}" "${MUTANTS_COUNT:=300}" "${MUTANTS_SECONDS:=0}"
variant fuzz CC=clang DEBUG=1 mutants || fail "it cannot be built"
# Each import is synced to the disk before it is said to be there: in memory
# that costs nothing.
[ -w /dev/shm ] && TMPDIR=/dev/shm && export TMPDIR
tmpdir
cat >a.c <<'END'
#include <stdio.h>
static inline int twice(int n) { return n * 2 + (n & 3); }
static int sum(int *p, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += twice(p[i]);
	return s;
}
int main(int argc, char **argv)
{
	int p[] = { argc, 2, 3, 4 };
	return printf("%s %d\n", argv[0], sum(p, 4)) < 0;
}
END
cat >b.cc <<'END'
#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <class T> struct box { T value; std::vector<T> rest; };
int main(int argc, char **argv)
{
	std::map<std::string, box<long>> all;
	for (int i = 0; i < argc; i++)
		all[argv[i]].rest.push_back(i);
	std::vector<long> v(10, (long)all.size());
	std::sort(v.begin(), v.end());
	return v[0] == 0;
}
END
if ! { gcc -O1 -g -gdwarf-5 -o elf.5 a.c &&
    gcc -O1 -g -gdwarf-4 -o elf.4 a.c && gcc -O1 -g -gz -o elf.z a.c &&
    gcc -O1 -s -o elf.s a.c && g++ -O2 -g -o elf.c b.cc; }; then
	fail "the programs to mutate"
fi
# With notes of static probes; for other machines there is none.
gcc -O1 -s -o elf.u "$SRC/tests/work/probed/usdt.c" 2>/dev/null || rm -f elf.u
TMPDIR=$PWD
export TMPDIR

mutants()	# format seed-file ...
{
	nice -n "${MUTANTS_NICE:-0}" "$variant_dir/fuzz/mutants" \
	    --seed "$MUTANTS_SEED" --count "$MUTANTS_COUNT" \
	    --seconds "$MUTANTS_SECONDS" "$@" >"log.$1" 2>&1 && {
		cat "log.$1"
		return
	}
	tail -n 40 "log.$1"
	cp mutants.*/mutant "$variant_dir/fuzz/mutant.$1" 2>/dev/null
	fail "$1: see fuzz/mutant.$1 in $variant_dir"
}

corpus=$SRC/tests/fuzz/corpus
for format in ${MUTANTS:-recording perfdata pprof folded perf_script}; do
	case $format in
	elf | perfmap) ;;
	# The others are refused, whatever becomes of them.
	folded)	mutants folded "$corpus/folded/plain" \
		    "$corpus/folded/weights" ;;
	*)	mutants "$format" "$corpus/$format/"* ;;
	esac
done
case ${MUTANTS:-elf perfmap} in
*elf*)	mutants elf elf.* ;;
esac
case ${MUTANTS:-elf perfmap} in
*perfmap*) mutants perfmap "$corpus/perfmap/"map* ;;
esac
ok "mutants of each format, seed $MUTANTS_SEED"
