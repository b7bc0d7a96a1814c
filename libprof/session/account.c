/* SPDX-License-Identifier: ISC */
/*
 * The accounting of a session: from the mapped counters, the drain, the
 * events' own counts and the kernel's misses to one row per CPU and event.
 *
 * Called by session.c each second and at the end.  What is written is not
 * summed over CPUs; the reader does that.
 */
#include <stdlib.h>
#include <string.h>

#include "session_impl.h"

/*
 * Of the count of a timer on a task, at most, each time that it is armed:
 * 0.2 us were measured where nothing else ran, 6 us on a busy machine.
 */
#define ARMING_NS	10000
#define MIN_BOUNDED	10	/* armings in a period, at least */

static void
from_counts(struct prof_accounting *pa, const volatile struct dtp_counts *cn)
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
 * A timer that was silent at the end owes the periods since it was due; a
 * firing stands for several where the rate was lowered.  It is on for longer
 * than the session, at each start and end: those firings are counted outside.
 */
static uint64_t
last_late(const struct prof_session *session, const struct prof_event *event,
    const struct prof_count *count, const struct dtp_counts *cn)
{
	uint64_t times = session->se_bpf.bp_instance[event->ev_id].in_slower;
	const uint64_t known_ns = cn->cn_last_ns + cn->cn_outside_weight;

	times = times > 1 ? times : 1;
	if (!event->ev_is_timer || event->ev_attr.freq ||
	    session->se_stop_ns == 0 || count->ct_enabled_ns < known_ns)
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
bound_of(const struct prof_session *session, const struct prof_event *event,
    const struct prof_count *count, uint64_t weight_max)
{
	const uint64_t begun = event->ev_is_timer ? session->se_begun : 1;

	if (event->ev_attr.freq)
		return (2 * begun * count->ct_instances * weight_max);
	if (event->ev_is_timer)
		return (2 * begun * count->ct_periods *
		    event->ev_attr.sample_period);
	return (count->ct_periods * event->ev_attr.sample_period);
}

/* The difference can only be told where count and weights stand together. */
static void
from_count(const struct prof_session *session, struct prof_accounting *pa,
    const struct prof_event *event, const struct prof_count *count,
    uint64_t weight, uint64_t weight_max)
{
	/* Until the stop only those are read that others took over from. */
	if (count->ct_instances == 0 || session->se_state != PROF_STOPPED)
		return;
	pa->pa_has_count = 1;
	pa->pa_count = count->ct_value;
	pa->pa_enabled_ns = count->ct_enabled_ns;
	pa->pa_running_ns = count->ct_running_ns;
	pa->pa_instances = count->ct_instances;
	pa->pa_unaccounted_bound = bound_of(session, event, count, weight_max);
	pa->pa_unaccounted = (int64_t)(count->ct_value - weight);
}

/*
 * A counter: how many samples were to bring its value, which the first
 * counts for all.  What is not in a sample belongs to nobody here, or is yet
 * to come, so of count and weight no difference is made.
 */
static void
counter_row(struct prof_session *session, uint32_t cpu, uint32_t e,
    struct prof_accounting *pa)
{
	const uint32_t first = session->se_bpf.bp_nevents -
	    (uint32_t)session->se_nvalues;
	const struct prof_count *count = &session->se_counts[(size_t)cpu *
	    session->se_bpf.bp_nevents + e];

	from_counts(pa, prof_bpf_counts(&session->se_bpf, cpu, first));
	pa->pa_has_count = count->ct_instances != 0;
	pa->pa_count = count->ct_value;
	pa->pa_enabled_ns = count->ct_enabled_ns;
	pa->pa_running_ns = count->ct_running_ns;
	pa->pa_instances = count->ct_instances;
	pa->pa_read = prof_drain_read(session->se_drain, cpu, e);
}

/* One event on one CPU. */
static void
cpu_row(struct prof_session *session, uint32_t cpu, uint32_t e,
    struct prof_accounting *pa)
{
	const struct prof_event *event = session->se_events.el_event[e];
	const struct dtp_counts *cn = prof_bpf_counts(&session->se_bpf, cpu,
	    e);
	const struct prof_count *count = &session->se_counts[(size_t)cpu *
	    session->se_bpf.bp_nevents + e];
	unsigned n;

	memset(pa, 0, sizeof(*pa));
	if (event->ev_kind == PROF_KIND_COUNTER) {
		counter_row(session, cpu, e, pa);
		return;
	}
	from_counts(pa, cn);
	for (n = 0; n < DTP_S_NSTATUS; n++)
		pa->pa_ustack[n] += (uint64_t)prof_drain_finished(
		    session->se_drain, cpu, e, n);
	pa->pa_read = prof_drain_read(session->se_drain, cpu, e);
	if (count->ct_instances != 0)
		pa->pa_overruns += last_late(session, event, count, cn);
	/* Where tasks count, too, what fired is not the CPUs' alone. */
	if (session->se_counts[(size_t)session->se_bpf.bp_ncpus *
	    session->se_bpf.bp_nevents + e].ct_instances == 0)
		from_count(session, pa, event, count, pa->pa_weight +
		    pa->pa_outside_weight, cn->cn_weight_max);
}

/* What perf rings brought beside samples. */
static void
side_row(const struct prof_session *session, struct prof_accounting *pa)
{
	pa->pa_sideband_read = prof_rings_side_read(session->se_rings);
	pa->pa_sideband_lost = session->se_state == PROF_STOPPED ?
	    session->se_side_lost :
	    prof_rings_side_lost(session->se_rings, false);
}

/*
 * On tasks a timer is armed anew at each turn, for 10 us at least, and stands
 * still while it is; whether it was late at the first firing of a turn is not
 * known.  One that was due when the turn ended begins anew as well, and by how
 * much it was late is lost: with a short period that happens at many turns, and
 * then no bound is known.
 */
static uint64_t
bound_of_turns(const struct prof_session *session,
    const struct prof_event *event)
{
	const struct prof_bpf *bpf = &session->se_bpf;
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
task_row(struct prof_session *session, uint32_t e,
    struct prof_accounting *pa)
{
	const struct prof_bpf *bpf = &session->se_bpf;
	const struct prof_count *count = &session->se_counts[(size_t)
	    bpf->bp_ncpus * bpf->bp_nevents + e];
	uint64_t weight = 0, weight_max = 0, turns;
	struct prof_count all = *count;
	uint32_t cpu;

	memset(pa, 0, sizeof(*pa));
	if (e == 0)
		side_row(session, pa);
	pa->pa_missed = session->se_missed[e];
	pa->pa_written = prof_writer_written(session->se_writer, e);
	if (session->se_events.el_event[e]->ev_kind == PROF_KIND_COUNTER) {
		pa->pa_weight = prof_drain_sum(session->se_drain, e -
		    (bpf->bp_nevents - (uint32_t)session->se_nvalues));
		return;
	}
	for (cpu = 0; cpu < bpf->bp_ncpus; cpu++) {
		const struct dtp_counts *cn = prof_bpf_counts(bpf, cpu, e);

		weight += cn->cn_weight + cn->cn_outside_weight;
		if (cn->cn_weight_max > weight_max)
			weight_max = cn->cn_weight_max;
		add_count(&all, &session->se_counts[(size_t)cpu *
		    bpf->bp_nevents + e]);
	}
	if (count->ct_instances == 0)
		return;
	from_count(session, pa, session->se_events.el_event[e], &all, weight,
	    weight_max);
	if (pa->pa_has_count) {
		turns = bound_of_turns(session,
		    session->se_events.el_event[e]);
		pa->pa_unaccounted_bound = turns == PROF_BOUND_NONE ? turns :
		    pa->pa_unaccounted_bound + turns;
	}
}

static int
write_bpf(struct prof_session *session)
{
	const uint32_t nevents = session->se_bpf.bp_nevents;
	struct prof_accounting *rows = calloc(nevents, sizeof(*rows));
	int rv = 0;
	uint32_t e;
	size_t n;

	if (rows == NULL)
		return (prof_fail_nomem(&session->se_error));
	/* A writer that failed still takes the last accounting: all of it. */
	for (n = 0; n < session->se_nonline; n++) {
		for (e = 0; e < nevents; e++)
			cpu_row(session, (uint32_t)session->se_online[n], e,
			    &rows[e]);
		if (prof_writer_accounting(session->se_writer,
		    session->se_online[n], rows, nevents) == -1)
			rv = -1;
	}
	for (e = 0; e < nevents; e++)
		task_row(session, e, &rows[e]);
	if (prof_writer_accounting(session->se_writer, -1, rows, nevents) ==
	    -1)
		rv = -1;
	free(rows);
	return (rv);
}

static int
write_rings(struct prof_session *session)
{
	size_t e, nevents = session->se_events.el_n;
	struct prof_accounting *rows;
	int rv = 0;

	rows = calloc(nevents, sizeof(*rows));
	if (rows == NULL)
		return (prof_fail_nomem(&session->se_error));
	side_row(session, &rows[0]);
	for (e = 1; e < nevents && rv == 0; e++) {
		rv = prof_rings_accounting(session->se_rings, e, &rows[e],
		    &session->se_error);
		rows[e].pa_written = prof_writer_written(session->se_writer,
		    e);
		/* Until the stop what fired since the drain is in neither. */
		if (session->se_state != PROF_STOPPED) {
			rows[e].pa_has_count = 0;
			rows[e].pa_unaccounted = 0;
			rows[e].pa_unaccounted_bound = 0;
		}
	}
	if (rv == 0)
		rv = prof_writer_accounting(session->se_writer, -1, rows,
		    nevents);
	free(rows);
	return (rv);
}

int
prof_account_write(struct prof_session *session)
{
	return (session->se_use_bpf ? write_bpf(session) :
	    write_rings(session));
}

/* ------------------------------------------------------------ summary */

/* Event 0 is no sample, and what counters miss is in no sample either. */
uint64_t
prof_account_lost(const struct prof_session *session)
{
	const struct prof_bpf *bpf = &session->se_bpf;
	struct prof_accounting pa;
	uint64_t sum = 0;
	uint32_t cpu, e;

	if (!session->se_use_bpf)
		return (prof_rings_lost(session->se_rings));
	for (cpu = 0; cpu < bpf->bp_ncpus; cpu++)
		for (e = 1; e < bpf->bp_nevents - session->se_nvalues; e++) {
			from_counts(&pa, prof_bpf_counts(bpf, cpu, e));
			sum += prof_accounting_lost(&pa);
		}
	return (sum);
}

void
prof_account_side(const struct prof_session *session, uint64_t *stored,
    uint64_t *lost)
{
	const struct prof_bpf *bpf = &session->se_bpf;
	struct prof_accounting pa = { 0 };
	uint32_t cpu;

	side_row(session, &pa);
	*stored = pa.pa_sideband_read;
	*lost = pa.pa_sideband_lost;
	for (cpu = 0; session->se_use_bpf && cpu < bpf->bp_ncpus; cpu++) {
		from_counts(&pa, prof_bpf_counts(bpf, cpu, 0));
		*stored += pa.pa_stored;
		*lost += prof_accounting_lost(&pa);
	}
}

int
prof_session_status_sized(struct prof_session *session,
    struct prof_status *status, size_t size)
{
	struct prof_status now = { 0 };

	if (session->se_rings != NULL)
		prof_account_side(session, &now.ps_side_stored,
		    &now.ps_side_lost);
	now.ps_elapsed_s = (double)prof_session_ran_ns(session) / 1e9;
	now.ps_is_paused = session->se_state == PROF_PAUSED;
	now.ps_samples = session->se_samples;
	now.ps_written = session->se_written;
	now.ps_lost = session->se_lost;
	now.ps_file_bytes = session->se_file_bytes;
	if (session->se_state == PROF_RECORDING ||
	    session->se_state == PROF_PAUSED) {
		now.ps_lost = prof_account_lost(session);
		now.ps_file_bytes =
		    prof_writer_bytes(session->se_writer);
	}
	now.ps_recorder_s = (double)session->se_overhead.ov_recorder_ns /
	    1e9;
	now.ps_programs_s = session->se_overhead.ov_was_measured ?
	    (double)session->se_overhead.ov_programs_ns / 1e9 : -1;
	now.ps_cpus = (int)session->se_nonline;
	now.ps_slower = session->se_overhead.ov_slower;
	now.ps_targets_left = prof_targets_left(session);
	now.ps_command_pid = session->se_command.cm_pid;
	now.ps_command_done = session->se_command.cm_done;
	now.ps_command_status = session->se_command.cm_status;
	prof_struct_give(status, size, &now, sizeof(now));
	return (0);
}
