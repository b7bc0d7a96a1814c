/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: rows of slow spans against fast ones add up to the durations.  Of
 * a recording that knows when threads ran, time not running is a row, and
 * samples share out the running time.  Of one that does not, samples stand for
 * themselves, and what they leave is the row "rest".  Where it is known of a
 * part alone, there are both.  Where waits were recorded they have rows, and
 * are not in that of time not running, or the rest.
 *
 * Easy to get wrong: samples that stand for less than the time that was run; a
 * recording without sums, whose threads would never seem to have run.
 */
#include <math.h>

#include "prof.h"
#include "recording-lib.h"

#define SPANS		200
#define SLOW(n)		((n) % 10 == 9)
#define DURATION(n)	(SLOW(n) ? 50000u : 10000u)
#define RUNNING(n)	(SLOW(n) ? 20000u : 4000u)
#define SAMPLED(n)	(SLOW(n) ? 12000u : 2000u)
#define BLOCKED(n)	(SLOW(n) ? 9000u : 2000u)
#define RUNNABLE(n)	(SLOW(n) ? 1000u : 500u)
#define TID		100

/* What begins and ends bring: nothing, the truth, or less than that. */
enum sums { NO_SUMS, ALL_SUMS, SHORT_SUMS };

enum { BEGIN = 1, END, CLOCK, WAITS, EVENTS };

static void
describe(struct prof_writer *writer)
{
	static const char *const names[EVENTS] = { "proc", "call", "back",
	    "clock", "off-cpu" };

	for (uint32_t e = 0; e < EVENTS; e++) {
		const struct prof_event_info info = {
		    .pi_provider = e == WAITS ? "wait" : "static",
		    .pi_unit = e >= CLOCK ? "ns" : "events",
		    .pi_nargs = e == WAITS,
		    .pi_arg_names = { "state" },
		    .pi_arg_types = { "const char *" },
		    .pi_arg_is_str = { 1 },
		    .pi_name = names[e], .pi_probe = names[e],
		    .pi_is_of_span = e == BEGIN || e == END };

		CHECK_OK(prof_writer_event(writer, &info),
		    prof_writer_error(writer));
	}
	CHECK(prof_writer_info(writer, "span.0.name", "call") == 0 &&
	    prof_writer_info(writer, "span.0.begin", "1") == 0 &&
	    prof_writer_info(writer, "span.0.end", "2") == 0 &&
	    prof_writer_info(writer, "span.0.scope", "thread") == 0);
}

static void
sample_add(struct prof_writer *writer, struct prof_record *record,
    uint32_t event, uint64_t weight, bool has_sums)
{
	record->pr_type = PROF_R_SAMPLE;
	record->pr_event = event;
	record->pr_pid = record->pr_tid = record->pr_ptid = TID;
	record->pr_comm = record->pr_path = "";
	record->pr_weight = weight;
	record->pr_has_clock = has_sums && event < CLOCK;
	record->pr_nargs = event == WAITS;
	CHECK_OK(prof_writer_add(writer, record), prof_writer_error(writer));
}

static void
waits_add(struct prof_writer *writer, struct prof_record *record, unsigned n)
{
	record->pr_strs[0] = "blocked";
	sample_add(writer, record, WAITS, BLOCKED(n), false);
	record->pr_strs[0] = "runnable";
	sample_add(writer, record, WAITS, RUNNABLE(n), false);
}

static void
file_write(const char *path, enum sums sums, bool has_waits)
{
	struct prof_accounting rows[EVENTS] = { 0 };
	struct prof_record record = { .pr_time_ns = 1000 };
	struct prof_err error;
	struct prof_writer *writer = prof_writer_open(path, &error);

	CHECK(writer != NULL);
	describe(writer);
	for (unsigned n = 0; n < SPANS; n++) {
		const uint64_t off = DURATION(n) - RUNNING(n);

		sample_add(writer, &record, BEGIN, 1, sums != NO_SUMS);
		record.pr_time_ns += DURATION(n) / 2;
		sample_add(writer, &record, CLOCK, SAMPLED(n), false);
		if (has_waits)
			waits_add(writer, &record, n);
		record.pr_time_ns += DURATION(n) / 2;
		record.pr_running_ns += RUNNING(n);
		record.pr_off_ns += sums == SHORT_SUMS ? off / 2 : off;
		sample_add(writer, &record, END, 1, sums != NO_SUMS);
		record.pr_time_ns += 1000;
	}
	for (uint32_t e = BEGIN; e < EVENTS; e++)
		rows[e].pa_fired = rows[e].pa_stored = SPANS;
	CHECK(prof_writer_accounting(writer, 0, rows, EVENTS) == 0);
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

/* Of fast spans and of slow ones; 0: no row of this state. */
static void
row_check(const struct prof_span_difference *difference,
    enum prof_span_state state, double fast, double slow)
{
	double mean[2] = { 0, 0 };

	for (size_t n = 0; n < prof_span_difference_nrows(difference); n++) {
		const struct prof_span_row *row =
		    prof_span_difference_row(difference, n);

		for (int s = 0; s < 2 && row->sr_state == state; s++)
			mean[s] += row->sr_mean_ns[s];
		CHECK(row->sr_state != state || fast != 0);
	}
	CHECK(fabs(mean[0] - fast) < 1 && fabs(mean[1] - slow) < 1);
}

static void
recording_check(const char *path, enum sums sums, bool has_waits)
{
	const double fast = has_waits ? 2500 : 0, slow = has_waits ? 10000 : 0;
	const struct prof_span_difference_options options = {
		.sd_size = sizeof(options), .sd_event = CLOCK,
		.sd_filter = { "span.duration < 50us",
		    "span.duration >= 50us" } };
	struct prof_span_difference *difference;
	struct prof_span_sides sides;
	struct prof_symbols *symbols;
	struct prof_reader *reader;
	struct prof_err error;

	file_write(path, sums, has_waits);
	reader = prof_reader_open(path, &error);
	CHECK(reader != NULL);
	symbols = prof_symbols_open(reader, NULL, &error);
	CHECK(symbols != NULL);
	difference = prof_span_difference_new(reader, symbols, &options,
	    &error);
	CHECK_OK(difference == NULL ? -1 : 0, &error);
	prof_span_difference_sides(difference, &sides);
	CHECK(sides.sv_has_times == (sums != NO_SUMS));
	CHECK(sides.sv_spans[0] == SPANS * 9 / 10 &&
	    sides.sv_spans[1] == SPANS / 10);
	row_check(difference, PROF_SPAN_BLOCKED, has_waits ? 2000 : 0,
	    has_waits ? 9000 : 0);
	row_check(difference, PROF_SPAN_RUNNABLE, fast == 0 ? 0 : 500,
	    slow == 0 ? 0 : 1000);
	if (sums == NO_SUMS) {
		row_check(difference, PROF_SPAN_RUNNING, 2000, 12000);
		row_check(difference, PROF_SPAN_NOT_RUNNING, 0, 0);
		row_check(difference, PROF_SPAN_REST, 8000 - fast,
		    38000 - slow);
	} else {
		row_check(difference, PROF_SPAN_RUNNING, 4000, 20000);
		row_check(difference, PROF_SPAN_NOT_RUNNING,
		    (sums == ALL_SUMS ? 6000 : 3000) - fast,
		    (sums == ALL_SUMS ? 30000 : 15000) - slow);
		row_check(difference, PROF_SPAN_REST,
		    sums == ALL_SUMS ? 0 : 3000,
		    sums == ALL_SUMS ? 0 : 15000);
	}
	prof_span_difference_free(difference);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

int
main(void)
{
	const char *path = work_path("spans.dtp");

	recording_check(path, NO_SUMS, false);
	recording_check(path, NO_SUMS, true);
	printf("ok: without sums the rest is a row\n");
	recording_check(path, ALL_SUMS, false);
	recording_check(path, SHORT_SUMS, false);
	printf("ok: with them what threads did not run is one\n");
	recording_check(path, ALL_SUMS, true);
	recording_check(path, SHORT_SUMS, true);
	printf("ok: waits are rows of their own\n");
	return (0);
}
