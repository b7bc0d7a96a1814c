#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a perf.data whose program is gone has the symbols of the copy that
# perf keeps by build-id, of no other copy, and without it the report says what
# to install.  Easy to get wrong: a copy of another build.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd perf cc
tmpdir
cat >known.c <<'END'
static volatile unsigned long sink;

__attribute__((noipa)) static void
kept_hot(void)
{
	for (long n = 0; n < 300000000; n++)
		sink += (unsigned long)n;
}

int
main(void)
{
	kept_hot();
	return (0);
}
END
cc -O2 -Wl,--build-id=sha1 -o gone known.c || fail "cc"
recorded()
{
	HOME="$tmp" perf record -q -g -e cpu-clock -o perf.data ./gone \
	    >log 2>&1
}
# Debian's perf sometimes fails an assertion of its own at the end.
recorded || recorded || recorded ||
    skip "perf cannot record: $(cat log)"
copy=$(find .debug -name elf -exec grep -l kept_hot {} +) ||
    skip "perf keeps no copies"
rm gone
expect 0 env HOME="$tmp" "$DTPROF" report --limit 3 perf.data
expect_out '^ *[0-9.]+ .* kept_hot ' "no symbol from the copy"
ok "the copy has the symbols"

expect 0 env HOME=/nonexistent "$DTPROF" report --limit 3 perf.data
grep -q kept_hot out && fail "symbols from where?"
expect_out 'was removed or replaced; install the recorded version' "no hint"
ok "without it the report says what to install"

# The same code, so that a name taken from it would show.
cc -O2 -Wl,--build-id=0x0123456789abcdef -o other known.c || fail "cc"
cp other "$copy"
expect 0 env HOME="$tmp" "$DTPROF" report --limit 3 perf.data
grep -q kept_hot out && fail "symbols of another build"
ok "a copy of another build has none"
