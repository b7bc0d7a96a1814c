/* SPDX-License-Identifier: ISC */
/*
 * --fields of dtprof trace: which values a line has, in which order.  Called
 * by trace.c.
 */
#include <stdlib.h>
#include <string.h>

#include "trace.h"

/* What each event has, or each call. */
enum field { FIELD_TIME, FIELD_COMM, FIELD_PID, FIELD_TID, FIELD_CPU,
	FIELD_EVENT, FIELD_SYSCALL, FIELD_DURATION, FIELD_ARGUMENT };

static const char *const common[] = {
	[FIELD_TIME] = "time", [FIELD_COMM] = "comm", [FIELD_PID] = "pid",
	[FIELD_TID] = "tid", [FIELD_CPU] = "cpu", [FIELD_EVENT] = "event",
	[FIELD_SYSCALL] = "syscall", [FIELD_DURATION] = "duration"
};

static enum field
field_of(const char *name)
{
	size_t n = 0;

	while (n < FIELD_ARGUMENT && strcmp(common[n], name) != 0)
		n++;
	return ((enum field)n);
}

int
trace_fields_parse(struct trace_fields *fields, const char *text)
{
	char *rest, *name;

	if (text == NULL)
		return (0);
	if ((fields->tf_text = rest = strdup(text)) == NULL)
		return (msg_error("trace", "out of memory", "free memory"));
	while ((name = strsep(&rest, ",")) != NULL) {
		if (*name == '\0')
			return (msg_error("trace", "--fields: empty name",
			    "e.g. --fields time,comm,event"));
		if (fields->tf_n == TRACE_FIELDS)
			return (msg_error("trace", "more than 16 fields",
			    "leave some out"));
		fields->tf_name[fields->tf_n++] = name;
	}
	return (0);
}

/* Of calls by a glob only each call itself tells what its arguments are. */
static bool
event_has(const struct prof_event_info *info, const char *name)
{
	const enum field field = field_of(name);

	if (field == FIELD_SYSCALL)
		return (info->pi_is_syscall);
	if (field != FIELD_ARGUMENT)
		return (field != FIELD_DURATION || info->pi_is_call);
	for (uint32_t n = 0; n < info->pi_nargs; n++)
		if (strcmp(info->pi_arg_names[n], name) == 0 ||
		    (info->pi_is_call &&
		    strcmp(info->pi_arg_names[n], "arg0") == 0))
			return (true);
	return (false);
}

int
trace_fields_check(const struct trace_fields *fields,
    const struct trace_events *events)
{
	for (size_t n = 0; n < fields->tf_n; n++) {
		size_t e = 1;

		while (e < events->te_n && !event_has(&events->te_info[e],
		    fields->tf_name[n]))
			e++;
		if (e >= events->te_n)
			return (msg_fail("trace", "use time, comm, pid, tid, "
			    "cpu, event, or an argument (see dtprof list); "
			    "system calls also have syscall and duration",
			    "--fields: no event has field '%s'",
			    fields->tf_name[n]));
	}
	return (0);
}

/* Is an argument shown with its sign? */
static bool
argument_is_signed(const struct prof_record *record,
    const struct prof_event_info *info, uint32_t n)
{
	const struct prof_syscall *call = info->pi_is_call ?
	    prof_record_call(info, record) : NULL;

	if (call != NULL && n >= 2 && n - 2 < call->cl_nargs)
		return (call->cl_arg_is_signed[n - 2]);
	return (n < info->pi_nargs && info->pi_arg_is_signed[n]);
}

static void
put_argument(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info, const char *name)
{
	const int n = prof_record_argument(info, record, name);

	if (n == -1)
		out_char(out, '-');
	else if (record->pr_strs[n] != NULL)
		out_text(out, record->pr_strs[n]);
	else
		line_value(out, record, (uint32_t)n,
		    argument_is_signed(record, info, (uint32_t)n));
}

static void
put_field(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info, const char *name)
{
	const struct prof_syscall *call;

	switch (field_of(name)) {
	case FIELD_TIME:
		out_u64(out, record->pr_time_ns / 1000000000);
		out_char(out, '.');
		out_digits(out, record->pr_time_ns % 1000000000, 9);
		break;
	case FIELD_COMM:
		out_text(out, record->pr_comm);
		break;
	case FIELD_PID:
		out_u64(out, record->pr_pid);
		break;
	case FIELD_TID:
		out_u64(out, record->pr_tid);
		break;
	case FIELD_CPU:
		out_u64(out, record->pr_cpu);
		break;
	case FIELD_EVENT:
		out_text(out, info->pi_name);
		break;
	case FIELD_SYSCALL:
		call = prof_record_call(info, record);
		out_text(out, call == NULL ? "-" : call->cl_name);
		break;
	case FIELD_DURATION:
		if (info->pi_is_call && record->pr_weight != 0)
			out_u64(out, record->pr_weight);
		else
			out_char(out, '-');
		break;
	case FIELD_ARGUMENT:
		put_argument(out, record, info, name);
	}
}

void
trace_fields_text(const struct trace_fields *fields, struct out *out,
    const struct prof_record *record, const struct prof_event_info *info)
{
	for (size_t n = 0; n < fields->tf_n; n++) {
		if (n > 0)
			out_char(out, '\t');
		put_field(out, record, info, fields->tf_name[n]);
	}
	out_char(out, '\n');
}

static void
emit_argument(struct emit *em, const struct prof_record *record,
    const struct prof_event_info *info, const char *name)
{
	const int n = prof_record_argument(info, record, name);

	if (n == -1)
		EMIT(em, UNKNOWN(name));
	else
		line_value_json(em, name, record, (uint32_t)n,
		    argument_is_signed(record, info, (uint32_t)n));
}

static void
emit_field(struct emit *em, const struct prof_record *record,
    const struct prof_event_info *info, const char *name)
{
	const struct prof_syscall *call;

	switch (field_of(name)) {
	case FIELD_TIME:
		EMIT(em, COUNT("time_ns", record->pr_time_ns));
		break;
	case FIELD_COMM:
		EMIT(em, TEXT(name, record->pr_comm));
		break;
	case FIELD_PID:
		EMIT(em, COUNT(name, record->pr_pid));
		break;
	case FIELD_TID:
		EMIT(em, COUNT(name, record->pr_tid));
		break;
	case FIELD_CPU:
		EMIT(em, COUNT(name, record->pr_cpu));
		break;
	case FIELD_EVENT:
		EMIT(em, TEXT(name, info->pi_name));
		break;
	case FIELD_SYSCALL:
		call = prof_record_call(info, record);
		EMIT(em, TEXT(name, call == NULL ? NULL : call->cl_name));
		break;
	case FIELD_DURATION:
		EMIT(em, KNOWN(info->pi_is_call && record->pr_weight != 0,
		    COUNT("duration_ns", record->pr_weight)));
		break;
	case FIELD_ARGUMENT:
		emit_argument(em, record, info, name);
	}
}

void
trace_fields_json(const struct trace_fields *fields, struct out *out,
    const struct prof_record *record, const struct prof_event_info *info)
{
	struct emit em;

	emit_json(&em, out);
	for (size_t n = 0; n < fields->tf_n; n++)
		emit_field(&em, record, info, fields->tf_name[n]);
	emit_end(&em);
}
