/* SPDX-License-Identifier: ISC */
/*
 * What brings process events.  Called by back ends.
 */
#include "events/instrument.h"

#include "prov_proc.skel.h"

PROF_PROGRAM(prov_proc);

const struct prof_instrument prof_instrument_tasks = {
	.im_brings_tasks = true,
	.im_is_in_task = true,
	.im_program = &prof_program_prov_proc,
};
