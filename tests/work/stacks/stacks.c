/* SPDX-License-Identifier: ISC */
/*
 * Stacks of every odd kind, each with a known answer.
 *
 *	stacks WHAT [plugin.so]
 *
 * Does WHAT over and over until it is killed.  Most of the time passes in
 * spin, so a sample there has the stack that this file shows; the others are
 * somewhere on the way.  tests/kern/stacks.py has the answers.  The tests
 * compile it, optimised, without frame pointers, in several ways.
 */
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_UCONTEXT
#include <ucontext.h>
#endif
#ifdef WITH_PLUGIN
#include <dlfcn.h>
#endif

#define STRANGE	__attribute__((noinline, noclone))
/* What a call was for happens after it, so it is no jump. */
#define AFTER	__asm__ volatile("" ::: "memory")

void	spin(void);
void	leaf(void);

static volatile unsigned long sink;
static const char *plugin;

/* Some 50 microseconds. */
STRANGE void
spin(void)
{
	unsigned long x = sink;

	for (int i = 0; i < 50000; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	sink = x;
}

/* ------------------------------------------------- frames of all shapes */

STRANGE static void
grown(int n)
{
	char *room = alloca((size_t)n * 40 + 8);

	memset(room, n, 8);
	spin();
	sink += (unsigned long)room[0];
}

STRANGE static void
do_alloca(void)
{
	for (int n = 0; n < 7; n++)
		grown(n);
	AFTER;
}

STRANGE static void
aligned(int n)
{
	_Alignas(64) volatile double lane[8];
	char *room = alloca((size_t)n * 24 + 8);

	for (int i = 0; i < 8; i++)
		lane[i] = n;
	memset(room, n, 8);
	spin();
	sink += (unsigned long)(lane[n & 7] + room[0]);
}

STRANGE static void
do_realign(void)
{
	for (int n = 0; n < 7; n++)
		aligned(n);
	AFTER;
}

STRANGE static int
down(int depth)
{
	int below = 0;

	if (depth == 0)
		spin();
	else
		below = down(depth - 1);
	AFTER;
	return (below + 1);
}

STRANGE static void
do_deep(void)
{
	sink += (unsigned long)down(1000);
	AFTER;
}

static int
compare(const void *a, const void *b)
{
	spin();
	return (*(const int *)a - *(const int *)b);
}

STRANGE static void
do_callback(void)
{
	int pair[2] = { 2, 1 };

	qsort(pair, 2, sizeof(*pair), compare);
	AFTER;
}

static jmp_buf there;

STRANGE static void
jumps(int depth)
{
	if (depth > 0)
		jumps(depth - 1);
	else {
		spin();
		if (sink != 0)
			longjmp(there, 1);
	}
	AFTER;
}

STRANGE static void
do_longjmp(void)
{
	if (setjmp(there) == 0)
		jumps(5);
	AFTER;
}

/* -------------------------------------------------------------- signals */

static void
on_second(int sig)
{
	(void)sig;
	spin();
	AFTER;
}

static void
on_alarm(int sig)
{
	(void)sig;
	spin();
	raise(SIGUSR2);
	AFTER;
}

static void
catch(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

STRANGE static void
busy(void)
{
	for (int i = 0; i < 1000; i++)
		sink = sink * 3 + 1;
}

STRANGE static void
interrupted(int flags)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };

	catch(SIGALRM, on_alarm, flags | SA_RESTART);
	catch(SIGUSR2, on_second, flags | SA_RESTART);
	setitimer(ITIMER_REAL, &often, NULL);
	for (;;)
		busy();
}

STRANGE static void
do_signal(void)
{
	interrupted(0);
	AFTER;
}

STRANGE static void
do_altstack(void)
{
	stack_t stack = { .ss_size = 65536 };

	stack.ss_sp = malloc(stack.ss_size);
	if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) == -1)
		exit(1);
	interrupted(SA_ONSTACK);
	AFTER;
}

/* ------------------------------------------- threads, children, contexts */

STRANGE static void
in_thread(void)
{
	spin();
	AFTER;
}

static void *
thread(void *arg)
{
	for (int n = 0; n < 1000; n++)
		in_thread();
	return (arg);
}

STRANGE static void
do_threads(void)
{
	pthread_t id[2];

	for (int n = 0; n < 2; n++)
		if (pthread_create(&id[n], NULL, thread, NULL) != 0)
			exit(1);
	for (int n = 0; n < 2; n++)
		pthread_join(id[n], NULL);
}

STRANGE static void
child(void)
{
	for (int n = 0; n < 40; n++)
		spin();
	_exit(0);
}

STRANGE static void
do_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		child();
	waitpid(pid, NULL, 0);
}

/*
 * After fork, a processor that does not set access flags itself faults at
 * each page that the child has not touched, and then nobody else can read it.
 */
static void
touch_callers(void)
{
	const volatile char *at = __builtin_frame_address(0);

	for (; at < (const char *)environ; at += 4096)
		(void)*at;
	(void)*(const volatile char *)environ;
}

STRANGE static void
do_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		touch_callers();
		child();
	}
	waitpid(pid, NULL, 0);
}

#ifdef WITH_UCONTEXT
static ucontext_t here, other;

STRANGE static void
in_coroutine(void)
{
	spin();
	AFTER;
}

static void
coroutine(void)
{
	for (;;) {
		in_coroutine();
		swapcontext(&other, &here);
	}
}

STRANGE static void
do_coroutine(void)
{
	static char stack[65536];

	if (getcontext(&other) == -1)
		exit(1);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	makecontext(&other, coroutine, 0);
	for (;;)
		swapcontext(&here, &other);
}
#endif

/* ------------------------------------------------- other files' code */

STRANGE static void
do_vdso(void)
{
	struct timespec ts;

	for (int n = 0; n < 1000; n++)
		clock_gettime(n & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &ts);
	AFTER;
}

#ifdef WITH_PLUGIN
/* leaf is the plugin's, called by the stub that finds it at its first call. */
STRANGE static void
do_plt(void)
{
	for (int n = 0; n < 1000; n++)
		leaf();
	AFTER;
}

STRANGE static void
do_dlopen(void)
{
	void *handle = dlopen(plugin, RTLD_LAZY | RTLD_LOCAL);
	void (*call)(void (*)(void));

	if (handle == NULL || (*(void **)&call = dlsym(handle,
	    "plugin_call")) == NULL)
		exit(1);
	for (int n = 0; n < 40; n++)
		call(spin);
	dlclose(handle);
}
#endif

static const struct {
	const char	*what;
	void		(*run)(void);
} kinds[] = {
	{ "alloca", do_alloca }, { "realign", do_realign },
	{ "deep", do_deep }, { "callback", do_callback },
	{ "longjmp", do_longjmp }, { "signal", do_signal },
	{ "altstack", do_altstack }, { "threads", do_threads },
	{ "vfork", do_vfork }, { "fork", do_fork }, { "vdso", do_vdso },
#ifdef WITH_UCONTEXT
	{ "coroutine", do_coroutine },
#endif
#ifdef WITH_PLUGIN
	{ "plt", do_plt }, { "dlopen", do_dlopen },
#endif
};

int
main(int argc, char *argv[])
{
	plugin = argc > 2 ? argv[2] : NULL;
	for (size_t n = 0; argc > 1 && n < sizeof(kinds) / sizeof(*kinds);
	    n++)
		while (strcmp(kinds[n].what, argv[1]) == 0)
			kinds[n].run();
	fprintf(stderr, "usage: stacks WHAT [plugin.so]\n");
	return (2);
}
