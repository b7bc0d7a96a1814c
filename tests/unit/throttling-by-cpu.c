/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: how long an event stood still is told by event and CPU: what
 * goes on elsewhere, or is another event, ends nothing; a second stop counts,
 * one that never ends lasts to the end, and a pause is nobody's time.  It is
 * a share of the time for which counters were open, however often they were
 * opened.
 *
 * Easy to get wrong: one flag for all CPUs, which another CPU clears.
 */
#include "recording-lib.h"
#include "recording/accounting.h"

/* When, what, event, CPU. */
static const struct {
	uint64_t	at;
	enum prof_record_type type;
	uint32_t	event;
	uint32_t	cpu;
} steps[] = {
	{ 1000, PROF_R_START, 0, 0 },
	{ 1010, PROF_R_THROTTLE, 1, 0 },
	{ 1020, PROF_R_THROTTLE, 1, 1 },
	{ 1030, PROF_R_UNTHROTTLE, 1, 1 },	/* 10 of CPU 1 alone */
	{ 1040, PROF_R_UNTHROTTLE, 2, 0 },	/* another event */
	{ 1050, PROF_R_THROTTLE, 1, 0 },	/* again: 40 so far */
	{ 1060, PROF_R_PAUSE, 0, 0 },
	{ 1560, PROF_R_RESUME, 0, 0 },
	{ 1570, PROF_R_UNTHROTTLE, 1, 0 },	/* 20, not 520 */
	{ 1580, PROF_R_THROTTLE, 2, 1 },	/* 20, to the end */
	{ 1600, PROF_R_STOP, 0, 0 },
};

/* Opened four times on two CPUs; another that says no times, on both. */
static const struct prof_accounting accounting[MADE_EVENTS] = {
	[1] = { .pa_instances = 8, .pa_has_count = 1, .pa_enabled_ns = 200,
	    .pa_running_ns = 200 },
	[2] = { .pa_instances = 2 },
};

static void
write_file(const char *path)
{
	struct prof_writer *writer;
	struct prof_err error;
	size_t n;

	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	made_events(writer);
	CHECK(prof_writer_accounting(writer, 0, accounting,
	    MADE_EVENTS) == 0);
	for (n = 0; n < sizeof(steps) / sizeof(steps[0]); n++) {
		const struct prof_record record = { .pr_type = steps[n].type,
		    .pr_time_ns = steps[n].at, .pr_event = steps[n].event,
		    .pr_cpu = steps[n].cpu, .pr_comm = "", .pr_path = "" };

		CHECK(prof_writer_add(writer, &record) == 0);
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

int
main(void)
{
	struct prof_throttled by_event[MADE_EVENTS];
	const char *path = work_path("throttled.dtp");
	struct prof_reader *reader;
	struct prof_err error;
	struct prof_accounting pa;
	struct prof_ran ran;

	write_file(path);
	reader = prof_reader_open(path, &error);
	CHECK(reader != NULL);
	CHECK(prof_reader_throttled(reader, by_event, &ran) == 0);
	CHECK(by_event[1].to_times == 3 && by_event[1].to_ns == 70);
	CHECK(by_event[2].to_times == 1 && by_event[2].to_ns == 20);
	CHECK(by_event[3].to_times == 0 && by_event[3].to_ns == 0);
	CHECK(ran.rn_ns == 100 && ran.rn_pauses == 1 &&
	    ran.rn_paused_ns == 500);
	CHECK(prof_reader_accounting(reader, 1, -1, &pa) == 0);
	CHECK(prof_accounting_open_ns(&pa, ran.rn_ns) == 200);
	CHECK(prof_reader_accounting(reader, 2, -1, &pa) == 0);
	CHECK(prof_accounting_open_ns(&pa, ran.rn_ns) == 200);
	prof_reader_close(reader);
	printf("ok: 3 stops of 70 ns on two CPUs, 1 of 20, in 100 ns beside a "
	    "pause of 500; counters were open for 200\n");
	return (0);
}
