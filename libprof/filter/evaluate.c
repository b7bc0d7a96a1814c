/* SPDX-License-Identifier: ISC */
/*
 * Filters on a recording: the same language, and the same evaluator as in
 * the kernel (dtp_filter.h), on the facts of a record.  Called by the
 * commands that read (script --filter), and by sessions for filters by stack.
 * What a recording does not hold (uid, gid) is refused when the filter is
 * compiled.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_filter.h"
#include "base/error.h"
#include "filter.h"
#include "filter_impl.h"

struct prof_filter *
prof_filter_new(const char *expression, const struct prof_event_info *event,
    struct prof_err *error)
{
	return (prof_filter_new_in(expression, event, NULL, false, error));
}

struct prof_filter *
prof_filter_new_in(const char *expression, const struct prof_event_info *event,
    const struct prof_filter_spans *spans, bool has_calls,
    struct prof_err *error)
{
	struct filter_scope scope;
	struct prof_filter *filter;

	memset(&scope, 0, sizeof(scope));
	scope.fs_recorded = true;
	scope.fs_spans = spans;
	scope.fs_has_calls = has_calls;
	if (event != NULL) {
		scope.fs_event = event->pi_name;
		scope.fs_is_syscall = event->pi_is_syscall;
		scope.fs_is_call = event->pi_is_call;
		scope.fs_is_site = event->pi_probe != NULL &&
		    prof_event_is_site(event->pi_probe);
		scope.fs_calls = event->pi_calls;
		scope.fs_ncalls = event->pi_ncalls;
		scope.fs_nargs = event->pi_nargs < DTP_MAX_ARGS ?
		    event->pi_nargs : DTP_MAX_ARGS;
	}
	for (uint32_t n = 0; n < scope.fs_nargs; n++) {
		scope.fs_arg[n].fa_name = event->pi_arg_names[n];
		scope.fs_arg[n].fa_is_signed = event->pi_arg_is_signed[n];
		scope.fs_arg[n].fa_text = event->pi_arg_is_str[n] ?
		    DTP_KEY_TEXT : DTP_KEY_NUMBER;
	}
	if ((filter = calloc(1, sizeof(*filter))) == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	filter->pf_is_call = scope.fs_is_call;
	if (prof_filter_translate(expression, &scope, &filter->pf_filter,
	    &filter->pf_calls, error) == -1) {
		free(filter);
		return (NULL);
	}
	return (filter);
}

/* As the programs know it: what cannot be read is "". */
static uint64_t
texts_equal(const struct dtp_filter *filter, const struct prof_record *record)
{
	uint64_t equal = 0;

	for (uint32_t n = 0; n < filter->fi_ntexts; n++) {
		const struct dtp_filter_text *text = &filter->fi_text[n];
		const char *have = text->fx_slot < record->pr_nargs ?
		    record->pr_strs[text->fx_slot] : NULL;

		equal |= (uint64_t)(strcmp(have == NULL ? "" : have,
		    (const char *)text->fx_word) == 0) << n;
	}
	return (equal);
}

int
prof_filter_holds(const struct prof_filter *filter,
    const struct prof_record *record, const char *comm)
{
	return (prof_filter_holds_in(filter, record, comm, 0, 0));
}

int
prof_filter_holds_in(const struct prof_filter *filter,
    const struct prof_record *record, const char *comm, uint64_t duration_ns,
    uint64_t calls)
{
	struct dtp_facts facts;
	uint32_t nargs = record->pr_nargs < DTP_MAX_ARGS ?
	    record->pr_nargs : DTP_MAX_ARGS;

	memset(&facts, 0, sizeof(facts));
	facts.fa_field[DTP_F_PID] = record->pr_pid;
	facts.fa_field[DTP_F_TID] = record->pr_tid;
	facts.fa_field[DTP_F_CPU] = record->pr_cpu;
	facts.fa_field[DTP_F_KERNEL] = record->pr_in_kernel != 0;
	facts.fa_field[FILTER_F_SPAN_DURATION] = duration_ns;
	facts.fa_field[FILTER_F_CALLS] = calls;
	memcpy(facts.fa_comm, comm, strnlen(comm, DTP_COMM_LEN - 1));
	if (filter->pf_is_call)
		facts.fa_field[DTP_F_DURATION] = record->pr_weight;
	if (record->pr_type == PROF_R_SAMPLE)
		for (uint32_t n = 0; n < nargs; n++)
			if (record->pr_strs[n] == NULL)
				facts.fa_field[DTP_F_ARG0 + n] =
				    record->pr_args[n];
	if (record->pr_type == PROF_R_SAMPLE)
		facts.fa_field[DTP_F_TEXTS] = texts_equal(&filter->pf_filter,
		    record);
	return (dtp_filter_holds(&filter->pf_filter, &facts));
}

/* A comparison changes at its number alone: look on both sides of it. */
enum prof_filter_fate
prof_filter_from(const struct prof_filter *filter,
    const struct prof_record *record, uint64_t duration_ns)
{
	const struct dtp_filter *tests = &filter->pf_filter;
	const int holds = prof_filter_holds_in(filter, record, "",
	    duration_ns, 0);

	for (uint32_t n = 0; n < tests->fi_ntests; n++) {
		const struct dtp_test *test = &tests->fi_test[n];

		if (test->ft_field != FILTER_F_SPAN_DURATION)
			continue;
		for (uint64_t i = 0; i < 3; i++) {
			const uint64_t at = test->ft_value[0] + i - 1;

			if (at > duration_ns && prof_filter_holds_in(filter,
			    record, "", at, 0) != holds)
				return (PROF_FILTER_OPEN);
		}
	}
	return (holds ? PROF_FILTER_ALWAYS : PROF_FILTER_NEVER);
}

const struct prof_filter *
prof_filter_of_calls(struct prof_filter *const *filters, size_t n)
{
	for (; n > 0; n--, filters++)
		if (*filters != NULL && (*filters)->pf_calls.fc_n > 0)
			return (*filters);
	return (NULL);
}

int
prof_filter_calls(const struct prof_filter *filter,
    const struct prof_function *function, uint64_t *calls)
{
	return (prof_filter_calls_find(&filter->pf_calls, function, calls));
}

/* 0: of no place in the text. */
static unsigned long
error_column(const struct prof_err *error)
{
	return (strncmp(error->pe_text, FILTER_COLUMN,
	    sizeof(FILTER_COLUMN) - 1) == 0 ? strtoul(error->pe_text +
	    sizeof(FILTER_COLUMN) - 1, NULL, 10) : 0);
}

void
prof_filter_blame(struct prof_err *kept, const struct prof_err *why)
{
	if (kept->pe_code == PROF_OK ||
	    error_column(why) > error_column(kept))
		*kept = *why;
}

void
prof_filter_free(struct prof_filter *filter)
{
	free(filter);
}
