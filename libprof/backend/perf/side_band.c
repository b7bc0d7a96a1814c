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
 *	--wait-for	every CPU; each record wakes the reader
 *	beyond LIMIT	every CPU, but no record wakes the reader
 *
 * So what others map costs a recorder of one process nothing.  Beyond the
 * limit, and with --wait-for, their records come, and are dropped; beyond the
 * limit the reader looks when a ring is half full, or at its next round, a
 * tenth of a second later at most.
 *
 * A program at the return of mmap(2) would do that, too.  It would have to find
 * path and build-id itself, which programs can in few kernels, and to be told
 * of each system call of the machine.
 *
 * Called by backend.c.
 */
#include <sys/resource.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/perf/rings.h"
#include "backend/perf/side_band.h"
#include "base/error.h"
#include "os/pidset.h"

#define LIMIT		8192		/* perf events of threads on CPUs */
#define WIDE_BYTES	(4UL << 20)	/* of a ring that hears everybody */
#define WIDE_SUM	(128UL << 20)	/* of all such rings */

static struct prof_rings *open_for_all(struct prof_plan *, bool);
static struct prof_rings *open_for_cgroup(struct prof_plan *);
static struct prof_rings *open_for_tasks(struct prof_plan *);

static size_t
max_fds(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur / 2 < LIMIT)
		return ((size_t)limit.rlim_cur / 2 + 1);
	return (LIMIT);
}

static struct prof_rings *
open_rings(struct prof_plan *plan, struct prof_rings_options *ro)
{
	if (plan->pn_options->po_max_overhead != 0)
		ro->ro_ring_bytes = PROF_PACED_BYTES;
	ro->ro_cpus = plan->pn_online;
	ro->ro_ncpus = plan->pn_nonline;
	return (prof_rings_open(ro, plan->pn_error));
}

/* Of a ring that many can fill. */
static size_t
wide_bytes(const struct prof_plan *plan)
{
	size_t bytes = WIDE_BYTES;

	while (bytes > PROF_RING_BYTES &&
	    bytes * plan->pn_nonline > WIDE_SUM)
		bytes /= 2;
	return (bytes);
}

static struct prof_rings *
open_for_all(struct prof_plan *plan, bool quiet)
{
	struct prof_rings_options ro = { .ro_quiet = quiet,
	    .ro_ring_bytes = wide_bytes(plan) };

	return (open_rings(plan, &ro));
}

static struct prof_rings *
open_for_cgroup(struct prof_plan *plan)
{
	const char *path = plan->pn_options->po_cgroup;
	struct prof_rings_options ro = { .ro_has_cgroup = true,
	    .ro_ring_bytes = wide_bytes(plan) };
	struct prof_rings *rings;

	ro.ro_cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ro.ro_cgroup == -1) {
		prof_fail(plan->pn_error, PROF_E_TARGET, "%s: %s", path,
		    strerror(errno));
		return (NULL);
	}
	rings = open_rings(plan, &ro);
	close(ro.ro_cgroup);
	return (rings);
}

/*
 * Mappings are those of a process: of a thread that is recorded alone, all
 * the others matter, too, and they inherit, since threads come by it.
 */
static struct prof_rings *
open_for_tasks(struct prof_plan *plan)
{
	const struct prof_options *po = plan->pn_options;
	struct prof_rings_options ro = { .ro_inherit = true,
	    .ro_max_fds = max_fds() };
	int *pids = calloc(po->po_nids + 1, sizeof(*pids));
	struct prof_rings *rings;
	size_t n;

	if (pids == NULL) {
		prof_fail_nomem(plan->pn_error);
		return (NULL);
	}
	if (po->po_target == PROF_TARGET_COMMAND) {
		pids[ro.ro_npids++] = plan->pn_command;
	} else for (n = 0; n < po->po_nids; n++) {
		pids[ro.ro_npids] = po->po_target == PROF_TARGET_PIDS ?
		    po->po_ids[n] : (int)prof_group_of(po->po_ids[n]);
		if (pids[ro.ro_npids] != 0)
			ro.ro_npids++;
	}
	ro.ro_pids = pids;
	ro.ro_threads = po->po_no_inherit ||
	    po->po_target == PROF_TARGET_TIDS;
	rings = open_rings(plan, &ro);
	free(pids);
	return (rings);
}

/* What is narrower may fail where all CPUs do not: they have the last word. */
struct prof_rings *
prof_side_band_open(struct prof_plan *plan)
{
	const struct prof_options *po = plan->pn_options;
	const enum prof_target target = po->po_target;
	const bool is_known = target != PROF_TARGET_ALL &&
	    target != PROF_TARGET_NAME;
	struct prof_rings *rings = NULL;

	if (target == PROF_TARGET_CGROUP)
		rings = open_for_cgroup(plan);
	else if (is_known)
		rings = open_for_tasks(plan);
	if (rings == NULL) {
		memset(plan->pn_error, 0, sizeof(*plan->pn_error));
		plan->pn_is_wide = true;
		rings = open_for_all(plan, is_known);
	}
	plan->pn_hears_others = target != PROF_TARGET_ALL &&
	    target != PROF_TARGET_CGROUP && (plan->pn_is_wide ||
	    po->po_no_inherit || target == PROF_TARGET_TIDS);
	return (rings);
}
