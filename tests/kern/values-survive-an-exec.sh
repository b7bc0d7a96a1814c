#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: when a thread that is not the first of its group execs, what
# counters had counted for it until then is in its next sample, to the unit.
#
# Easy to get wrong: the kernel gives it the number of the group and the birth
# of its first thread, so that what waits for a sample is somebody else's.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
execs=40

# pwrite(-1, 0, WHO, SWITCHES) is a mark: by whom, and what the kernel has
# counted for the thread so far, which goes on through an exec.  What it has
# counted after the mark is printed: a switch may come between.
cat >renamed.c <<'END'
#include <sys/resource.h>
#include <sys/syscall.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static char **args;
static long switches(void)
{
	struct rusage ru;

	if (getrusage(RUSAGE_THREAD, &ru) == -1)
		abort();
	return ru.ru_nvcsw + ru.ru_nivcsw;
}
static void mark(long who)
{
	(void)syscall(SYS_pwrite64, -1, NULL, who, switches());
	dprintf(1, "%ld\n", switches());
}
static void *work(void *arg)
{
	const struct timespec pause = { 0, 20000 };
	char left[16];
	int i;

	mark(1);
	for (i = 0; i < 7; i++)
		nanosleep(&pause, NULL);
	snprintf(left, sizeof(left), "%d", atoi(args[1]) - 1);
	execl(args[0], args[0], left, NULL);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	args = argv;
	mark(2);
	if (argc < 2 || atoi(argv[1]) == 0)
		return 0;
	if (pthread_create(&thread, NULL, work, NULL) != 0)
		return 1;
	/* Leaves more behind than the one that lives on has. */
	for (;;)
		(void)usleep(10);
}
END
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -o renamed renamed.c -lpthread ||
    fail "the program does not compile"

record 0 -o r.dtp -e syscalls:sys_enter_pwrite64 --with context-switches -- \
    "$tmp/renamed" $execs
py $execs <<'END'
import sys
import recording as rec

execs = int(sys.argv[1])
lost = rec.balance("r.dtp", ["context-switches"])["context-switches"]["error"]
# A stretch that is lost brings nothing.
marks = [(s["args"]["count"], s["args"]["pos"],
          s.get("with", {}).get("context-switches", 0))
         for s in rec.samples("r.dtp", "syscalls:sys_enter_pwrite64")]
rec.check([m[0] for m in marks] == [2] + execs * [1, 2], "%r" % marks)
after = [int(line) for line in open("out")]
rec.check(len(after) == len(marks), "%d marks, %r" % (len(marks), after))
# What the sample brought, and the least and the most that may have been.
pairs = [(got, upto - after[n], after[n + 1] - since)
         for n, ((_, since, _), (_, upto, got)) in
         enumerate(zip(marks, marks[1:])) if n % 2 == 1]
# A short sleep on a busy machine can be over before the switch.
rec.check(sum(least for _, least, _ in pairs) >= execs,
          "it slept: %r" % pairs)
# Where a sample is preempted, switches of its CPU are nobody's, and counted.
bad = [p for p in pairs if not p[1] <= p[0] <= p[2]]
rec.check(len(bad) <= lost <= execs,
          "switches, %d stretches lost: %r" % (lost, pairs))
rec.ok("%d execs of second threads: of their switches %d are in the samples "
       "after the exec, at least %d were; %d may be on either side of a mark, "
       "%d stretches are nobody's" %
       (execs, sum(p[0] for p in pairs), sum(p[1] for p in pairs),
        sum(p[2] - p[1] for p in pairs), lost))
END
