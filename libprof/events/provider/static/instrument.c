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
