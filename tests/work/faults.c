/* SPDX-License-Identifier: ISC */
/*
 * Faults exactly N pages, between two marks.
 *
 *	faults [-c cpu] [-y] [-w] N
 *
 * The marks are close(0x50000000) before and close(0x50000001) after; all
 * that is needed in between has been touched before, so between the marks
 * the thread has N page faults and no other.  -y yields the processor after
 * each; -w waits first until standard input ends.  Huge pages are declined.
 *
 * Prints one line of JSON; "counted" is what the kernel counted for the
 * thread meanwhile (getrusage), which has to be N too.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long
faulted(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage) == -1)
		abort();
	return (usage.ru_minflt + usage.ru_majflt);
}

/* All that the loop needs has been used by the time it is used again. */
static void
touch(volatile char *pages, long from, long to, long page, int yields)
{
	syscall(SYS_close, 0x50000000);
	for (long i = from; i < to; i++) {
		pages[i * page] = 1;
		if (yields)
			sched_yield();
	}
	syscall(SYS_close, 0x50000001);
}

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == -1)
		abort();
}

int
main(int argc, char **argv)
{
	long before, after, n, page = sysconf(_SC_PAGESIZE);
	int option, yields = 0, waits = 0;
	char *pages, byte;

	while ((option = getopt(argc, argv, "c:yw")) != -1)
		if (option == 'c')
			pin(atoi(optarg));
		else if (option == 'y')
			yields = 1;
		else if (option == 'w')
			waits = 1;
		else
			return (2);
	if (optind + 1 != argc)
		return (2);
	n = atol(argv[optind]);
	pages = mmap(NULL, (size_t)((n + 1) * page), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || madvise(pages, (size_t)((n + 1) * page),
	    MADV_NOHUGEPAGE) == -1)
		return (1);
	/* Warm up: code, stack, symbol lookup of what comes. */
	before = faulted();
	touch(pages, n, n + 1, page, yields);
	after = faulted();
	printf("{\"pid\": %d, ", getpid());
	fflush(stdout);
	while (waits && read(0, &byte, 1) == 1)
		continue;
	before = faulted();
	touch(pages, 0, n, page, yields);
	after = faulted();
	printf("\"pages\": %ld, \"counted\": %ld}\n", n, after - before);
	return (after - before == n ? 0 : 1);
}
