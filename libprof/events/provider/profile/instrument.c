/* SPDX-License-Identifier: ISC */
/*
 * What makes timers fire: those of the providers profile and interval, and
 * clocks among counters.  Called by back ends.
 */
#include "events/instrument.h"

#include "prov_profile.skel.h"

PROF_PROGRAM(prov_profile);

static void
timer_configure(const struct prof_event *event, struct dtp_config *cfg)
{
	if (!event->ev_attr.freq)
		cfg->dc_period_ns = event->ev_attr.sample_period;
}

const struct prof_instrument prof_instrument_timer = {
	.im_has_period = true,
	.im_is_timer = true,
	.im_program = &prof_program_prov_profile,
	.im_configure = timer_configure,
};

const struct prof_instrument prof_instrument_clock = {
	.im_has_period = true,
	.im_is_timer = true,
	.im_counts = true,
	.im_program = &prof_program_prov_profile,
	.im_configure = timer_configure,
};
