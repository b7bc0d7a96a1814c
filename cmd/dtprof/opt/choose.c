/* SPDX-License-Identifier: ISC */
/*
 * Which part of a recording is asked for: events by name or glob, a range of
 * time by seconds or by marks; and the profile of it, with its names.  Shared
 * by the commands that show profiles; each refusal says what there is instead.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose.h"

#define MAX_SHOWN	8	/* marks that a message names */

static int	 range_of_marks(const char *command,
		    struct prof_reader *reader, const char *between,
		    struct prof_profile_options *options);

/* perf's name of system calls, which is an event's with its glob in it. */
static bool
is_syscall(const char *name, const struct prof_event_info *info)
{
	static const char *const halves[2][2] = {
		{ "syscalls:sys_enter_", "entry" },
		{ "syscalls:sys_exit_", "return" },
	};
	char text[300];
	size_t length;

	for (int h = 0; h < 2; h++) {
		length = strlen(halves[h][0]);
		if (strncmp(name, halves[h][0], length) != 0)
			continue;
		snprintf(text, sizeof(text), "syscall:%s:%s",
		    name + strlen("syscalls:"), halves[h][1]);
		if (strcmp(text, info->pi_name) == 0)
			return (true);
		snprintf(text, sizeof(text), "syscall:*%s:%s", name + length,
		    halves[h][1]);
		return (fnmatch(text, info->pi_name, 0) == 0);
	}
	return (false);
}

static bool
is_event(const char *name, const struct prof_event_info *info)
{
	return (fnmatch(name, info->pi_name, 0) == 0 ||
	    fnmatch(name, info->pi_probe, 0) == 0 || is_syscall(name, info));
}

/* Samples in spans are chosen by a filter. */
static void
refuse_event(const char *command, const char *name)
{
	char cure[160];

	if (strncmp(name, "span:", 5) != 0) {
		msg_fail(command, "list the events of a recording with dtprof "
		    "report --by event", "--event %s: no such event in this "
		    "recording", name);
		return;
	}
	snprintf(cure, sizeof(cure), "choose the samples in spans with "
	    "--filter 'span == \"%.60s\"'", name + 5);
	msg_fail(command, cure, "--event %s: a span is a pair of events, and "
	    "has no samples of its own", name);
}

bool *
choose_events(const char *command, const struct prof_reader *reader,
    const struct opt_strings *names)
{
	const size_t nevents = prof_reader_nevents(reader);
	const struct prof_event_info *info;
	bool *wanted, found;

	wanted = calloc(nevents + 1, sizeof(*wanted));
	if (wanted == NULL) {
		msg_error(command, "out of memory", "free memory");
		return (NULL);
	}
	/* Event 0 is process events; some do nothing but begin or end spans. */
	for (size_t e = 1; names->os_n == 0 && e < nevents; e++)
		wanted[e] = !prof_reader_event(reader, e)->pi_is_of_span;
	for (size_t n = 0; n < names->os_n; n++) {
		const char *name = names->os_text[n];

		/* As bpftrace spells it; see prof_spec_parse. */
		if (strncmp(name, "tracepoint:", 11) == 0)
			name += 11;
		found = false;
		for (size_t e = 1; e < nevents; e++) {
			info = prof_reader_event(reader, e);
			if (!is_event(name, info))
				continue;
			wanted[e] = found = true;
		}
		if (!found) {
			refuse_event(command, names->os_text[n]);
			free(wanted);
			return (NULL);
		}
	}
	return (wanted);
}

bool
choose_is_column(const struct prof_event_info *info)
{
	return (strcmp(info->pi_probe, "folded:::samples") == 0 &&
	    strcmp(info->pi_name, "samples") != 0);
}

bool
choose_is_side(const struct prof_event_info *info, int side)
{
	return (!choose_is_column(info) ||
	    strcmp(info->pi_name, side == 0 ? "base" : "new") == 0);
}

bool
choose_has_columns(const char *path)
{
	struct prof_import *import = NULL;
	struct prof_err error = { 0 };
	struct prof_reader *reader = path == NULL || strcmp(path, "-") == 0 ?
	    NULL : prof_reader_open_any(path, &import, &error);
	const bool has = reader != NULL && prof_reader_nevents(reader) > 1 &&
	    choose_is_column(prof_reader_event(reader, 1));

	prof_import_free(import);
	if (reader != NULL)
		prof_reader_close(reader);
	return (has);
}

/* ------------------------------------------------------------- time */

bool
choose_has_time(const struct choose_time *time)
{
	return (time->ct_between != NULL || time->ct_from.on_set ||
	    time->ct_to.on_set);
}

/* What is relative to another end shows when the recording is read. */
static bool
is_backwards(const struct choose_time *time)
{
	const struct opt_number *from = &time->ct_from, *to = &time->ct_to;

	if (!to->on_set || to->on_from_end != from->on_from_end)
		return (to->on_set && !to->on_from_end && !from->on_set &&
		    to->on_value == 0);
	return (to->on_from_end ? to->on_value >= from->on_value :
	    to->on_value <= from->on_value);
}

int
choose_check(const char *command, const struct choose_time *time)
{
	if (time->ct_between != NULL &&
	    (time->ct_from.on_set || time->ct_to.on_set))
		msg_error(command, "--between excludes --from and --to",
		    "choose a range by markers or by time");
	else if (is_backwards(time))
		msg_error(command, "--to is not after --from",
		    "TIME is relative to the start of the recording, and -TIME "
		    "to its end");
	else
		return (0);
	return (-1);
}

int
choose_check_renames(const char *command, const struct opt_strings *renames)
{
	for (size_t i = 0; i < renames->os_n; i++)
		if (strchr(renames->os_text[i], '=') == NULL)
			return (msg_fail(command, "write --rename OLD=NEW",
			    "--rename %s: missing '='", renames->os_text[i]));
	return (0);
}

/* When it began: START, or the first sample where that is missing. */
static int
find_start(struct prof_reader *reader, uint64_t *start_ns)
{
	struct prof_record record;
	int rv;

	*start_ns = 0;
	while ((rv = prof_reader_record(reader, &record)) == 1) {
		if (record.pr_type == PROF_R_SAMPLE ||
		    record.pr_type == PROF_R_START) {
			*start_ns = record.pr_time_ns;
			break;
		}
	}
	(void)prof_reader_rewind(reader);
	return (rv == -1 ? -1 : 0);
}

/* When it ended: STOP, or what came last. */
static int
find_end(struct prof_reader *reader, uint64_t *end_ns)
{
	const struct prof_record *record;
	int rv;

	while ((rv = prof_reader_borrow(reader, &record)) == 1)
		if (record->pr_time_ns > *end_ns)
			*end_ns = record->pr_time_ns;
	(void)prof_reader_rewind(reader);
	return (rv);
}

static uint64_t
time_of(const struct opt_number *number, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t time_ns;

	if (number->on_from_end)
		return (end_ns - start_ns < number->on_value ? start_ns :
		    end_ns - number->on_value);
	return (__builtin_add_overflow(start_ns, number->on_value,
	    &time_ns) ? UINT64_MAX : time_ns);
}

int
choose_range(const char *command, struct prof_reader *reader,
    const struct choose_time *time, struct prof_profile_options *options)
{
	const bool needs_end = (time->ct_from.on_set &&
	    time->ct_from.on_from_end) || time->ct_to.on_from_end;
	uint64_t start_ns, end_ns = 0;

	if (time->ct_between != NULL)
		return (range_of_marks(command, reader, time->ct_between,
		    options));
	if (!time->ct_from.on_set && !time->ct_to.on_set)
		return (0);
	if (find_start(reader, &start_ns) == -1 ||
	    (needs_end && find_end(reader, &end_ns) == -1))
		return (msg_prof(command, prof_reader_error(reader)));
	options->pl_from_ns = time_of(&time->ct_from, start_ns, end_ns);
	if (time->ct_to.on_set)
		options->pl_to_ns = time_of(&time->ct_to, start_ns, end_ns);
	return (0);
}

void
choose_span(struct prof_reader *reader, const struct choose_time *time,
    const struct prof_profile_options *options, struct choose_span *span)
{
	span->cs_is_set = choose_has_time(time);
	span->cs_from_ns = options->pl_from_ns;
	span->cs_to_ns = options->pl_to_ns;
	if (span->cs_is_set)
		(void)find_start(reader, &span->cs_start_ns);
}

struct prof_profile *
choose_profile(const char *command, struct prof_reader *reader,
    const struct prof_profile_options *options, struct prof_symbols **symbols)
{
	struct prof_err error = { 0 };
	struct prof_profile *profile = NULL;

	*symbols = prof_symbols_open(reader, NULL, &error);
	if (*symbols != NULL)
		profile = prof_profile_new(reader, *symbols, options, &error);
	/* That a chunk is damaged may show when it is decoded. */
	input_say_cut(command, reader);
	if (profile == NULL)
		msg_prof(command, &error);
	return (profile);
}

/* ------------------------------------------------------------ marks */

struct marks {
	struct mark_at {
		char		*mk_text;
		uint64_t	 mk_time_ns;
	}		*ma_mark;
	size_t		 ma_n;
};

static int
marks_add(struct marks *marks, const struct prof_record *record)
{
	struct mark_at *mark = prof_append(&marks->ma_mark, &marks->ma_n,
	    sizeof(*mark));

	if (mark == NULL || (mark->mk_text = strdup(record->pr_path)) == NULL)
		return (-1);
	mark->mk_time_ns = record->pr_time_ns;
	return (0);
}

static int
marks_collect(const char *command, struct prof_reader *reader,
    struct marks *marks)
{
	struct prof_record record;
	int rv;

	while ((rv = prof_reader_record(reader, &record)) == 1) {
		if (record.pr_type != PROF_R_MARK)
			continue;
		if (marks_add(marks, &record) == -1)
			return (msg_error(command, "out of memory",
			    "free memory"));
	}
	if (rv == -1)
		msg_prof(command, prof_reader_error(reader));
	(void)prof_reader_rewind(reader);
	return (rv);
}

static void
marks_free(struct marks *marks)
{
	while (marks->ma_n > 0)
		free(marks->ma_mark[--marks->ma_n].mk_text);
	free(marks->ma_mark);
}

/* The first mark with this text, from a place on; ma_n: there is none. */
static size_t
marks_find(const struct marks *marks, const char *text, size_t length,
    size_t from)
{
	for (; from < marks->ma_n; from++)
		if (strncmp(marks->ma_mark[from].mk_text, text, length) == 0 &&
		    marks->ma_mark[from].mk_text[length] == '\0')
			break;
	return (from);
}

/* The texts may hold commas: whichever comma gives two marks. */
static bool
marks_split(const struct marks *marks, const char *between,
    struct prof_profile_options *options)
{
	const char *comma;
	size_t a, b;

	for (comma = strchr(between, ','); comma != NULL;
	    comma = strchr(comma + 1, ',')) {
		a = marks_find(marks, between, (size_t)(comma - between), 0);
		if (a == marks->ma_n)
			continue;
		b = marks_find(marks, comma + 1, strlen(comma + 1), a + 1);
		if (b == marks->ma_n)
			continue;
		options->pl_from_ns = marks->ma_mark[a].mk_time_ns;
		options->pl_to_ns = marks->ma_mark[b].mk_time_ns;
		return (true);
	}
	return (false);
}

static int
range_of_marks(const char *command, struct prof_reader *reader,
    const char *between, struct prof_profile_options *options)
{
	struct marks marks = { 0 };
	char cure[256] = "its markers:";
	size_t length = strlen(cure);
	int rv = -1, n;

	if (marks_collect(command, reader, &marks) == -1)
		goto out;
	if (marks_split(&marks, between, options)) {
		rv = 0;
		goto out;
	}
	for (size_t i = 0; i < marks.ma_n && i < MAX_SHOWN; i++) {
		n = snprintf(cure + length, sizeof(cure) - length, " \"%.40s\"",
		    marks.ma_mark[i].mk_text);
		length += n > 0 ? (size_t)n : 0;
		if (length >= sizeof(cure))
			break;
	}
	msg_fail(command, marks.ma_n > 0 ? cure :
	    "the recording has no markers: add markers with dtprof mark while "
	    "recording",
	    "--between %s: markers not found or in the wrong order", between);
out:
	marks_free(&marks);
	return (rv);
}
