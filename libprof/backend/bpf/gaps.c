/* SPDX-License-Identifier: ISC */
/*
 * When firings were refused: the counters say how many, this says from when
 * to when, so that a hole in the samples is seen as one.
 *
 * Called by backend.c after every round of the drain.  Compares, per CPU and
 * event, what has been refused with the last time; what was refused within a
 * tenth of a second of each other is one gap, and becomes one LOST record, or
 * one a round where spans are paired meanwhile.
 * Its beginning is the last look that found nothing new, so a gap is never
 * shorter than the hole, and longer by two rounds at most.
 */
#include <stdlib.h>

#include "backend/bpf/bpf_impl.h"
#include "base/clock.h"
#include "base/error.h"

#define QUIET_NS	100000000ULL	/* a gap has ended when this long ago */
#define LONGEST_NS	1000000000ULL	/* a longer one is told in pieces */

struct prof_gap {
	uint64_t	ga_refused;	/* so far, told or not */
	uint64_t	ga_count;	/* in this gap; 0: there is none */
	uint64_t	ga_since_ns;
	uint64_t	ga_until_ns;
};

int
prof_gaps_init(struct prof_bpf *bpf)
{
	bpf->bp_gaps = calloc((size_t)bpf->bp_ncpus * bpf->bp_room,
	    sizeof(*bpf->bp_gaps));
	bpf->bp_looked_ns = prof_now_ns();
	return (bpf->bp_gaps == NULL ?
	    prof_fail_nomem(bpf->bp_error) : 0);
}

static int
gap_tell(struct prof_bpf *bpf, struct prof_gap *gap, uint32_t cpu,
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
	return (prof_host_tell(bpf->bp_plan, &record));
}

static int
look_at(struct prof_bpf *bpf, uint32_t cpu, uint32_t event,
    uint64_t now_ns)
{
	const volatile struct dtp_counts *cn =
	    prof_bpf_counts(bpf, cpu, event);
	struct prof_gap *gap = &bpf->bp_gaps[
	    (size_t)cpu * bpf->bp_room + event];
	uint64_t refused = cn->cn_full + cn->cn_nested + cn->cn_error;

	if (refused > gap->ga_refused) {
		if (gap->ga_count == 0)
			gap->ga_since_ns = bpf->bp_looked_ns;
		gap->ga_count += refused - gap->ga_refused;
		gap->ga_refused = refused;
		gap->ga_until_ns = now_ns;
	}
	if (gap->ga_count == 0 || (bpf->bp_phase != PROF_BPF_STOPPED &&
	    !bpf->bp_plan->pn_tells_losses &&
	    now_ns - gap->ga_until_ns < QUIET_NS &&
	    now_ns - gap->ga_since_ns < LONGEST_NS))
		return (0);
	return (gap_tell(bpf, gap, cpu, event));
}

int
prof_gaps_look(struct prof_bpf *bpf)
{
	const uint64_t now_ns = prof_clock_until_ns(&bpf->bp_plan->pn_clock);
	uint32_t event;
	size_t n;

	for (n = 0; n < bpf->bp_plan->pn_nonline; n++)
		for (event = 0; event < bpf->bp_nevents; event++)
			/* What is counted in samples is never refused. */
			if (!bpf->bp_events->el_event[event]->ev_is_value &&
			    look_at(bpf, (uint32_t)bpf->bp_plan->pn_online[n],
			    event, now_ns) == -1)
				return (-1);
	bpf->bp_looked_ns = now_ns;
	return (0);
}
