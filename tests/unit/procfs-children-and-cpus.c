/*
 * ASSERTION: The children of a process are found, whichever of its threads
 * started them; a process that has gone is none, also when nobody has waited
 * for it yet; a list of CPUs with holes is read as it is, and anything else is
 * refused.
 */
/* SPDX-License-Identifier: ISC */
#include <pthread.h>
#include <signal.h>

#include "os/procfs.h"
#include "rings.h"

static int
wait_for_ever(void)
{
	int pid;

	fflush(stdout);
	pid = fork();
	CHECK(pid != -1, "%s", strerror(errno));
	if (pid == 0) {
		pause();
		_exit(0);
	}
	return (pid);
}

static void *
start_one(void *arg)
{
	pthread_barrier_t *barrier = arg;
	static int pid;

	pid = wait_for_ever();
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return (&pid);
}

static bool
has(const int *pids, size_t n, int pid)
{
	while (n > 0)
		if (pids[--n] == pid)
			return (true);
	return (false);
}

static void
children(void)
{
	int mine, *pids = NULL;
	pthread_barrier_t barrier;
	size_t n = 0, cap = 0;
	pthread_t thread;
	void *other;

	mine = wait_for_ever();
	pthread_barrier_init(&barrier, NULL, 2);
	CHECK(pthread_create(&thread, NULL, start_one, &barrier) == 0,
	    "thread");
	pthread_barrier_wait(&barrier);
	CHECK(prof_procfs_children(getpid(), &pids, &n, &cap) == 0, "memory");
	pthread_barrier_wait(&barrier);
	pthread_join(thread, &other);
	CHECK(n == 2 && has(pids, n, mine) && has(pids, n, *(int *)other),
	    "%zu children", n);
	CHECK(prof_procfs_exists(mine), "a child is not there");
	kill(mine, SIGKILL);
	kill(*(int *)other, SIGKILL);
	CHECK(waitid(P_PID, (id_t)mine, NULL, WEXITED | WNOWAIT) == 0,
	    "%s", strerror(errno));
	CHECK(!prof_procfs_exists(mine), "a zombie is there");
	waitpid(mine, NULL, 0);
	waitpid(*(int *)other, NULL, 0);
	CHECK(!prof_procfs_exists(mine), "a child that ended is there");
	n = 0;
	CHECK(prof_procfs_children(mine, &pids, &n, &cap) == 0 && n == 0,
	    "children of nobody");
	free(pids);
}

/* The list, written out again one by one; "-": refused. */
static void
cpu_list(const char *text, const char *expected)
{
	char out[256] = "", one[16];
	size_t n, i;
	int *cpus;

	if (prof_cpu_list_parse(text, &cpus, &n) == -1)
		snprintf(out, sizeof(out), "-");
	for (i = 0; cpus != NULL && i < n; i++) {
		snprintf(one, sizeof(one), "%s%d", i == 0 ? "" : " ",
		    cpus[i]);
		strcat(out, one);
	}
	CHECK(strcmp(out, expected) == 0, "'%s' is '%s', not '%s'", text,
	    out, expected);
	free(cpus);
}

int
main(void)
{
	struct prof_rings_options options;

	children();
	cpu_list("0\n", "0");
	cpu_list("0-3\n", "0 1 2 3");
	cpu_list("0,2-3,8\n", "0 2 3 8");
	cpu_list("\n", "");
	cpu_list("3-1\n", "-");
	cpu_list("1,1\n", "-");
	cpu_list("0-\n", "-");
	cpu_list("a\n", "-");
	cpu_list("0-99999999\n", "-");
	cpu_list("-1\n", "-");
	rings_online(&options);
	CHECK(options.ro_ncpus == (size_t)sysconf(_SC_NPROCESSORS_ONLN),
	    "%zu CPUs online", options.ro_ncpus);
	CHECK(prof_cpus_possible() > options.ro_cpus[options.ro_ncpus - 1],
	    "fewer possible CPUs than online ones");
	free((int *)(uintptr_t)options.ro_cpus);
	printf("ok: children, lists of CPUs\n");
	return (0);
}
