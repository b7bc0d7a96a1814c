/* SPDX-License-Identifier: ISC */
/*
 * Which samples a profile is made of: a range of time, and a filter.  It is
 * asked by the threads of gather.c at once, and only read then.
 */
#include <stdlib.h>

#include "base/error.h"
#include "filter/filter.h"
#include "profile_impl.h"

/*
 * For each event on its own, since argument names differ.  An event without
 * the argument that is asked for has no sample that passes; an expression
 * that fits no event at all is a mistake.
 */
int
prof_select_init(struct prof_select *select, const struct prof_reader *reader,
    const struct prof_profile_options *options, struct prof_err *error)
{
	struct prof_err why = { 0 };
	bool any = false;
	size_t e;

	select->se_options = options;
	select->se_nevents = prof_reader_nevents(reader);
	if (options->pl_filter == NULL)
		return (0);
	select->se_filter = calloc(select->se_nevents + 1,
	    sizeof(*select->se_filter));
	if (select->se_filter == NULL)
		return (prof_fail_nomem(error));
	for (e = 1; e < select->se_nevents; e++) {
		select->se_filter[e] = prof_filter_new(options->pl_filter,
		    prof_reader_event(reader, e), &why);
		any = any || select->se_filter[e] != NULL;
	}
	if (any || why.pe_code == PROF_OK)
		return (0);
	*error = why;
	return (-1);
}

void
prof_select_fini(struct prof_select *select)
{
	size_t e;

	for (e = 0; select->se_filter != NULL && e < select->se_nevents; e++)
		prof_filter_free(select->se_filter[e]);
	free(select->se_filter);
}

bool
prof_select_time(const struct prof_select *select, uint64_t time_ns)
{
	const struct prof_profile_options *options = select->se_options;

	return (time_ns >= options->pl_from_ns &&
	    (options->pl_to_ns == 0 || time_ns < options->pl_to_ns));
}

bool
prof_select_wants(const struct prof_select *select,
    const struct prof_record *record, const char *comm)
{
	const struct prof_filter *filter;

	if (select->se_filter == NULL)
		return (true);
	if (record->pr_comm[0] != '\0')
		comm = record->pr_comm;
	filter = select->se_filter[record->pr_event];
	return (filter != NULL && prof_filter_holds(filter, record, comm));
}
