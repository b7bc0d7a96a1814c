/* SPDX-License-Identifier: ISC */
/*
 * Arming a session, all or nothing: file, command (held), programs and
 * counters (made, not started), fork hook on, targets, sideband, snapshot
 * of what already runs.  An error on the way undoes all of it, in reverse,
 * and leaves no file.
 *
 * Called by session.c, which has the states.  Decides here, once, whether
 * BPF may be used and which CPUs and buffers there are.
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
#define UNWIND_MAX	(256ULL << 20)
#define PUBLISH_NS	500000000ULL
/* Between rounds of perf's rings, which wake us when they are half full. */
#define RINGS_WAIT_MS	10

static int	choose_path(struct prof_session *);
static int	open_output(struct prof_session *);
static int	arm_bpf(struct prof_session *);
static int	arm_rings(struct prof_session *);
static int	snapshot(struct prof_session *);
static void	publish(struct prof_session *);
static int	open_epoll(struct prof_session *);

/* The user's own by itself first, so that the columns are his. */
static int
compile_filter(struct prof_session *session, struct prof_event *event,
    const char *with_comm)
{
	const char *texts[] = { session->se_options.po_filter, with_comm };

	for (size_t n = 0; n < 2; n++)
		if (texts[n] != NULL && prof_filter_compile(texts[n], event,
		    &event->ev_filter, &session->se_error) == -1)
			return (-1);
	return (0);
}

static int
compile_filters(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	/* Counters fire for nobody, and have no arguments. */
	const size_t nsampled = session->se_events.el_n - session->se_nvalues;
	char quote, *with_comm = NULL;
	int rv = 0;
	size_t n;

	if (po->po_comm != NULL) {
		quote = strchr(po->po_comm, '"') == NULL ? '"' : '\'';
		if (asprintf(&with_comm, po->po_filter != NULL ?
		    "(%3$s) && comm == %1$c%2$s%1$c" : "comm == %1$c%2$s%1$c",
		    quote, po->po_comm, po->po_filter) == -1)
			return (prof_fail_nomem(&session->se_error));
	}
	for (n = 1; n < nsampled && rv == 0; n++)
		rv = compile_filter(session, session->se_events.el_event[n],
		    with_comm);
	free(with_comm);
	return (rv);
}

static int
choose_cpus(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	const int *wanted;
	size_t n, m, nwanted;

	if (prof_cpus_online(&session->se_online, &session->se_nonline,
	    &session->se_error) == -1)
		return (-1);
	wanted = po->po_cpus != NULL ? po->po_cpus : session->se_online;
	nwanted = po->po_cpus != NULL ? po->po_ncpus : session->se_nonline;
	session->se_cpus = calloc(nwanted + 1, sizeof(*session->se_cpus));
	if (session->se_cpus == NULL)
		return (prof_fail_nomem(&session->se_error));
	for (n = 0; n < nwanted; n++) {
		for (m = 0; m < session->se_nonline; m++)
			if (session->se_online[m] == wanted[n])
				break;
		if (m == session->se_nonline) {
			prof_fail(&session->se_error, PROF_E_TARGET,
			    "cpu %d is not online", wanted[n]);
			return (prof_cure(&session->se_error, "see "
			    "/sys/devices/system/cpu/online"));
		}
		session->se_cpus[session->se_ncpus++] = wanted[n];
	}
	return (0);
}

/* An interval ticks on one of the CPUs that are recorded. */
static void
choose_ticking(const struct prof_session *session)
{
	for (size_t n = 1; n < session->se_events.el_n; n++)
		if (session->se_events.el_event[n]->ev_cpu >= 0)
			session->se_events.el_event[n]->ev_cpu =
			    session->se_cpus[0];
}

/*
 * Events of a known rate need less: half of it is for copies of stacks, half
 * for a second of large samples.  The kernel clears, charges and maps each
 * page.
 */
static uint64_t
default_buffer(const struct prof_session *session)
{
	const uint64_t hz = prof_events_rate(session);

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
		    "(default 16M, or 8M at 1000 samples per second)"));
	}
	if (want == 0) {
		want = default_buffer(session);
		while (want > DTP_MIN_RING && want * session->se_nonline >
		    BUFFER_SUM)
			want /= 2;
	}
	for (size = DTP_MIN_RING; size < want; size *= 2)
		continue;
	session->se_bpf.bp_ring_bytes = size;
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

int
prof_session_arm(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	struct rlimit open_files;

	if (session->se_state != PROF_INIT)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "already armed"));
	if (session->se_events.el_n - session->se_nvalues < 2)
		return (prof_fail(&session->se_error, PROF_E_EMPTY,
		    "no event to record"));
	raise_limits(&open_files);
	if (!prof_proc_usable(&session->se_error))
		goto fail;
	if (prof_targets_check(session) == -1 ||
	    compile_filters(session) == -1 || choose_cpus(session) == -1 ||
	    choose_buffer(session) == -1 || choose_path(session) == -1 ||
	    prof_values_check(session) == -1)
		goto fail;
	choose_ticking(session);
	if (session->se_use_bpf && prof_bpf_try(session) == -1)
		goto fail;
	/* As early as can be: its children have what we have now. */
	session->se_broker = prof_broker_new(&session->se_error);
	if (session->se_broker == NULL)
		goto fail;
	if (po->po_argv != NULL && prof_command_spawn(
	    &session->se_command, po->po_argv, &open_files,
	    &session->se_error) == -1)
		goto fail;
	if ((session->se_reread = prof_reread_new(session)) == NULL) {
		prof_fail_nomem(&session->se_error);
		goto fail;
	}
	if (open_output(session) == -1 || (session->se_use_bpf ?
	    arm_bpf(session) : arm_rings(session)) == -1 ||
	    open_epoll(session) == -1 || snapshot(session) == -1)
		goto fail;
	publish(session);
	if (session->se_use_bpf && (prof_place_choose(session) == -1 ||
	    prof_sampling_attach(session) == -1))
		goto fail;
	session->se_state = PROF_ARMED;
	session->se_wait_ms = session->se_use_bpf ? 1 : RINGS_WAIT_MS;
	return (0);
fail:
	prof_session_undo(session);
	return (-1);
}

/* The kernel's part is recorded all the same: names are not addresses. */
static int
note_hidden_names(struct prof_session *session)
{
	struct prof_err why = { 0 };
	size_t n;

	for (n = 1; n < session->se_events.el_n; n++)
		if (prof_event_parts(session, session->se_events.el_event[n]) &
		    DTP_P_KSTACK)
			break;
	if (n == session->se_events.el_n || prof_kernel_names_shown(&why))
		return (0);
	return (prof_session_add_note(session, "kernel addresses will be "
	    "unresolved: %s; %s", why.pe_text, why.pe_cure));
}

static int
choose_path(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	struct prof_err why = { 0 };
	size_t n;

	if (po->po_path != PROF_PATH_PERF) {
		session->se_use_bpf = prof_bpf_usable(&why);
		if (session->se_use_bpf)
			return (note_hidden_names(session));
		if (po->po_path == PROF_PATH_BPF) {
			session->se_error = why;
			return (-1);
		}
	}
	for (n = 1; n < session->se_events.el_n; n++)
		if (session->se_events.el_event[n]->ev_kind !=
		    PROF_KIND_PERF)
			goto needs;
	if (po->po_target == PROF_TARGET_CGROUP || po->po_comm != NULL ||
	    po->po_filter != NULL || session->se_nvalues > 0)
		goto needs;
	session->se_in_namespace = prof_in_pid_namespace();
	return (prof_session_add_note(session, "recording without BPF (%s)"
	    "%s%s%s%s", prof_record_reach(0, po->po_target), why.pe_code ?
	    ": " : "", why.pe_text, why.pe_cure[0] ? "; " : "",
	    why.pe_cure));
needs:
	if (why.pe_code == PROF_OK)
		return (prof_fail(&session->se_error, PROF_E_PERMISSION,
		    "tracepoints, filters, cgroups and --with need BPF"));
	session->se_error = why;
	return (-1);
}

/* Tables for user stacks, unless frame pointers were asked for. */
static int
open_unwind(struct prof_session *session)
{
	uint64_t max_bytes = session->se_options.po_unwind_bytes;
	int fds[PROF_UNWIND_FDS];

	if (session->se_options.po_callgraph != PROF_CALLGRAPH_AUTO)
		return (0);
	prof_bpf_unwind_fds(&session->se_bpf, fds);
	session->se_unwind = prof_unwind_new(fds, session->se_bpf.bp_ncpus,
	    max_bytes != 0 ? max_bytes : UNWIND_MAX, session->se_broker,
	    &session->se_error);
	return (session->se_unwind == NULL ? -1 : 0);
}

/*
 * What is known is published before the first sample; a large system is not
 * waited for longer than a blink, its samples say what is missing.
 */
static void
publish(struct prof_session *session)
{
	const struct timespec pause = { 0, 1000000 };
	uint64_t until_ns = prof_now_ns() + PUBLISH_NS;

	if (session->se_unwind == NULL)
		return;
	do {
		(void)prof_unwind_publish(session->se_unwind);
		if (prof_unwind_ready(session->se_unwind))
			break;
		nanosleep(&pause, NULL);
	} while (prof_now_ns() < until_ns);
}

/* Stacks are walked in user space where the kernel's walk does not do. */
static int
open_snapshots(struct prof_session *session, unsigned mode)
{
	if (session->se_options.po_callgraph != PROF_CALLGRAPH_AUTO &&
	    session->se_options.po_callgraph != PROF_CALLGRAPH_DWARF)
		return (0);
	session->se_snapshots = prof_snapshots_new(mode,
	    session->se_options.po_verify != 0);
	if (session->se_snapshots == NULL)
		return (prof_fail_nomem(&session->se_error));
	prof_snapshots_read_by(session->se_snapshots, session->se_broker);
	return (0);
}

static int
arm_bpf(struct prof_session *session)
{
	struct prof_bpf *bpf = &session->se_bpf;

	if (open_snapshots(session, PROF_PROCESSES_ALL) == -1 ||
	    prof_bpf_load(session) == -1 || prof_bpf_attach(session) == -1 ||
	    open_unwind(session) == -1)
		return (-1);
	session->se_counts = calloc((size_t)(bpf->bp_ncpus + 1) *
	    bpf->bp_nevents, sizeof(*session->se_counts));
	session->se_missed = calloc(bpf->bp_nevents,
	    sizeof(*session->se_missed));
	if (session->se_counts == NULL || session->se_missed == NULL)
		return (prof_fail_nomem(&session->se_error));
	if (prof_calls_init(session) == -1 ||
	    (session->se_drain = prof_drain_new(session)) == NULL ||
	    prof_gaps_init(session) == -1)
		return (-1);
	if (prof_side_band_open(session) == -1)
		return (-1);
	/* From here on forks of targets are entered by the hook. */
	prof_bpf_state(bpf, DTP_ARMED);
	if (prof_rings_enable(session->se_rings) == -1)
		return (-1);
	if (prof_targets_seed(session) == -1)
		return (-1);
	return (prof_place_begin(session));
}

/* The stack of a sample is walked next. */
static int
before_walk(void *arg, const struct prof_record *sample)
{
	struct prof_session *session = arg;

	return (prof_reread_is_due(session->se_reread, sample) ?
	    prof_reread_now(session->se_reread, sample->pr_pid,
	    sample->pr_time_ns) : 0);
}

static int
arm_rings(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	struct prof_rings_options ro = { 0 };
	const int child = session->se_command.cm_pid;

	ro.ro_cpus = session->se_cpus;
	ro.ro_ncpus = session->se_ncpus;
	ro.ro_samples = true;
	ro.ro_kinds = prof_names_kinds(session->se_names);
	ro.ro_inherit = !po->po_no_inherit &&
	    po->po_target != PROF_TARGET_TIDS;
	ro.ro_callchain = po->po_callgraph == PROF_CALLGRAPH_FP;
	if (open_snapshots(session, PROF_PROCESSES_PERF) == -1)
		return (-1);
	ro.ro_snapshots = session->se_snapshots;
	if (session->se_snapshots != NULL)
		ro.ro_stack_bytes = (uint32_t)prof_stack_bytes(po,
		    false);
	ro.ro_before = before_walk;
	ro.ro_events = session->se_events.el_event + 1;
	ro.ro_nevents = session->se_events.el_n - 1;
	ro.ro_ring_bytes = po->po_buffer_bytes;
	if (po->po_target == PROF_TARGET_COMMAND) {
		ro.ro_pids = &child;
		ro.ro_npids = 1;
		ro.ro_enable_on_exec = !po->po_start_paused;
	} else if (po->po_target != PROF_TARGET_ALL) {
		ro.ro_threads = po->po_target == PROF_TARGET_PIDS &&
		    !ro.ro_inherit;
		ro.ro_pids = po->po_ids;
		ro.ro_npids = po->po_nids;
	}
	session->se_rings = prof_rings_open(&ro, &session->se_error);
	if (session->se_rings == NULL)
		return (-1);
	return (prof_targets_seed(session));
}

static int
snapshot_kernel(struct prof_session *session, uint64_t now_ns)
{
	struct prof_text text;

	if (session->se_use_bpf)
		session->se_kernel_names = prof_kernel_names_open();
	if (session->se_kernel_names != NULL)
		prof_kernel_names_text(session->se_kernel_names, &text);
	return (prof_procfs_snapshot_kernel(session->se_kernel_names == NULL ?
	    NULL : &text, now_ns, prof_session_take, session));
}

static int
snapshot(struct prof_session *session)
{
	uint64_t now_ns = prof_now_ns();
	size_t n;

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

static int
open_epoll(struct prof_session *session)
{
	const int *fds;
	size_t n, nfds;

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
	if (session->se_use_bpf && watch_fd(session,
	    prof_bpf_bell_fd(&session->se_bpf), 0) == -1)
		return (-1);
	nfds = prof_rings_fds(session->se_rings, &fds);
	for (n = 0; n < nfds; n++)
		if (watch_fd(session, fds[n], 0) == -1)
			return (-1);
	/* One that has ended says so once (EPOLLET); others may run on. */
	for (n = 0; n < session->se_ntarget_fds; n++)
		if (watch_fd(session, session->se_target_fds[n], EPOLLET) ==
		    -1)
			return (-1);
	if (watch_fd(session, session->se_command.cm_pidfd, 0) == -1)
		return (-1);
	session->se_marks = prof_marks_open(&session->se_error);
	if (session->se_marks == NULL) {
		/* Marks are a convenience; the recording is not. */
		return (prof_session_add_note(session, "markers are not "
		    "accepted: %s",
		    session->se_error.pe_text));
	}
	return (watch_fd(session, prof_marks_fd(session->se_marks), 0));
}

static int
event_info(struct prof_session *session, const struct prof_event *event)
{
	struct prof_event_info info = { 0 };
	uint32_t n;

	info.pi_name = event->ev_name;
	info.pi_probe = event->ev_probe;
	info.pi_provider = event->ev_provider != NULL ?
	    event->ev_provider->pv_name : "proc";
	info.pi_unit = event->ev_unit;
	if (event->ev_attr.freq)
		info.pi_frequency_hz = event->ev_attr.sample_freq;
	else if (event->ev_kind == PROF_KIND_PERF)
		info.pi_period = event->ev_attr.sample_period;
	info.pi_nargs = event->ev_nargs;
	for (n = 0; n < event->ev_nargs; n++) {
		info.pi_arg_names[n] = event->ev_args[n].ag_name;
		info.pi_arg_types[n] = event->ev_args[n].ag_type;
		info.pi_arg_is_str[n] = event->ev_args[n].ag_is_text ||
		    event->ev_args[n].ag_load.ar_kind != DTP_A_INT;
		info.pi_arg_is_signed[n] =
		    event->ev_args[n].ag_load.ar_signed;
	}
	info.pi_is_syscall = event->ev_kind == PROF_KIND_SYSCALL;
	info.pi_is_call = event->ev_is_call;
	info.pi_parts = prof_event_parts(session, event);
	if (info.pi_parts & DTP_P_VALUES)
		info.pi_ncounters = (uint32_t)session->se_nvalues;
	for (n = 0; n < info.pi_ncounters; n++)
		info.pi_counter[n] = (uint32_t)(session->se_events.el_n -
		    session->se_nvalues + n);
	return (prof_sink_event(&session->se_sink, &info));
}

static int
open_output(struct prof_session *session)
{
	size_t n;

	session->se_writer = prof_writer_open(session->se_options.po_output,
	    &session->se_error);
	if (session->se_writer == NULL)
		return (-1);
	session->se_sink = prof_writer_sink(session->se_writer);
	session->se_hits = prof_hits_new(session->se_use_bpf ?
	    PROF_PROCESSES_ALL : PROF_PROCESSES_PERF);
	session->se_codes = prof_codes_new(prof_language_at);
	if (session->se_hits == NULL || session->se_codes == NULL)
		return (prof_fail_nomem(&session->se_error));
	if (prof_describe(session) == -1)
		goto fail;
	for (n = 0; n < session->se_events.el_n; n++)
		if (event_info(session, session->se_events.el_event[n]) == -1)
			goto fail;
	return (0);
fail:
	session->se_error = *prof_writer_error(session->se_writer);
	return (-1);
}

/* Back to nothing: in the reverse order of arm. */
void
prof_session_undo(struct prof_session *session)
{
	size_t n;

	prof_marks_close(session->se_marks);
	session->se_marks = NULL;
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
	prof_rings_close(session->se_rings);
	session->se_rings = NULL;
	prof_reread_free(session->se_reread);
	session->se_reread = NULL;
	prof_drain_free(session->se_drain);
	session->se_drain = NULL;
	prof_calls_fini(session);
	free(session->se_gaps);
	session->se_gaps = NULL;
	prof_snapshots_free(session->se_snapshots);
	session->se_snapshots = NULL;
	prof_unwind_free(session->se_unwind);
	session->se_unwind = NULL;
	prof_hits_free(session->se_hits);
	session->se_hits = NULL;
	prof_codes_free(session->se_codes);
	session->se_codes = NULL;
	prof_broker_free(session->se_broker);
	session->se_broker = NULL;
	prof_kernel_names_close(session->se_kernel_names);
	session->se_kernel_names = NULL;
	prof_overhead_fini(&session->se_overhead);
	prof_place_fini(&session->se_place);
	prof_bpf_fini(&session->se_bpf);
	free(session->se_counts);
	free(session->se_missed);
	session->se_counts = NULL;
	session->se_missed = NULL;
	if (session->se_writer != NULL)
		prof_writer_discard(session->se_writer);
	session->se_writer = NULL;
	prof_command_fini(&session->se_command);
	prof_pidset_fini(&session->se_pids);
	free(session->se_online);
	free(session->se_cpus);
	session->se_online = session->se_cpus = NULL;
	session->se_nonline = session->se_ncpus = 0;
}
