/* SPDX-License-Identifier: ISC */
/*
 * The deadman: programs store samples only until a time that each round moves
 * on, --max-stall from now.  Where the recorder is stopped, or waits for a
 * disk, they walk no stacks and fill no rings for nobody, but count (stalled).
 * The next round lets them go on, and says so.
 *
 * Process events, groups and what waits add up to need no reader, and go on.
 *
 * Called by attach.c, when recording begins or goes on, and by backend.c.
 */
#include <stdio.h>
#include <unistd.h>

#include "backend/bpf/bpf_impl.h"
#include "base/clock.h"

void
prof_stall_begin(struct prof_bpf *bpf)
{
	const uint64_t most_ns = bpf->bp_plan->pn_options->po_max_stall_ns;

	/* Partner: the load in dtp_is_stalled (stream.bpf.h). */
	__atomic_store_n(&bpf->bp_control->co_until_ns, most_ns == 0 ?
	    UINT64_MAX : prof_now_ns() + most_ns, __ATOMIC_RELAXED);
}

static int
stall_tell(struct prof_bpf *bpf, uint64_t until_ns, uint64_t now_ns)
{
	const uint64_t most_ns = bpf->bp_plan->pn_options->po_max_stall_ns;
	struct prof_record mark = { 0 };
	char text[160];

	snprintf(text, sizeof(text), "the buffers were not read for %.1f s: "
	    "no samples were stored in the last %.1f s of them, due to "
	    "--max-stall %.3gs", (double)(now_ns - until_ns + most_ns) / 1e9,
	    (double)(now_ns - until_ns) / 1e9, (double)most_ns / 1e9);
	mark.pr_type = PROF_R_MARK;
	mark.pr_time_ns = now_ns;
	mark.pr_pid = mark.pr_tid = (uint32_t)getpid();
	mark.pr_path = text;
	mark.pr_comm = "";
	if (prof_host_tell(bpf->bp_plan, &mark) == -1)
		return (-1);
	return (prof_host_note(bpf->bp_plan, "%s", text));
}

int
prof_stall_look(struct prof_bpf *bpf)
{
	const uint64_t until_ns = bpf->bp_control->co_until_ns;
	const uint64_t now_ns = prof_now_ns();

	prof_stall_begin(bpf);
	return (bpf->bp_phase != PROF_BPF_RECORDING || now_ns <= until_ns ?
	    0 : stall_tell(bpf, until_ns, now_ns));
}
