/* SPDX-License-Identifier: ISC */
/*
 * Counters that a thread reads of itself: a counting session of one event and
 * one thread, whose descriptor is also mapped, so that the counter is read
 * without a system call where the processor and the kernel allow it.
 *
 * The mapping is the opening thread's: the number of its counter means nothing
 * on another CPU, and a child has no such mapping.  Both read the descriptor.
 * A page that the kernel clears in a child tells the child apart.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "count/direct.h"
#include "counters_impl.h"

struct prof_counter {
	struct prof_counting *pn_counting;
	int		 pn_fd;		/* of pn_counting */
	pthread_t	 pn_thread;
	const volatile struct perf_event_mmap_page *pn_page; /* or NULL */
	volatile char	*pn_is_parent;	/* a page: 1, and 0 in a child */
	size_t		 pn_bytes;	/* of either */
};

static void *
page_map(size_t bytes, int prot, int flags, int fd)
{
	void *page = mmap(NULL, bytes, prot, flags, fd, 0);

	return (page == MAP_FAILED ? NULL : page);
}

/* Without them every read is a system call. */
static void
pages_map(struct prof_counter *counter)
{
	const size_t bytes = counter->pn_bytes;
	char *own = page_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1);

	counter->pn_is_parent = own;
	if (own == NULL || madvise(own, bytes, MADV_WIPEONFORK) == -1)
		return;
	*own = 1;
	counter->pn_page = page_map(bytes, PROT_READ, MAP_SHARED,
	    counter->pn_fd);
}

struct prof_counter *
prof_counter_open(const char *spec, struct prof_err *error)
{
	const int tid = (int)syscall(SYS_gettid);
	const struct prof_counting_options options = {
		.co_size = sizeof(options), .co_target = PROF_TARGET_TIDS,
		.co_ids = &tid, .co_nids = 1
	};
	struct prof_counter *counter = calloc(1, sizeof(*counter));

	if (counter == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	counter->pn_thread = pthread_self();
	counter->pn_bytes = (size_t)sysconf(_SC_PAGESIZE);
	counter->pn_counting = prof_counting_open(&options, error);
	if (counter->pn_counting == NULL)
		goto fail;
	counter->pn_counting->kg_is_direct = true;
	if (prof_counting_add(counter->pn_counting, spec) == -1 ||
	    prof_counting_arm(counter->pn_counting) == -1) {
		*error = *prof_counting_error(counter->pn_counting);
		goto fail;
	}
	if (prof_counting_nevents(counter->pn_counting) != 1) {
		prof_fail(error, PROF_E_USAGE, "%s: a counter counts one "
		    "event", spec);
		prof_cure(error, "open a counter for each event");
		goto fail;
	}
	counter->pn_fd = prof_counting_fd(counter->pn_counting, 0, 0)->kf_fd;
	pages_map(counter);
	(void)prof_counting_start(counter->pn_counting);
	return (counter);
fail:
	prof_counter_close(counter);
	return (NULL);
}

static bool
is_own(const struct prof_counter *counter)
{
	return (counter->pn_page != NULL && *counter->pn_is_parent == 1 &&
	    pthread_equal(counter->pn_thread, pthread_self()));
}

int
prof_counter_read_sized(struct prof_counter *counter,
    struct prof_counter_value *value, size_t size)
{
	struct prof_counter_value read_value = { .cr_is_exact = 1,
	    .cr_is_direct = 1, .cr_running = 1 };
	uint64_t now[3];	/* count, enabled, running */

	if (!is_own(counter) || !prof_direct_read(counter->pn_page,
	    prof_pmc_read, &read_value.cr_count)) {
		if (read(counter->pn_fd, now, sizeof(now)) !=
		    (ssize_t)sizeof(now))
			return (-1);
		read_value.cr_count = now[0];
		read_value.cr_is_exact = now[1] == now[2];
		read_value.cr_is_direct = 0;
		if (!read_value.cr_is_exact)
			read_value.cr_running = (double)now[2] /
			    (double)now[1];
	}
	prof_struct_give(value, size, &read_value, sizeof(read_value));
	return (0);
}

void
prof_counter_close(struct prof_counter *counter)
{
	if (counter == NULL)
		return;
	if (counter->pn_page != NULL && *counter->pn_is_parent == 1)
		(void)munmap((void *)(uintptr_t)counter->pn_page,
		    counter->pn_bytes);
	if (counter->pn_is_parent != NULL)
		(void)munmap((void *)(uintptr_t)counter->pn_is_parent,
		    counter->pn_bytes);
	prof_counting_close(counter->pn_counting);
	free(counter);
}
