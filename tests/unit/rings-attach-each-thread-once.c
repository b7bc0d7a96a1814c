/*
 * ASSERTION: Attached to a running process, every thread is recorded exactly
 * once: those that were there, those that began while we attached, and those
 * that they start later; and child processes too.
 *
 * Easy to get wrong: a thread found by listing may have inherited the events
 * of the one that started it, and would then be counted twice.
 */
/* SPDX-License-Identifier: ISC */
#include <pthread.h>
#include <sched.h>

#include "rings.h"

#define NROUNDS		4
#define MAX_ROUNDS	40
#define NPAGES		16
#define MAX_THREADS	150

enum phase { SPAWNING, WORKING, ENDING };

/* Between this test, the child and its threads. */
struct shared {
	int	sh_phase;
	int	sh_nthreads;
	int	sh_ndone;
	int	sh_ready;
};

static struct shared *shared;

static void *
work(void *arg)
{
	fault_pages(0);
	__atomic_add_fetch(&shared->sh_nthreads, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->sh_phase, __ATOMIC_SEQ_CST) ==
	    SPAWNING)
		usleep(200);
	fault_pages(NPAGES);
	/* Not yet: what ends is no longer there to be counted twice. */
	__atomic_add_fetch(&shared->sh_ndone, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->sh_phase, __ATOMIC_SEQ_CST) != ENDING)
		usleep(200);
	return (arg);
}

/* Starts threads all the time, a process once, and works itself at last. */
static void
family(size_t unused)
{
	pthread_t threads[MAX_THREADS], last;
	int n = 0, pid;

	(void)unused;
	pid = fork();
	if (pid == 0) {
		work(NULL);
		_exit(0);
	}
	while (n < MAX_THREADS && __atomic_load_n(&shared->sh_phase,
	    __ATOMIC_SEQ_CST) == SPAWNING) {
		if (pthread_create(&threads[n], NULL, work, NULL) != 0)
			break;
		if (++n == 20)
			__atomic_store_n(&shared->sh_ready, 1,
			    __ATOMIC_SEQ_CST);
		usleep(100);
	}
	/* One more, which nobody can have found by listing. */
	if (pthread_create(&last, NULL, work, NULL) != 0)
		_exit(97);
	work(NULL);
	pthread_join(last, NULL);
	while (n > 0)
		pthread_join(threads[--n], NULL);
	waitpid(pid, NULL, 0);
}

static int
count(void *arg, const struct prof_record *record)
{
	uint64_t *touching = arg;

	if (record->pr_type == PROF_R_SAMPLE && is_touching(record->pr_ip))
		++*touching;
	return (0);
}

/* Twice the same, a while apart: the last one has begun by then. */
static void
await_all(void)
{
	int before = 0, now = 0, quiet = 0;

	while (quiet < 40) {
		usleep(500);
		before = now;
		now = __atomic_load_n(&shared->sh_ndone, __ATOMIC_SEQ_CST);
		quiet = now == before && now == __atomic_load_n(
		    &shared->sh_nthreads, __ATOMIC_SEQ_CST) ? quiet + 1 : 0;
	}
}

/* How many threads began while we attached. */
static int
attach_once(void)
{
	struct prof_event event = page_faults(1), *events[] = { &event };
	struct prof_rings_options options;
	struct prof_accounting sum;
	struct prof_rings *rings;
	struct prof_err error = { 0 };
	uint64_t touching = 0;
	int pid, status, before;

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid = fork();
	CHECK(pid != -1, "%s", strerror(errno));
	if (pid == 0) {
		family(0);
		_exit(0);
	}
	while (!__atomic_load_n(&shared->sh_ready, __ATOMIC_SEQ_CST))
		sched_yield();
	before = __atomic_load_n(&shared->sh_nthreads, __ATOMIC_SEQ_CST);
	rings_online(&options);
	options.ro_pids = &pid;
	options.ro_npids = 1;
	options.ro_inherit = true;
	options.ro_samples = true;
	options.ro_events = events;
	options.ro_nevents = 1;
	options.ro_ring_bytes = 1 << 19;
	rings = rings_open(&options);
	CHECK(prof_rings_enable(rings) == 0, "%s", strerror(errno));
	__atomic_store_n(&shared->sh_phase, WORKING, __ATOMIC_SEQ_CST);
	await_all();
	__atomic_store_n(&shared->sh_phase, ENDING, __ATOMIC_SEQ_CST);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "status %#x",
	    status);
	CHECK(prof_rings_disable(rings) == 0, "%s", strerror(errno));
	rings_drain(rings, UINT64_MAX, count, &touching);
	CHECK(prof_rings_accounting(rings, 1, &sum, &error) == 0, "%s",
	    error.pe_text);
	CHECK(prof_rings_note(rings, 0) == NULL, "note: %s",
	    prof_rings_note(rings, 0));
	CHECK(sum.pa_full == 0 && sum.pa_unaccounted == 0,
	    "%llu lost, %lld unaccounted", (unsigned long long)sum.pa_full,
	    (long long)sum.pa_unaccounted);
	CHECK(touching == (uint64_t)shared->sh_nthreads * NPAGES,
	    "%d threads, %d before we attached: %llu samples of %d",
	    shared->sh_nthreads, before, (unsigned long long)touching,
	    shared->sh_nthreads * NPAGES);
	prof_rings_close(rings);
	free((int *)(uintptr_t)options.ro_cpus);
	return (shared->sh_nthreads - before);
}

int
main(void)
{
	int round, during = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED, "%s", strerror(errno));
	become_ordinary();
	/*
	 * On a busy machine all of a round may have begun before it is our
	 * turn, but for its last two.
	 */
	for (round = 0; round < NROUNDS ||
	    (during <= round * 2 && round < MAX_ROUNDS); round++)
		during += attach_once();
	CHECK(during > round * 2, "no thread began while we attached");
	printf("ok: %d rounds, %d threads began while attaching, each "
	    "recorded once\n", round, during);
	return (0);
}
