#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: in a storm of execs, two programs in turns in the same process,
# laid out at the same addresses, each sample has the name of the function that
# ran: in the right order, none of the other program's, and none missing; by
# the recording alone, too.
#
# Easy to get wrong: an address of a process that was met before is another
# function since its exec; a program that lives for a millisecond has ended
# before its mapping is looked at.  What ran is known to the call: each program
# calls three functions once, each of which makes the one system call that is
# recorded.
#
# EXECS is how many there are (400), WORKERS how many start them (1).
. "${SRC:=$PWD}/tests/kern/lib-names.sh"
execs=${EXECS:-400} workers=${WORKERS:-1}
cat >turn.c <<'END'
#include <sys/syscall.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define FN(n) __attribute__((noinline)) void NAME(n)(void) { ask(); }
#define CAT(a, b) a##b
#define CAT2(a, b) CAT(a, b)
#define NAME(n) CAT2(WHO, _##n)
#define STR(a) #a
#define STR2(a) STR(a)
/* The call lies in the function itself. */
static inline __attribute__((always_inline)) void ask(void)
{
#if defined(__x86_64__)
	long n = SYS_getppid;

	__asm__ volatile("syscall" : "+a"(n) : : "rcx", "r11", "memory");
#else
	register long n __asm__("x8") = SYS_getppid;
	register long r __asm__("x0");

	__asm__ volatile("svc 0" : "=r"(r) : "r"(n) : "memory");
#endif
}
FN(1) FN(2) FN(3)
int main(int argc, char **argv)
{
	char left[16];

	NAME(1)(); NAME(2)(); NAME(3)();
	if (argc < 2 || atoi(argv[1]) == 0)
		return 0;
	snprintf(left, sizeof(left), "%d", atoi(argv[1]) - 1);
	execl(STR2(OTHER), STR2(OTHER), left, NULL);
	return 1;
}
END
cat >storm.c <<'END'
#include <sys/wait.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
/* So many processes, one after another, four programs each. */
static int storm(int count)
{
	int status;

	while (count-- > 0) {
		pid_t pid = vfork();

		if (pid == 0) {
			execl("alpha", "alpha", "3", NULL);
			_exit(1);
		}
		if (pid == -1 || waitpid(pid, &status, 0) != pid ||
		    status != 0)
			return 1;
	}
	return 0;
}
int main(int argc, char **argv)
{
	int n, status, failed = 0, count = argc > 2 ? atoi(argv[1]) : 0;
	int workers = argc > 2 ? atoi(argv[2]) : 0;
	struct timespec from, to;
	double s;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (n = 0; n < workers; n++)
		if (fork() == 0)
			_exit(storm(count));
	for (n = 0; n < workers; n++)
		failed |= wait(&status) == -1 || status != 0;
	clock_gettime(CLOCK_MONOTONIC, &to);
	s = to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
	count *= 4 * workers;
	fprintf(stderr, "%d execs in %.2f s: %.0f/s\n", count, s, count / s);
	return failed;
}
END
cc=${CC:-cc}
# shellcheck disable=SC2086 # CC may hold options
build()		# who other
{
	$cc -O1 -static -no-pie -fno-pie -Wl,--build-id -DWHO="$1" \
	    -DOTHER="$2" -o "$1" turn.c || fail "cannot compile"
}
build alpha beta
build beta alpha
# shellcheck disable=SC2086
$cc -O1 -o storm storm.c || fail "cannot compile"
where()		# who
{
	nm "$1" | sed -n "s/ $1_/ /p"
}
[ "$(where alpha | wc -l)" -eq 3 ] && [ "$(where alpha)" = "$(where beta)" ] ||
    fail "the two do not lie at the same addresses"
record 0 -o a.dtp --call-graph fp --user-only -e syscall::getppid:entry \
    -- ./storm $((execs / 4 / workers)) $workers
sed -n 's/^\([0-9]* execs in .*\)/# \1/p' err
balance a.dtp
"$DTPROF" script --json --show samples a.dtp >with-files.json || fail "script"
"$names" a.dtp >recorded || fail "the tool"
cat >check.py <<'END'
import collections
import json
import sys
from recording import check, ok

TURN = ["%s_%d" % (who, n) for who in ("alpha", "beta") for n in (1, 2, 3)]


def with_files():
    for line in open("with-files.json"):
        r = json.loads(line)
        if r["type"] == "sample":
            yield r["pid"], r["comm"], r["user_frames"][0]["function"]


def recorded():
    for line in open("recorded"):
        _, pid, _, side, depth, _, module, _, name = \
            line.rstrip("\n").split("\t")
        if side == "u" and depth == "0":
            yield int(pid), module.rsplit("/", 1)[-1], name


for what, rows in (("with the files", with_files),
                   ("by the recording alone", recorded)):
    at = collections.Counter()
    for pid, who, name in rows():
        want = TURN[at[pid] % len(TURN)]
        check(name == want and who == want.split("_")[0],
              "%s: call %d of process %d, which was %s: %s in %s" % (
                  what, at[pid], pid, want, name, who))
        at[pid] += 1
    calls = sum(at.values())
    check(calls == 3 * int(sys.argv[1]), "%s: %d calls" % (what, calls))
    ok("%s: %d calls of %d processes, each by its name" % (
        what, calls, len(at)))
END
python3 check.py $((execs / 4 / workers * workers * 4))
