/* SPDX-License-Identifier: ISC */
/*
 * Whom a counting session counts: CPUs, or threads.  A running process is
 * all its threads, its descendants and theirs, and whoever they start later
 * inherits the counters.  A thread that is started while its parent's
 * counters are being opened may have inherited some and not others, and
 * nothing tells which; so counters.c opens all of them disabled, looks again
 * here, and begins anew when somebody has come.
 *
 * Called while arming.  Reads /proc; opens nothing but a cgroup's directory.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "counters_impl.h"
#include "os/cpus.h"

static int	find_cpus(struct prof_counting *, int);
static int	find_threads(struct prof_counting *, struct prof_pidset *);
static int	process_watch(struct prof_counting *);

static int
target_append(struct prof_counting *counting, int pid, int cpu)
{
	struct counting_target *target = prof_append(&counting->kg_target,
	    &counting->kg_ntargets, sizeof(*target));

	if (target == NULL)
		return (prof_fail_nomem(&counting->kg_error));
	*target = (struct counting_target){ pid, cpu };
	return (0);
}

/* Each CPU asked for, else each that is online. */
static int
find_cpus(struct prof_counting *counting, int pid)
{
	const struct prof_options *po = &counting->kg_options;
	const int *cpu = po->po_cpus;
	size_t ncpus = po->po_ncpus;
	int *online = NULL, rv = 0;

	if (ncpus == 0) {
		if (prof_cpus_online(&online, &ncpus,
		    &counting->kg_error) == -1)
			return (-1);
		cpu = online;
	}
	for (size_t n = 0; rv == 0 && n < ncpus; n++)
		rv = target_append(counting, pid, cpu[n]);
	free(online);
	return (rv);
}

static int
open_cgroup(struct prof_counting *counting)
{
	const char *path = counting->kg_options.po_cgroup;
	struct prof_err *error = &counting->kg_error;
	struct stat st;

	counting->kg_cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (counting->kg_cgroup != -1 &&
	    fstatat(counting->kg_cgroup, "cgroup.procs", &st, 0) == 0)
		return (find_cpus(counting, counting->kg_cgroup));
	prof_fail(error, PROF_E_TARGET, "%s: %s", path, counting->kg_cgroup !=
	    -1 ? "not a cgroup" : errno == ENOENT ?
	    "no such cgroup" : strerror(errno));
	return (prof_cure(error, "use a directory below the cgroup2 mount, see "
	    "mount -t cgroup2"));
}

/* All that is to be counted now: processes, threads, descendants. */
static int
find_threads(struct prof_counting *counting, struct prof_pidset *set)
{
	const struct prof_options *po = &counting->kg_options;
	int rv = 0;

	for (size_t n = 0; rv == 0 && n < po->po_nids; n++)
		rv = prof_pidset_add(set, (uint32_t)po->po_ids[n]);
	if (rv == 0 && po->po_target != PROF_TARGET_TIDS)
		rv = prof_procfs_family(po->po_ids, po->po_nids,
		    !po->po_no_inherit, prof_pidset_add_threads, set);
	return (rv == 0 ? 0 : prof_fail_nomem(&counting->kg_error));
}

bool
prof_counting_missed_any(struct prof_counting *counting)
{
	struct prof_pidset now = { 0 }, then = { 0 };
	bool missed = false;

	for (size_t n = 0; n < counting->kg_ntargets; n++)
		if (prof_pidset_add(&then,
		    (uint32_t)counting->kg_target[n].kt_pid) == -1)
			goto out;
	if (find_threads(counting, &now) == -1)
		goto out;
	for (size_t n = 0; n < now.pt_cap && !missed; n++)
		missed = now.pt_slot[n] != 0 &&
		    !prof_pidset_has(&then, now.pt_slot[n]);
out:
	prof_pidset_fini(&now);
	prof_pidset_fini(&then);
	return (missed);
}

/* A descriptor per process tells us when it ends. */
static int
process_watch(struct prof_counting *counting)
{
	const struct prof_options *po = &counting->kg_options;

	if (counting->kg_pidfd != NULL)
		return (0);
	counting->kg_pidfd = calloc(po->po_nids + 1,
	    sizeof(*counting->kg_pidfd));
	if (counting->kg_pidfd == NULL)
		return (prof_fail_nomem(&counting->kg_error));
	for (size_t n = 0; n < po->po_nids; n++) {
		if (!prof_procfs_exists(po->po_ids[n])) {
			prof_fail(&counting->kg_error, PROF_E_TARGET,
			    "no %s %d", po->po_target == PROF_TARGET_PIDS ?
			    "process" : "thread", po->po_ids[n]);
			return (prof_cure(&counting->kg_error, "list running "
			    "processes with ps -e%s", po->po_target ==
			    PROF_TARGET_PIDS ? "" : "L"));
		}
		/* Not of a thread: -1, and it is looked for in /proc. */
		counting->kg_pidfd[counting->kg_npidfds++] =
		    (int)syscall(SYS_pidfd_open, po->po_ids[n], 0);
	}
	return (0);
}

static bool
is_named(const struct prof_options *po, uint32_t tid)
{
	for (size_t n = 0; n < po->po_nids; n++)
		if ((uint32_t)po->po_ids[n] == tid)
			return (true);
	return (false);
}

int
prof_counting_find_targets(struct prof_counting *counting)
{
	const struct prof_options *po = &counting->kg_options;
	struct prof_pidset set = { 0 };
	int rv = 0;

	counting->kg_ntargets = 0;
	if (po->po_target == PROF_TARGET_PIDS &&
	    process_watch(counting) == -1)
		return (-1);
	if (prof_counting_splits_family(counting))
		return (find_cpus(counting, -1));
	switch (po->po_target) {
	case PROF_TARGET_ALL:
		return (find_cpus(counting, -1));
	case PROF_TARGET_CGROUP:
		return (counting->kg_cgroup != -1 ?
		    find_cpus(counting, counting->kg_cgroup) :
		    open_cgroup(counting));
	case PROF_TARGET_COMMAND:
		return (target_append(counting, counting->kg_command.cm_pid,
		    -1));
	default:
		break;
	}
	if (process_watch(counting) == -1 || find_threads(counting, &set) == -1)
		rv = -1;
	/* Those named first: what is said about a failure is about them. */
	for (size_t n = 0; rv == 0 && n < po->po_nids; n++)
		rv = target_append(counting, po->po_ids[n], -1);
	for (size_t n = 0; rv == 0 && n < set.pt_cap; n++)
		if (set.pt_slot[n] != 0 && !is_named(po, set.pt_slot[n]))
			rv = target_append(counting, (int)set.pt_slot[n], -1);
	prof_pidset_fini(&set);
	return (rv);
}
