/* SPDX-License-Identifier: ISC */
/* What the files of allocations share. */
#ifndef ALLOC_IMPL_H
#define ALLOC_IMPL_H

#include "events/names.h"

/*
 * An event that fires in all allocators that the processes have mapped; NULL:
 * the error says why.
 */
struct prof_event *prof_alloc_functions(struct prof_names *names,
	    struct prof_events *events, struct prof_err *error);

#endif /* ALLOC_IMPL_H */
