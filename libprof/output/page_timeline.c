/* SPDX-License-Identifier: ISC */
/*
 * The page's timeline: each sample with its thread and time, what was marked,
 * and when samples were lost or nothing was recorded.  reports/README.md has
 * the form.  Numbers stand in columns, as those of the tree do: what is alike
 * stands together, and packs well.
 *
 * Called by page.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lanes.h"
#include "recording/query.h"

struct timeline {
	const struct prof_flame *tl_flame;
	const struct prof_bucket *tl_bucket;
	struct prof_lanes tl_lanes;
	uint64_t	 tl_start_ns;
	uint64_t	*tl_value;	/* of the column in work, by sample */
	struct prof_buf	 tl_columns;
	struct prof_buf	*tl_out;
};

bool
prof_flame_has_times(const struct prof_flame *flame)
{
	return (flame->fm_profile->pf_times != NULL);
}

static uint64_t
time_since(const struct timeline *timeline, uint64_t time_ns)
{
	return (time_ns < timeline->tl_start_ns ? 0 :
	    time_ns - timeline->tl_start_ns);
}

/* ------------------------------------------- marks, losses and pauses */

static void
put_loss(struct timeline *timeline, const struct prof_record *record)
{
	const uint64_t to_ns = time_since(timeline, record->pr_time_ns);

	prof_put_fmt(timeline->tl_out, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64
	    ",", record->pr_addr == 0 ? to_ns : time_since(
	    timeline, record->pr_addr), to_ns, record->pr_weight);
	prof_put_json(timeline->tl_out, prof_reader_event(
	    timeline->tl_flame->fm_reader, record->pr_event)->pi_name);
	prof_put_str(timeline->tl_out, "]");
}

/* A list of those records that are of one type, or of either of two. */
static void
put_list(struct timeline *timeline, const char *name,
    enum prof_record_type one, enum prof_record_type two)
{
	const struct prof_reader *reader = timeline->tl_flame->fm_reader;
	struct prof_buf *out = timeline->tl_out;
	struct prof_record record;
	enum prof_record_type type;
	const char *comma = "";
	uint64_t time_ns;

	prof_put_fmt(out, "\"%s\":[", name);
	for (size_t n = 0; n < prof_reader_nlife(reader); n++) {
		type = prof_reader_life_type(reader, n, &time_ns);
		if (type != one && type != two)
			continue;
		prof_reader_life(reader, n, &record);
		prof_put_str(out, comma);
		comma = ",";
		if (type == PROF_R_LOST) {
			put_loss(timeline, &record);
			continue;
		}
		prof_put_fmt(out, "[%" PRIu64 ",", time_since(timeline,
		    time_ns));
		if (type == PROF_R_MARK)
			prof_put_json(out, record.pr_path);
		else
			prof_put_str(out, type == PROF_R_PAUSE ? "1" : "0");
		prof_put_str(out, "]");
	}
	prof_put_str(out, "],");
}

/* ------------------------------------------------------------ columns */

static void
put_lanes(struct timeline *timeline)
{
	const struct prof_lanes *lanes = &timeline->tl_lanes;
	struct prof_buf *out = &timeline->tl_columns;

	prof_buf_varint(out, lanes->ls_n);
	for (size_t i = 0; i < lanes->ls_n; i++) {
		prof_buf_varint(out, lanes->ls_lane[i].la_pid);
		prof_buf_varint(out, lanes->ls_lane[i].la_tid);
		prof_buf_varint(out, lanes->ls_lane[i].la_n);
		prof_put_visible(out, lanes->ls_lane[i].la_name, 0);
		prof_put_str(out, "\n");
	}
}

static const struct prof_bucket *
bucket_at(const struct timeline *timeline, size_t n)
{
	return (&timeline->tl_bucket[timeline->tl_lanes.ls_bucket[n]]);
}

/* Bytes of the same weight stand together: so they pack best. */
static void
put_planes(struct timeline *timeline, size_t n)
{
	const uint64_t *value = timeline->tl_value;
	uint64_t all = 0;
	unsigned planes = 0;
	uint8_t *at;

	for (size_t i = 0; i < n; i++)
		all |= value[i];
	for (; all != 0; all >>= 8)
		planes++;
	prof_buf_varint(&timeline->tl_columns, planes);
	for (unsigned plane = 0; plane < planes; plane++) {
		at = prof_buf_room(&timeline->tl_columns, n);
		if (at == NULL)
			return;
		for (size_t i = 0; i < n; i++)
			at[i] = (uint8_t)(value[i] >> 8 * plane);
		timeline->tl_columns.bf_len += n;
	}
}

static const struct prof_instant *
instant_at(const struct timeline *timeline, size_t n)
{
	return (prof_times_at(timeline->tl_flame->fm_profile,
	    bucket_at(timeline, n)->pc_bucket));
}

/* When a wait began, or a sample was: since what was before it in its lane. */
static void
begins_set(struct timeline *timeline, const struct prof_lane *lane)
{
	const struct prof_lanes *lanes = &timeline->tl_lanes;
	uint64_t last_ns = timeline->tl_start_ns, begin_ns;

	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n;
	    i++) {
		begin_ns = lanes->ls_end_ns[i];
		if (instant_at(timeline, i)->it_state != PROF_STATE_NONE)
			begin_ns -= bucket_at(timeline, i)->pc_weight;
		/* The sign is the lowest bit. */
		timeline->tl_value[i] = begin_ns >= last_ns ?
		    (begin_ns - last_ns) << 1 :
		    (last_ns - begin_ns) << 1 | 1;
		last_ns = lanes->ls_end_ns[i];
	}
}

/* How much earlier than the next one it was stored, plus 1; 0: at its end. */
static void
delays_set(struct timeline *timeline, const struct prof_lane *lane)
{
	const size_t end = lane->la_first + lane->la_n;
	uint64_t time_ns;

	for (size_t i = lane->la_first; i < end; i++) {
		time_ns = instant_at(timeline, i)->it_time_ns;
		timeline->tl_value[i] = time_ns ==
		    timeline->tl_lanes.ls_end_ns[i] || i + 1 == end ? 0 :
		    instant_at(timeline, i + 1)->it_time_ns - time_ns + 1;
	}
}

/* Most samples of a clock weigh what the one before did: 0. */
static void
weights_set(struct timeline *timeline, size_t n, uint64_t *last)
{
	const struct prof_bucket *bucket;
	size_t event;

	for (size_t i = 0; i < n; i++) {
		bucket = bucket_at(timeline, i);
		event = prof_flame_find(timeline->tl_flame, bucket->pc_event);
		timeline->tl_value[i] = bucket->pc_weight == last[event] ? 0 :
		    bucket->pc_weight + 1;
		last[event] = bucket->pc_weight;
	}
}

static void
put_samples(struct timeline *timeline, size_t n, uint64_t *last)
{
	const struct prof_lanes *lanes = &timeline->tl_lanes;
	uint64_t *value = timeline->tl_value;

	for (size_t i = 0; i < lanes->ls_n; i++)
		begins_set(timeline, &lanes->ls_lane[i]);
	put_planes(timeline, n);
	for (size_t i = 0; i < lanes->ls_n; i++)
		delays_set(timeline, &lanes->ls_lane[i]);
	put_planes(timeline, n);
	weights_set(timeline, n, last);
	put_planes(timeline, n);
	for (size_t i = 0; i < n; i++)
		value[i] = bucket_at(timeline, i)->pc_node;
	put_planes(timeline, n);
	for (size_t i = 0; i < n; i++)
		value[i] = prof_flame_find(timeline->tl_flame,
		    bucket_at(timeline, i)->pc_event);
	put_planes(timeline, n);
	for (size_t i = 0; i < n; i++)
		value[i] = bucket_at(timeline, i)->pc_samples;
	put_planes(timeline, n);
	for (size_t i = 0; i < n; i++)
		value[i] = instant_at(timeline, i)->it_state;
	put_planes(timeline, n);
}

int
prof_flame_put_timeline(const struct prof_flame *flame, uint64_t start_ns,
    struct prof_buf *out)
{
	struct timeline timeline = {
		.tl_flame = flame, .tl_start_ns = start_ns, .tl_out = out,
	};
	uint64_t *last = calloc(flame->fm_nevents + 1, sizeof(*last));
	size_t n = 0;
	int rv = -1;

	timeline.tl_bucket = prof_profile_buckets(flame->fm_profile, &n);
	timeline.tl_value = calloc(n + 1, sizeof(*timeline.tl_value));
	if (last != NULL && timeline.tl_value != NULL &&
	    prof_lanes_init(&timeline.tl_lanes, flame) == 0) {
		n = 0;
		for (size_t i = 0; i < timeline.tl_lanes.ls_n; i++)
			n += timeline.tl_lanes.ls_lane[i].la_n;
		put_lanes(&timeline);
		put_samples(&timeline, n, last);
		prof_put_str(out, "\"timeline\":{");
		put_list(&timeline, "marks", PROF_R_MARK, PROF_R_MARK);
		put_list(&timeline, "lost", PROF_R_LOST, PROF_R_LOST);
		put_list(&timeline, "pauses", PROF_R_PAUSE, PROF_R_RESUME);
		prof_put_fmt(out, "\"samples\":%zu,\"columns\":\"", n);
		rv = prof_put_packed(out, &timeline.tl_columns);
		prof_put_str(out, "\"},\n");
	}
	prof_lanes_fini(&timeline.tl_lanes);
	prof_buf_free(&timeline.tl_columns);
	free(timeline.tl_value);
	free(last);
	return (rv);
}
