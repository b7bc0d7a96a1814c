/* SPDX-License-Identifier: ISC */
/*
 * Enters functions of its own and of the kernel so many times: leaf N times,
 * nested N, getppid(2) N, is left by one of two returns, and N times opens
 * /dev/null and gives it to sendmsg(2), with a name of 7 bytes.  With a second
 * argument three threads of each of two processes enter leaf, nested and
 * getppid(2), and handlers of signals, and it counts itself: getppid(2),
 * nested. For the guest, where it is linked statically.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define THREADS	3

long	leaf(long n, const char *text);
long	nested(long n);

__attribute__((noinline)) long
leaf(long n, const char *text)
{
	if (text[0] == 'o')
		return (n * 2);
	__asm__ volatile("");
	return (n + text[0]);
}

__attribute__((noinline)) long
nested(long n)
{
	long sum = leaf(n, n & 1 ? "odd" : "even");

	__asm__ volatile("");
	return (sum + 1);
}

static void
send_none(void)
{
	const struct msghdr message = { .msg_namelen = 7 };
	const int file = open("/dev/null", O_WRONLY);

	if (file == -1 || sendmsg(file, &message, 0) != -1)
		abort();
	(void)close(file);
}

/* Of all processes. */
static struct {
	atomic_long	asked;
	atomic_long	entered;
} *calls;
static long	times;

static void
ask(int signal)
{
	(void)signal;
	(void)syscall(SYS_getppid);
	calls->asked++;
}

static void *
thread_run(void *arg)
{
	for (long i = 0; i < times; i++) {
		(void)nested(i);
		calls->entered++;
		ask(0);
		if (i % 10 == 0)
			(void)raise(SIGUSR1);
	}
	return (arg);
}

static void
threads_run(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, thread_run, NULL) != 0)
			abort();
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
}

static int
storm(void)
{
	calls = mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (calls == MAP_FAILED || signal(SIGUSR1, ask) == SIG_ERR)
		return (1);
	const pid_t child = fork();

	threads_run();
	if (child == 0)
		_exit(0);
	if (child == -1 || waitpid(child, NULL, 0) != child)
		return (1);
	printf("%ld %ld\n", calls->asked, calls->entered);
	return (0);
}

int
main(int argc, char *argv[])
{
	const long n = argc > 1 ? atol(argv[1]) : 0;
	long sum = 0;

	times = n;
	if (argc > 2)
		return (storm());
	for (long i = 0; i < n; i++) {
		sum += nested(i);
		(void)syscall(SYS_getppid);
		send_none();
	}
	printf("%ld\n", sum);
	return (0);
}
