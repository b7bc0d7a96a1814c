/* SPDX-License-Identifier: ISC */
/*
 * Threads that wait in known ways, each in a function of its own, and know for
 * how long: in sleep, in a mutex that another one holds, in a pipe, sockets,
 * epoll and poll, in a page fault, and for a CPU that another one is on; and a
 * child process that is stopped.  Prints for each thread its name and number,
 * the time that passed in that function, how much of it the thread ran by its
 * own clock, when it looks at its schedstat, at its end, and the fields of
 * that.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))
/* What is called is not jumped to. */
#define RETURNS	__asm__ volatile("" ::: "memory")
#define ROUNDS	20
#define NAP_NS	5000000
#define SPIN_NS	300000000ULL
#define PAGE	4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], sockets[2], epoll, faults, network;
static char *pages;
static pid_t child;

static uint64_t
now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

static void
nap(void)
{
	const struct timespec ts = { 0, NAP_NS };

	nanosleep(&ts, NULL);
}

APART static void
wait_in_sleep(void)
{
	nap();
	RETURNS;
}

APART static void
wait_in_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	RETURNS;
}

APART static void
wait_in_pipe(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		exit(1);
	RETURNS;
}

APART static void
wait_in_socket(void)
{
	char byte;

	if (recv(sockets[0], &byte, 1, 0) != 1)
		exit(1);
	RETURNS;
}

APART static void
wait_in_network(void)
{
	char byte;

	if (recv(network, &byte, 1, 0) != 1)
		exit(1);
	RETURNS;
}

APART static void
wait_in_epoll(void)
{
	struct epoll_event event;

	if (epoll_wait(epoll, &event, 1, NAP_NS / 1000000) != 0)
		exit(1);
	RETURNS;
}

APART static void
wait_in_poll(void)
{
	if (poll(NULL, 0, NAP_NS / 1000000) != 0)
		exit(1);
	RETURNS;
}

/* Of a page that the keeper brings. */
APART static void
wait_in_fault(void)
{
	static volatile char *at;

	at = at == NULL ? pages : at + PAGE;
	(void)*at;
	RETURNS;
}

APART static void
wait_in_stop(void)
{
	raise(SIGSTOP);
	RETURNS;
}

/* The other one that is on this CPU does the same. */
APART static void
wait_for_cpu(void)
{
	const uint64_t until_ns = now(CLOCK_THREAD_CPUTIME_ID) +
	    SPIN_NS / ROUNDS;

	while (now(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		continue;
	RETURNS;
}

/* The page that the next fault is about. */
static void
page_bring(void)
{
	static char zeros[PAGE] __attribute__((aligned(PAGE)));
	static uint64_t at;
	struct uffdio_copy copy = { .dst = (uintptr_t)pages + at,
	    .src = (uintptr_t)zeros, .len = PAGE };

	if (ioctl(faults, UFFDIO_COPY, &copy) == -1)
		exit(1);
	at += PAGE;
}

/* Holds the mutex, and ends the waits of others. */
APART static void
keep_waiting(void)
{
	pthread_mutex_lock(&mutex);
	nap();
	pthread_mutex_unlock(&mutex);
	if (write(ends[1], "", 1) != 1 || send(sockets[1], "", 1, 0) != 1 ||
	    send(network, "", 1, 0) != 1)
		exit(1);
	page_bring();
	kill(child, SIGCONT);
	nap();
}

static const struct way {
	const char	*wy_name;
	void		(*wy_wait)(void);
} ways[] = {
	{ "sleep", wait_in_sleep }, { "mutex", wait_in_mutex },
	{ "pipe", wait_in_pipe }, { "socket", wait_in_socket },
	{ "network", wait_in_network },
	{ "epoll", wait_in_epoll }, { "poll", wait_in_poll },
	{ "fault", wait_in_fault }, { "cpu", wait_for_cpu },
	{ "cpu", wait_for_cpu }, { "keeper", keep_waiting }
};
#define NWAYS	(sizeof(ways) / sizeof(ways[0]))

static void
say(const struct way *way, uint64_t wall_ns, uint64_t cpu_ns)
{
	char path[64], text[128] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat",
	    gettid());
	if ((fd = open(path, O_RDONLY)) == -1 ||
	    read(fd, text, sizeof(text) - 1) <= 0)
		exit(1);
	printf("%s %d %llu %llu %llu %s", way->wy_name, gettid(),
	    (unsigned long long)wall_ns, (unsigned long long)cpu_ns,
	    (unsigned long long)now(CLOCK_MONOTONIC), text);
}

static void *
wait_in(void *arg)
{
	const struct way *way = arg;
	uint64_t wall_ns = 0, cpu_ns = 0;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	pthread_setname_np(pthread_self(), way->wy_name);
	if (way->wy_wait == wait_for_cpu)
		pthread_setaffinity_np(pthread_self(), sizeof(first), &first);
	for (int n = 0; n < ROUNDS; n++) {
		wall_ns -= now(CLOCK_MONOTONIC);
		cpu_ns -= now(CLOCK_THREAD_CPUTIME_ID);
		way->wy_wait();
		cpu_ns += now(CLOCK_THREAD_CPUTIME_ID);
		wall_ns += now(CLOCK_MONOTONIC);
		/* Let the other one have it again. */
		if (way->wy_wait == wait_in_mutex)
			nap();
	}
	say(way, wall_ns, cpu_ns);
	return (NULL);
}

/* A socket that sends to itself, through the network. */
static int
network_open(void)
{
	struct sockaddr_in self = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(self);

	network = socket(AF_INET, SOCK_DGRAM, 0);
	return (bind(network, (struct sockaddr *)&self, size) == -1 ||
	    getsockname(network, (struct sockaddr *)&self, &size) == -1 ||
	    connect(network, (struct sockaddr *)&self, size) == -1 ? -1 : 0);
}

/* Its pages are there once somebody brings them. */
static int
pages_open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range.len = ROUNDS * PAGE,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	pages = mmap(NULL, ROUNDS * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)pages;
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC |
	    UFFD_USER_MODE_ONLY);
	return (pages == MAP_FAILED || faults == -1 ||
	    ioctl(faults, UFFDIO_API, &api) == -1 ||
	    ioctl(faults, UFFDIO_REGISTER, &range) == -1 ? -1 : 0);
}

/* SIGCHLD is blocked: each stop of the child would wake one of the threads. */
static void
child_begin(void)
{
	static const struct way stopped = { "stopped", wait_in_stop };
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		wait_in((void *)(uintptr_t)&stopped);
		exit(0);
	}
}

int
main(void)
{
	static const struct way rest = { "main", NULL };
	pthread_t thread[NWAYS];
	pid_t ended;
	int status;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	if (pipe(ends) == -1 || pages_open() == -1 || network_open() == -1 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == -1 ||
	    (epoll = epoll_create1(0)) == -1)
		return (1);
	/* Until its stacks can be walked. */
	for (int n = 0; n < ROUNDS; n++)
		nap();
	say(&rest, 0, 0);
	child_begin();
	for (size_t n = 0; n < NWAYS; n++)
		if (pthread_create(&thread[n], NULL, wait_in,
		    (void *)(uintptr_t)&ways[n]) != 0)
			return (1);
	for (size_t n = 0; n < NWAYS; n++)
		pthread_join(thread[n], NULL);
	/* It was not stopped yet each time that the keeper continued it. */
	while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
		kill(child, SIGCONT);
		nap();
	}
	if (ended != child || status != 0)
		return (1);
	say(&rest, 0, 0);
	return (0);
}
