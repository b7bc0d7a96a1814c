# SPDX-License-Identifier: ISC
# ASSERTION: a program that contains a version of V8 whose frames are not known
# is recorded as any native program, and record says once which version it is
# and what would show its functions; without such a program it says nothing.
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

./unknown &
kill_at_end $!
python3 - "$DTPROF" <<'E' || fail "doctor: see above"
import json
import os
import subprocess
import sys

checks = json.loads(subprocess.run([sys.argv[1], "doctor", "--json"],
                                   stdout=subprocess.PIPE).stdout)["checks"]
check = [c for c in checks if c["name"] == "runtimes"][0]
shown, missing = check["found"].split("functions are not shown of ")
assert "V8 99.7 (%s/unknown, 1 process)" % os.getcwd() in missing, check
assert "known of javascript: 10.2" in missing, check
assert check["state"] == "degraded" and "version" in check["fix"], check
name = "Python %d.%d.%d" % sys.version_info[:3]
if (3, 11) <= sys.version_info[:2] < (3, 15):
    assert name in shown, check
print("ok: doctor: " + check["found"])
E
