/* SPDX-License-Identifier: ISC */
/* What receivers of profiles are sent, and answer; see send.c. */
#ifndef PROF_SEND_H
#define PROF_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof.h"

/* Name of the recorded program; "": it was not started by its recorder. */
void	prof_send_program(const struct prof_reader *reader, char *name,
	    size_t size);
/* The same, or else the name of the process with the most samples. */
void	prof_send_service(const struct prof_reader *reader,
	    const struct prof_profile *profile, char *name, size_t size);

/*
 * The JSON body of a request with a profile of pprof and its labels, which are
 * { key, value, key, value, ..., NULL }: of Pyroscope's
 * push.v1.PusherService/Push, or of Parca's ProfileStoreService/WriteRaw.
 * Owned by caller; NULL: no memory.
 */
char	*prof_send_series(bool is_parca, const char *const *labels,
	    const void *profile, size_t bytes, size_t *length);
/*
 * How many profiles an ExportProfilesServiceResponse says were rejected, and
 * what else it says, as it came.  0, or -1: it is none.
 */
int	prof_send_rejected(const void *answer, size_t length,
	    uint64_t *rejected, char *text, size_t size);

#endif /* PROF_SEND_H */
