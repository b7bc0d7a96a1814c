/* SPDX-License-Identifier: ISC */
/*
 * Finds the functions in the stack of a sample that a filter names.  Each
 * distinct list of callers is walked once, and each function compared once:
 *
 *	sample -> leaf, and node of its callers -> labels -> bits of the filter
 *
 * A system call that reports show instead of a kernel function is a function,
 * too.  Script frames are merged with native frames first, and all frames are
 * considered, as with --frames all.  The work is charged to a budget of its
 * own.  A recording that exceeds it is refused, because a sample whose stack is
 * unknown would be left out or kept without reason.
 *
 * Called by select.c, and by script.
 */
#include <stdlib.h>

#include "base/error.h"
#include "calls.h"
#include "mixed.h"
#include "recording/frame.h"

#define BUDGET_PART	4	/* of a profile's */
#define STACK_BYTES	96	/* of memory per known stack */
#define COMPARED	(UINT64_C(1) << 63)
#define CALL		UINT32_MAX	/* wy_kind: wy_node is a system call */
#define USER_BITS							\
	(PROF_FOLD_USER | PROF_FOLD_USER_PC | PROF_FOLD_USER_CUT)

/* The part of a stack that is walked at once.  No padding: it is a key. */
struct walk_key {
	uint64_t	wy_leaf;	/* 0 if only callers are walked */
	uint32_t	wy_space;
	uint32_t	wy_node;
	uint32_t	wy_script;
	uint32_t	wy_instruction;
	uint32_t	wy_kind;
	uint32_t	wy_bits;	/* PROF_FOLD_*, with script frames */
};

struct prof_calls {
	const struct prof_reader *cl_reader;
	struct prof_symbols *cl_symbols;
	struct prof_symbols *cl_own;	/* NULL: cl_symbols is the caller's */
	const struct prof_filter *cl_filter;
	struct prof_profile_options cl_options;
	struct prof_budget cl_budget;
	struct prof_labels cl_labels;
	struct prof_mixed *cl_mixed;
	struct prof_dict cl_by_walk;
	uint64_t	*cl_of_walk;	/* bits */
	size_t		 cl_nwalks;
	size_t		 cl_cap_walks;
	uint64_t	*cl_of_label;	/* bits; COMPARED: they are set */
	size_t		 cl_nlabels;
	size_t		 cl_cap_labels;
	bool		 cl_failed;	/* no memory */
};

static int
calls_init(struct prof_calls *calls, struct prof_reader *reader,
    struct prof_symbols *symbols, struct prof_err *error)
{
	if (symbols == NULL && (symbols = calls->cl_own =
	    prof_symbols_open(reader, NULL, error)) == NULL)
		return (-1);
	calls->cl_reader = reader;
	calls->cl_symbols = symbols;
	calls->cl_options.pl_inlines = 1;
	calls->cl_options.pl_frames = PROF_FRAMES_ALL;
	calls->cl_budget = prof_budget_of(reader);
	calls->cl_budget.bu_left /= BUDGET_PART;
	return (prof_labels_init(&calls->cl_labels, symbols,
	    &calls->cl_options, &calls->cl_budget) == -1 ||
	    (calls->cl_mixed = prof_mixed_new(reader, &calls->cl_labels)) ==
	    NULL ? prof_fail_nomem(error) : 0);
}

struct prof_calls *
prof_calls_new(struct prof_reader *reader, struct prof_symbols *symbols,
    const struct prof_filter *filter, struct prof_err *error)
{
	struct prof_calls *calls = calloc(1, sizeof(*calls));

	if (calls == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	calls->cl_filter = filter;
	if (calls_init(calls, reader, symbols, error) == 0)
		return (calls);
	prof_calls_free(calls);
	return (NULL);
}

/* prof_calls_check returns the failure. */
static uint64_t
calls_fail(struct prof_calls *calls)
{
	calls->cl_failed = true;
	return (0);
}

static uint64_t
label_find(struct prof_calls *calls, uint32_t n)
{
	const struct prof_function *function =
	    calls->cl_labels.lb_label[n].lb_function;
	uint64_t *found;

	while (calls->cl_nlabels <= n) {
		found = prof_grow((void **)&calls->cl_of_label,
		    &calls->cl_nlabels, &calls->cl_cap_labels,
		    sizeof(*found));
		if (found == NULL)
			return (calls_fail(calls));
		*found = 0;
	}
	found = &calls->cl_of_label[n];
	if ((*found & COMPARED) == 0 && function != NULL &&
	    prof_filter_calls(calls->cl_filter, function, found) == -1)
		return (calls_fail(calls));
	*found |= COMPARED;
	return (*found);
}

static uint64_t
frame_find(struct prof_calls *calls, uint32_t space,
    const struct prof_frame *frame)
{
	const struct prof_label_chain *chain = prof_labels_frame(
	    &calls->cl_labels, space, frame);
	uint64_t found = 0;

	if (chain == NULL)
		return (calls_fail(calls));
	for (uint32_t n = 0; n < chain->ch_count; n++)
		found |= label_find(calls,
		    calls->cl_labels.lb_chain[chain->ch_first + n]);
	return (found);
}

static uint64_t
callers_walk(struct prof_calls *calls, const struct walk_key *key)
{
	uint32_t node = key->wy_node;
	struct prof_frame frame;
	uint64_t found = 0, pc;

	while (node != 0 && prof_budget_step(&calls->cl_budget)) {
		node = prof_stack_caller(calls->cl_reader, node, &pc);
		prof_frame_of_pc(pc, key->wy_kind, true, &frame);
		found |= frame_find(calls, key->wy_space, &frame);
	}
	return (found);
}

static uint64_t
mixed_walk(struct prof_calls *calls, const struct walk_key *key)
{
	const struct prof_mixed *mixed = calls->cl_mixed;
	uint64_t found = 0;

	prof_mixed_merge(calls->cl_mixed, &(struct prof_mixed_key){
	    .mk_space = key->wy_space,
	    .mk_has_leaf = (key->wy_bits & (PROF_FOLD_USER |
	    PROF_FOLD_USER_PC)) != 0,
	    .mk_leaf = key->wy_leaf, .mk_node = key->wy_node,
	    .mk_script = key->wy_script,
	    .mk_instruction = key->wy_instruction,
	    .mk_is_cut = (key->wy_bits & PROF_FOLD_USER_CUT) != 0 });
	for (size_t n = 0; n < mixed->mx_n &&
	    prof_budget_step(&calls->cl_budget); n++)
		found |= frame_find(calls, key->wy_space,
		    &mixed->mx_frame[n]);
	return (found);
}

/* As tree.c names it. */
static uint64_t
call_find(struct prof_calls *calls, const struct walk_key *key)
{
	const uint32_t n = prof_labels_call(&calls->cl_labels,
	    calls->cl_reader, key->wy_node - 1);
	struct prof_function function = { .fu_raw = "",
	    .fu_kind = PROF_FRAME_KERNEL };
	uint64_t found;

	if (n == PROF_INTERN_FAILED)
		return (calls_fail(calls));
	function.fu_name = calls->cl_labels.lb_label[n].lb_name;
	return (prof_filter_calls(calls->cl_filter, &function, &found) == -1 ?
	    calls_fail(calls) : found);
}

/* The bits of a walk, from the table or by walking. */
static uint64_t
walk_find(struct prof_calls *calls, const struct walk_key *key)
{
	uint32_t n = prof_dict_peek(&calls->cl_by_walk, key, sizeof(*key));
	uint64_t *found;
	bool is_new;

	if (n < calls->cl_nwalks)
		return (calls->cl_of_walk[n]);
	if (!prof_budget_take(&calls->cl_budget, STACK_BYTES))
		return (0);
	if (prof_dict_find(&calls->cl_by_walk, key, sizeof(*key), &is_new) ==
	    PROF_INTERN_FAILED || (found = prof_grow(
	    (void **)&calls->cl_of_walk, &calls->cl_nwalks,
	    &calls->cl_cap_walks, sizeof(*found))) == NULL)
		return (calls_fail(calls));
	return (*found = key->wy_kind == CALL ? call_find(calls, key) :
	    key->wy_script != 0 ? mixed_walk(calls, key) :
	    callers_walk(calls, key));
}

static uint64_t
plain_find(struct prof_calls *calls, uint32_t space, unsigned kind,
    uint64_t leaf, uint32_t number)
{
	const struct prof_frame frame = { leaf, (uint8_t)kind, 0 };
	const struct walk_key key = { .wy_space = space, .wy_kind = kind,
	    .wy_node = number == 0 ? 0 : prof_stack_node(calls->cl_reader,
	    number) };

	return (frame_find(calls, space, &frame) | (key.wy_node == 0 ? 0 :
	    walk_find(calls, &key)));
}

uint64_t
prof_calls_of(struct prof_calls *calls, const struct prof_sample *sample)
{
	const struct prof_record *record = &sample->sm_record;
	const struct walk_key call = { .wy_kind = CALL,
	    .wy_node = prof_fold_call(calls->cl_reader, record) };
	struct walk_key key = { 0 };
	struct prof_fold fold;
	uint64_t found = 0;
	uint32_t space;

	/* The recording is refused. */
	if (calls->cl_failed || calls->cl_budget.bu_reached)
		return (0);
	space = prof_symbols_space(calls->cl_symbols, record->pr_pid,
	    record->pr_time_ns);
	key.wy_space = space;
	prof_fold_key(&fold, sample);
	if (call.wy_node != 0)
		found = walk_find(calls, &call);
	if (fold.fo_bits & (PROF_FOLD_KERNEL | PROF_FOLD_KERNEL_PC))
		found |= plain_find(calls, space, PROF_FRAME_KERNEL,
		    fold.fo_kleaf, fold.fo_kstack);
	if (fold.fo_script != 0)
		key.wy_script = prof_stack_node(calls->cl_reader,
		    fold.fo_script);
	if (key.wy_script != 0) {
		key.wy_bits = (uint32_t)fold.fo_bits & USER_BITS;
		key.wy_leaf = fold.fo_uleaf;
		key.wy_instruction = fold.fo_instruction;
		if (fold.fo_ustack != 0)
			key.wy_node = prof_stack_node(calls->cl_reader,
			    fold.fo_ustack);
		found |= walk_find(calls, &key);
	} else if (fold.fo_bits & (PROF_FOLD_USER | PROF_FOLD_USER_PC))
		found |= plain_find(calls, space, PROF_FRAME_NATIVE,
		    fold.fo_uleaf, fold.fo_ustack);
	return (found & ~COMPARED);
}

int
prof_calls_check(const struct prof_calls *calls, struct prof_err *error)
{
	if (calls->cl_failed)
		return (prof_fail_nomem(error));
	if (!calls->cl_budget.bu_reached)
		return (0);
	prof_fail(error, PROF_E_LIMIT, "the recording has too many stacks for "
	    "a filter on 'stack'");
	return (prof_cure(error, "read a part of the recording with --from "
	    "and --to"));
}

void
prof_calls_free(struct prof_calls *calls)
{
	if (calls == NULL)
		return;
	prof_labels_fini(&calls->cl_labels);
	prof_mixed_free(calls->cl_mixed);
	prof_dict_free(&calls->cl_by_walk);
	prof_symbols_close(calls->cl_own);
	free(calls->cl_of_walk);
	free(calls->cl_of_label);
	free(calls);
}
