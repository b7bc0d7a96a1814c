/* SPDX-License-Identifier: ISC */
/*
 * Which function waits, of the stack of a thread that is off the CPU: not those
 * that waiting is made of.
 *
 *	main  serve  refresh_cache  pthread_mutex_lock  futex_wait  schedule
 *	             ^              C library           kernel
 *
 * Called by costs.c and span_waits.c.
 */
#include <stdint.h>

#include "image/module.h"
#include "names.h"
#include "profile/profile_impl.h"

/*
 * The label of the function that waits; else of the innermost; else 0.  A stack
 * that was cut may lack this function, so what stands for its callers waits.
 */
uint32_t
prof_waiting_label(const struct prof_profile *profile, uint32_t node)
{
	const struct prof_tree_node *nodes = prof_profile_nodes(profile);
	const struct prof_label *label;
	uint32_t innermost = 0, waiting = 0;

	for (; node != 0; node = nodes[node].pt_parent) {
		label = prof_profile_label(profile, nodes[node].pt_label);
		if (label->lb_kind == PROF_LABEL_CUT)
			return (nodes[node].pt_label);
		if (label->lb_function == NULL)
			continue;
		if (innermost == 0)
			innermost = nodes[node].pt_label;
		if (waiting == 0 && !prof_is_c_library(label->lb_module) &&
		    label->lb_function->fu_kind != PROF_FRAME_KERNEL)
			waiting = nodes[node].pt_label;
	}
	return (waiting != 0 ? waiting : innermost);
}
