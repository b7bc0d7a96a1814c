/* SPDX-License-Identifier: ISC */
/*
 * The clocks of threads that are in spans (sys/clock.bpf.h): the one program
 * that moves them at switches.  It is no event's; those that begin and end
 * spans read the map that it writes.
 *
 * Called by load.c, attach.c and backend.c.
 */
#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "backend/bpf/bpf_impl.h"
#include "base/error.h"
#include "os/permission.h"

#include "clock.skel.h"

static void
clocks_destroy(void *skel)
{
	clock_bpf__destroy(skel);
}

bool
prof_clocks_wanted(const struct prof_bpf *bpf)
{
	for (size_t n = 0; n < bpf->bp_events->el_n; n++)
		if (bpf->bp_events->el_event[n]->ev_has_clock &&
		    !bpf->bp_instance[n].in_is_detached)
			return (true);
	return (false);
}

int
prof_clocks_load(struct prof_bpf *bpf)
{
	struct prof_instance *clocks = &bpf->bp_clocks;
	struct clock_bpf *skel;
	int rc;

	if (!prof_clocks_wanted(bpf))
		return (0);
	if ((skel = clock_bpf__open()) == NULL)
		return (prof_bpf_explain(bpf->bp_error, errno));
	clocks->in_skel = skel;
	clocks->in_destroy = clocks_destroy;
	rc = bpf_map__reuse_fd(skel->maps.clocks, prof_bpf_clocks_fd(bpf));
	if (rc == 0)
		rc = clock_bpf__load(skel);
	if (rc != 0)
		return (prof_bpf_explain(bpf->bp_error, -rc));
	clocks->in_prog[clocks->in_nprogs++] =
	    bpf_program__fd(skel->progs.on_clock_switch);
	return (0);
}

int
prof_clocks_attach(struct prof_bpf *bpf)
{
	struct prof_instance *clocks = &bpf->bp_clocks;
	int fd;

	if (clocks->in_skel == NULL)
		return (0);
	fd = bpf_raw_tracepoint_open("sched_switch", clocks->in_prog[0]);
	if (fd < 0)
		return (prof_bpf_explain(bpf->bp_error, errno));
	if (prof_fd_keep(&clocks->in_links, &clocks->in_nlinks, fd) == 0)
		return (0);
	close(fd);
	return (prof_fail_nomem(bpf->bp_error));
}

/* One more than the map has room for is refused. */
int
prof_clocks_note(struct prof_bpf *bpf)
{
	static const uint64_t none[32];	/* more than a struct dtp_clock */
	const uint64_t nobody = 1;

	if (bpf->bp_clocks.in_skel == NULL || bpf_map_update_elem(
	    prof_bpf_clocks_fd(bpf), &nobody, none, BPF_NOEXIST) == 0 ||
	    errno != E2BIG)
		return (0);
	return (prof_host_note(bpf->bp_plan, "the limit of %d threads "
	    "with spans was reached: running times of spans in further threads "
	    "are not measured",
	    PROF_BPF_CLOCKS));
}
