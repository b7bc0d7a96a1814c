/* SPDX-License-Identifier: ISC */
/*
 * Counting sessions: the public calls and the states (counters_impl.h).
 * Counts events of a command, of processes, threads, a cgroup or CPUs, and
 * samples nothing; start and stop may take turns, and counts go on.
 *
 * Called by dtprof stat and by programs that use libprof.  Nothing of a
 * session outlives it: the kernel's events go with their descriptors.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "confine/privilege.h"
#include "counters_impl.h"
#include "os/pmu_kinds.h"

#define ATTACH_TRIES	20	/* while a target keeps starting threads */
#define LOOK_MS		50	/* for threads, which have no pidfd */
#define TAKEN_NS	5000000ULL	/* more than a fork and an exec take */
#define TAKEN_PART	10

static int	state_misuse(struct prof_counting *, const char *);
static int	targets_attach(struct prof_counting *);
static void	usage_of_children(uint64_t ns[2]);
static bool	has_ended(struct prof_counting *);
static void	command_ended(struct prof_counting *);
static void	end_run(struct prof_counting *);

struct prof_counting *
prof_counting_open(const struct prof_counting_options *options,
    struct prof_err *error)
{
	struct prof_counting_options co = { 0 };
	struct prof_counting *counting = calloc(1, sizeof(*counting));

	if (counting == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	if (prof_options_take(&co, sizeof(co), options,
	    "prof_counting_options", error) == -1) {
		free(counting);
		return (NULL);
	}
	const struct prof_options po = { .po_size = sizeof(po),
	    .po_target = co.co_target, .po_ids = co.co_ids,
	    .po_nids = co.co_nids, .po_cgroup = co.co_cgroup,
	    .po_cpus = co.co_cpus, .po_ncpus = co.co_ncpus,
	    .po_argv = co.co_argv, .po_no_inherit = co.co_no_inherit,
	    .po_no_kernel = co.co_no_kernel, .po_log = co.co_log,
	    .po_log_arg = co.co_log_arg };

	counting->kg_cgroup = -1;
	counting->kg_split_by = co.co_split;
	prof_command_init(&counting->kg_command);
	if (prof_options_copy(&counting->kg_options, &po,
	    &counting->kg_error) == 0 &&
	    (counting->kg_names = prof_names_open(&counting->kg_error)) !=
	    NULL)
		return (counting);
	*error = counting->kg_error;
	prof_counting_close(counting);
	return (NULL);
}

const struct prof_err *
prof_counting_error(const struct prof_counting *counting)
{
	return (&counting->kg_error);
}

static int
state_misuse(struct prof_counting *counting, const char *what)
{
	return (prof_fail(&counting->kg_error, PROF_E_BUSY,
	    "%s is not possible in this state", what));
}

int
prof_counting_say(struct prof_counting *counting, const char *fmt, ...)
{
	char text[512], **note;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note = prof_append(&counting->kg_notes, &counting->kg_nnotes,
	    sizeof(*note));
	if (note == NULL || (*note = strdup(text)) == NULL)
		return (-1);
	if (counting->kg_options.po_log != NULL)
		counting->kg_options.po_log(counting->kg_options.po_log_arg,
		    PROF_LOG_NOTE, text);
	return (0);
}

const char *
prof_counting_note(const struct prof_counting *counting, size_t n)
{
	return (n < counting->kg_nnotes ? counting->kg_notes[n] : NULL);
}

int
prof_counting_add(struct prof_counting *counting, const char *spec)
{
	if (counting->kg_state != COUNTING_INIT)
		return (state_misuse(counting, "adding an event"));
	return (prof_counting_resolve(counting, spec));
}

size_t
prof_counting_nevents(const struct prof_counting *counting)
{
	return (counting->kg_nevents);
}

const struct prof_counted_event *
prof_counting_event(const struct prof_counting *counting, size_t event)
{
	return (event < counting->kg_nevents ?
	    &counting->kg_event[event].ke_info : NULL);
}

/* ----------------------------------------------------------------- arm */

/*
 * Open everything for everybody.  When a running target has started somebody
 * meanwhile, its counters may be incomplete, or in part inherited: again.
 */
static int
targets_attach(struct prof_counting *counting)
{
	for (int tries = 1;; tries++) {
		if (prof_counting_find_targets(counting) == -1 ||
		    prof_counting_open_all(counting) == -1)
			return (-1);
		if (counting->kg_options.po_target != PROF_TARGET_PIDS ||
		    prof_counting_splits_family(counting) ||
		    !prof_counting_missed_any(counting))
			return (0);
		if (tries == ATTACH_TRIES)
			break;
		prof_counting_close_all(counting);
	}
	return (prof_counting_say(counting, "the target keeps starting "
	    "threads: threads started while attaching may be missing"));
}

int
prof_counting_arm(struct prof_counting *counting)
{
	const struct prof_options *po = &counting->kg_options;

	if (counting->kg_state != COUNTING_INIT &&
	    counting->kg_state != COUNTING_STOPPED)
		return (state_misuse(counting, "arming"));
	if (counting->kg_nevents == 0)
		return (prof_fail(&counting->kg_error, PROF_E_EMPTY,
		    "no event to count"));
	end_run(counting);
	counting->kg_wall_ns = 0;
	if (counting->kg_split_by != PROF_SPLIT_NONE &&
	    prof_counting_split_check(counting) == -1)
		return (-1);
	prof_counting_try_fitting(counting);
	if (po->po_argv != NULL && prof_command_spawn(&counting->kg_command,
	    po->po_argv, NULL, &counting->kg_error) == -1)
		return (-1);
	if (targets_attach(counting) == -1 ||
	    (counting->kg_split_by != PROF_SPLIT_NONE &&
	    prof_counting_split_open(counting) == -1)) {
		end_run(counting);
		return (-1);
	}
	counting->kg_state = COUNTING_ARMED;
	return (0);
}

/* Give back what arm made. */
static void
end_run(struct prof_counting *counting)
{
	prof_counting_split_close(counting);
	prof_counting_close_all(counting);
	prof_command_fini(&counting->kg_command);
	counting->kg_released = false;
	counting->kg_state = COUNTING_INIT;
	for (size_t e = 0; e < counting->kg_nevents; e++)
		counting->kg_event[e].ke_least = 0;
}

/* ------------------------------------------------------- start and stop */

static void
usage_of_children(uint64_t ns[2])
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) == -1)
		memset(&usage, 0, sizeof(usage));
	ns[0] = (uint64_t)usage.ru_utime.tv_sec * 1000000000 +
	    (uint64_t)usage.ru_utime.tv_usec * 1000;
	ns[1] = (uint64_t)usage.ru_stime.tv_sec * 1000000000 +
	    (uint64_t)usage.ru_stime.tv_usec * 1000;
}

int
prof_counting_start(struct prof_counting *counting)
{
	const struct prof_options *po = &counting->kg_options;
	const bool releases = counting->kg_command.cm_pid != 0 &&
	    !counting->kg_released;

	if (counting->kg_state == COUNTING_ON)
		return (0);
	if (counting->kg_state == COUNTING_INIT ||
	    (counting->kg_state == COUNTING_STOPPED && counting->kg_split !=
	    NULL))
		return (state_misuse(counting, "starting"));
	/* A command's own counters are switched on by its exec. */
	if (!releases || po->po_target != PROF_TARGET_COMMAND ||
	    counting->kg_split != NULL)
		prof_counting_switch(counting, true);
	if (counting->kg_split != NULL)
		prof_counting_split_visit(counting);
	counting->kg_since_ns = prof_now_ns();
	counting->kg_state = COUNTING_ON;
	if (!releases)
		return (0);
	usage_of_children(counting->kg_usage_ns);
	counting->kg_released = true;
	return (prof_command_release(&counting->kg_command, po->po_argv[0],
	    &counting->kg_error));
}

/* What makes a count too small, once for each event. */
static void
note_missing(struct prof_counting *counting)
{
	const bool is_cpus = counting->kg_target[0].kt_cpu != -1;
	struct counting_event *event;
	char text[256];

	for (size_t e = 0; e < counting->kg_nevents; e++) {
		event = &counting->kg_event[e];
		if (event->ke_is_noted)
			continue;
		event->ke_is_noted = true;
		if (prof_counting_is_filtered(counting, e))
			(void)prof_counting_say(counting, "%s: another "
			    "tracer's BPF program on this tracepoint may drop "
			    "events, so the count may be too small",
			    event->ke_info.ce_name);
		else if (!is_cpus && prof_pmu_partial(prof_names_kinds(
		    counting->kg_names), &event->ke_attr, text, sizeof(text)))
			(void)prof_counting_say(counting, "%s is %s; use -a to "
			    "count on all CPUs", event->ke_info.ce_name, text);
		else
			event->ke_is_noted = false;
	}
}

/*
 * An exec takes a process's own events away if the program has rights that its
 * user has not, or may not be read.  What such programs have run is CPU time of
 * the command in which no event was enabled.
 */
static void
note_taken_away(struct prof_counting *counting)
{
	const uint64_t ran_ns = counting->kg_usage_ns[0] +
	    counting->kg_usage_ns[1];
	struct prof_counted value;
	uint64_t enabled_ns = 0;

	if (!counting->kg_command.cm_done || counting->kg_is_told ||
	    counting->kg_options.po_no_inherit || counting->kg_split != NULL ||
	    counting->kg_target[0].kt_cpu != -1)
		return;
	for (size_t e = 0; e < counting->kg_nevents; e++) {
		prof_counting_value(counting, e, &value);
		if (value.cd_enabled_ns > enabled_ns)
			enabled_ns = value.cd_enabled_ns;
	}
	if (ran_ns < enabled_ns + TAKEN_NS ||
	    ran_ns - enabled_ns < ran_ns / TAKEN_PART)
		return;
	counting->kg_is_told = true;
	(void)prof_counting_say(counting, "counted for %.3f s of the %.3f s of "
	    "CPU time of the command: the kernel removes the events of "
	    "set-user-ID and unreadable programs; count as root",
	    (double)enabled_ns / 1e9, (double)ran_ns / 1e9);
}

void
prof_counting_confine(const struct prof_counting *counting)
{
	(void)prof_privileges_keep(PROF_CAPS_COUNT |
	    (counting->kg_options.po_nids != 0 ? PROF_CAPS_LOOK : 0) |
	    (counting->kg_split != NULL ? PROF_CAPS_WAIT : 0) |
	    (counting->kg_command.cm_pid != 0 ? PROF_CAPS_COMMAND : 0));
}

int
prof_counting_stop(struct prof_counting *counting)
{
	if (counting->kg_state == COUNTING_STOPPED)
		return (0);
	if (counting->kg_state != COUNTING_ON)
		return (state_misuse(counting, "stopping"));
	prof_counting_switch(counting, false);
	note_missing(counting);
	if (!counting->kg_command.cm_done)
		counting->kg_wall_ns += prof_now_ns() - counting->kg_since_ns;
	counting->kg_state = COUNTING_STOPPED;
	prof_counting_read_all(counting);
	note_taken_away(counting);
	return (counting->kg_split == NULL ? 0 :
	    prof_counting_split_collect(counting));
}

int
prof_counting_read(struct prof_counting *counting)
{
	if (counting->kg_state == COUNTING_INIT)
		return (state_misuse(counting, "reading"));
	prof_counting_read_all(counting);
	return (0);
}

/* ---------------------------------------------------------------- wait */

static void
command_ended(struct prof_counting *counting)
{
	uint64_t now_ns[2];

	if (counting->kg_state == COUNTING_ON)
		counting->kg_wall_ns += prof_now_ns() - counting->kg_since_ns;
	usage_of_children(now_ns);
	counting->kg_usage_ns[0] = now_ns[0] - counting->kg_usage_ns[0];
	counting->kg_usage_ns[1] = now_ns[1] - counting->kg_usage_ns[1];
}

/* The command, else the last of the targets. */
static bool
has_ended(struct prof_counting *counting)
{
	const struct prof_options *po = &counting->kg_options;
	struct prof_command *command = &counting->kg_command;
	const bool was_done = command->cm_done;

	if (command->cm_pid != 0) {
		if (!prof_command_poll(command))
			return (false);
		if (!was_done)
			command_ended(counting);
		return (true);
	}
	if (po->po_target != PROF_TARGET_PIDS &&
	    po->po_target != PROF_TARGET_TIDS)
		return (false);
	for (size_t n = 0; n < po->po_nids; n++)
		if (prof_procfs_exists(po->po_ids[n]))
			return (false);
	return (true);
}

int
prof_counting_wait(struct prof_counting *counting, int timeout_ms)
{
	struct pollfd one = { .fd = -1, .events = POLLIN };

	if (counting->kg_state != COUNTING_ON)
		return (state_misuse(counting, "waiting"));
	if (has_ended(counting))
		return (0);
	if (counting->kg_command.cm_pid != 0)
		one.fd = counting->kg_command.cm_pidfd;
	/* Of several targets the first that lives; the next round, the next. */
	for (size_t n = 0; one.fd == -1 && n < counting->kg_npidfds; n++)
		if (prof_procfs_exists(counting->kg_options.po_ids[n])) {
			one.fd = counting->kg_pidfd[n];
			break;
		}
	if (one.fd == -1 && counting->kg_npidfds > 0 && timeout_ms > LOOK_MS)
		timeout_ms = LOOK_MS;
	(void)poll(&one, 1, timeout_ms);
	return (has_ended(counting) ? 0 : 1);
}

void
prof_counting_status_sized(struct prof_counting *counting,
    struct prof_counting_status *status, size_t size)
{
	struct prof_counting_status now = { 0 };
	const struct prof_command *command = &counting->kg_command;

	now.ks_wall_ns = counting->kg_wall_ns;
	if (counting->kg_state == COUNTING_ON && !command->cm_done)
		now.ks_wall_ns += prof_now_ns() - counting->kg_since_ns;
	now.ks_command_pid = command->cm_pid;
	now.ks_command_done = command->cm_done;
	now.ks_command_status = command->cm_status;
	if (command->cm_done) {
		now.ks_user_ns = counting->kg_usage_ns[0];
		now.ks_system_ns = counting->kg_usage_ns[1];
	}
	prof_struct_give(status, size, &now, sizeof(now));
}

void
prof_counting_close(struct prof_counting *counting)
{
	if (counting == NULL)
		return;
	end_run(counting);
	for (size_t n = 0; n < counting->kg_npidfds; n++)
		if (counting->kg_pidfd[n] != -1)
			close(counting->kg_pidfd[n]);
	if (counting->kg_cgroup != -1)
		close(counting->kg_cgroup);
	for (size_t e = 0; e < counting->kg_nevents; e++)
		prof_counting_unmake(&counting->kg_event[e]);
	for (size_t n = 0; n < counting->kg_nnotes; n++)
		free(counting->kg_notes[n]);
	free(counting->kg_notes);
	free(counting->kg_pidfd);
	free(counting->kg_target);
	free(counting->kg_event);
	prof_events_free(&counting->kg_events);
	prof_names_close(counting->kg_names);
	prof_options_free(&counting->kg_options);
	free(counting);
}
