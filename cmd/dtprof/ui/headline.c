/* SPDX-License-Identifier: ISC */
/*
 * The first line of a report: of what, how long, and what it came to,
 *
 *	gunicorn (9 threads sampled), 30.0 s: 14.20 s of CPU time, 0.47 CPUs
 *
 * A command is called as it was recorded, processes by the name of the one
 * with most samples.  Everything here comes from the recording, so callers
 * escape it.  Called by report_text.c and annotate_text.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "headline.h"
#include "terminal.h"

#define NAME_BYTES	48	/* of a command */
#define LEAST_NS	100	/* between samples; else they had no times */

static void
put_name(FILE *stream, const char *name)
{
	size_t n = strlen(name);

	if (n <= NAME_BYTES) {
		fputs(name, stream);
		return;
	}
	n = NAME_BYTES - 2;
	/* Whole characters. */
	while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	fprintf(stream, "%.*s..", (int)n, name);
}

/* A command without the directory of its program. */
static const char *
short_command(const char *command)
{
	const size_t program = strcspn(command, " '");
	const char *slash = memrchr(command, '/', program);

	return (slash != NULL && slash[1] != ' ' && slash[1] != '\'' &&
	    slash[1] != '\0' && command[program] != '\'' ? slash + 1 :
	    command);
}

/* What was recorded, and how many threads of it had samples. */
static void
put_what(const struct headline *headline, FILE *stream)
{
	const struct prof_reader *reader = headline->he_reader;
	const char *command = prof_reader_info(reader, "command");
	const char *target = prof_reader_info(reader, "target");
	/* Of those the command is that of the other recorder. */
	const bool is_import = prof_reader_info(reader, "import") != NULL;
	const char *merged = prof_reader_info(reader, "merged");
	const char *more;
	struct prof_sampled sampled;

	prof_profile_sampled(headline->he_profile, &sampled);
	more = sampled.sa_is_more ? "over " : "";
	if (target != NULL && strcmp(target, "all") == 0)
		fputs("all processes", stream);
	else if (command != NULL && *command != '\0' &&
	    (target == NULL || strcmp(target, "command") == 0) &&
	    !(is_import && sampled.sa_processes == 1 &&
	    sampled.sa_comm[0] != '\0'))
		put_name(stream, short_command(command));
	else if (merged != NULL)
		fprintf(stream, "%s recordings", merged);
	else if (sampled.sa_comm[0] != '\0')
		put_name(stream, sampled.sa_comm);
	else
		put_name(stream, file_name(headline->he_path));
	/* Of these, processes of the same number are not told apart. */
	if (merged != NULL) {
		if (command != NULL || (target != NULL &&
		    strcmp(target, "all") == 0))
			fprintf(stream, " (%s recordings)", merged);
	} else if (sampled.sa_processes > 1)
		fprintf(stream, " (%s%" PRIu64 " processes sampled)", more,
		    sampled.sa_processes);
	else if (sampled.sa_threads > 1)
		fprintf(stream, " (%s%" PRIu64 " threads sampled)", more,
		    sampled.sa_threads);
}

/* The part of the recording that was asked for. */
static uint64_t
part_of(const struct choose_span *span, const struct prof_ran *ran)
{
	const uint64_t end = span->cs_start_ns + ran->rn_ns +
	    ran->rn_paused_ns;
	const uint64_t from = span->cs_from_ns > span->cs_start_ns ?
	    span->cs_from_ns : span->cs_start_ns;
	const uint64_t to = span->cs_to_ns != 0 && span->cs_to_ns < end ?
	    span->cs_to_ns : end;

	return (to > from ? to - from : 0);
}

void
headline_init(struct headline *headline)
{
	struct prof_throttled *by_event = calloc(prof_reader_nevents(
	    headline->he_reader) + 1, sizeof(*by_event));
	struct prof_ran ran;
	uint64_t from, to;

	prof_profile_span(headline->he_profile, &from, &to);
	if (by_event == NULL || prof_reader_throttled(headline->he_reader,
	    by_event, &ran) == -1 || !ran.rn_is_known) {
		/* From the first sample to the last. */
		headline->he_ns = to > from + 1 ? to - from : 0;
	} else if (headline->he_span.cs_is_set) {
		headline->he_ns = part_of(&headline->he_span, &ran);
		headline->he_is_gross = ran.rn_pauses > 0;
	} else {
		headline->he_ns = ran.rn_ns;
	}
	if (prof_reader_info(headline->he_reader, "import") != NULL &&
	    headline->he_ns / LEAST_NS <
	    prof_reader_nsamples(headline->he_reader))
		headline->he_ns = 0;
	free(by_event);
}

void
headline_begin(const struct headline *headline, FILE *stream)
{
	char text[32];

	put_what(headline, stream);
	if (headline->he_is_held)
		fprintf(stream, ", not freed before the end");
	if (headline->he_filter != NULL)
		fprintf(stream, ", %s", headline->he_filter);
	if (headline->he_ns == 0)
		return;
	weight_time(text, sizeof(text), headline->he_ns);
	fprintf(stream, ", %s%s", text, headline->he_is_gross ?
	    " with pauses" : "");
}

/* Does it measure the time that threads ran? */
static bool
is_cpu_time(const struct prof_event_info *info)
{
	return (strcmp(info->pi_unit, "ns") == 0 && !info->pi_is_call &&
	    (strcmp(info->pi_provider, "profile") == 0 ||
	    strstr(info->pi_name, "cpu-clock") != NULL ||
	    strstr(info->pi_name, "task-clock") != NULL ||
	    strcmp(info->pi_name, "cpu") == 0));
}

double
headline_weight(const struct headline *headline, FILE *stream,
    const struct prof_event_info *info, uint64_t weight, uint64_t samples,
    uint64_t idle)
{
	char text[48];

	if (is_cpu_time(info) && idle <= weight)
		weight -= idle;
	weight_text(text, sizeof(text), weight, info->pi_unit);
	if (is_cpu_time(info)) {
		fprintf(stream, "%s of CPU time%s", text, idle > 0 ?
		    " (idle left out)" : "");
		return (headline->he_ns == 0 || headline->he_is_gross ? -1 :
		    (double)weight / (double)headline->he_ns);
	}
	if (info->pi_is_call && strcmp(info->pi_name, "syscall") == 0) {
		fprintf(stream, "%s in %" PRIu64 " system calls", text,
		    samples);
		return (-1);
	}
	if (info->pi_is_call)
		fprintf(stream, "%s in %" PRIu64 " calls of ", text, samples);
	else if (strcmp(info->pi_unit, "ns") == 0 ||
	    strcmp(info->pi_unit, "bytes") == 0)
		fprintf(stream, "%s of ", text);
	else
		fprintf(stream, "%s ", text);
	fprintf(stream, "%s%s", info->pi_name, info->pi_is_derived ? " time" :
	    "");
	return (-1);
}
