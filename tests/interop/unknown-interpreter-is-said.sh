# SPDX-License-Identifier: ISC
# ASSERTION: a program that contains a version of V8 whose frames are not known,
# or an interpreter of which none are, is recorded as any native program, and
# record says once which it is and what would show its functions; where nothing
# would, report --stats says it; of other programs nothing is said.
# Where an interpreter has another layout than that of its version, this is said
# with the number of samples, and their stacks are not complete.
# While such programs run doctor names them, the versions that are known, and
# those whose functions are shown.
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

#ifdef RUBY
int
ruby_run_node(void *node)
{
	return (node != 0);
}
#endif

#ifdef PYTHON
unsigned Py_Version = 0x030c07f0;
long _PyRuntime[99] __attribute__((section(".PyRuntime"))) = { 1 };
#endif

void __attribute__((noinline))
_PyEval_EvalFrameDefault(clock_t end)
{
	while (clock() < end)
		;
}

int
main(int argc, char **argv)
{
	(void)argv;
	_PyEval_EvalFrameDefault((argc > 1 ? 75 : 1) * CLOCKS_PER_SEC * 2 / 5);
	return (0);
}
E
gcc -O1 -rdynamic -DMAJOR=99 -o unknown spin.c &&
    gcc -O1 -rdynamic -DPYTHON -o python spin.c &&
    gcc -O1 -rdynamic -s -DRUBY -o ruby spin.c && gcc -O1 -o none spin.c ||
    fail gcc
for program in unknown ruby none python; do
	"$DTPROF" record -o $program.dtp -- ./$program 2>$program.err ||
	    fail "record $program: $(cat $program.err)"
	"$DTPROF" script --json $program.dtp >$program.json || fail script
	! grep -q '"kind":"js"' $program.json ||
	    fail "$program has frames of JavaScript"
done
what='functions of V8 99.7 (.*/unknown) are not shown'
[ "$(grep -c "$what" unknown.err)" = 1 ] || fail "$(cat unknown.err)"
grep -q 'perf-basic-prof' unknown.err || fail "no cure: $(cat unknown.err)"
! grep -q 'are not shown' ruby.err || fail "$(cat ruby.err)"
"$DTPROF" report --stats ruby.dtp >ruby.stats || fail "report --stats"
grep -q '^not shown .*functions of Ruby (.*/ruby)$' ruby.stats ||
    fail "$(cat ruby.stats)"
! grep -q 'are not shown\|are missing' none.err || fail "$(cat none.err)"
ok "V8 99.7 is said to be unknown, Ruby where it is asked, nothing else"
what='functions of Python 3.12.7 (.*/python) are missing from [1-9].* samples: '
grep -q "$what.* unmodified build" python.err ||
    fail "no word of another layout: $(cat python.err)"
"$DTPROF" report python.dtp >python.report || fail report
what='the frames of the interpreter were not found'
tr -s ' \n' ' ' <python.report | grep -q "user stacks are complete:.* $what" ||
    fail "the stacks are said to be complete: $(cat python.report)"
ok "$(grep -o "functions of Python .* samples" python.err)"

./unknown long &
kill_at_end $!
./ruby long &
kill_at_end $!
python3 - "$DTPROF" <<'E' || fail "doctor: see above"
import json
import os
import subprocess
import sys

checks = json.loads(subprocess.run([sys.argv[1], "doctor", "--json"],
                                   stdout=subprocess.PIPE).stdout)["checks"]
check = [c for c in checks if c["name"] == "runtimes"][0]
missing, shown = check["found"].split("; dtprof shows functions of ")
advice = check["fix"]
assert "V8 99.7 (%s/unknown, 1 process)" % os.getcwd() in missing, check
assert "V8 99.7: dtprof knows V8 10.2" in advice, check
assert "Ruby (%s/ruby, 1 process)" % os.getcwd() in missing, check
assert check["state"] == "degraded" and "Ruby" not in advice, check
name = "Python %d.%d.%d" % sys.version_info[:3]
if (3, 11) <= sys.version_info[:2] < (3, 15):
    assert name in shown, check
print("ok: doctor: " + check["found"])
E
