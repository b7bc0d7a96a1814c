/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: spans that are paired as records come forget the keys of those
 * that have ended, and of none that has begun: each of many keys is one span,
 * also those that last while all others come and go.
 *
 * Easy to get wrong: keys that move to other numbers, with what has begun.
 */
#include "base/error.h"
#include "recording-lib.h"
#include "spans/live.h"

int
main(void)
{
	static const char *const names[] = { "proc", "take", "give" };
	struct prof_event_info info = { .pi_nargs = 1,
	    .pi_arg_names = { "id" } };
	struct prof_record record = { .pr_type = PROF_R_SAMPLE, .pr_pid = 7,
	    .pr_tid = 7, .pr_nargs = 1 };
	const unsigned n = 50000, lasting = 100;
	struct prof_err error;
	struct prof_spans *live = prof_spans_live_new(&error);
	struct prof_span_kind kind;

	CHECK(prof_spans_live_info(live, "span.0.name", "item") == 0 &&
	    prof_spans_live_info(live, "span.0.key", "id") == 0 &&
	    prof_spans_live_info(live, "span.0.scope", "process") == 0 &&
	    prof_spans_live_info(live, "span.0.begin", "1") == 0 &&
	    prof_spans_live_info(live, "span.0.end", "2") == 0);
	for (unsigned e = 0; e < 3; e++) {
		info.pi_name = names[e];
		CHECK(prof_spans_live_event(live, &info) == 0);
	}
	/* Each ends next, but the first, which end behind all others. */
	for (unsigned i = 0; i < n + lasting; i++) {
		record.pr_event = i < lasting || (i < n && i % 2 == 0) ? 1 : 2;
		record.pr_args[0] = i < lasting ? i : i < n ? i / 2 * 2 :
		    i - n;
		record.pr_time_ns = 1000 + i;
		CHECK(prof_spans_live_record(live, &record) == 0);
		if (i % 100 == 0)
			CHECK(prof_spans_live_round(live, false, &error) == 0);
	}
	CHECK(prof_spans_live_round(live, true, &error) == 0);
	prof_spans_live_kind(live, 0, false, &kind);
	CHECK(kind.sk_count == (n + lasting) / 2 && kind.sk_open == 0 &&
	    kind.sk_orphan == 0 && kind.sk_max_ns == n);
	prof_spans_free(live);
	printf("ok: %u keys, of which %u last\n", (n + lasting) / 2, lasting);
	return (0);
}
