/* SPDX-License-Identifier: ISC */
/*
 * Links of a session's programs: made, but not started; gone.  The one place
 * that knows the order of stopping.  Counters and timers are sampling.c's.
 *
 * Called by backend.c, after load.c has loaded the programs.  A counter sits on
 * a CPU or on a task; attaching starts nothing, since the state is still OFF.
 */
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "backend/bpf/bpf_impl.h"
#include "backend/bpf/wait.h"
#include "base/clock.h"
#include "base/error.h"
#include "events/instrument.h"
#include "os/permission.h"
#include "os/pmu_kinds.h"

#define DRAIN_PATIENCE_MS	1000

#define EXIT	"sched_process_exit"
#define TURN	"sched_switch"	/* only where timers are on tasks */

int
prof_fd_keep(int **fds, size_t *n, int fd)
{
	int *grown = reallocarray(*fds, *n + 1, sizeof(*grown));

	if (grown == NULL)
		return (-1);
	*fds = grown;
	grown[(*n)++] = fd;
	return (0);
}

static void
close_fds(int **fds, size_t *n)
{
	size_t i;

	for (i = 0; i < *n; i++)
		close((*fds)[i]);
	free(*fds);
	*fds = NULL;
	*n = 0;
}

/* Programs of one object that take turns with others on their tracepoints. */
static bool
is_apart(const char *tracepoint)
{
	return (strcmp(tracepoint, EXIT) == 0 ||
	    strcmp(tracepoint, TURN) == 0);
}

/* Programs that the recorder itself runs. */
static bool
is_called(const char *section)
{
	return (strncmp(section, "iter", 4) == 0 ||
	    strcmp(section, "syscall") == 0);
}

static int
attach_keep(struct prof_attacher *attacher, int link)
{
	struct prof_instance *instance = attacher->at_arg;

	if (prof_fd_keep(&instance->in_links, &instance->in_nlinks, link) == 0)
		return (0);
	close(link);
	return (prof_fail_nomem(attacher->at_error));
}

/* types: its section says where, for the types' sake. */
static int
attach_program(struct prof_attacher *attacher, int prog,
    const char *tracepoint, bool types)
{
	const struct prof_event *event = attacher->at_event;
	int fd = bpf_raw_tracepoint_open(types ? NULL : tracepoint, prog);

	if (fd < 0 && (fd == -ENOENT || errno == ENOENT))
		return (prof_fail(attacher->at_error, PROF_E_EVENT_UNSUPPORTED,
		    "%s: this kernel has no tracepoint %s", event->ev_name,
		    tracepoint));
	if (fd < 0)
		return (prof_bpf_explain(attacher->at_error, errno));
	return (attach_keep(attacher, fd));
}

/*
 * The programs of an object by their sections: those at one tracepoint, or
 * (NULL) at all but those of process events that are attached apart.
 */
static int
attach_sections(struct prof_attacher *attacher, const char *only)
{
	const struct prof_event *event = attacher->at_event;
	struct bpf_program *program;

	bpf_object__for_each_program(program, attacher->at_obj) {
		const char *section = bpf_program__section_name(program);
		const char *slash = strchr(section, '/');
		const char *tracepoint = slash != NULL ? slash + 1 :
		    event->ev_tracepoint;

		if (bpf_program__fd(program) < 0 ||
		    is_called(section) ||
		    (only != NULL ? strcmp(tracepoint, only) != 0 :
		    event->ev_id == 0 && is_apart(tracepoint)))
			continue;
		if (attach_program(attacher, bpf_program__fd(program),
		    tracepoint, strncmp(section, "tp_btf/", 7) == 0) == -1)
			return (-1);
	}
	return (0);
}

/* Where no child is followed, others need not pay for a probe. */
static struct prof_attacher
attacher_of(struct prof_bpf *bpf, const struct prof_event *event,
    struct prof_instance *instance)
{
	const struct prof_plan *plan = bpf->bp_plan;
	const struct prof_options *po = plan->pn_options;
	const bool alone = po->po_no_inherit || event->ev_is_alone;

	return ((struct prof_attacher){ .at_event = event,
	    .at_obj = instance->in_obj, .at_keep = attach_keep,
	    .at_pids = alone && po->po_target == PROF_TARGET_COMMAND ?
	    &plan->pn_command : po->po_ids, .at_npids = !alone ? 0 :
	    po->po_target == PROF_TARGET_COMMAND ? 1 : po->po_target ==
	    PROF_TARGET_PIDS || event->ev_is_alone ? po->po_nids : 0,
	    .at_error = bpf->bp_error, .at_arg = instance });
}

static int
attach_instance(struct prof_bpf *bpf, const struct prof_event *event,
    struct prof_instance *instance, const char *only)
{
	struct prof_attacher attacher = attacher_of(bpf, event, instance);

	if (instance->in_obj == NULL)
		return (0);
	if (event->ev_instrument->im_attach != NULL)
		return (event->ev_instrument->im_attach(event, &attacher));
	return (attach_sections(&attacher, only));
}

/* The second behind the first, whose mark it looks for. */
static int
attach_event(struct prof_bpf *bpf, const struct prof_event *event,
    const char *only)
{
	return (attach_instance(bpf, event, &bpf->bp_instance[event->ev_id],
	    only) == -1 ? -1 : attach_instance(bpf, event,
	    prof_bpf_second(bpf, event), only));
}

/*
 * Attaching starts nothing, since the state is still OFF.  Programs on one
 * tracepoint run in this order: the hook of exits, by which a process loses
 * its mappings, comes after the events there.
 */
int
prof_bpf_attach(struct prof_bpf *bpf)
{
	if (prof_clocks_attach(bpf) == -1)
		return (-1);
	for (size_t n = 0; n < bpf->bp_events->el_n; n++) {
		struct prof_event *event = bpf->bp_events->el_event[n];

		if (!event->ev_has_period &&
		    attach_event(bpf, event, NULL) == -1 &&
		    prof_bpf_refused(bpf, event) == -1)
			return (-1);
	}
	if (prof_bpf_check_refused(bpf) == -1)
		return (-1);
	return (attach_event(bpf, bpf->bp_events->el_event[0], EXIT) == -1 ?
	    -1 : prof_values_attach(bpf));
}

/*
 * Before a program stores its first record the drain knows the event; of one
 * that fails the links are gone again, but it may have fired.
 */
int
prof_bpf_join(struct prof_bpf *bpf, const struct prof_event *event)
{
	prof_drain_add(bpf->bp_drain, event);
	bpf->bp_nevents++;
	if ((event->ev_has_period ? prof_sampling_join(bpf, event) :
	    attach_event(bpf, event, NULL)) == 0)
		return (0);
	(void)prof_bpf_part(bpf, event);
	return (-1);
}

static void
detach_instance(struct prof_bpf *bpf, const struct prof_event *event,
    struct prof_instance *instance)
{
	struct prof_attacher attacher = attacher_of(bpf, event, instance);

	if (instance->in_obj != NULL &&
	    event->ev_instrument->im_detach != NULL)
		event->ev_instrument->im_detach(event, &attacher);
	close_fds(&instance->in_links, &instance->in_nlinks);
}

/* Until all that ran have left; calls that have not returned end here. */
int
prof_bpf_part(struct prof_bpf *bpf, const struct prof_event *event)
{
	if (event->ev_has_period)
		prof_sampling_part(bpf, event);
	detach_instance(bpf, event, &bpf->bp_instance[event->ev_id]);
	detach_instance(bpf, event, prof_bpf_second(bpf, event));
	bpf->bp_instance[event->ev_id].in_is_detached = true;
	if (!prof_clocks_wanted(bpf))
		close_fds(&bpf->bp_clocks.in_links, &bpf->bp_clocks.in_nlinks);
	if (prof_bpf_wait(bpf->bp_error) == -1)
		return (-1);
	return (event->ev_is_call ? prof_calls_count_of(bpf, event) :
	    prof_waits_end_of(bpf, event));
}

/* Instruments that go where files are mapped hear of it. */
int
prof_bpf_mapped(struct prof_bpf *bpf, const struct prof_record *record)
{
	int rv = 0;

	for (size_t n = 0; n < bpf->bp_nevents; n++) {
		const struct prof_event *event = bpf->bp_events->el_event[n];
		struct prof_attacher attacher;

		if (event->ev_instrument->im_on_mapping == NULL ||
		    bpf->bp_instance[n].in_is_detached)
			continue;
		attacher = attacher_of(bpf, event, &bpf->bp_instance[n]);
		if (event->ev_instrument->im_on_mapping(event, &attacher,
		    record) == -1)
			rv = -1;
	}
	return (rv);
}

/* It is the last of its links. */
int
prof_bpf_watch_turns(struct prof_bpf *bpf, bool on)
{
	struct prof_instance *tasks = &bpf->bp_instance[0];

	bpf->bp_watches_turns = on;
	if (on)
		return (attach_instance(bpf, bpf->bp_events->el_event[0],
		    tasks, TURN));
	close(tasks->in_links[--tasks->in_nlinks]);
	return (0);
}

/* Partners: the loads of co_state in filter.bpf.h and values.bpf.c. */
void
prof_bpf_state(struct prof_bpf *bpf, enum dtp_state state)
{
	__atomic_store_n(&bpf->bp_control->co_state, (uint32_t)state,
	    __ATOMIC_SEQ_CST);
}

/*
 * When it would have begun if it had never paused.  It is not made from the
 * time now: that is read later than the time at which it went on, perhaps by
 * milliseconds, for which timers would seem to be late.
 */
static uint64_t
start_ns(const struct prof_bpf *bpf)
{
	const struct prof_clock *clock = &bpf->bp_plan->pn_clock;

	return (clock->ck_start_ns + clock->ck_paused_ns);
}

/* The clock of timers goes on where it stood. */
void
prof_bpf_record(struct prof_bpf *bpf)
{
	struct dtp_control *control = bpf->bp_control;

	control->co_begun_ns = prof_clock_go_on(&bpf->bp_plan->pn_clock);
	control->co_start_ns = start_ns(bpf);
	if (!bpf->bp_place.pl_on_tasks && !prof_plan_is_exact(bpf->bp_plan))
		control->co_clock_ns = start_ns(bpf) +
		    bpf->bp_place.pl_clock_ns;
	prof_stall_begin(bpf);
	prof_bpf_state(bpf, DTP_RECORDING);
}

/* Timers go to all CPUs, and begin there. */
void
prof_bpf_clock(struct prof_bpf *bpf)
{
	bpf->bp_place.pl_clock_ns = prof_clock_ran_ns(&bpf->bp_plan->pn_clock);
	__atomic_store_n(&bpf->bp_control->co_clock_ns,
	    start_ns(bpf) + bpf->bp_place.pl_clock_ns, __ATOMIC_RELAXED);
}

const struct dtp_counts *
prof_bpf_counts(const struct prof_bpf *bpf, uint32_t cpu, uint32_t event)
{
	return (&bpf->bp_counts[(size_t)cpu * bpf->bp_room + event]);
}

/* How often the kernel skipped the programs of an instance. */
static uint64_t
runs_skipped(const struct prof_instance *in)
{
	struct bpf_prog_info info;
	uint64_t sum = 0;
	uint32_t length;

	for (int n = 0; n < in->in_nprogs; n++) {
		memset(&info, 0, sizeof(info));
		length = sizeof(info);
		if (bpf_obj_get_info_by_fd(in->in_prog[n], &info, &length) ==
		    0)
			sum += info.recursion_misses;
	}
	return (sum);
}

/*
 * Of calls it is known whose returns were missed.  Of two programs on a
 * tracepoint what was missed the second one was skipped for, and the first
 * one, too.
 */
static uint64_t
returns_missed(const struct prof_bpf *bpf, const struct prof_event *event)
{
	const struct prof_instance *second = prof_bpf_second(bpf, event);
	uint64_t unseen = 0, kept = 0, all;

	for (uint32_t cpu = 0; cpu < bpf->bp_ncpus; cpu++) {
		const struct dtp_counts *cn = prof_bpf_counts(bpf, cpu,
		    event->ev_id);

		unseen += cn->cn_call_unseen;
		kept += cn->cn_twice_kept;
	}
	if (event->ev_is_call)
		return (unseen);
	if (second->in_obj == NULL)
		return (runs_skipped(&bpf->bp_instance[event->ev_id]));
	all = runs_skipped(second);
	return (all > kept ? all - kept : 0);
}

static void
read_missed(struct prof_bpf *bpf)
{
	for (uint32_t e = 0; e < bpf->bp_nevents; e++)
		bpf->bp_missed[e] = returns_missed(bpf,
		    bpf->bp_events->el_event[e]);
}

void
prof_bpf_detach(struct prof_bpf *bpf)
{
	uint32_t e;

	for (e = 0; bpf->bp_instance != NULL && e < 2 * bpf->bp_room;
	    e++) {
		struct prof_instance *in = &bpf->bp_instance[e];

		close_fds(&in->in_links, &in->in_nlinks);
		close_fds(&in->in_perf, &in->in_nperf);
		free(in->in_perf_cpu);
		in->in_perf_cpu = NULL;
	}
	close_fds(&bpf->bp_clocks.in_links, &bpf->bp_clocks.in_nlinks);
}

/* All programs that have begun have also ended. */
static bool
all_left(const struct prof_bpf *bpf)
{
	uint32_t n;

	for (n = 0; n < bpf->bp_ncpus; n++)
		if (__atomic_load_n(&bpf->bp_streams[n].ss_state,
		    __ATOMIC_ACQUIRE) & DTP_WRITERS_MASK)
			return (false);
	for (n = 0; n < bpf->bp_ncpus * bpf->bp_room; n++) {
		const volatile struct dtp_counts *cn = &bpf->bp_counts[n];

		if (cn->cn_fired != cn->cn_stored + cn->cn_full +
		    cn->cn_nested + cn->cn_filtered + cn->cn_error)
			return (false);
	}
	return (true);
}

/* Waits that have not ended, and, at stop, calls that have not returned. */
static int
count_open(struct prof_bpf *bpf, bool is_stop)
{
	bool has_left = false;

	for (size_t n = 1; n < bpf->bp_events->el_n; n++) {
		const struct prof_event *event = bpf->bp_events->el_event[n];

		if (bpf->bp_instance[n].in_is_detached ||
		    (event->ev_is_call ? !is_stop :
		    event->ev_instrument->im_at_end == NULL))
			continue;
		/* First wait for BPF programs that still store entries. */
		if ((!has_left && prof_bpf_wait(bpf->bp_error) == -1) ||
		    (event->ev_is_call ? prof_calls_count_of(bpf, event) :
		    prof_waits_end_of(bpf, event)) == -1)
			return (-1);
		has_left = true;
	}
	return (0);
}

int
prof_bpf_pause(struct prof_bpf *bpf)
{
	int rv;

	prof_bpf_state(bpf, DTP_PAUSED);
	rv = prof_bpf_disable(bpf);
	return (count_open(bpf, false) == -1 ? -1 : rv);
}

int
prof_bpf_stop(struct prof_bpf *bpf)
{
	const struct timespec pause = { 0, 1000000 };
	int tries, rv;

	prof_bpf_state(bpf, DTP_STOPPED);
	rv = prof_bpf_disable(bpf);
	if (prof_bpf_turns(bpf) == -1)
		rv = -1;
	prof_bpf_read(bpf);
	if (count_open(bpf, true) == -1)
		rv = -1;
	prof_bpf_detach(bpf);
	if (prof_bpf_wait(bpf->bp_error) == -1)
		rv = -1;
	read_missed(bpf);
	for (tries = 0; !all_left(bpf); tries++) {
		if (tries == DRAIN_PATIENCE_MS)
			return (prof_fail(bpf->bp_error, PROF_E_KERNEL,
			    "a detached BPF program is still running"));
		nanosleep(&pause, NULL);
	}
	return (rv);
}
