/* SPDX-License-Identifier: ISC */
/*
 * Names for what happens now and is not recorded: what a sink hears of, in
 * the order in which it comes, is all that there is to them.  Functions are
 * those of prof_symbols_*, asked for a process in order of time.
 *
 * Called by dtprof trace.
 */
#ifndef PROF_SYMBOLS_LIVE_H
#define PROF_SYMBOLS_LIVE_H

#include "base/record.h"

/* is_perf: records come in the order of perf.  NULL: no memory. */
struct prof_symbols *prof_symbols_live(bool is_perf, struct prof_err *error);
/* A process or mapping event.  -1: no memory. */
int	prof_symbols_live_event(struct prof_symbols *symbols,
	    const struct prof_record *record);
/* What sk_symbols is handed; it is copied where that is needed. */
int	prof_symbols_live_table(struct prof_symbols *symbols,
	    const void *body, size_t length);
/* Nobody asks for earlier times any more. */
void	prof_symbols_live_forget(struct prof_symbols *symbols,
	    uint64_t before_ns);

#endif /* PROF_SYMBOLS_LIVE_H */
