/* SPDX-License-Identifier: ISC */
/*
 * Sessions without a file, for the commands stat and trace: records go to a
 * sink of the caller's, or firings are aggregated and there are none.
 */
#ifndef PROF_DIRECT_H
#define PROF_DIRECT_H

#include "backend/groups.h"
#include "filter/grouping.h"
#include "recording/sink.h"

/*
 * Before arm.  The sink is copied; without stacks (PROF_CALLGRAPH_NONE) it
 * hears of no mappings.  It need not take the accounting, which the session
 * keeps.
 */
int	prof_session_direct(struct prof_session *session,
	    const struct prof_sink *sink);
/*
 * Such a sink that takes symbols has those of a round when the round is over,
 * but for code of scripts and large files that are still being read.
 */
bool	prof_session_names_wait(const struct prof_session *session);
/* Before arm: aggregate all events; borrowed until close. */
int	prof_session_group(struct prof_session *session,
	    const struct prof_grouping *grouping);
/* So far, or after stop; to be given back by prof_groups_fini. */
int	prof_session_groups(struct prof_session *session,
	    struct prof_groups *groups);
/* Event n, from 1 on; NULL: no more.  Borrowed until close. */
const struct prof_event *prof_session_event(const struct prof_session *session,
	    size_t n);

/* Its accounting, summed over CPUs. */
int	prof_session_account(struct prof_session *session, size_t n,
	    struct prof_accounting *accounting);

#endif /* PROF_DIRECT_H */
