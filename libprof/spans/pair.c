/* SPDX-License-Identifier: ISC */
/*
 * Events in order of time to spans.  An end belongs to the last begin of its
 * key that has none yet: so spans of a key nest, and a function that calls
 * itself makes a span for each call.
 *
 *	key 7    begin ---- begin ---- end ---- end
 *	           |          '---------'        |
 *	           '-----------------------------'
 *
 * The key is the thread, or an argument's value: within a process, or, where
 * begin and end fire wherever the kernel happens to be, on the machine.
 * Numbers of threads and processes are used again; a thread's spans end to be
 * open when it exits, and a process's number has a generation.
 *
 * Called by spans.c and live.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "recording/query.h"
#include "spans_impl.h"

/* A small file could claim as many; what comes after has no pair. */
#define MAX_ITEMS	(1U << 22)
#define MAX_TICKS	(2 * MAX_ITEMS)

/* What a key is made of; no padding. */
struct key_bytes {
	uint64_t	kb_value;
	uint32_t	kb_pid;		/* 0: of the machine */
	uint32_t	kb_ended;	/* its generation */
};

/* The key of an event of a kind; -1: no memory. */
static int
key_of(struct prof_spans *spans, const struct span_kind *kind,
    const struct prof_record *record, struct key_bytes *key)
{
	const int argument = kind->ks_argument[record->pr_event];
	const char *text;
	bool is_new;

	memset(key, 0, sizeof(*key));
	if (kind->ks_scope == SPAN_THREAD) {
		key->kb_value = record->pr_tid;
		key->kb_pid = record->pr_pid;
		return (0);
	}
	if (argument >= 0 && (uint32_t)argument < record->pr_nargs) {
		text = record->pr_strs[argument];
		key->kb_value = text == NULL ? record->pr_args[argument] :
		    prof_dict_find(&spans->ss_texts, text, strlen(text),
		    &is_new);
		if (text != NULL && key->kb_value == PROF_INTERN_FAILED)
			return (-1);
	}
	if (kind->ks_scope == SPAN_MACHINE)
		return (0);
	key->kb_pid = record->pr_pid;
	key->kb_ended = prof_span_pid_ended(&spans->ss_pids, record->pr_pid);
	return (0);
}

static struct span_key *
key_find(struct span_pairs *pairs, const struct key_bytes *bytes)
{
	bool is_new;
	const uint32_t n = prof_dict_find(&pairs->pa_by_key, bytes,
	    sizeof(*bytes), &is_new);

	if (n == PROF_INTERN_FAILED || (is_new && prof_grow(
	    (void **)&pairs->pa_key, &pairs->pa_nkeys, &pairs->pa_cap_keys,
	    sizeof(*pairs->pa_key)) == NULL))
		return (NULL);
	return (&pairs->pa_key[n]);
}

/* One more on top of a key's; NULL: no memory. */
static struct span_open *
open_push(struct span_pairs *pairs, struct span_key *key)
{
	const uint32_t below = key->ke_top;
	struct span_open *open;

	if (pairs->pa_free != 0) {
		key->ke_top = pairs->pa_free;
		open = &pairs->pa_open[key->ke_top - 1];
		pairs->pa_free = open->so_below;
	} else {
		open = prof_grow((void **)&pairs->pa_open, &pairs->pa_nopen,
		    &pairs->pa_cap_open, sizeof(*open));
		if (open == NULL)
			return (NULL);
		key->ke_top = (uint32_t)pairs->pa_nopen;
	}
	memset(open, 0, sizeof(*open));
	open->so_below = below;
	if (below != 0)
		open->so_span.sp_depth =
		    pairs->pa_open[below - 1].so_span.sp_depth + 1;
	return (open);
}

/* It stays as it is until the next one is pushed. */
static struct prof_span *
open_pop(struct span_pairs *pairs, struct span_key *key)
{
	const uint32_t top = key->ke_top;
	struct span_open *open = &pairs->pa_open[top - 1];

	key->ke_top = open->so_below;
	open->so_below = pairs->pa_free;
	pairs->pa_free = top;
	return (&open->so_span);
}

static int
kind_begin(struct span_kind *kind, struct span_key *key,
    const struct key_bytes *bytes, const struct prof_record *record)
{
	struct span_open *open;

	if ((open = open_push(&kind->ks_pairs, key)) == NULL)
		return (-1);
	open->so_span.sp_begin_ns = record->pr_time_ns;
	open->so_span.sp_key = bytes->kb_value;
	open->so_ended = bytes->kb_ended;
	open->so_span.sp_pid = record->pr_pid;
	open->so_span.sp_tid = record->pr_tid;
	return (0);
}

bool
prof_span_settle(struct span_kind *kind, enum span_fate fate,
    const struct prof_span *span)
{
	struct prof_span_kind *sk = &kind->ks_kind;
	const bool is_unsure = prof_span_gaps_touch(&kind->ks_gaps,
	    span->sp_begin_ns, span->sp_begin_ns + span->sp_duration_ns);

	if (is_unsure) {
		sk->sk_unpaired_begins += fate != SPAN_ORPHAN;
		sk->sk_unpaired_ends += fate != SPAN_OPEN;
	} else {
		sk->sk_open += fate == SPAN_OPEN;
		sk->sk_orphan += fate == SPAN_ORPHAN;
	}
	return (fate == SPAN_PAIRED && !is_unsure);
}

/* A begin without a span: samples in it are not in another one either. */
static int
fate_take(struct prof_spans *spans, struct span_kind *kind,
    enum span_fate fate, const struct prof_span *span)
{
	struct prof_span *kept;

	if (kind->ks_tally != NULL)
		return (prof_span_live_wait(spans, kind, fate, span));
	if (prof_span_settle(kind, fate, span))
		kept = prof_grow((void **)&kind->ks_span, &kind->ks_nspans,
		    &kind->ks_cap_spans, sizeof(*kept));
	else if (fate == SPAN_ORPHAN)
		return (0);
	else
		kept = prof_grow((void **)&kind->ks_rest, &kind->ks_nrest,
		    &kind->ks_cap_rest, sizeof(*kept));
	if (kept == NULL)
		return (-1);
	*kept = *span;
	return (0);
}

static int
kind_end(struct prof_spans *spans, struct span_kind *kind,
    struct span_key *key, const struct prof_record *record)
{
	/* However long ago: what was lost may have begun around all since. */
	const struct prof_span orphan = {
		.sp_duration_ns = record->pr_time_ns };
	struct prof_span *begun;

	if (key->ke_top == 0)
		return (fate_take(spans, kind, SPAN_ORPHAN, &orphan));
	begun = open_pop(&kind->ks_pairs, key);
	begun->sp_duration_ns = record->pr_time_ns - begun->sp_begin_ns;
	begun->sp_end_tid = record->pr_tid;
	return (fate_take(spans, kind, SPAN_PAIRED, begun));
}

static int
tick_add(struct prof_spans *spans, struct span_kind *kind,
    const struct prof_record *record)
{
	struct span_tick *tick;

	if (!record->pr_has_clock || spans->ss_nticks >= MAX_TICKS) {
		kind->ks_kind.sk_clockless++;
		return (0);
	}
	spans->ss_nticks++;
	tick = prof_grow((void **)&kind->ks_tick, &kind->ks_nticks,
	    &kind->ks_cap_ticks, sizeof(*tick));
	if (tick == NULL)
		return (-1);
	tick->ti_time_ns = record->pr_time_ns;
	tick->ti_running_ns = record->pr_running_ns;
	tick->ti_off_ns = record->pr_off_ns;
	tick->ti_tid = record->pr_tid;
	return (0);
}

size_t
prof_span_items(const struct span_kind *kind)
{
	return (kind->ks_pairs.pa_nkeys + kind->ks_pairs.pa_nopen +
	    kind->ks_nspans + kind->ks_nrest);
}

/* All that begins or ends from here on may be anything's. */
static int
pairing_end(struct prof_spans *spans, uint64_t time_ns)
{
	spans->ss_is_full = true;
	for (size_t n = 0; n < spans->ss_nkinds; n++)
		if (prof_span_gaps_end(&spans->ss_kind[n].ks_gaps, time_ns) ==
		    -1)
			return (-1);
	return (0);
}

static int
sample_take(struct prof_spans *spans, struct span_kind *kind,
    const struct prof_record *record)
{
	const unsigned role = kind->ks_role[record->pr_event];
	struct key_bytes bytes;
	struct span_key *key;
	size_t before;
	int rv = 0;

	if (role == 0)
		return (0);
	if (spans->ss_is_full) {
		kind->ks_kind.sk_unpaired_ends += (role & SPAN_END) != 0;
		kind->ks_kind.sk_unpaired_begins += (role & SPAN_BEGIN) != 0;
		return (0);
	}
	if ((kind->ks_tally == NULL && tick_add(spans, kind, record) == -1) ||
	    key_of(spans, kind, record, &bytes) == -1)
		return (-1);
	before = prof_span_items(kind);
	if ((key = key_find(&kind->ks_pairs, &bytes)) == NULL)
		return (-1);
	if (role & SPAN_END)
		rv = kind_end(spans, kind, key, record);
	if (rv == 0 && role & SPAN_BEGIN)
		rv = kind_begin(kind, key, &bytes, record);
	if (rv == 0 && role & SPAN_BEGIN && kind->ks_tally != NULL)
		rv = prof_span_live_begin(spans, kind, key->ke_top - 1);
	spans->ss_nitems += prof_span_items(kind) - before;
	if (rv == 0 && spans->ss_nitems >= MAX_ITEMS)
		rv = pairing_end(spans, record->pr_time_ns);
	return (rv);
}

/* Those of a key that have begun will not end; -1: no memory. */
static int
key_close(struct prof_spans *spans, struct span_kind *kind,
    struct span_key *key, uint64_t time_ns)
{
	while (key->ke_top != 0) {
		struct prof_span *begun = open_pop(&kind->ks_pairs, key);

		begun->sp_duration_ns = time_ns - begun->sp_begin_ns;
		if (fate_take(spans, kind, SPAN_OPEN, begun) == -1)
			return (-1);
	}
	return (0);
}

static int
thread_close(struct prof_spans *spans, uint32_t pid, uint32_t tid,
    uint64_t time_ns)
{
	const struct key_bytes bytes = { .kb_value = tid, .kb_pid = pid };
	uint32_t n;

	for (size_t i = 0; i < spans->ss_nkinds; i++) {
		struct span_kind *kind = &spans->ss_kind[i];

		if (kind->ks_scope != SPAN_THREAD)
			continue;
		n = prof_dict_peek(&kind->ks_pairs.pa_by_key, &bytes,
		    sizeof(bytes));
		if (n != PROF_INTERN_FAILED && key_close(spans, kind,
		    &kind->ks_pairs.pa_key[n], time_ns) == -1)
			return (-1);
	}
	return (0);
}

/*
 * A thread that execs goes on as the first of its group, which is gone; as
 * which of the two it ends a span that began before cannot be told.
 */
static int
life_take(struct prof_spans *spans, const struct prof_record *record)
{
	const uint64_t now_ns = record->pr_time_ns;
	const bool moves = record->pr_type == PROF_R_EXEC &&
	    record->pr_ptid != record->pr_tid;

	if (((record->pr_type == PROF_R_EXIT || moves) && thread_close(spans,
	    record->pr_pid, record->pr_tid, now_ns) == -1) ||
	    (moves && thread_close(spans, record->pr_pid, record->pr_ptid,
	    now_ns) == -1))
		return (-1);
	if (record->pr_type != PROF_R_EXIT || !record->pr_group_dead)
		return (0);
	return (prof_span_pid_end(&spans->ss_pids, record->pr_pid));
}

int
prof_span_record_take(struct prof_spans *spans,
    const struct prof_record *record)
{
	spans->ss_last_ns = record->pr_time_ns;
	if (record->pr_type != PROF_R_SAMPLE)
		return (life_take(spans, record));
	for (size_t n = 0; n < spans->ss_nkinds; n++)
		if (sample_take(spans, &spans->ss_kind[n], record) == -1)
			return (-1);
	return (0);
}

int
prof_span_kind_close(struct prof_spans *spans, struct span_kind *kind)
{
	for (size_t k = 0; k < kind->ks_pairs.pa_nkeys; k++)
		if (key_close(spans, kind, &kind->ks_pairs.pa_key[k],
		    spans->ss_last_ns) == -1)
			return (-1);
	return (0);
}

/* In their order: one moves to the front only over those forgotten. */
int
prof_span_keys_trim(struct span_kind *kind)
{
	struct span_pairs *pairs = &kind->ks_pairs;
	const size_t nkeys = pairs->pa_nkeys;

	prof_dict_clear(&pairs->pa_by_key);
	pairs->pa_nkeys = 0;
	for (size_t n = 0; n < nkeys; n++) {
		const struct span_key key = pairs->pa_key[n];
		const struct span_open *open;
		struct key_bytes bytes = { 0 };
		struct span_key *kept;

		if (key.ke_top == 0)
			continue;
		open = &pairs->pa_open[key.ke_top - 1];
		bytes.kb_value = open->so_span.sp_key;
		bytes.kb_ended = open->so_ended;
		if (kind->ks_scope != SPAN_MACHINE)
			bytes.kb_pid = open->so_span.sp_pid;
		if ((kept = key_find(pairs, &bytes)) == NULL)
			return (-1);
		*kept = key;
	}
	return (0);
}

int
prof_spans_pair(struct prof_spans *spans, struct prof_err *error)
{
	const struct prof_record *record;
	int rv;

	(void)prof_reader_rewind(spans->ss_reader);
	while ((rv = prof_reader_borrow(spans->ss_reader, &record)) == 1) {
		if (prof_span_record_take(spans, record) == -1)
			return (prof_fail_nomem(error));
	}
	if (rv == -1)
		*error = *prof_reader_error(spans->ss_reader);
	(void)prof_reader_rewind(spans->ss_reader);
	if (rv == -1)
		return (-1);
	for (size_t n = 0; n < spans->ss_nkinds; n++) {
		struct span_kind *kind = &spans->ss_kind[n];

		if (prof_span_kind_close(spans, kind) == -1)
			return (prof_fail_nomem(error));
		prof_span_pairs_fini(&kind->ks_pairs);
	}
	return (0);
}

void
prof_span_pairs_fini(struct span_pairs *pairs)
{
	prof_dict_free(&pairs->pa_by_key);
	free(pairs->pa_key);
	free(pairs->pa_open);
	memset(pairs, 0, sizeof(*pairs));
}
