# SPDX-License-Identifier: ISC
# ASSERTION: a program that contains a version of V8 whose frames are not known
# is recorded as any native program, and record says once which version it is
# and what would show its functions; without such a program it says nothing.
#
# Easy to get wrong: frames of another version taken for those of a known one.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_cmd gcc
tmpdir

cat >spin.c <<'E'
#include <time.h>

#ifdef MAJOR
int _ZN2v88internal7Version6major_E = MAJOR;
int _ZN2v88internal7Version6minor_E = 7;
#endif

int
main(void)
{
	time_t end = time(NULL) + 2;

	while (time(NULL) < end)
		;
	return (0);
}
E
gcc -O1 -rdynamic -DMAJOR=99 -o unknown spin.c && gcc -O1 -o none spin.c ||
    fail gcc
for program in unknown none; do
	"$DTPROF" record -o $program.dtp -- ./$program 2>$program.err ||
	    fail "record $program: $(cat $program.err)"
	"$DTPROF" script --json $program.dtp >$program.json || fail script
	! grep -q '"kind":"js"' $program.json ||
	    fail "$program has frames of JavaScript"
done
what='functions of V8 99.7 (.*/unknown) are not shown'
[ "$(grep -c "$what" unknown.err)" = 1 ] || fail "$(cat unknown.err)"
grep -q 'perf-basic-prof' unknown.err || fail "no cure: $(cat unknown.err)"
! grep -q 'are not shown' none.err || fail "$(cat none.err)"
ok "V8 99.7 is said to be unknown, and nothing else"
