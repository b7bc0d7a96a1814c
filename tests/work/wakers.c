/* SPDX-License-Identifier: ISC */
/*
 * wakers N: four threads, each of which waits N times and is woken in one way:
 * by a timer, by the network, by a thread at a futex, by a thread at a pipe.
 * On each CPU a thread named "bystander" runs all the while, which interrupts
 * interrupt.  Begins when it reads a byte.
 */
#include <linux/futex.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NAP_US	50

struct way {
	const char	*wy_name;
	void		(*wy_wait)(struct way *, int n);
	void		(*wy_end)(struct way *);
	atomic_int	 wy_asked;
	atomic_int	 wy_value;
};

static int ends[2], network, count;

static void
nap(long us)
{
	const struct timespec ts = { 0, us * 1000 };

	nanosleep(&ts, NULL);
}

static void
timer_wait(struct way *way, int n)
{
	(void)way;
	(void)n;
	nap(NAP_US);
}

static void
network_wait(struct way *way, int n)
{
	char byte;

	(void)way;
	(void)n;
	if (recv(network, &byte, 1, 0) != 1)
		err(1, "recv");
}

static void
network_end(struct way *way)
{
	(void)way;
	if (send(network, "", 1, 0) != 1)
		err(1, "send");
}

static void
pipe_wait(struct way *way, int n)
{
	char byte;

	(void)way;
	(void)n;
	if (read(ends[0], &byte, 1) != 1)
		err(1, "read");
}

static void
pipe_end(struct way *way)
{
	(void)way;
	if (write(ends[1], "", 1) != 1)
		err(1, "write");
}

static void
thread_wait(struct way *way, int n)
{
	while (atomic_load(&way->wy_value) <= n)
		syscall(SYS_futex, &way->wy_value, FUTEX_WAIT_PRIVATE, n,
		    NULL, NULL, 0);
}

static void
thread_end(struct way *way)
{
	atomic_fetch_add(&way->wy_value, 1);
	syscall(SYS_futex, &way->wy_value, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
	    0);
}

static struct way ways[] = {
	{ .wy_name = "timer", .wy_wait = timer_wait },
	{ .wy_name = "network", .wy_wait = network_wait,
	    .wy_end = network_end },
	{ .wy_name = "thread", .wy_wait = thread_wait, .wy_end = thread_end },
	{ .wy_name = "pipe", .wy_wait = pipe_wait, .wy_end = pipe_end }
};
#define NWAYS	((int)(sizeof(ways) / sizeof(ways[0])))

static void *
waiter_run(void *arg)
{
	struct way *way = arg;

	prctl(PR_SET_NAME, way->wy_name);
	for (int n = 0; n < count; n++) {
		atomic_fetch_add(&way->wy_asked, 1);
		way->wy_wait(way, n);
	}
	return (NULL);
}

/* Ends a wait a while after it began. */
static void *
ender_run(void *arg)
{
	struct way *way = arg;
	char name[16];

	snprintf(name, sizeof(name), "%s.end", way->wy_name);
	prctl(PR_SET_NAME, name);
	for (int n = 0; n < count; n++) {
		do
			nap(NAP_US);
		while (atomic_load(&way->wy_asked) <= n);
		way->wy_end(way);
	}
	return (NULL);
}

/* arg: its CPU. */
static void *
bystander_run(void *arg)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)(uintptr_t)arg, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	setpriority(PRIO_PROCESS, 0, 19);
	prctl(PR_SET_NAME, "bystander");
	for (volatile unsigned long n = 0;; n++)
		continue;
	return (NULL);
}

static void
begin(void *(*run)(void *), void *arg, pthread_t *thread)
{
	if (pthread_create(thread, NULL, run, arg) != 0)
		errx(1, "thread");
}

int
main(int argc, char **argv)
{
	struct sockaddr_in self = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	pthread_t bystander, threads[2 * NWAYS];
	socklen_t size = sizeof(self);
	int begun = 0;

	if (argc != 2)
		return (2);
	count = atoi(argv[1]);
	/* It sends to itself. */
	network = socket(AF_INET, SOCK_DGRAM, 0);
	if (pipe(ends) == -1 ||
	    bind(network, (struct sockaddr *)&self, size) == -1 ||
	    getsockname(network, (struct sockaddr *)&self, &size) == -1 ||
	    connect(network, (struct sockaddr *)&self, size) == -1)
		err(1, "network");
	(void)getchar();
	for (long n = 0; n < sysconf(_SC_NPROCESSORS_ONLN); n++)
		begin(bystander_run, (void *)(uintptr_t)n, &bystander);
	for (int n = 0; n < NWAYS; n++) {
		begin(waiter_run, &ways[n], &threads[begun++]);
		if (ways[n].wy_end != NULL)
			begin(ender_run, &ways[n], &threads[begun++]);
	}
	while (begun > 0)
		pthread_join(threads[--begun], NULL);
	return (0);
}
