#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: perf.data without build-ids has names from files that lie
# unchanged where they were, with a build-id of their own or without one, and
# says that it could not verify them; a file that was written since gives none,
# and it is said that there are none.
# Easy to get wrong: the same path is another build by now; while others ask
# for build-ids the kernel marks the records of all as having one.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd perf
need_perf
tmpdir
cat >work.c <<'END2'
#include <time.h>
volatile long n;
static void __attribute__((noinline)) hot(void)
{
	for (int i = 0; i < 100000; i++)
		n += i;
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 5)
		hot();
	return (0);
}
END2
for id in none sha1; do
	${CC:-cc} -O1 -g -Wl,--build-id=$id -o $id work.c || fail cc
	perf record -q -e cpu-clock -F 997 -o - "./$id" >$id.data \
	    2>/dev/null || skip "perf cannot record into a pipe"
	expect 0 "$DTPROF" report $id.data
	expect_out ' hot  .*/'$id'$' "no name in $id"
	expect_err ': no build-id for .*\(-v: more\)$' "$id: no note"
	expect 0 "$DTPROF" report -v $id.data
	expect_err 'content of these files was not verified' "$id: nothing said"
	expect 0 "$DTPROF" import -q -o $id.dtp $id.data
	expect 0 "$DTPROF" report $id.dtp
	expect_out ' hot  .*/'$id'$' "no name in an import of $id"
done
ok "names from files that lie unchanged, and it is said"
for id in none sha1; do
	cp $id other
	cat other >$id
	expect 0 "$DTPROF" report -v $id.data
	grep -q ' hot ' out && fail "$id: names from a file written since"
	expect_err 'no build-ids, and none .* unchanged|was not verified' "$id"
done
expect 0 "$DTPROF" report none.dtp
grep -q ' hot ' out && fail "an import: names from a file written since"
expect 0 "$DTPROF" report sha1.dtp
expect_out ' hot  .*/sha1$' 'the same build, by its build-id now'
ok "a file that was written since gives none"
