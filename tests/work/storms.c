/* SPDX-License-Identifier: ISC */
/*
 * One kind of event, as many and as fast as possible.
 *
 *	storms KIND [N]
 *
 *	syscall  calls of getppid(2)
 *	fork     children that end at once
 *	vfork    the same by vfork(2)
 *	mmap     executable pages, mapped and unmapped
 *	map      executable pages, each at another address, 1,000 at a time
 *	fault    page faults
 *	thread   threads that end at once
 *	signal   signals to itself
 *	switch   a turn of each of 1,000 threads, one after the other
 *
 * Without N it goes on until SIGTERM or SIGINT.  At its end it prints how many
 * there were, to the unit: a number and nothing else.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGES	1024
#define THREADS	1000

static volatile sig_atomic_t is_over;
static volatile uint64_t nsignals;
static size_t page;

static void
end(int number)
{
	(void)number;
	is_over = 1;
}

static void
heard(int number)
{
	(void)number;
	nsignals++;
}

static void
check(int has_worked)
{
	if (!has_worked)
		abort();
}

static void
one_syscall(uint64_t n)
{
	(void)n;
	syscall(SYS_getppid);
}

static void
reap(pid_t pid)
{
	int status;

	check(pid != -1);
	while (waitpid(pid, &status, 0) == -1)
		continue;
	check(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void
one_fork(uint64_t n)
{
	const pid_t pid = fork();

	(void)n;
	if (pid == 0)
		_exit(0);
	reap(pid);
}

static void
one_vfork(uint64_t n)
{
	const pid_t pid = vfork();

	(void)n;
	if (pid == 0)
		_exit(0);
	reap(pid);
}

static void *
map_page(int protection)
{
	void *memory = mmap(NULL, page, protection,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(memory != MAP_FAILED);
	return (memory);
}

static void
one_mmap(uint64_t n)
{
	(void)n;
	munmap(map_page(PROT_READ | PROT_EXEC), page);
}

/* Every other page, so that no two become one; the oldest goes. */
static void
one_map(uint64_t n)
{
	static void *live[1000];
	static char *at, *last;
	const size_t room = 1UL << 32;
	void **slot = &live[n % (sizeof(live) / sizeof(live[0]))];

	if (*slot != NULL)
		munmap(*slot, 2 * page);
	if (at == last) {
		if (last != NULL)
			munmap(last - room, room);
		memset(live, 0, sizeof(live));
		at = mmap(NULL, room, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		check(at != MAP_FAILED);
		last = at + room;
	}
	*slot = mmap(at, page, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	check(*slot == at);
	at += 2 * page;
}

static void
one_fault(uint64_t n)
{
	static char *memory;
	const size_t at = n % PAGES;

	if (memory == NULL) {
		memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		check(memory != MAP_FAILED);
		madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	} else if (at == 0)
		check(madvise(memory, PAGES * page, MADV_DONTNEED) == 0);
	memory[at * page] = 1;
}

static void *
idle(void *arg)
{
	return (arg);
}

static void
one_thread(uint64_t n)
{
	pthread_t thread;

	(void)n;
	check(pthread_create(&thread, NULL, idle, NULL) == 0);
	check(pthread_join(thread, NULL) == 0);
}

static void
one_signal(uint64_t n)
{
	check(raise(SIGUSR1) == 0);
	check(nsignals == n + 1);
}

static sem_t turn[THREADS + 1];

static void *
take_turns(void *own)
{
	sem_t *mine = own;

	for (;;) {
		while (sem_wait(mine) == -1)
			continue;
		sem_post(mine + 1);
	}
	return (NULL);
}

static void
one_switch(uint64_t n)
{
	pthread_t thread;

	for (size_t t = 0; n == 0 && t < THREADS; t++)
		check(sem_init(&turn[t], 0, 0) == 0 && pthread_create(&thread,
		    NULL, take_turns, &turn[t]) == 0);
	sem_post(&turn[0]);
	while (sem_wait(&turn[THREADS]) == -1)
		continue;
}

static const struct {
	const char	*name;
	void		(*one)(uint64_t n);
} kinds[] = {
	{ "syscall", one_syscall }, { "fork", one_fork },
	{ "vfork", one_vfork }, { "mmap", one_mmap }, { "map", one_map },
	{ "fault", one_fault }, { "thread", one_thread },
	{ "signal", one_signal }, { "switch", one_switch },
};

int
main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end };
	uint64_t n, times = UINT64_MAX;
	size_t kind;

	if (argc < 2 || argc > 3)
		return (2);
	for (kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		if (strcmp(argv[1], kinds[kind].name) == 0)
			break;
	if (kind == sizeof(kinds) / sizeof(kinds[0]))
		return (2);
	if (argc == 3)
		times = strtoull(argv[2], NULL, 10);
	page = (size_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	action.sa_handler = heard;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	for (n = 0; n < times && !is_over; n++)
		kinds[kind].one(n);
	printf("%llu\n", (unsigned long long)n);
	return (0);
}
