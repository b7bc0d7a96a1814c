/* SPDX-License-Identifier: ISC */
/*
 * Counts, and what they are estimates of.  Where events take turns on the
 * counters of a PMU, the kernel says for how long each was to count and for
 * how long it did.  From one look to the next the rate in the time counted
 * stands for all of it; these pieces add up, so the counts of intervals sum
 * to the total.  A piece without a counter joins the next that has one; at
 * the end what is left is taken to have had the event's rate until then.  An
 * event that always had a counter is exact.
 *
 * Called by counters.c.  The descriptors are open.c's.
 */
#include <string.h>
#include <unistd.h>

#include "counters_impl.h"

static void	fd_look(struct counting_fd *);

static void
fd_look(struct counting_fd *kf)
{
	uint64_t now[3], count, enabled, running;

	if (kf->kf_fd == -1 ||
	    read(kf->kf_fd, now, sizeof(now)) != (ssize_t)sizeof(now))
		return;
	memcpy(kf->kf_now, now, sizeof(now));
	count = now[0] - kf->kf_base[0];
	enabled = now[1] - kf->kf_base[1];
	running = now[2] - kf->kf_base[2];
	/* Nothing to go by yet: this piece waits for the next look. */
	if (running == 0 && count == 0)
		return;
	if (enabled > running && running > 0)
		count = (uint64_t)((double)count * (double)enabled /
		    (double)running + 0.5);
	kf->kf_estimate += count;
	memcpy(kf->kf_base, now, sizeof(now));
}

void
prof_counting_read_all(struct prof_counting *counting)
{
	struct prof_counted value;

	for (size_t t = 0; t < counting->kg_ntargets; t++)
		for (size_t e = 0; e < counting->kg_nevents; e++)
			fd_look(prof_counting_fd(counting, t, e));
	/* What was said to have been counted stays counted. */
	for (size_t e = 0; e < counting->kg_nevents; e++) {
		prof_counting_value(counting, e, &value);
		counting->kg_event[e].ke_least = value.cd_estimate;
	}
}

void
prof_counting_value_sized(const struct prof_counting *counting,
    size_t event, struct prof_counted *value, size_t size)
{
	struct prof_counted sum = { 0 };
	uint64_t waiting_ns = 0;

	for (size_t t = 0; counting->kg_fd != NULL &&
	    t < counting->kg_ntargets; t++) {
		const struct counting_fd *kf = prof_counting_fd(counting, t,
		    event);

		sum.cd_count += kf->kf_now[0];
		sum.cd_enabled_ns += kf->kf_now[1];
		sum.cd_running_ns += kf->kf_now[2];
		sum.cd_estimate += kf->kf_estimate;
		waiting_ns += kf->kf_now[1] - kf->kf_base[1];
	}
	if (prof_counting_splits_family(counting)) {
		sum.cd_count = sum.cd_estimate =
		    prof_counting_split_sum(counting, event);
		waiting_ns = 0;
	}
	/* Who was never to count has counted 0, exactly. */
	sum.cd_is_known = sum.cd_running_ns > 0 ||
	    sum.cd_enabled_ns == 0;
	/* Until the end there may be a turn yet. */
	if (waiting_ns > 0 && sum.cd_running_ns > 0 &&
	    counting->kg_state == COUNTING_STOPPED)
		sum.cd_estimate += (uint64_t)((double)sum.cd_count *
		    (double)waiting_ns / (double)sum.cd_running_ns + 0.5);
	if (sum.cd_estimate < counting->kg_event[event].ke_least)
		sum.cd_estimate = counting->kg_event[event].ke_least;
	prof_struct_give(value, size, &sum, sizeof(sum));
}
