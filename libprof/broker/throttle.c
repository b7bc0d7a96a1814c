/* SPDX-License-Identifier: ISC */
/* See throttle.h.  Called by broker.c, keeper.c and, in the child, parser.c. */
#include <sys/mman.h>
#include <sys/time.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "throttle.h"

#define TICK_US		2000	/* of CPU time; the kernel's tick if longer */
/* The longest sleep: a wakeup took 56 us, and a share can be 0.4% of a CPU. */
#define NAP_NS		100000000ULL

/* Of a parser, which has one thread, or of the keeper. */
static const struct prof_throttle *obeyed;
static volatile bool can_sleep;
static uint64_t from_ns, from_cpu_ns;

struct prof_throttle *
prof_throttle_new(void)
{
	void *memory = mmap(NULL, sizeof(struct prof_throttle),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return (memory == MAP_FAILED ? NULL : memory);
}

void
prof_throttle_free(struct prof_throttle *throttle)
{
	if (throttle != NULL)
		(void)munmap(throttle, sizeof(*throttle));
}

void
prof_throttle_set(struct prof_throttle *throttle, uint32_t share)
{
	__atomic_store_n(&throttle->th_share, share, __ATOMIC_RELAXED);
}

/* ---------------------------------------- in the keeper and parsers */

/* What was not used since the last signal is not kept for later. */
static void
count_anew(void)
{
	from_ns = prof_now_ns();
	from_cpu_ns = prof_process_cpu_ns();
}

/* How long to sleep until no more than the share has been used. */
static uint64_t
owed_ns(void)
{
	const uint64_t share = __atomic_load_n(&obeyed->th_share,
	    __ATOMIC_RELAXED);
	const uint64_t passed_ns = prof_now_ns() - from_ns;
	const uint64_t used_ns = prof_process_cpu_ns() - from_cpu_ns;
	const uint64_t due_ns = share == 0 || share >= PROF_THROTTLE_CPU ? 0 :
	    used_ns * PROF_THROTTLE_CPU / share;

	return (due_ns > passed_ns ? due_ns - passed_ns : 0);
}

static void
sleep_now(int number)
{
	const int error_number = errno;
	struct timespec nap = { 0, 0 };
	uint64_t owed;

	(void)number;
	while (can_sleep && (owed = owed_ns()) > 0) {
		nap.tv_nsec = (long)(owed > NAP_NS ? NAP_NS : owed);
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	}
	count_anew();
	errno = error_number;
}

bool
prof_throttle_obey(struct prof_throttle *throttle)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = sleep_now;
	action.sa_flags = SA_RESTART;
	obeyed = throttle;
	return (mprotect(throttle, sizeof(*throttle), PROT_READ) == 0 &&
	    sigaction(SIGPROF, &action, NULL) == 0);
}

bool
prof_throttle_tick(void)
{
	const struct itimerval tick = { { 0, TICK_US }, { 0, TICK_US } };

	count_anew();
	return (setitimer(ITIMER_PROF, &tick, NULL) == 0);
}

void
prof_throttle_begin(bool can_wait)
{
	can_sleep = can_wait;
}
