/* SPDX-License-Identifier: ISC */
/*
 * Dumps of a session that keeps its newest samples in memory:
 *
 *	drain -> symbols -> accounting -> to the writer's thread: the file
 *
 * Events go on firing.  What was stored and not yet read is not in the file, so
 * its accounting leaves that out, too.  Symbols are kept with the samples, for
 * the dumps that follow.  Where memory is short, less is kept.
 */
#include "recorder.h"
#include "session_impl.h"

int
prof_dump_mark(struct prof_session *session, enum prof_record_type type,
    uint64_t time_ns)
{
	const struct prof_record record = { .pr_type = type,
	    .pr_time_ns = time_ns, .pr_path = "", .pr_comm = "" };

	return (prof_session_deliver(session, &record));
}

static int
check_dump(struct prof_session *session)
{
	if (session->se_options.po_ring_bytes == 0)
		return (prof_fail(&session->se_error, PROF_E_USAGE,
		    "the recording is written to a file"));
	if (session->se_state == PROF_RECORDING ||
	    session->se_state == PROF_PAUSED)
		return (0);
	return (prof_fail(&session->se_error, PROF_E_BUSY,
	    "a dump needs a running recording"));
}

static void
dump_counters(const struct prof_session *session, struct prof_dump *dump)
{
	for (size_t e = 0; e < session->se_events.el_n &&
	    dump->du_ncounters < PROF_MAX_VALUES; e++)
		if (session->se_events.el_event[e]->ev_is_value)
			dump->du_counter[dump->du_ncounters++] = (uint32_t)e;
}

/* What the file has beside what is kept: its end.  Takes the dump. */
static int
dump_write(struct prof_session *session, struct prof_dump *dump)
{
	struct prof_writer *writer = session->se_writer;

	if (prof_writer_flush(writer) == -1 ||
	    prof_dump_mark(session, PROF_R_STOP, dump->du_end_ns) == -1)
		prof_dump_free(dump);
	else if (prof_writer_dump(writer, dump) == 0)
		return (0);
	return (prof_session_sink_failed(session));
}

int
prof_session_dump(struct prof_session *session, const char *path,
    const char *reason, uint64_t requested_ns)
{
	return (prof_session_dump_from(session, 0, path, reason,
	    requested_ns));
}

int
prof_session_dump_from(struct prof_session *session, uint64_t from_ns,
    const char *path, const char *reason, uint64_t requested_ns)
{
	struct prof_dump *dump;

	if (check_dump(session) == -1)
		return (-1);
	if ((dump = prof_dump_new(path, reason)) == NULL)
		return (prof_fail_nomem(&session->se_error));
	dump->du_requested_ns = requested_ns;
	dump_counters(session, dump);
	dump->du_from_ns = from_ns;
	if (prof_session_round(session) == 0) {
		/* Everything that is earlier has been read. */
		dump->du_end_ns = session->se_merge.mg_until_ns;
		if (prof_account_dump(session) == 0 &&
		    prof_describe_symbols(session) == 0 &&
		    prof_describe_overhead(session) == 0)
			return (dump_write(session, dump));
	}
	prof_dump_free(dump);
	return (-1);
}

/* The writer's thread gives up what is too much: it may read it just now. */
static int
ring_shrink(struct prof_session *session, uint64_t bytes)
{
	session->se_options.po_ring_bytes = bytes;
	return (prof_writer_shrink(session->se_writer, bytes));
}

int
prof_session_shrink(struct prof_session *session, uint64_t bytes,
    const char *why)
{
	const uint64_t ring = session->se_options.po_ring_bytes;
	const uint64_t limit = ring != 0 ? ring :
	    prof_speculate_limit(session);
	char text[256];

	if (limit == 0 || bytes == 0)
		return (prof_fail(&session->se_error, PROF_E_USAGE,
		    "no samples are kept in memory"));
	if (bytes >= limit)
		return (0);
	snprintf(text, sizeof(text), "%s reduced to %.1f MB: %s", ring != 0 ?
	    "ring" : "samples held by --keep-if", (double)bytes / 1e6, why);
	if (prof_session_mark(session, text) == -1)
		return (-1);
	return (prof_describe_say(session, "less.memory", text) == -1 ||
	    (ring != 0 ? ring_shrink(session, bytes) :
	    prof_speculate_shrink(session, bytes)) == -1 ?
	    prof_session_sink_failed(session) : 1);
}

int
prof_session_dumped_sized(struct prof_session *session,
    struct prof_dumped *dumped, size_t size)
{
	struct prof_dump *dump = session->se_writer == NULL ? NULL :
	    prof_writer_dumped(session->se_writer);
	struct prof_dumped done;

	if (dump == NULL)
		return (0);
	prof_dump_free(session->se_dumped);
	session->se_dumped = dump;
	done = (struct prof_dumped){
		.pd_path = dump->du_path, .pd_reason = dump->du_reason,
		.pd_error = dump->du_error,
		.pd_history_ns = dump->du_end_ns - dump->du_first_ns,
		.pd_samples = dump->du_samples,
		.pd_overwritten = dump->du_overwritten,
		.pd_bytes = dump->du_bytes,
		.pd_unwritten = dump->du_unwritten,
	};
	prof_struct_give(dumped, size, &done, sizeof(done));
	return (1);
}
