/* SPDX-License-Identifier: ISC */
/*
 * Where counters and timers sample.  On all CPUs they fire whoever runs, also
 * where the target does not: interrupts for others, and on idle CPUs.  On the
 * target's tasks they are armed at each of its switches, and a task that has
 * just been started holds back its first period.  So a target that switches
 * or starts tasks often is sampled on all CPUs, any other on its tasks.
 *
 * Called by backend.c and sampling.c, which opens and replaces the
 * events.  Begins with what /proc says of the target, looks again while
 * recording, and goes from tasks to CPUs, never back.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/bpf/bpf_impl.h"
#include "base/clock.h"
#include "base/error.h"
#include "os/cpus.h"
#include "os/pmu_kinds.h"
#include "os/procfs.h"

#define TASKS_MAX	256
#define FORKS_FREE	4	/* of a command that is started by a shell */
#define SHARE_HELD	100	/* 1 of so much time may be held back */
#define LOOK_NS		1000000000ULL
#define WATCH_NS	20000000ULL	/* at least, before choosing */
#define NS_PER_S	1e9
#define WHY		160
/* An arming costs so many samples of a CPU that runs something else. */
#define ARMING		0.5

/* How often a task came to a CPU, and for how long. */
struct prof_turns {
	uint32_t	 tu_tid;
	uint64_t	 tu_turns;
	uint64_t	 tu_run_ns;
};

/* What the target did since the last look. */
struct load {
	double		 ld_turns;	/* a second */
	double		 ld_busy;	/* CPUs, on average */
};

/* Partner: dtp_tell_place in prov_proc.bpf.c. */
uint64_t
prof_place_forks(const struct prof_bpf *bpf)
{
	return (__atomic_load_n(&bpf->bp_control->co_forks,
	    __ATOMIC_RELAXED));
}

/* By where the programs look: also who lost its parent is there. */
int
prof_place_list(const struct prof_bpf *bpf, struct prof_pidset *tasks)
{
	const uint8_t *how = bpf->bp_targets->tg_how;
	const long most = prof_proc_number("/proc/sys/kernel/pid_max",
	    DTP_TASK_IDS);
	uint64_t eight;

	for (long id = 0; id < most && id < DTP_TASK_IDS; id += 8) {
		memcpy(&eight, how + id, sizeof(eight));
		for (long n = id; eight != 0 && n < id + 8; n++)
			if (how[n] != 0 && (how[n] & DTP_TG_ENDED) == 0 &&
			    prof_pidset_add_threads(tasks, (int)n) == -1)
				return (-1);
	}
	return (0);
}

static void
read_turns(uint32_t tid, struct prof_turns *turns)
{
	char path[64], text[128];

	memset(turns, 0, sizeof(*turns));
	turns->tu_tid = tid;
	snprintf(path, sizeof(path), "/proc/%u/schedstat", tid);
	if (prof_proc_read(path, text, sizeof(text)) > 0)
		(void)sscanf(text, "%" SCNu64 " %*u %" SCNu64,
		    &turns->tu_run_ns, &turns->tu_turns);
}

static int
turns_order(const void *a, const void *b)
{
	const struct prof_turns *x = a, *y = b;

	return (x->tu_tid < y->tu_tid ? -1 : x->tu_tid > y->tu_tid);
}

/* Of all tasks now; load, or NULL: what came since the last look. */
static int
place_read(struct prof_bpf *bpf, struct load *load)
{
	struct prof_place *pl = &bpf->bp_place;
	struct prof_pidset tasks = { 0 };
	const uint64_t now_ns = prof_now_ns();
	const double elapsed_s = (double)(now_ns - pl->pl_looked_ns) / NS_PER_S;
	struct prof_turns *now, *was;
	size_t n, k = 0;

	if (prof_place_list(bpf, &tasks) == -1 ||
	    (now = calloc(tasks.pt_n + 1, sizeof(*now))) == NULL) {
		prof_pidset_fini(&tasks);
		return (prof_fail_nomem(bpf->bp_error));
	}
	for (n = 0; n < tasks.pt_cap; n++) {
		if (tasks.pt_slot[n] == 0)
			continue;
		read_turns(tasks.pt_slot[n], &now[k]);
		was = load == NULL ? NULL : bsearch(&now[k], pl->pl_turns,
		    pl->pl_nturns, sizeof(*was), turns_order);
		if (load != NULL) {
			load->ld_turns += (double)(now[k].tu_turns -
			    (was == NULL ? 0 : was->tu_turns)) / elapsed_s;
			load->ld_busy += (double)(now[k].tu_run_ns -
			    (was == NULL ? 0 : was->tu_run_ns)) / elapsed_s /
			    NS_PER_S;
		}
		k++;
	}
	prof_pidset_fini(&tasks);
	qsort(now, k, sizeof(*now), turns_order);
	free(pl->pl_turns);
	pl->pl_turns = now;
	pl->pl_nturns = k;
	pl->pl_looked_ns = now_ns;
	return (0);
}

/* What a CPU samples a second, and what a new task holds back at most. */
void
prof_place_rates(struct prof_bpf *bpf)
{
	struct prof_place *pl = &bpf->bp_place;
	double hz;
	size_t n;

	pl->pl_hz = 0;
	pl->pl_period_ns = 0;
	for (n = 1; n < bpf->bp_events->el_n; n++) {
		const struct prof_event *event =
		    bpf->bp_events->el_event[n];

		if (!event->ev_has_period || event->ev_cpu >= 0)
			continue;
		if (event->ev_attr.freq)
			hz = (double)event->ev_attr.sample_freq;
		else if (strcmp(event->ev_unit, "ns") == 0)
			hz = NS_PER_S / (double)event->ev_attr.sample_period;
		else {
			/* How much time that is nobody knows. */
			if (event->ev_attr.sample_period > 1)
				pl->pl_period_ns = UINT64_MAX;
			continue;
		}
		pl->pl_hz += hz;
		if (NS_PER_S / hz > (double)pl->pl_period_ns)
			pl->pl_period_ns = (uint64_t)(NS_PER_S / hz);
	}
}

/* Do tasks cost more?  Says so. */
static bool
costs_more(const struct prof_bpf *bpf, const struct load *load,
    char *why, size_t size)
{
	const struct prof_place *pl = &bpf->bp_place;
	double others = (double)bpf->bp_plan->pn_ncpus - load->ld_busy;
	bool is_more;

	others = others > 0 ? others * pl->pl_hz : 0;
	is_more = pl->pl_hz > 0 && load->ld_turns * ARMING > others;
	snprintf(why, size, "the target's context switches (%.0f/s) %s %.0f "
	    "samples/s on CPUs where the target does not run", load->ld_turns,
	    is_more ? "cost more than" : "cost less than", others);
	return (is_more);
}

/* Why there is no choice; NULL: there is. */
static const char *
only_cpus(const struct prof_bpf *bpf)
{
	const struct prof_options *po = bpf->bp_plan->pn_options;
	char text[256];
	size_t n;

	if (po->po_attach == PROF_ATTACH_CPUS)
		return ("by --attach");
	if (po->po_target == PROF_TARGET_ALL)
		return ("every process is recorded");
	if (po->po_target == PROF_TARGET_CGROUP)
		return ("a cgroup is recorded");
	if (po->po_target == PROF_TARGET_NAME)
		return ("the target has not started yet");
	if (bpf->bp_plan->pn_nvalues > 0)
		return ("--with opens counters per CPU, not per thread");
	for (n = 1; n < bpf->bp_events->el_n; n++)
		if (bpf->bp_events->el_event[n]->ev_has_period &&
		    prof_pmu_partial(prof_names_kinds(bpf->bp_plan->pn_names),
		    &bpf->bp_events->el_event[n]->ev_attr, text,
		    sizeof(text)))
			return ("an event is available only on some CPUs");
	return (NULL);
}

bool
prof_place_may_move(const struct prof_bpf *bpf)
{
	return (bpf->bp_place.pl_on_tasks &&
	    !bpf->bp_place.pl_is_forced);
}

static bool
has_events(const struct prof_bpf *bpf)
{
	for (size_t n = 1; n < bpf->bp_events->el_n; n++)
		if (bpf->bp_events->el_event[n]->ev_has_period &&
		    bpf->bp_events->el_event[n]->ev_cpu < 0)
			return (true);
	return (false);
}

int
prof_place_begin(struct prof_bpf *bpf)
{
	prof_place_rates(bpf);
	if (bpf->bp_plan->pn_options->po_target != PROF_TARGET_PIDS ||
	    only_cpus(bpf) != NULL || !has_events(bpf))
		return (0);
	return (place_read(bpf, NULL));
}

/* A running target is watched for a moment. */
static int
choose_running(struct prof_bpf *bpf, char *why)
{
	struct prof_place *pl = &bpf->bp_place;
	struct load load = { 0 };
	const struct timespec moment = { 0, WATCH_NS };

	if (pl->pl_nturns > TASKS_MAX) {
		snprintf(why, WHY, "the target has %zu threads, too "
		    "many to follow each thread (limit %d)",
		    pl->pl_nturns, TASKS_MAX);
		return (0);
	}
	if (prof_now_ns() - pl->pl_looked_ns < WATCH_NS)
		(void)nanosleep(&moment, NULL);
	if (place_read(bpf, &load) == -1)
		return (-1);
	pl->pl_on_tasks = !costs_more(bpf, &load, why, WHY);
	return (0);
}

int
prof_place_choose(struct prof_bpf *bpf)
{
	struct prof_place *pl = &bpf->bp_place;
	const struct prof_options *po = bpf->bp_plan->pn_options;
	const char *only = only_cpus(bpf);
	char why[WHY] = "";

	if (!has_events(bpf))
		return (0);
	pl->pl_on_tasks = false;
	pl->pl_is_forced = po->po_attach == PROF_ATTACH_TASKS;
	if (prof_plan_is_exact(bpf->bp_plan))
		snprintf(why, sizeof(why), "-t and --no-inherit record single "
		    "threads");
	else if (only != NULL)
		snprintf(why, sizeof(why), "%s", only);
	else if (pl->pl_is_forced || po->po_target == PROF_TARGET_COMMAND) {
		pl->pl_on_tasks = true;
		snprintf(why, sizeof(why), pl->pl_is_forced ? "by --attach" :
		    "a command starts with one task");
	} else if (choose_running(bpf, why) == -1)
		return (-1);
	pl->pl_since_ns = prof_now_ns();
	pl->pl_forks = prof_place_forks(bpf);
	bpf->bp_control->co_fork_wakeup =
	    prof_place_may_move(bpf);
	if (prof_host_info(bpf->bp_plan, "attach", pl->pl_on_tasks ||
	    prof_plan_is_exact(bpf->bp_plan) ? "tasks" : "cpus") == -1)
		return (-1);
	return (prof_host_info(bpf->bp_plan, "attach.why", why));
}

bool
prof_place_give_up(struct prof_bpf *bpf, int rv)
{
	struct prof_place *pl = &bpf->bp_place;
	struct prof_err why = *bpf->bp_error;

	if (!pl->pl_on_tasks)
		return (false);
	if (rv == 1) {
		prof_fail(&why, PROF_E_TARGET, "the target starts tasks faster "
		    "than dtprof can open events");
		prof_cure(&why, "use --attach cpus");
		*bpf->bp_error = why;
	}
	if (pl->pl_is_forced)
		return (false);
	pl->pl_on_tasks = false;
	bpf->bp_control->co_fork_wakeup = 0;
	memset(bpf->bp_error, 0, sizeof(*bpf->bp_error));
	return (prof_host_info(bpf->bp_plan, "attach", "cpus") == 0 &&
	    prof_host_info(bpf->bp_plan, "attach.why", why.pe_text) == 0);
}

int
prof_place_move(struct prof_bpf *bpf, const char *why)
{
	struct prof_place *pl = &bpf->bp_place;
	char text[WHY + 64];
	int rv;

	pl->pl_on_tasks = false;
	bpf->bp_control->co_fork_wakeup = 0;
	rv = prof_bpf_move(bpf);
	if (rv == -1)
		return (-1);
	if (rv == 1) {
		pl->pl_on_tasks = true;
		pl->pl_is_stuck = true;
		return (prof_host_note(bpf->bp_plan, "cannot move events "
		    "from the target's tasks to CPUs: %s",
		    bpf->bp_error->pe_text));
	}
	snprintf(text, sizeof(text), "counters moved to all CPUs after "
	    "%.3f s: %s", (double)pl->pl_clock_ns / NS_PER_S, why);
	return (prof_host_info(bpf->bp_plan, "attach.moved", text));
}

/* How much of what new tasks hold back is no longer little. */
static bool
forks_too_often(const struct prof_bpf *bpf, uint64_t forks,
    uint64_t now_ns)
{
	const struct prof_place *pl = &bpf->bp_place;

	if (pl->pl_period_ns == 0)
		return (false);
	return (forks > FORKS_FREE + (now_ns - pl->pl_since_ns) /
	    SHARE_HELD / pl->pl_period_ns);
}

/* Its samples are missing from the exec to here, or to the end. */
static int
place_bared(struct prof_bpf *bpf)
{
	if (!bpf->bp_place.pl_is_forced)
		return (prof_place_move(bpf, "the kernel removed the events of "
		    "a set-user-ID or unreadable program"));
	bpf->bp_place.pl_is_stuck = true;
	return (prof_host_note(bpf->bp_plan, "the kernel removed the events of "
	    "a set-user-ID or unreadable program: samples of this program are "
	    "missing; use --attach cpus"));
}

int
prof_place_look(struct prof_bpf *bpf)
{
	struct prof_place *pl = &bpf->bp_place;
	const uint64_t now_ns = prof_now_ns();
	struct load load = { 0 };
	char why[WHY];
	uint64_t forks;

	if (!pl->pl_on_tasks || pl->pl_is_stuck)
		return (0);
	if (__atomic_load_n(&bpf->bp_control->co_bared,
	    __ATOMIC_RELAXED) != 0)
		return (place_bared(bpf));
	if (pl->pl_is_forced)
		return (0);
	forks = prof_place_forks(bpf) - pl->pl_forks;
	if (forks_too_often(bpf, forks, now_ns)) {
		snprintf(why, sizeof(why), "the target started %" PRIu64 " "
		    "tasks, and a new task is not sampled in its first period",
		    forks);
		return (prof_place_move(bpf, why));
	}
	if (now_ns - pl->pl_looked_ns < LOOK_NS)
		return (0);
	if (pl->pl_looked_ns == 0)
		return (place_read(bpf, NULL));
	if (place_read(bpf, &load) == -1)
		return (-1);
	return (costs_more(bpf, &load, why, sizeof(why)) ?
	    prof_place_move(bpf, why) : 0);
}

void
prof_place_fini(struct prof_place *pl)
{
	free(pl->pl_turns);
	memset(pl, 0, sizeof(*pl));
}
