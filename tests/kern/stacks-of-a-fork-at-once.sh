#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A child has what its parent had mapped, however late the recorder
# hears of both: stacks of one that was forked right after its parent loaded
# a library are whole.
#
# Easy to get wrong: lives and mappings come by two ways, and the news of the
# fork may be read first; then the child never has that library.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd "${CC:=cc}"
tmpdir
cat >work.c <<'END_C'
#include <sys/wait.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The state of a process stands behind its name, which holds no blank here. */
static char
state_of(pid_t pid)
{
	char path[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (file == NULL || fscanf(file, "%*d %*s %c", &state) != 1)
		abort();
	fclose(file);
	return (state);
}

/* The recorder, our parent, sleeps while we load and fork. */
int
main(void)
{
	const pid_t recorder = getppid();
	void (*turn)(long);
	void *library;
	pid_t child;

	kill(recorder, SIGSTOP);
	while (state_of(recorder) != 'T')
		continue;
	library = dlopen("./library.so", RTLD_NOW);
	child = fork();
	kill(recorder, SIGCONT);
	if (library == NULL)
		return (1);
	turn = (void (*)(long))dlsym(library, "turn");
	if (child == 0)
		turn(400);
	else
		wait(NULL);
	return (child == -1);
}
END_C
cat >library.c <<'END_C'
#include <time.h>

__attribute__((noinline)) static unsigned long
inner(unsigned long x)
{
	volatile unsigned long many[40];

	for (int i = 0; i < 100000; i++)
		many[i % 40] = x = x * 6364136223846793005UL + 1;
	return (x + many[3]);
}

void
turn(long ms)
{
	unsigned long x = 1;

	while (clock() < ms * (CLOCKS_PER_SEC / 1000))
		x = inner(x) + 1;
}
END_C
$CC -O2 -fomit-frame-pointer -fPIC -shared -o library.so library.c &&
    $CC -O2 -o work work.c -ldl || fail "the workload does not compile"
record 0 -o a.dtp -e cpu-clock -c 1000000 --user-only -- ./work
py <<'END'
import collections
import recording as rec

samples = rec.samples("a.dtp", "cpu-clock")
busiest = collections.Counter(s["pid"] for s in samples).most_common(1)[0][0]
child = [s for s in samples if s["pid"] == busiest]
rec.check(len(child) >= 200, "too few samples: %d" % len(child))
# The first of them may be of a child that nobody could know of yet.
late = child[len(child) // 2:]
ends = collections.Counter(s["user_status"] for s in late)
rec.check(ends["ok"] >= 0.99 * len(late), "stacks of the child: %s" % ends)
rec.ok("%d of %d stacks of the child are whole" % (ends["ok"], len(late)))
END
