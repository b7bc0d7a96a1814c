/* SPDX-License-Identifier: ISC */
/*
 * The page's timeline: each sample with its thread and time, what was marked,
 * and when samples were lost or nothing was recorded.  reports/README.md has
 * the form.  Numbers stand in columns, as those of the tree do: what is alike
 * stands together, and packs well.
 *
 * Nanoseconds are random in their last digits, which do not pack: a wait takes
 * 5 to 8 bytes.  Where there are more waits than the page has room for, their
 * times are whole numbers of a longer unit.  The sums of waits by grain, a
 * short piece of time, remain those of the recording, to the nanosecond.
 *
 * Called by page.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lanes.h"
#include "pack.h"
#include "recording/query.h"

#define MAX_UNIT_NS	1000000u	/* then the page is larger */
#define MAX_UNIT_BITS	20u
#define MAX_GRAINS	50000u
#define NSTATES		3u		/* PROF_STATE_* */

struct timeline {
	const struct prof_flame *tl_flame;
	const struct prof_bucket *tl_bucket;
	struct prof_lanes tl_lanes;
	size_t		 tl_n;		/* samples, of all lanes */
	size_t		 tl_room;	/* for the columns, packed */
	uint64_t	 tl_start_ns;
	uint64_t	 tl_unit_ns;
	uint64_t	 tl_grain_ns;	/* a multiple of the unit */
	uint64_t	 tl_grain;	/* the first one, from the start */
	size_t		 tl_ngrains;	/* 0: sums of units are exact */
	uint64_t	*tl_value;	/* of the column in work, by sample */
	uint64_t	*tl_last;	/* last weight, by event */
	struct prof_buf	 tl_column;
	struct prof_pack tl_pack;
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

static const struct prof_bucket *
bucket_at(const struct timeline *timeline, size_t n)
{
	return (&timeline->tl_bucket[timeline->tl_lanes.ls_bucket[n]]);
}

/* Nodes of a thread are near one another: they count from the first. */
static uint32_t
node_of(const struct timeline *timeline, const struct prof_lane *lane)
{
	uint32_t node = UINT32_MAX;

	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n; i++)
		if (bucket_at(timeline, i)->pc_node < node)
			node = bucket_at(timeline, i)->pc_node;
	return (node);
}

static int
put_lanes(struct timeline *timeline)
{
	const struct prof_lanes *lanes = &timeline->tl_lanes;
	struct prof_buf *out = &timeline->tl_column;

	prof_buf_varint(out, lanes->ls_n);
	for (size_t i = 0; i < lanes->ls_n; i++) {
		prof_buf_varint(out, lanes->ls_lane[i].la_pid);
		prof_buf_varint(out, lanes->ls_lane[i].la_tid);
		prof_buf_varint(out, lanes->ls_lane[i].la_n);
		prof_buf_varint(out, node_of(timeline, &lanes->ls_lane[i]));
		prof_put_visible(out, lanes->ls_lane[i].la_name, 0);
		prof_put_str(out, "\n");
	}
	return (prof_pack_add(&timeline->tl_pack, out, PROF_PACK_TEXT));
}

/* Bytes of the same weight stand together: so they pack best. */
static int
put_planes(struct timeline *timeline, const uint64_t *value, size_t n,
    enum prof_pack_kind kind)
{
	struct prof_buf *out = &timeline->tl_column;
	uint64_t all = 0;
	unsigned planes = 0;
	uint8_t *at;

	for (size_t i = 0; i < n; i++)
		all |= value[i];
	for (; all != 0; all >>= 8)
		planes++;
	prof_buf_varint(out, planes);
	for (unsigned plane = 0; plane < planes; plane++) {
		at = prof_buf_room(out, n);
		if (at == NULL)
			return (-1);
		for (size_t i = 0; i < n; i++)
			at[i] = (uint8_t)(value[i] >> 8 * plane);
		out->bf_len += n;
	}
	return (prof_pack_add(&timeline->tl_pack, out, kind));
}

static const struct prof_instant *
instant_at(const struct timeline *timeline, size_t n)
{
	return (prof_times_at(timeline->tl_flame->fm_profile,
	    bucket_at(timeline, n)->pc_bucket));
}

static bool
is_wait(const struct timeline *timeline, size_t n)
{
	return (instant_at(timeline, n)->it_state != PROF_STATE_NONE);
}

/* Whole units from the start to a time, which may be before it. */
static int64_t
units_of(const struct timeline *timeline, uint64_t time_ns)
{
	const int64_t unit_ns = (int64_t)timeline->tl_unit_ns;
	const int64_t ns = (int64_t)(time_ns - timeline->tl_start_ns);

	return (ns / unit_ns - (ns % unit_ns < 0));
}

static int64_t
end_of(const struct timeline *timeline, size_t n)
{
	return (units_of(timeline, timeline->tl_lanes.ls_end_ns[n]));
}

/* Of a wait; without one, when its sample was. */
static int64_t
begin_of(const struct timeline *timeline, size_t n)
{
	return (units_of(timeline, timeline->tl_lanes.ls_end_ns[n] -
	    (is_wait(timeline, n) ? bucket_at(timeline, n)->pc_weight : 0)));
}

static int64_t
stored_of(const struct timeline *timeline, size_t n)
{
	return (units_of(timeline, instant_at(timeline, n)->it_time_ns));
}

/* The sign is the lowest bit. */
static uint64_t
signed_value(int64_t value)
{
	return (value < 0 ? (uint64_t)-value << 1 | 1 : (uint64_t)value << 1);
}

/* When a wait began, or a sample was: since what was before it in its lane. */
static void
begins_set(struct timeline *timeline, const struct prof_lane *lane)
{
	int64_t last = 0;

	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n;
	    i++) {
		timeline->tl_value[i] = signed_value(begin_of(timeline, i) -
		    last);
		last = end_of(timeline, i);
	}
}

/*
 * How much earlier than the next one it was stored, plus 1.  0: when it ended,
 * or with the next one, if that began then.
 */
static void
delays_set(struct timeline *timeline, const struct prof_lane *lane)
{
	const size_t last = lane->la_first + lane->la_n - 1;
	int64_t stored, next, expected;

	for (size_t i = lane->la_first; i <= last; i++) {
		stored = stored_of(timeline, i);
		next = stored_of(timeline, i < last ? i + 1 : i);
		expected = end_of(timeline, i);
		if (i < last && begin_of(timeline, i + 1) == expected)
			expected = next;
		timeline->tl_value[i] = stored == expected ? 0 :
		    (uint64_t)(next - stored + 1);
	}
}

/* Most samples of a clock weigh what the one before did: 0. */
static void
weights_set(struct timeline *timeline)
{
	uint64_t weight, *last;

	for (size_t i = 0; i < timeline->tl_n; i++) {
		weight = is_wait(timeline, i) ? (uint64_t)(end_of(timeline, i)
		    - begin_of(timeline, i)) :
		    bucket_at(timeline, i)->pc_weight;
		last = &timeline->tl_last[prof_flame_find(timeline->tl_flame,
		    bucket_at(timeline, i)->pc_event)];
		timeline->tl_value[i] = weight == *last ? 0 : weight + 1;
		*last = weight;
	}
}

static void
nodes_set(struct timeline *timeline, const struct prof_lane *lane)
{
	const uint32_t node = node_of(timeline, lane);

	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n; i++)
		timeline->tl_value[i] = bucket_at(timeline, i)->pc_node - node;
}

/* Its event and its state. */
static size_t
sum_of(const struct timeline *timeline, size_t n)
{
	return (prof_flame_find(timeline->tl_flame, bucket_at(timeline,
	    n)->pc_event) * NSTATES + instant_at(timeline, n)->it_state);
}

/* A column that is set by lane. */
static int
put_lanewise(struct timeline *timeline, enum prof_pack_kind kind,
    void (*set)(struct timeline *, const struct prof_lane *))
{
	const struct prof_lanes *lanes = &timeline->tl_lanes;

	for (size_t i = 0; i < lanes->ls_n; i++)
		set(timeline, &lanes->ls_lane[i]);
	return (put_planes(timeline, timeline->tl_value, timeline->tl_n,
	    kind));
}

static int
put_samples(struct timeline *timeline)
{
	const size_t n = timeline->tl_n;
	uint64_t *value = timeline->tl_value;

	if (put_lanewise(timeline, PROF_PACK_NOISE, begins_set) == -1 ||
	    put_lanewise(timeline, PROF_PACK_TEXT, delays_set) == -1 ||
	    put_lanewise(timeline, PROF_PACK_TEXT, nodes_set) == -1)
		return (-1);
	weights_set(timeline);
	if (put_planes(timeline, value, n, PROF_PACK_NOISE) == -1)
		return (-1);
	for (size_t i = 0; i < n; i++)
		value[i] = bucket_at(timeline, i)->pc_samples;
	if (put_planes(timeline, value, n, PROF_PACK_TEXT) == -1)
		return (-1);
	for (size_t i = 0; i < n; i++)
		value[i] = sum_of(timeline, i);
	return (put_planes(timeline, value, n, PROF_PACK_TEXT));
}

/* -------------------------------------------------------------- grains */

/* In which grain a sample was stored. */
static size_t
grain_of(const struct timeline *timeline, size_t n)
{
	const uint64_t grain = time_since(timeline, instant_at(timeline,
	    n)->it_time_ns) / timeline->tl_grain_ns - timeline->tl_grain;

	/* The time of a damaged recording may be anywhere. */
	return (grain < timeline->tl_ngrains ? (size_t)grain : 0);
}

/* By grain, what the waits stored in it are longer than their units say. */
static int
put_rests(struct timeline *timeline)
{
	const size_t ngrains = timeline->tl_ngrains;
	const size_t nsums = timeline->tl_flame->fm_nevents * NSTATES;
	int64_t *sum = calloc(nsums * ngrains + 1, sizeof(*sum));
	uint64_t *value = calloc(ngrains + 1, sizeof(*value));
	int rv = sum == NULL || value == NULL ? -1 : 0;

	prof_buf_varint(&timeline->tl_column, ngrains);
	for (size_t i = 0; rv == 0 && ngrains > 0 && i < timeline->tl_n; i++) {
		if (!is_wait(timeline, i))
			continue;
		sum[sum_of(timeline, i) * ngrains + grain_of(timeline, i)] +=
		    (int64_t)bucket_at(timeline, i)->pc_weight -
		    (end_of(timeline, i) - begin_of(timeline, i)) *
		    (int64_t)timeline->tl_unit_ns;
	}
	for (size_t k = 0; rv == 0 && k < nsums; k++) {
		for (size_t i = 0; i < ngrains; i++)
			value[i] = signed_value(sum[k * ngrains + i]);
		rv = put_planes(timeline, value, ngrains, PROF_PACK_NOISE);
	}
	free(sum);
	free(value);
	return (rv);
}

/* 1, 2 or 5 times a power of ten, at least so much. */
static uint64_t
round_up(uint64_t at_least)
{
	static const uint64_t steps[] = { 1, 2, 5 };

	for (uint64_t power = 1; power < UINT64_MAX / 100; power *= 10)
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			if (steps[i] * power >= at_least)
				return (steps[i] * power);
	return (at_least);
}

/* So many grains that the span has at most MAX_GRAINS. */
static void
grains_set(struct timeline *timeline)
{
	uint64_t from_ns, to_ns, grain_ns;

	timeline->tl_grain_ns = timeline->tl_unit_ns;
	if (timeline->tl_unit_ns == 1)
		return;
	prof_profile_span(timeline->tl_flame->fm_profile, &from_ns, &to_ns);
	grain_ns = round_up((to_ns - from_ns) / MAX_GRAINS + 1);
	while (grain_ns % timeline->tl_unit_ns != 0)
		grain_ns = round_up(grain_ns + 1);
	timeline->tl_grain_ns = grain_ns;
	timeline->tl_grain = time_since(timeline, from_ns) / grain_ns;
	timeline->tl_ngrains = (size_t)(time_since(timeline, to_ns) / grain_ns -
	    timeline->tl_grain + 1);
}

/* In which the columns are about short enough. */
static uint64_t
longer_unit(const struct timeline *timeline)
{
	const size_t over = 8 * (timeline->tl_pack.pk_out.bf_len -
	    timeline->tl_room);
	const uint64_t unit_ns = timeline->tl_unit_ns;
	size_t numbers = 1;
	uint64_t longer_ns;

	/* Twice the unit: one bit less of each time, and of a wait's weight. */
	for (size_t i = 0; i < timeline->tl_n; i++)
		numbers += is_wait(timeline, i) ? 2 : 1;
	if (over / numbers >= MAX_UNIT_BITS)
		return (MAX_UNIT_NS);
	longer_ns = (unit_ns << over / numbers) * (numbers + over % numbers) /
	    numbers;
	longer_ns = round_up(longer_ns > unit_ns ? longer_ns : unit_ns + 1);
	return (longer_ns < MAX_UNIT_NS ? longer_ns : MAX_UNIT_NS);
}

static int
columns_pack(struct timeline *timeline)
{
	timeline->tl_column.bf_len = 0;
	memset(timeline->tl_last, 0, timeline->tl_flame->fm_nevents *
	    sizeof(*timeline->tl_last));
	grains_set(timeline);
	return (prof_pack_begin(&timeline->tl_pack) == -1 ||
	    put_lanes(timeline) == -1 || put_samples(timeline) == -1 ||
	    put_rests(timeline) == -1 ||
	    prof_pack_end(&timeline->tl_pack) == -1 ? -1 : 0);
}

/* In the shortest unit whose columns are short enough. */
static int
unit_choose(struct timeline *timeline)
{
	uint64_t unit_ns = 1;
	int rv;

	for (;;) {
		timeline->tl_unit_ns = unit_ns;
		rv = columns_pack(timeline);
		if (rv == -1 || unit_ns == MAX_UNIT_NS ||
		    timeline->tl_pack.pk_out.bf_len <= timeline->tl_room)
			return (rv);
		unit_ns = longer_unit(timeline);
		prof_pack_free(&timeline->tl_pack);
	}
}

int
prof_flame_put_timeline(const struct prof_flame *flame, uint64_t start_ns,
    size_t room, struct prof_buf *out)
{
	struct timeline timeline = {
		.tl_flame = flame, .tl_start_ns = start_ns, .tl_room = room,
		.tl_out = out,
	};
	const struct prof_lanes *lanes = &timeline.tl_lanes;
	size_t n = 0;
	int rv = -1;

	timeline.tl_bucket = prof_profile_buckets(flame->fm_profile, &n);
	timeline.tl_value = calloc(n + 1, sizeof(*timeline.tl_value));
	timeline.tl_last = calloc(flame->fm_nevents + 1,
	    sizeof(*timeline.tl_last));
	if (timeline.tl_value == NULL || timeline.tl_last == NULL ||
	    prof_lanes_init(&timeline.tl_lanes, flame) == -1)
		goto out;
	for (size_t i = 0; i < lanes->ls_n; i++)
		timeline.tl_n += lanes->ls_lane[i].la_n;
	if (unit_choose(&timeline) == -1)
		goto out;
	prof_put_str(out, "\"timeline\":{");
	put_list(&timeline, "marks", PROF_R_MARK, PROF_R_MARK);
	put_list(&timeline, "lost", PROF_R_LOST, PROF_R_LOST);
	put_list(&timeline, "pauses", PROF_R_PAUSE, PROF_R_RESUME);
	prof_put_fmt(out, "\"samples\":%zu,\"unit_ns\":%" PRIu64
	    ",\"grain_ns\":%" PRIu64 ",\"grain\":%" PRIu64
	    ",\"columns\":\"", timeline.tl_n, timeline.tl_unit_ns,
	    timeline.tl_grain_ns, timeline.tl_grain);
	prof_put_letters(out, &timeline.tl_pack.pk_out);
	prof_put_str(out, "\"},\n");
	rv = 0;
out:
	prof_lanes_fini(&timeline.tl_lanes);
	prof_buf_free(&timeline.tl_column);
	prof_pack_free(&timeline.tl_pack);
	free(timeline.tl_value);
	free(timeline.tl_last);
	return (rv);
}
