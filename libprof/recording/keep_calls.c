/* SPDX-License-Identifier: ISC */
/*
 * What a recording says about system calls, by number: from its INFO, once
 * all of it has been read.  Called by read.c.
 */
#include <stdlib.h>

#include "abi/dtp_abi.h"
#include "base/error.h"
#include "events/call.h"
#include "reader.h"

int
prof_keep_calls(struct prof_reader *reader)
{
	const struct prof_pair *pairs = reader->rd_pairs.ar_items;

	for (size_t i = 0; i < reader->rd_pairs.ar_count; i++) {
		const int number = prof_syscall_of_key(pairs[i].pa_key);

		if (number == -1)
			continue;
		if (reader->rd_calls == NULL)
			reader->rd_calls = calloc(DTP_MAX_SYSCALL,
			    sizeof(*reader->rd_calls));
		if (reader->rd_calls == NULL)
			return (prof_fail_nomem(&reader->rd_error));
		if (reader->rd_calls[number] == NULL)
			reader->rd_calls[number] =
			    prof_syscall_parse(pairs[i].pa_value);
	}
	for (size_t e = 0; reader->rd_calls != NULL && e < reader->rd_nevents;
	    e++) {
		if (!reader->rd_events[e]->pi_is_syscall)
			continue;
		reader->rd_events[e]->pi_calls =
		    (const struct prof_syscall *const *)reader->rd_calls;
		reader->rd_events[e]->pi_ncalls = DTP_MAX_SYSCALL;
	}
	return (0);
}

void
prof_keep_calls_free(struct prof_reader *reader)
{
	for (size_t i = 0; reader->rd_calls != NULL && i < DTP_MAX_SYSCALL;
	    i++)
		free(reader->rd_calls[i]);
	free(reader->rd_calls);
}
