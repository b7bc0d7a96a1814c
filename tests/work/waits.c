/* SPDX-License-Identifier: ISC */
/*
 * Threads that wait in known ways, each in a function of its own: a pipe that
 * nobody writes, a mutex that is held, sleep, an epoll that nothing is ready
 * in, and one that counts instead.  They are named after that.  Prints
 * "ready" when all of them exist; whoever wants to see them wait looks when
 * they do.
 */
#include <sys/epoll.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))
/* What is called is not jumped to. */
#define RETURNS	__asm__ volatile("" ::: "memory")

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int unwritten[2];

APART static void
wait_in_pipe(void)
{
	char byte;

	if (read(unwritten[0], &byte, 1) == -1)
		perror("read");
	RETURNS;
}

APART static void
wait_in_mutex(void)
{
	pthread_mutex_lock(&held);
	RETURNS;
}

APART static void
wait_in_sleep(void)
{
	const struct timespec hour = { 3600, 0 };

	nanosleep(&hour, NULL);
	RETURNS;
}

APART static void
wait_in_epoll(void)
{
	const int nothing = epoll_create1(0);
	struct epoll_event event;

	/* A debugger interrupts it. */
	while (epoll_wait(nothing, &event, 1, -1) == -1)
		continue;
	RETURNS;
}

APART static void
spin_here(void)
{
	for (volatile unsigned long n = 0;; n++)
		continue;
}

static const struct way {
	const char	*wy_name;
	void		(*wy_wait)(void);
} ways[] = {
	{ "pipe", wait_in_pipe }, { "mutex", wait_in_mutex },
	{ "sleep", wait_in_sleep }, { "epoll", wait_in_epoll },
	{ "spin", spin_here }
};

static void *
wait_in(void *arg)
{
	const struct way *way = arg;

	pthread_setname_np(pthread_self(), way->wy_name);
	way->wy_wait();
	RETURNS;
	return (NULL);
}

int
main(void)
{
	pthread_t thread;

	if (pipe(unwritten) == -1)
		return (1);
	pthread_mutex_lock(&held);
	for (size_t n = 0; n < sizeof(ways) / sizeof(ways[0]); n++)
		if (pthread_create(&thread, NULL, wait_in,
		    (void *)&ways[n]) != 0)
			return (1);
	puts("ready");
	fflush(stdout);
	pause();
	return (0);
}
