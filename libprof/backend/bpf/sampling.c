/* SPDX-License-Identifier: ISC */
/*
 * The counters and timers that sample: opened, each with its program linked,
 * for CPUs or tasks; switched on and off; read; and replaced by others where
 * the rate is lowered.
 *
 * Called by attach.c, which has the programs of tracepoints and the order of
 * stopping, and by overhead.c.
 */
#include <sys/ioctl.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "confine/privilege.h"
#include "os/permission.h"
#include "os/pmu_kinds.h"
#include "session/session_impl.h"

#define SETTLE_NS	2000000	/* from a start to its report, and more */
#define SETTLE_TRIES	5

static void	successor_drop(struct prof_instance *);

int
prof_bpf_keep_perf(struct prof_session *session,
    const struct prof_event *event, int fd, int cpu)
{
	struct prof_instance *instance =
	    &session->se_bpf.bp_instance[event->ev_id];
	size_t ncpus = instance->in_nperf;

	if (prof_fd_keep(&instance->in_perf_cpu, &ncpus, cpu) == -1 ||
	    prof_fd_keep(&instance->in_perf, &instance->in_nperf, fd) == -1) {
		close(fd);
		return (prof_fail_nomem(&session->se_error));
	}
	return (0);
}

/* Opened disabled; -1: explained. */
static int
open_one(struct prof_session *session, const struct prof_event *event,
    uint64_t slower, int pid, int cpu)
{
	struct perf_event_attr attr = event->ev_attr;
	int fd;

	if (attr.freq && slower > 1)
		attr.sample_freq /= slower;
	else if (slower > 1)
		attr.sample_period *= slower;
	prof_pmu_choose(prof_names_kinds(session->se_names), &attr, cpu);
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
	    PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (session->se_options.po_target == PROF_TARGET_COMMAND &&
	    pid != -1 && session->se_state == PROF_INIT)
		attr.enable_on_exec = !session->se_options.po_start_paused;
	/* What it starts from now on has it, too, with the same program. */
	if (pid != -1 && session->se_place.pl_on_tasks) {
		attr.inherit = 1;
		attr.inherit_thread = session->se_options.po_no_inherit != 0;
	}
	fd = prof_perf_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd == -1)
		return (prof_perf_explain(&session->se_error, event, errno,
		    pid, cpu));
	return (fd);
}

/* One counter: its program linked, not started. */
static int
attach_one(struct prof_session *session, const struct prof_event *event,
    int pid, int cpu)
{
	struct prof_instance *instance =
	    &session->se_bpf.bp_instance[event->ev_id];
	const int fd = open_one(session, event, instance->in_slower, pid,
	    cpu);
	int link;

	if (fd == -1 || prof_bpf_keep_perf(session, event, fd, cpu) == -1)
		return (-1);
	link = bpf_link_create(instance->in_prog[0], fd, BPF_PERF_EVENT,
	    NULL);
	if (link < 0)
		return (prof_bpf_explain(&session->se_error, errno));
	if (prof_fd_keep(&instance->in_links, &instance->in_nlinks, link) ==
	    -1) {
		close(link);
		return (prof_fail_nomem(&session->se_error));
	}
	return (0);
}

/* A task moves to where its counter does not count. */
static int
say_partial(struct prof_session *session, const struct prof_event *event)
{
	const struct prof_options *po = &session->se_options;
	char text[256];

	if (po->po_target != PROF_TARGET_TIDS &&
	    (po->po_target != PROF_TARGET_COMMAND || !po->po_no_inherit))
		return (0);
	if (!prof_pmu_partial(prof_names_kinds(session->se_names),
	    &event->ev_attr, text, sizeof(text)))
		return (0);
	return (prof_session_add_note(session, "%s %s: samples of the task on "
	    "other CPUs are missing; record a process or everything to get "
	    "them",
	    event->ev_name, text));
}

/* Calls fn for each task or CPU that gets a counter; nonzero ends it. */
static int
each_place(struct prof_session *session, const struct prof_event *event,
    int (*fn)(struct prof_session *, const struct prof_event *, int pid,
    int cpu))
{
	const struct prof_options *po = &session->se_options;
	const struct prof_pmu_kinds *kinds =
	    prof_names_kinds(session->se_names);
	int rv = 0;
	size_t n;

	if (po->po_target == PROF_TARGET_TIDS) {
		for (n = 0; rv == 0 && n < po->po_nids; n++)
			rv = fn(session, event, po->po_ids[n], -1);
		return (rv);
	}
	if (po->po_target == PROF_TARGET_COMMAND && po->po_no_inherit)
		return (fn(session, event, session->se_command.cm_pid, -1));
	if (event->ev_cpu >= 0)
		return (fn(session, event, -1, event->ev_cpu));
	for (n = 0; rv == 0 && n < session->se_ncpus; n++)
		if (prof_pmu_counts_on(kinds, &event->ev_attr,
		    session->se_cpus[n]))
			rv = fn(session, event, -1, session->se_cpus[n]);
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
attach_listed(struct prof_session *session, const struct prof_event *event,
    const struct prof_pidset *tasks)
{
	for (size_t n = 0; n < tasks->pt_cap; n++) {
		if (tasks->pt_slot[n] == 0 || attach_one(session, event,
		    (int)tasks->pt_slot[n], -1) == 0)
			continue;
		if (session->se_error.pe_code != PROF_E_TARGET)
			return (-1);
		memset(&session->se_error, 0, sizeof(session->se_error));
	}
	return (0);
}

/*
 * An event for each task of the target.  A task that is started by one whose
 * event is just being opened has inherited it or not, and nothing tells which:
 * so when any was started they are all opened anew.  1: that never ends.
 */
static int
attach_tasks(struct prof_session *session, const struct prof_event *event)
{
	struct prof_instance *in =
	    &session->se_bpf.bp_instance[event->ev_id];
	const struct timespec in_flight = { 0, SETTLE_NS };
	const size_t before = in->in_nperf;
	struct prof_pidset tasks = { 0 };
	int rv = 1;

	for (int tries = 0; rv == 1 && tries < SETTLE_TRIES; tries++) {
		close_some(in, before, in->in_nperf);
		in->in_forks_next = prof_place_forks(session);
		if (prof_place_list(session, &tasks) == -1 ||
		    attach_listed(session, event, &tasks) == -1)
			rv = -1;
		else if (session->se_options.po_target ==
		    PROF_TARGET_COMMAND && session->se_state == PROF_INIT)
			rv = 0;
		else {
			(void)nanosleep(&in_flight, NULL);
			rv = prof_place_forks(session) != in->in_forks_next;
		}
		prof_pidset_fini(&tasks);
	}
	return (rv);
}

/* 1: the tasks of the target do not stand still for long enough. */
static int
attach_perf(struct prof_session *session, const struct prof_event *event)
{
	if (say_partial(session, event) == -1)
		return (-1);
	if (session->se_place.pl_on_tasks && event->ev_cpu < 0)
		return (attach_tasks(session, event));
	return (each_place(session, event, attach_one));
}

static int
attach_all(struct prof_session *session)
{
	int rv = 0;

	for (size_t n = 0; rv == 0 && n < session->se_events.el_n; n++)
		if (session->se_events.el_event[n]->ev_kind ==
		    PROF_KIND_PERF)
			rv = attach_perf(session,
			    session->se_events.el_event[n]);
	return (rv);
}

static bool
has_timer(const struct prof_session *session)
{
	for (size_t n = 0; n < session->se_events.el_n; n++)
		if (session->se_events.el_event[n]->ev_is_timer)
			return (true);
	return (false);
}

int
prof_sampling_attach(struct prof_session *session)
{
	struct prof_bpf *bpf = &session->se_bpf;
	int rv = attach_all(session);

	if (rv != 0 && prof_place_give_up(session, rv)) {
		for (uint32_t e = 0; e < bpf->bp_nevents; e++)
			if (session->se_events.el_event[e]->ev_kind ==
			    PROF_KIND_PERF)
				close_some(&bpf->bp_instance[e], 0,
				    bpf->bp_instance[e].in_nperf);
		rv = attach_all(session);
	}
	for (uint32_t e = 0; e < bpf->bp_nevents; e++)
		bpf->bp_instance[e].in_forks =
		    bpf->bp_instance[e].in_forks_next;
	/* Where timers are armed at each turn: it bounds what is late. */
	if (rv == 0 && (session->se_place.pl_on_tasks || (has_timer(session) &&
	    prof_place_is_exact(session))))
		rv = prof_bpf_watch_turns(session, true);
	return (rv == 0 ? 0 : -1);
}

/* For a lower rate and another place events are opened anew. */
uint64_t
prof_sampling_caps(const struct prof_session *session)
{
	const bool may_reopen = session->se_options.po_max_overhead != 0 ||
	    prof_place_may_move(session);

	return (PROF_CAPS_BPF | (may_reopen && prof_perf_wants_admin() ?
	    PROF_CAPS_REOPEN : 0));
}

static int
try_one(struct prof_session *session, const struct prof_event *event,
    int pid, int cpu)
{
	const int fd = open_one(session, event, 1, pid, cpu);

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
prof_bpf_try(struct prof_session *session)
{
	size_t n;

	for (n = 0; n < session->se_events.el_n; n++) {
		const struct prof_event *event =
		    session->se_events.el_event[n];

		if (event->ev_kind == PROF_KIND_PERF &&
		    each_place(session, event, try_one) == -1)
			return (-1);
	}
	return (0);
}

/* Those that follow the leader of their group are switched with it. */
static bool
is_switched(const struct prof_session *session, uint32_t e)
{
	const struct prof_event *event = session->se_events.el_event[e];

	return (event->ev_kind != PROF_KIND_COUNTER ||
	    prof_values_is_first(session, event));
}

/* by_exec: leave out those on the task of a command, which start by it. */
static int
each_perf(struct prof_session *session, unsigned long request, bool by_exec)
{
	struct prof_bpf *bpf = &session->se_bpf;
	uint32_t e;
	size_t n;

	for (e = 0; e < bpf->bp_nevents; e++) {
		if (!is_switched(session, e) || (by_exec &&
		    bpf->bp_instance[e].in_nperf > 0 &&
		    bpf->bp_instance[e].in_perf_cpu[0] == -1))
			continue;
		for (n = 0; n < bpf->bp_instance[e].in_nperf; n++)
			if (ioctl(bpf->bp_instance[e].in_perf[n], request,
			    0) == -1)
				return (prof_fail(&session->se_error,
				    PROF_E_KERNEL, "%s: cannot switch it on or "
				    "off",
				    session->se_events.el_event[e]->ev_name));
	}
	return (0);
}

/*
 * Counters on a task of ours start by themselves, at its exec; after a pause
 * they are switched on as all others are.
 */
int
prof_bpf_enable(struct prof_session *session)
{
	return (each_perf(session, PERF_EVENT_IOC_ENABLE,
	    session->se_options.po_target == PROF_TARGET_COMMAND &&
	    session->se_state == PROF_ARMED));
}

int
prof_bpf_disable(struct prof_session *session)
{
	return (each_perf(session, PERF_EVENT_IOC_DISABLE, false));
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
count_of(const struct prof_session *session, uint32_t e, uint32_t row)
{
	return (&session->se_counts[(size_t)row *
	    session->se_bpf.bp_nevents + e]);
}

/* What the first counters of an event have counted, and theirs. */
static void
read_first(struct prof_session *session, uint32_t e, size_t upto)
{
	const struct prof_bpf *bpf = &session->se_bpf;
	const struct prof_instance *in = &bpf->bp_instance[e];
	const uint64_t times = in->in_slower > 1 ? in->in_slower : 1;
	struct prof_count *count;
	struct reading got;
	uint64_t forks;
	size_t n;

	for (n = 0; n < upto; n++) {
		if (!read_one(in, n, &got))
			continue;
		count = count_of(session, e, row_of(bpf, in, n));
		count->ct_value += got.value;
		count->ct_enabled_ns += got.enabled;
		count->ct_running_ns += got.running;
		count->ct_instances++;
		count->ct_periods += times;
	}
	/* Each task that was started meanwhile has an instance of its own. */
	if (upto == 0 || in->in_perf_cpu[0] != -1 ||
	    prof_place_is_exact(session))
		return;
	count = count_of(session, e, bpf->bp_ncpus);
	forks = prof_place_forks(session) - in->in_forks;
	count->ct_instances += (uint32_t)forks;
	count->ct_periods += forks * times;
}

/* Without a counter, of all the time that it was to count. */
static uint64_t
turned(const struct prof_session *session, uint32_t e, uint32_t row)
{
	const struct prof_bpf *bpf = &session->se_bpf;
	const struct prof_instance *in = &bpf->bp_instance[e];
	const struct prof_count *before = count_of(session, e, row);
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
prof_bpf_turns(struct prof_session *session)
{
	const struct prof_bpf *bpf = &session->se_bpf;
	struct prof_record record = { .pr_type = PROF_R_TURNS,
	    .pr_time_ns = session->se_stop_ns != 0 ? session->se_stop_ns :
	    prof_now_ns(), .pr_addr = session->se_turns_ns,
	    .pr_comm = "", .pr_path = "" };
	uint64_t *told, ns;
	uint32_t e, row;

	for (e = 1; e < bpf->bp_nevents; e++) {
		if (bpf->bp_instance[e].in_nperf == 0 || session->
		    se_events.el_event[e]->ev_attr.type == PERF_TYPE_SOFTWARE)
			continue;
		for (row = 0; row <= bpf->bp_ncpus; row++) {
			told = &count_of(session, e, row)->ct_told_ns;
			if ((ns = turned(session, e, row)) <= *told)
				continue;
			record.pr_event = e;
			record.pr_cpu = row < bpf->bp_ncpus ? row : 0;
			record.pr_weight = ns - *told;
			*told = ns;
			if (prof_session_take(session, &record) == -1)
				return (-1);
		}
	}
	session->se_turns_ns = record.pr_time_ns;
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
successor_open(struct prof_session *session, uint32_t e, uint64_t slower)
{
	struct prof_instance *in = &session->se_bpf.bp_instance[e];
	int rv;

	in->in_before = in->in_nperf;
	in->in_slower_before = in->in_slower;
	in->in_slower = slower;
	rv = attach_perf(session, session->se_events.el_event[e]);
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
successor_start(struct prof_session *session, uint32_t e)
{
	struct prof_instance *in = &session->se_bpf.bp_instance[e];

	(void)switch_some(in, 0, in->in_before, PERF_EVENT_IOC_DISABLE);
	if (switch_some(in, in->in_before, in->in_nperf,
	    PERF_EVENT_IOC_ENABLE) == 0)
		return (0);
	(void)switch_some(in, 0, in->in_before, PERF_EVENT_IOC_ENABLE);
	return (prof_fail(&session->se_error, PROF_E_KERNEL, "%s: cannot "
	    "switch it on or off", session->se_events.el_event[e]->ev_name));
}

/* The old ones are read and go. */
static void
predecessor_close(struct prof_session *session, uint32_t e)
{
	struct prof_instance *in = &session->se_bpf.bp_instance[e];
	const uint64_t slower = in->in_slower;

	in->in_slower = in->in_slower_before;
	read_first(session, e, in->in_before);
	close_some(in, 0, in->in_before);
	in->in_slower = slower;
	in->in_forks = in->in_forks_next;
}

int
prof_bpf_slow_down(struct prof_session *session, uint32_t e, uint64_t slower)
{
	struct prof_instance *in = &session->se_bpf.bp_instance[e];
	int rv = successor_open(session, e, slower);

	/* They are on CPUs then, where nothing has to stand still. */
	if (rv == 1) {
		if (prof_place_move(session, "tasks start faster than events "
		    "can be opened") == -1)
			return (-1);
		rv = successor_open(session, e, slower);
	}
	if (rv != 0)
		return (-1);
	if (successor_start(session, e) == -1) {
		successor_drop(in);
		return (-1);
	}
	predecessor_close(session, e);
	return (0);
}

static bool
is_moved(const struct prof_session *session, uint32_t e)
{
	const struct prof_event *event = session->se_events.el_event[e];

	return (event->ev_kind == PROF_KIND_PERF && event->ev_cpu < 0);
}

int
prof_bpf_move(struct prof_session *session)
{
	struct prof_bpf *bpf = &session->se_bpf;
	uint32_t e, opened;

	for (e = 0; e < bpf->bp_nevents; e++)
		if (is_moved(session, e) && successor_open(session, e,
		    bpf->bp_instance[e].in_slower) != 0)
			break;
	for (opened = e, e = 0; opened < bpf->bp_nevents && e < opened; e++)
		if (is_moved(session, e))
			successor_drop(&bpf->bp_instance[e]);
	if (opened < bpf->bp_nevents)
		return (1);
	prof_bpf_clock(session);
	for (e = 0; e < bpf->bp_nevents; e++)
		if (is_moved(session, e) && successor_start(session, e) == -1)
			return (-1);
	for (e = 0; e < bpf->bp_nevents; e++)
		if (is_moved(session, e))
			predecessor_close(session, e);
	return (prof_bpf_watch_turns(session, false));
}

void
prof_bpf_read(struct prof_session *session)
{
	for (uint32_t e = 0; e < session->se_bpf.bp_nevents; e++)
		read_first(session, e, session->se_bpf.bp_instance[e].in_nperf);
}
