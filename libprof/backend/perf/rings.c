/* SPDX-License-Identifier: ISC */
/*
 * The perf rings of a session: opening, starting, stopping and closing them.
 *
 * One ring per CPU, shared by all events on it.  For every session they bring
 * the sideband: executable mappings with build-ids, symbols of code that the
 * kernel makes, throttling.  Where BPF may not be used they bring names,
 * process events and samples too: own processes, user space.
 *
 *	open.c             events	drain.c             rings -> records
 *	tasks.c            threads	parse.c             bytes -> record
 *	owner.c            doubles	account.c           what it adds up to
 *	map.c              memory	switches.c          off-CPU time
 *
 * Called by the session.  The identifiers of events are sorted once, at the
 * end of open; from then on nothing here changes but the drain's counters.
 */
#include <sys/ioctl.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "events/instrument.h"
#include "os/cpus.h"
#include "rings_impl.h"

#define FIRST_BACKLOG	4096
#define RECORD_MAX	65536	/* header.size has 16 bits */
#define COPIES_BYTES	(32ULL << 20)	/* of a ring, where stacks are copied */
#define COPIES_SUM	(512ULL << 20)
#define CODE_BYTES	65536	/* of a ring for the kernel's code */

static struct prof_rings *rings_new(const struct prof_rings_options *);
static void	add_events(struct prof_rings *,
		    const struct prof_rings_options *);
static int	open_rings(struct prof_rings *,
		    const struct prof_rings_options *, struct prof_err *);
static int	finish_open(struct prof_rings *, struct prof_err *);
static int	compare_id(const void *, const void *);
static size_t	ring_bytes(size_t);
static int	switch_samples(struct prof_rings *, unsigned long);

static size_t
ring_bytes(size_t wanted)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (wanted == 0)
		wanted = PROF_RING_BYTES;
	while (bytes < wanted && bytes <= SIZE_MAX / 4)
		bytes *= 2;
	return (bytes);
}

/*
 * A copy of a stack is mostly room for a deep one: where memory may be locked
 * the ring holds as many samples as others hold without copies.
 */
static size_t
first_bytes(struct prof_rings *rings, const struct prof_rings_options *options)
{
	size_t bytes = ring_bytes(options->ro_ring_bytes), all = COPIES_BYTES;

	rings->rs_enough_bytes = SIZE_MAX;
	if (options->ro_ring_bytes != 0 || rings->rs_stack_bytes == 0)
		return (bytes);
	rings->rs_enough_bytes = bytes;
	while (all > bytes && all > COPIES_SUM / rings->rs_nrings)
		all /= 2;
	return (all > bytes ? all : bytes);
}

static struct prof_rings *
rings_new(const struct prof_rings_options *options)
{
	struct prof_rings *rings = calloc(1, sizeof(*rings));

	if (rings == NULL)
		return (NULL);
	rings->rs_all = options->ro_pids == NULL && !options->ro_has_cgroup;
	rings->rs_has_cgroup = options->ro_has_cgroup;
	rings->rs_quiet = options->ro_quiet;
	rings->rs_max_fds = options->ro_max_fds;
	rings->rs_samples = options->ro_samples;
	rings->rs_inherit = options->ro_inherit;
	rings->rs_enable_on_exec = options->ro_enable_on_exec;
	rings->rs_callchain = options->ro_callchain;
	rings->rs_stack_bytes = options->ro_stack_bytes;
	rings->rs_snapshots = options->ro_snapshots;
	rings->rs_before = options->ro_before;
	rings->rs_kinds = options->ro_kinds;
	rings->rs_has_lost = rings->rs_has_build_id = true;
	rings->rs_ring = calloc(2 * options->ro_ncpus,
	    sizeof(*rings->rs_ring));
	rings->rs_poll = calloc(2 * options->ro_ncpus,
	    sizeof(*rings->rs_poll));
	rings->rs_event = calloc(options->ro_nevents + 1,
	    sizeof(*rings->rs_event));
	rings->rs_at = calloc(FIRST_BACKLOG, sizeof(*rings->rs_at));
	rings->rs_at_cap = FIRST_BACKLOG;
	rings->rs_scratch = calloc(1, RECORD_MAX);
	rings->rs_ids = prof_build_ids_new();
	if (rings->rs_ring == NULL || rings->rs_poll == NULL ||
	    rings->rs_event == NULL || rings->rs_at == NULL ||
	    rings->rs_scratch == NULL || rings->rs_ids == NULL) {
		prof_rings_close(rings);
		return (NULL);
	}
	add_events(rings, options);
	return (rings);
}

/* What can sample here: perf events; others belong to BPF. */
static void
add_events(struct prof_rings *rings,
    const struct prof_rings_options *options)
{
	long max_stack = prof_proc_number(
	    "/proc/sys/kernel/perf_event_max_stack", DTP_MAX_UFRAMES);
	struct prof_event *event;
	struct ring_event *added;
	size_t n;

	for (n = 0; options->ro_samples && n < options->ro_nevents; n++) {
		event = options->ro_events[n];
		if (!event->ev_has_period &&
		    !event->ev_instrument->im_has_switches)
			continue;
		added = &rings->rs_event[rings->rs_nevents++];
		added->re_event = event;
		added->re_is_of_switches = !event->ev_has_period;
		added->re_layout.ly_event = event->ev_id;
		added->re_layout.ly_has_period = event->ev_attr.freq;
		added->re_layout.ly_has_chain = options->ro_callchain;
		added->re_layout.ly_stack_bytes = options->ro_stack_bytes;
		added->re_layout.ly_max_stack = (uint32_t)max_stack;
		if (!event->ev_attr.freq)
			added->re_layout.ly_period =
			    event->ev_attr.sample_period;
		if (event->ev_attr.type == PERF_TYPE_SOFTWARE &&
		    (event->ev_attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		    event->ev_attr.config == PERF_COUNT_SW_CPU_MIGRATIONS))
			prof_rings_say(rings, "%s occurs in the kernel and "
			    "cannot be recorded without BPF",
			    event->ev_name);
	}
}

/* A ring for each CPU that is there. */
static int
add_rings(struct prof_rings *rings, const struct prof_rings_options *options,
    int (*open)(struct prof_rings *, struct ring *, int, struct prof_err *),
    struct prof_err *error)
{
	struct ring *ring;
	size_t n;
	int rv;

	for (n = 0; n < options->ro_ncpus; n++) {
		ring = &rings->rs_ring[rings->rs_nrings];
		rv = open(rings, ring, options->ro_cpus[n], error);
		if (rv == -1)
			return (-1);
		if (rv == 1)
			rings->rs_poll[rings->rs_nrings++] = ring->rg_fd;
	}
	return (0);
}

static int
open_rings(struct prof_rings *rings, const struct prof_rings_options *options,
    struct prof_err *error)
{
	if (add_rings(rings, options, prof_ring_open, error) == -1)
		return (-1);
	rings->rs_nshared = rings->rs_nrings;
	if (rings->rs_nrings == 0)
		return (prof_fail(error, PROF_E_TARGET,
		    "none of the CPUs of -C is online"));
	if (prof_ring_map_all(rings, 0, first_bytes(rings, options), error) ==
	    -1)
		return (-1);
	if (rings->rs_all || rings->rs_samples)
		return (0);
	return (add_rings(rings, options, prof_ring_open_code, error) == -1 ?
	    -1 : prof_ring_map_all(rings, rings->rs_nshared,
	    ring_bytes(CODE_BYTES), error));
}

static int
compare_id(const void *left, const void *right)
{
	const struct ring_fd *a = left, *b = right;

	return (a->rf_id < b->rf_id ? -1 : a->rf_id > b->rf_id);
}

static int
finish_open(struct prof_rings *rings, struct prof_err *error)
{
	if (rings->rs_samples && rings->rs_nevents == 0)
		return (prof_fail(error, PROF_E_EMPTY,
		    "none of the events can be recorded without BPF"));
	for (size_t e = 0; e < rings->rs_nevents; e++)
		if (rings->rs_event[e].re_is_of_switches &&
		    (rings->rs_switches = prof_ring_switches_new(
		    &rings->rs_event[e], rings->rs_enable_on_exec)) == NULL)
			return (prof_fail_nomem(error));
	qsort(rings->rs_fd, rings->rs_nfds, sizeof(*rings->rs_fd),
	    compare_id);
	if (rings->rs_doubles && prof_ring_owners_init(rings) == -1)
		return (prof_fail_nomem(error));
	return (0);
}

struct prof_rings *
prof_rings_open(const struct prof_rings_options *options,
    struct prof_err *error)
{
	struct prof_rings *rings = rings_new(options);

	if (rings == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	if (open_rings(rings, options, error) == -1 ||
	    prof_rings_add_tasks(rings, options, error) == -1 ||
	    finish_open(rings, error) == -1) {
		prof_rings_close(rings);
		return (NULL);
	}
	return (rings);
}

const struct ring_fd *
prof_ring_fd_of(const struct prof_rings *rings, uint64_t id)
{
	const struct ring_fd key = { .rf_id = id };

	return (bsearch(&key, rings->rs_fd, rings->rs_nfds,
	    sizeof(*rings->rs_fd), compare_id));
}

/* The sideband runs since open: only the sampling events are switched. */
static int
switch_samples(struct prof_rings *rings, unsigned long request)
{
	int rv = 0;
	size_t n;

	for (n = 0; n < rings->rs_nfds; n++)
		if (rings->rs_fd[n].rf_event != RING_SIDE_BAND &&
		    ioctl(rings->rs_fd[n].rf_fd, request, 0) == -1)
			rv = -1;
	return (rv);
}

/*
 * A task that is just being started copies its parent's state before it is
 * among those that are switched with the parent, and would stay as it is for
 * ever.  So running processes are switched again when such a start must be
 * over: without it, a thread was missing now and then under a storm of them.
 */
static int
switch_all(struct prof_rings *rings, unsigned long request)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int pass, rv = switch_samples(rings, request);

	for (pass = 0; pass < 2 && rings->rs_nevents > 0 &&
	    rings->rs_inherit && !rings->rs_all; pass++) {
		nanosleep(&pause, NULL);
		(void)switch_samples(rings, request);
	}
	return (rv);
}

int
prof_rings_enable(struct prof_rings *rings)
{
	/* Of a command, exec does it, so that the first instruction counts. */
	if (rings->rs_enable_on_exec) {
		rings->rs_enable_on_exec = false;
		return (0);
	}
	return (switch_all(rings, PERF_EVENT_IOC_ENABLE));
}

int
prof_rings_disable(struct prof_rings *rings)
{
	return (switch_all(rings, PERF_EVENT_IOC_DISABLE));
}

size_t
prof_rings_fds(const struct prof_rings *rings, const int **fds)
{
	*fds = rings->rs_poll;
	return (rings->rs_nrings);
}

void
prof_rings_say(struct prof_rings *rings, const char *fmt, ...)
{
	char *note;
	va_list ap;
	int len;

	if (rings->rs_nnotes == sizeof(rings->rs_note) /
	    sizeof(rings->rs_note[0]))
		return;
	va_start(ap, fmt);
	len = vasprintf(&note, fmt, ap);
	va_end(ap);
	if (len != -1)
		rings->rs_note[rings->rs_nnotes++] = note;
}

const char *
prof_rings_note(const struct prof_rings *rings, size_t n)
{
	return (n < rings->rs_nnotes ? rings->rs_note[n] : NULL);
}

uint64_t
prof_rings_taken_away(const struct prof_rings *rings)
{
	return (rings->rs_taken_away);
}

void
prof_rings_close(struct prof_rings *rings)
{
	size_t n;

	if (rings == NULL)
		return;
	for (n = 0; n < rings->rs_nrings; n++)
		prof_ring_unmap(&rings->rs_ring[n]);
	for (n = 0; n < rings->rs_nfds; n++)
		close(rings->rs_fd[n].rf_fd);
	for (n = 0; n < rings->rs_nnotes; n++)
		free(rings->rs_note[n]);
	prof_pidset_fini(&rings->rs_execs);
	free(rings->rs_ring);
	free(rings->rs_fd);
	free(rings->rs_poll);
	free(rings->rs_event);
	free(rings->rs_task);
	free(rings->rs_owner);
	free(rings->rs_at);
	prof_ring_switches_free(rings->rs_switches);
	free(rings->rs_scratch);
	prof_build_ids_free(rings->rs_ids);
	free(rings);
}
