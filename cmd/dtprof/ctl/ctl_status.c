/* SPDX-License-Identifier: ISC */
/*
 * What recorders say about themselves, for people and for programs.
 *
 *	recorder 4711: recording for 23 min, 1204311 samples, 0 lost
 *	  output    dtprof.%n.dtp
 *	  history   23 min in 60 MB
 *	  ...
 *
 * Called by cmd_ctl.c; record_control.c writes what is read here.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/budget.h"
#include "../ui/emit.h"
#include "../ui/terminal.h"
#include "ctl.h"

/* The end of an answer that is too long is cut off, and with it a newline. */
static const char *
line_after(const char *line)
{
	line += strcspn(line, "\n");
	return (*line == '\n' ? line + 1 : line);
}

/* The n-th value of a key, which ends with its line; NULL: there is none. */
static const char *
value_at(const struct ctl_answer *answer, const char *key, size_t n)
{
	const size_t length = strlen(key);
	const char *line = answer->ca_text;

	for (; *line != '\0'; line = line_after(line))
		if (strncmp(line, key, length) == 0 && line[length] == ' ' &&
		    n-- == 0)
			return (line + length + 1);
	return (NULL);
}

/* The same as a text of its own, or ""; to be freed, NULL: no memory. */
static char *
text_at(const struct ctl_answer *answer, const char *key, size_t n)
{
	const char *value = value_at(answer, key, n);

	return (value == NULL ? strdup("") :
	    strndup(value, strcspn(value, "\n")));
}

static uint64_t
number_of(const struct ctl_answer *answer, const char *key)
{
	const char *value = value_at(answer, key, 0);

	return (value == NULL ? 0 : strtoull(value, NULL, 10));
}

static double
share_of(const struct ctl_answer *answer, const char *key)
{
	const char *value = value_at(answer, key, 0);

	return (value == NULL ? -1 : strtod(value, NULL));
}

static bool
has_ring(const struct ctl_answer *answer)
{
	return (value_at(answer, "history_ns", 0) != NULL);
}

/* --------------------------------------------------------------- people */

static void
put_text(const struct ctl_answer *answer, const char *key, size_t n,
    const char *head, struct out *out)
{
	char *text = text_at(answer, key, n);

	if (text != NULL)
		OUT(out, head, text, "");
	free(text);
}

static void
put_bytes(struct out *out, uint64_t bytes, const char *after)
{
	char text[32];

	term_bytes(text, sizeof(text), bytes);
	out_fmt(out, "%s%s", text, after);
}

static void
put_ring(const struct ctl_answer *answer, struct out *out)
{
	char text[32];
	size_t n = 0;

	weight_time(text, sizeof(text), number_of(answer, "history_ns"));
	out_fmt(out, "  history   %s in ", text);
	put_bytes(out, number_of(answer, "ring_bytes"), "\n  triggers ");
	for (; value_at(answer, "trigger", n) != NULL; n++)
		put_text(answer, "trigger", n, n == 0 ? " " : ", ", out);
	out_fmt(out, "\n  dumps     %" PRIu64 " of at most %" PRIu64,
	    number_of(answer, "dumps"), number_of(answer, "dump_max"));
	if (value_at(answer, "last_dump_file", 0) != NULL) {
		put_text(answer, "last_dump_file", 0, ", the last in ", out);
		put_text(answer, "last_dump_reason", 0, " (", out);
		out_char(out, ')');
	}
	out_char(out, '\n');
}

static void
put_recorder(const struct ctl_answer *answer, struct out *out)
{
	char text[32];

	weight_time(text, sizeof(text), number_of(answer, "elapsed_ns"));
	out_fmt(out, "recorder %d:", answer->ca_pid);
	put_text(answer, "state", 0, " ", out);
	out_fmt(out, " for %s, %" PRIu64 " samples, %" PRIu64 " lost\n", text,
	    number_of(answer, "samples"), number_of(answer, "lost"));
	put_text(answer, "output", 0, "  output    ", out);
	if (value_at(answer, "rate_hz", 0) != NULL)
		out_fmt(out, "\n  rate      %" PRIu64 " Hz",
		    number_of(answer, "rate_hz"));
	out_fmt(out, "\n  cost      %.2f%% of one CPU, ",
	    100 * share_of(answer, "cpu_share"));
	put_bytes(out, number_of(answer, "memory_bytes"), " of memory, ");
	put_bytes(out, number_of(answer, "disk_bytes"), " written\n");
	for (size_t n = 0; value_at(answer, "budget", n) != NULL; n++)
		budget_text(value_at(answer, "budget", n), "  limit     ",
		    out);
	if (has_ring(answer))
		put_ring(answer, out);
}

void
ctl_status_text(const struct ctl_answers *answers, struct out *out)
{
	for (size_t n = 0; n < answers->cs_n; n++)
		put_recorder(&answers->cs_answer[n], out);
}

/* ------------------------------------------------------------- programs */

static void
emit_triggers(const struct ctl_answer *answer, struct emit *em)
{
	emit_list(em, "triggers");
	for (size_t n = 0; value_at(answer, "trigger", n) != NULL; n++) {
		char *text = text_at(answer, "trigger", n);

		EMIT(em, TEXT(NULL, text));
		free(text);
	}
	emit_close(em);
}

static void
emit_last(const struct ctl_answer *answer, struct emit *em)
{
	char *reason = text_at(answer, "last_dump_reason", 0);
	char *file = text_at(answer, "last_dump_file", 0);

	if (value_at(answer, "last_dump_file", 0) == NULL)
		EMIT(em, UNKNOWN("last_dump"));
	else
		EMIT_ROW(em, "last_dump", TEXT("reason", reason),
		    TEXT("file", file));
	free(reason);
	free(file);
}

static void
emit_recorder(const struct ctl_answer *answer, struct emit *em)
{
	const bool is_ring = has_ring(answer);
	char *state = text_at(answer, "state", 0);
	char *output = text_at(answer, "output", 0);

	emit_object(em, NULL);
	EMIT(em, COUNT("pid", (uint64_t)answer->ca_pid),
	    TEXT("state", state), TEXT("output", output),
	    COUNT("elapsed_ns", number_of(answer, "elapsed_ns")),
	    COUNT("samples", number_of(answer, "samples")),
	    SHARE("lost_share", share_of(answer, "lost_share")),
	    KNOWN(value_at(answer, "rate_hz", 0) != NULL,
	    COUNT("rate_hz", number_of(answer, "rate_hz"))),
	    SHARE("cpu_share", share_of(answer, "cpu_share")),
	    COUNT("memory_bytes", number_of(answer, "memory_bytes")),
	    COUNT("disk_bytes", number_of(answer, "disk_bytes")),
	    KNOWN(is_ring,
	    COUNT("history_ns", number_of(answer, "history_ns"))),
	    KNOWN(is_ring,
	    COUNT("ring_bytes", number_of(answer, "ring_bytes"))),
	    COUNT("dumps", number_of(answer, "dumps")),
	    KNOWN(is_ring,
	    COUNT("dump_max", number_of(answer, "dump_max"))));
	emit_list(em, "budgets");
	for (size_t n = 0; value_at(answer, "budget", n) != NULL; n++)
		budget_emit(value_at(answer, "budget", n), em);
	emit_close(em);
	emit_triggers(answer, em);
	emit_last(answer, em);
	emit_close(em);
	free(state);
	free(output);
}

void
ctl_status_json(const struct ctl_answers *answers, struct out *out)
{
	struct emit em;

	emit_json(&em, out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA));
	emit_rows(&em, "recorders");
	for (size_t n = 0; n < answers->cs_n; n++)
		emit_recorder(&answers->cs_answer[n], &em);
	emit_end(&em);
}
