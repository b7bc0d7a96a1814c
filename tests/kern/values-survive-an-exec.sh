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
# counted for the thread so far, which goes on through an exec.
cat >renamed.c <<'END'
#include <sys/resource.h>
#include <sys/syscall.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static char **args;
static void mark(long who)
{
	struct rusage ru;

	if (getrusage(RUSAGE_THREAD, &ru) == -1)
		abort();
	(void)syscall(SYS_pwrite64, -1, NULL, who, ru.ru_nvcsw + ru.ru_nivcsw);
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
pairs = [(got, upto - since) for (_, since, _), (_, upto, got) in
         zip(marks[1::2], marks[2::2])]
# A short sleep on a busy machine can be over before the switch.
rec.check(sum(had for _, had in pairs) >= execs, "it slept: %r" % pairs)
# Some may come between the look of the program and its call.  Where a sample
# is preempted, switches of its CPU are nobody's, and counted.
bad = [p for p in pairs if p[0] != p[1]]
rec.check(len(bad) <= execs // 10 + lost and lost <= execs,
          "switches, %d stretches lost: %r" % (lost, pairs))
rec.ok("%d execs of second threads: of their switches %d are in the samples "
       "after the exec, %d were; %d stretches are nobody's" %
       (execs, sum(p[0] for p in pairs), sum(p[1] for p in pairs), lost))
END
