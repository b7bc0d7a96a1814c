/* SPDX-License-Identifier: ISC */
/*
 * What makes durations of spans, and the time in them, uncertain.  Called by
 * report and compare.
 */
#include <inttypes.h>

#include "../cmd.h"
#include "spans.h"

uint64_t
spans_difference(const struct prof_span_kind *kind)
{
	return (kind->sk_inside_ns - kind->sk_running_ns -
	    kind->sk_not_running_ns - kind->sk_ambiguous_ns);
}

void
spans_doubt(const char *command, const struct prof_span_kind *kind)
{
	if (kind->sk_missed != 0)
		msg_warning(command, "span %s: the kernel skipped up to %"
		    PRIu64 " begin and end events at unknown times: durations "
		    "may be wrong", kind->sk_name, kind->sk_missed);
	if (kind->sk_late != 0)
		msg_warning(command, "span %s: %" PRIu64 " begin and end "
		    "events were stored late: durations may be wrong",
		    kind->sk_name, kind->sk_late);
	if (kind->sk_has_times && spans_difference(kind) != 0)
		msg_warning(command, "span %s: for %.3f s, it is unknown "
		    "whether threads ran: context switches were missed in %"
		    PRIu64 " intervals, and %" PRIu64 " begin and end events "
		    "were stored without running time",
		    kind->sk_name, (double)spans_difference(kind) / 1e9,
		    kind->sk_gaps, kind->sk_clockless);
}
