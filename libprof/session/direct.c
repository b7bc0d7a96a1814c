/* SPDX-License-Identifier: ISC */
/*
 * Sessions without a file: see direct.h.  Called by commands that show at
 * once what others record.
 */
#include "direct.h"
#include "session_impl.h"

static int
check_init(struct prof_session *session)
{
	return (session->se_state == PROF_INIT ? 0 : prof_fail(
	    &session->se_error, PROF_E_BUSY, "already armed"));
}

int
prof_session_direct(struct prof_session *session, const struct prof_sink *sink)
{
	if (check_init(session) == -1)
		return (-1);
	session->se_sink = *sink;
	session->se_has_sink = true;
	return (0);
}

bool
prof_session_names_wait(const struct prof_session *session)
{
	return (prof_codes_is_busy(session->se_plan.pn_codes) ||
	    (prof_session_names_now(session) &&
	    prof_noted_any(session->se_noted)));
}

/* Perf rings have no programs that could. */
int
prof_session_group(struct prof_session *session,
    const struct prof_grouping *grouping)
{
	if (check_init(session) == -1)
		return (-1);
	session->se_grouping = grouping;
	session->se_options.po_backend = PROF_BACKEND_BPF;
	return (0);
}

int
prof_session_groups(struct prof_session *session, struct prof_groups *groups)
{
	const struct prof_merge *merge = &session->se_merge;

	for (size_t n = 0; n < merge->mg_n; n++)
		if (merge->mg_source[n].so_backend->bk_groups != NULL)
			return (merge->mg_source[n].so_backend->bk_groups(
			    merge->mg_source[n].so_state, groups));
	return (prof_fail(&session->se_error, PROF_E_EMPTY,
	    "nothing is aggregated"));
}

const struct prof_event *
prof_session_event(const struct prof_session *session, size_t n)
{
	return (n < session->se_events.el_n - session->se_plan.pn_nvalues ?
	    session->se_events.el_event[n] : NULL);
}

int
prof_session_account(struct prof_session *session, size_t n,
    struct prof_accounting *accounting)
{
	return (prof_account_event(session, n, accounting) == 0 ? 0 :
	    prof_fail_nomem(&session->se_error));
}
