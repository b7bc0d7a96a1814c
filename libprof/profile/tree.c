/* SPDX-License-Identifier: ISC */
/*
 * Folds to a tree of functions.  A stack is a path in the reader's tree of
 * pcs; the node of ours that stands for a node of the reader's, in a space
 * and below a base, is found once:
 *
 *	reader's tree (pcs)		base: root, comm, pid, ... or CUT
 *	main+4 <- f+9 <- g+2		base -> main -> f -> g
 *	       <- f+c			            (the same f)
 *
 * so a fold costs a look-up or two, however deep its stack is.  Folds are
 * taken space by space: no place is met again once its space is done, so the
 * table of places stays small, and in the processor's caches.  Reversed, the
 * innermost function comes first and nothing can be shared; then each fold is
 * walked.
 *
 * Where the budget is reached, a fold ends in a child of the last node of its
 * path that is there already:
 *
 *	base -> main -> f -> [over the memory budget]
 *
 * Called by profile.c; numbers of nodes are not final, order.c orders them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mixed.h"
#include "profile_impl.h"
#include "process/stack.h"
#include "process/symbols.h"
#include "recording/frame.h"
#include "recording/query.h"
#include "waits.h"

#define NONE	UINT32_MAX	/* no memory */
#define UNKEPT	(UINT32_MAX - 1) /* a place that there is no room for */

/* Memory, with what tables and later steps keep of the same. */
#define NODE_BYTES	128
#define PLACE_BYTES	80
#define OVER_PART	8	/* of the budget is for those that end paths */
#define MAX_UNKEPT	64	/* frames between a sample and a place known */

/* Which node of ours a node of the reader's is, in the space at hand. */
struct place_key {
	uint32_t	pk_base;
	uint32_t	pk_node;
	uint32_t	pk_kind;
};

struct builder {
	struct prof_tree *bu_tree;
	struct prof_labels *bu_labels;
	const struct prof_reader *bu_reader;
	const struct prof_history *bu_history;
	const struct prof_gathered *bu_gathered;
	struct prof_budget *bu_budget;
	struct prof_budget bu_over;	/* of nodes that say it is reached */
	struct prof_map	 bu_child;	/* parent, label -> node - 1 */
	struct prof_dict bu_by_place;
	uint32_t	*bu_place;	/* node; NONE: not walked yet */
	size_t		 bu_nplaces;
	size_t		 bu_cap_places;
	struct prof_mixed *bu_mixed;	/* NULL: no stack was, so far */
	struct prof_waits *bu_waits;
	unsigned	 bu_kinds;	/* PROF_FRAMES_*, of what is shown */
	bool		 bu_is_folded;	/* the fold at hand: its innermost */
	uint32_t	*bu_path;	/* of places, the innermost first */
	size_t		 bu_npath;
	size_t		 bu_cap_path;
};

/* A stack in the reader's tree, as a fold has it. */
struct walk {
	uint32_t	wa_space;
	uint32_t	wa_kind;	/* enum prof_frame_kind */
	bool		wa_there;
	bool		wa_cut;
	uint64_t	wa_leaf;
	uint32_t	wa_node;	/* of its callers, 0: none */
	uint32_t	wa_script;	/* node of script frames, 0: none */
	uint32_t	wa_instruction;
};

uint32_t
prof_tree_child(struct prof_tree *tree, struct prof_map *children,
    uint32_t parent, uint32_t label)
{
	struct prof_tree_node *node;
	bool is_new;
	uint32_t n;

	if (parent == NONE || label == PROF_INTERN_FAILED)
		return (NONE);
	n = prof_map_get(children, (uint64_t)parent << 32 | label, &is_new);
	if (n == PROF_INTERN_FAILED)
		return (NONE);
	if (!is_new)
		return (n + 1);
	node = prof_grow((void **)&tree->tr_node, &tree->tr_nnodes,
	    &tree->tr_cap, sizeof(*node));
	if (node == NULL)
		return (NONE);
	node->pt_parent = parent;
	node->pt_label = label;
	return (n + 1);
}

static uint32_t
child_find(const struct builder *builder, uint32_t parent, uint32_t label)
{
	return (prof_map_peek(&builder->bu_child, (uint64_t)parent << 32 |
	    label));
}

static uint32_t
child_make(struct builder *builder, uint32_t parent, uint32_t label)
{
	return (prof_tree_child(builder->bu_tree, &builder->bu_child, parent,
	    label));
}

static bool
is_over(const struct builder *builder, uint32_t node)
{
	return (builder->bu_tree->tr_node[node].pt_label ==
	    builder->bu_labels->lb_over);
}

/* Where paths end that would go on below a node; the last resort is one. */
static uint32_t
over_child(struct builder *builder, uint32_t parent)
{
	const uint32_t label = prof_labels_over(builder->bu_labels);

	if (child_find(builder, parent, label) != PROF_INTERN_FAILED ||
	    prof_budget_take(&builder->bu_over, NODE_BYTES))
		return (child_make(builder, parent, label));
	return (child_make(builder, 0, label));
}

/* Below the end of a path nothing is added any more. */
static uint32_t
child_of(struct builder *builder, uint32_t parent, uint32_t label)
{
	if (parent == NONE || label == PROF_INTERN_FAILED)
		return (NONE);
	if (is_over(builder, parent))
		return (parent);
	if (label == builder->bu_labels->lb_over)
		return (over_child(builder, parent));
	if (child_find(builder, parent, label) != PROF_INTERN_FAILED ||
	    prof_budget_take(builder->bu_budget, NODE_BYTES))
		return (child_make(builder, parent, label));
	return (over_child(builder, parent));
}

static uint32_t
named_child(struct builder *builder, uint32_t parent,
    enum prof_label_kind kind, const char *name)
{
	return (child_of(builder, parent, prof_labels_add(
	    builder->bu_labels, kind, name, NULL)));
}

static uint32_t
cut_child(struct builder *builder, uint32_t parent)
{
	return (named_child(builder, parent, PROF_LABEL_CUT,
	    "[callers not known]"));
}

/* ------------------------------------------------------------ roots */

/* A node for each argument, below one another; for values alone if asked. */
static uint32_t
args_of(struct builder *builder, uint32_t node, const struct prof_who *who,
    const char *reason)
{
	struct prof_symbols *symbols = builder->bu_labels->lb_symbols;
	const struct prof_profile_options *options =
	    builder->bu_labels->lb_options;
	const struct prof_args *args = &builder->bu_gathered->ga_args;
	const char *text = args->ag_text[who->wh_args - 1], *value;
	const char *end = text + args->ag_length[who->wh_args - 1];

	for (size_t i = 0; text < end; text += strlen(text) + 1, i++) {
		if (options->pl_values != 0 && strcmp(text, "-") == 0)
			continue;
		value = text;
		if (reason != NULL && strcmp(options->pl_args[i],
		    PROF_REASON) == 0)
			value = reason;
		else if (strcmp(options->pl_args[i], PROF_LOCK) == 0)
			value = prof_symbols_object(symbols, who->wh_space,
			    text);
		node = named_child(builder, node, PROF_LABEL_ARG, value);
	}
	return (node);
}

/* reason: of a wait whose stack says more than the event; or NULL. */
static uint32_t
root_of(struct builder *builder, const struct prof_who *who,
    const char *reason)
{
	char text[PROF_COMM_LEN + 32];
	uint32_t node = 0;

	if (who->wh_roots & PROF_ROOT_COMM)
		node = named_child(builder, node, PROF_LABEL_COMM,
		    who->wh_is_0 ? prof_history_last_comm(builder->bu_history,
		    0) : who->wh_comm[0] != '\0' ? who->wh_comm :
		    "[no name]");
	if (who->wh_roots & PROF_ROOT_PID) {
		(void)snprintf(text, sizeof(text), "%u %.*s", who->wh_pid,
		    who->wh_pid == 0 ? 30 : PROF_COMM_LEN - 1,
		    prof_history_last_comm(builder->bu_history, who->wh_pid));
		node = named_child(builder, node, PROF_LABEL_PID, text);
	}
	if (who->wh_roots & PROF_ROOT_TID) {
		(void)snprintf(text, sizeof(text), "%u %.*s", who->wh_tid,
		    who->wh_tid == 0 ? 30 : PROF_COMM_LEN - 1,
		    prof_history_last_comm(builder->bu_history, who->wh_tid));
		node = named_child(builder, node, PROF_LABEL_TID, text);
	}
	if (who->wh_roots & PROF_ROOT_CPU) {
		(void)snprintf(text, sizeof(text), "cpu %u", who->wh_cpu);
		node = named_child(builder, node, PROF_LABEL_CPU, text);
	}
	if (who->wh_roots & PROF_ROOT_CALL) {
		const struct prof_syscall *call = prof_reader_call(
		    builder->bu_reader, who->wh_call - 1ULL);

		(void)snprintf(text, sizeof(text), "syscall_%u",
		    who->wh_call - 1);
		node = named_child(builder, node, PROF_LABEL_CALL,
		    call != NULL ? call->cl_name :
		    who->wh_call == 0 ? "-" : text);
	}
	return (who->wh_args != 0 ? args_of(builder, node, who,
	    reason) : node);
}

/* ------------------------------------------------------------ frames */

static bool
is_reversed(const struct builder *builder)
{
	return (builder->bu_labels->lb_options->pl_reverse != 0);
}

/* All labels of a frame, one below the other. */
static uint32_t
frame_child(struct builder *builder, uint32_t parent, uint32_t space,
    const struct prof_frame *frame)
{
	const struct prof_label_chain *chain;
	uint32_t i, n;

	if (parent == NONE || is_over(builder, parent))
		return (parent);
	chain = prof_labels_frame(builder->bu_labels, space, frame);
	if (chain == NULL)
		return (NONE);
	n = chain->ch_count;
	for (i = 0; i < n; i++)
		parent = child_of(builder, parent,
		    builder->bu_labels->lb_chain[chain->ch_first +
		    (is_reversed(builder) ? n - 1 - i : i)]);
	return (parent);
}

/* Its number among the places, or UNKEPT; a new one is NONE. */
static uint32_t
place_of(struct builder *builder, const struct place_key *key)
{
	uint32_t n, *place;
	bool is_new;

	n = prof_dict_peek(&builder->bu_by_place, key, sizeof(*key));
	if (n != PROF_INTERN_FAILED)
		return (n);
	if (!prof_budget_take(builder->bu_budget, PLACE_BYTES))
		return (UNKEPT);
	n = prof_dict_find(&builder->bu_by_place, key, sizeof(*key), &is_new);
	if (n == PROF_INTERN_FAILED)
		return (n);
	place = prof_grow((void **)&builder->bu_place, &builder->bu_nplaces,
	    &builder->bu_cap_places, sizeof(*place));
	if (place == NULL)
		return (PROF_INTERN_FAILED);
	*place = NONE;
	return (n);
}

static struct prof_frame
leaf_frame(const struct walk *walk)
{
	return ((struct prof_frame){ walk->wa_leaf, (uint8_t)walk->wa_kind,
	    0 });
}

/* A frame that calls, and the node that calls it. */
static uint32_t
caller_frame(const struct builder *builder, const struct walk *walk,
    uint32_t node, struct prof_frame *frame)
{
	uint64_t word;
	uint32_t caller = prof_stack_caller(builder->bu_reader, node, &word);

	prof_frame_of_pc(word, walk->wa_kind, true, frame);
	return (caller);
}

/* Native and script frames, merged; NULL: no memory. */
static const struct prof_mixed *
mixed_of(struct builder *builder, const struct walk *walk)
{
	if (builder->bu_mixed == NULL)
		builder->bu_mixed = prof_mixed_new(builder->bu_reader,
		    builder->bu_labels);
	if (builder->bu_mixed != NULL)
		prof_mixed_merge(builder->bu_mixed, &(struct prof_mixed_key){
		    .mk_space = walk->wa_space,
		    .mk_has_leaf = walk->wa_there,
		    .mk_leaf = walk->wa_leaf, .mk_node = walk->wa_node,
		    .mk_script = walk->wa_script,
		    .mk_instruction = walk->wa_instruction,
		    .mk_is_cut = walk->wa_cut });
	return (builder->bu_mixed);
}

/* Nothing is shared: each frame is looked for below the one before. */
static uint32_t
mixed_walk(struct builder *builder, uint32_t node, const struct walk *walk)
{
	const struct prof_mixed *mixed = mixed_of(builder, walk);

	if (mixed == NULL)
		return (NONE);
	builder->bu_is_folded = mixed->mx_is_folded;
	for (size_t n = 0; n < mixed->mx_n; n++) {
		if (node == NONE || is_over(builder, node))
			return (node);
		if (!prof_budget_step(builder->bu_budget))
			return (over_child(builder, node));
		node = frame_child(builder, node, walk->wa_space,
		    &mixed->mx_frame[is_reversed(builder) ? n :
		    mixed->mx_n - 1 - n]);
	}
	return (node);
}

/* ---------------------------------------------- outermost at the root */

/* What was walked before is found; the rest is walked from there inwards. */
static uint32_t
callers_of(struct builder *builder, uint32_t base, const struct walk *walk)
{
	struct place_key key = { base, walk->wa_node, walk->wa_kind };
	struct prof_frame frame;
	uint32_t place, node = base, *path;
	unsigned unkept = 0;

	builder->bu_npath = 0;
	while (key.pk_node != 0) {
		place = place_of(builder, &key);
		if (place == PROF_INTERN_FAILED)
			return (NONE);
		unkept += place == UNKEPT;
		if (!prof_budget_step(builder->bu_budget) ||
		    unkept > MAX_UNKEPT)
			return (over_child(builder, base));
		if (place != UNKEPT && builder->bu_place[place] != NONE) {
			node = builder->bu_place[place];
			break;
		}
		path = prof_grow((void **)&builder->bu_path,
		    &builder->bu_npath, &builder->bu_cap_path,
		    2 * sizeof(*path));
		if (path == NULL)
			return (NONE);
		path[0] = place;
		path[1] = key.pk_node;
		key.pk_node = caller_frame(builder, walk, key.pk_node,
		    &frame);
	}
	while (builder->bu_npath > 0 && node != NONE) {
		path = builder->bu_path + 2 * --builder->bu_npath;
		(void)caller_frame(builder, walk, path[1], &frame);
		node = frame_child(builder, node, walk->wa_space, &frame);
		if (path[0] != UNKEPT)
			builder->bu_place[path[0]] = node;
	}
	return (node);
}

static uint32_t
walk_inwards(struct builder *builder, uint32_t node, const struct walk *walk)
{
	const struct prof_frame leaf = leaf_frame(walk);

	if (node == NONE || (!walk->wa_there && !walk->wa_cut &&
	    walk->wa_script == 0))
		return (node);
	if (walk->wa_cut)
		node = cut_child(builder, node);
	if (walk->wa_script != 0)
		return (mixed_walk(builder, node, walk));
	if (!walk->wa_there)
		return (node);
	node = callers_of(builder, node, walk);
	return (frame_child(builder, node, walk->wa_space, &leaf));
}

/* ---------------------------------------------- innermost at the root */

static uint32_t
walk_outwards(struct builder *builder, uint32_t node,
    const struct walk *walk)
{
	struct prof_frame frame = leaf_frame(walk);
	uint32_t at = walk->wa_node;

	if (walk->wa_script != 0)
		node = mixed_walk(builder, node, walk);
	else if (walk->wa_there)
		node = frame_child(builder, node, walk->wa_space, &frame);
	while (walk->wa_script == 0 && walk->wa_there && at != 0 &&
	    node != NONE && !is_over(builder, node)) {
		if (!prof_budget_step(builder->bu_budget))
			return (over_child(builder, node));
		at = caller_frame(builder, walk, at, &frame);
		node = frame_child(builder, node, walk->wa_space, &frame);
	}
	return (walk->wa_cut ? cut_child(builder, node) : node);
}

/* ------------------------------------------------------------ folds */

static void
walks_of(struct builder *builder, const struct prof_fold *fold,
    uint32_t space, struct walk *kernel, struct walk *user)
{
	uint64_t bits = fold->fo_bits;

	*kernel = (struct walk){
		.wa_space = space,
		.wa_kind = PROF_FRAME_KERNEL,
		.wa_there = bits & (PROF_FOLD_KERNEL | PROF_FOLD_KERNEL_PC),
		.wa_cut = bits & PROF_FOLD_KERNEL_CUT,
		.wa_leaf = fold->fo_kleaf,
	};
	*user = (struct walk){
		.wa_space = space,
		.wa_kind = PROF_FRAME_NATIVE,
		.wa_there = bits & (PROF_FOLD_USER | PROF_FOLD_USER_PC),
		.wa_cut = bits & PROF_FOLD_USER_CUT,
		.wa_leaf = fold->fo_uleaf,
		.wa_instruction = fold->fo_instruction,
	};
	if (fold->fo_kstack != 0)
		kernel->wa_node = prof_stack_node(builder->bu_reader,
		    fold->fo_kstack);
	if (fold->fo_ustack != 0)
		user->wa_node = prof_stack_node(builder->bu_reader,
		    fold->fo_ustack);
	if (fold->fo_script != 0)
		user->wa_script = prof_stack_node(builder->bu_reader,
		    fold->fo_script);
	if ((builder->bu_kinds & PROF_FRAMES_KERNEL) == 0)
		kernel->wa_there = kernel->wa_cut = false;
	if ((builder->bu_kinds & PROF_FRAMES_NATIVE) == 0 &&
	    user->wa_script == 0)
		user->wa_there = user->wa_cut = false;
	/* A damaged chunk took the callers or the script frames away. */
	kernel->wa_cut |= fold->fo_kstack != 0 && kernel->wa_node == 0;
	user->wa_cut |= (fold->fo_ustack != 0 && user->wa_node == 0) ||
	    (fold->fo_script != 0 && user->wa_script == 0);
}

/* A system call stands where the kernel's function would. */
static uint32_t
call_child(struct builder *builder, uint32_t parent,
    const struct prof_fold *fold)
{
	const uint64_t call = fold->fo_bits >> PROF_FOLD_CALL_SHIFT;

	return (call == 0 ? parent : child_of(builder, parent,
	    prof_labels_call(builder->bu_labels, builder->bu_reader,
	    call - 1)));
}

static bool
has_pc(const struct prof_fold *fold)
{
	return ((fold->fo_bits & (PROF_FOLD_KERNEL | PROF_FOLD_KERNEL_PC |
	    PROF_FOLD_USER | PROF_FOLD_USER_PC)) != 0);
}

static uint32_t
node_of(struct builder *builder, const struct prof_fold *fold, uint32_t base,
    uint32_t space)
{
	struct walk kernel, user;
	uint32_t node;

	if (base == NONE || fold->fo_bits & PROF_FOLD_OVER)
		return (base == NONE ? NONE : over_child(builder, 0));
	walks_of(builder, fold, space, &kernel, &user);
	if (is_reversed(builder)) {
		node = call_child(builder, base, fold);
		node = walk_outwards(builder, node, &kernel);
		node = walk_outwards(builder, node, &user);
	} else {
		node = walk_inwards(builder, base, &user);
		node = walk_inwards(builder, node, &kernel);
		node = call_child(builder, node, fold);
	}
	if (kernel.wa_there)
		builder->bu_is_folded = false;
	if (node == base)	/* not even a pc */
		node = named_child(builder, base, PROF_LABEL_CUT,
		    has_pc(fold) ? "[frames not shown]" :
		    "[no stack recorded]");
	return (node);
}

/* ------------------------------------------------------------ waits */

/* Its stack may say more of a wait than the event does. */
static uint32_t
wait_node(struct builder *builder, const struct prof_fold *fold,
    uint32_t base, uint32_t space)
{
	const struct prof_profile_options *options =
	    builder->bu_labels->lb_options;
	const struct prof_who *who =
	    &builder->bu_gathered->ga_who[fold->fo_who];
	struct prof_fold shown = *fold;
	const char *reason = prof_waits_reason(builder->bu_waits, fold, space,
	    options->pl_fold_idle != 0);

	if (reason != NULL)
		base = root_of(builder, who, reason);
	if (reason == prof_waits_idle) {
		builder->bu_tree->tr_idle[fold->fo_event] += fold->fo_weight;
		return (named_child(builder, base, PROF_LABEL_FUNCTION,
		    reason));
	}
	if (options->pl_leaves)
		prof_fold_leaf(&shown);
	return (node_of(builder, &shown, base, space));
}

/* PROF_SPACE_OVER, the largest number, wraps to 0: the others stay small. */
static uint32_t
space_rank(const struct prof_who *who)
{
	return (who->wh_space + 1);
}

/* The order in which folds are taken: by space; NULL: no memory. */
static uint32_t *
by_space(const struct prof_gathered *gathered)
{
	const struct prof_fold *fold = gathered->ga_fold;
	const struct prof_who *who = gathered->ga_who;
	uint32_t *order = NULL, *from, nranks = 0, rank;
	size_t i;

	for (i = 0; i < gathered->ga_nwho; i++) {
		rank = space_rank(&who[i]);
		nranks = rank >= nranks ? rank + 1 : nranks;
	}
	from = calloc((size_t)nranks + 1, sizeof(*from));
	if (from != NULL)
		order = calloc(gathered->ga_nfolds + 1, sizeof(*order));
	for (i = 0; order != NULL && i < gathered->ga_nfolds; i++)
		from[space_rank(&who[fold[i].fo_who]) + 1]++;
	for (i = 0; order != NULL && i < nranks; i++)
		from[i + 1] += from[i];
	for (i = 0; order != NULL && i < gathered->ga_nfolds; i++)
		order[from[space_rank(&who[fold[i].fo_who])]++] = (uint32_t)i;
	free(from);
	return (order);
}

static int
tree_build(struct builder *builder, const struct prof_gathered *gathered,
    const uint32_t *order, const uint32_t *bases, uint32_t *nodes)
{
	uint32_t space = 0, of;
	const struct prof_fold *fold;
	size_t i;

	for (i = 0; i < gathered->ga_nfolds; i++) {
		fold = &gathered->ga_fold[order[i]];
		of = gathered->ga_who[fold->fo_who].wh_space;
		if (of != space) {
			prof_dict_clear(&builder->bu_by_place);
			/* Their memory is used again. */
			builder->bu_budget->bu_left += PLACE_BYTES *
			    (uint64_t)builder->bu_nplaces;
			builder->bu_nplaces = 0;
		}
		space = of;
		builder->bu_is_folded = false;
		nodes[order[i]] = (fold->fo_bits & PROF_FOLD_BLOCKED ?
		    wait_node : node_of)(builder, fold,
		    bases[fold->fo_who], space);
		if (nodes[order[i]] == NONE)
			return (-1);
		if (builder->bu_is_folded)
			builder->bu_tree->tr_folded[fold->fo_event] +=
			    fold->fo_weight;
	}
	return (0);
}

/* The root, and the nodes below it of everybody who was sampled. */
static int
build_bases(struct builder *builder, const struct prof_gathered *gathered,
    uint32_t *bases)
{
	struct prof_tree *tree = builder->bu_tree;
	struct prof_tree_node *root;
	size_t i;

	root = prof_grow((void **)&tree->tr_node, &tree->tr_nnodes,
	    &tree->tr_cap, sizeof(*root));
	if (root == NULL)
		return (-1);
	memset(root, 0, sizeof(*root));
	for (i = 0; i < gathered->ga_nwho; i++) {
		bases[i] = root_of(builder, &gathered->ga_who[i], NULL);
		if (bases[i] == NONE)
			return (-1);
	}
	return (0);
}

int
prof_tree_build(struct prof_tree *tree, struct prof_labels *labels,
    const struct prof_reader *reader, const struct prof_history *history,
    const struct prof_gathered *gathered, uint32_t *nodes)
{
	struct builder builder = {
		.bu_tree = tree,
		.bu_labels = labels,
		.bu_reader = reader,
		.bu_history = history,
		.bu_gathered = gathered,
		.bu_budget = labels->lb_budget,
		.bu_kinds = prof_stack_kinds(
		    (unsigned)labels->lb_options->pl_frames),
		.bu_over = { .bu_left = labels->lb_budget->bu_left /
		    OVER_PART },
	};
	uint32_t *bases, *order;
	int rv = -1;

	bases = calloc(gathered->ga_nwho + 1, sizeof(*bases));
	order = by_space(gathered);
	builder.bu_waits = prof_waits_new(reader, labels->lb_symbols);
	if (bases != NULL && order != NULL && builder.bu_waits != NULL &&
	    build_bases(&builder, gathered, bases) == 0)
		rv = tree_build(&builder, gathered, order, bases, nodes);
	tree->tr_waits = prof_waits_found(builder.bu_waits);
	free(bases);
	free(order);
	free(builder.bu_place);
	free(builder.bu_path);
	prof_mixed_free(builder.bu_mixed);
	prof_waits_free(builder.bu_waits);
	prof_map_free(&builder.bu_child);
	prof_dict_free(&builder.bu_by_place);
	return (rv);
}
