/* SPDX-License-Identifier: ISC */
/*
 * Links of a session's programs: made, but not started; gone.  The one place
 * that knows the order of stopping.  Counters and timers are sampling.c's.
 *
 * Called by session.c and arm.c, prof_bpf_try before load.c has loaded the
 * programs, all else after.  A counter sits on a CPU or on a task; attaching
 * starts nothing, since the state is still OFF.
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

#include "base/clock.h"
#include "os/permission.h"
#include "os/pmu_kinds.h"
#include "session/session_impl.h"

#define DRAIN_PATIENCE_MS	1000

#define EXIT	"sched_process_exit"
#define TURN	"sched_switch"	/* only where timers are on tasks */

static int	attach_raw(struct prof_session *, struct prof_event *,
		    struct prof_instance *);
static int	attach_lives(struct prof_session *, struct prof_event *,
		    struct prof_instance *, const char *);

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

/*
 * Attaching starts nothing, since the state is still OFF.  Programs on one
 * tracepoint run in this order: the hook of exits, by which a process loses
 * its mappings, comes after the events there.
 */
int
prof_bpf_attach(struct prof_session *session)
{
	struct prof_event *lives = session->se_events.el_event[0];
	struct prof_bpf *bpf = &session->se_bpf;
	size_t n;

	for (n = 0; n < session->se_events.el_n; n++) {
		struct prof_event *event = session->se_events.el_event[n];
		struct prof_instance *second = prof_bpf_second(bpf, event);

		if (event->ev_kind == PROF_KIND_PERF)
			continue;
		/* Behind the first, whose mark it looks for. */
		if (attach_raw(session, event, &bpf->bp_instance[n]) == -1 ||
		    (second->in_obj != NULL &&
		    attach_raw(session, event, second) == -1))
			return (-1);
	}
	if (attach_lives(session, lives, &bpf->bp_instance[0], EXIT) == -1 ||
	    (prof_bpf_second(bpf, lives)->in_obj != NULL &&
	    attach_lives(session, lives, prof_bpf_second(bpf, lives), EXIT) ==
	    -1))
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
	if (prof_fd_keep(&instance->in_links, &instance->in_nlinks, fd) == -1) {
		close(fd);
		return (prof_fail_nomem(&session->se_error));
	}
	return (0);
}

/*
 * The programs of an object, by their sections.  Of those of lives the one at
 * a certain tracepoint, or (NULL) all that have no turn of their own.
 */
static int
attach_lives(struct prof_session *session, struct prof_event *event,
    struct prof_instance *instance, const char *only)
{
	const struct bpf_program *program = NULL;

	while ((program = bpf_object__next_program(instance->in_obj,
	    (struct bpf_program *)program)) != NULL) {
		const char *tracepoint = strchr(
		    bpf_program__section_name(program), '/') + 1;

		if ((only != NULL ? strcmp(tracepoint, only) == 0 :
		    event->ev_kind != PROF_KIND_PROC ||
		    (strcmp(tracepoint, EXIT) != 0 &&
		    strcmp(tracepoint, TURN) != 0)) &&
		    attach_raw_program(session, event, instance,
		    bpf_program__fd(program), tracepoint) == -1)
			return (-1);
	}
	return (0);
}

/* All of its programs but that which looks at threads, once, at stop. */
static int
attach_call(struct prof_session *session, struct prof_event *event,
    struct prof_instance *instance)
{
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

/* It is the last of its links. */
int
prof_bpf_watch_turns(struct prof_session *session, bool on)
{
	struct prof_instance *lives = &session->se_bpf.bp_instance[0];

	if (on)
		return (attach_lives(session, session->se_events.el_event[0],
		    lives, TURN));
	close(lives->in_links[--lives->in_nlinks]);
	return (0);
}

static int
attach_raw(struct prof_session *session, struct prof_event *event,
    struct prof_instance *instance)
{
	if (event->ev_kind == PROF_KIND_COUNTER &&
	    !prof_values_is_first(session, event))
		return (0);
	if (event->ev_kind != PROF_KIND_PROC &&
	    event->ev_kind != PROF_KIND_COUNTER && !event->ev_is_call)
		return (attach_raw_program(session, event, instance,
		    instance->in_prog[0], event->ev_tracepoint));
	return (event->ev_is_call ? attach_call(session, event, instance) :
	    attach_lives(session, event, instance, NULL));
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
	const uint64_t ran_ns = prof_session_ran_ns(session);
	const uint64_t now_ns = prof_now_ns();
	struct dtp_control *control = session->se_bpf.bp_control;

	control->co_start_ns = now_ns - ran_ns;
	control->co_begun_ns = now_ns;
	if (!session->se_place.pl_on_tasks && !prof_place_is_exact(session))
		control->co_clock_ns = now_ns - (ran_ns -
		    session->se_place.pl_clock_ns);
	prof_bpf_state(&session->se_bpf, DTP_RECORDING);
}

/* Timers go to all CPUs, and begin there. */
void
prof_bpf_clock(struct prof_session *session)
{
	session->se_place.pl_clock_ns = prof_session_ran_ns(session);
	__atomic_store_n(&session->se_bpf.bp_control->co_clock_ns,
	    prof_now_ns(), __ATOMIC_RELAXED);
}

int
prof_bpf_pause(struct prof_session *session)
{
	prof_bpf_state(&session->se_bpf, DTP_PAUSED);
	return (prof_bpf_disable(session));
}

const struct dtp_counts *
prof_bpf_counts(const struct prof_bpf *bpf, uint32_t cpu, uint32_t event)
{
	return (&bpf->bp_counts[(size_t)cpu * bpf->bp_nevents + event]);
}

/* How often the kernel skipped the programs of an instance. */
static uint64_t
skipped(const struct prof_instance *in)
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
missed(const struct prof_bpf *bpf, const struct prof_event *event)
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
		return (skipped(&bpf->bp_instance[event->ev_id]));
	all = skipped(second);
	return (all > kept ? all - kept : 0);
}

static void
read_missed(struct prof_session *session)
{
	for (uint32_t e = 0; e < session->se_bpf.bp_nevents; e++)
		session->se_missed[e] = missed(&session->se_bpf,
		    session->se_events.el_event[e]);
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

	for (e = 0; bpf->bp_instance != NULL && e < 2 * bpf->bp_nevents;
	    e++) {
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

int
prof_bpf_stop(struct prof_session *session)
{
	struct prof_bpf *bpf = &session->se_bpf;
	const struct timespec pause = { 0, 1000000 };
	int tries, rv;

	prof_bpf_state(bpf, DTP_STOPPED);
	rv = prof_bpf_disable(session);
	if (prof_bpf_turns(session) == -1)
		rv = -1;
	prof_bpf_read(session);
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
			    "a BPF program is still running after stop"));
		nanosleep(&pause, NULL);
	}
	return (rv);
}
