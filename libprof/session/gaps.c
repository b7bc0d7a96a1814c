/* SPDX-License-Identifier: ISC */
/*
 * When firings were refused: the counters say how many, this says from when
 * to when, so that a hole in the samples is seen as one.
 *
 * Called by session.c after every round of the drain.  Compares, per CPU and
 * event, what has been refused with the last time; what was refused within a
 * tenth of a second of each other is one gap, and becomes one LOST record.
 * Its beginning is the last look that found nothing new, so a gap is never
 * shorter than the hole, and longer by two rounds at most.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "session_impl.h"

#define QUIET_NS	100000000ULL	/* a gap has ended when this long ago */
#define LONGEST_NS	1000000000ULL	/* a longer one is told in pieces */

struct prof_gap {
	uint64_t	ga_refused;	/* so far, told or not */
	uint64_t	ga_count;	/* in this gap; 0: there is none */
	uint64_t	ga_since_ns;
	uint64_t	ga_until_ns;
};

int
prof_gaps_init(struct prof_session *session)
{
	const struct prof_bpf *bpf = &session->se_bpf;

	session->se_gaps = calloc((size_t)bpf->bp_ncpus * bpf->bp_nevents,
	    sizeof(*session->se_gaps));
	session->se_looked_ns = prof_now_ns();
	return (session->se_gaps == NULL ?
	    prof_fail_nomem(&session->se_error) : 0);
}

static int
tell(struct prof_session *session, struct prof_gap *gap, uint32_t cpu,
    uint32_t event)
{
	struct prof_record record = { 0 };

	record.pr_type = PROF_R_LOST;
	record.pr_event = event;
	record.pr_cpu = cpu;
	record.pr_weight = gap->ga_count;
	record.pr_addr = gap->ga_since_ns;
	record.pr_time_ns = gap->ga_until_ns;
	record.pr_comm = "";
	gap->ga_count = 0;
	return (prof_session_take(session, &record));
}

static int
look_at(struct prof_session *session, uint32_t cpu, uint32_t event,
    uint64_t now_ns)
{
	const volatile struct dtp_counts *cn =
	    prof_bpf_counts(&session->se_bpf, cpu, event);
	struct prof_gap *gap = &session->se_gaps[
	    (size_t)cpu * session->se_bpf.bp_nevents + event];
	uint64_t refused = cn->cn_full + cn->cn_nested + cn->cn_error;

	if (refused > gap->ga_refused) {
		if (gap->ga_count == 0)
			gap->ga_since_ns = session->se_looked_ns;
		gap->ga_count += refused - gap->ga_refused;
		gap->ga_refused = refused;
		gap->ga_until_ns = now_ns;
	}
	if (gap->ga_count == 0 || (session->se_state != PROF_STOPPED &&
	    now_ns - gap->ga_until_ns < QUIET_NS &&
	    now_ns - gap->ga_since_ns < LONGEST_NS))
		return (0);
	return (tell(session, gap, cpu, event));
}

int
prof_gaps_look(struct prof_session *session)
{
	/* What is counted in samples is never refused. */
	const size_t nevents = session->se_events.el_n - session->se_nvalues;
	uint64_t now_ns = session->se_stop_ns != 0 ? session->se_stop_ns :
	    prof_now_ns();
	uint32_t event;
	size_t n;

	for (n = 0; n < session->se_nonline; n++)
		for (event = 0; event < nevents; event++)
			if (look_at(session, (uint32_t)session->se_online[n],
			    event, now_ns) == -1)
				return (-1);
	session->se_looked_ns = now_ns;
	return (0);
}
