/* SPDX-License-Identifier: ISC */
/* Sinks: where records go; see sink.c. */
#ifndef PROF_SINK_H
#define PROF_SINK_H

#include "base/record.h"

/*
 * Where a recording goes, slot by slot, in this order but for infos, tasks,
 * mappings, samples, marks and losses, which come as they were, in order of
 * time.  A slot that is NULL is not asked for; lost must be there: who takes
 * samples must say what is missing.  Each returns 0; -1: it failed; of
 * records also 1: no more of them.
 */
struct prof_sink {
	void	*sk_arg;
	/* For each key; the last value counts. */
	int	(*sk_info)(void *arg, const char *key, const char *value);
	/* For each event, from event 0 on, before its first sample. */
	int	(*sk_event)(void *arg, const struct prof_event_info *info);
	/* FORK, EXEC, EXIT, COMM, TASK */
	int	(*sk_task)(void *arg, const struct prof_record *record);
	/* MMAP, KSYMBOL: before the first sample there */
	int	(*sk_mapping)(void *arg, const struct prof_record *record);
	/* SAMPLE */
	int	(*sk_sample)(void *arg, const struct prof_record *record);
	/* A sample like the one before but for its time; NULL: sk_sample. */
	int	(*sk_again)(void *arg, const struct prof_record *record);
	/* MARK, START, STOP, PAUSE, RESUME */
	int	(*sk_mark)(void *arg, const struct prof_record *record);
	/* LOST, THROTTLE, UNTHROTTLE, TURNS: when less was recorded. */
	int	(*sk_lost)(void *arg, const struct prof_record *record);
	/* A SYMBOL section of dtprof-format(5), after all records. */
	int	(*sk_symbols)(void *arg, const void *body, size_t length);
	/* The last: the accounting of all events. */
	int	(*sk_end)(void *arg, const struct prof_accounting *accounting,
		    size_t nevents);
};

/*
 * All of a recording, from its begin.  0; 1: a slot wanted no more records,
 * and neither symbols nor end were told; -1: prof_reader_error says why, or,
 * if it is PROF_OK, a slot failed.
 */
int	prof_reader_send(struct prof_reader *reader,
	    const struct prof_sink *sink);

/* One slot for all kinds of records. */
#define PROF_SINK_RECORDS(put)	.sk_task = (put), .sk_mapping = (put), \
	    .sk_sample = (put), .sk_mark = (put), .sk_lost = (put)

/* To put something in; a slot that is NULL takes it and does nothing. */
int	prof_sink_info(const struct prof_sink *sink, const char *key,
	    const char *value);
int	prof_sink_event(const struct prof_sink *sink,
	    const struct prof_event_info *info);
/* By its type. */
int	prof_sink_record(const struct prof_sink *sink,
	    const struct prof_record *record);
int	prof_sink_again(const struct prof_sink *sink,
	    const struct prof_record *record);
int	prof_sink_symbols(const struct prof_sink *sink, const void *body,
	    size_t length);
int	prof_sink_end(const struct prof_sink *sink,
	    const struct prof_accounting *accounting, size_t nevents);

struct prof_writer;
/* That writes a file. */
struct prof_sink prof_writer_sink(struct prof_writer *writer);

#endif /* PROF_SINK_H */
