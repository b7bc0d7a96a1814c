#!/bin/sh
# ASSERTION: the runner calls a test passed only when it said something and
# ended with 0: a silent one, a skip without a reason, one without its line
# ASSERTION, one that hangs, those that were never run because what ran them
# died, and a directory that lost its tests are failures.
. "${SRC:=$PWD}/tests/build/lib.sh"
tmpdir
for dir in x build empty work; do
	mkdir -p "t/tests/$dir" || fail "no directory"
done
cd t || fail "no directory"
cp "$SRC/tests/run.sh" tests/
unset T
B=$tmp/b
export B

a_test()	# name script [directory]
{
	printf '# ASSERTION: x\n%s\n' "$2" >"tests/${3:-x}/$1.sh"
}

a_test good 'echo yes'
a_test silent 'exit 0'
a_test skipped 'echo SKIP: no reason to stay; exit 77'
a_test unreasoned 'exit 77'
a_test broken 'echo it is the ant; exit 3'
a_test hangs 'sleep 60 # TIMEOUT: 1'
a_test beside 'echo yes' build
a_test reads 'read -r x; echo "read <$x>"'
echo 'echo hi' >tests/x/nameless.sh
echo 'exit 1' >tests/x/lib.sh
sh tests/run.sh >../out && fail "failures, and status 0"
cat ../out
is()		# pattern
{
	grep -Eq "^$1" ../out || fail "not said: $1"
}
is 'pass +tests/x/good.sh'
is 'pass +tests/build/beside.sh'
is 'fail +tests/x/silent.sh: it printed nothing'
is 'skip +tests/x/skipped.sh: no reason to stay'
is 'fail +tests/x/unreasoned.sh: skipped without'
is 'fail +tests/x/broken.sh: exit status 3'
is '	\| it is the ant'
is 'fail +tests/x/hangs.sh: no end within 1 s'
is 'pass +tests/x/reads.sh'
is 'fail +tests/x/nameless.sh: it has no line'
is 'fail +tests/empty: there is no test in it'
[ "$(tail -n 1 ../out)" = '3 passed, 6 failed, 1 skipped' ] || fail "the sum"
ok "each verdict"
sh tests/run.sh good >../out || fail "a pattern"
[ "$(tail -n 1 ../out)" = '1 passed, 0 failed, 0 skipped' ] || fail "pattern"
sh tests/run.sh nothing-of-that-name >../out && fail "no test, and status 0"
ok "patterns"
a_test beside 'kill -9 $(cut -d" " -f4 /proc/$PPID/stat)' build
sh tests/run.sh good beside >../out 2>&1 && fail "one was not run, and status 0"
is 'fail +tests: not all of the 2 were run'
[ "$(tail -n 1 ../out)" = '1 passed, 1 failed, 0 skipped' ] || fail "not run"
ok "a runner that died"
