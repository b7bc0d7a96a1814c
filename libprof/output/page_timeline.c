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

/* A sample; times are in ns since the start of the recording. */
struct row {
	int64_t		 rw_end;	/* of the wait */
	int64_t		 rw_stored;
	uint64_t	 rw_weight;
	uint64_t	 rw_samples;
	uint32_t	 rw_node;
	uint32_t	 rw_sum;	/* its event and its state */
};

/* In the order of reports/README.md. */
enum column {
	LANES, BEGINS, DELAYS, NODES, WEIGHTS, SAMPLES, SUMS, RESTS, NCOLUMNS
};

struct timeline {
	const struct prof_flame *tl_flame;
	struct prof_lanes tl_lanes;
	struct row	*tl_row;	/* by lane, then time */
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
	struct prof_pack tl_pack[NCOLUMNS];
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

/* ------------------------------------------------------------ samples */

static bool
is_wait(const struct row *row)
{
	return (row->rw_sum % NSTATES != PROF_STATE_NONE);
}

/* The columns read them one after the other, in order. */
static int
rows_init(struct timeline *timeline)
{
	const struct prof_flame *flame = timeline->tl_flame;
	const struct prof_lanes *lanes = &timeline->tl_lanes;
	const struct prof_bucket *all, *bucket;
	const struct prof_instant *at;
	size_t n;

	all = prof_profile_buckets(flame->fm_profile, &n);
	for (size_t i = 0; i < lanes->ls_n; i++)
		timeline->tl_n += lanes->ls_lane[i].la_n;
	n = timeline->tl_n;
	timeline->tl_row = calloc(n + 1, sizeof(*timeline->tl_row));
	timeline->tl_value = calloc(n + 1, sizeof(*timeline->tl_value));
	if (timeline->tl_row == NULL || timeline->tl_value == NULL)
		return (-1);
	for (size_t i = 0; i < n; i++) {
		bucket = &all[lanes->ls_bucket[i]];
		at = prof_times_at(flame->fm_profile, bucket->pc_bucket);
		timeline->tl_row[i] = (struct row){
			.rw_end = (int64_t)(lanes->ls_end_ns[i] -
			    timeline->tl_start_ns),
			.rw_stored = (int64_t)(at->it_time_ns -
			    timeline->tl_start_ns),
			.rw_weight = bucket->pc_weight,
			.rw_node = bucket->pc_node,
			.rw_samples = bucket->pc_samples,
			.rw_sum = (uint32_t)prof_flame_find(flame,
			    bucket->pc_event) * NSTATES + at->it_state,
		};
	}
	return (0);
}

/* ------------------------------------------------------------ columns */

/* Nodes of a thread are near one another: they count from the first. */
static uint32_t
node_of(const struct timeline *timeline, const struct prof_lane *lane)
{
	const struct row *row = &timeline->tl_row[lane->la_first];
	uint32_t node = UINT32_MAX;

	for (size_t i = 0; i < lane->la_n; i++)
		if (row[i].rw_node < node)
			node = row[i].rw_node;
	return (node);
}

static void
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
}

/* Bytes of the same weight stand together: so they pack best. */
static void
put_planes(struct timeline *timeline, const uint64_t *value, size_t n)
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
			return;
		for (size_t i = 0; i < n; i++)
			at[i] = (uint8_t)(value[i] >> 8 * plane);
		out->bf_len += n;
	}
}

/* Whole units from the start to a time, which may be before it. */
static int64_t
units_of(const struct timeline *timeline, int64_t ns)
{
	const int64_t unit_ns = (int64_t)timeline->tl_unit_ns;

	return (ns / unit_ns - (ns % unit_ns < 0));
}

static int64_t
end_of(const struct timeline *timeline, const struct row *row)
{
	return (units_of(timeline, row->rw_end));
}

/* Of a wait; without one, when its sample was. */
static int64_t
begin_of(const struct timeline *timeline, const struct row *row)
{
	return (units_of(timeline, (int64_t)((uint64_t)row->rw_end -
	    (is_wait(row) ? row->rw_weight : 0))));
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
	const struct row *row = timeline->tl_row;
	int64_t last = 0;

	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n;
	    i++) {
		timeline->tl_value[i] = signed_value(begin_of(timeline,
		    &row[i]) - last);
		last = end_of(timeline, &row[i]);
	}
}

/*
 * How much earlier than the next one it was stored, plus 1.  0: when it ended,
 * or with the next one, if that began then.
 */
static void
delays_set(struct timeline *timeline, const struct prof_lane *lane)
{
	const struct row *row = timeline->tl_row;
	const size_t last = lane->la_first + lane->la_n - 1;
	int64_t stored, next, expected;

	for (size_t i = lane->la_first; i <= last; i++) {
		stored = units_of(timeline, row[i].rw_stored);
		next = units_of(timeline, row[i < last ? i + 1 : i].rw_stored);
		expected = end_of(timeline, &row[i]);
		if (i < last && begin_of(timeline, &row[i + 1]) == expected)
			expected = next;
		timeline->tl_value[i] = stored == expected ? 0 :
		    (uint64_t)(next - stored + 1);
	}
}

/* Most samples of a clock weigh what the one before did: 0. */
static void
weights_set(struct timeline *timeline, const struct prof_lane *lane)
{
	const struct row *row = timeline->tl_row;
	uint64_t weight, *last;

	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n;
	    i++) {
		weight = is_wait(&row[i]) ? (uint64_t)(end_of(timeline,
		    &row[i]) - begin_of(timeline, &row[i])) : row[i].rw_weight;
		last = &timeline->tl_last[row[i].rw_sum / NSTATES];
		timeline->tl_value[i] = weight == *last ? 0 : weight + 1;
		*last = weight;
	}
}

static void
nodes_set(struct timeline *timeline, const struct prof_lane *lane)
{
	const uint32_t node = node_of(timeline, lane);

	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n; i++)
		timeline->tl_value[i] = timeline->tl_row[i].rw_node - node;
}

static void
samples_set(struct timeline *timeline, const struct prof_lane *lane)
{
	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n; i++)
		timeline->tl_value[i] = timeline->tl_row[i].rw_samples;
}

static void
sums_set(struct timeline *timeline, const struct prof_lane *lane)
{
	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n; i++)
		timeline->tl_value[i] = timeline->tl_row[i].rw_sum;
}

/* -------------------------------------------------------------- grains */

/* In which grain a sample was stored. */
static size_t
grain_of(const struct timeline *timeline, const struct row *row)
{
	const uint64_t grain = (row->rw_stored < 0 ? 0 : (uint64_t)
	    row->rw_stored) / timeline->tl_grain_ns - timeline->tl_grain;

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
	const struct row *row;
	int rv = sum == NULL || value == NULL ? -1 : 0;

	prof_buf_varint(&timeline->tl_column, ngrains);
	for (size_t i = 0; rv == 0 && ngrains > 0 && i < timeline->tl_n; i++) {
		row = &timeline->tl_row[i];
		if (is_wait(row))
			sum[row->rw_sum * ngrains + grain_of(timeline, row)] +=
			    (int64_t)row->rw_weight - (end_of(timeline, row) -
			    begin_of(timeline, row)) *
			    (int64_t)timeline->tl_unit_ns;
	}
	for (size_t k = 0; rv == 0 && k < nsums; k++) {
		for (size_t i = 0; i < ngrains; i++)
			value[i] = signed_value(sum[k * ngrains + i]);
		put_planes(timeline, value, ngrains);
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

/* ---------------------------------------------------------------- unit */

static size_t
packed_bytes(const struct timeline *timeline)
{
	size_t bytes = 0;

	for (int i = 0; i < NCOLUMNS; i++)
		bytes += timeline->tl_pack[i].pk_out.bf_len;
	return (bytes);
}

/* In which the columns are about short enough. */
static uint64_t
longer_unit(const struct timeline *timeline)
{
	const size_t over = 8 * (packed_bytes(timeline) - timeline->tl_room);
	const uint64_t unit_ns = timeline->tl_unit_ns;
	size_t numbers = 1;
	uint64_t longer_ns;

	/* Twice the unit: one bit less of each time, and of a wait's weight. */
	for (size_t i = 0; i < timeline->tl_n; i++)
		numbers += is_wait(&timeline->tl_row[i]) ? 2 : 1;
	if (over / numbers >= MAX_UNIT_BITS)
		return (MAX_UNIT_NS);
	longer_ns = (unit_ns << over / numbers) * (numbers + over % numbers) /
	    numbers;
	longer_ns = round_up(longer_ns > unit_ns ? longer_ns : unit_ns + 1);
	return (longer_ns < MAX_UNIT_NS ? longer_ns : MAX_UNIT_NS);
}

static int
column_pack(struct timeline *timeline, enum column column)
{
	static void (*const set[NCOLUMNS])(struct timeline *,
	    const struct prof_lane *) = {
		[BEGINS] = begins_set, [DELAYS] = delays_set,
		[NODES] = nodes_set, [WEIGHTS] = weights_set,
		[SAMPLES] = samples_set, [SUMS] = sums_set,
	};
	const struct prof_lanes *lanes = &timeline->tl_lanes;
	struct prof_pack *pack = &timeline->tl_pack[column];

	for (size_t i = 0; set[column] != NULL && i < lanes->ls_n; i++)
		set[column](timeline, &lanes->ls_lane[i]);
	if (set[column] != NULL)
		put_planes(timeline, timeline->tl_value, timeline->tl_n);
	else if (column == LANES)
		put_lanes(timeline);
	else if (put_rests(timeline) == -1)
		return (-1);
	prof_pack_free(pack);
	return (prof_pack_begin(pack) == -1 || prof_pack_add(pack,
	    &timeline->tl_column, column == BEGINS || column == WEIGHTS ||
	    column == RESTS ? PROF_PACK_NOISE : PROF_PACK_TEXT) == -1 ? -1 :
	    0);
}

/* Those that depend on the unit, or the others. */
static int
columns_pack(struct timeline *timeline, bool of_unit)
{
	for (int i = 0; i < NCOLUMNS; i++)
		if ((i == BEGINS || i == DELAYS || i == WEIGHTS ||
		    i == RESTS) == of_unit && column_pack(timeline,
		    (enum column)i) == -1)
			return (-1);
	return (0);
}

/* In the shortest unit whose columns are short enough. */
static int
unit_choose(struct timeline *timeline)
{
	uint64_t unit_ns = 1;

	if (columns_pack(timeline, false) == -1)
		return (-1);
	for (;;) {
		timeline->tl_unit_ns = unit_ns;
		memset(timeline->tl_last, 0, timeline->tl_flame->fm_nevents *
		    sizeof(*timeline->tl_last));
		grains_set(timeline);
		if (columns_pack(timeline, true) == -1)
			return (-1);
		if (unit_ns == MAX_UNIT_NS ||
		    packed_bytes(timeline) <= timeline->tl_room)
			return (prof_pack_end(&timeline->tl_pack[RESTS]));
		unit_ns = longer_unit(timeline);
	}
}

/* One stream: each column ended with a flush, and refers to itself alone. */
static void
put_columns(struct timeline *timeline)
{
	struct prof_buf *all = &timeline->tl_column;

	for (int i = 0; i < NCOLUMNS; i++)
		prof_buf_bytes(all, timeline->tl_pack[i].pk_out.bf_data,
		    timeline->tl_pack[i].pk_out.bf_len);
	prof_put_letters(timeline->tl_out, all);
	timeline->tl_out->bf_failed |= all->bf_failed;
}

int
prof_flame_put_timeline(const struct prof_flame *flame, uint64_t start_ns,
    size_t room, struct prof_buf *out)
{
	struct timeline timeline = {
		.tl_flame = flame, .tl_start_ns = start_ns, .tl_room = room,
		.tl_out = out,
	};
	int rv = -1;

	timeline.tl_last = calloc(flame->fm_nevents + 1,
	    sizeof(*timeline.tl_last));
	if (timeline.tl_last == NULL ||
	    prof_lanes_init(&timeline.tl_lanes, flame) == -1 ||
	    rows_init(&timeline) == -1 || unit_choose(&timeline) == -1)
		goto out;
	prof_put_str(out, "\"timeline\":{");
	put_list(&timeline, "marks", PROF_R_MARK, PROF_R_MARK);
	put_list(&timeline, "lost", PROF_R_LOST, PROF_R_LOST);
	put_list(&timeline, "pauses", PROF_R_PAUSE, PROF_R_RESUME);
	prof_put_fmt(out, "\"samples\":%zu,\"unit_ns\":%" PRIu64
	    ",\"grain_ns\":%" PRIu64 ",\"grain\":%" PRIu64
	    ",\"columns\":\"", timeline.tl_n, timeline.tl_unit_ns,
	    timeline.tl_grain_ns, timeline.tl_grain);
	put_columns(&timeline);
	prof_put_str(out, "\"},\n");
	rv = 0;
out:
	prof_lanes_fini(&timeline.tl_lanes);
	prof_buf_free(&timeline.tl_column);
	for (int i = 0; i < NCOLUMNS; i++)
		prof_pack_free(&timeline.tl_pack[i]);
	free(timeline.tl_row);
	free(timeline.tl_value);
	free(timeline.tl_last);
	return (rv);
}
