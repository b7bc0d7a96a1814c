/* SPDX-License-Identifier: ISC */
/*
 * What makes system calls fire: a half, or the call from entry to return.
 * Called by back ends.
 */
#include <string.h>

#include "events/instrument.h"

#include "prov_call.skel.h"
#include "prov_syscall.skel.h"

PROF_PROGRAM(prov_call);
PROF_PROGRAM(prov_syscall);

static void
syscall_configure(const struct prof_event *event, struct dtp_config *cfg)
{
	cfg->dc_is_return = event->ev_is_return;
	memcpy(cfg->dc_sysmask, event->ev_sysmask, sizeof(cfg->dc_sysmask));
	memcpy(cfg->dc_call, event->ev_call, sizeof(cfg->dc_call));
}

/* Not of the half that is not asked for. */
static bool
half_loads(const struct prof_event *event, const char *section, bool twice)
{
	(void)twice;
	return ((strstr(section, "sys_exit") != NULL) ==
	    event->ev_is_return);
}

/* Nor twice what runs at stop. */
static bool
call_loads(const struct prof_event *event, const char *section, bool twice)
{
	(void)event;
	return (!twice || strncmp(section, "iter/", 5) != 0);
}

const struct prof_instrument prof_instrument_half = {
	.im_is_syscall = true,
	.im_is_in_task = true,
	.im_program = &prof_program_prov_syscall,
	.im_loads = half_loads,
	.im_configure = syscall_configure,
};

const struct prof_instrument prof_instrument_call = {
	.im_is_syscall = true,
	.im_is_in_task = true,
	.im_has_weight = true,
	.im_program = &prof_program_prov_call,
	.im_loads = call_loads,
	.im_configure = syscall_configure,
};
