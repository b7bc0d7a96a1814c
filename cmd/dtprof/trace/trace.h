/* SPDX-License-Identifier: ISC */
/*
 * What the files of dtprof trace share: cmd_trace.c (options), trace.c (the
 * session), trace_fields.c (--fields).
 */
#ifndef TRACE_H
#define TRACE_H

#include "../ui/line.h"

#define TRACE_FIELDS	16

struct trace_options {
	struct opt_strings to_events;
	struct opt_number to_buffer;
	struct opt_number to_duration;
	struct opt_number to_limit;
	struct opt_number to_max_loss;
	struct opt_ids	 to_pids;
	struct opt_ids	 to_tids;
	struct opt_ids	 to_cpus;
	const char	*to_cgroup;
	const char	*to_comm;
	const char	*to_fields;
	const char	*to_filter;
	const char	*to_output;
	bool		 to_all;
	bool		 to_json;
	bool		 to_no_inherit;
	bool		 to_quiet;
	bool		 to_stack;
};

/* Descriptions of the events, by number. */
struct trace_events {
	struct prof_event_info *te_info;
	size_t		 te_n;
	/* Descriptions of system calls, by number. */
	struct prof_syscall *te_call[DTP_MAX_SYSCALL];
};

/* ------------------------------------------------------------ trace.c */

/* Trace; the exit status. */
int	trace_run(const struct trace_options *to,
	    const struct prof_options *po, const struct opt_strings *events);

/* ----------------------------------------------------- trace_fields.c */

struct trace_fields {
	const char	*tf_name[TRACE_FIELDS];
	size_t		 tf_n;
	char		*tf_text;	/* what the names are parts of */
};

/* 0, or -1 with a message printed. */
int	trace_fields_parse(struct trace_fields *fields, const char *text);
/* Has some event each of them?  Likewise. */
int	trace_fields_check(const struct trace_fields *fields,
	    const struct trace_events *events);
/* A line: values in their order, "-" or null where there is none. */
void	trace_fields_text(const struct trace_fields *fields, struct out *out,
	    const struct prof_record *record,
	    const struct prof_event_info *info);
void	trace_fields_json(const struct trace_fields *fields, struct out *out,
	    const struct prof_record *record,
	    const struct prof_event_info *info);

#endif /* TRACE_H */
