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
#include <unistd.h>

#include "../ui/terminal.h"
#include "record.h"

#define AFTER_NS	2000000000ULL	/* --dump-after */
#define MOST		10		/* --dump-max */
#define RING_BYTES	(64ULL << 20)	/* --ring */
#define PATTERN		"dtprof.%n.dtp"
#define WRITING_NS	10000000ULL	/* between looks at one being written */

/* What --dump-on can name.  Requests of dtprof ctl need not be named. */
static const struct {
	const char	*tr_name;
	unsigned	 tr_bit;
} triggers[] = {
	{ "SIGUSR2", RECORD_ON_SIGNAL },
	{ "exit", RECORD_ON_EXIT },
	{ "ctl", RECORD_ON_CTL },
};
#define NTRIGGERS	(sizeof(triggers) / sizeof(triggers[0]))

static bool
is_asked(const struct record_options *ro)
{
	return (ro->ro_overwrite ||
	    ro->ro_ring.on_set || ro->ro_keep_last.on_set ||
	    ro->ro_dump_on.os_n > 0 || ro->ro_dump_after.on_set ||
	    ro->ro_dump_max.on_set);
}

static int
trigger_add(struct record_dumping *rd, const char *name)
{
	size_t n = 0;

	while (n < NTRIGGERS && strcasecmp(triggers[n].tr_name, name) != 0)
		n++;
	if (n == NTRIGGERS) {
		rd->rd_on |= RECORD_ON_OTHER;
		return (record_triggers_add(rd, name));
	}
	rd->rd_on |= triggers[n].tr_bit;
	return (0);
}

/* perf's option: with a ring it writes dumps, not the next of many files. */
static int
switch_add(struct record_dumping *rd, const char *when)
{
	if (strcmp(when, "signal") == 0)
		return (trigger_add(rd, "SIGUSR2"));
	return (msg_fail("record", "leave out --overwrite, or use --dump-on",
	    "--switch-output=%s: with --overwrite it can only be \"signal\"",
	    when));
}

int
record_dumping_set(struct record_dumping *rd, const struct record_options *ro,
    struct prof_options *po)
{
	if (!is_asked(ro))
		return (0);
	if (ro->ro_push != NULL || ro->ro_max_size.on_set)
		return (msg_fail("record", "leave out one of these options",
		    "%s cannot be used with --ring, which writes no file while "
		    "it records", ro->ro_push != NULL ? "--push" :
		    "--max-size"));
	for (size_t n = 0; n < ro->ro_dump_on.os_n; n++)
		if (trigger_add(rd, ro->ro_dump_on.os_text[n]) == -1)
			return (-1);
	if (ro->ro_overwrite && ro->ro_switch_output != NULL &&
	    switch_add(rd, ro->ro_switch_output) == -1)
		return (-1);
	if (record_triggers_check(rd->rd_triggers, &ro->ro_spans) == -1)
		return (-1);
	if (rd->rd_on == 0)
		rd->rd_on = RECORD_ON_SIGNAL | RECORD_ON_EXIT;
	if (record_triggers_compare(rd->rd_triggers))
		po->po_record_comm = 1;
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
	if (record_name_check(rd->rd_pattern) == -1)
		return (-1);
	if (rd->rd_most > 1 && !record_name_varies(rd->rd_pattern))
		return (msg_fail("record", "put %n (number) or %t (time) into "
		    "the name, or use --dump-max 1", "-o %s: all dumps would "
		    "have the same name", rd->rd_pattern));
	return (0);
}

/* ------------------------------------------------------------- triggers */

/* Written or being written: one that failed leaves room for another. */
static bool
is_at_most(const struct record_dumping *rd)
{
	return (rd->rd_number - rd->rd_failed >= rd->rd_most);
}

/* Counted; the first whose first word is another is named. */
static void
trigger_merge(struct record_dumping *rd, const char *reason)
{
	const size_t kind = strcspn(rd->rd_reason, " ") + 1;

	rd->rd_merged++;
	if (rd->rd_other[0] == '\0' &&
	    strncmp(reason, rd->rd_reason, kind) != 0)
		(void)snprintf(rd->rd_other, sizeof(rd->rd_other), ", then %s",
		    reason);
}

void
record_dumping_trigger(struct record_dumping *rd, const char *reason,
    uint64_t time_ns)
{
	if (rd->rd_due_ns != 0) {
		trigger_merge(rd, reason);
		return;
	}
	if (is_at_most(rd)) {
		if (!rd->rd_has_warned)
			msg_warning("record", "no more dumps are written: "
			    "--dump-max %llu is reached",
			    (unsigned long long)rd->rd_most);
		rd->rd_has_warned = true;
		rd->rd_ignored++;
		return;
	}
	rd->rd_asked_ns = time_ns;
	rd->rd_due_ns = time_ns + rd->rd_after_ns;
	rd->rd_merged = 0;
	rd->rd_other[0] = '\0';
	(void)snprintf(rd->rd_reason, sizeof(rd->rd_reason), "%s", reason);
}

/* ---------------------------------------------------------------- dumps */

static int
dump_begin(struct record_dumping *rd, struct prof_session *session,
    uint64_t from_ns, const char *pattern, const char *reason,
    uint64_t requested_ns)
{
	char *name;
	int rv;

	rd->rd_number++;
	name = record_name(pattern, rd->rd_number, reason);
	if (name == NULL)
		return (msg_error("record", "out of memory", "free memory"));
	rv = prof_session_dump_from(session, from_ns, name, reason,
	    requested_ns);
	if (rv == -1)
		msg_prof("record", prof_session_error(session));
	free(name);
	return (rv);
}

/* The trigger that waits becomes a dump, with those that came since. */
static int
waiting_begin(struct record_dumping *rd, struct prof_session *session)
{
	const unsigned long long more = rd->rd_merged -
	    (rd->rd_other[0] != '\0');
	char reason[3 * RECORD_REASON], counted[64] = "";

	if (more > 0)
		(void)snprintf(counted, sizeof(counted),
		    ", %llu more trigger%s", more, more == 1 ? "" : "s");
	(void)snprintf(reason, sizeof(reason), "%s%s%s", rd->rd_reason,
	    rd->rd_other, counted);
	rd->rd_due_ns = 0;
	return (dump_begin(rd, session, 0, rd->rd_pattern, reason,
	    rd->rd_asked_ns));
}

int
record_dumping_ask(struct record_dumping *rd, struct prof_session *session,
    const struct prof_ask *ask)
{
	const uint64_t now_ns = term_now_ns();
	uint64_t last_ns;
	char *name;
	size_t n = 0;

	while (n < RECORD_ASKS && rd->rd_ask[n].ra_number != 0)
		n++;
	if (rd->rd_on == 0 || is_at_most(rd) || n == RECORD_ASKS) {
		prof_session_answer(session, ask->ak_id, false,
		    rd->rd_on == 0 ? "a dump needs record --ring" :
		    n == RECORD_ASKS ? "too many dumps at once" :
		    "--dump-max is reached; dtprof ctl set dump-max=N allows "
		    "more");
		return (0);
	}
	rd->rd_ask[n].ra_number = rd->rd_number + 1;
	rd->rd_ask[n].ra_id = ask->ak_id;
	/* How much of the history, 0: all, and a name, which may be empty. */
	last_ns = strtoull(ask->ak_text, &name, 10);
	name += *name == ' ';
	return (dump_begin(rd, session, last_ns == 0 || last_ns > now_ns ? 0 :
	    now_ns - last_ns, *name != '\0' ? name : rd->rd_pattern, "ctl",
	    ask->ak_time_ns));
}

/* ---------------------------------------------------------------- results */

/* What came of it, for whoever asked for it. */
static void
dumped_answer(struct record_dumping *rd, struct prof_session *session,
    bool is_done, const char *text)
{
	for (size_t n = 0; n < RECORD_ASKS; n++) {
		if (rd->rd_ask[n].ra_number != rd->rd_shown)
			continue;
		prof_session_answer(session, rd->rd_ask[n].ra_id, is_done,
		    text);
		rd->rd_ask[n].ra_number = 0;
	}
}

/* NULL: no memory. */
static char *
dumped_text(const struct record_dumping *rd, const struct prof_dumped *pd)
{
	char history[32], bytes[32], *text;

	weight_time(history, sizeof(history), pd->pd_history_ns);
	term_bytes(bytes, sizeof(bytes), pd->pd_bytes);
	return (asprintf(&text, "dump %llu (%s): %s, %llu sample%s, %s in %s",
	    (unsigned long long)rd->rd_shown, pd->pd_reason, history,
	    (unsigned long long)pd->pd_samples, pd->pd_samples == 1 ? "" : "s",
	    bytes, pd->pd_path) == -1 ?
	    NULL : text);
}

static void
dumped_keep(struct record_dumping *rd, const struct prof_dumped *pd)
{
	free(rd->rd_last_file);
	free(rd->rd_last_reason);
	rd->rd_last_file = strdup(pd->pd_path);
	rd->rd_last_reason = strdup(pd->pd_reason);
	rd->rd_bytes += pd->pd_bytes;
}

static void
dumped_show(struct record_dumping *rd, struct prof_session *session,
    const struct prof_dumped *pd)
{
	struct out out;
	char *text;

	rd->rd_shown++;
	if (pd->pd_error.pe_code != PROF_OK) {
		rd->rd_failed++;
		rd->rd_has_warned = false;
		msg_prof("record", &pd->pd_error);
		dumped_answer(rd, session, false, pd->pd_error.pe_text);
		return;
	}
	dumped_keep(rd, pd);
	text = dumped_text(rd, pd);
	dumped_answer(rd, session, true, text == NULL ? "" : text);
	if (!rd->rd_is_quiet && text != NULL) {
		out_init(&out, STDERR_FILENO);
		OUT(&out, "dtprof: record: ", text, "\n");
		out_flush(&out);
	}
	free(text);
}

void
record_dumping_show(struct record_dumping *rd, struct prof_session *session)
{
	struct prof_dumped dumped;

	while (prof_session_dumped(session, &dumped) == 1)
		dumped_show(rd, session, &dumped);
}

/* Only one is written at a time, however many triggers there are. */
int
record_dumping_look(struct record_dumping *rd, struct prof_session *session)
{
	if (rd->rd_on == 0)
		return (0);
	if (signals_dump() && (rd->rd_on & RECORD_ON_SIGNAL) != 0)
		record_dumping_trigger(rd, "SIGUSR2", term_now_ns());
	record_dumping_show(rd, session);
	if (record_triggers_look(rd->rd_triggers, false) == -1)
		return (-1);
	if (rd->rd_due_ns == 0 || term_now_ns() < rd->rd_due_ns ||
	    rd->rd_shown < rd->rd_number)
		return (0);
	return (waiting_begin(rd, session));
}

uint64_t
record_dumping_due_ns(const struct record_dumping *rd)
{
	const uint64_t look_ns = record_triggers_due_ns(rd->rd_triggers);

	if (rd->rd_shown < rd->rd_number)
		return (term_now_ns() + WRITING_NS);
	return (rd->rd_due_ns == 0 || (look_ns != 0 &&
	    look_ns < rd->rd_due_ns) ? look_ns : rd->rd_due_ns);
}

/* What the targets did last may be a trigger; -1: the session failed. */
static int
last_look(struct record_dumping *rd, struct prof_session *session)
{
	if (rd->rd_triggers == NULL)
		return (0);
	if (prof_session_run(session, 0) == -1)
		return (msg_prof("record", prof_session_error(session)));
	return (record_triggers_look(rd->rd_triggers, true));
}

/* One that waits for its time is made now. */
int
record_dumping_end(struct record_dumping *rd, struct prof_session *session)
{
	if (rd->rd_on == 0)
		return (0);
	if (last_look(rd, session) == -1)
		return (-1);
	if ((rd->rd_on & RECORD_ON_EXIT) != 0)
		record_dumping_trigger(rd, "exit", term_now_ns());
	if (rd->rd_ignored > 0)
		msg_note("record", "%llu trigger%s no dump, as --dump-max was "
		    "reached", (unsigned long long)rd->rd_ignored,
		    rd->rd_ignored == 1 ? " had" : "s had");
	return (rd->rd_due_ns == 0 ? 0 : waiting_begin(rd, session));
}

/* --------------------------------------------------------------- status */

void
record_dumping_status(const struct record_dumping *rd,
    const struct prof_session *session, FILE *stream)
{
	struct prof_kept kept;

	if (rd->rd_on == 0)
		return;
	kept = prof_session_kept(session);
	fprintf(stream, "history_ns %llu\nring_bytes %llu\ndumps %llu\n"
	    "dump_max %llu\n", (unsigned long long)kept.kp_history_ns,
	    (unsigned long long)kept.kp_bytes,
	    (unsigned long long)(rd->rd_number - rd->rd_failed),
	    (unsigned long long)rd->rd_most);
	for (size_t n = 0; n < NTRIGGERS; n++)
		if ((rd->rd_on & triggers[n].tr_bit) != 0)
			record_status_line(stream, "trigger",
			    triggers[n].tr_name);
	for (size_t n = 0; record_triggers_text(rd->rd_triggers, n) != NULL;
	    n++)
		record_status_line(stream, "trigger",
		    record_triggers_text(rd->rd_triggers, n));
	if (rd->rd_last_file == NULL || rd->rd_last_reason == NULL)
		return;
	record_status_line(stream, "last_dump_file", rd->rd_last_file);
	record_status_line(stream, "last_dump_reason", rd->rd_last_reason);
}

void
record_dumping_free(struct record_dumping *rd)
{
	free(rd->rd_last_file);
	free(rd->rd_last_reason);
	record_triggers_free(rd->rd_triggers);
}
