/* SPDX-License-Identifier: ISC */
/*
 * --ring: when what is kept in memory is written, and under which name.
 *
 *	trigger --(--dump-after)--> prof_session_dump ... prof_session_dumped
 *
 * Triggers that come while one waits are part of its dump.  Called by
 * record.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ui/terminal.h"
#include "record.h"

#define AFTER_NS	2000000000ULL	/* --dump-after */
#define MOST		10		/* --dump-max */
#define RING_BYTES	(64ULL << 20)	/* --ring */
#define PATTERN		"dtprof.%n.dtp"

/* What --dump-on can name; none named: all. */
static const struct {
	const char	*tr_name;
	unsigned	 tr_bit;
} triggers[] = {
	{ "SIGUSR2", RECORD_ON_SIGNAL },
	{ "exit", RECORD_ON_EXIT },
};
#define NTRIGGERS	(sizeof(triggers) / sizeof(triggers[0]))

static bool
is_asked(const struct record_options *ro)
{
	return (ro->ro_ring.on_set || ro->ro_keep_last.on_set ||
	    ro->ro_dump_on.os_n > 0 || ro->ro_dump_after.on_set ||
	    ro->ro_dump_max.on_set);
}

static int
trigger_add(struct record_dumping *rd, const char *name)
{
	size_t n = 0;

	while (n < NTRIGGERS && strcasecmp(triggers[n].tr_name, name) != 0)
		n++;
	if (n == NTRIGGERS)
		return (msg_fail("record", "use SIGUSR2 or exit",
		    "--dump-on %s: unknown trigger", name));
	rd->rd_on |= triggers[n].tr_bit;
	return (0);
}

int
record_dumping_set(struct record_dumping *rd, const struct record_options *ro,
    struct prof_options *po)
{
	if (!is_asked(ro))
		return (0);
	if (ro->ro_push != NULL || ro->ro_max_size.on_set)
		return (msg_error("record", "--push and --max-size cannot be "
		    "used with --ring, which writes no file while it records",
		    "leave out one of these options"));
	for (size_t n = 0; n < ro->ro_dump_on.os_n; n++)
		if (trigger_add(rd, ro->ro_dump_on.os_text[n]) == -1)
			return (-1);
	if (rd->rd_on == 0)
		rd->rd_on = RECORD_ON_SIGNAL | RECORD_ON_EXIT;
	po->po_ring_bytes = ro->ro_ring.on_set ? ro->ro_ring.on_value :
	    RING_BYTES;
	po->po_ring_ns = ro->ro_keep_last.on_value;
	rd->rd_after_ns = ro->ro_dump_after.on_set ?
	    ro->ro_dump_after.on_value : AFTER_NS;
	rd->rd_most = ro->ro_dump_max.on_set ? ro->ro_dump_max.on_value :
	    MOST;
	rd->rd_pattern = strcmp(ro->ro_output, DEFAULT_RECORDING) == 0 ?
	    PATTERN : ro->ro_output;
	rd->rd_is_quiet = ro->ro_quiet;
	if (rd->rd_most > 1 && strstr(rd->rd_pattern, "%n") == NULL &&
	    strstr(rd->rd_pattern, "%t") == NULL)
		return (msg_fail("record", "put %n (number) or %t (time) into "
		    "the name, or use --dump-max 1", "-o %s: all dumps would "
		    "have the same name", rd->rd_pattern));
	return (0);
}

/* ---------------------------------------------------------------- names */

/* A reason as a part of a name of a file. */
static void
put_reason(FILE *stream, const char *reason)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

	for (; *reason != '\0'; reason++)
		putc(strchr(plain, *reason) != NULL ? *reason : '-', stream);
}

static void
put_time(FILE *stream)
{
	const time_t now = time(NULL);
	char text[32] = "";
	struct tm tm;

	if (localtime_r(&now, &tm) != NULL)
		(void)strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm);
	fputs(text, stream);
}

static void
put_host(FILE *stream)
{
	char name[256] = "";

	(void)gethostname(name, sizeof(name) - 1);
	put_reason(stream, name);
}

/* NULL: no memory.  %t time, %n number, %r reason, %h host. */
static char *
dump_name(const struct record_dumping *rd, const char *reason)
{
	size_t length;
	char *text;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return (NULL);
	for (const char *at = rd->rd_pattern; *at != '\0'; at++) {
		if (*at != '%' || at[1] == '\0') {
			putc(*at, stream);
			continue;
		}
		switch (*++at) {
		case 't':
			put_time(stream);
			break;
		case 'n':
			fprintf(stream, "%llu",
			    (unsigned long long)rd->rd_number);
			break;
		case 'r':
			put_reason(stream, reason);
			break;
		case 'h':
			put_host(stream);
			break;
		default:
			putc(*at, stream);
		}
	}
	return (fclose(stream) == 0 ? text : NULL);
}

/* ---------------------------------------------------------------- dumps */

static int
dump_begin(struct record_dumping *rd, struct prof_session *session,
    const char *reason, uint64_t requested_ns)
{
	char *name;
	int rv;

	if (rd->rd_number >= rd->rd_most) {
		if (!rd->rd_has_warned)
			msg_warning("record", "no more dumps are written: "
			    "--dump-max %llu is reached",
			    (unsigned long long)rd->rd_most);
		rd->rd_has_warned = true;
		return (0);
	}
	rd->rd_number++;
	name = dump_name(rd, reason);
	if (name == NULL)
		return (msg_error("record", "out of memory", "free memory"));
	rv = prof_session_dump(session, name, reason, requested_ns);
	if (rv == -1)
		msg_prof("record", prof_session_error(session));
	free(name);
	return (rv);
}

static void
show_dumped(const struct record_dumping *rd, const struct prof_dumped *pd)
{
	char history[32], bytes[32];
	struct out out;

	if (pd->pd_error.pe_code != PROF_OK) {
		msg_prof("record", &pd->pd_error);
		return;
	}
	if (rd->rd_is_quiet)
		return;
	weight_time(history, sizeof(history), pd->pd_history_ns);
	term_bytes(bytes, sizeof(bytes), pd->pd_bytes);
	out_init(&out, STDERR_FILENO);
	out_fmt(&out, "dtprof: record: dump %llu (%s): %s, %llu samples, %s",
	    (unsigned long long)rd->rd_shown, pd->pd_reason, history,
	    (unsigned long long)pd->pd_samples, bytes);
	OUT(&out, " in ", pd->pd_path, "\n");
	out_flush(&out);
}

void
record_dumping_show(struct record_dumping *rd, struct prof_session *session)
{
	struct prof_dumped dumped;

	while (prof_session_dumped(session, &dumped) == 1) {
		rd->rd_shown++;
		rd->rd_failed += dumped.pd_error.pe_code != PROF_OK;
		show_dumped(rd, &dumped);
	}
}

int
record_dumping_look(struct record_dumping *rd, struct prof_session *session)
{
	if (rd->rd_on == 0)
		return (0);
	if ((rd->rd_on & RECORD_ON_SIGNAL) != 0 && signals_dump() &&
	    rd->rd_due_ns == 0) {
		rd->rd_asked_ns = term_now_ns();
		rd->rd_due_ns = rd->rd_asked_ns + rd->rd_after_ns;
	}
	record_dumping_show(rd, session);
	if (rd->rd_due_ns == 0 || term_now_ns() < rd->rd_due_ns)
		return (0);
	rd->rd_due_ns = 0;
	return (dump_begin(rd, session, "SIGUSR2", rd->rd_asked_ns));
}

/* One that waits for its time is made now. */
int
record_dumping_end(struct record_dumping *rd, struct prof_session *session)
{
	if (rd->rd_on == 0)
		return (0);
	if (rd->rd_due_ns != 0 && (rd->rd_on & RECORD_ON_EXIT) == 0)
		return (dump_begin(rd, session, "SIGUSR2", rd->rd_asked_ns));
	if ((rd->rd_on & RECORD_ON_EXIT) == 0)
		return (0);
	return (dump_begin(rd, session, "exit", term_now_ns()));
}
