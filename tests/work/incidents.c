/* SPDX-License-Identifier: ISC */
/*
 * Incidents at known times, for triggers:
 *
 *	incidents WHAT FILE
 *
 * FILE is mapped: a number of rounds that are to be made, and one that were.
 * In each round 10,000 requests are made, from lseek(-1, TOKEN) to getppid(),
 * with tokens from 0 on; an odd round has one incident, at a random request.
 * WHAT is slow (the request spins for SLOW_NS), stall (it sleeps for so long),
 * crash (a child dies of SIGSEGV; in even rounds of SIGTERM) or press (two
 * children in the cgroup of the environment's HOGS spin on one CPU); else there
 * are requests alone.  After each round a line: round, token of the incident or
 * -1, the longest request in ns, by this program's own clock, and the time.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS	10000
#define SLOW_NS		300000000ULL

struct rounds {
	uint64_t	ro_wanted;
	uint64_t	ro_made;
};

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec);
}

static void
rest(uint64_t ns)
{
	const struct timespec ts = { (time_t)(ns / 1000000000),
	    (long)(ns % 1000000000) };

	(void)nanosleep(&ts, NULL);
}

static void
die(int number)
{
	const pid_t pid = fork();

	if (pid == 0) {
		signal(number, SIG_DFL);
		(void)raise(number);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
}

static void
spin(uint64_t ns)
{
	const uint64_t until = now_ns() + ns;

	while (now_ns() < until)
		continue;
}

static void
hog(void)
{
	const int fd = open(getenv("HOGS"), O_WRONLY);
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (fd == -1 || write(fd, "0", 1) != 1 ||
	    sched_setaffinity(0, sizeof(one), &one) == -1)
		_exit(1);
	spin(2 * SLOW_NS);
	_exit(0);
}

static void
press(void)
{
	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			hog();
	while (wait(NULL) > 0)
		continue;
}

static void
incident(const char *what)
{

	if (strcmp(what, "crash") == 0)
		die(SIGSEGV);
	else if (strcmp(what, "press") == 0)
		press();
	else if (strcmp(what, "stall") == 0)
		rest(SLOW_NS);
	else if (strcmp(what, "slow") == 0)
		spin(SLOW_NS);
}

/* The longest request. */
static uint64_t
requests(const char *what, long token)
{
	uint64_t longest = 0, begin, took;

	for (long n = 0; n < REQUESTS; n++) {
		begin = now_ns();
		(void)syscall(SYS_lseek, -1, n, 0);
		if (n == token)
			incident(what);
		(void)syscall(SYS_getppid);
		took = now_ns() - begin;
		if (took > longest)
			longest = took;
	}
	return (longest);
}

int
main(int argc, char **argv)
{
	volatile struct rounds *rounds;
	uint64_t longest;
	long token;
	int fd;

	if (argc != 3 || (fd = open(argv[2], O_RDWR | O_CREAT, 0600)) == -1 ||
	    ftruncate(fd, sizeof(*rounds)) == -1)
		return (1);
	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	if (rounds == MAP_FAILED)
		return (1);
	srandom((unsigned)now_ns());
	for (;;) {
		/* A beat, as a sign that time goes on. */
		for (; rounds->ro_made == rounds->ro_wanted; rest(5000000))
			(void)syscall(SYS_lseek, -1, -2, 0);
		token = rounds->ro_made % 2 == 1 ? random() % REQUESTS : -1;
		if (token == -1 && strcmp(argv[1], "crash") == 0)
			die(SIGTERM);
		longest = requests(argv[1], token);
		printf("%" PRIu64 " %ld %" PRIu64 " %" PRIu64 "\n",
		    rounds->ro_made, token, longest, now_ns());
		fflush(stdout);
		rounds->ro_made++;
	}
}
