/* SPDX-License-Identifier: ISC */
/*
 * Both lists of frames of a fold out of the dictionary of stacks, merged to
 * one stack (process/stack.c).  Called by tree.c for folds that have script
 * frames; all others share their callers and never come here.
 */
#include <stdlib.h>

#include "mixed.h"
#include "process/stack.h"
#include "recording/format.h"
#include "recording/table.h"

/* Both lists, all that is inlined at script frames, and a boundary. */
#define MAX_MERGED	((2 + (size_t)PROF_TABLE_INLINED) * PROF_MAX_FRAMES + 2)

struct prof_mixed *
prof_mixed_new(const struct prof_reader *reader,
    const struct prof_labels *labels)
{
	struct prof_mixed *mixed = calloc(1, sizeof(*mixed));

	if (mixed == NULL)
		return (NULL);
	mixed->mx_reader = reader;
	mixed->mx_labels = labels;
	mixed->mx_native = calloc(PROF_MAX_FRAMES + 1,
	    sizeof(*mixed->mx_native));
	mixed->mx_script = calloc(PROF_MAX_FRAMES,
	    sizeof(*mixed->mx_script));
	mixed->mx_frame = calloc(MAX_MERGED, sizeof(*mixed->mx_frame));
	if (mixed->mx_native != NULL && mixed->mx_script != NULL &&
	    mixed->mx_frame != NULL)
		return (mixed);
	prof_mixed_free(mixed);
	return (NULL);
}

/*
 * The frames of a stack from a node on, at most PROF_MAX_FRAMES and what the
 * budget reaches for: merging costs as much as the walk does.
 */
static uint32_t
words_of(const struct prof_mixed *mixed, uint32_t node, uint64_t *words)
{
	uint32_t n = 0;

	while (node != 0 && n < PROF_MAX_FRAMES &&
	    prof_budget_step(mixed->mx_labels->lb_budget))
		node = prof_stack_caller(mixed->mx_reader, node, &words[n++]);
	return (n);
}

void
prof_mixed_merge(struct prof_mixed *mixed, const struct prof_mixed_key *key)
{
	struct prof_lists lists = {
		.li_native = mixed->mx_native,
		.li_script = mixed->mx_script,
		.li_is_cut = key->mk_is_cut,
		.li_frames =
		    (unsigned)mixed->mx_labels->lb_options->pl_frames,
		.li_symbols = mixed->mx_labels->lb_symbols,
		.li_space = key->mk_space,
	};

	if (key->mk_has_leaf) {
		mixed->mx_native[0] = key->mk_leaf;
		lists.li_nnative = 1 + words_of(mixed, key->mk_node,
		    mixed->mx_native + 1);
	}
	lists.li_nscript = words_of(mixed, key->mk_script, mixed->mx_script);
	if (lists.li_nscript > 0)
		mixed->mx_script[0] |= key->mk_instruction;
	mixed->mx_n = prof_stack_merge(&lists, mixed->mx_frame, MAX_MERGED);
	mixed->mx_is_folded = lists.li_is_folded;
	if (mixed->mx_n > 1 && mixed->mx_labels->lb_options->pl_leaves)
		mixed->mx_n = 1;
}

void
prof_mixed_free(struct prof_mixed *mixed)
{
	if (mixed == NULL)
		return;
	free(mixed->mx_native);
	free(mixed->mx_script);
	free(mixed->mx_frame);
	free(mixed);
}
