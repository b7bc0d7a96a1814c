/* SPDX-License-Identifier: ISC */
/*
 * Threads as they are, looked at when the session asks for it: one event,
 * which cannot be chosen with -e.  Called by session/threads.c and back ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "events/instrument.h"
#include "events/names.h"

#include "prov_thread.skel.h"

PROF_PROGRAM(prov_thread);

/* A stack is copied only in the context of its own task. */
static void
thread_configure(const struct prof_event *event, struct dtp_config *cfg)
{
	(void)event;
	cfg->dc_snap_bytes = 0;
	cfg->dc_snap_mode = DTP_SNAP_DOUBT;
}

/* So the verifier refuses it; what else fails has other cures. */
static int
thread_explain(const struct prof_event *event, int error_number,
    struct prof_err *error)
{
	(void)event;
	if (error_number != EINVAL && error_number != EACCES &&
	    error_number != E2BIG)
		return (0);
	prof_fail(error, PROF_E_KERNEL, "this kernel refuses the BPF program "
	    "that reads threads");
	return (prof_cure(error, "use a newer kernel, or record threads while "
	    "they run: dtprof record"));
}

const struct prof_instrument prof_instrument_thread = {
	.im_iterator = "each_thread",
	.im_program = &prof_program_prov_thread,
	.im_configure = thread_configure,
	.im_explain = thread_explain,
};

struct prof_event *
prof_event_threads(void)
{
	static const char *const names[DTP_TH_ARGS] = { "state", "about",
		"nr", "arg0", "arg1", "arg2", "arg3" };
	struct prof_event *event = prof_event_new("thread", "proc:::thread",
	    "threads", &prof_provider_proc, &prof_instrument_thread);

	for (uint32_t n = 0; event != NULL && n < DTP_TH_ARGS; n++) {
		struct prof_arg *arg = &event->ev_args[event->ev_nargs++];

		arg->ag_name = strdup(names[n]);
		arg->ag_type = strdup("long");
		arg->ag_load.ar_kind = DTP_A_INT;
		arg->ag_load.ar_size = 8;
		arg->ag_load.ar_signed = n == DTP_TH_CALL;
		if (arg->ag_name == NULL || arg->ag_type == NULL) {
			prof_event_free(event);
			return (NULL);
		}
	}
	return (event);
}
