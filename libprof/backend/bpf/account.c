/* SPDX-License-Identifier: ISC */
/*
 * The accounting of the BPF back end: from the mapped counters, the drain, the
 * events' own counts and the kernel's misses to one row per CPU and event.
 *
 * Called through the interface, each second and at the end.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/bpf/bpf_impl.h"
#include "recording/accounting.h"

/*
 * Of the count of a timer on a task, at most, each time that it is armed:
 * 0.2 us were measured where nothing else ran, 6 us on a busy machine.
 */
#define ARMING_NS	10000
#define MIN_BOUNDED	10	/* armings in a period, at least */
#define MAX_READS	1000	/* of counters that change meanwhile */
#define MAX_NAPS	20	/* then, of 1 ms */

static void
counts_read(struct prof_accounting *pa, const volatile struct dtp_counts *cn)
{
	int n;

#define COUNT_BPF(name)	pa->pa_##name = cn->cn_##name;
#define COUNT_LIB(name)
#define PROF_COUNTER(bit, name, type, role, source, text)		\
	COUNT_##source(name)
#include "counters.def"
	for (n = 0; n < DTP_S_NSTATUS; n++) {
		pa->pa_kstack[n] = cn->cn_kstack[n];
		pa->pa_ustack[n] = cn->cn_ustack[n];
	}
}

/*
 * A program that runs has been counted in fired, and nowhere else yet: then
 * read again.  It may have been preempted, and by us.
 */
static void
from_counts(struct prof_accounting *pa, const volatile struct dtp_counts *cn)
{
	const struct timespec nap = { 0, 1000000 };

	for (unsigned n = 0; n < MAX_READS + MAX_NAPS; n++) {
		if (n >= MAX_READS)
			(void)nanosleep(&nap, NULL);
		counts_read(pa, cn);
		if (pa->pa_fired == prof_accounting_sum(pa))
			break;
	}
}

/*
 * A timer that was silent at the end owes the periods since it was due; a
 * firing stands for several where the rate was lowered.  It is on for longer
 * than the session, at each start and end: those firings are counted outside.
 */
static uint64_t
last_late(const struct prof_bpf *bpf, const struct prof_event *event,
    const struct prof_count *count, const struct dtp_counts *cn)
{
	const struct prof_instance *in = &bpf->bp_instance[event->ev_id];
	const uint64_t known_ns = cn->cn_last_ns - in->in_joined_ns +
	    cn->cn_outside_weight;
	const uint64_t times = prof_instance_slower(in);

	if (!event->ev_is_timer || event->ev_attr.freq ||
	    bpf->bp_plan->pn_clock.ck_stop_ns == 0 ||
	    cn->cn_last_ns < in->in_joined_ns ||
	    count->ct_enabled_ns < known_ns)
		return (0);
	return ((count->ct_enabled_ns - known_ns) /
	    (event->ev_attr.sample_period * times) * times);
}

/*
 * What may honestly be missing: an instance holds back what has not yet
 * become a period, its own where the rate was lowered meanwhile, and a clock's
 * first period may begin anywhere, anew after each pause.  What a late timer
 * left out is missing from the weights, too, and counted apart.
 */
static uint64_t
bound_of(const struct prof_bpf *bpf, const struct prof_event *event,
    const struct prof_count *count, uint64_t weight_max)
{
	const uint64_t begun = event->ev_is_timer ?
	    bpf->bp_plan->pn_clock.ck_begun : 1;

	if (event->ev_attr.freq)
		return (2 * begun * count->ct_instances * weight_max);
	if (event->ev_is_timer)
		return (2 * begun * count->ct_periods *
		    event->ev_attr.sample_period);
	return (count->ct_periods * event->ev_attr.sample_period);
}

/* The difference can only be told where count and weights stand together. */
static void
from_count(const struct prof_bpf *bpf, struct prof_accounting *pa,
    const struct prof_event *event, const struct prof_count *count,
    uint64_t weight, uint64_t weight_max)
{
	/* Until the stop only those are read that others took over from. */
	if (count->ct_instances == 0 || bpf->bp_phase != PROF_BPF_STOPPED)
		return;
	pa->pa_has_count = 1;
	pa->pa_count = count->ct_value;
	pa->pa_enabled_ns = count->ct_enabled_ns;
	pa->pa_running_ns = count->ct_running_ns;
	pa->pa_instances = count->ct_instances;
	pa->pa_unaccounted_bound = bound_of(bpf, event, count, weight_max);
	pa->pa_unaccounted = (int64_t)(count->ct_value - weight);
}

/*
 * A counter: how many samples were to bring its value, which the first
 * counts for all.  What is not in a sample belongs to nobody here, or is yet
 * to come, so of count and weight no difference is made.
 */
static void
counter_row(struct prof_bpf *bpf, uint32_t cpu, uint32_t e,
    struct prof_accounting *pa)
{
	const uint32_t first = (uint32_t)bpf->bp_plan->pn_values;
	const struct prof_count *count = &bpf->bp_own[(size_t)cpu *
	    bpf->bp_room + e];

	from_counts(pa, prof_bpf_counts(bpf, cpu, first));
	pa->pa_has_count = count->ct_instances != 0;
	pa->pa_count = count->ct_value;
	pa->pa_enabled_ns = count->ct_enabled_ns;
	pa->pa_running_ns = count->ct_running_ns;
	pa->pa_instances = count->ct_instances;
	pa->pa_read = prof_drain_read(bpf->bp_drain, cpu, e);
}

/* One event on one CPU. */
static void
cpu_row(struct prof_bpf *bpf, uint32_t cpu, uint32_t e,
    struct prof_accounting *pa)
{
	const struct prof_event *event = bpf->bp_events->el_event[e];
	const struct dtp_counts *cn = prof_bpf_counts(bpf, cpu,
	    e);
	const struct prof_count *count = &bpf->bp_own[(size_t)cpu *
	    bpf->bp_room + e];
	unsigned n;

	if (event->ev_is_value) {
		counter_row(bpf, cpu, e, pa);
		return;
	}
	from_counts(pa, cn);
	for (n = 0; n < DTP_S_NSTATUS; n++)
		pa->pa_ustack[n] += (uint64_t)prof_drain_finished(
		    bpf->bp_drain, cpu, e, n);
	pa->pa_read = prof_drain_read(bpf->bp_drain, cpu, e);
	pa->pa_late = prof_drain_late(bpf->bp_drain, cpu, e);
	if (count->ct_instances != 0)
		pa->pa_overruns += last_late(bpf, event, count, cn);
	/* Where tasks count, too, what fired is not the CPUs' alone. */
	if (bpf->bp_own[(size_t)bpf->bp_ncpus *
	    bpf->bp_room + e].ct_instances == 0)
		from_count(bpf, pa, event, count, pa->pa_weight +
		    pa->pa_outside_weight, cn->cn_weight_max);
}

/*
 * On tasks a timer is armed anew at each turn, for 10 us at least, and stands
 * still while it is; whether it was late at the first firing of a turn is not
 * known.  One that was due when the turn ended begins anew as well, and by how
 * much it was late is lost: with a short period that happens at many turns, and
 * then no bound is known.
 */
static uint64_t
bound_of_turns(const struct prof_bpf *bpf,
    const struct prof_event *event)
{
	uint64_t sum = 0;

	if (!event->ev_is_timer || event->ev_attr.freq)
		return (0);
	if (event->ev_attr.sample_period < MIN_BOUNDED * ARMING_NS)
		return (PROF_BOUND_NONE);
	for (uint32_t cpu = 0; cpu < bpf->bp_ncpus; cpu++)
		sum += bpf->bp_streams[cpu].ss_turns * ARMING_NS +
		    prof_bpf_counts(bpf, cpu, event->ev_id)->cn_unsure *
		    event->ev_attr.sample_period;
	return (sum);
}

static void
add_count(struct prof_count *sum, const struct prof_count *count)
{
	sum->ct_value += count->ct_value;
	sum->ct_enabled_ns += count->ct_enabled_ns;
	sum->ct_running_ns += count->ct_running_ns;
	sum->ct_instances += count->ct_instances;
	sum->ct_periods += count->ct_periods;
}

/* What no CPU has alone: misses of a program, counters on a task. */
static void
task_row(struct prof_bpf *bpf, uint32_t e,
    struct prof_accounting *pa)
{
	const struct prof_count *count = &bpf->bp_own[(size_t)
	    bpf->bp_ncpus * bpf->bp_room + e];
	uint64_t weight = 0, weight_max = 0, turns;
	struct prof_count all = *count;
	uint32_t cpu;

	pa->pa_missed = bpf->bp_missed[e];
	if (bpf->bp_events->el_event[e]->ev_is_value) {
		pa->pa_weight = prof_drain_sum(bpf->bp_drain, e -
		    (uint32_t)bpf->bp_plan->pn_values);
		return;
	}
	for (cpu = 0; cpu < bpf->bp_ncpus; cpu++) {
		const struct dtp_counts *cn = prof_bpf_counts(bpf, cpu, e);

		weight += cn->cn_weight + cn->cn_outside_weight;
		if (cn->cn_weight_max > weight_max)
			weight_max = cn->cn_weight_max;
		add_count(&all, &bpf->bp_own[(size_t)cpu *
		    bpf->bp_room + e]);
	}
	if (count->ct_instances == 0)
		return;
	from_count(bpf, pa, bpf->bp_events->el_event[e], &all, weight,
	    weight_max);
	if (pa->pa_has_count) {
		turns = bound_of_turns(bpf,
		    bpf->bp_events->el_event[e]);
		pa->pa_unaccounted_bound = turns == PROF_BOUND_NONE ? turns :
		    pa->pa_unaccounted_bound + turns;
	}
}

int
prof_bpf_account(void *state, int cpu, struct prof_accounting *rows)
{
	struct prof_bpf *bpf = state;

	for (uint32_t e = 0; e < bpf->bp_nevents; e++)
		if (cpu == -1)
			task_row(bpf, e, &rows[e]);
		else
			cpu_row(bpf, (uint32_t)cpu, e, &rows[e]);
	return (1);
}

/* Event 0 is no sample, and what counters miss is in no sample either. */
uint64_t
prof_bpf_lost(const void *state)
{
	const struct prof_bpf *bpf = state;
	struct prof_accounting pa;
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < bpf->bp_ncpus; cpu++)
		for (uint32_t e = 1; e < bpf->bp_nevents; e++) {
			if (bpf->bp_events->el_event[e]->ev_is_value)
				continue;
			from_counts(&pa, prof_bpf_counts(bpf, cpu, e));
			sum += prof_accounting_lost(&pa);
		}
	return (sum);
}

void
prof_bpf_side(void *state, bool is_last, struct prof_side *side)
{
	const struct prof_bpf *bpf = state;
	struct prof_accounting pa;

	(void)is_last;
	for (uint32_t cpu = 0; cpu < bpf->bp_ncpus; cpu++) {
		from_counts(&pa, prof_bpf_counts(bpf, cpu, 0));
		side->sd_read += pa.pa_stored;
		side->sd_lost += prof_accounting_lost(&pa);
	}
}
