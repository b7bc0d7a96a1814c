/* SPDX-License-Identifier: ISC */
/*
 * Speculation: which samples are of selected spans is known when the spans
 * end, so until then they are held.
 *
 *	samples -> taken -+-> in no span ----------------------> discarded
 *	                  |
 *	                  '-> held -> their span is: selected -> committed
 *	                                         not selected -> discarded
 *	                                            not known -> lost
 *
 * Which span a sample is in, and what becomes of it: follow.c.  All records
 * are passed on in their order: those behind a sample that is held wait, too,
 * but samples that nobody wants leave at once.  When too many bytes are held,
 * the oldest undecided samples are lost.
 *
 * Called by sessions, as the sink in front of the writer.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"
#include "follow.h"
#include "recording/queue.h"
#include "speculation.h"

#define SWEEP_LEAST	(1U << 20)	/* bytes that are not worth a sweep */

/* A record that waits, and the spans that it waits for. */
struct hold {
	struct hold	*ho_next;
	struct prof_waiting ho_waiting;
	uint64_t	 ho_round;	/* in which it came */
	uint32_t	 ho_n;
	uint32_t	 ho_span[];
};

struct prof_speculation {
	struct prof_follow *sp_follow;
	struct prof_sink sp_to;
	prof_speculation_fn *sp_left;	/* NULL: nobody */
	void		*sp_left_arg;
	struct hold	*sp_first;
	struct hold	**sp_last;
	size_t		 sp_bytes;
	size_t		 sp_most;
	size_t		 sp_sweep_at;
	uint64_t	 sp_round;	/* the current one */
	struct prof_speculated *sp_of;	/* by event */
	size_t		 sp_nevents;
	struct prof_unkept sp_unkept;
};

static void
left_tell(struct prof_speculation *sp, const struct prof_record *record,
    bool is_lost)
{
	if (sp->sp_left != NULL)
		sp->sp_left(sp->sp_left_arg, record, is_lost);
}

/* A sample that is decided leaves; -1: the sink failed. */
static int
sample_leave(struct prof_speculation *sp, const struct prof_record *record,
    enum prof_fate fate)
{
	struct prof_speculated *counts = &sp->sp_of[record->pr_event];
	int rv = 0;

	switch (fate) {
	case PROF_FATE_WANTED:
		if (prof_sink_record(&sp->sp_to, record) == 0) {
			counts->sd_committed++;
			return (0);
		}
		rv = -1;
		break;
	case PROF_FATE_UNWANTED:
		counts->sd_discarded++;
		left_tell(sp, record, false);
		return (0);
	case PROF_FATE_UNSURE:
		sp->sp_unkept.uk_unsure++;
		break;
	case PROF_FATE_UNENDED:
		sp->sp_unkept.uk_unended++;
		break;
	case PROF_FATE_PENDING:
		sp->sp_unkept.uk_memory++;
		break;
	}
	counts->sd_lost++;
	left_tell(sp, record, true);
	return (rv);
}

/* ------------------------------------------------------------------ holds */

static void
hold_free(struct prof_speculation *sp, struct hold *hold)
{
	prof_follow_drop(sp->sp_follow, hold->ho_span, hold->ho_n);
	sp->sp_bytes -= hold->ho_waiting.wt_bytes;
	free(hold->ho_waiting.wt_pool);
	free(hold);
}

/* Behind those that wait, for its spans; -1: no memory. */
static int
hold_put(struct prof_speculation *sp, const struct prof_record *record,
    const uint32_t *spans, size_t n)
{
	struct hold *hold = calloc(1, sizeof(*hold) + n * sizeof(*spans));

	if (hold == NULL || prof_waiting_set(&hold->ho_waiting, record) ==
	    -1) {
		free(hold);
		return (-1);
	}
	hold->ho_round = sp->sp_round;
	hold->ho_n = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		hold->ho_span[i] = spans[i];
	prof_follow_hold(sp->sp_follow, spans, n);
	sp->sp_bytes += hold->ho_waiting.wt_bytes;
	*sp->sp_last = hold;
	sp->sp_last = &hold->ho_next;
	return (0);
}

/* Its span may have ended unseen, until this round is over. */
static enum prof_fate
hold_judge(const struct prof_speculation *sp, const struct hold *hold)
{
	enum prof_fate fate;

	if (hold->ho_waiting.wt_record.pr_type != PROF_R_SAMPLE)
		return (PROF_FATE_WANTED);
	fate = prof_follow_fate(sp->sp_follow, hold->ho_span, hold->ho_n);
	return (fate == PROF_FATE_WANTED && hold->ho_round == sp->sp_round ?
	    PROF_FATE_PENDING : fate);
}

/* The first one leaves, whatever becomes of it. */
static int
first_leave(struct prof_speculation *sp, enum prof_fate fate)
{
	struct hold *hold = sp->sp_first;
	const struct prof_record *record = &hold->ho_waiting.wt_record;
	const int rv = record->pr_type == PROF_R_SAMPLE ?
	    sample_leave(sp, record, fate) :
	    prof_sink_record(&sp->sp_to, record);

	sp->sp_first = hold->ho_next;
	if (sp->sp_first == NULL)
		sp->sp_last = &sp->sp_first;
	hold_free(sp, hold);
	return (rv);
}

/* All up to the first that is undecided; it too, if too many are held. */
static int
holds_pass(struct prof_speculation *sp)
{
	int rv = 0;

	while (sp->sp_first != NULL) {
		const enum prof_fate fate = hold_judge(sp, sp->sp_first);

		if (fate == PROF_FATE_PENDING && sp->sp_bytes <= sp->sp_most)
			break;
		if (first_leave(sp, fate) != 0)
			rv = -1;
	}
	return (rv);
}

/* Those that nobody wants, wherever they wait. */
static void
holds_sweep(struct prof_speculation *sp)
{
	struct hold **at = &sp->sp_first, *hold;

	while ((hold = *at) != NULL) {
		const enum prof_fate fate = hold_judge(sp, hold);

		if (fate == PROF_FATE_PENDING || fate == PROF_FATE_WANTED) {
			at = &hold->ho_next;
			continue;
		}
		*at = hold->ho_next;
		(void)sample_leave(sp, &hold->ho_waiting.wt_record, fate);
		hold_free(sp, hold);
	}
	sp->sp_last = at;
	sp->sp_sweep_at = 2 * sp->sp_bytes + SWEEP_LEAST;
}

static int
holds_decide(struct prof_speculation *sp)
{
	if (sp->sp_bytes > sp->sp_sweep_at)
		holds_sweep(sp);
	return (holds_pass(sp));
}

/* ---------------------------------------------------------- what it hears */

static int
info_take(void *arg, const char *key, const char *value)
{
	struct prof_speculation *sp = arg;

	return (prof_follow_info(sp->sp_follow, key, value) == -1 ? -1 :
	    prof_sink_info(&sp->sp_to, key, value));
}

static int
event_take(void *arg, const struct prof_event_info *info)
{
	struct prof_speculation *sp = arg;

	return (prof_append(&sp->sp_of, &sp->sp_nevents,
	    sizeof(*sp->sp_of)) == NULL ||
	    prof_follow_event(sp->sp_follow, info) == -1 ? -1 :
	    prof_sink_event(&sp->sp_to, info));
}

static int
sample_take(void *arg, const struct prof_record *record)
{
	struct prof_speculation *sp = arg;
	const uint32_t *spans;
	enum prof_fate fate;
	size_t n;

	if (prof_follow_record(sp->sp_follow, record) == -1)
		return (-1);
	sp->sp_of[record->pr_event].sd_taken++;
	spans = prof_follow_spans(sp->sp_follow, &n);
	fate = prof_follow_fate(sp->sp_follow, spans, n);
	if (fate != PROF_FATE_PENDING && fate != PROF_FATE_WANTED)
		return (sample_leave(sp, record, fate));
	if (hold_put(sp, record, spans, n) == -1)
		return (sample_leave(sp, record, PROF_FATE_PENDING));
	return (sp->sp_bytes > sp->sp_most ? holds_decide(sp) : 0);
}

static int
other_take(void *arg, const struct prof_record *record)
{
	struct prof_speculation *sp = arg;

	if (prof_follow_record(sp->sp_follow, record) == -1)
		return (-1);
	return (sp->sp_first == NULL ? prof_sink_record(&sp->sp_to, record) :
	    hold_put(sp, record, NULL, 0));
}

static int
symbols_take(void *arg, const void *body, size_t length)
{
	struct prof_speculation *sp = arg;

	return (prof_sink_symbols(&sp->sp_to, body, length));
}

static int
end_take(void *arg, const struct prof_accounting *accounting, size_t nevents)
{
	struct prof_speculation *sp = arg;

	return (prof_sink_end(&sp->sp_to, accounting, nevents));
}

struct prof_sink
prof_speculation_sink(struct prof_speculation *sp)
{
	return ((struct prof_sink){
		.sk_arg = sp,
		.sk_info = info_take,
		.sk_event = event_take,
		.sk_task = other_take,
		.sk_mapping = other_take,
		.sk_sample = sample_take,
		.sk_mark = other_take,
		.sk_lost = other_take,
		.sk_symbols = symbols_take,
		.sk_end = end_take,
	});
}

int
prof_speculation_round(struct prof_speculation *sp, bool is_last)
{
	if (prof_follow_round(sp->sp_follow, is_last) == -1)
		return (-1);
	sp->sp_round++;
	return (holds_decide(sp));
}

int
prof_speculation_shrink(struct prof_speculation *sp, size_t most)
{
	sp->sp_most = most;
	return (holds_decide(sp));
}

/* ------------------------------------------------------ life and figures */

struct prof_speculation *
prof_speculation_new(const char *expression, size_t most,
    const struct prof_sink *to, struct prof_err *error)
{
	struct prof_speculation *sp = calloc(1, sizeof(*sp));

	if (sp == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	sp->sp_to = *to;
	sp->sp_most = most;
	sp->sp_last = &sp->sp_first;
	sp->sp_sweep_at = SWEEP_LEAST;
	if ((sp->sp_follow = prof_follow_new(expression, error)) != NULL)
		return (sp);
	free(sp);
	return (NULL);
}

void
prof_speculation_free(struct prof_speculation *sp)
{
	struct hold *next;

	if (sp == NULL)
		return;
	for (struct hold *hold = sp->sp_first; hold != NULL; hold = next) {
		next = hold->ho_next;
		hold_free(sp, hold);
	}
	prof_follow_free(sp->sp_follow);
	free(sp->sp_of);
	free(sp);
}

void
prof_speculation_left(struct prof_speculation *sp, prof_speculation_fn *fn,
    void *arg)
{
	sp->sp_left = fn;
	sp->sp_left_arg = arg;
}

int
prof_speculation_check(struct prof_speculation *sp, struct prof_err *error)
{
	return (prof_follow_check(sp->sp_follow, error));
}

struct prof_speculated
prof_speculation_of(const struct prof_speculation *sp, size_t event)
{
	static const struct prof_speculated none;

	return (event < sp->sp_nevents ? sp->sp_of[event] : none);
}

size_t
prof_speculation_most(const struct prof_speculation *sp)
{
	return (sp->sp_most);
}

size_t
prof_speculation_bytes(const struct prof_speculation *sp)
{
	return (sp->sp_bytes);
}

struct prof_unkept
prof_speculation_unkept(const struct prof_speculation *sp)
{
	return (sp->sp_unkept);
}
