/* SPDX-License-Identifier: ISC */
/*
 * What report --by asks for: words that every sample has something for, and
 * names of the arguments of events,
 *
 *	--by comm,function	--by prev_comm,prev_state
 *
 * A word goes before an argument of its name, which is args.NAME then.
 * Called by cmd_report.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define PREFIX		"args."

/* BY_WORDS one by one, in the order of BY_*. */
static const char *const words[BY_NWORDS + 1] = { "function", "module", "line",
    "pid", "tid", "comm", "cpu", "event", "probe", "syscall", "address",
    "span", NULL };

static int
no_memory(void)
{
	return (msg_error("report", "out of memory", "free memory"));
}

static bool
has_key(const struct report_by *by, unsigned key)
{
	for (size_t n = 0; n < by->rb_nkeys; n++)
		if (by->rb_key[n] == key)
			return (true);
	return (false);
}

static int
add_argument(struct report_by *by, const char *name, size_t length)
{
	for (size_t n = 0; n < by->rb_nargs; n++)
		if (strlen(by->rb_arg[n]) == length &&
		    strncmp(by->rb_arg[n], name, length) == 0)
			return (0);
	if (by->rb_nargs == PROF_MAX_ARGS)
		return (msg_fail("report", "leave some out", "--by: more than "
		    "%d event arguments", PROF_MAX_ARGS));
	by->rb_arg[by->rb_nargs] = strndup(name, length);
	if (by->rb_arg[by->rb_nargs] == NULL)
		return (no_memory());
	by->rb_set |= BY_ARGS;
	by->rb_key[by->rb_nkeys++] = BY_NWORDS + (unsigned)by->rb_nargs++;
	return (0);
}

int
report_by_parse(struct report_by *by, const char *text)
{
	size_t length;
	int word;

	for (;; text += length + 1) {
		length = strcspn(text, ",");
		word = opt_word(text, length, BY_WORDS);
		if (length == 0)
			return (msg_error("report", "--by: empty key",
			    "use one or more of " BY_WORDS ", or an "
			    "event argument"));
		if (word >= 0 && !has_key(by, (unsigned)word)) {
			by->rb_set |= 1u << word;
			by->rb_key[by->rb_nkeys++] = (unsigned)word;
		} else if (word < 0) {
			const size_t skip = strncmp(text, PREFIX,
			    strlen(PREFIX)) == 0 ? strlen(PREFIX) : 0;

			if (add_argument(by, text + skip, length - skip) ==
			    -1)
				return (-1);
		}
		if (text[length] == '\0')
			return (0);
	}
}

void
report_by_complete(struct report_by *by, bool is_tree)
{
	if ((by->rb_set & (BY_FUNCTION | BY_LINE)) != 0 ||
	    (!is_tree && (by->rb_set & BY_ADDRESS) == 0))
		return;
	by->rb_set |= BY_FUNCTION;
	by->rb_key[by->rb_nkeys++] = 0;
}

void
report_by_free(struct report_by *by)
{
	while (by->rb_nargs > 0)
		free(by->rb_arg[--by->rb_nargs]);
}

const char *
report_by_word(const struct report_by *by, size_t n)
{
	const unsigned key = by->rb_key[n];

	return (key < BY_NWORDS ? words[key] : by->rb_arg[key - BY_NWORDS]);
}

/* ----------------------------------------------------------- is it there */

static bool
call_has(const struct prof_event_info *info, const char *name)
{
	for (uint32_t n = 0; info->pi_is_call && n < info->pi_ncalls; n++) {
		const struct prof_syscall *call = info->pi_calls[n];

		for (uint32_t a = 0; call != NULL && a < call->cl_nargs; a++)
			if (strcmp(call->cl_arg_names[a], name) == 0)
				return (true);
	}
	return (false);
}

static bool
event_has(const struct prof_event_info *info, const char *name)
{
	for (uint32_t n = 0; n < info->pi_nargs; n++)
		if (strcmp(info->pi_arg_names[n], name) == 0)
			return (true);
	return (call_has(info, name));
}

/* "sched:sched_switch has prev_comm, prev_pid" */
static void
list_arguments(FILE *stream, const struct prof_event_info *info)
{
	fprintf(stream, "%s has ", info->pi_name);
	for (uint32_t n = 0; n < info->pi_nargs; n++)
		fprintf(stream, "%s%s", n > 0 ? ", " : "",
		    info->pi_arg_names[n]);
	if (info->pi_nargs == 0)
		fputs("no arguments", stream);
}

/* What other profilers call them. */
static const char *const others[][2] = { { "dso", "module" },
    { "file", "line" }, { "process", "pid" }, { "program", "comm" },
    { "srcfile", "line" }, { "srcline", "line" }, { "sym", "function" },
    { "symbol", "function" }, { "thread", "tid" } };
#define NOTHERS	(sizeof(others) / sizeof(others[0]))

/* A word or an argument that it may have been meant for; NULL: none. */
static const char *
key_nearest(const struct report *report, const char *name)
{
	const char *near = NULL, *names[PROF_MAX_ARGS + 1];

	for (size_t n = 0; n < NOTHERS; n++)
		if (strcmp(name, others[n][0]) == 0)
			return (others[n][1]);
	near = opt_nearest(name, words);
	for (size_t e = 1; near == NULL &&
	    e < prof_reader_nevents(report->re_reader); e++) {
		const struct prof_event_info *info =
		    prof_reader_event(report->re_reader, e);

		for (uint32_t n = 0; n < info->pi_nargs; n++)
			names[n] = info->pi_arg_names[n];
		names[info->pi_nargs] = NULL;
		near = opt_nearest(name, names);
	}
	return (near);
}

static int
key_refuse(const struct report *report, const char *name)
{
	const size_t nevents = prof_reader_nevents(report->re_reader);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	const char *near = key_nearest(report, name);
	bool any = false;

	if (stream == NULL)
		return (no_memory());
	if (near != NULL)
		fprintf(stream, "did you mean %s? ", near);
	for (size_t e = 1; e < nevents; e++) {
		const struct prof_event_info *info =
		    prof_reader_event(report->re_reader, e);

		if (!report->re_wanted[e] || info->pi_is_counter)
			continue;
		fputs(any ? "; " : "", stream);
		list_arguments(stream, info);
		any = true;
	}
	fputs("; keys are " BY_WORDS, stream);
	if (fclose(stream) != 0) {
		free(text);
		return (no_memory());
	}
	msg_fail("report", text, "--by %s: neither a key nor an argument of "
	    "an event", name);
	free(text);
	return (-1);
}

int
report_by_check(const struct report *report)
{
	const size_t nevents = prof_reader_nevents(report->re_reader);
	size_t e;

	for (size_t n = 0; n < report->re_by.rb_nargs; n++) {
		for (e = 1; e < nevents; e++)
			if (report->re_wanted[e] && event_has(
			    prof_reader_event(report->re_reader, e),
			    report->re_by.rb_arg[n]))
				break;
		if (e == nevents)
			return (key_refuse(report, report->re_by.rb_arg[n]));
	}
	return (0);
}
