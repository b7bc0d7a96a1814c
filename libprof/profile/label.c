/* SPDX-License-Identifier: ISC */
/*
 * Names of nodes.  A spot in the code is looked up the first time it is seen,
 * and is then a run of labels: its function, or with inlined functions the
 * function and what was inlined there, the outermost first.  A label is told
 * from others by what one reads of it, so that neither the order in which
 * things were looked up nor the numbers of the model show in a profile.
 *
 * Called by tree.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "process/symbols.h"
#include "profile_impl.h"
#include "recording/frame.h"
#include "recording/query.h"

#define MAX_INLINED	64	/* functions in one place */
/* Memory, with what tables and the model keep of the same. */
#define SPOT_BYTES	256
#define LABEL_BYTES	192

/* What makes a label what it is; the texts follow. */
struct label_key {
	uint64_t	lk_address;
	uint64_t	lk_inner;	/* what was inlined; 0: nothing */
	uint64_t	lk_place;	/* its address; 0: not told apart */
	uint32_t	lk_kind;
	uint32_t	lk_flags;
};

/* What prof_symbols_find takes, and the address there as its file counts. */
struct at {
	const struct prof_frame *at_frame;
	uint32_t	at_space;
	uint64_t	at_address;
};

static int	chain_add(struct prof_labels *, struct prof_label_chain *,
		    uint32_t);

int
prof_labels_init(struct prof_labels *labels, struct prof_symbols *symbols,
    const struct prof_profile_options *options, struct prof_budget *budget)
{
	labels->lb_symbols = symbols;
	labels->lb_options = options;
	labels->lb_budget = budget;
	labels->lb_over = PROF_INTERN_FAILED;
	/* Number 0 is the root's. */
	return (prof_labels_add(labels, PROF_LABEL_ALL, "all", NULL) ==
	    PROF_INTERN_FAILED ? -1 : 0);
}

uint32_t
prof_labels_over(struct prof_labels *labels)
{
	if (labels->lb_over == PROF_INTERN_FAILED)
		labels->lb_over = prof_labels_add(labels, PROF_LABEL_OVER,
		    PROF_OVER_NAME, NULL);
	return (labels->lb_over);
}

/* What a place is that there is no room for; NULL: no memory. */
static const struct prof_label_chain *
chain_over(struct prof_labels *labels)
{
	struct prof_label_chain *chain = &labels->lb_over_chain;

	if (chain->ch_count > 0)
		return (chain);
	chain->ch_first = (uint32_t)labels->lb_nchain;
	return (chain_add(labels, chain, prof_labels_over(labels)) == -1 ?
	    NULL : chain);
}

void
prof_labels_forget(struct prof_labels *labels)
{
	free(labels->lb_of_spot);
	free(labels->lb_chain);
	free(labels->lb_of_function);
	labels->lb_of_spot = NULL;
	labels->lb_chain = labels->lb_of_function = NULL;
	prof_dict_free(&labels->lb_by_text);
	prof_dict_free(&labels->lb_by_spot);
	prof_map_free(&labels->lb_by_function);
}

void
prof_labels_fini(struct prof_labels *labels)
{
	size_t i;

	prof_labels_forget(labels);
	for (i = 0; i < labels->lb_ntexts; i++)
		free(labels->lb_text[i]);
	free(labels->lb_text);
	free(labels->lb_label);
}

const char *
prof_labels_text(struct prof_labels *labels, const char *text)
{
	char **slot;

	slot = prof_grow((void **)&labels->lb_text, &labels->lb_ntexts,
	    &labels->lb_cap_texts, sizeof(*slot));
	if (slot == NULL)
		return (NULL);
	*slot = strdup(text);
	return (*slot);
}

static bool
is_jit(const struct prof_function *function)
{
	return (strcmp(function->fu_module, "[jit]") == 0);
}

/* The number of a text, so that keys are of one size. */
static uint32_t
label_number(struct prof_labels *labels, enum prof_label_kind kind,
    const char *name, const struct prof_function *function,
    const struct prof_function *inner, const struct at *at, bool *is_new)
{
	const char *module = function != NULL ? function->fu_module : "";
	size_t nname = strlen(name) + 1, nmodule = strlen(module) + 1;
	struct label_key key = { .lk_kind = kind,
	    .lk_inner = (uintptr_t)inner,
	    .lk_place = at != NULL ? at->at_address : 0 };
	uint32_t number;
	char *bytes;

	if (function != NULL) {
		/* A method that was compiled again is the same method. */
		key.lk_address = is_jit(function) ? 0 :
		    function->fu_address + function->fu_line;
		key.lk_flags = (function->fu_is_inlined ? 1u : 0) |
		    (uint32_t)function->fu_unnamed << 1;
	}
	bytes = malloc(sizeof(key) + nname + nmodule);
	if (bytes == NULL)
		return (PROF_INTERN_FAILED);
	memcpy(bytes, &key, sizeof(key));
	memcpy(bytes + sizeof(key), name, nname);
	memcpy(bytes + sizeof(key) + nname, module, nmodule);
	number = prof_dict_find(&labels->lb_by_text, bytes,
	    sizeof(key) + nname + nmodule, is_new);
	free(bytes);
	return (number);
}

/* at: where it is, if places are told apart; or NULL. */
static uint32_t
label_add(struct prof_labels *labels, enum prof_label_kind kind,
    const char *name, const struct prof_function *function,
    const struct prof_function *inner, const struct at *at)
{
	const uint64_t cost = LABEL_BYTES + 2 * strlen(name);
	struct prof_label *label;
	bool is_new;
	uint32_t n;

	/* What is known already is asked for by its function, mostly. */
	if (kind != PROF_LABEL_OVER && labels->lb_budget != NULL &&
	    labels->lb_budget->bu_left < cost) {
		labels->lb_budget->bu_reached = true;
		return (prof_labels_over(labels));
	}
	n = label_number(labels, kind, name, function, inner, at, &is_new);
	if (n == PROF_INTERN_FAILED || !is_new)
		return (n);
	(void)prof_budget_take(labels->lb_budget, cost);
	/* A function's name lives as long as the symbols do. */
	if (function == NULL || name != function->fu_name)
		name = prof_labels_text(labels, name);
	label = name == NULL ? NULL : prof_grow((void **)&labels->lb_label,
	    &labels->lb_nlabels, &labels->lb_cap, sizeof(*label));
	if (label == NULL)
		return (PROF_INTERN_FAILED);
	memset(label, 0, sizeof(*label));
	label->lb_kind = kind;
	label->lb_name = name;
	label->lb_module = function != NULL ? function->fu_module : "";
	label->lb_function = function;
	label->lb_inner = inner;
	if (at != NULL) {
		label->lb_address = at->at_address;
		label->lb_frame = *at->at_frame;
		label->lb_space = at->at_space;
	}
	return (n);
}

uint32_t
prof_labels_add(struct prof_labels *labels, enum prof_label_kind kind,
    const char *name, const struct prof_function *function)
{
	return (label_add(labels, kind, name, function, NULL, NULL));
}

uint32_t
prof_labels_call(struct prof_labels *labels, const struct prof_reader *reader,
    uint64_t number)
{
	const struct prof_syscall *call = prof_reader_call(reader, number);
	const size_t before = labels->lb_nlabels;
	char text[32];
	uint32_t n;

	(void)snprintf(text, sizeof(text), "syscall_%llu",
	    (unsigned long long)number);
	n = prof_labels_add(labels, PROF_LABEL_FUNCTION, call != NULL ?
	    call->cl_name : text, NULL);
	if (labels->lb_nlabels != before)
		labels->lb_label[n].lb_module = "[syscall]";
	return (n);
}

/* ------------------------------------------------------------ frames */

/* "function 0x1234" */
static uint32_t
label_of_address(struct prof_labels *labels, const struct prof_function *fu)
{
	uint32_t n;
	char *name;

	if (asprintf(&name, "%s 0x%llx", fu->fu_name,
	    (unsigned long long)fu->fu_address) == -1)
		return (PROF_INTERN_FAILED);
	n = label_add(labels, PROF_LABEL_FUNCTION, name, fu, NULL, NULL);
	free(name);
	return (n);
}

static uint32_t
label_of_function(struct prof_labels *labels, uint32_t function,
    const struct at *at)
{
	const struct prof_function *fu =
	    prof_symbols_function(labels->lb_symbols, function);
	uint32_t n, *label;
	bool is_new;

	if (at != NULL)
		return (label_add(labels, PROF_LABEL_FUNCTION, fu->fu_name,
		    fu, NULL, at));
	if (labels->lb_options->pl_addresses && fu->fu_address != 0)
		return (label_of_address(labels, fu));
	n = prof_map_get(&labels->lb_by_function, function, &is_new);
	if (n == PROF_INTERN_FAILED)
		return (n);
	if (is_new) {
		label = prof_grow((void **)&labels->lb_of_function,
		    &labels->lb_nfunctions, &labels->lb_cap_functions,
		    sizeof(*label));
		if (label == NULL)
			return (PROF_INTERN_FAILED);
		*label = prof_labels_add(labels, PROF_LABEL_FUNCTION,
		    fu->fu_name, fu);
	}
	return (labels->lb_of_function[n]);
}

static int
chain_add(struct prof_labels *labels, struct prof_label_chain *chain,
    uint32_t label)
{
	uint32_t *slot;

	if (label == PROF_INTERN_FAILED)
		return (-1);
	slot = prof_grow((void **)&labels->lb_chain, &labels->lb_nchain,
	    &labels->lb_cap_chain, sizeof(*slot));
	if (slot == NULL)
		return (-1);
	*slot = label;
	chain->ch_count++;
	return (0);
}

/*
 * "file:number", of the function that the symbol table names; is_inlined: it
 * is a line of what was inlined there.  A macro may make several functions in
 * one line.
 */
static uint32_t
label_of_line(struct prof_labels *labels, uint32_t function,
    const struct prof_line *line, bool is_inlined, const struct at *at)
{
	struct prof_symbols *symbols = labels->lb_symbols;
	const struct prof_function *inner = NULL;
	uint32_t label;
	char *name;

	if (line->ln_file == NULL)
		return (label_of_function(labels, function, at));
	if (is_inlined)
		inner = prof_symbols_function(symbols, prof_symbols_inlined(
		    symbols, function, line->ln_function));
	if (asprintf(&name, "%s:%u", line->ln_file, line->ln_number) == -1)
		return (PROF_INTERN_FAILED);
	label = label_add(labels, PROF_LABEL_LINE, name,
	    prof_symbols_function(symbols, function), inner, at);
	free(name);
	return (label);
}

/* "function+0x12"; an address without a file behind it is the pc. */
static uint32_t
label_of_place(struct prof_labels *labels, uint32_t function,
    const struct at *at)
{
	const struct prof_function *fu =
	    prof_symbols_function(labels->lb_symbols, function);
	uint32_t n;
	char *name;

	if (asprintf(&name, "%s+0x%llx", fu->fu_name,
	    (unsigned long long)(at->at_address - fu->fu_address)) == -1)
		return (PROF_INTERN_FAILED);
	n = label_add(labels, PROF_LABEL_PLACE, name, fu, NULL, at);
	free(name);
	return (n);
}

/*
 * The labels of a place's lines, as prof_symbols_lines has them; at: as of
 * label_add.
 */
static int
lines_resolve(struct prof_labels *labels, uint32_t function,
    const struct prof_line *lines, size_t n, const struct at *at,
    struct prof_label_chain *chain)
{
	uint32_t label;

	for (size_t i = n; i-- > 0; ) {
		if (labels->lb_options->pl_lines)
			label = label_of_line(labels, function, &lines[i],
			    i < n - 1, at);
		else if (i == n - 1)	/* the function itself */
			label = label_of_function(labels, function, at);
		else
			label = label_of_function(labels,
			    prof_symbols_inlined(labels->lb_symbols,
			    function, lines[i].ln_function), at);
		if (chain_add(labels, chain, label) == -1)
			return (-1);
	}
	return (0);
}

/* The function or its line, then what was inlined into it there. */
static int
chain_resolve(struct prof_labels *labels, struct at *at,
    struct prof_label_chain *chain)
{
	const struct prof_profile_options *options = labels->lb_options;
	const struct prof_frame *frame = at->at_frame;
	struct prof_symbols *symbols = labels->lb_symbols;
	struct prof_line lines[MAX_INLINED];
	const char *module;
	uint32_t function;
	size_t n = 0;

	function = prof_symbols_find(symbols, at->at_space, frame);
	if (options->pl_inlines || options->pl_lines)
		n = prof_symbols_lines(symbols, at->at_space, frame, lines,
		    MAX_INLINED);
	if (!options->pl_places)
		return (n > 0 ? lines_resolve(labels, function, lines, n,
		    NULL, chain) : chain_add(labels, chain,
		    label_of_function(labels, function, NULL)));
	at->at_address = prof_frame_is_script(frame) ?
	    prof_frame_instruction(frame) : frame->fr_id -
	    ((frame->fr_flags & PROF_FRAME_RETURN) != 0 && frame->fr_id > 0);
	(void)prof_symbols_place(symbols, at->at_space, frame, &module,
	    &at->at_address);
	return (n > 0 ? lines_resolve(labels, function, lines, n, at,
	    chain) : chain_add(labels, chain,
	    label_of_place(labels, function, at)));
}

const struct prof_label_chain *
prof_labels_frame(struct prof_labels *labels, uint32_t space,
    const struct prof_frame *frame)
{
	struct at at = { frame, space, 0 };
	struct prof_label_chain chain = { (uint32_t)labels->lb_nchain, 0 };
	struct prof_label_chain *slot;
	struct prof_spot spot = { frame->fr_id, space, frame->fr_flags |
	    (uint32_t)frame->fr_kind << 8 };
	bool is_new;
	uint32_t n;

	/* The name of a place without a file is its pc. */
	if (!labels->lb_options->pl_places)
		prof_symbols_spot(labels->lb_symbols, space, frame, &spot);
	n = prof_dict_peek(&labels->lb_by_spot, &spot, sizeof(spot));
	if (n != PROF_INTERN_FAILED)
		return (&labels->lb_of_spot[n]);
	if (!prof_budget_take(labels->lb_budget, SPOT_BYTES))
		return (chain_over(labels));
	n = prof_dict_find(&labels->lb_by_spot, &spot, sizeof(spot), &is_new);
	if (n == PROF_INTERN_FAILED)
		return (NULL);
	if (chain_resolve(labels, &at, &chain) == -1)
		return (NULL);
	slot = prof_grow((void **)&labels->lb_of_spot, &labels->lb_nspots,
	    &labels->lb_cap_spots, sizeof(*slot));
	if (slot == NULL)
		return (NULL);
	*slot = chain;
	return (slot);
}
