/* SPDX-License-Identifier: ISC */
/*
 * Threads of a profile with the times of its samples: a lane each, and its
 * samples in order of time.
 *
 * A wait has a sample for each state, and both are stored when the thread
 * runs again.  So a wait ended when its sample was taken, but not later than
 * the next one began:
 *
 *	blocked      runnable   running
 *	-----------][----------][------
 *	                        ^^ samples of both
 *
 * Called by firefox.c and page_timeline.c.
 */
#include <stdlib.h>

#include "base/intern.h"
#include "lanes.h"

bool
prof_lanes_is_root(const struct prof_flame *flame, uint32_t node)
{
	const enum prof_label_kind kind = prof_profile_label(
	    flame->fm_profile, flame->fm_node[node].pt_label)->lb_kind;

	return (kind == PROF_LABEL_ALL || kind == PROF_LABEL_COMM);
}

/* The name of the thread above a node; the title where there is none. */
static const char *
name_of(const struct prof_flame *flame, uint32_t node)
{
	const struct prof_label *label;

	for (; node != 0; node = flame->fm_node[node].pt_parent) {
		label = prof_profile_label(flame->fm_profile,
		    flame->fm_node[node].pt_label);
		if (label->lb_kind == PROF_LABEL_COMM)
			return (label->lb_name);
	}
	return (flame->fm_title);
}

/* ------------------------------------------------------------- lanes */

static int
lane_compare(const void *a, const void *b)
{
	const struct prof_lane *la = a, *lb = b;

	if (la->la_pid != lb->la_pid)
		return (la->la_pid < lb->la_pid ? -1 : 1);
	/* The thread that has the number of its process is the first. */
	if ((la->la_tid == la->la_pid) != (lb->la_tid == lb->la_pid))
		return (la->la_tid == la->la_pid ? -1 : 1);
	return (la->la_tid < lb->la_tid ? -1 : la->la_tid > lb->la_tid);
}

/* The number of a thread's lane; UINT32_MAX: no memory. */
static uint32_t
lane_find(struct prof_lanes *lanes, struct prof_map *by_id,
    const struct prof_instant *at)
{
	struct prof_lane *lane;
	bool is_new;
	uint32_t n = prof_map_find(by_id, (uint64_t)at->it_pid << 32 |
	    at->it_tid, &is_new);

	if (n == PROF_INTERN_FAILED || !is_new)
		return (n);
	lane = prof_grow((void **)&lanes->ls_lane, &lanes->ls_n,
	    &lanes->ls_cap, sizeof(*lane));
	if (lane == NULL)
		return (UINT32_MAX);
	lane->la_pid = at->it_pid;
	lane->la_tid = at->it_tid;
	return (n);
}

/* By bucket its lane, or UINT32_MAX where its event is not shown. */
static int
lanes_find(struct prof_lanes *lanes, const struct prof_flame *flame,
    const struct prof_bucket *bucket, size_t n, uint32_t *lane_of)
{
	struct prof_map by_id = { 0 };
	int rv = 0;

	for (size_t i = 0; rv == 0 && i < n; i++) {
		lane_of[i] = UINT32_MAX;
		if (prof_flame_find(flame, bucket[i].pc_event) ==
		    flame->fm_nevents)
			continue;
		lane_of[i] = lane_find(lanes, &by_id, prof_times_at(
		    flame->fm_profile, bucket[i].pc_bucket));
		if (lane_of[i] == UINT32_MAX)
			rv = -1;
		else
			lanes->ls_lane[lane_of[i]].la_n++;
	}
	prof_map_free(&by_id);
	return (rv);
}

/* Lanes in order, and by bucket the number that its lane has then. */
static int
lanes_sort(struct prof_lanes *lanes, size_t n, uint32_t *lane_of)
{
	uint32_t *place = calloc(lanes->ls_n + 1, sizeof(*place));

	if (place == NULL)
		return (-1);
	for (size_t i = 0; i < lanes->ls_n; i++)
		lanes->ls_lane[i].la_first = i;
	if (lanes->ls_n > 0)
		qsort(lanes->ls_lane, lanes->ls_n, sizeof(*lanes->ls_lane),
		    lane_compare);
	for (size_t i = 0; i < lanes->ls_n; i++)
		place[lanes->ls_lane[i].la_first] = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		if (lane_of[i] != UINT32_MAX)
			lane_of[i] = place[lane_of[i]];
	free(place);
	return (0);
}

/* Buckets are in order of time, so are those of each lane. */
static void
samples_sort(struct prof_lanes *lanes, const struct prof_flame *flame,
    const struct prof_bucket *bucket, size_t n, const uint32_t *lane_of)
{
	struct prof_lane *lane;
	size_t first = 0;

	for (size_t i = 0; i < lanes->ls_n; i++) {
		lane = &lanes->ls_lane[i];
		lane->la_first = first;
		first += lane->la_n;
		lane->la_n = 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (lane_of[i] == UINT32_MAX)
			continue;
		lane = &lanes->ls_lane[lane_of[i]];
		lanes->ls_bucket[lane->la_first + lane->la_n++] = (uint32_t)i;
	}
	for (size_t i = 0; i < lanes->ls_n; i++) {
		lane = &lanes->ls_lane[i];
		lane->la_name = name_of(flame, bucket[lanes->ls_bucket[
		    lane->la_first + lane->la_n - 1]].pc_node);
	}
}

/* ------------------------------------------------------------- waits */

static void
waits_end(struct prof_lanes *lanes, const struct prof_profile *profile,
    const struct prof_bucket *bucket, const struct prof_lane *lane)
{
	const struct prof_instant *at;
	uint64_t next_ns = UINT64_MAX, end_ns;

	for (size_t i = lane->la_first + lane->la_n; i-- > lane->la_first;) {
		at = prof_times_at(profile,
		    bucket[lanes->ls_bucket[i]].pc_bucket);
		end_ns = at->it_time_ns;
		if (at->it_state != PROF_STATE_NONE && end_ns > next_ns)
			end_ns = next_ns;
		lanes->ls_end_ns[i] = end_ns;
		if (at->it_state != PROF_STATE_NONE)
			next_ns = end_ns - bucket[lanes->ls_bucket[i]].
			    pc_weight;
	}
}

int
prof_lanes_init(struct prof_lanes *lanes, const struct prof_flame *flame)
{
	const struct prof_profile *profile = flame->fm_profile;
	const struct prof_bucket *bucket;
	struct prof_lane *lane;
	uint32_t *lane_of;
	int rv = -1;
	size_t n;

	bucket = prof_profile_buckets(profile, &n);
	lane_of = calloc(n + 1, sizeof(*lane_of));
	lanes->ls_bucket = calloc(n + 1, sizeof(*lanes->ls_bucket));
	lanes->ls_end_ns = calloc(n + 1, sizeof(*lanes->ls_end_ns));
	if (lane_of != NULL && lanes->ls_bucket != NULL &&
	    lanes->ls_end_ns != NULL)
		rv = lanes_find(lanes, flame, bucket, n, lane_of);
	if (rv == 0)
		rv = lanes_sort(lanes, n, lane_of);
	if (rv == 0)
		samples_sort(lanes, flame, bucket, n, lane_of);
	free(lane_of);
	for (size_t i = 0; rv == 0 && i < lanes->ls_n; i++) {
		lane = &lanes->ls_lane[i];
		lane->la_process = i > 0 && lane[-1].la_pid == lane->la_pid ?
		    lane[-1].la_process : lane->la_name;
		waits_end(lanes, profile, bucket, lane);
	}
	return (rv);
}

void
prof_lanes_fini(struct prof_lanes *lanes)
{
	free(lanes->ls_lane);
	free(lanes->ls_bucket);
	free(lanes->ls_end_ns);
}
