/* SPDX-License-Identifier: ISC */
/*
 * The BPF back end as a session sees it: fills the interface of backend.h
 * from the files beside this one, in their order.
 *
 * Start switches counters on and then flips the one word that makes programs
 * store samples; pause and stop flip it first.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "backend/bpf/bpf_impl.h"
#include "base/clock.h"
#include "base/error.h"
#include "events/instrument.h"
#include "os/permission.h"
#include "process/languages/language.h"

#define SECOND_NS	1000000000ULL
#define UNWIND_MAX	(256ULL << 20)
#define MOST_AT_ONCE	8	/* times slower in one step */
#define LOWEST_HZ	10
#define MISSING_LEAST	10	/* samples without script frames */

static void	bpf_close(void *);

static bool
bpf_detect(const struct prof_plan *plan, struct prof_err *why)
{
	(void)plan;
	return (prof_bpf_usable(why));
}

static void
bpf_init(struct prof_bpf *bpf, struct prof_plan *plan)
{
	bpf->bp_plan = plan;
	bpf->bp_events = plan->pn_events;
	bpf->bp_error = plan->pn_error;
	bpf->bp_ring_bytes = plan->pn_ring_bytes;
	bpf->bp_stats_fd = -1;
}

static int
bpf_try(struct prof_plan *plan)
{
	struct prof_bpf bpf = { 0 };

	bpf_init(&bpf, plan);
	return (prof_values_check(&bpf) == -1 ? -1 : prof_bpf_try(&bpf));
}

/* ------------------------------------------------------------ make it */

/* Tables for user stacks, unless frame pointers were asked for. */
static int
open_unwind(struct prof_bpf *bpf)
{
	const struct prof_plan *plan = bpf->bp_plan;
	const uint64_t max_bytes = plan->pn_options->po_unwind_bytes;
	int fds[PROF_UNWIND_FDS];

	if (plan->pn_options->po_callgraph != PROF_CALLGRAPH_AUTO)
		return (0);
	prof_bpf_unwind_fds(bpf, fds);
	bpf->bp_unwind = prof_unwind_new(fds, bpf->bp_ncpus,
	    max_bytes != 0 ? max_bytes : UNWIND_MAX, plan->pn_broker,
	    bpf->bp_error);
	return (bpf->bp_unwind == NULL ? -1 : 0);
}

static int
programs_make(struct prof_bpf *bpf)
{
	if (prof_bpf_load(bpf) == -1 || prof_bpf_attach(bpf) == -1 ||
	    open_unwind(bpf) == -1)
		return (-1);
	bpf->bp_own = calloc((size_t)(bpf->bp_ncpus + 1) * bpf->bp_room,
	    sizeof(*bpf->bp_own));
	bpf->bp_missed = calloc(bpf->bp_room, sizeof(*bpf->bp_missed));
	bpf->bp_waited = prof_waited_new();
	if (bpf->bp_own == NULL || bpf->bp_missed == NULL ||
	    bpf->bp_waited == NULL)
		return (prof_fail_nomem(bpf->bp_error));
	if (prof_calls_init(bpf) == -1 ||
	    (bpf->bp_drain = prof_drain_new(bpf)) == NULL ||
	    prof_gaps_init(bpf) == -1 ||
	    prof_host_number(bpf->bp_plan, "buffer_bytes",
	    bpf->bp_ring_bytes) == -1)
		return (-1);
	/* From here on forks of targets are entered by the hook. */
	prof_bpf_state(bpf, DTP_ARMED);
	return (0);
}

static void *
bpf_load(struct prof_plan *plan)
{
	struct prof_bpf *bpf = calloc(1, sizeof(*bpf));

	if (bpf == NULL) {
		prof_fail_nomem(plan->pn_error);
		return (NULL);
	}
	bpf_init(bpf, plan);
	if (programs_make(bpf) == 0)
		return (bpf);
	bpf_close(bpf);
	return (NULL);
}

/* Where the programs look.  What the hook has entered meanwhile stands. */
static void
bpf_enter(void *state, uint32_t id, bool waits_for_exec)
{
	struct prof_bpf *bpf = state;
	uint8_t *at = &bpf->bp_targets->tg_how[id & (DTP_TASK_IDS - 1)];
	uint8_t none = 0;

	__atomic_compare_exchange_n(at, &none, waits_for_exec ? DTP_TG_WAIT :
	    DTP_TG_ACTIVE, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static int
bpf_arm(void *state)
{
	return (prof_place_begin(state));
}

static int
bpf_ready(void *state)
{
	struct prof_bpf *bpf = state;

	if (prof_place_choose(bpf) == -1 || prof_sampling_attach(bpf) == -1)
		return (-1);
	bpf->bp_phase = PROF_BPF_READY;
	return (0);
}

static void
bpf_close(void *state)
{
	struct prof_bpf *bpf = state;

	if (bpf->bp_stats_fd >= 0)
		close(bpf->bp_stats_fd);
	prof_drain_free(bpf->bp_drain);
	prof_calls_fini(bpf);
	free(bpf->bp_gaps);
	prof_unwind_free(bpf->bp_unwind);
	prof_place_fini(&bpf->bp_place);
	free(bpf->bp_own);
	free(bpf->bp_missed);
	prof_bpf_fini(bpf);
	free(bpf);
}

/* ---------------------------------------------------------- run it */

/* At the start, also at one in a pause. */
static void
turns_begin(struct prof_bpf *bpf)
{
	if (bpf->bp_phase != PROF_BPF_READY)
		return;
	bpf->bp_turns_ns = prof_now_ns();
	if (bpf->bp_unwind != NULL)
		prof_unwind_begin(bpf->bp_unwind);
}

static int
bpf_enable(void *state)
{
	struct prof_bpf *bpf = state;

	turns_begin(bpf);
	if (prof_bpf_enable(bpf) == -1)
		return (-1);
	prof_bpf_record(bpf);
	bpf->bp_phase = PROF_BPF_RECORDING;
	return (0);
}

static int
bpf_pause(void *state)
{
	struct prof_bpf *bpf = state;

	turns_begin(bpf);
	bpf->bp_phase = PROF_BPF_PAUSED;
	return (prof_bpf_pause(bpf));
}

static size_t
bpf_fds(const void *state, const int **fds)
{
	const struct prof_bpf *bpf = state;

	*fds = bpf->bp_fds;
	return (bpf->bp_fds[1] == -1 ? 1 : 2);
}

static int
bpf_look(void *state, uint64_t handed_ns, uint64_t *until_ns, unsigned *fill)
{
	struct prof_bpf *bpf = state;

	prof_bpf_wakeup_clear(bpf);
	if (prof_drain_look(bpf->bp_drain, handed_ns, until_ns) == -1)
		return (-1);
	*fill = prof_drain_fill(bpf->bp_drain);
	return (0);
}

static int
bpf_peek(void *state)
{
	struct prof_bpf *bpf = state;

	return (prof_drain_peek(bpf->bp_drain));
}

static uint64_t
bpf_next(const void *state)
{
	const struct prof_bpf *bpf = state;

	return (prof_drain_next(bpf->bp_drain));
}

static int
bpf_drain_until(void *state, uint64_t until_ns)
{
	const struct prof_bpf *bpf = state;

	return (prof_drain_until(bpf->bp_drain, until_ns));
}

static bool
bpf_is_empty(const void *state)
{
	const struct prof_bpf *bpf = state;

	return (prof_drain_empty(bpf->bp_drain));
}

static int
bpf_tend(void *state)
{
	struct prof_bpf *bpf = state;

	if (prof_stall_look(bpf) == -1 || prof_gaps_look(bpf) == -1)
		return (-1);
	/* In a pause, too, or the timer would end each wait at once. */
	if ((bpf->bp_phase == PROF_BPF_RECORDING &&
	    prof_place_look(bpf) == -1) || prof_wall_look(bpf) == -1)
		return (-1);
	return (bpf->bp_phase == PROF_BPF_STOPPED ||
	    prof_now_ns() - bpf->bp_turns_ns < SECOND_NS ? 0 :
	    prof_bpf_turns(bpf));
}

static int
bpf_look_at(void *state)
{
	return (prof_bpf_look(state));
}

static int
bpf_stop(void *state)
{
	struct prof_bpf *bpf = state;

	bpf->bp_phase = PROF_BPF_STOPPED;
	return (prof_bpf_stop(bpf));
}

static size_t
bpf_room(const void *state)
{
	const struct prof_bpf *bpf = state;

	return (bpf->bp_room - bpf->bp_nevents);
}

static int
bpf_attach(void *state, struct prof_event *event)
{
	struct prof_bpf *bpf = state;

	if (prof_bpf_load_one(bpf, event) == -1)
		return (-1);
	return (prof_bpf_join(bpf, event) == -1 ? 1 : 0);
}

static int
bpf_detach(void *state, struct prof_event *event)
{
	struct prof_bpf *bpf = state;

	if (bpf->bp_instance[event->ev_id].in_is_detached)
		return (prof_fail(bpf->bp_error, PROF_E_EMPTY,
		    "%s: the event is not attached", event->ev_name));
	return (prof_bpf_part(bpf, event));
}

static int
bpf_groups(const void *state, struct prof_groups *groups)
{
	return (prof_groups_read(state, groups));
}

static uint64_t
bpf_caps(const void *state)
{
	return (prof_sampling_caps(state));
}

/* ---------------------------------------------------------- stacks */

static int
bpf_observe(void *state, const struct prof_record *record)
{
	struct prof_bpf *bpf = state;

	if (bpf->bp_unwind != NULL &&
	    prof_unwind_observe(bpf->bp_unwind, record) == -1)
		return (prof_fail_nomem(bpf->bp_error));
	if (prof_waited_observe(bpf->bp_waited, record) == -1)
		return (prof_fail_nomem(bpf->bp_error));
	return (record->pr_type == PROF_R_MMAP ?
	    prof_bpf_mapped(bpf, record) : 0);
}

static int
bpf_renew(void *state, uint32_t pid, uint64_t time_ns, bool any_exec)
{
	const struct prof_bpf *bpf = state;

	if (bpf->bp_unwind == NULL || prof_unwind_renew(bpf->bp_unwind, pid,
	    time_ns, any_exec) == 0)
		return (0);
	return (prof_fail_nomem(bpf->bp_error));
}

static bool
bpf_publish(void *state)
{
	const struct prof_bpf *bpf = state;

	if (bpf->bp_unwind == NULL)
		return (false);
	return (prof_unwind_publish(bpf->bp_unwind) ||
	    (bpf->bp_phase == PROF_BPF_LOADED &&
	    !prof_unwind_ready(bpf->bp_unwind)));
}

/* ------------------------------------------------------------ cost */

static int
bpf_measure(void *state)
{
	struct prof_bpf *bpf = state;

	if (bpf->bp_stats_fd >= 0)
		close(bpf->bp_stats_fd);
	bpf->bp_stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return (bpf->bp_stats_fd < 0 ? -1 : 0);
}

/* Partner: the load in dtp_lives_most (prov_proc.bpf.c). */
static void
bpf_hold(void *state, bool is_held)
{
	struct prof_bpf *bpf = state;

	__atomic_store_n(&bpf->bp_control->co_lives_most, is_held ? 0 :
	    prof_bpf_lives_most(bpf), __ATOMIC_RELAXED);
}

/* What a trap costs is not in the statistics. */
static uint64_t
instance_spent_ns(const struct prof_instance *instance, uint64_t trap_ns)
{
	struct bpf_prog_info info;
	uint64_t sum = 0;
	uint32_t length;

	for (int n = 0; n < instance->in_nprogs; n++) {
		memset(&info, 0, sizeof(info));
		length = sizeof(info);
		if (bpf_obj_get_info_by_fd(instance->in_prog[n], &info,
		    &length) == 0)
			sum += info.run_time_ns + info.run_cnt * trap_ns;
	}
	return (sum);
}

static uint64_t
bpf_event_ns(const void *state, uint32_t event)
{
	const struct prof_bpf *bpf = state;
	const struct prof_event *of = bpf->bp_events->el_event[event];
	const uint64_t trap_ns = of->ev_instrument->im_trap_ns;

	return (instance_spent_ns(&bpf->bp_instance[event], trap_ns) +
	    instance_spent_ns(prof_bpf_second(bpf, of), trap_ns));
}

static uint64_t
bpf_clocks_ns(const void *state)
{
	const struct prof_bpf *bpf = state;

	return (instance_spent_ns(&bpf->bp_clocks, 0));
}

static uint64_t
bpf_spent_ns(const void *state)
{
	const struct prof_bpf *bpf = state;
	uint64_t sum = bpf_clocks_ns(state);

	for (uint32_t e = 0; e < bpf->bp_nevents; e++)
		sum += bpf_event_ns(state, e);
	return (sum);
}

/* Neither a rate of nothing, nor a number that does not fit. */
static uint64_t
rate_slowest(const struct prof_event *event)
{
	const struct perf_event_attr *attr = &event->ev_attr;

	if (!event->ev_has_period)
		return (0);
	if (attr->freq)
		return (attr->sample_freq / LOWEST_HZ);
	if (event->ev_is_timer)
		return (SECOND_NS / LOWEST_HZ / attr->sample_period);
	return (INT64_MAX / MOST_AT_ONCE / attr->sample_period);
}

static bool
has_rate(const struct prof_bpf *bpf, uint32_t e)
{
	return (bpf->bp_events->el_event[e]->ev_has_period &&
	    bpf->bp_instance[e].in_nperf != 0);
}

/* Reads the factors that all events have now. */
static void
slower_look(const struct prof_bpf *bpf, struct prof_slower *slower)
{
	slower->sl_reached = 0;
	for (uint32_t e = 1; e < bpf->bp_nevents; e++) {
		const uint64_t times =
		    prof_instance_slower(&bpf->bp_instance[e]);

		if (!has_rate(bpf, e))
			continue;
		slower->sl_is_uneven |= slower->sl_reached != 0 &&
		    times != slower->sl_reached;
		if (times > slower->sl_reached)
			slower->sl_reached = times;
	}
}

/* Returns how many events have another rate now. */
static int
bpf_change_rate(void *state, struct prof_slower *slower)
{
	struct prof_bpf *bpf = state;
	int done = 0;

	if (prof_plan_is_exact(bpf->bp_plan))
		return (0);
	for (uint32_t e = 1; e < bpf->bp_nevents && !slower->sl_failed; e++) {
		const uint64_t most = rate_slowest(bpf->bp_events->el_event[e]);
		const uint64_t wanted = slower->sl_wanted < most ?
		    slower->sl_wanted : most;

		if (!has_rate(bpf, e) || wanted == 0 ||
		    wanted == prof_instance_slower(&bpf->bp_instance[e]))
			continue;
		if (prof_bpf_change_rate(bpf, e, wanted) == -1)
			slower->sl_failed = true;
		else
			done++;
	}
	slower_look(bpf, slower);
	return (done);
}

/* ------------------------------------------------------------- end */

static int
say_snapshots(const struct prof_bpf *bpf)
{
	const struct prof_plan *plan = bpf->bp_plan;
	uint64_t taken = 0, refused = 0, cut = 0;
	size_t n;

	if (plan->pn_snapshots == NULL)
		return (0);
	for (n = 0; n < (size_t)bpf->bp_ncpus * bpf->bp_room; n++) {
		taken += bpf->bp_counts[n].cn_snapshots;
		refused += bpf->bp_counts[n].cn_snap_late;
		cut += bpf->bp_counts[n].cn_snap_cut;
	}
	return (prof_host_number(plan, "snapshots.taken", taken) == -1 ||
	    prof_host_number(plan, "snapshots.refused", refused) == -1 ||
	    prof_host_number(plan, "snapshots.cut", cut) == -1 ? -1 : 0);
}

/*
 * Warn if at least a tenth of the samples of a known interpreter have no script
 * frames.  A few such samples are normal: a frame was read while it was made.
 */
static int
say_missing(const struct prof_bpf *bpf,
    const struct prof_unwind_runtime *of)
{
	const struct prof_language *language;

	if (of->ur_missing < MISSING_LEAST ||
	    of->ur_missing < of->ur_samples / 10)
		return (0);
	language = prof_language_at(of->ur_runtime->rt_language);
	return (prof_host_note(bpf->bp_plan, "functions of %s (%s) are "
	    "missing from %llu of %llu samples: dtprof found no script "
	    "frames at the usual address for this version of the "
	    "interpreter; %s", of->ur_runtime->rt_name,
	    of->ur_path, (unsigned long long)of->ur_missing,
	    (unsigned long long)of->ur_samples, language->la_instead));
}

/*
 * Interpreters that were met and whose functions are not shown: a note of those
 * that something can be done about, since many programs contain one and run no
 * script.
 */
static int
say_runtimes(const struct prof_bpf *bpf)
{
	struct prof_unwind_runtime of;
	const char *advice;
	char others[2048] = "functions of ";
	const size_t begin = strlen(others);
	size_t used = begin;
	uint32_t n = 0;

	while (prof_unwind_runtime(bpf->bp_unwind, &n, &of)) {
		if (of.ur_runtime->rt_is_known) {
			if (say_missing(bpf, &of) == -1)
				return (-1);
			continue;
		}
		advice = prof_runtime_advice(of.ur_runtime);
		if (advice[0] == '\0' && used < sizeof(others))
			used += (size_t)snprintf(others + used,
			    sizeof(others) - used, "%s%s (%s)", used == begin ?
			    "" : ", ", of.ur_runtime->rt_name, of.ur_path);
		if (advice[0] != '\0' && prof_host_note(bpf->bp_plan,
		    "functions of %s (%s) are not shown%s",
		    of.ur_runtime->rt_name, of.ur_path, advice) == -1)
			return (-1);
	}
	return (used == begin ? 0 : prof_host_info(bpf->bp_plan,
	    "unwind.interpreters", others));
}

/* What it took to walk stacks by tables. */
static int
say_unwind(const struct prof_bpf *bpf)
{
	const struct prof_plan *plan = bpf->bp_plan;
	struct prof_unwind_stats stats;

	if (bpf->bp_unwind == NULL)
		return (0);
	prof_unwind_stats(bpf->bp_unwind, &stats);
	if (stats.us_refused > 0 && prof_host_note(plan,
	    "the BPF program can unwind the code of at most 8190 files at "
	    "once: stacks in the code of %llu more mapped files were unwound "
	    "in user space or not at all",
	    (unsigned long long)stats.us_refused) == -1)
		return (-1);
	if (stats.us_unchained > 0 && prof_host_note(plan, "more than %d "
	    "processes ran interpreters within a second: script functions of "
	    "the processes beyond this limit are not shown",
	    DTP_CHAINS - 1) == -1)
		return (-1);
	if (say_runtimes(bpf) == -1 ||
	    prof_host_number(plan, "unwind.modules", stats.us_modules) == -1 ||
	    prof_host_number(plan, "unwind.tables", stats.us_tables) == -1 ||
	    prof_host_number(plan, "unwind.bytes", stats.us_bytes) == -1 ||
	    prof_host_number(plan, "unwind.evicted", stats.us_evicted) == -1)
		return (-1);
	return (prof_host_number(plan, "unwind.calls", stats.us_calls));
}

static int
bpf_end(void *state)
{
	struct prof_bpf *bpf = state;

	return (say_snapshots(bpf) == -1 || say_unwind(bpf) == -1 ||
	    prof_clocks_note(bpf) == -1 ||
	    prof_describe_calls(bpf) == -1 ||
	    prof_describe_waits(bpf) == -1 ||
	    prof_describe_throttled(bpf) == -1 ||
	    prof_describe_wall(bpf) == -1 ? -1 : 0);
}

const struct prof_backend prof_backend_bpf = {
	.bk_name = "bpf",
	.bk_flags = PROF_BACKEND_ASKS,
	.bk_detect = bpf_detect,
	.bk_try = bpf_try,
	.bk_load = bpf_load,
	.bk_enter = bpf_enter,
	.bk_step[PROF_STEP_ARM] = bpf_arm,
	.bk_step[PROF_STEP_READY] = bpf_ready,
	.bk_step[PROF_STEP_ENABLE] = bpf_enable,
	.bk_step[PROF_STEP_PAUSE] = bpf_pause,
	.bk_fds = bpf_fds,
	.bk_room = bpf_room,
	.bk_attach = bpf_attach,
	.bk_detach = bpf_detach,
	.bk_look = bpf_look,
	.bk_peek = bpf_peek,
	.bk_next = bpf_next,
	.bk_drain_until = bpf_drain_until,
	.bk_step[PROF_STEP_TEND] = bpf_tend,
	.bk_step[PROF_STEP_LOOK] = bpf_look_at,
	.bk_step[PROF_STEP_STOP] = bpf_stop,
	.bk_is_empty = bpf_is_empty,
	.bk_account = prof_bpf_account,
	.bk_groups = bpf_groups,
	.bk_waiting = prof_bpf_waiting,
	.bk_lost = prof_bpf_lost,
	.bk_side = prof_bpf_side,
	.bk_observe = bpf_observe,
	.bk_renew = bpf_renew,
	.bk_publish = bpf_publish,
	.bk_measure = bpf_measure,
	.bk_spent_ns = bpf_spent_ns,
	.bk_event_ns = bpf_event_ns,
	.bk_clocks_ns = bpf_clocks_ns,
	.bk_hold = bpf_hold,
	.bk_change_rate = bpf_change_rate,
	.bk_step[PROF_STEP_END] = bpf_end,
	.bk_caps = bpf_caps,
	.bk_close = bpf_close,
};
