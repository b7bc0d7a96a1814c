/* SPDX-License-Identifier: ISC */
/*
 * What makes counters overflow.  Called by back ends.
 */
#include "events/instrument.h"

#include "prov_pmc.skel.h"

PROF_PROGRAM(prov_pmc);

const struct prof_instrument prof_instrument_counter = {
	.im_has_period = true,
	.im_counts = true,
	.im_program = &prof_program_prov_pmc,
};
