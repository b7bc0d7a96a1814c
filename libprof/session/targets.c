/* SPDX-License-Identifier: ISC */
/*
 * Who is recorded: checks the targets that the user named, enters them where
 * the programs look, and knows when the last of them has gone.
 *
 * Called by session.c while arming, after the fork hook is in place: then
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

static size_t
pidset_place(const struct prof_pidset *set, uint32_t pid)
{
	size_t at = (pid * 2654435761u) & (set->pt_cap - 1);

	while (set->pt_slot[at] != 0 && set->pt_slot[at] != pid)
		at = (at + 1) & (set->pt_cap - 1);
	return (at);
}

bool
prof_pidset_has(const struct prof_pidset *set, uint32_t pid)
{
	return (set->pt_cap != 0 &&
	    set->pt_slot[pidset_place(set, pid)] == pid);
}

int
prof_pidset_add(struct prof_pidset *set, uint32_t pid)
{
	struct prof_pidset grown = *set;
	size_t n;

	if (pid == 0 || prof_pidset_has(set, pid))
		return (0);
	if ((set->pt_n + 1) * 2 > set->pt_cap) {
		grown.pt_cap = set->pt_cap == 0 ? 64 : set->pt_cap * 2;
		grown.pt_slot = calloc(grown.pt_cap, sizeof(*grown.pt_slot));
		if (grown.pt_slot == NULL)
			return (-1);
		for (n = 0; n < set->pt_cap; n++)
			if (set->pt_slot[n] != 0)
				grown.pt_slot[pidset_place(&grown,
				    set->pt_slot[n])] = set->pt_slot[n];
		free(set->pt_slot);
		*set = grown;
	}
	set->pt_slot[pidset_place(set, pid)] = pid;
	set->pt_n++;
	return (0);
}

/* Those behind it in the table move up. */
void
prof_pidset_remove(struct prof_pidset *set, uint32_t pid)
{
	const size_t mask = set->pt_cap - 1;
	uint32_t moved;
	size_t at;

	if (pid == 0 || !prof_pidset_has(set, pid))
		return;
	at = pidset_place(set, pid);
	set->pt_slot[at] = 0;
	set->pt_n--;
	for (at = (at + 1) & mask; set->pt_slot[at] != 0;
	    at = (at + 1) & mask) {
		moved = set->pt_slot[at];
		set->pt_slot[at] = 0;
		set->pt_slot[pidset_place(set, moved)] = moved;
	}
}

void
prof_pidset_fini(struct prof_pidset *set)
{
	free(set->pt_slot);
	memset(set, 0, sizeof(*set));
}

uint32_t
prof_group_of(int tid)
{
	char path[64], line[128];
	unsigned tgid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if ((file = fopen(path, "re")) == NULL)
		return (0);
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "Tgid: %u", &tgid) == 1)
			break;
	fclose(file);
	return (tgid);
}

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
	memcpy(&session->se_cgroup_id, handle.fh.f_handle,
	    sizeof(session->se_cgroup_id));
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
	session->se_cgroup_level = (uint32_t)level;
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
			    "ones with ps -e%s", po->po_target ==
			    PROF_TARGET_PIDS ? "" : "L"));
		}
	return (0);
}

/* Where the programs look.  What the hook has entered meanwhile stands. */
static void
enter(struct prof_session *session, uint32_t id, uint8_t value)
{
	uint8_t *at, none = 0;

	if (!session->se_use_bpf)
		return;
	at = &session->se_bpf.bp_targets->tg_how[id & (DTP_TASK_IDS - 1)];
	__atomic_compare_exchange_n(at, &none, value, false,
	    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static int
seed_one(struct prof_session *session, uint32_t pid, uint8_t value)
{
	if (prof_pidset_add(&session->se_pids, pid) == -1)
		return (prof_fail_nomem(&session->se_error));
	enter(session, pid, value);
	return (0);
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
	size_t n, before, npids = 0, cap = 0;
	int *pids = NULL, rv = -1;

	for (n = 0; n < po->po_nids; n++)
		if (seed_one(session, (uint32_t)po->po_ids[n],
		    DTP_TG_ACTIVE) == -1)
			return (-1);
	if (po->po_no_inherit)
		return (0);
	do {
		before = session->se_pids.pt_n;
		npids = 0;
		for (n = 0; n < po->po_nids; n++)
			if (prof_procfs_children(po->po_ids[n], &pids,
			    &npids, &cap) == -1)
				goto out;
		/* The array grows while its members' children are added. */
		for (n = 0; n < npids; n++) {
			if (seed_one(session, (uint32_t)pids[n],
			    DTP_TG_ACTIVE) == -1)
				goto out;
			if (prof_procfs_children(pids[n], &pids, &npids,
			    &cap) == -1)
				goto out;
		}
	} while (session->se_pids.pt_n != before);
	rv = 0;
out:
	free(pids);
	return (rv);
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
		enter(session, (uint32_t)po->po_ids[n], DTP_TG_ACTIVE);
	}
	return (0);
}

/* A descriptor per process tells us when it ends. */
static int
watch(struct prof_session *session)
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
		    (uint32_t)session->se_command.cm_pid, DTP_TG_WAIT));
	case PROF_TARGET_PIDS:
		return (watch(session) == -1 ? -1 : seed_tree(session));
	case PROF_TARGET_TIDS:
		return (watch(session) == -1 ? -1 : seed_threads(session));
	default:
		return (0);
	}
}

int
prof_targets_left(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	int left = 0;
	size_t n;

	if (po->po_target != PROF_TARGET_PIDS &&
	    po->po_target != PROF_TARGET_TIDS)
		return (-1);
	for (n = 0; n < po->po_nids; n++)
		if (prof_procfs_exists(po->po_ids[n]))
			left++;
	return (left);
}
