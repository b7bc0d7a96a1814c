/* SPDX-License-Identifier: ISC */
/*
 * What makes the durations of spans uncertain.  Called by report and compare.
 */
#include <inttypes.h>

#include "../cmd.h"
#include "spans.h"

void
spans_doubt(const char *command, const struct prof_span_kind *kind)
{
	if (kind->sk_missed != 0)
		msg_warning(command, "span %s: the kernel skipped up to %"
		    PRIu64 " begins and ends, at unknown times: durations may "
		    "be wrong", kind->sk_name, kind->sk_missed);
	if (kind->sk_late != 0)
		msg_warning(command, "span %s: %" PRIu64 " begins and ends "
		    "were stored late: durations may be wrong", kind->sk_name,
		    kind->sk_late);
}
