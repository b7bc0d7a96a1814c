/* SPDX-License-Identifier: ISC */
/*
 * Sinks: where records go, whoever they come from.
 *
 *	session, import  ---+--->  file writer
 *	prof_reader_send ---+	   script, sums of report --stats, ...
 *
 * Which record goes into which slot is decided here alone.
 */
#include <stdlib.h>

#include "base/error.h"
#include "query.h"
#include "reader.h"
#include "sink.h"
#include "write.h"

int
prof_sink_info(const struct prof_sink *sink, const char *key,
    const char *value)
{
	return (sink->sk_info == NULL ? 0 :
	    sink->sk_info(sink->sk_arg, key, value));
}

int
prof_sink_event(const struct prof_sink *sink,
    const struct prof_event_info *info)
{
	return (sink->sk_event == NULL ? 0 :
	    sink->sk_event(sink->sk_arg, info));
}

int
prof_sink_record(const struct prof_sink *sink,
    const struct prof_record *record)
{
	int (*put)(void *, const struct prof_record *) = NULL;

	switch (record->pr_type) {
	case PROF_R_SAMPLE:
		put = sink->sk_sample;
		break;
	case PROF_R_FORK:
	case PROF_R_EXEC:
	case PROF_R_EXIT:
	case PROF_R_COMM:
	case PROF_R_TASK:
		put = sink->sk_task;
		break;
	case PROF_R_MMAP:
	case PROF_R_KSYMBOL:
		put = sink->sk_mapping;
		break;
	case PROF_R_MARK:
	case PROF_R_START:
	case PROF_R_STOP:
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		put = sink->sk_mark;
		break;
	case PROF_R_LOST:
	case PROF_R_THROTTLE:
	case PROF_R_UNTHROTTLE:
	case PROF_R_TURNS:
		put = sink->sk_lost;
		break;
	}
	return (put == NULL ? 0 : put(sink->sk_arg, record));
}

int
prof_sink_again(const struct prof_sink *sink,
    const struct prof_record *record)
{
	return (sink->sk_again == NULL ? prof_sink_record(sink, record) :
	    sink->sk_again(sink->sk_arg, record));
}

int
prof_sink_symbols(const struct prof_sink *sink, const void *body,
    size_t length)
{
	return (sink->sk_symbols == NULL ? 0 :
	    sink->sk_symbols(sink->sk_arg, body, length));
}

int
prof_sink_end(const struct prof_sink *sink,
    const struct prof_accounting *accounting, size_t nevents)
{
	return (sink->sk_end == NULL ? 0 :
	    sink->sk_end(sink->sk_arg, accounting, nevents));
}

/* ---------------------------------------------------------- the file writer */

static int
write_info(void *arg, const char *key, const char *value)
{
	return (prof_writer_info(arg, key, value));
}

static int
write_event(void *arg, const struct prof_event_info *info)
{
	return (prof_writer_event(arg, info));
}

static int
write_record(void *arg, const struct prof_record *record)
{
	return (prof_writer_add(arg, record));
}

static int
write_again(void *arg, const struct prof_record *record)
{
	return (prof_writer_again(arg, record));
}

static int
write_symbols(void *arg, const void *body, size_t length)
{
	return (prof_writer_symbols(arg, body, length));
}

static int
write_end(void *arg, const struct prof_accounting *accounting, size_t nevents)
{
	return (prof_writer_accounting(arg, -1, accounting, nevents));
}

struct prof_sink
prof_writer_sink(struct prof_writer *writer)
{
	return ((struct prof_sink){
		.sk_arg = writer,
		.sk_info = write_info,
		.sk_event = write_event,
		PROF_SINK_RECORDS(write_record),
		.sk_again = write_again,
		.sk_symbols = write_symbols,
		.sk_end = write_end,
	});
}

/* --------------------------------------------------------- from a recording */

static int
send_descriptions(struct prof_reader *reader, const struct prof_sink *sink)
{
	const char *key, *value;

	for (size_t n = 0; prof_reader_info_at(reader, n, &key, &value); n++)
		if (prof_sink_info(sink, key, value) == -1)
			return (-1);
	for (size_t e = 0; e < prof_reader_nevents(reader); e++)
		if (prof_sink_event(sink, prof_reader_event(reader, e)) == -1)
			return (-1);
	return (0);
}

static int
send_records(struct prof_reader *reader, const struct prof_sink *sink)
{
	const struct prof_record *record;
	int rv;

	if (prof_reader_rewind(reader) == -1)
		return (-1);
	while ((rv = prof_reader_borrow(reader, &record)) == 1)
		if ((rv = prof_sink_record(sink, record)) != 0)
			break;
	return (rv);
}

static int
send_accounting(struct prof_reader *reader, const struct prof_sink *sink)
{
	const size_t nevents = prof_reader_nevents(reader);
	struct prof_accounting *rows = calloc(nevents + 1, sizeof(*rows));
	int rv;

	if (rows == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	/* A recording that was cut may have none of an event. */
	for (size_t e = 0; e < nevents; e++)
		(void)prof_reader_accounting(reader, e, -1, &rows[e]);
	rv = prof_sink_end(sink, rows, nevents);
	free(rows);
	return (rv);
}

int
prof_reader_send(struct prof_reader *reader, const struct prof_sink *sink)
{
	const void *body;
	size_t length;
	int rv;

	if (sink->sk_lost == NULL)
		return (prof_fail(&reader->rd_error, PROF_E_USAGE,
		    "sk_lost is NULL, but a sink must handle losses"));
	if (send_descriptions(reader, sink) == -1)
		return (-1);
	if ((rv = send_records(reader, sink)) != 0)
		return (rv);
	for (size_t n = 0; (body = prof_reader_symbols(reader, n,
	    &length)) != NULL; n++)
		if (prof_sink_symbols(sink, body, length) == -1)
			return (-1);
	return (send_accounting(reader, sink));
}
