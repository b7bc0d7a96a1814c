/* SPDX-License-Identifier: ISC */
/*
 * The accounting of a session: from the mapped counters, the drain, the
 * events' own counts and the kernel's misses to one row per CPU and event.
 *
 * Called by session.c each second and at the end.  Sums nothing over CPUs;
 * the reader does.
 */
#include <stdlib.h>
#include <string.h>

#include "session_impl.h"

static void
from_counts(struct prof_accounting *pa, const volatile struct dtp_counts *cn)
{
	int n;

	pa->pa_fired = cn->cn_fired;
	pa->pa_stored = cn->cn_stored;
	pa->pa_full = cn->cn_full;
	pa->pa_nested = cn->cn_nested;
	pa->pa_filtered = cn->cn_filtered;
	pa->pa_error = cn->cn_error;
	pa->pa_nested_stored = cn->cn_nested_stored;
	pa->pa_self = cn->cn_self;
	pa->pa_outside = cn->cn_outside;
	pa->pa_late = cn->cn_late;
	pa->pa_arg_fault = cn->cn_arg_fault;
	pa->pa_weight = cn->cn_weight;
	pa->pa_outside_weight = cn->cn_outside_weight;
	for (n = 0; n < DTP_S_NSTATUS; n++) {
		pa->pa_kstack[n] = cn->cn_kstack[n];
		pa->pa_ustack[n] = cn->cn_ustack[n];
	}
}

static void
from_count(struct prof_accounting *pa, const struct prof_event *event,
    const struct prof_count *count)
{
	if (count->ct_instances == 0)
		return;
	pa->pa_has_count = 1;
	pa->pa_count = count->ct_value;
	pa->pa_enabled_ns = count->ct_enabled_ns;
	pa->pa_running_ns = count->ct_running_ns;
	pa->pa_instances = count->ct_instances;
	if (!event->ev_attr.freq)
		pa->pa_bound = count->ct_instances *
		    event->ev_attr.sample_period;
}

/* The difference can only be told where count and weights stand together. */
static void
settle(struct prof_accounting *row, const struct prof_accounting *weights)
{
	if (row->pa_has_count)
		row->pa_unaccounted = (int64_t)(row->pa_count -
		    weights->pa_weight - weights->pa_outside_weight);
}

static int
write_bpf(struct prof_session *session)
{
	const struct prof_bpf *bpf = &session->se_bpf;
	uint32_t cpu, e, nevents = bpf->bp_nevents;
	struct prof_accounting *rows, *task;
	int rv = -1;
	size_t n;

	rows = calloc(nevents * 3, sizeof(*rows));
	if (rows == NULL)
		return (prof_fail_nomem(&session->se_error));
	task = rows + nevents;		/* row of no CPU */
	for (cpu = 0; cpu < bpf->bp_ncpus; cpu++) {
		bool recorded = false;

		for (n = 0; n < session->se_nonline; n++)
			if ((uint32_t)session->se_online[n] == cpu)
				recorded = true;
		memset(rows, 0, nevents * sizeof(*rows));
		for (e = 0; e < nevents; e++) {
			const struct prof_event *event =
			    session->se_events.el_event[e];

			from_counts(&rows[e], prof_bpf_counts(bpf, cpu, e));
			rows[e].pa_read = prof_drain_read(session->se_drain,
			    cpu, e);
			from_count(&rows[e], event, &session->se_counts[
			    (size_t)cpu * nevents + e]);
			settle(&rows[e], &rows[e]);
			task[nevents + e].pa_weight += rows[e].pa_weight;
			task[nevents + e].pa_outside_weight +=
			    rows[e].pa_outside_weight;
			recorded = recorded || rows[e].pa_outside ||
			    rows[e].pa_fired;
		}
		if (recorded && prof_writer_accounting(session->se_writer,
		    (int)cpu, rows, nevents) == -1)
			goto out;
	}
	for (e = 0; e < nevents; e++) {
		task[e].pa_missed = session->se_missed[e];
		task[e].pa_written = prof_writer_written(session->se_writer,
		    e);
		from_count(&task[e], session->se_events.el_event[e],
		    &session->se_counts[(size_t)bpf->bp_ncpus * nevents + e]);
		settle(&task[e], &task[nevents + e]);
	}
	if (prof_writer_accounting(session->se_writer, -1, task, nevents) ==
	    -1)
		goto out;
	rv = 0;
out:
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
	for (e = 1; e < nevents && rv == 0; e++) {
		rv = prof_rings_accounting(session->se_rings, e - 1,
		    &rows[e]);
		rows[e].pa_written = prof_writer_written(session->se_writer,
		    e);
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
