/* SPDX-License-Identifier: ISC */
/*
 * What the samples of the perf path add up to.
 *
 * Without BPF nothing can count firings at their source, so here
 *
 *	fired = stored + full + filtered + error
 *
 * holds by construction: stored is what the drain handed over, full what the
 * kernel says each event lost to a full ring (PERF_FORMAT_LOST), filtered what
 * a second event of ours brought once more (owner.c), error what the
 * PMU lost in its own buffers.  The independent witness is the event's own
 * count, read from its descriptor: unaccounted = count - weight of all that
 * fired.  It is exact where every occurrence fires (period 1: bound 0), and
 * within a period for each kernel event elsewhere.  Refusals by nesting do
 * not exist here.
 *
 * What is not known is not claimed: by frequency the period of a lost sample
 * is not known, so it widens the bound; the clocks count kernel time too,
 * though they fire in user space alone, so their count accounts for nothing
 * and pa_has_count stays 0.  Of an event of waits full counts records of
 * context switches, of which a wait has two.
 *
 * Called by the session for the recording's accounting; while recording, what
 * is still in the rings has not fired yet.
 */
#include <sys/types.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "recording/accounting.h"
#include "rings_impl.h"

/* As read_format in open.c asks for it. */
struct reading {
	uint64_t	rd_count;
	uint64_t	rd_enabled_ns;
	uint64_t	rd_running_ns;
	uint64_t	rd_id;
	uint64_t	rd_lost;	/* where PERF_FORMAT_LOST is known */
};

static bool	reading_get(const struct prof_rings *, int,
		    struct reading *);
static bool	is_clock(const struct prof_event *);
static uint64_t	lost_of(const struct prof_rings *, bool);
static void	account_settle(const struct prof_rings *,
		    const struct ring_event *, struct prof_accounting *);

static bool
reading_get(const struct prof_rings *rings, int fd, struct reading *reading)
{
	size_t size = sizeof(*reading) - (rings->rs_has_lost ? 0 : 8);
	ssize_t got;

	memset(reading, 0, sizeof(*reading));
	do
		got = read(fd, reading, size);
	while (got == -1 && errno == EINTR);
	return (got == (ssize_t)size);
}

static bool
is_clock(const struct prof_event *event)
{
	return (event->ev_attr.type == PERF_TYPE_SOFTWARE &&
	    (event->ev_attr.config == PERF_COUNT_SW_CPU_CLOCK ||
	    event->ev_attr.config == PERF_COUNT_SW_TASK_CLOCK));
}

/* From the sums over descriptors to weight, difference and bound. */
static void
account_settle(const struct prof_rings *rings, const struct ring_event *event,
    struct prof_accounting *sum)
{
	uint64_t period = event->re_layout.ly_period;

	sum->pa_stored = event->re_stored;
	sum->pa_read = event->re_stored + event->re_twice;
	sum->pa_error = event->re_hw_lost;
	sum->pa_filtered = event->re_twice;
	sum->pa_late = event->re_late;
	if (!rings->rs_has_lost)
		sum->pa_full = event->re_ring_lost;
	sum->pa_lost_ring = sum->pa_full;
	sum->pa_fired = prof_accounting_sum(sum);
	memcpy(sum->pa_ustack, event->re_stack, sizeof(sum->pa_ustack));
	/* Each task that inherited has an own event on each CPU. */
	sum->pa_instances = event->re_nfds;
	if (rings->rs_inherit && !rings->rs_all)
		sum->pa_instances += rings->rs_forks *
		    (event->re_event->ev_cpu == -1 ? rings->rs_nshared : 1);
	sum->pa_weight = event->re_weight + event->re_twice_weight;
	/* A wait ends without a count. */
	if (event->re_is_of_switches)
		return;
	if (event->re_layout.ly_has_period) {
		sum->pa_unaccounted_bound = (sum->pa_instances + sum->pa_full +
		    sum->pa_error) * event->re_max_period;
	} else {
		sum->pa_weight += (sum->pa_full + sum->pa_error) * period;
		sum->pa_unaccounted_bound = sum->pa_instances * (period - 1);
	}
	sum->pa_has_count = !is_clock(event->re_event);
	if (sum->pa_has_count)
		sum->pa_unaccounted = (int64_t)(sum->pa_count -
		    sum->pa_weight);
}

int
prof_rings_accounting(struct prof_rings *rings, size_t event,
    struct prof_accounting *accounting, struct prof_err *error)
{
	struct reading reading;
	size_t n, e;

	memset(accounting, 0, sizeof(*accounting));
	for (e = 0; e < rings->rs_nevents; e++)
		if (rings->rs_event[e].re_layout.ly_event == event)
			break;
	if (e == rings->rs_nevents)
		return (prof_fail(error, PROF_E_USAGE, "event %zu has no perf "
		    "ring", event));
	for (n = 0; n < rings->rs_nfds; n++) {
		if (rings->rs_fd[n].rf_event != e)
			continue;
		if (!reading_get(rings, rings->rs_fd[n].rf_fd, &reading))
			return (prof_fail(error, PROF_E_IO, "%s: cannot read "
			    "the count of this event",
			    rings->rs_event[e].re_event->ev_name));
		accounting->pa_count += reading.rd_count;
		accounting->pa_enabled_ns += reading.rd_enabled_ns;
		accounting->pa_running_ns += reading.rd_running_ns;
		accounting->pa_full += reading.rd_lost;
	}
	/* While a task runs all its events are enabled, on other CPUs, too. */
	if (!rings->rs_all && rings->rs_event[e].re_nplaces > 1)
		accounting->pa_enabled_ns /= rings->rs_event[e].re_nplaces;
	account_settle(rings, &rings->rs_event[e], accounting);
	return (0);
}

/*
 * Records that found their ring full, of samples or of the sideband.  The
 * kernel reports them in the ring only with the next record that fits, which
 * may never come; its own counts have no such gap.
 */
static uint64_t
lost_of(const struct prof_rings *rings, bool is_side_band)
{
	struct reading reading;
	uint64_t samples = 0, lost = 0;
	size_t n;

	if (!rings->rs_has_lost) {
		for (n = 0; n < rings->rs_nevents; n++)
			samples += rings->rs_event[n].re_ring_lost;
		return (is_side_band ? rings->rs_lost - samples : samples);
	}
	for (n = 0; n < rings->rs_nfds; n++)
		if ((rings->rs_fd[n].rf_event == RING_SIDE_BAND) ==
		    is_side_band &&
		    reading_get(rings, rings->rs_fd[n].rf_fd, &reading))
			lost += reading.rd_lost;
	return (lost);
}

uint64_t
prof_rings_lost(const struct prof_rings *rings)
{
	return (lost_of(rings, false));
}

bool
prof_rings_was_full(struct prof_rings *rings)
{
	const bool was_full = rings->rs_was_full;

	rings->rs_was_full = false;
	return (was_full);
}

uint64_t
prof_rings_side_read(const struct prof_rings *rings)
{
	return (rings->rs_side_read);
}

/*
 * By descriptor, as only the kernel's own counts are complete, or by what LOST
 * records have told so far, which costs no system call.
 */
uint64_t
prof_rings_side_lost(const struct prof_rings *rings, bool is_last)
{
	return (is_last ? lost_of(rings, true) : prof_rings_side_said(rings));
}

/* Where samples share the ring, LOST records have told of theirs as such. */
uint64_t
prof_rings_side_said(const struct prof_rings *rings)
{
	return (rings->rs_samples ? 0 : rings->rs_lost);
}
