/* SPDX-License-Identifier: ISC */
/*
 * The markers of a Firefox Profiler file: waits and system calls, which last,
 * samples of events other than the first, and, as a thread of their own, the
 * marks of the recording and the times in which samples were lost.
 *
 * Called by firefox.c.
 */
#include <inttypes.h>
#include <string.h>

#include "firefox.h"
#include "recording/query.h"

#define PHASE_INSTANT	0
#define PHASE_INTERVAL	1

static const char schemas[] =
    "\"markerSchema\":[\n"
    "{\"name\":\"wait\",\"display\":[\"marker-chart\",\"marker-table\","
    "\"timeline-overview\"],\"fields\":[{\"key\":\"state\",\"label\":"
    "\"State\",\"format\":\"string\"}],\"description\":"
    "\"Time in which the thread was not on a CPU.\"},\n"
    "{\"name\":\"event\",\"display\":[\"marker-chart\",\"marker-table\"],"
    "\"fields\":[{\"key\":\"weight\",\"label\":\"Weight\",\"format\":"
    "\"integer\"},{\"key\":\"unit\",\"label\":\"Unit\",\"format\":"
    "\"string\"}],\"description\":\"A sample of another event.\"},\n"
    "{\"name\":\"mark\",\"display\":[\"marker-chart\",\"marker-table\","
    "\"timeline-overview\"],\"tableLabel\":\"{marker.data.text}\","
    "\"chartLabel\":\"{marker.data.text}\",\"fields\":[{\"key\":\"text\","
    "\"label\":\"Text\",\"format\":\"string\"}],\"description\":"
    "\"A marker of dtprof mark.\"},\n"
    "{\"name\":\"lost\",\"display\":[\"marker-chart\",\"marker-table\","
    "\"timeline-overview\"],\"fields\":[{\"key\":\"event\",\"label\":"
    "\"Event\",\"format\":\"string\"},{\"key\":\"count\",\"label\":"
    "\"Lost\",\"format\":\"integer\"}],\"description\":"
    "\"Events were lost in this time.\"}]";

void
prof_fox_schemas(struct prof_fox *fox)
{
	prof_put_str(fox->fx_out, schemas);
}

/* ------------------------------------------------------------- pauses */

void
prof_fox_pauses(struct prof_fox *fox)
{
	const struct prof_reader *reader = fox->fx_flame->fm_reader;
	enum prof_record_type type, open = PROF_R_RESUME;
	struct prof_buf *const file = fox->fx_out, *out = &fox->fx_pauses;
	const char *separator = "";
	uint64_t time_ns;

	fox->fx_out = out;	/* of prof_fox_ms */
	prof_put_str(out, "\"pausedRanges\":[");
	for (size_t n = 0; n < prof_reader_nlife(reader); n++) {
		type = prof_reader_life_type(reader, n, &time_ns);
		if ((type != PROF_R_PAUSE && type != PROF_R_RESUME) ||
		    type == open)
			continue;
		open = type;
		if (type == PROF_R_PAUSE)
			prof_put_fmt(out, "%s{\"reason\":\"profiler-paused\","
			    "\"startTime\":", separator);
		else
			prof_put_str(out, ",\"endTime\":");
		prof_fox_ms(fox, prof_fox_since(fox, time_ns));
		if (type == PROF_R_RESUME)
			prof_put_str(out, "}");
		separator = ",";
	}
	prof_put_str(out, open == PROF_R_PAUSE ? ",\"endTime\":null}],\n" :
	    "],\n");
	fox->fx_out = file;
}

/* ----------------------------------------------- samples as markers */

static const struct prof_event_info *
info_of(const struct prof_fox *fox, size_t n)
{
	return (prof_reader_event(fox->fx_flame->fm_reader,
	    prof_fox_sample(fox, n)->pc_event));
}

/* "blocked", "runnable"; NULL: it is no wait. */
static const char *
state_of(const struct prof_fox *fox, size_t n)
{
	static const char *const names[] = { NULL, "blocked", "runnable" };

	return (strcmp(info_of(fox, n)->pi_probe, "off-cpu") != 0 ? NULL :
	    names[prof_times_at(fox->fx_flame->fm_profile,
	    prof_fox_sample(fox, n)->pc_bucket)->it_state]);
}

/* Its weight is the time that ended when the sample was taken. */
static bool
wait_lasts(const struct prof_fox *fox, size_t n)
{
	return ((info_of(fox, n)->pi_is_call || state_of(fox, n) != NULL) &&
	    prof_fox_sample(fox, n)->pc_weight > 0);
}

static uint64_t
end_of(const struct prof_fox *fox, size_t n)
{
	return (prof_fox_since(fox, fox->fx_lanes.ls_end_ns[
	    fox->fx_list[n]]));
}

static uint64_t
begin_of(const struct prof_fox *fox, size_t n)
{
	const uint64_t weight = prof_fox_sample(fox, n)->pc_weight;

	return (!wait_lasts(fox, n) ? end_of(fox, n) :
	    end_of(fox, n) < weight ? 0 : end_of(fox, n) - weight);
}

static void
put_data(struct prof_fox *fox, size_t n)
{
	const struct prof_event_info *info = info_of(fox, n);
	const char *state = state_of(fox, n);
	struct prof_buf *out = fox->fx_out;

	if (state != NULL) {
		prof_put_str(out, "{\"type\":\"wait\",\"state\":");
		prof_put_json(out, state);
	} else {
		prof_put_fmt(out, "{\"type\":\"event\",\"weight\":%" PRIu64
		    ",\"unit\":", prof_fox_sample(fox, n)->pc_weight);
		prof_put_json(out, info->pi_unit);
	}
	prof_put_str(out, ",\"cause\":{\"time\":");
	prof_fox_ms(fox, begin_of(fox, n));
	prof_put_str(out, ",\"stack\":");
	prof_fox_stack(fox, prof_fox_sample(fox, n)->pc_node);
	prof_put_str(out, "}}");
}

static void
put_name(struct prof_fox *fox, size_t n)
{
	const char *state = state_of(fox, n);

	prof_put_fmt(fox->fx_out, "%" PRIu32, prof_fox_string(fox,
	    state != NULL ? state : info_of(fox, n)->pi_name));
}

static void
put_begin(struct prof_fox *fox, size_t n)
{
	prof_fox_ms(fox, begin_of(fox, n));
}

static void
put_end(struct prof_fox *fox, size_t n)
{
	if (wait_lasts(fox, n))
		prof_fox_ms(fox, end_of(fox, n));
	else
		prof_put_str(fox->fx_out, "null");
}

static void
put_phase(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%d", wait_lasts(fox, n) ? PHASE_INTERVAL :
	    PHASE_INSTANT);
}

static void
put_kind(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%d", state_of(fox, n) != NULL ?
	    FOX_WAITING : FOX_OTHER);
}

static const struct fox_column marker_columns[] = {
	{ "data", put_data, NULL },
	{ "name", put_name, NULL },
	{ "startTime", put_begin, NULL },
	{ "endTime", put_end, NULL },
	{ "phase", put_phase, NULL },
	{ "category", put_kind, NULL },
	{ 0 }
};

void
prof_fox_markers(struct prof_fox *fox, size_t n)
{
	prof_fox_table(fox, "markers", marker_columns, n);
}

/* ----------------------------------------------- marks of the recording */

static void
put_mark(struct prof_fox *fox, const struct prof_record *record)
{
	struct prof_buf *out = fox->fx_out;

	if (record->pr_type == PROF_R_MARK) {
		prof_put_str(out, "{\"type\":\"mark\",\"text\":");
		prof_put_json(out, record->pr_path);
	} else {
		prof_put_str(out, "{\"type\":\"lost\",\"event\":");
		prof_put_json(out, prof_reader_event(
		    fox->fx_flame->fm_reader, record->pr_event)->pi_name);
		prof_put_fmt(out, ",\"count\":%" PRIu64, record->pr_weight);
	}
	prof_put_str(out, "}");
}

static void
put_mark_data(struct prof_fox *fox, size_t n)
{
	struct prof_record record;

	prof_reader_life(fox->fx_flame->fm_reader, fox->fx_list[n], &record);
	put_mark(fox, &record);
}

static void
put_mark_name(struct prof_fox *fox, size_t n)
{
	uint64_t time_ns;

	prof_put_fmt(fox->fx_out, "%" PRIu32, prof_fox_string(fox,
	    prof_reader_life_type(fox->fx_flame->fm_reader, fox->fx_list[n],
	    &time_ns) == PROF_R_MARK ? "mark" : "lost"));
}

/* Losses are intervals where it is known since when. */
static bool
mark_read(const struct prof_fox *fox, size_t n, struct prof_record *record)
{
	prof_reader_life(fox->fx_flame->fm_reader, fox->fx_list[n], record);
	return (record->pr_type == PROF_R_LOST && record->pr_addr != 0);
}

static void
put_mark_begin(struct prof_fox *fox, size_t n)
{
	struct prof_record record;
	const bool is_interval = mark_read(fox, n, &record);

	prof_fox_ms(fox, prof_fox_since(fox, is_interval ? record.pr_addr :
	    record.pr_time_ns));
}

static void
put_mark_end(struct prof_fox *fox, size_t n)
{
	struct prof_record record;

	if (mark_read(fox, n, &record))
		prof_fox_ms(fox, prof_fox_since(fox, record.pr_time_ns));
	else
		prof_put_str(fox->fx_out, "null");
}

static void
put_mark_phase(struct prof_fox *fox, size_t n)
{
	struct prof_record record;

	prof_put_fmt(fox->fx_out, "%d", mark_read(fox, n, &record) ?
	    PHASE_INTERVAL : PHASE_INSTANT);
}

static const struct fox_column mark_columns[] = {
	{ "data", put_mark_data, NULL },
	{ "name", put_mark_name, NULL },
	{ "startTime", put_mark_begin, NULL },
	{ "endTime", put_mark_end, NULL },
	{ "phase", put_mark_phase, NULL },
	{ "category", NULL, "0" },	/* FOX_OTHER */
	{ 0 }
};

static size_t
marks_list(struct prof_fox *fox)
{
	const struct prof_reader *reader = fox->fx_flame->fm_reader;
	enum prof_record_type type;
	uint64_t time_ns;
	size_t marks = 0;

	for (size_t n = 0; n < prof_reader_nlife(reader); n++) {
		type = prof_reader_life_type(reader, n, &time_ns);
		if (type == PROF_R_MARK || type == PROF_R_LOST)
			fox->fx_list[marks++] = (uint32_t)n;
	}
	return (marks);
}

void
prof_fox_marks(struct prof_fox *fox, const char *separator)
{
	const size_t n = marks_list(fox);
	struct prof_buf *out = fox->fx_out;

	if (n == 0)
		return;
	prof_put_fmt(out, "%s{\"name\":\"marks and losses\","
	    "\"processName\":\"dtprof\",\"pid\":\"dtprof\",\"tid\":\"dtprof\","
	    "\"isMainThread\":true,\"processType\":\"default\","
	    "\"processStartupTime\":0,\"processShutdownTime\":null,"
	    "\"registerTime\":0,\"unregisterTime\":null,"
	    "\"showMarkersInTimeline\":true,\"samples\":{\"stack\":[],"
	    "\"time\":[],\"weight\":null,\"weightType\":\"samples\","
	    "\"length\":0},", separator);
	prof_buf_bytes(out, fox->fx_pauses.bf_data, fox->fx_pauses.bf_len);
	prof_fox_table(fox, "markers", mark_columns, n);
	prof_put_str(out, "}");
}
