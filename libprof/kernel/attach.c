/* SPDX-License-Identifier: ISC */
/*
 * Links and counters of a session: made, but not started; started; stopped
 * and read; gone.  The one place that knows the order of stopping.
 *
 * Called by session.c and arm.c, prof_bpf_try before bpf.c has loaded the
 * programs, all else after.  A counter sits on a CPU or on a task; attaching
 * starts nothing, since the state is still OFF.
 */
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "pmu_kinds.h"
#include "session_impl.h"

#define DRAIN_PATIENCE_MS	1000

#define EXIT	"sched_process_exit"

static int	attach_raw(struct prof_session *, struct prof_event *);
static int	attach_lives(struct prof_session *, struct prof_event *, bool);
static int	attach_perf(struct prof_session *, const struct prof_event *);

static int
keep_fd(int **fds, size_t *n, int fd)
{
	int *grown = reallocarray(*fds, *n + 1, sizeof(*grown));

	if (grown == NULL)
		return (-1);
	*fds = grown;
	grown[(*n)++] = fd;
	return (0);
}

/*
 * Attaching starts nothing, since the state is still OFF.  Programs on one
 * tracepoint run in this order: the hook of exits, by which a process loses
 * its mappings, comes after the events there.
 */
int
prof_bpf_attach(struct prof_session *session)
{
	size_t n;

	for (n = 0; n < session->se_events.el_n; n++) {
		struct prof_event *event = session->se_events.el_event[n];
		int rv = event->ev_kind == PROF_KIND_PERF ?
		    attach_perf(session, event) : attach_raw(session, event);

		if (rv == -1)
			return (-1);
	}
	if (attach_lives(session, session->se_events.el_event[0], true) == -1)
		return (-1);
	return (prof_values_attach(session));
}

static int
attach_raw_program(struct prof_session *session, struct prof_event *event,
    struct prof_instance *instance, int prog, const char *tracepoint)
{
	/* Those of system calls know theirs, for the types' sake (tp_btf). */
	int fd = bpf_raw_tracepoint_open(event->ev_kind == PROF_KIND_SYSCALL ?
	    NULL : tracepoint, prog);

	if (fd < 0 && (fd == -ENOENT || errno == ENOENT)) {
		prof_fail(&session->se_error, PROF_E_EVENT_UNSUPPORTED,
		    "%s: this kernel has no tracepoint %s", event->ev_name,
		    tracepoint);
		return (-1);
	}
	if (fd < 0)
		return (prof_bpf_explain(&session->se_error, errno));
	if (keep_fd(&instance->in_links, &instance->in_nlinks, fd) == -1) {
		close(fd);
		return (prof_fail_nomem(&session->se_error));
	}
	return (0);
}

/* The programs of an object, by their sections; the hook of exits apart. */
static int
attach_lives(struct prof_session *session, struct prof_event *event,
    bool is_exit)
{
	struct prof_instance *instance =
	    &session->se_bpf.bp_instance[event->ev_id];
	const struct bpf_program *program = NULL;

	while ((program = bpf_object__next_program(instance->in_obj,
	    (struct bpf_program *)program)) != NULL) {
		const char *tracepoint = strchr(
		    bpf_program__section_name(program), '/') + 1;

		if ((strcmp(tracepoint, EXIT) == 0) == is_exit &&
		    attach_raw_program(session, event, instance,
		    bpf_program__fd(program), tracepoint) == -1)
			return (-1);
	}
	return (0);
}

/* All of its programs but that which looks at threads, once, at stop. */
static int
attach_call(struct prof_session *session, struct prof_event *event)
{
	struct prof_instance *instance =
	    &session->se_bpf.bp_instance[event->ev_id];
	const struct bpf_program *program = NULL;

	while ((program = bpf_object__next_program(instance->in_obj,
	    (struct bpf_program *)program)) != NULL) {
		const char *section = bpf_program__section_name(program);

		if (strncmp(section, "iter/", 5) != 0 &&
		    attach_raw_program(session, event, instance,
		    bpf_program__fd(program), strchr(section, '/') + 1) == -1)
			return (-1);
	}
	return (0);
}

static int
attach_raw(struct prof_session *session, struct prof_event *event)
{
	struct prof_instance *instance =
	    &session->se_bpf.bp_instance[event->ev_id];

	if (event->ev_kind == PROF_KIND_COUNTER &&
	    !prof_values_is_first(session, event))
		return (0);
	if (event->ev_kind != PROF_KIND_PROC &&
	    event->ev_kind != PROF_KIND_COUNTER && !event->ev_is_call)
		return (attach_raw_program(session, event, instance,
		    instance->in_prog[0], event->ev_tracepoint));
	return (event->ev_is_call ? attach_call(session, event) :
	    attach_lives(session, event, false));
}

int
prof_bpf_keep_perf(struct prof_session *session,
    const struct prof_event *event, int fd, int cpu)
{
	struct prof_instance *instance =
	    &session->se_bpf.bp_instance[event->ev_id];
	size_t ncpus = instance->in_nperf;

	if (keep_fd(&instance->in_perf_cpu, &ncpus, cpu) == -1 ||
	    keep_fd(&instance->in_perf, &instance->in_nperf, fd) == -1) {
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
	if (session->se_options.po_target == PROF_TARGET_COMMAND && pid != -1)
		attr.enable_on_exec = 1;
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
	if (keep_fd(&instance->in_links, &instance->in_nlinks, link) == -1) {
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
	return (prof_session_add_note(session, "%s %s; what the task did on "
	    "others is missing; recording a process or everything has all",
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

static int
attach_perf(struct prof_session *session, const struct prof_event *event)
{
	if (say_partial(session, event) == -1)
		return (-1);
	return (each_place(session, event, attach_one));
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
 * Whether there are such counters at all.  Asked before programs are loaded,
 * which takes a tenth of a second, and is often in vain: where cycles are
 * tried first, virtual machines have none.
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

/* counters: those alone whose values samples bring. */
static int
each_perf(struct prof_session *session, unsigned long request, bool counters)
{
	struct prof_bpf *bpf = &session->se_bpf;
	uint32_t e;
	size_t n;

	for (e = 0; e < bpf->bp_nevents; e++) {
		if (!is_switched(session, e) || (counters &&
		    session->se_events.el_event[e]->ev_kind !=
		    PROF_KIND_COUNTER))
			continue;
		for (n = 0; n < bpf->bp_instance[e].in_nperf; n++)
			if (ioctl(bpf->bp_instance[e].in_perf[n], request,
			    0) == -1)
				return (prof_fail(&session->se_error,
				    PROF_E_KERNEL, "%s: cannot be switched",
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
	const struct prof_options *po = &session->se_options;

	return (each_perf(session, PERF_EVENT_IOC_ENABLE,
	    po->po_target == PROF_TARGET_COMMAND && po->po_no_inherit &&
	    session->se_state == PROF_ARMED));
}

/* Partners: the loads of co_state in filter.bpf.h and values.bpf.c. */
void
prof_bpf_state(struct prof_bpf *bpf, enum dtp_state state)
{
	__atomic_store_n(&bpf->bp_control->co_state, (uint32_t)state,
	    __ATOMIC_SEQ_CST);
}

/* The clock of timers goes on where it stood. */
void
prof_bpf_record(struct prof_session *session)
{
	session->se_bpf.bp_control->co_start_ns = prof_now_ns() -
	    prof_session_ran_ns(session);
	prof_bpf_state(&session->se_bpf, DTP_RECORDING);
}

int
prof_bpf_pause(struct prof_session *session)
{
	prof_bpf_state(&session->se_bpf, DTP_PAUSED);
	return (each_perf(session, PERF_EVENT_IOC_DISABLE, false));
}

const struct dtp_counts *
prof_bpf_counts(const struct prof_bpf *bpf, uint32_t cpu, uint32_t event)
{
	return (&bpf->bp_counts[(size_t)cpu * bpf->bp_nevents + event]);
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

/* What the first counters of an event have counted. */
static void
read_counts(struct prof_session *session, uint32_t e, size_t upto)
{
	const struct prof_bpf *bpf = &session->se_bpf;
	const struct prof_instance *in = &bpf->bp_instance[e];
	struct prof_count *count;
	struct reading got;
	size_t n;

	for (n = 0; n < upto; n++) {
		if (!read_one(in, n, &got))
			continue;
		count = count_of(session, e, row_of(bpf, in, n));
		count->ct_value += got.value;
		count->ct_enabled_ns += got.enabled;
		count->ct_running_ns += got.running;
		count->ct_instances++;
		count->ct_periods += in->in_slower > 1 ? in->in_slower : 1;
	}
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
	    .pr_time_ns = prof_now_ns(), .pr_addr = session->se_turns_ns,
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
 * Other counters take over, with another period: that of a clock which runs
 * cannot be changed without the kernel naming the old one in each sample.
 * The old ones are read and go; when the others cannot be had they stay.
 */
int
prof_bpf_slow_down(struct prof_session *session, uint32_t e, uint64_t slower)
{
	struct prof_instance *in = &session->se_bpf.bp_instance[e];
	const size_t before = in->in_nperf;
	const uint64_t was = in->in_slower;

	in->in_slower = slower;
	if (attach_perf(session, session->se_events.el_event[e]) == -1)
		goto undo;
	(void)switch_some(in, 0, before, PERF_EVENT_IOC_DISABLE);
	if (switch_some(in, before, in->in_nperf, PERF_EVENT_IOC_ENABLE) ==
	    -1) {
		prof_fail(&session->se_error, PROF_E_KERNEL, "%s: cannot be "
		    "switched", session->se_events.el_event[e]->ev_name);
		(void)switch_some(in, 0, before, PERF_EVENT_IOC_ENABLE);
		goto undo;
	}
	in->in_slower = was;
	read_counts(session, e, before);
	close_some(in, 0, before);
	in->in_slower = slower;
	return (0);
undo:
	in->in_slower = was;
	close_some(in, before, in->in_nperf);
	return (-1);
}

/* Of calls it is known which returns were: those of targets alone. */
static uint64_t
calls_missed(const struct prof_bpf *bpf, uint32_t e)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < bpf->bp_ncpus; cpu++)
		sum += prof_bpf_counts(bpf, cpu, e)->cn_call_unseen;
	return (sum);
}

static void
read_missed(struct prof_session *session)
{
	struct prof_bpf *bpf = &session->se_bpf;
	struct bpf_prog_info info;
	uint32_t e, length;
	int n;

	for (e = 0; e < bpf->bp_nevents; e++) {
		if (session->se_events.el_event[e]->ev_is_call) {
			session->se_missed[e] = calls_missed(bpf, e);
			continue;
		}
		for (n = 0; n < bpf->bp_instance[e].in_nprogs; n++) {
			memset(&info, 0, sizeof(info));
			length = sizeof(info);
			if (bpf_obj_get_info_by_fd(
			    bpf->bp_instance[e].in_prog[n], &info,
			    &length) == 0)
				session->se_missed[e] +=
				    info.recursion_misses;
		}
	}
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

void
prof_bpf_detach(struct prof_bpf *bpf)
{
	uint32_t e;

	for (e = 0; bpf->bp_instance != NULL && e < bpf->bp_nevents; e++) {
		struct prof_instance *in = &bpf->bp_instance[e];

		close_fds(&in->in_links, &in->in_nlinks);
		close_fds(&in->in_perf, &in->in_nperf);
		free(in->in_perf_cpu);
		in->in_perf_cpu = NULL;
	}
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
	for (n = 0; n < bpf->bp_ncpus * bpf->bp_nevents; n++) {
		const volatile struct dtp_counts *cn = &bpf->bp_counts[n];

		if (cn->cn_fired != cn->cn_stored + cn->cn_full +
		    cn->cn_nested + cn->cn_filtered + cn->cn_error)
			return (false);
	}
	return (true);
}

/*
 * An update of a map of maps waits until all programs have ended that may
 * have seen what was there before: an RCU grace period, as membarrier(2) asks
 * for, but also where that is refused (CPUs without a tick, a filter of
 * system calls).
 */
static int
wait_by_map(void)
{
	const uint32_t zero = 0;
	int inner, outer = -1, rv = -1;

	inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dtprof_inner",
	    sizeof(uint32_t), sizeof(uint32_t), 1, NULL);
	if (inner >= 0) {
		LIBBPF_OPTS(bpf_map_create_opts, opts,
		    .inner_map_fd = (uint32_t)inner);

		outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS,
		    "dtprof_outer", sizeof(uint32_t), sizeof(uint32_t), 1,
		    &opts);
	}
	if (outer >= 0)
		rv = bpf_map_update_elem(outer, &zero, &inner, BPF_ANY);
	if (outer >= 0)
		close(outer);
	if (inner >= 0)
		close(inner);
	return (rv);
}

/* Whoever ran a program when this was called has come out of it. */
int
prof_bpf_wait(struct prof_err *error)
{
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0 ||
	    wait_by_map() == 0)
		return (0);
	return (prof_fail(error, PROF_E_KERNEL, "cannot wait for programs "
	    "that are running: %s", strerror(errno)));
}

int
prof_bpf_stop(struct prof_session *session)
{
	struct prof_bpf *bpf = &session->se_bpf;
	const struct timespec pause = { 0, 1000000 };
	int tries, rv;
	uint32_t e;

	prof_bpf_state(bpf, DTP_STOPPED);
	rv = each_perf(session, PERF_EVENT_IOC_DISABLE, false);
	if (prof_bpf_turns(session) == -1)
		rv = -1;
	for (e = 0; e < bpf->bp_nevents; e++)
		read_counts(session, e, bpf->bp_instance[e].in_nperf);
	/* No entry is kept any more; those that exit are counted as we do. */
	if (session->se_calls != NULL &&
	    (prof_bpf_wait(&session->se_error) == -1 ||
	    prof_calls_count_running(session) == -1))
		rv = -1;
	prof_bpf_detach(bpf);
	if (prof_bpf_wait(&session->se_error) == -1)
		rv = -1;
	read_missed(session);
	for (tries = 0; !all_left(bpf); tries++) {
		if (tries == DRAIN_PATIENCE_MS)
			return (prof_fail(&session->se_error, PROF_E_KERNEL,
			    "a program is still running after stop"));
		nanosleep(&pause, NULL);
	}
	return (rv);
}
