/* SPDX-License-Identifier: ISC */
/*
 * The perf back ends as a session sees them: fill the interface of backend.h
 * from the rings.  One brings samples, tasks and mappings of own processes
 * where BPF may not be used; the other, beside BPF, mappings alone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/perf/rings_impl.h"
#include "backend/perf/side_band.h"
#include "base/clock.h"
#include "base/error.h"
#include "events/instrument.h"
#include "os/permission.h"
#include "os/pmu_kinds.h"

#define YOUNG_NS	1000000UL
/* Between rounds of rings, which wake us when they are half full. */
#define WAIT_MS		10

struct perf {
	struct prof_plan *pf_plan;
	struct prof_rings *pf_rings;
	bool		 pf_brings_samples;
	bool		 pf_is_on;	/* it records, and no pause */
	bool		 pf_is_stopped;
	uint64_t	 pf_lost;	/* after stop: mappings and tasks */
};

static bool
perf_detect(const struct prof_plan *plan, struct prof_err *why)
{
	const struct prof_options *po = plan->pn_options;
	const char *what = NULL;
	size_t nwaits = 0;

	if (po->po_target == PROF_TARGET_CGROUP ||
	    po->po_target == PROF_TARGET_NAME || po->po_comm != NULL ||
	    po->po_filter != NULL || plan->pn_nvalues != 0)
		what = "--cgroup, --comm, --filter, --wait-for and --with";
	for (size_t n = 1; what == NULL && n < plan->pn_events->el_n; n++) {
		const struct prof_event *event = plan->pn_events->el_event[n];

		if (event->ev_expression != NULL || (!event->ev_has_period &&
		    (!event->ev_instrument->im_has_switches ||
		    nwaits++ > 0)))
			what = event->ev_name;
	}
	if (what == NULL)
		return (true);
	prof_fail(why, PROF_E_USAGE, "%s: not possible with --backend perf",
	    what);
	prof_cure(why, "leave --backend perf out");
	return (false);
}

static struct perf *
perf_new(struct prof_plan *plan, bool brings_samples)
{
	struct perf *perf = calloc(1, sizeof(*perf));

	if (perf == NULL) {
		prof_fail_nomem(plan->pn_error);
		return (NULL);
	}
	perf->pf_plan = plan;
	perf->pf_brings_samples = brings_samples;
	return (perf);
}

static void
perf_close(void *state)
{
	struct perf *perf = state;

	prof_rings_close(perf->pf_rings);
	free(perf);
}

static uint32_t
stack_bytes(const struct prof_options *po)
{
	if (po->po_stack_bytes != 0)
		return ((uint32_t)po->po_stack_bytes);
	return (po->po_verify ? 64512 : 16384);
}

static struct prof_rings *
open_samples(struct prof_plan *plan)
{
	const struct prof_options *po = plan->pn_options;
	struct prof_rings_options ro = { 0 };

	ro.ro_cpus = plan->pn_cpus;
	ro.ro_ncpus = plan->pn_ncpus;
	ro.ro_samples = true;
	ro.ro_kinds = prof_names_kinds(plan->pn_names);
	ro.ro_inherit = !po->po_no_inherit &&
	    po->po_target != PROF_TARGET_TIDS;
	ro.ro_callchain = po->po_callgraph == PROF_CALLGRAPH_FP;
	ro.ro_snapshots = plan->pn_snapshots;
	if (plan->pn_snapshots != NULL)
		ro.ro_stack_bytes = stack_bytes(po);
	ro.ro_before = plan->pn_host->ho_before;
	ro.ro_events = plan->pn_events->el_event + 1;
	ro.ro_nevents = plan->pn_events->el_n - 1;
	ro.ro_ring_bytes = po->po_buffer_bytes;
	if (po->po_target == PROF_TARGET_COMMAND) {
		ro.ro_pids = &plan->pn_command;
		ro.ro_npids = 1;
		ro.ro_enable_on_exec = !po->po_start_paused;
	} else if (po->po_target != PROF_TARGET_ALL) {
		ro.ro_threads = po->po_target == PROF_TARGET_PIDS &&
		    !ro.ro_inherit;
		ro.ro_pids = po->po_ids;
		ro.ro_npids = po->po_nids;
	}
	return (prof_rings_open(&ro, plan->pn_error));
}

static void *
perf_load(struct prof_plan *plan)
{
	struct perf *perf = perf_new(plan, true);

	if (perf != NULL && ((perf->pf_rings = open_samples(plan)) == NULL ||
	    prof_host_info(plan, "less.path", prof_record_reach(0,
	    plan->pn_options->po_target)) == -1)) {
		perf_close(perf);
		perf = NULL;
	}
	return (perf);
}

static void *
maps_load(struct prof_plan *plan)
{
	struct perf *perf = perf_new(plan, false);

	if (perf != NULL &&
	    (perf->pf_rings = prof_side_band_open(plan)) == NULL) {
		perf_close(perf);
		perf = NULL;
	}
	return (perf);
}

/* While waits count, each context switch has a record. */
static int
waits_turn(struct perf *perf, bool is_on)
{
	if (perf->pf_is_on == is_on)
		return (0);
	perf->pf_is_on = is_on;
	return (prof_rings_turn(perf->pf_rings, prof_now_ns()) == 0 ? 0 :
	    prof_fail_nomem(perf->pf_plan->pn_error));
}

static int
perf_enable(void *state)
{
	struct perf *perf = state;

	(void)prof_clock_go_on(&perf->pf_plan->pn_clock);
	return (prof_rings_enable(perf->pf_rings) == -1 ? -1 :
	    waits_turn(perf, true));
}

static int
perf_pause(void *state)
{
	struct perf *perf = state;

	return (waits_turn(perf, false) == -1 ? -1 :
	    prof_rings_disable(perf->pf_rings));
}

static int
perf_stop(void *state)
{
	struct perf *perf = state;

	perf->pf_is_stopped = true;
	if (!perf->pf_brings_samples)
		return (0);
	return (waits_turn(perf, false) == -1 ? -1 :
	    prof_rings_disable(perf->pf_rings));
}

static int
perf_observe(void *state, const struct prof_record *record)
{
	const struct perf *perf = state;

	prof_rings_observe(perf->pf_rings, record);
	return (0);
}

static size_t
perf_fds(const void *state, const int **fds)
{
	const struct perf *perf = state;

	return (prof_rings_fds(perf->pf_rings, fds));
}

/*
 * One ring is read after the other: what is so young may have come to one of
 * them when that had been read, and waits for the next round.  Mappings beside
 * BPF do not, as stacks lack them meanwhile: one that is published just then
 * has the time of what was handed over last.
 */
static int
perf_look(void *state, uint64_t handed_ns, uint64_t *until_ns, unsigned *fill)
{
	struct perf *perf = state;

	(void)fill;
	*until_ns = perf->pf_is_stopped ? UINT64_MAX :
	    prof_now_ns() - (perf->pf_brings_samples ? YOUNG_NS : 0);
	prof_rings_look(perf->pf_rings, handed_ns);
	return (0);
}

static uint64_t
perf_next(const void *state)
{
	const struct perf *perf = state;

	return (prof_rings_next(perf->pf_rings));
}

static int
perf_drain_until(void *state, uint64_t until_ns)
{
	const struct perf *perf = state;

	return (prof_rings_drain(perf->pf_rings, until_ns,
	    perf->pf_plan->pn_host->ho_take, perf->pf_plan->pn_arg) == 0 ?
	    0 : -1);
}

static bool
perf_is_empty(const void *state)
{
	const struct perf *perf = state;

	return (prof_rings_next(perf->pf_rings) == UINT64_MAX);
}

/*
 * Event 0 of no CPU has what rings brought beside samples; of samples no CPU
 * has a row of its own.
 */
static int
perf_account(void *state, int cpu, struct prof_accounting *rows)
{
	struct perf *perf = state;
	const struct prof_plan *plan = perf->pf_plan;

	if (cpu != -1)
		return (0);
	rows[0].pa_sideband_read = prof_rings_side_read(perf->pf_rings);
	rows[0].pa_sideband_lost = perf->pf_is_stopped ? perf->pf_lost :
	    prof_rings_side_lost(perf->pf_rings, false);
	for (size_t e = 1; perf->pf_brings_samples &&
	    e < plan->pn_events->el_n; e++) {
		if (prof_rings_accounting(perf->pf_rings, e, &rows[e],
		    plan->pn_error) == -1)
			return (-1);
		/* Until the stop what fired since the drain is in neither. */
		if (!perf->pf_is_stopped) {
			rows[e].pa_has_count = 0;
			rows[e].pa_unaccounted = 0;
			rows[e].pa_unaccounted_bound = 0;
		}
	}
	return (1);
}

static uint64_t
perf_lost(const void *state)
{
	const struct perf *perf = state;

	return (perf->pf_brings_samples ? prof_rings_lost(perf->pf_rings) :
	    0);
}

static void
perf_side(void *state, bool is_last, struct prof_side *side)
{
	const struct perf *perf = state;

	side->sd_read += prof_rings_side_read(perf->pf_rings);
	side->sd_lost += perf->pf_is_stopped ? perf->pf_lost :
	    prof_rings_side_lost(perf->pf_rings, is_last);
	side->sd_was_full |= prof_rings_was_full(perf->pf_rings);
}

/* At the end, after the last drain: of what no LOST record told. */
static int
tell_lost(struct perf *perf)
{
	const struct prof_plan *plan = perf->pf_plan;
	const uint64_t said = prof_rings_side_said(perf->pf_rings);
	const struct prof_record record = { .pr_type = PROF_R_LOST,
	    .pr_time_ns = plan->pn_clock.ck_stop_ns, .pr_comm = "",
	    .pr_weight = perf->pf_lost - said };

	return (perf->pf_lost <= said ? 0 :
	    prof_host_tell(plan, &record));
}

static int
say_snapshots(const struct perf *perf)
{
	const struct prof_plan *plan = perf->pf_plan;
	uint64_t walked, whole;

	if (!perf->pf_brings_samples || plan->pn_snapshots == NULL)
		return (0);
	prof_snapshots_count(plan->pn_snapshots, &walked, &whole);
	return (prof_host_number(plan, "snapshots.taken", walked) == -1 ||
	    prof_host_number(plan, "snapshots.refused", 0) == -1 ||
	    prof_host_number(plan, "snapshots.cut", 0) == -1 ? -1 : 0);
}

static int
say_taken_away(const struct perf *perf)
{
	const uint64_t execs = prof_rings_taken_away(perf->pf_rings);

	return (execs == 0 ? 0 : prof_host_note(perf->pf_plan, "the kernel "
	    "removed the events of %" PRIu64 " set-user-ID or unreadable "
	    "program%s: samples of %s and of what %s started are missing; "
	    "record as root", execs, execs == 1 ? "" : "s", execs == 1 ?
	    "this program" : "these programs", execs == 1 ? "it" : "they"));
}

static int
say_waits(const struct perf *perf)
{
	const struct prof_event *event;
	const struct dtp_wait_counts *counts = prof_rings_waits(
	    perf->pf_rings, &event);

	if (counts == NULL)
		return (0);
	return (prof_host_note(perf->pf_plan, "%s: without BPF, blocked time "
	    "includes the time from the wakeup until the thread runs, the "
	    "reason and the waker of blocked time are unknown, and waits have "
	    "no stack", event->ev_name) == -1 ? -1 :
	    prof_waits_say(perf->pf_plan, event, counts));
}

static int
perf_end(void *state)
{
	struct perf *perf = state;

	perf->pf_lost = prof_rings_side_lost(perf->pf_rings, true);
	return (tell_lost(perf) == -1 || say_snapshots(perf) == -1 ||
	    say_waits(perf) == -1 || say_taken_away(perf) == -1 ? -1 : 0);
}

const struct prof_backend prof_backend_perf = {
	.bk_name = "perf",
	.bk_flags = PROF_BACKEND_MAPS | PROF_BACKEND_EXEC_FIRST |
	    PROF_BACKEND_SHARES,
	.bk_wait_ms = WAIT_MS,
	.bk_detect = perf_detect,
	.bk_load = perf_load,
	.bk_step[PROF_STEP_ENABLE] = perf_enable,
	.bk_step[PROF_STEP_PAUSE] = perf_pause,
	.bk_fds = perf_fds,
	.bk_look = perf_look,
	.bk_next = perf_next,
	.bk_drain_until = perf_drain_until,
	.bk_step[PROF_STEP_STOP] = perf_stop,
	.bk_is_empty = perf_is_empty,
	.bk_account = perf_account,
	.bk_lost = perf_lost,
	.bk_side = perf_side,
	.bk_observe = perf_observe,
	.bk_step[PROF_STEP_END] = perf_end,
	.bk_close = perf_close,
};

const struct prof_backend prof_backend_maps = {
	.bk_name = "perf",
	.bk_flags = PROF_BACKEND_MAPS,
	.bk_load = maps_load,
	.bk_fds = perf_fds,
	.bk_look = perf_look,
	.bk_next = perf_next,
	.bk_drain_until = perf_drain_until,
	.bk_step[PROF_STEP_STOP] = perf_stop,
	.bk_is_empty = perf_is_empty,
	.bk_account = perf_account,
	.bk_side = perf_side,
	.bk_step[PROF_STEP_END] = perf_end,
	.bk_close = perf_close,
};
