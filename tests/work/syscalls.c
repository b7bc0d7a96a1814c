/* SPDX-License-Identifier: ISC */
/*
 * Makes system calls of many kinds, a known number of times, and says when
 * those that sleep began and ended by its own clock:
 *
 *	syscalls N
 *
 * N times getppid in each of two threads; 10 sleeps of 2 ms; N times openat of
 * /no/such/I, which fails; N writes of 7 bytes to a pipe and as many reads; a
 * fork and a vfork, whose children end at once; a signal to itself with a
 * handler; a sleep that a stop interrupts and the kernel goes on with; and
 * three 32-bit calls on x86-64.
 *
 * Prints one line of JSON, before which nothing was written to standard
 * output.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SLEEPS	10

static int n;
static volatile sig_atomic_t handled;
static int pipes[2];

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

static void *
make_getppid(void *arg)
{
	for (int i = 0; i < n; i++)
		(void)syscall(SYS_getppid);
	return (arg);
}

static void
on_signal(int sig)
{
	(void)sig;
	handled++;
}

static void
make_files(void)
{
	char path[64], byte[7] = "1234567";

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/no/such/%d", i);
		if (open(path, O_RDONLY) != -1)
			exit(1);
		if (write(pipes[1], byte, 7) != 7 ||
		    read(pipes[0], byte, 7) != 7)
			exit(1);
	}
}

static void
make_children(void)
{
	int status;
	pid_t pid;

	if ((pid = fork()) == 0)
		_exit(3);
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
		exit(1);
	if ((pid = vfork()) == 0)
		_exit(4);
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 4)
		exit(1);
}

/* A child stops us amid a sleep and lets us go on. */
static void
make_restart(void)
{
	const struct timespec sleep = { 0, 200000000 }, a_bit = { 0, 40000000 };
	pid_t self = getpid(), pid;

	if ((pid = fork()) == 0) {
		nanosleep(&a_bit, NULL);
		kill(self, SIGSTOP);
		nanosleep(&a_bit, NULL);
		kill(self, SIGCONT);
		_exit(0);
	}
	nanosleep(&sleep, NULL);
	waitpid(pid, NULL, 0);
}

static int
make_compat(void)
{
#if defined(__x86_64__)
	for (int i = 0; i < 3; i++) {
		long result = 20;	/* getpid, there */

		__asm__ volatile("int $0x80" : "+a"(result) : :
		    "r8", "r9", "r10", "r11", "memory");
		if (result != getpid())
			return (i);
	}
	return (3);
#else
	return (0);
#endif
}

int
main(int argc, char **argv)
{
	const struct timespec sleep = { 0, 2000000 };
	uint64_t begun[SLEEPS], ended[SLEEPS];
	pthread_t thread;
	int compat;

	n = argc > 1 ? atoi(argv[1]) : 100;
	if (pipe(pipes) == -1)
		return (1);
	signal(SIGUSR1, on_signal);
	if (pthread_create(&thread, NULL, make_getppid, NULL) != 0)
		return (1);
	make_getppid(NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < SLEEPS; i++) {
		begun[i] = now_ns();
		nanosleep(&sleep, NULL);
		ended[i] = now_ns();
	}
	make_files();
	make_children();
	kill(getpid(), SIGUSR1);
	make_restart();
	compat = make_compat();
	printf("{\"pid\": %d, \"n\": %d, \"compat\": %d, \"handled\": %d, "
	    "\"sleeps\": [", getpid(), n, compat, (int)handled);
	for (int i = 0; i < SLEEPS; i++)
		printf("%s[%llu, %llu]", i == 0 ? "" : ", ",
		    (unsigned long long)begun[i],
		    (unsigned long long)ended[i]);
	printf("]}\n");
	fflush(stdout);
	return (0);
}
