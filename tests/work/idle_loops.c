/* SPDX-License-Identifier: ISC */
/*
 * Threads that wait in event loops, and in functions that event loops call.
 * The loops are called as those of libuv.  A byte on standard input starts
 * them; each prints its name, its tid, and how long it waited, by its own
 * clocks.
 *
 *	timer	 the loop, until a timeout
 *	outside	 the loop, until standard input is written
 *	inside	 the loop, until another thread writes
 *	nested	 a loop in a callback of the loop, until a timeout
 *	callback epoll_wait in a callback of the loop, until a timeout
 *	sleep	 no loop
 */
#define _GNU_SOURCE
#include <sys/epoll.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	20
#define WAIT_MS	15

struct loop {
	const char	*lo_name;
	/* What the loop calls; NULL: it waits itself. */
	void		(*lo_callback)(struct loop *);
	int		 lo_fd;		/* a byte of it ends a wait; or -1 */
	uint64_t	 lo_ns;
};

void	uv__io_poll(struct loop *);
void	uv_run(struct loop *);

static int ends[2];	/* of the pipe that thread "inside" reads */

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

/* Wall-clock time less the CPU time of this thread. */
static uint64_t
waited_ns(void)
{
	return (clock_ns(CLOCK_MONOTONIC) -
	    clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

/* Inlined, so that its callers wait themselves. */
static inline __attribute__((always_inline)) void
wait_once(struct loop *loop)
{
	struct epoll_event event = { .events = EPOLLIN };
	const int ep = epoll_create1(0);
	uint64_t begin_ns;
	char byte;

	if (ep == -1 || (loop->lo_fd != -1 &&
	    epoll_ctl(ep, EPOLL_CTL_ADD, loop->lo_fd, &event) == -1))
		exit(1);
	begin_ns = waited_ns();
	if (epoll_wait(ep, &event, 1, loop->lo_fd == -1 ? WAIT_MS : -1) == -1)
		exit(1);
	loop->lo_ns += waited_ns() - begin_ns;
	if (loop->lo_fd != -1 && read(loop->lo_fd, &byte, 1) != 1)
		exit(1);
	close(ep);
}

__attribute__((noinline)) void
uv__io_poll(struct loop *loop)
{
	wait_once(loop);
}

__attribute__((noinline)) static void
wait_in_callback(struct loop *loop)
{
	wait_once(loop);
}

__attribute__((noinline)) static void
loop_in_callback(struct loop *loop)
{
	loop->lo_callback = NULL;
	uv_run(loop);
	loop->lo_callback = loop_in_callback;
}

__attribute__((noinline)) void
uv_run(struct loop *loop)
{
	(loop->lo_callback == NULL ? uv__io_poll : loop->lo_callback)(loop);
	/* No tail call. */
	__asm__ volatile("" ::: "memory");
}

static void
pause_once(void)
{
	const struct timespec time = { .tv_nsec = WAIT_MS * 1000000 };

	nanosleep(&time, NULL);
}

static void *
run_loop(void *arg)
{
	struct loop *loop = arg;

	for (int n = 0; n < ROUNDS; n++)
		uv_run(loop);
	printf("%s %d %llu\n", loop->lo_name, gettid(),
	    (unsigned long long)loop->lo_ns);
	return (NULL);
}

static void *
run_sleep(void *arg)
{
	const uint64_t begin_ns = waited_ns();

	(void)arg;
	for (int n = 0; n < ROUNDS; n++) {
		pause_once();
		if (write(ends[1], "", 1) != 1)
			exit(1);
	}
	printf("sleep %d %llu\n", gettid(),
	    (unsigned long long)(waited_ns() - begin_ns));
	return (NULL);
}

int
main(void)
{
	struct loop loops[] = { { "timer", NULL, -1, 0 },
	    { "outside", NULL, STDIN_FILENO, 0 }, { "inside", NULL, -1, 0 },
	    { "nested", loop_in_callback, -1, 0 },
	    { "callback", wait_in_callback, -1, 0 } };
	const size_t n = sizeof(loops) / sizeof(loops[0]);
	pthread_t thread[sizeof(loops) / sizeof(loops[0]) + 1];
	char byte;

	if (pipe(ends) == -1 || read(STDIN_FILENO, &byte, 1) != 1)
		return (1);
	loops[2].lo_fd = ends[0];
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, run_loop, &loops[i]) != 0)
			return (1);
	if (pthread_create(&thread[n], NULL, run_sleep, NULL) != 0)
		return (1);
	for (size_t i = 0; i <= n; i++)
		pthread_join(thread[i], NULL);
	return (0);
}
