/* SPDX-License-Identifier: ISC */
/*
 * What makes allocations fire: probes in programs, with a program of their own
 * that knows how many bytes one stands for.  Called by back ends.
 */
#include "events/instrument.h"

#include "prov_alloc.skel.h"

PROF_PROGRAM(prov_alloc);

static int
alloc_prepare(const struct prof_event *event, struct bpf_object *obj)
{
	return (prof_instrument_uprobe.im_prepare(event, obj));
}

/*
 * Where the program itself chooses, its weights are final.  Much is allocated
 * while a program begins, and its unwind tables are still being made: each
 * stack is completed from a copy, not only some in each second.
 */
static void
alloc_configure(const struct prof_event *event, struct dtp_config *cfg)
{
	cfg->dc_snap_ns = 0;
	cfg->dc_interval = event->ev_nargs > 0 ? 0 :
	    (uint32_t)event->ev_interval;
}

static int
alloc_attach(const struct prof_event *event, struct prof_attacher *attacher)
{
	return (prof_instrument_uprobe.im_attach(event, attacher));
}

const struct prof_instrument prof_instrument_alloc = {
	.im_has_weight = true,
	.im_trap_ns = 500,
	.im_program = &prof_program_prov_alloc,
	.im_prepare = alloc_prepare,
	.im_configure = alloc_configure,
	.im_attach = alloc_attach,
};
