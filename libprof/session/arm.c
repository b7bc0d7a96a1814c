/* SPDX-License-Identifier: ISC */
/*
 * Arming a session, all or nothing: file, command (held), back ends (made,
 * not started; from then on forks are heard of), targets, snapshot of what
 * already runs.  An error on the way undoes all of it, in reverse,
 * and leaves no file.
 *
 * Called by the user of a session; session.c has the states.  Chooses the back
 * end, the CPUs and the size of buffers.
 */
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "events/instrument.h"
#include "filter/filter.h"
#include "os/cpus.h"
#include "os/facts.h"
#include "os/permission.h"
#include "os/pmu_kinds.h"
#include "session_impl.h"

#define BUFFER_DEFAULT	(16ULL << 20)
#define BUFFER_LEAST	(8ULL << 20)	/* unless asked for */
#define BUFFER_SAMPLE	8192		/* for each of a second */
#define BUFFER_MAX	(1ULL << 30)
#define BUFFER_SUM	(512ULL << 20)
#define PUBLISH_NS	500000000ULL

static int	choose_backend(struct prof_session *);
static int	open_output(struct prof_session *);
static int	open_snapshots(struct prof_session *);
static int	arm_backends(struct prof_session *);
static int	system_snapshot(struct prof_session *);
static void	tables_publish(struct prof_session *);
static int	open_epoll(struct prof_session *);

static int
compile_event(struct prof_session *session, struct prof_event *event)
{
	const struct prof_options *po = &session->se_options;
	struct prof_filter_joined joined = {
		.fj_has_calls = session->se_grouping == NULL };

	if (prof_filter_join(event, po->po_filter, po->po_comm, &joined,
	    &session->se_error) == -1)
		return (-1);
	event->ev_filter = joined.fj_program;
	if (prof_stack_filter_set(session, event, joined.fj_session) == -1)
		return (-1);
	return (session->se_grouping == NULL || (session->se_nspans > 0 &&
	    event->ev_is_of_span) ? 0 : prof_grouping_compile(
	    session->se_grouping, event, (uint32_t)prof_cpus_possible(),
	    &session->se_error));
}

int
prof_session_filters(struct prof_session *session, size_t from)
{
	const struct prof_events *events = &session->se_events;

	/* Counters fire for nobody, and have no arguments. */
	for (; from < events->el_n; from++)
		if (!events->el_event[from]->ev_is_value &&
		    compile_event(session, events->el_event[from]) == -1)
			return (-1);
	return (0);
}

static int
choose_cpus(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	const int *wanted;
	size_t n, m, nwanted;

	if (prof_cpus_online(&session->se_plan.pn_online,
	    &session->se_plan.pn_nonline,
	    &session->se_error) == -1)
		return (-1);
	wanted = po->po_cpus != NULL ? po->po_cpus : session->se_plan.pn_online;
	nwanted = po->po_cpus != NULL ? po->po_ncpus :
	    session->se_plan.pn_nonline;
	session->se_plan.pn_cpus = calloc(nwanted + 1,
	    sizeof(*session->se_plan.pn_cpus));
	if (session->se_plan.pn_cpus == NULL)
		return (prof_fail_nomem(&session->se_error));
	for (n = 0; n < nwanted; n++) {
		for (m = 0; m < session->se_plan.pn_nonline; m++)
			if (session->se_plan.pn_online[m] == wanted[n])
				break;
		if (m == session->se_plan.pn_nonline) {
			prof_fail(&session->se_error, PROF_E_TARGET,
			    "cpu %d is not online", wanted[n]);
			return (prof_cure(&session->se_error, "see "
			    "/sys/devices/system/cpu/online"));
		}
		session->se_plan.pn_cpus[session->se_plan.pn_ncpus++] =
		    wanted[n];
	}
	return (0);
}

/* An interval ticks on one of the CPUs that are recorded. */
void
prof_session_ticking(const struct prof_session *session)
{
	for (size_t n = 1; n < session->se_events.el_n; n++)
		if (session->se_events.el_event[n]->ev_cpu >= 0)
			session->se_events.el_event[n]->ev_cpu =
			    session->se_plan.pn_cpus[0];
}

/*
 * Events of a known rate need less: half of it is for copies of stacks, half
 * for a second of large samples.  The kernel clears, charges and maps each
 * page.
 */
static uint64_t
default_buffer(const struct prof_session *session)
{
	const uint64_t hz = prof_events_rate(&session->se_plan);

	if (hz == 0 || hz >= BUFFER_DEFAULT / BUFFER_SAMPLE)
		return (BUFFER_DEFAULT);
	return (hz * BUFFER_SAMPLE < BUFFER_LEAST ? BUFFER_LEAST :
	    hz * BUFFER_SAMPLE);
}

static int
choose_buffer(struct prof_session *session)
{
	uint64_t want = session->se_options.po_buffer_bytes, size;

	if (want != 0 && (want < DTP_MIN_RING || want > BUFFER_MAX)) {
		prof_fail(&session->se_error, PROF_E_LIMIT, "invalid buffer "
		    "size %llu", (unsigned long long)want);
		return (prof_cure(&session->se_error, "use 64K to 1G per CPU "
		    "(default 16M, or less at a low sampling rate)"));
	}
	if (want == 0) {
		want = default_buffer(session);
		while (want > DTP_MIN_RING && want *
		    session->se_plan.pn_nonline >
		    BUFFER_SUM)
			want /= 2;
	}
	for (size = DTP_MIN_RING; size < want; size *= 2)
		continue;
	session->se_plan.pn_ring_bytes = size;
	return (0);
}

/* One descriptor per event and CPU, twice with its link; it was before. */
static void
raise_limits(struct rlimit *before)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, before) == -1)
		before->rlim_cur = before->rlim_max = RLIM_INFINITY;
	limit = *before;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * Allocations are told by a library that the command loads; a filter could
 * keep them, and not that they are freed.
 */
static int
choose_preload(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	struct prof_err *error = &session->se_error;

	for (size_t n = 1; n < session->se_events.el_n; n++) {
		const struct prof_event *event =
		    session->se_events.el_event[n];

		if (event->ev_preload != NULL &&
		    po->po_target != PROF_TARGET_COMMAND) {
			prof_fail(error, PROF_E_USAGE, "%s: allocations can be "
			    "recorded only for a command or for processes",
			    event->ev_name);
			return (prof_cure(error, "use -- COMMAND or -p PID"));
		}
		if (event->ev_is_of_span && (po->po_filter != NULL ||
		    po->po_comm != NULL || event->ev_expression != NULL)) {
			prof_fail(error, PROF_E_USAGE, "%s: a filter could "
			    "keep the begin of an allocation or span and drop "
			    "its end",
			    event->ev_name);
			return (prof_cure(error, "filter when reading, e.g. "
			    "dtprof report --filter EXPR"));
		}
		if (event->ev_preload == NULL)
			continue;
		session->se_command.cm_preload = event->ev_preload;
		session->se_command.cm_interval = event->ev_interval;
	}
	return (0);
}

/* At most one event has passes over threads. */
static int
check_passes(struct prof_session *session, const struct prof_event *event)
{
	struct prof_err *error = &session->se_error;

	for (size_t n = event->ev_id + 1; n < session->se_events.el_n; n++) {
		if (session->se_events.el_event[n]->ev_instrument !=
		    event->ev_instrument)
			continue;
		prof_fail(error, PROF_E_USAGE, "%s: only one event of "
		    "wall-clock time is possible",
		    session->se_events.el_event[n]->ev_name);
		return (prof_cure(error, "use --wall, or one -e wall"));
	}
	return (0);
}

/*
 * Counters are of the current thread, groups are counted by stat, and a thread
 * that waits is on no CPU.
 */
static int
check_waits(struct prof_session *session)
{
	struct prof_err *error = &session->se_error;

	for (size_t n = 1; n < session->se_events.el_n; n++) {
		const struct prof_event *event =
		    session->se_events.el_event[n];

		if (!event->ev_instrument->im_is_of_next)
			continue;
		if (event->ev_instrument->im_pass != NULL &&
		    check_passes(session, event) == -1)
			return (-1);
		if (event->ev_grouping.gp_is_on) {
			prof_fail(error, PROF_E_USAGE, "%s: waits are "
			    "recorded, not counted", event->ev_name);
			return (prof_cure(error, "use dtprof record "
			    "--off-cpu"));
		}
		if (session->se_plan.pn_nvalues > 0) {
			prof_fail(error, PROF_E_USAGE, "%s: counters do not "
			    "count while a thread waits", event->ev_name);
			return (prof_cure(error, "leave --with out"));
		}
		if (session->se_options.po_ncpus > 0) {
			prof_fail(error, PROF_E_USAGE, "%s: a thread that "
			    "waits is not on a CPU, so waits cannot be "
			    "recorded with -C", event->ev_name);
			return (prof_cure(error, "leave -C out"));
		}
	}
	return (0);
}

/* A command gets the original limit of open files. */
static int
arm_all(struct prof_session *session, const struct rlimit *open_files)
{
	const struct prof_options *po = &session->se_options;

	if (!prof_proc_usable(&session->se_error))
		goto fail;
	if (prof_targets_check(session) == -1 ||
	    choose_preload(session) == -1 ||
	    prof_session_filters(session, 1) == -1 ||
	    prof_stack_filter_check(session) == -1 ||
	    check_waits(session) == -1 ||
	    prof_speculate_check(session) == -1 ||
	    choose_cpus(session) == -1 || choose_buffer(session) == -1 ||
	    choose_backend(session) == -1)
		goto fail;
	prof_session_ticking(session);
	if (session->se_backend->bk_try != NULL &&
	    session->se_backend->bk_try(&session->se_plan) == -1)
		goto fail;
	/* As early as can be: its children have what we have now. */
	if (prof_session_broker(session) == -1)
		goto fail;
	if (po->po_argv != NULL && prof_command_spawn(
	    &session->se_command, po->po_argv, open_files,
	    &session->se_error) == -1)
		goto fail;
	if ((session->se_reread = prof_reread_new(session)) == NULL ||
	    (session->se_gone = prof_gone_new()) == NULL) {
		prof_fail_nomem(&session->se_error);
		goto fail;
	}
	session->se_plan.pn_command = session->se_command.cm_pid;
	if (open_output(session) == -1 || open_snapshots(session) == -1 ||
	    arm_backends(session) == -1 || open_epoll(session) == -1 ||
	    system_snapshot(session) == -1)
		goto fail;
	tables_publish(session);
	if (prof_merge_step(&session->se_merge, PROF_STEP_READY) == -1)
		goto fail;
	session->se_state = PROF_ARMED;
	session->se_wait_ms = session->se_backend->bk_wait_ms != 0 ?
	    session->se_backend->bk_wait_ms : 1;
	return (0);
fail:
	prof_session_undo(session);
	return (-1);
}

int
prof_session_arm(struct prof_session *session)
{
	struct rlimit open_files;
	int rv;

	if (session->se_state != PROF_INIT)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "already armed"));
	if (session->se_events.el_n - session->se_plan.pn_nvalues < 2)
		return (prof_fail(&session->se_error, PROF_E_EMPTY,
		    "no event to record"));
	raise_limits(&open_files);
	do {
		rv = arm_all(session, &open_files);
	} while (rv == -1 && prof_session_leave_out(session));
	return (rv);
}

/* The kernel's part is recorded all the same: names are not addresses. */
static int
note_hidden_names(struct prof_session *session)
{
	struct prof_err why = { 0 };
	size_t n;

	for (n = 1; n < session->se_events.el_n; n++)
		if (prof_event_parts(&session->se_plan,
		    session->se_events.el_event[n]) &
		    DTP_P_KSTACK)
			break;
	if (n == session->se_events.el_n || prof_kernel_names_shown(&why))
		return (0);
	return (prof_session_add_note(session, "kernel addresses will be "
	    "unresolved: %s; %s", why.pe_text, why.pe_cure));
}

static int
note_no_bpf(struct prof_session *session, const struct prof_err *why)
{
	session->se_in_namespace = prof_in_pid_namespace();
	return (prof_session_add_note(session, "recording without BPF (%s)"
	    "%s%s%s%s", prof_record_reach(0, session->se_options.po_target),
	    why->pe_code ? ": " : "", why->pe_text, why->pe_cure[0] ? "; " :
	    "", why->pe_cure));
}

/* BPF, else perf, where nobody has chosen. */
static int
choose_backend(struct prof_session *session)
{
	const enum prof_backend_choice choice = session->se_options.po_backend;
	struct prof_err why = { 0 }, needs = { 0 };

	if (session->se_backend != NULL)
		return (0);
	if (choice != PROF_BACKEND_PERF && prof_backend_bpf.bk_detect(
	    &session->se_plan, &why)) {
		session->se_backend = &prof_backend_bpf;
		return (note_hidden_names(session));
	}
	if (choice != PROF_BACKEND_BPF && prof_backend_perf.bk_detect(
	    &session->se_plan, &needs)) {
		session->se_backend = &prof_backend_perf;
		return (note_no_bpf(session, &why));
	}
	session->se_error = why.pe_code != PROF_OK ? why : needs;
	return (-1);
}

/* Nobody keeps or names an address, or waits for what is mapped. */
static bool
is_without_stacks(const struct prof_session *session)
{
	for (size_t n = 0; n < session->se_events.el_n; n++)
		if (session->se_events.el_event[n]->ev_instrument->
		    im_on_mapping != NULL)
			return (false);
	return (session->se_has_sink && session->se_options.po_callgraph ==
	    PROF_CALLGRAPH_NONE);
}

/* It alone, or with mappings beside it; then who is recorded. */
static int
arm_backends(struct prof_session *session)
{
	const struct prof_backend *backend = session->se_backend;
	struct prof_merge *merge = &session->se_merge;
	struct prof_plan *plan = &session->se_plan;

	if (prof_merge_add(merge, backend, plan) == -1 ||
	    (!is_without_stacks(session) &&
	    (backend->bk_flags & PROF_BACKEND_MAPS) == 0 &&
	    prof_merge_add(merge, &prof_backend_maps, plan) == -1))
		return (-1);
	return (prof_targets_seed(session) == -1 ? -1 :
	    prof_merge_step(merge, PROF_STEP_ARM));
}

/*
 * What is known is published before the first sample; a large system is not
 * waited for longer than a blink, its samples say what is missing.
 */
static void
tables_publish(struct prof_session *session)
{
	const struct timespec pause = { 0, 1000000 };
	uint64_t until_ns = prof_now_ns() + PUBLISH_NS;

	while (prof_merge_publish(&session->se_merge) &&
	    prof_now_ns() < until_ns)
		nanosleep(&pause, NULL);
}

/* Which order of mappings and execs is to be expected. */
static unsigned
process_mode(const struct prof_session *session)
{
	return (session->se_backend->bk_flags & PROF_BACKEND_EXEC_FIRST ?
	    PROF_PROCESSES_PERF : PROF_PROCESSES_ALL);
}

/* Stacks are walked in user space where the kernel's walk does not do. */
static int
open_snapshots(struct prof_session *session)
{
	if (session->se_options.po_callgraph != PROF_CALLGRAPH_AUTO &&
	    session->se_options.po_callgraph != PROF_CALLGRAPH_DWARF)
		return (0);
	session->se_plan.pn_snapshots = prof_snapshots_new(
	    process_mode(session),
	    session->se_options.po_verify != 0);
	if (session->se_plan.pn_snapshots == NULL)
		return (prof_fail_nomem(&session->se_error));
	prof_snapshots_read_by(session->se_plan.pn_snapshots,
	    session->se_plan.pn_broker);
	return (0);
}

static int
snapshot_kernel(struct prof_session *session, uint64_t now_ns)
{
	struct prof_text text;

	if (session->se_backend->bk_flags & PROF_BACKEND_ASKS)
		session->se_kernel_names = prof_kernel_names_open();
	if (session->se_kernel_names != NULL) {
		prof_kernel_names_text(session->se_kernel_names, &text);
		prof_noted_ask_kernel(session->se_noted, prof_kernel_names_ask,
		    session->se_kernel_names);
		prof_stack_filter_ask(session, prof_kernel_names_ask,
		    session->se_kernel_names);
	}
	return (prof_procfs_snapshot_kernel(session->se_kernel_names == NULL ?
	    NULL : &text, now_ns, prof_session_take, session));
}

static int
system_snapshot(struct prof_session *session)
{
	uint64_t now_ns = prof_now_ns();
	size_t n;

	if (is_without_stacks(session))
		return (0);
	if (snapshot_kernel(session, now_ns) != 0)
		return (-1);
	/* Its mappings are ours, and are gone before its first sample. */
	if (session->se_options.po_target == PROF_TARGET_COMMAND)
		return (prof_procfs_snapshot_tasks(session->se_command.cm_pid,
		    now_ns, prof_session_take, session) != 0 ? -1 : 0);
	if (session->se_options.po_target == PROF_TARGET_ALL ||
	    session->se_options.po_target == PROF_TARGET_CGROUP)
		return (prof_procfs_snapshot_all(now_ns, prof_session_take,
		    session) != 0 ? -1 : 0);
	for (n = 0; n < session->se_pids.pt_cap; n++)
		if (session->se_pids.pt_slot[n] != 0 &&
		    prof_procfs_snapshot_pid((int)session->se_pids.pt_slot[n],
		    now_ns, prof_session_take, session) != 0)
			return (-1);
	return (0);
}

static int
watch_fd(struct prof_session *session, int fd, uint32_t how)
{
	struct epoll_event event = { .events = EPOLLIN | how,
	    .data.fd = how == EPOLLET ? PROF_WOKEN_BY_TARGET : fd };

	if (fd >= 0 && epoll_ctl(session->se_epoll, EPOLL_CTL_ADD, fd,
	    &event) == -1)
		return (prof_fail(&session->se_error, PROF_E_IO,
		    "cannot poll a descriptor: %s", strerror(errno)));
	return (0);
}

/* One that has ended says so once (EPOLLET); others may run on. */
int
prof_session_watch_target(struct prof_session *session, int fd)
{
	return (watch_fd(session, fd, EPOLLET));
}

static int
watch_source(struct prof_session *session, const struct prof_source *source)
{
	const int *fds;
	size_t nfds;

	if (source->so_backend->bk_fds == NULL)
		return (0);
	nfds = source->so_backend->bk_fds(source->so_state, &fds);
	for (size_t n = 0; n < nfds; n++)
		if (watch_fd(session, fds[n], 0) == -1)
			return (-1);
	return (0);
}

static int
open_epoll(struct prof_session *session)
{
	size_t n;

	session->se_epoll = epoll_create1(EPOLL_CLOEXEC);
	if (session->se_epoll == -1)
		return (prof_fail(&session->se_error, PROF_E_IO,
		    "cannot wait for events: %s", strerror(errno)));
	session->se_alarm = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC |
	    TFD_NONBLOCK);
	if (session->se_alarm == -1)
		return (prof_fail(&session->se_error, PROF_E_IO,
		    "cannot create a timer: %s", strerror(errno)));
	if (watch_fd(session, session->se_alarm, 0) == -1)
		return (-1);
	for (n = 0; n < session->se_merge.mg_n; n++)
		if (watch_source(session, &session->se_merge.mg_source[n]) ==
		    -1)
			return (-1);
	for (n = 0; n < session->se_ntarget_fds; n++)
		if (prof_session_watch_target(session,
		    session->se_target_fds[n]) == -1)
			return (-1);
	if (watch_fd(session, session->se_command.cm_pidfd, 0) == -1)
		return (-1);
	session->se_control = prof_control_open(&session->se_error);
	if (session->se_control == NULL) {
		/* Control is a convenience; the recording is not. */
		return (prof_session_add_note(session, "dtprof mark and "
		    "dtprof ctl cannot reach this recording: %s",
		    session->se_error.pe_text));
	}
	return (watch_fd(session, prof_control_fd(session->se_control), 0));
}

int
prof_session_tell_event(struct prof_session *session,
    const struct prof_event *event)
{
	struct prof_event_info info = { 0 };
	uint32_t n;

	info.pi_name = event->ev_name;
	info.pi_probe = event->ev_probe;
	info.pi_provider = event->ev_provider->pv_name;
	info.pi_unit = event->ev_unit;
	if (event->ev_attr.freq)
		info.pi_frequency_hz = event->ev_attr.sample_freq;
	else if (event->ev_has_period)
		info.pi_period = event->ev_attr.sample_period;
	info.pi_nargs = event->ev_nargs;
	for (n = 0; n < event->ev_nargs; n++) {
		info.pi_arg_names[n] = event->ev_args[n].ag_name;
		info.pi_arg_types[n] = event->ev_args[n].ag_type;
		info.pi_arg_is_str[n] = event->ev_args[n].ag_is_text ||
		    event->ev_args[n].ag_is_later ||
		    event->ev_args[n].ag_load.ar_kind != DTP_A_INT;
		info.pi_arg_is_signed[n] =
		    event->ev_args[n].ag_load.ar_signed;
	}
	info.pi_is_syscall = event->ev_is_syscall;
	info.pi_is_call = event->ev_is_call;
	info.pi_parts = prof_event_parts(&session->se_plan, event);
	if (info.pi_parts & DTP_P_VALUES)
		info.pi_ncounters = (uint32_t)session->se_plan.pn_nvalues;
	for (n = 0; n < info.pi_ncounters; n++)
		info.pi_counter[n] =
		    (uint32_t)(session->se_plan.pn_values + n);
	return (prof_sink_event(&session->se_sink, &info) == 0 ?
	    prof_sink_event(&session->se_listener, &info) : -1);
}

static int
open_output(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	const struct prof_ring_limits limits = { po->po_ring_bytes,
	    po->po_ring_ns };
	size_t n;

	if (!session->se_has_sink) {
		session->se_writer = po->po_ring_bytes != 0 ?
		    prof_writer_open_ring(&limits, &session->se_error) :
		    po->po_rotates ? prof_writer_open_first(po->po_output,
		    &session->se_error) :
		    prof_writer_open(po->po_output, &session->se_error);
		if (session->se_writer == NULL)
			return (-1);
		session->se_sink = prof_writer_sink(session->se_writer);
	}
	if (prof_speculate_open(session) == -1)
		return (-1);
	session->se_noted = prof_noted_new(process_mode(session) |
	    (prof_session_names_now(session) ? PROF_NOTED_LIVE : 0));
	session->se_plan.pn_codes = prof_codes_new(prof_language_at,
	    session->se_plan.pn_broker);
	if (session->se_noted == NULL || session->se_plan.pn_codes == NULL)
		return (prof_fail_nomem(&session->se_error));
	if (prof_stack_filter_open(session, process_mode(session)) == -1)
		return (-1);
	if (prof_describe(session) == -1)
		goto fail;
	for (n = 0; n < session->se_events.el_n; n++)
		if (prof_session_tell_event(session,
		    session->se_events.el_event[n]) == -1)
			goto fail;
	return (session->se_speculation == NULL ? 0 : prof_speculation_check(
	    session->se_speculation, &session->se_error));
fail:
	return (prof_session_sink_failed(session));
}

/* Back to nothing: in the reverse order of arm. */
void
prof_session_undo(struct prof_session *session)
{
	size_t n;

	prof_control_close(session->se_control);
	session->se_control = NULL;
	if (session->se_epoll != -1)
		close(session->se_epoll);
	if (session->se_alarm != -1)
		close(session->se_alarm);
	session->se_epoll = session->se_alarm = -1;
	for (n = 0; n < session->se_ntarget_fds; n++)
		if (session->se_target_fds[n] != -1)
			close(session->se_target_fds[n]);
	free(session->se_target_fds);
	session->se_target_fds = NULL;
	session->se_ntarget_fds = 0;
	prof_merge_close(&session->se_merge);
	prof_reread_free(session->se_reread);
	session->se_reread = NULL;
	prof_gone_free(session->se_gone);
	session->se_gone = NULL;
	prof_snapshots_free(session->se_plan.pn_snapshots);
	session->se_plan.pn_snapshots = NULL;
	prof_stack_filter_close(session);
	prof_noted_free(session->se_noted);
	session->se_noted = NULL;
	prof_codes_free(session->se_plan.pn_codes);
	session->se_plan.pn_codes = NULL;
	prof_broker_free(session->se_plan.pn_broker);
	session->se_plan.pn_broker = NULL;
	prof_kernel_names_close(session->se_kernel_names);
	session->se_kernel_names = NULL;
	if (session->se_writer != NULL && session->se_state == PROF_STOPPED)
		(void)prof_writer_close(session->se_writer, NULL);
	else if (session->se_writer != NULL)
		prof_writer_discard(session->se_writer);
	session->se_writer = NULL;
	prof_speculate_close(session);
	prof_rotation_fini(session);
	prof_command_fini(&session->se_command);
	prof_pidset_fini(&session->se_pids);
	free(session->se_plan.pn_online);
	free(session->se_plan.pn_cpus);
	session->se_plan.pn_online = session->se_plan.pn_cpus = NULL;
	session->se_plan.pn_nonline = session->se_plan.pn_ncpus = 0;
}
