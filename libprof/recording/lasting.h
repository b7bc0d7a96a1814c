/* SPDX-License-Identifier: ISC */
/*
 * What must be known of the time before samples, to read them: descriptions,
 * processes that live, what they have mapped.  A recording of which the oldest
 * part is given up, or that goes on in another file, begins with it.
 *
 * Included by recording/ alone.  One thread at a time.
 */
#ifndef PROF_LASTING_H
#define PROF_LASTING_H

#include <stdbool.h>

#include "base/record.h"
#include "format.h"

struct prof_lasting;

/* has_symbols: of these, too.  Owned by caller; NULL: no memory. */
struct prof_lasting *prof_lasting_new(bool has_symbols);
void	prof_lasting_free(struct prof_lasting *lasting);

/* Everything as it is written, but samples.  -1: no memory. */
int	prof_lasting_info(struct prof_lasting *lasting, const char *key,
	    const char *value);
int	prof_lasting_event(struct prof_lasting *lasting, const void *body,
	    size_t length);
int	prof_lasting_record(struct prof_lasting *lasting,
	    const struct prof_record *record);
int	prof_lasting_symbols(struct prof_lasting *lasting, const void *body,
	    size_t length);
/* The recording begins anew: its start and pauses are forgotten. */
void	prof_lasting_restart(struct prof_lasting *lasting);

/* Give up what is not needed any more.  -1: no memory. */
int	prof_lasting_compact(struct prof_lasting *lasting);
/* Borrowed until something is added; false or NULL: there is no n-th one. */
bool	prof_lasting_info_at(const struct prof_lasting *lasting, size_t n,
	    const char **key, const char **value);
const struct prof_buf *prof_lasting_events(const struct prof_lasting *lasting);
bool	prof_lasting_record_at(const struct prof_lasting *lasting, size_t n,
	    struct prof_record *record);
const void *prof_lasting_symbols_at(const struct prof_lasting *lasting,
	    size_t n, size_t *length);

#endif /* PROF_LASTING_H */
