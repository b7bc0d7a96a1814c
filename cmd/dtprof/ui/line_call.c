/* SPDX-License-Identifier: ISC */
/*
 * A system call from its entry to its return, in both forms:
 *
 *	openat(dfd=-100, filename="/etc/motd", flags=0) = -2 ENOENT, 1841 ns
 *
 * How long it took is not known of calls whose entry came before the
 * recording.  Called by line_text.c and line_json.c.
 */
#include <stdio.h>
#include <string.h>

#include "line.h"

#define FIRST_ARG	2	/* behind number and return value */

static void
show_name(struct out *out, const struct prof_record *record,
    const struct prof_syscall *call)
{
	if (call != NULL)
		out_text(out, call->cl_name);
	else
		out_fmt(out, "syscall_%llu",
		    (unsigned long long)record->pr_args[0]);
}

/* Its name, from the call itself or from an event of this call alone. */
static const char *
argument_name(const struct prof_event_info *info,
    const struct prof_syscall *call, uint32_t n)
{
	if (call != NULL && n - FIRST_ARG < call->cl_nargs)
		return (call->cl_arg_names[n - FIRST_ARG]);
	return (n < info->pi_nargs ? info->pi_arg_names[n] : "?");
}

static bool
argument_is_signed(const struct prof_event_info *info,
    const struct prof_syscall *call, uint32_t n)
{
	if (call != NULL && n - FIRST_ARG < call->cl_nargs)
		return (call->cl_arg_is_signed[n - FIRST_ARG]);
	/* Registers of a call that nobody describes. */
	return (call == NULL && n < info->pi_nargs &&
	    info->pi_arg_is_signed[n]);
}

void
line_call_text(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info)
{
	const struct prof_syscall *call = prof_record_call(info, record);
	const int64_t result = (int64_t)record->pr_args[1];
	const char *error = error_name(result);

	show_name(out, record, call);
	out_char(out, '(');
	for (uint32_t n = FIRST_ARG; n < record->pr_nargs &&
	    n < PROF_MAX_ARGS; n++) {
		OUT(out, n > FIRST_ARG ? ", " : "", argument_name(info, call,
		    n), "=");
		line_value(out, record, n,
		    argument_is_signed(info, call, n));
	}
	out_str(out, ") = ");
	line_value(out, record, 1, true);
	if (error != NULL)
		OUT(out, " ", error);
	if (record->pr_weight != 0)
		out_fmt(out, ", %llu ns",
		    (unsigned long long)record->pr_weight);
	else
		out_str(out, ", duration unknown");
}

void
line_call_json(struct emit *em, const struct prof_record *record,
    const struct prof_event_info *info)
{
	const struct prof_syscall *call = prof_record_call(info, record);
	const int64_t result = (int64_t)record->pr_args[1];
	char name[32];

	snprintf(name, sizeof(name), "syscall_%llu",
	    (unsigned long long)record->pr_args[0]);
	EMIT(em, TEXT("syscall", call != NULL ? call->cl_name : name),
	    COUNT("nr", record->pr_args[0]), SIGNED("ret", result),
	    GIVEN("error", error_name(result)), KNOWN(record->pr_weight != 0,
	    COUNT("duration_ns", record->pr_weight)));
	emit_object(em, "args");
	for (uint32_t n = FIRST_ARG; n < record->pr_nargs &&
	    n < PROF_MAX_ARGS; n++)
		line_value_json(em, argument_name(info, call, n), record, n,
		    argument_is_signed(info, call, n));
	emit_close(em);
}
