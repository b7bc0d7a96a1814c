/* SPDX-License-Identifier: ISC */
/*
 * Which samples a profile is made of: a range of time, a filter, which may ask
 * for the span that a sample is in or for functions of its stack, and of
 * allocations those still held.  The threads of gather.c ask it at once, and
 * only read it, but for stacks, of which one thread asks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calls.h"
#include "profile_impl.h"
#include "spans/spans.h"

/* Does the expression ask for spans, and are there any? */
static bool
asks_spans(const struct prof_reader *reader, const char *filter)
{
	return (strstr(filter, "span") != NULL &&
	    prof_reader_info(reader, "span.0.name") != NULL);
}

/*
 * For each event on its own, since argument names differ.  An event without
 * the argument that is asked for has no sample that passes; an expression
 * that fits no event at all is a mistake.
 */
static int
filters_make(struct prof_select *select, const struct prof_reader *reader,
    const struct prof_filter_spans *spans, struct prof_err *error)
{
	struct prof_filter **filter = select->se_filter +
	    spans->fp_in * select->se_nevents;
	struct prof_err why = { 0 }, worst = { 0 };
	bool any = false;

	for (size_t e = 1; e < select->se_nevents; e++) {
		filter[e] = prof_filter_new_in(select->se_options->pl_filter,
		    prof_reader_event(reader, e), spans->fp_n == 0 ? NULL :
		    spans, true, &why);
		any = any || filter[e] != NULL;
		if (filter[e] == NULL)
			prof_filter_blame(&worst, &why);
	}
	if (any || worst.pe_code == PROF_OK)
		return (0);
	*error = worst;
	return (-1);
}

static int
kinds_make(struct prof_select *select, const struct prof_reader *reader,
    struct prof_err *error)
{
	const struct prof_span_kind **kinds = calloc(select->se_nkinds + 1,
	    sizeof(*kinds));
	struct prof_filter_spans spans = {
		.fp_kinds = kinds, .fp_n = select->se_nkinds,
	};
	int rv = kinds == NULL ? prof_fail_nomem(error) : 0;

	for (size_t n = 0; rv == 0 && n < spans.fp_n; n++)
		kinds[n] = prof_spans_kind(select->se_spans, n);
	for (; rv == 0 && spans.fp_in <= spans.fp_n; spans.fp_in++)
		rv = filters_make(select, reader, &spans, error);
	free(kinds);
	return (rv);
}

static int
calls_make(struct prof_select *select, struct prof_reader *reader,
    struct prof_symbols *symbols, struct prof_err *error)
{
	const struct prof_filter *filter = prof_filter_of_calls(
	    select->se_filter, select->se_nevents * (select->se_nkinds + 1));

	if (filter == NULL)
		return (0);
	select->se_calls = prof_calls_new(reader, symbols, filter, error);
	return (select->se_calls == NULL ? -1 : 0);
}

int
prof_select_init(struct prof_select *select, struct prof_reader *reader,
    struct prof_symbols *symbols, const struct prof_profile_options *options,
    struct prof_err *error)
{
	select->se_options = options;
	select->se_nevents = prof_reader_nevents(reader);
	if (options->pl_held &&
	    (select->se_held = prof_held_new(reader, error)) == NULL)
		return (-1);
	if (options->pl_filter == NULL)
		return (0);
	if (asks_spans(reader, options->pl_filter)) {
		select->se_spans = prof_spans_new(reader, error);
		if (select->se_spans == NULL)
			return (-1);
		select->se_nkinds = prof_spans_nkinds(select->se_spans);
	}
	select->se_filter = calloc((select->se_nevents + 1) *
	    (select->se_nkinds + 1), sizeof(*select->se_filter));
	if (select->se_filter == NULL)
		return (prof_fail_nomem(error));
	return (kinds_make(select, reader, error) == -1 ? -1 :
	    calls_make(select, reader, symbols, error));
}

void
prof_select_fini(struct prof_select *select)
{
	const size_t n = select->se_nevents * (select->se_nkinds + 1);

	for (size_t i = 0; select->se_filter != NULL && i < n; i++)
		prof_filter_free(select->se_filter[i]);
	free(select->se_filter);
	prof_spans_free(select->se_spans);
	prof_held_free(select->se_held);
	prof_calls_free(select->se_calls);
}

bool
prof_select_time(const struct prof_select *select, uint64_t time_ns)
{
	const struct prof_profile_options *options = select->se_options;

	return (time_ns >= options->pl_from_ns &&
	    (options->pl_to_ns == 0 || time_ns < options->pl_to_ns));
}

int64_t
prof_select_bucket(const struct prof_select *select,
    const struct prof_record *record, uint64_t first_ns)
{
	const struct prof_profile_options *options = select->se_options;
	uint64_t at;

	if (options->pl_bucket_of != NULL)
		return (options->pl_bucket_of(options->pl_bucket_arg,
		    record->pr_tid, record->pr_time_ns));
	if (options->pl_bucket_ns == 0)
		return (0);
	at = (record->pr_time_ns - first_ns) / options->pl_bucket_ns;
	return (at < INT32_MAX ? (int64_t)at : INT32_MAX);
}

int
prof_select_check(const struct prof_select *select, struct prof_err *error)
{
	return (select->se_calls == NULL ? 0 :
	    prof_calls_check(select->se_calls, error));
}

bool
prof_select_wants(const struct prof_select *select,
    const struct prof_sample *sample, const char *comm)
{
	const struct prof_record *record = &sample->sm_record;
	const struct prof_filter *filter;
	const struct prof_span *span;
	bool is_in = false;
	uint64_t calls;

	if (select->se_held != NULL && !prof_held_has(select->se_held, record))
		return (false);
	if (select->se_filter == NULL)
		return (true);
	if (record->pr_comm[0] != '\0')
		comm = record->pr_comm;
	calls = select->se_calls == NULL ? 0 :
	    prof_calls_of(select->se_calls, sample);
	/* In spans of several kinds, it may be wanted for any of them. */
	for (size_t n = 0; n < select->se_nkinds; n++) {
		span = prof_spans_at(select->se_spans, n, record->pr_tid,
		    record->pr_time_ns);
		if (span == NULL)
			continue;
		is_in = true;
		filter = select->se_filter[n * select->se_nevents +
		    record->pr_event];
		if (filter != NULL && prof_filter_holds_in(filter, record,
		    comm, span->sp_duration_ns, calls))
			return (true);
	}
	filter = select->se_filter[select->se_nkinds * select->se_nevents +
	    record->pr_event];
	return (!is_in && filter != NULL &&
	    prof_filter_holds_in(filter, record, comm, 0, calls));
}
