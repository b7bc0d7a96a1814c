/* SPDX-License-Identifier: ISC */
/*
 * Who is recorded: checks the targets that the user named, enters them where
 * back ends look, and knows when the last of them has gone.
 *
 * Called by arm.c, after the fork hook is in place: then
 * scanning for descendants until nothing new turns up misses nobody, since
 * whoever is born meanwhile is entered by the hook.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session_impl.h"

#define CGROUP2_MAGIC_DEPTH	64	/* components of a cgroup path */

static int
refuse_cgroup(struct prof_session *session, const char *path, const char *why)
{
	prof_fail(&session->se_error, PROF_E_TARGET, "%s: %s", path, why);
	return (prof_cure(&session->se_error, "use a directory below the "
	    "cgroup2 mount, see mount -t cgroup2"));
}

/*
 * Which number identifies a cgroup to the kernel, and how deep it lies below
 * the root of the hierarchy, which is where numbers of level 0 are.
 */
static int
find_cgroup(struct prof_session *session, const char *path)
{
	struct { struct file_handle fh; uint64_t id; } handle;
	struct stat here, above;
	char up[4096];
	int mount_id, level = 0;

	if (stat(path, &here) == -1)
		return (refuse_cgroup(session, path, errno == ENOENT ?
		    "no such cgroup" : strerror(errno)));
	if ((size_t)snprintf(up, sizeof(up), "%s/cgroup.controllers",
	    path) >= sizeof(up) || access(up, F_OK) == -1)
		return (refuse_cgroup(session, path,
		    "not a version 2 cgroup"));
	/* Other file systems have larger numbers: only now. */
	handle.fh.handle_bytes = sizeof(handle.id);
	if (name_to_handle_at(AT_FDCWD, path, &handle.fh, &mount_id, 0) == -1)
		return (refuse_cgroup(session, path, strerror(errno)));
	memcpy(&session->se_plan.pn_cgroup_id, handle.fh.f_handle,
	    sizeof(session->se_plan.pn_cgroup_id));
	/* The root of the mount has no cgroup.type. */
	snprintf(up, sizeof(up), "%s", path);
	while (level < CGROUP2_MAGIC_DEPTH) {
		size_t length = strlen(up);

		if (length + sizeof("/cgroup.type") > sizeof(up))
			break;
		strcpy(up + length, "/cgroup.type");
		if (access(up, F_OK) == -1)
			break;
		strcpy(up + length, "/..");
		if (stat(up, &above) == -1 || above.st_dev != here.st_dev)
			break;
		level++;
	}
	session->se_plan.pn_cgroup_level = (uint32_t)level;
	return (0);
}

/* Before anything is made: do they exist? */
int
prof_targets_check(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	size_t n;

	if (po->po_target == PROF_TARGET_CGROUP)
		return (find_cgroup(session, po->po_cgroup));
	if (po->po_target != PROF_TARGET_PIDS &&
	    po->po_target != PROF_TARGET_TIDS)
		return (0);
	for (n = 0; n < po->po_nids; n++)
		if (!prof_procfs_exists(po->po_ids[n])) {
			prof_fail(&session->se_error, PROF_E_TARGET,
			    "no %s %d", po->po_target == PROF_TARGET_PIDS ?
			    "process" : "thread", po->po_ids[n]);
			return (prof_cure(&session->se_error, "list running "
			    "processes with ps -e%s", po->po_target ==
			    PROF_TARGET_PIDS ? "" : "L"));
		}
	return (0);
}

static int
seed_one(struct prof_session *session, uint32_t pid, bool waits_for_exec)
{
	if (prof_pidset_add(&session->se_pids, pid) == -1)
		return (prof_fail_nomem(&session->se_error));
	prof_merge_enter(&session->se_merge, pid, waits_for_exec);
	return (0);
}

static int
process_seed(void *arg, int pid)
{
	return (seed_one(arg, (uint32_t)pid, false));
}

/*
 * Processes and, by default, all that descend from them.  A pass that finds
 * nobody new ends it: children born during the pass were entered by the hook
 * in their parent's name, and their own children likewise.
 */
static int
seed_tree(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	size_t before;

	do {
		before = session->se_pids.pt_n;
		if (prof_procfs_family(po->po_ids, po->po_nids,
		    !po->po_no_inherit, process_seed, session) == -1)
			return (prof_fail_nomem(&session->se_error));
	} while (session->se_pids.pt_n != before);
	return (0);
}

/* Mappings and names are those of the process. */
static int
seed_threads(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	size_t n;

	for (n = 0; n < po->po_nids; n++) {
		if (prof_pidset_add(&session->se_pids,
		    prof_group_of(po->po_ids[n])) == -1)
			return (prof_fail_nomem(&session->se_error));
		prof_merge_enter(&session->se_merge, (uint32_t)po->po_ids[n],
		    false);
	}
	return (0);
}

/* A descriptor per process tells us when it ends, also of one to come. */
static int
pids_watch(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	size_t n;

	session->se_target_fds = calloc(po->po_nids + 1,
	    sizeof(*session->se_target_fds));
	if (session->se_target_fds == NULL)
		return (prof_fail_nomem(&session->se_error));
	for (n = 0; n < po->po_nids; n++)
		session->se_target_fds[n] = po->po_target ==
		    PROF_TARGET_PIDS ? (int)syscall(SYS_pidfd_open,
		    po->po_ids[n], 0) : -1;
	session->se_ntarget_fds = po->po_nids;
	return (0);
}

int
prof_targets_seed(struct prof_session *session)
{
	switch (session->se_options.po_target) {
	case PROF_TARGET_COMMAND:
		return (seed_one(session,
		    (uint32_t)session->se_command.cm_pid, true));
	case PROF_TARGET_PIDS:
		return (pids_watch(session) == -1 ? -1 : seed_tree(session));
	case PROF_TARGET_TIDS:
		return (pids_watch(session) == -1 ? -1 : seed_threads(session));
	case PROF_TARGET_NAME:
		return (pids_watch(session));
	default:
		return (0);
	}
}

bool
prof_targets_await(const struct prof_session *session)
{
	return (session->se_options.po_target == PROF_TARGET_NAME &&
	    session->se_target_pid == 0);
}

/*
 * Of others nothing comes but the name by which programs took them for it
 * (prov_proc.bpf.c), before they map the file, and of it its exec.
 */
int
prof_targets_observe(struct prof_session *session,
    const struct prof_record *record)
{
	int fd;

	if (!prof_targets_await(session))
		return (0);
	if (record->pr_type == PROF_R_COMM)
		return (prof_pidset_add(&session->se_pids, record->pr_pid) ==
		    -1 ? prof_fail_nomem(&session->se_error) : 0);
	if (record->pr_type != PROF_R_EXEC)
		return (0);
	session->se_target_pid = record->pr_pid;
	session->se_waited_ns = record->pr_time_ns -
	    session->se_plan.pn_clock.ck_start_ns -
	    session->se_plan.pn_clock.ck_paused_ns;
	fd = (int)syscall(SYS_pidfd_open, record->pr_pid, 0);
	session->se_target_fds[session->se_ntarget_fds++] = fd;
	return (prof_session_watch_target(session, fd) == -1 ? -1 :
	    prof_session_begins(session, record->pr_time_ns));
}

int
prof_targets_left(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	int left = 0;
	size_t n;

	if (po->po_target == PROF_TARGET_NAME)
		return (session->se_target_pid == 0 ? -1 :
		    prof_procfs_exists((int)session->se_target_pid));
	if (po->po_target != PROF_TARGET_PIDS &&
	    po->po_target != PROF_TARGET_TIDS)
		return (-1);
	for (n = 0; n < po->po_nids; n++)
		if (prof_procfs_exists(po->po_ids[n]))
			left++;
	return (left);
}
