/* SPDX-License-Identifier: ISC */
/*
 * A kind of spans as a row of data, and what makes durations, and the time in
 * spans, uncertain.  Called by report, stat and compare.
 */
#include <inttypes.h>

#include "../cmd.h"
#include "spans.h"

uint64_t
spans_lost(const struct prof_span_kind *kind)
{
	return (kind->sk_lost_begins + kind->sk_unpaired_begins);
}

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

void
spans_emit(const struct prof_span_kind *kind, bool has_samples,
    struct emit *em)
{
	const bool is_known = kind->sk_count > 0;
	const bool is_timed = kind->sk_has_times != 0;

	EMIT_ROW(em, NULL, TEXT("name", kind->sk_name),
	    TEXT("key", kind->sk_key),
	    COUNT("count", kind->sk_count),
	    COUNT("open", kind->sk_open),
	    COUNT("orphan", kind->sk_orphan),
	    KNOWN(has_samples, COUNT("ambiguous", kind->sk_ambiguous)),
	    KNOWN(has_samples, COUNT("samples", kind->sk_samples)),
	    COUNT("lost", spans_lost(kind)),
	    COUNT("lost_begins", kind->sk_lost_begins),
	    COUNT("lost_ends", kind->sk_lost_ends),
	    COUNT("unpaired_begins", kind->sk_unpaired_begins),
	    COUNT("unpaired_ends", kind->sk_unpaired_ends),
	    COUNT("missed", kind->sk_missed),
	    COUNT("late", kind->sk_late),
	    COUNT("total_ns", kind->sk_total_ns),
	    KNOWN(is_known, COUNT("p50_ns", kind->sk_p50_ns)),
	    KNOWN(is_known, COUNT("p90_ns", kind->sk_p90_ns)),
	    KNOWN(is_known, COUNT("p99_ns", kind->sk_p99_ns)),
	    KNOWN(is_known, COUNT("max_ns", kind->sk_max_ns)),
	    KNOWN(is_timed, COUNT("inside_ns", kind->sk_inside_ns)),
	    KNOWN(is_timed, COUNT("running_ns", kind->sk_running_ns)),
	    KNOWN(is_timed, COUNT("not_running_ns",
		kind->sk_not_running_ns)),
	    KNOWN(is_timed, COUNT("ambiguous_ns",
		kind->sk_ambiguous_ns)),
	    KNOWN(is_timed, COUNT("difference_ns",
		spans_difference(kind))),
	    KNOWN(is_timed, COUNT("gaps", kind->sk_gaps)),
	    KNOWN(is_timed, COUNT("clockless",
		kind->sk_clockless)));
}
