/* SPDX-License-Identifier: ISC */
/*
 * Passes over all threads, of events of wall-clock time: when they are due, and
 * what they found (struct dtp_wall).  A pass looks at the threads that a scan
 * finds changed, or at all threads.
 *
 * A thread that is found as before has a record without stacks; it gets those
 * of the thread's last record, which is kept here as it was read, until the
 * thread has no more such records.  Called by backend.c, drain.c and load.c.
 * The BPF programs are in sys/prov_wall.bpf.c.
 */
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "backend/bpf/bpf_impl.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/intern.h"
#include "events/instrument.h"
#include "os/facts.h"

#define KEPT_BYTES	(64UL << 20)	/* at most, of records */
#define KEPT_ROUNDS	20	/* a blocked thread has a record in 10 s */
#define SECOND_NS	1000000000ULL
#define ONE_BY_ONE	24	/* costs so much more than in a pass over all */

/* A record, or NULL, and the round in which it was needed last. */
struct kept {
	struct dtp_rec	*kp_rec;
	uint64_t	 kp_round;
};

struct prof_wall {
	int		 wl_timer;
	struct prof_map	 wl_threads;	/* by thread: there is one event */
	struct kept	*wl_kept;	/* by number there */
	size_t		 wl_n;
	size_t		 wl_cap;
	size_t		 wl_bytes;
	uint64_t	 wl_round;	/* of forgetting records ... */
	uint64_t	 wl_round_ns;	/* ... and when it was */
	uint64_t	 wl_begun_ns;	/* targets_begun at the last pass */
	uint64_t	 wl_missing;	/* samples whose record is not kept */
	uint8_t		 wl_again[DTP_MAX_RECORD];
};

static int
wall_fail(const struct prof_bpf *bpf, const struct prof_event *event,
    const char *what)
{
	return (prof_fail(bpf->bp_error, PROF_E_KERNEL, "%s: cannot %s: %s",
	    event->ev_name, what, strerror(errno)));
}

/* The event that has passes, or NULL: at most one is recorded. */
static const struct prof_event *
event_of(const struct prof_bpf *bpf)
{
	for (size_t n = 1; n < bpf->bp_events->el_n; n++)
		if (bpf->bp_events->el_event[n]->ev_instrument->im_pass !=
		    NULL)
			return (bpf->bp_events->el_event[n]);
	return (NULL);
}

static int
map_of(const struct prof_bpf *bpf, const struct prof_event *event)
{
	return (bpf_object__find_map_fd_by_name(
	    bpf->bp_instance[event->ev_id].in_obj, "wall"));
}

static int
pass_read(const struct prof_bpf *bpf, const struct prof_event *event,
    struct dtp_wall *pass)
{
	const uint32_t zero = 0;

	return (bpf_map_lookup_elem(map_of(bpf, event), &zero, pass) == 0 ? 0 :
	    wall_fail(bpf, event, "read the last pass"));
}

/* The program scan_wall, once. */
static int
wall_scan(const struct prof_bpf *bpf, const struct prof_event *event)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	const struct bpf_program *program = bpf_object__find_program_by_name(
	    bpf->bp_instance[event->ev_id].in_obj, "scan_wall");

	return (bpf_prog_test_run_opts(bpf_program__fd(program), &opts) == 0 ?
	    0 : wall_fail(bpf, event, "scan the threads"));
}

static void
record_drop(struct prof_wall *wall, struct kept *kept)
{
	if (kept->kp_rec != NULL)
		wall->wl_bytes -= kept->kp_rec->dr_size;
	free(kept->kp_rec);
	kept->kp_rec = NULL;
}

/*
 * Forget records that were not needed for a while: their threads have ended, or
 * run.  By rounds, not by time: a recorder that was held up needs them next.
 */
static void
records_forget(struct prof_wall *wall, uint64_t now_ns)
{
	if (now_ns - wall->wl_round_ns < SECOND_NS)
		return;
	wall->wl_round_ns = now_ns;
	wall->wl_round++;
	for (size_t n = 0; n < wall->wl_n; n++)
		if (wall->wl_round - wall->wl_kept[n].kp_round > KEPT_ROUNDS)
			record_drop(wall, &wall->wl_kept[n]);
}

int
prof_wall_begin(struct prof_bpf *bpf)
{
	const struct prof_event *event = event_of(bpf);
	struct itimerspec every = { 0 };
	struct prof_wall *wall;

	if (event == NULL)
		return (0);
	wall = bpf->bp_wall = calloc(1, sizeof(*wall));
	if (wall == NULL)
		return (prof_fail_nomem(bpf->bp_error));
	every.it_interval.tv_sec = (time_t)(event->ev_interval / SECOND_NS);
	every.it_interval.tv_nsec = (long)(event->ev_interval % SECOND_NS);
	every.it_value = every.it_interval;
	wall->wl_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC |
	    TFD_NONBLOCK);
	if (wall->wl_timer == -1 ||
	    timerfd_settime(wall->wl_timer, 0, &every, NULL) == -1)
		return (wall_fail(bpf, event, "start a timer"));
	return (0);
}

int
prof_wall_fd(const struct prof_bpf *bpf)
{
	return (bpf->bp_wall == NULL ? -1 : bpf->bp_wall->wl_timer);
}

void
prof_wall_free(struct prof_wall *wall)
{
	if (wall == NULL)
		return;
	if (wall->wl_timer != -1)
		close(wall->wl_timer);
	for (size_t n = 0; n < wall->wl_n; n++)
		free(wall->wl_kept[n].kp_rec);
	free(wall->wl_kept);
	prof_map_free(&wall->wl_threads);
	free(wall);
}

/* How many tasks there are, as an iterator finds them; 0: not known. */
static uint64_t
tasks_count(void)
{
	unsigned long n = 0;
	FILE *file = fopen("/proc/loadavg", "re");

	if (file == NULL)
		return (0);
	if (fscanf(file, "%*s %*s %*s %*u/%lu", &n) != 1)
		n = 0;
	fclose(file);
	return (n);
}

/*
 * Only the threads that a scan finds changed, if that costs less; 1: all
 * threads are to be looked at.  The first pass is over all, as nothing is
 * known yet; so is the first one after an awaited exec, which the fork before
 * did not make known; and so are those of a cgroup, to which threads may be
 * moved.  In a PID namespace an iterator takes other numbers than a scan finds.
 */
static int
threads_changed(struct prof_bpf *bpf, const struct prof_event *event)
{
	const uint64_t begun_ns = prof_bpf_begun_ns(bpf->bp_control);
	struct dtp_wall pass;

	if (bpf->bp_wall->wl_begun_ns != begun_ns ||
	    bpf->bp_plan->pn_options->po_target == PROF_TARGET_CGROUP ||
	    prof_in_pid_namespace()) {
		bpf->bp_wall->wl_begun_ns = begun_ns;
		return (1);
	}
	if (wall_scan(bpf, event) == -1 || pass_read(bpf, event, &pass) == -1)
		return (-1);
	if (pass.wl_nchanged > DTP_WALL_CHANGED || pass.wl_nchanged *
	    ONE_BY_ONE > tasks_count())
		return (1);
	for (uint64_t n = 0; n < pass.wl_nchanged; n++)
		if (prof_bpf_iterate_thread(bpf, event,
		    event->ev_instrument->im_pass, pass.wl_changed[n]) == -1)
			return (wall_fail(bpf, event, "read a thread"));
	return (0);
}

/* A pass, if it is due. */
int
prof_wall_look(struct prof_bpf *bpf)
{
	const struct prof_event *event = event_of(bpf);
	const uint32_t zero = 0;
	struct dtp_wall pass;
	uint64_t due;
	int all;

	if (bpf->bp_wall == NULL || read(bpf->bp_wall->wl_timer, &due,
	    sizeof(due)) != sizeof(due) || bpf->bp_control->co_state !=
	    DTP_RECORDING || bpf->bp_instance[event->ev_id].in_is_detached)
		return (0);
	if (pass_read(bpf, event, &pass) == -1)
		return (-1);
	pass.wl_from_ns = pass.wl_now_ns;
	pass.wl_now_ns = prof_now_ns();
	pass.wl_passes++;
	pass.wl_walks = pass.wl_nchanged = 0;
	pass.wl_first = pass.wl_left;
	pass.wl_left = 0;
	records_forget(bpf->bp_wall, pass.wl_now_ns);
	if (bpf_map_update_elem(map_of(bpf, event), &zero, &pass,
	    BPF_ANY) == -1)
		return (wall_fail(bpf, event, "begin a pass"));
	all = threads_changed(bpf, event);
	if (all <= 0)
		return (all);
	return (prof_bpf_iterate(bpf, event, event->ev_instrument->im_pass,
	    0) == 0 ? 0 : wall_fail(bpf, event, "read the threads"));
}

/* Keep a record for those that say the same; without room it is forgotten. */
static int
record_keep(struct prof_wall *wall, uint32_t number, const struct dtp_rec *rec)
{
	struct kept *kept;

	while (wall->wl_n <= number)
		if (prof_grow(&wall->wl_kept, &wall->wl_n, &wall->wl_cap,
		    sizeof(*wall->wl_kept)) == NULL)
			return (-1);
	kept = &wall->wl_kept[number];
	record_drop(wall, kept);
	if (wall->wl_bytes + rec->dr_size > KEPT_BYTES ||
	    (kept->kp_rec = malloc(rec->dr_size)) == NULL)
		return (0);
	memcpy(kept->kp_rec, rec, rec->dr_size);
	kept->kp_round = wall->wl_round;
	wall->wl_bytes += rec->dr_size;
	return (0);
}

/*
 * The record with its stacks: the record itself, or a copy of the kept one with
 * the time and the weight of this one.  NULL: no memory.
 */
const struct dtp_rec *
prof_wall_complete(struct prof_wall *wall, const struct dtp_rec *rec)
{
	struct dtp_rec *again;
	struct kept *kept;
	uint32_t number;
	bool is_new;

	number = prof_map_find(&wall->wl_threads, rec->dr_tid, &is_new);
	if (number == PROF_INTERN_FAILED)
		return (NULL);
	if ((rec->dr_flags & DTP_R_AGAIN) == 0)
		return (record_keep(wall, number, rec) == -1 ? NULL : rec);
	if (number >= wall->wl_n || wall->wl_kept[number].kp_rec == NULL) {
		wall->wl_missing++;
		return (rec);
	}
	kept = &wall->wl_kept[number];
	kept->kp_round = wall->wl_round;
	again = (struct dtp_rec *)(void *)wall->wl_again;
	memcpy(again, kept->kp_rec, kept->kp_rec->dr_size);
	again->dr_cpu = rec->dr_cpu;
	again->dr_time_ns = rec->dr_time_ns;
	memcpy(again + 1, rec + 1, sizeof(uint64_t));
	return (again);
}

int
prof_describe_wall(struct prof_bpf *bpf)
{
	const struct prof_event *event = event_of(bpf);
	struct dtp_wall pass;
	char key[3][64];

	if (bpf->bp_wall == NULL)
		return (0);
	if (pass_read(bpf, event, &pass) == -1)
		return (-1);
	snprintf(key[0], sizeof(key[0]), "wall.%u.passes", event->ev_id);
	snprintf(key[1], sizeof(key[1]), "wall.%u.same", event->ev_id);
	snprintf(key[2], sizeof(key[2]), "wall.%u.moved", event->ev_id);
	if (prof_host_number(bpf->bp_plan, key[0], pass.wl_passes) == -1 ||
	    prof_host_number(bpf->bp_plan, key[1], pass.wl_same) == -1 ||
	    prof_host_number(bpf->bp_plan, key[2], pass.wl_moved) == -1 ||
	    (pass.wl_unkept > 0 && prof_host_note(bpf->bp_plan, "%s: at most "
	    "%d threads can be recorded at once: %llu looks at further threads "
	    "are missing", event->ev_name, DTP_WALL_THREADS,
	    (unsigned long long)pass.wl_unkept) == -1) ||
	    (bpf->bp_wall->wl_missing > 0 && prof_host_note(bpf->bp_plan,
	    "%s: %llu samples of waiting threads have no stack: no memory",
	    event->ev_name,
	    (unsigned long long)bpf->bp_wall->wl_missing) == -1))
		return (-1);
	return (0);
}
