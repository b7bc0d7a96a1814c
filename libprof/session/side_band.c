/* SPDX-License-Identifier: ISC */
/*
 * Whose mappings a session with BPF hears of.  The kernel offers them through
 * perf events, each for a thread on a CPU, for a cgroup on a CPU or for all
 * that a CPU does:
 *
 *	-a		every CPU; each record wakes the reader
 *	--cgroup	the cgroup on every CPU
 *	command, -p, -t	each thread of the targets on every CPU, inherited by
 *			what they start
 *	beyond LIMIT	every CPU, but no record wakes the reader
 *
 * So what others map costs a recorder of one process nothing.  Beyond the
 * limit their records come, and are dropped; the reader looks when a ring is
 * half full, or at its next round, a tenth of a second later at most.
 *
 * A program at the return of mmap(2) would do that, too.  It would have to find
 * path and build-id itself, which programs can in few kernels, and to be told
 * of each system call of the machine.
 *
 * Called by arm.c.
 */
#include <sys/resource.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session_impl.h"

#define LIMIT		8192		/* perf events of threads on CPUs */
#define WIDE_BYTES	(4UL << 20)	/* of a ring that hears everybody */
#define WIDE_SUM	(128UL << 20)	/* of all such rings */

static int	open_for_all(struct prof_session *, bool);
static int	open_for_cgroup(struct prof_session *);
static int	open_for_tasks(struct prof_session *);

static size_t
max_fds(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur / 2 < LIMIT)
		return ((size_t)limit.rlim_cur / 2 + 1);
	return (LIMIT);
}

static int
open_rings(struct prof_session *session, struct prof_rings_options *ro)
{
	ro->ro_cpus = session->se_online;
	ro->ro_ncpus = session->se_nonline;
	session->se_rings = prof_rings_open(ro, &session->se_error);
	return (session->se_rings == NULL ? -1 : 0);
}

/* Of a ring that many can fill. */
static size_t
wide_bytes(const struct prof_session *session)
{
	size_t bytes = WIDE_BYTES;

	while (bytes > PROF_RING_BYTES &&
	    bytes * session->se_nonline > WIDE_SUM)
		bytes /= 2;
	return (bytes);
}

static int
open_for_all(struct prof_session *session, bool quiet)
{
	struct prof_rings_options ro = { .ro_quiet = quiet,
	    .ro_ring_bytes = wide_bytes(session) };

	return (open_rings(session, &ro));
}

static int
open_for_cgroup(struct prof_session *session)
{
	struct prof_rings_options ro = { .ro_has_cgroup = true,
	    .ro_ring_bytes = wide_bytes(session) };
	int rv;

	ro.ro_cgroup = open(session->se_options.po_cgroup, O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC);
	if (ro.ro_cgroup == -1)
		return (prof_fail(&session->se_error, PROF_E_TARGET, "%s: %s",
		    session->se_options.po_cgroup, strerror(errno)));
	rv = open_rings(session, &ro);
	close(ro.ro_cgroup);
	return (rv);
}

/*
 * Mappings are those of a process: of a thread that is recorded alone, all
 * the others matter, too, and they inherit, since threads come by it.
 */
static int
open_for_tasks(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	struct prof_rings_options ro = { .ro_inherit = true,
	    .ro_max_fds = max_fds() };
	int rv, *pids = calloc(po->po_nids + 1, sizeof(*pids));
	size_t n;

	if (pids == NULL)
		return (prof_fail_nomem(&session->se_error));
	if (po->po_target == PROF_TARGET_COMMAND) {
		pids[ro.ro_npids++] = session->se_command.cm_pid;
	} else for (n = 0; n < po->po_nids; n++) {
		pids[ro.ro_npids] = po->po_target == PROF_TARGET_PIDS ?
		    po->po_ids[n] : (int)prof_group_of(po->po_ids[n]);
		if (pids[ro.ro_npids] != 0)
			ro.ro_npids++;
	}
	ro.ro_pids = pids;
	ro.ro_threads = po->po_no_inherit ||
	    po->po_target == PROF_TARGET_TIDS;
	rv = open_rings(session, &ro);
	free(pids);
	return (rv);
}

/* What is narrower may fail where all CPUs do not: they have the last word. */
int
prof_side_band_open(struct prof_session *session)
{
	const enum prof_target target = session->se_options.po_target;

	if (target != PROF_TARGET_ALL && (target == PROF_TARGET_CGROUP ?
	    open_for_cgroup(session) : open_for_tasks(session)) == 0)
		return (0);
	memset(&session->se_error, 0, sizeof(session->se_error));
	session->se_side_is_wide = true;
	return (open_for_all(session, target != PROF_TARGET_ALL));
}
