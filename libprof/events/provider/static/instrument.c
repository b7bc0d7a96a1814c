/* SPDX-License-Identifier: ISC */
/*
 * What makes tracepoints fire.  Called by back ends.
 */
#include "events/instrument.h"

#include "prov_static.skel.h"

PROF_PROGRAM(prov_static);

const struct prof_instrument prof_instrument_tracepoint = {
	.im_program = &prof_program_prov_static,
};

/*
 * The end of a task is told when it has left its CPU for good, in the context
 * of whoever runs there.
 */
const struct prof_instrument prof_instrument_reaped = {
	.im_is_of_argument = true,
	.im_program = &prof_program_prov_static,
};
