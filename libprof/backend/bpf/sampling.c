/* SPDX-License-Identifier: ISC */
/*
 * The counters and timers that sample: opened, each with its program linked,
 * for CPUs or tasks; switched on and off; read; and replaced by others where
 * the rate is lowered.
 *
 * Called by backend.c and place.c, and by attach.c, which has the programs of
 * tracepoints and the order of stopping.
 */
#include <sys/ioctl.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "backend/bpf/bpf_impl.h"
#include "base/clock.h"
#include "base/error.h"
#include "confine/privilege.h"
#include "os/permission.h"
#include "os/pmu_kinds.h"

#define SETTLE_NS	2000000	/* from a start to its report, and more */
#define SETTLE_TRIES	5

static int	switch_some(const struct prof_instance *, size_t, size_t,
		    unsigned long);
static void	read_first(struct prof_bpf *, uint32_t, size_t);
static void	successor_drop(struct prof_instance *);

int
prof_bpf_keep_perf(struct prof_bpf *bpf,
    const struct prof_event *event, int fd, int cpu)
{
	struct prof_instance *instance =
	    &bpf->bp_instance[event->ev_id];
	size_t ncpus = instance->in_nperf;

	if (prof_fd_keep(&instance->in_perf_cpu, &ncpus, cpu) == -1 ||
	    prof_fd_keep(&instance->in_perf, &instance->in_nperf, fd) == -1) {
		close(fd);
		return (prof_fail_nomem(bpf->bp_error));
	}
	return (0);
}

/* Opened disabled; -1: explained. */
static int
open_one(struct prof_bpf *bpf, const struct prof_event *event,
    uint64_t slower, int pid, int cpu)
{
	struct perf_event_attr attr = event->ev_attr;
	int fd;

	if (attr.freq && slower > 1)
		attr.sample_freq /= slower;
	else if (slower > 1)
		attr.sample_period *= slower;
	prof_pmu_choose(prof_names_kinds(bpf->bp_plan->pn_names), &attr, cpu);
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
	    PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (bpf->bp_plan->pn_options->po_target == PROF_TARGET_COMMAND &&
	    pid != -1 && bpf->bp_phase == PROF_BPF_LOADED)
		attr.enable_on_exec =
		    !bpf->bp_plan->pn_options->po_start_paused;
	/* What it starts from now on has it, too, with the same program. */
	if (pid != -1 && bpf->bp_place.pl_on_tasks) {
		attr.inherit = 1;
		attr.inherit_thread =
		    bpf->bp_plan->pn_options->po_no_inherit != 0;
	}
	fd = prof_perf_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd == -1)
		return (prof_perf_explain(bpf->bp_error, event, errno,
		    pid, cpu));
	return (fd);
}

/* One counter: its program linked, not started. */
static int
attach_one(struct prof_bpf *bpf, const struct prof_event *event,
    int pid, int cpu)
{
	struct prof_instance *instance =
	    &bpf->bp_instance[event->ev_id];
	const int fd = open_one(bpf, event, instance->in_slower, pid,
	    cpu);
	int link;

	if (fd == -1 || prof_bpf_keep_perf(bpf, event, fd, cpu) == -1)
		return (-1);
	link = bpf_link_create(instance->in_prog[0], fd, BPF_PERF_EVENT,
	    NULL);
	if (link < 0)
		return (prof_bpf_explain(bpf->bp_error, errno));
	if (prof_fd_keep(&instance->in_links, &instance->in_nlinks, link) ==
	    -1) {
		close(link);
		return (prof_fail_nomem(bpf->bp_error));
	}
	return (0);
}

/* A task moves to where its counter does not count. */
static int
say_partial(struct prof_bpf *bpf, const struct prof_event *event)
{
	const struct prof_options *po = bpf->bp_plan->pn_options;
	char text[256];

	if (po->po_target != PROF_TARGET_TIDS &&
	    (po->po_target != PROF_TARGET_COMMAND || !po->po_no_inherit))
		return (0);
	if (!prof_pmu_partial(prof_names_kinds(bpf->bp_plan->pn_names),
	    &event->ev_attr, text, sizeof(text)))
		return (0);
	return (prof_host_note(bpf->bp_plan, "%s is %s: samples of the task on "
	    "other CPUs are missing; record a process (-p) or everything (-a) "
	    "to get these samples",
	    event->ev_name, text));
}

/* Calls fn for each task or CPU that gets a counter; nonzero ends it. */
static int
each_place(struct prof_bpf *bpf, const struct prof_event *event,
    int (*fn)(struct prof_bpf *, const struct prof_event *, int pid,
    int cpu))
{
	const struct prof_options *po = bpf->bp_plan->pn_options;
	const struct prof_pmu_kinds *kinds =
	    prof_names_kinds(bpf->bp_plan->pn_names);
	int rv = 0;
	size_t n;

	if (po->po_target == PROF_TARGET_TIDS) {
		for (n = 0; rv == 0 && n < po->po_nids; n++)
			rv = fn(bpf, event, po->po_ids[n], -1);
		return (rv);
	}
	if (po->po_target == PROF_TARGET_COMMAND && po->po_no_inherit)
		return (fn(bpf, event, bpf->bp_plan->pn_command, -1));
	if (event->ev_cpu >= 0)
		return (fn(bpf, event, -1, event->ev_cpu));
	for (n = 0; rv == 0 && n < bpf->bp_plan->pn_ncpus; n++)
		if (prof_pmu_counts_on(kinds, &event->ev_attr,
		    bpf->bp_plan->pn_cpus[n]))
			rv = fn(bpf, event, -1, bpf->bp_plan->pn_cpus[n]);
	return (rv);
}

/* Each counter has its link, at the same place; all from there on move up. */
static void
close_some(struct prof_instance *in, size_t from, size_t upto)
{
	const size_t gone = upto - from;
	size_t n;

	for (n = from; n < upto; n++)
		close(in->in_perf[n]);
	for (n = from; n < upto && n < in->in_nlinks; n++)
		close(in->in_links[n]);
	for (n = upto; n < in->in_nperf; n++) {
		in->in_perf[n - gone] = in->in_perf[n];
		in->in_perf_cpu[n - gone] = in->in_perf_cpu[n];
		in->in_links[n - gone] = in->in_links[n];
	}
	in->in_nperf -= gone;
	in->in_nlinks = in->in_nperf;
}

/* One that has ended meanwhile is left out. */
static int
attach_listed(struct prof_bpf *bpf, const struct prof_event *event,
    const struct prof_pidset *tasks)
{
	for (size_t n = 0; n < tasks->pt_cap; n++) {
		if (tasks->pt_slot[n] == 0 || attach_one(bpf, event,
		    (int)tasks->pt_slot[n], -1) == 0)
			continue;
		if (bpf->bp_error->pe_code != PROF_E_TARGET)
			return (-1);
		memset(bpf->bp_error, 0, sizeof(*bpf->bp_error));
	}
	return (0);
}

/*
 * An event for each task of the target.  A task that is started by one whose
 * event is just being opened has inherited it or not, and nothing tells which:
 * so when any was started they are all opened anew.  1: that never ends.
 */
static int
attach_tasks(struct prof_bpf *bpf, const struct prof_event *event)
{
	struct prof_instance *in =
	    &bpf->bp_instance[event->ev_id];
	const struct timespec in_flight = { 0, SETTLE_NS };
	const size_t before = in->in_nperf;
	struct prof_pidset tasks = { 0 };
	int rv = 1;

	for (int tries = 0; rv == 1 && tries < SETTLE_TRIES; tries++) {
		close_some(in, before, in->in_nperf);
		in->in_forks_next = prof_place_forks(bpf);
		if (prof_place_list(bpf, &tasks) == -1 ||
		    attach_listed(bpf, event, &tasks) == -1)
			rv = -1;
		else if (bpf->bp_plan->pn_options->po_target ==
		    PROF_TARGET_COMMAND && bpf->bp_phase == PROF_BPF_LOADED)
			rv = 0;
		else {
			(void)nanosleep(&in_flight, NULL);
			rv = prof_place_forks(bpf) != in->in_forks_next;
		}
		prof_pidset_fini(&tasks);
	}
	return (rv);
}

/* 1: the tasks of the target do not stand still for long enough. */
static int
attach_perf(struct prof_bpf *bpf, const struct prof_event *event)
{
	if (say_partial(bpf, event) == -1)
		return (-1);
	if (bpf->bp_place.pl_on_tasks && event->ev_cpu < 0)
		return (attach_tasks(bpf, event));
	return (each_place(bpf, event, attach_one));
}

static int
attach_all(struct prof_bpf *bpf)
{
	int rv = 0;

	for (size_t n = 0; rv == 0 && n < bpf->bp_events->el_n; n++)
		if (bpf->bp_events->el_event[n]->ev_has_period)
			rv = attach_perf(bpf,
			    bpf->bp_events->el_event[n]);
	return (rv);
}

static bool
has_timer(const struct prof_bpf *bpf)
{
	for (size_t n = 0; n < bpf->bp_events->el_n; n++)
		if (bpf->bp_events->el_event[n]->ev_is_timer)
			return (true);
	return (false);
}

int
prof_sampling_attach(struct prof_bpf *bpf)
{
	int rv = attach_all(bpf);

	if (rv != 0 && prof_place_give_up(bpf, rv)) {
		for (uint32_t e = 0; e < bpf->bp_nevents; e++)
			if (bpf->bp_events->el_event[e]->ev_has_period)
				close_some(&bpf->bp_instance[e], 0,
				    bpf->bp_instance[e].in_nperf);
		rv = attach_all(bpf);
	}
	for (uint32_t e = 0; e < bpf->bp_nevents; e++)
		bpf->bp_instance[e].in_forks =
		    bpf->bp_instance[e].in_forks_next;
	/* Where timers are armed at each turn: it bounds what is late. */
	if (rv == 0 && (bpf->bp_place.pl_on_tasks || (has_timer(bpf) &&
	    prof_plan_is_exact(bpf->bp_plan))))
		rv = prof_bpf_watch_turns(bpf, true);
	return (rv == 0 ? 0 : -1);
}

/*
 * A timer on CPUs is not late for what was recorded before it joined, but its
 * first firing may be.  On tasks the time of a turn is known.
 */
static void
join_clock(struct prof_bpf *bpf, const struct prof_event *event)
{
	struct prof_instance *in = &bpf->bp_instance[event->ev_id];

	if (!event->ev_is_timer || prof_plan_is_exact(bpf->bp_plan) ||
	    (bpf->bp_place.pl_on_tasks && event->ev_cpu < 0))
		return;
	in->in_joined_ns = prof_clock_ran_ns(&bpf->bp_plan->pn_clock) -
	    (event->ev_cpu < 0 ? bpf->bp_place.pl_clock_ns : 0);
	for (uint32_t cpu = 0; cpu < bpf->bp_ncpus; cpu++)
		bpf->bp_counts[(size_t)cpu * bpf->bp_room +
		    event->ev_id].cn_last_ns = in->in_joined_ns;
}

/* Where the others are; it is switched on where they are. */
int
prof_sampling_join(struct prof_bpf *bpf, const struct prof_event *event)
{
	struct prof_instance *in = &bpf->bp_instance[event->ev_id];
	int rv;

	prof_place_rates(bpf);
	rv = attach_perf(bpf, event);
	if (rv == 1 && prof_place_move(bpf, "tasks start faster than dtprof "
	    "can open events") == 0)
		rv = attach_perf(bpf, event);
	if (rv != 0)
		return (-1);
	in->in_forks = in->in_forks_next;
	if (event->ev_is_timer && prof_plan_is_exact(bpf->bp_plan) &&
	    !bpf->bp_watches_turns && prof_bpf_watch_turns(bpf, true) == -1)
		return (-1);
	join_clock(bpf, event);
	if (bpf->bp_phase != PROF_BPF_RECORDING)
		return (0);
	return (switch_some(in, 0, in->in_nperf, PERF_EVENT_IOC_ENABLE) == 0 ?
	    0 : prof_fail(bpf->bp_error, PROF_E_KERNEL,
	    "%s: cannot enable the event", event->ev_name));
}

void
prof_sampling_part(struct prof_bpf *bpf, const struct prof_event *event)
{
	struct prof_instance *in = &bpf->bp_instance[event->ev_id];

	(void)switch_some(in, 0, in->in_nperf, PERF_EVENT_IOC_DISABLE);
	read_first(bpf, event->ev_id, in->in_nperf);
	close_some(in, 0, in->in_nperf);
}

/* For a lower rate and another place events are opened anew. */
uint64_t
prof_sampling_caps(const struct prof_bpf *bpf)
{
	const bool may_reopen =
	    bpf->bp_plan->pn_options->po_max_overhead != 0 ||
	    prof_place_may_move(bpf);

	return (PROF_CAPS_BPF | (may_reopen && prof_perf_wants_admin() ?
	    PROF_CAPS_REOPEN : 0));
}

static int
try_one(struct prof_bpf *bpf, const struct prof_event *event,
    int pid, int cpu)
{
	const int fd = open_one(bpf, event, 1, pid, cpu);

	if (fd == -1)
		return (-1);
	close(fd);
	return (1);
}

/*
 * Whether there are such counters at all.  Asked before anything is started or
 * loaded, often in vain: where cycles are tried first, virtual machines have
 * none.
 */
int
prof_bpf_try(struct prof_bpf *bpf)
{
	size_t n;

	for (n = 0; n < bpf->bp_events->el_n; n++) {
		const struct prof_event *event =
		    bpf->bp_events->el_event[n];

		if (event->ev_has_period &&
		    each_place(bpf, event, try_one) == -1)
			return (-1);
	}
	return (0);
}

/* Those that follow the leader of their group are switched with it. */
static bool
is_switched(const struct prof_bpf *bpf, uint32_t e)
{
	const struct prof_event *event = bpf->bp_events->el_event[e];

	return (!event->ev_is_value ||
	    prof_values_is_first(bpf, event));
}

/* by_exec: leave out those on the task of a command, which start by it. */
static int
each_perf(struct prof_bpf *bpf, unsigned long request, bool by_exec)
{
	uint32_t e;
	size_t n;

	for (e = 0; e < bpf->bp_nevents; e++) {
		if (!is_switched(bpf, e) || (by_exec &&
		    bpf->bp_instance[e].in_nperf > 0 &&
		    bpf->bp_instance[e].in_perf_cpu[0] == -1))
			continue;
		for (n = 0; n < bpf->bp_instance[e].in_nperf; n++)
			if (ioctl(bpf->bp_instance[e].in_perf[n], request,
			    0) == -1)
				return (prof_fail(bpf->bp_error,
				    PROF_E_KERNEL, "%s: cannot enable or "
				    "disable the event",
				    bpf->bp_events->el_event[e]->ev_name));
	}
	return (0);
}

/*
 * Counters on a task of ours start by themselves, at its exec; after a pause
 * they are switched on as all others are.
 */
int
prof_bpf_enable(struct prof_bpf *bpf)
{
	return (each_perf(bpf, PERF_EVENT_IOC_ENABLE,
	    bpf->bp_plan->pn_options->po_target == PROF_TARGET_COMMAND &&
	    bpf->bp_phase == PROF_BPF_READY));
}

int
prof_bpf_disable(struct prof_bpf *bpf)
{
	return (each_perf(bpf, PERF_EVENT_IOC_DISABLE, false));
}

/* What a counter says of itself. */
struct reading {
	uint64_t	 value, enabled, running;
};

static bool
read_one(const struct prof_instance *in, size_t n, struct reading *got)
{
	return (read(in->in_perf[n], got, sizeof(*got)) ==
	    (ssize_t)sizeof(*got));
}

/* Its CPU; behind all of them, when it sits on a task. */
static uint32_t
row_of(const struct prof_bpf *bpf, const struct prof_instance *in, size_t n)
{
	return (in->in_perf_cpu[n] == -1 ? bpf->bp_ncpus :
	    (uint32_t)in->in_perf_cpu[n]);
}

static struct prof_count *
count_of(const struct prof_bpf *bpf, uint32_t e, uint32_t row)
{
	return (&bpf->bp_own[(size_t)row * bpf->bp_room + e]);
}

/*
 * A timer counts the time for which it is on.  The kernel's own count is wrong
 * if the kernel throttles the timer, as it does at short periods on an idle
 * CPU: it counted 0.2 to 3.6 s in one second, with a period of 50 us.
 */
static uint64_t
counted_of(const struct prof_bpf *bpf, uint32_t e, const struct reading *got)
{
	return (bpf->bp_events->el_event[e]->ev_is_timer ? got->running :
	    got->value);
}

/* What the first counters of an event have counted, and theirs. */
static void
read_first(struct prof_bpf *bpf, uint32_t e, size_t upto)
{
	const struct prof_instance *in = &bpf->bp_instance[e];
	const uint64_t times = prof_instance_slower(in);
	struct prof_count *count;
	struct reading got;
	uint64_t forks;
	size_t n;

	for (n = 0; n < upto; n++) {
		if (!read_one(in, n, &got))
			continue;
		count = count_of(bpf, e, row_of(bpf, in, n));
		count->ct_value += counted_of(bpf, e, &got);
		count->ct_enabled_ns += got.enabled;
		count->ct_running_ns += got.running;
		count->ct_instances++;
		count->ct_periods += times;
	}
	/* Each task that was started meanwhile has an instance of its own. */
	if (upto == 0 || in->in_perf_cpu[0] != -1 ||
	    prof_plan_is_exact(bpf->bp_plan))
		return;
	count = count_of(bpf, e, bpf->bp_ncpus);
	forks = prof_place_forks(bpf) - in->in_forks;
	count->ct_instances += (uint32_t)forks;
	count->ct_periods += forks * times;
}

/* Without a counter, of all the time that it was to count. */
static uint64_t
time_multiplexed(const struct prof_bpf *bpf, uint32_t e, uint32_t row)
{
	const struct prof_instance *in = &bpf->bp_instance[e];
	const struct prof_count *before = count_of(bpf, e, row);
	struct reading got;
	uint64_t ns = before->ct_enabled_ns - before->ct_running_ns;
	size_t n;

	for (n = 0; n < in->in_nperf; n++)
		if (row_of(bpf, in, n) == row && read_one(in, n, &got))
			ns += got.enabled - got.running;
	return (ns);
}

/* What the kernel counts itself always counts. */
int
prof_bpf_turns(struct prof_bpf *bpf)
{
	struct prof_record record = { .pr_type = PROF_R_TURNS,
	    .pr_time_ns = bpf->bp_plan->pn_clock.ck_stop_ns != 0 ?
	    bpf->bp_plan->pn_clock.ck_stop_ns :
	    prof_now_ns(), .pr_addr = bpf->bp_turns_ns,
	    .pr_comm = "", .pr_path = "" };
	uint64_t *told, ns;
	uint32_t e, row;

	for (e = 1; e < bpf->bp_nevents; e++) {
		if (bpf->bp_instance[e].in_nperf == 0 ||
		    bpf->bp_events->el_event[
		    e]->ev_attr.type == PERF_TYPE_SOFTWARE)
			continue;
		for (row = 0; row <= bpf->bp_ncpus; row++) {
			told = &count_of(bpf, e, row)->ct_told_ns;
			if ((ns = time_multiplexed(bpf, e, row)) <= *told)
				continue;
			record.pr_event = e;
			record.pr_cpu = row < bpf->bp_ncpus ? row : 0;
			record.pr_weight = ns - *told;
			*told = ns;
			if (prof_host_tell(bpf->bp_plan, &record) == -1)
				return (-1);
		}
	}
	bpf->bp_turns_ns = record.pr_time_ns;
	return (0);
}

static int
switch_some(const struct prof_instance *in, size_t from, size_t upto,
    unsigned long request)
{
	for (; from < upto; from++)
		if (ioctl(in->in_perf[from], request, 0) == -1)
			return (-1);
	return (0);
}

/*
 * Other counters take over, with another period or in another place: the
 * period of a clock which runs cannot be changed without the kernel naming the
 * old one in each sample.  First the others are opened; where that fails
 * all stays as it is.
 */
static int
successor_open(struct prof_bpf *bpf, uint32_t e, uint64_t slower)
{
	struct prof_instance *in = &bpf->bp_instance[e];
	int rv;

	in->in_before = in->in_nperf;
	in->in_slower_before = in->in_slower;
	in->in_slower = slower;
	rv = attach_perf(bpf, bpf->bp_events->el_event[e]);
	if (rv != 0)
		successor_drop(in);
	return (rv);
}

static void
successor_drop(struct prof_instance *in)
{
	in->in_slower = in->in_slower_before;
	close_some(in, in->in_before, in->in_nperf);
}

static int
successor_start(struct prof_bpf *bpf, uint32_t e)
{
	struct prof_instance *in = &bpf->bp_instance[e];

	(void)switch_some(in, 0, in->in_before, PERF_EVENT_IOC_DISABLE);
	if (switch_some(in, in->in_before, in->in_nperf,
	    PERF_EVENT_IOC_ENABLE) == 0)
		return (0);
	(void)switch_some(in, 0, in->in_before, PERF_EVENT_IOC_ENABLE);
	return (prof_fail(bpf->bp_error, PROF_E_KERNEL, "%s: cannot enable or "
	    "disable the event", bpf->bp_events->el_event[e]->ev_name));
}

/* The old ones are read and go. */
static void
predecessor_close(struct prof_bpf *bpf, uint32_t e)
{
	struct prof_instance *in = &bpf->bp_instance[e];
	const uint64_t slower = in->in_slower;

	in->in_slower = in->in_slower_before;
	read_first(bpf, e, in->in_before);
	close_some(in, 0, in->in_before);
	in->in_slower = slower;
	in->in_forks = in->in_forks_next;
}

int
prof_bpf_change_rate(struct prof_bpf *bpf, uint32_t e, uint64_t slower)
{
	struct prof_instance *in = &bpf->bp_instance[e];
	int rv = successor_open(bpf, e, slower);

	/* They are on CPUs then, where nothing has to stand still. */
	if (rv == 1) {
		if (prof_place_move(bpf, "tasks start faster than dtprof can "
		    "open events") == -1)
			return (-1);
		rv = successor_open(bpf, e, slower);
	}
	if (rv != 0)
		return (-1);
	if (successor_start(bpf, e) == -1) {
		successor_drop(in);
		return (-1);
	}
	predecessor_close(bpf, e);
	return (0);
}

static bool
is_moved(const struct prof_bpf *bpf, uint32_t e)
{
	const struct prof_event *event = bpf->bp_events->el_event[e];

	return (event->ev_has_period && event->ev_cpu < 0 &&
	    !bpf->bp_instance[e].in_is_detached);
}

int
prof_bpf_move(struct prof_bpf *bpf)
{
	uint32_t e, opened;

	for (e = 0; e < bpf->bp_nevents; e++)
		if (is_moved(bpf, e) && successor_open(bpf, e,
		    bpf->bp_instance[e].in_slower) != 0)
			break;
	for (opened = e, e = 0; opened < bpf->bp_nevents && e < opened; e++)
		if (is_moved(bpf, e))
			successor_drop(&bpf->bp_instance[e]);
	if (opened < bpf->bp_nevents)
		return (1);
	prof_bpf_clock(bpf);
	for (e = 0; e < bpf->bp_nevents; e++)
		if (is_moved(bpf, e) && successor_start(bpf, e) == -1)
			return (-1);
	for (e = 0; e < bpf->bp_nevents; e++)
		if (is_moved(bpf, e))
			predecessor_close(bpf, e);
	return (prof_bpf_watch_turns(bpf, false));
}

void
prof_bpf_read(struct prof_bpf *bpf)
{
	for (uint32_t e = 0; e < bpf->bp_nevents; e++)
		read_first(bpf, e, bpf->bp_instance[e].in_nperf);
}
