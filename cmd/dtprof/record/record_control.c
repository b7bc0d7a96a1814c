/* SPDX-License-Identifier: ISC */
/*
 * Requests of dtprof ctl to this recorder: what they do, and the answers.
 *
 *	status, set -> an answer at once
 *	dump -> record_dump.c begins it; answered when it is on the disk
 *	stop -> the recording ends as by --duration; answered when it has
 *
 * Called by record.c in each round.
 */
#include <sys/resource.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/terminal.h"
#include "record.h"

#define DEFAULT_HZ	999	/* of record */

/* ---------------------------------------------------------------- status */

void
record_status_line(FILE *stream, const char *key, const char *value)
{
	fprintf(stream, "%s ", key);
	for (; *value != '\0'; value++)
		putc(*value == '\n' ? ' ' : *value, stream);
	putc('\n', stream);
}

/* Of this process and of those that have read files for it. */
static double
cpu_s(void)
{
	static const int who[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	double sum = 0;

	for (int i = 0; i < 2; i++) {
		struct rusage usage;

		if (getrusage(who[i], &usage) == -1)
			continue;
		sum += (double)(usage.ru_utime.tv_sec +
		    usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec +
		    usage.ru_stime.tv_usec) / 1e6;
	}
	return (sum);
}

static void
put_rate(FILE *stream, const struct record_options *ro, uint64_t slower)
{
	const uint64_t hz = ro->ro_frequency.on_set ?
	    ro->ro_frequency.on_value : DEFAULT_HZ;

	if (!ro->ro_period.on_set && hz != UINT64_MAX)
		fprintf(stream, "rate_hz %" PRIu64 "\n",
		    hz / (slower > 1 ? slower : 1));
}

static void
put_status(FILE *stream, const struct record_options *ro,
    struct record_dumping *rd, struct prof_session *session)
{
	struct prof_status ps;
	const char *budget;

	prof_session_status(session, &ps);
	fprintf(stream, "state %s\n", ps.ps_is_paused ? "paused" :
	    "recording");
	record_status_line(stream, "output", rd->rd_on != 0 ? rd->rd_pattern :
	    prof_session_output(session));
	fprintf(stream, "elapsed_ns %.0f\n", ps.ps_elapsed_s * 1e9);
	fprintf(stream, "samples %" PRIu64 "\n", ps.ps_samples);
	fprintf(stream, "lost %" PRIu64 "\n", ps.ps_lost);
	fprintf(stream, "lost_share %.9f\n", prof_lost_share(ps.ps_samples,
	    ps.ps_lost));
	put_rate(stream, ro, ps.ps_slower_now);
	fprintf(stream, "cpu_share %.6f\n", ps.ps_elapsed_s <= 0 ? 0 :
	    cpu_s() / ps.ps_elapsed_s);
	fprintf(stream, "memory_bytes %" PRIu64 "\n", record_memory_bytes());
	fprintf(stream, "disk_bytes %" PRIu64 "\n", rd->rd_on != 0 ?
	    rd->rd_bytes : ps.ps_file_bytes);
	for (size_t n = 0; (budget = prof_session_budget_text(session,
	    n)) != NULL; n++)
		record_status_line(stream, "budget", budget);
	record_dumping_status(rd, session, stream);
}

/* -------------------------------------------------------------- requests */

static void
status_answer(const struct record_options *ro, struct record_dumping *rd,
    struct prof_session *session, uint64_t id)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream != NULL)
		put_status(stream, ro, rd, session);
	if (stream == NULL || fclose(stream) != 0)
		prof_session_answer(session, id, false, "out of memory");
	else
		prof_session_answer(session, id, true, text);
	free(text);
}

/* What was set; NULL: answer says why not. */
static const char *
set_value(struct record_dumping *rd, const char *text)
{
	const char *value = strchr(text, '=');
	char *end;
	uint64_t number;

	if (rd->rd_on == 0)
		return ("needs record --ring");
	if (value == NULL)
		return ("use KEY=VALUE");
	value++;
	if (strncmp(text, "dump-after=", 11) == 0) {
		if (opt_time(value, &number) == -1)
			return ("dump-after: not a time");
		rd->rd_after_ns = number;
		return (NULL);
	}
	if (strncmp(text, "dump-max=", 9) != 0)
		return ("unknown key: use dump-after or dump-max");
	number = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end != '\0')
		return ("dump-max: not a number");
	if (number > 1 && !record_name_varies(rd->rd_pattern))
		return ("dump-max: all dumps would have the same name");
	rd->rd_most = number;
	rd->rd_has_warned = false;
	return (NULL);
}

static int
ask_do(const struct record_options *ro, struct record_dumping *rd,
    struct prof_session *session, const struct prof_ask *ask)
{
	const char *why;

	switch (ask->ak_type) {
	case PROF_ASK_STATUS:
		status_answer(ro, rd, session, ask->ak_id);
		break;
	case PROF_ASK_SET:
		why = set_value(rd, ask->ak_text);
		prof_session_answer(session, ask->ak_id, why == NULL,
		    why == NULL ? ask->ak_text : why);
		break;
	case PROF_ASK_DUMP:
		return (record_dumping_ask(rd, session, ask));
	case PROF_ASK_STOP:
		if (rd->rd_stop_id != 0)
			prof_session_answer(session, ask->ak_id, false,
			    "it is stopping already");
		else
			rd->rd_stop_id = ask->ak_id;
		break;
	}
	return (0);
}

int
record_control_look(const struct record_options *ro,
    struct record_dumping *rd, struct prof_session *session)
{
	struct prof_ask ask;

	while (prof_session_ask(session, &ask))
		if (ask_do(ro, rd, session, &ask) == -1)
			return (-1);
	return (0);
}

void
record_control_end(const struct record_dumping *rd,
    struct prof_session *session, bool is_complete)
{
	if (rd->rd_stop_id != 0)
		prof_session_answer(session, rd->rd_stop_id, is_complete,
		    is_complete ? "stopped" : "stopped, but the recording has "
		    "failed: see its messages");
}
