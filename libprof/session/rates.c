/* SPDX-License-Identifier: ISC */
/*
 * Lowers rates if recording costs more than --max-overhead allows, and raises
 * them again later.  A period is a whole multiple of the requested one.  Each
 * sample has the weight of its own period, so weights stay right, and each
 * change has a marker in the recording.  Counters on single threads, which
 * promise exact counts, and perf rings are left alone.
 *
 * A rate is lowered after a second above the limit.  It is raised if the last
 * ten seconds at the higher rate would have cost well below the limit.  If a
 * raised rate has to be lowered again, the wait before the next raise doubles,
 * so that a load that keeps changing does not fill the recording with markers.
 *
 * Called by overhead.c at each look.
 */
#include "session_impl.h"

#define MOST_AT_ONCE	8	/* times slower in one step */
#define UP_AT_ONCE	3	/* times faster */
#define ROOM		0.75	/* part of a limit, at the rate to come */
#define WHOLE		100000.0	/* thousandths of a percent */

void
prof_rates_begin(struct prof_overhead *ov)
{
	ov->ov_slower = ov->ov_slowest = 1;
	ov->ov_calm = PROF_SPENT_LOOKS;
}

static double
percent_most(const struct prof_session *session)
{
	return (100 * (double)session->se_options.po_max_overhead / WHOLE);
}

void
prof_rates_cost(const struct prof_session *session, double share, char *text,
    size_t size)
{
	const double most = percent_most(session);

	if (100 * share > most)
		snprintf(text, size, "overhead was %.2f%% of all CPUs, above "
		    "--max-overhead %.3g", 100 * share, most);
	else
		snprintf(text, size, "overhead would be above --max-overhead "
		    "%.3g", most);
}

/* An event that is rare already is lowered by less than the others. */
static void
lowered_text(uint64_t slower, bool is_uneven, char *text, size_t size)
{
	snprintf(text, size, is_uneven ? "rates lowered by factors up to %llu" :
	    "rate lowered to 1/%llu", (unsigned long long)slower);
}

void
prof_rates_text(const struct prof_overhead *ov, char *text, size_t size)
{
	char lowered[64];

	lowered_text(ov->ov_slowest, ov->ov_was_uneven, lowered,
	    sizeof(lowered));
	snprintf(text, size, "%s%s", lowered, ov->ov_slower < ov->ov_slowest ?
	    ", later raised again" : "");
}

/*
 * Returns how many events have another rate now, or -1 with the error set.  If
 * the back end fails, the recording goes on as before, with a note.
 */
static int
rates_change(struct prof_session *session, uint64_t wanted, const char *what)
{
	struct prof_overhead *ov = &session->se_overhead;
	const struct prof_source *source = prof_overhead_source(session);
	struct prof_slower slower = { .sl_wanted = wanted };
	const int done = source->so_backend->bk_change_rate(source->so_state,
	    &slower);

	ov->ov_has_failed = slower.sl_failed;
	if (slower.sl_failed && prof_session_add_note(session, "cannot %s: %s",
	    what, session->se_error.pe_text) == -1)
		return (-1);
	if (done == 0)
		return (0);
	ov->ov_slower = slower.sl_reached;
	ov->ov_is_uneven = slower.sl_is_uneven;
	ov->ov_raise_at = ov->ov_nlooks + ov->ov_calm;
	if (ov->ov_slower >= ov->ov_slowest) {
		ov->ov_slowest = ov->ov_slower;
		ov->ov_was_uneven = ov->ov_is_uneven;
	}
	return (done);
}

static int
rates_tell(struct prof_session *session, const char *rate, const char *why)
{
	char text[192];

	snprintf(text, sizeof(text), "%s: %s", rate, why);
	if (prof_session_mark(session, text) == -1)
		return (-1);
	return (prof_session_add_note(session, "%s", text));
}

static int
tell_lowered(struct prof_session *session, double share, int done)
{
	struct prof_overhead *ov = &session->se_overhead;
	char rate[64], cost[96];

	if (done == 0 && ov->ov_at_limit)
		return (0);
	prof_rates_cost(session, share, cost, sizeof(cost));
	if (done == 0) {
		ov->ov_at_limit = true;
		return (prof_session_add_note(session, "%s, and no rate can "
		    "be lowered further", cost));
	}
	lowered_text(ov->ov_slower, ov->ov_is_uneven, rate, sizeof(rate));
	return (rates_tell(session, rate, cost));
}

int
prof_rates_lower(struct prof_session *session, double share)
{
	struct prof_overhead *ov = &session->se_overhead;
	double times = share * WHOLE /
	    (double)session->se_options.po_max_overhead;
	int done;

	if (times > MOST_AT_ONCE)
		times = MOST_AT_ONCE;
	if (ov->ov_was_raised)
		ov->ov_calm *= 2;
	ov->ov_was_raised = false;
	/*
	 * Odd: two periods of 499 Hz are nearly the 4 ms of the kernel's tick,
	 * so that an even number would see one part of each tick for long.
	 */
	done = rates_change(session, ((uint64_t)((double)ov->ov_slower *
	    (times < 1 ? 1 : times)) + 1) | 1, "lower the rate further");
	ov->ov_at_limit |= ov->ov_has_failed;
	return (done == -1 ? -1 : tell_lowered(session, share, done));
}

static int
tell_raised(struct prof_session *session, double share)
{
	const struct prof_overhead *ov = &session->se_overhead;
	char rate[64], cost[96];

	if (ov->ov_slower == 1)
		snprintf(rate, sizeof(rate),
		    "rate raised to the requested one");
	else
		snprintf(rate, sizeof(rate), ov->ov_is_uneven ?
		    "rates raised to 1/%llu or more" : "rate raised to 1/%llu",
		    (unsigned long long)ov->ov_slower);
	snprintf(cost, sizeof(cost), "overhead was %.2f%% of all CPUs, "
	    "--max-overhead is %.3g", 100 * share, percent_most(session));
	return (rates_tell(session, rate, cost));
}

int
prof_rates_raise(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;
	const size_t n = ov->ov_nlooks;
	const struct prof_spent *first = &ov->ov_spent[n % PROF_SPENT_LOOKS];
	const struct prof_spent *last = &ov->ov_spent[(n + PROF_SPENT_LOOKS -
	    1) % PROF_SPENT_LOOKS];
	const uint64_t to = (ov->ov_slower / UP_AT_ONCE) | 1;
	const double times = (double)ov->ov_slower / (double)to;
	double rates_ns, cost_ns, allowed_ns;
	int done;

	if (ov->ov_slower == 1 || ov->ov_has_failed || n < ov->ov_raise_at)
		return (0);
	rates_ns = last->sp_rates_ns - first->sp_rates_ns;
	cost_ns = (double)(last->sp_cost_ns - first->sp_cost_ns);
	allowed_ns = ROOM * prof_pace_allowed_ns(session, last->sp_at_ns -
	    first->sp_at_ns);
	if (times * rates_ns > allowed_ns / PROF_SPENT_EVENTS ||
	    cost_ns + (times - 1) * rates_ns > allowed_ns)
		return (0);
	done = rates_change(session, to, "raise the rate");
	if (done <= 0)
		return (done);
	ov->ov_was_raised = true;
	ov->ov_at_limit = false;
	return (tell_raised(session, ROOM * cost_ns / allowed_ns *
	    percent_most(session) / 100));
}
