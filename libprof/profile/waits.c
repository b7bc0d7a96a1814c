/* SPDX-License-Identifier: ISC */
/*
 * What a wait is, by its user stack: each row of waits.def describes a stack
 * from the wait outwards,
 *
 *	epoll_wait	C library		calls
 *	uv__io_poll	any number of these	between
 *	uv_run					ends
 *	main		not looked at, but uv_run must not be here again
 *
 * A stack that no row describes, or that has an unresolved address in the wrong
 * place, is not known.  Called by tree.c, once for each distinct stack.
 */
#include <stdlib.h>

#include "mixed.h"
#include "recording/frame.h"
#include "waits.h"

#define BUDGET_PART	8	/* of a profile's */

const char prof_waits_idle[] = "idle";

enum kind { LOOP, SCHEDULER, LOCK, RUNTIME };

static const struct row {
	enum kind	 ro_kind;
	const char	*ro_name;
	const char	*ro_part;
	const char	*ro_calls;
	const char	*ro_between;
	const char	*ro_ends;
} rows[] = {
#define PROF_WAIT(kind, name, part, calls, between, ends)		\
	{ kind, name, part, calls, between, ends },
#include "waits.def"
#undef PROF_WAIT
};
#define NROWS	(sizeof(rows) / sizeof(rows[0]))

struct prof_waits {
	struct prof_profile_options ws_options;
	struct prof_budget ws_budget;
	struct prof_labels ws_labels;
	struct prof_mixed *ws_mixed;
	uint32_t	 ws_space;
	uint64_t	 ws_found;
};

struct prof_waits *
prof_waits_new(const struct prof_reader *reader, struct prof_symbols *symbols)
{
	struct prof_waits *waits = calloc(1, sizeof(*waits));

	_Static_assert(NROWS <= 64, "a bit for each row");
	if (waits == NULL)
		return (NULL);
	waits->ws_options.pl_frames = PROF_FRAMES_ALL;
	waits->ws_budget = prof_budget_of(reader);
	waits->ws_budget.bu_left /= BUDGET_PART;
	if (prof_labels_init(&waits->ws_labels, symbols, &waits->ws_options,
	    &waits->ws_budget) == 0)
		waits->ws_mixed = prof_mixed_new(reader, &waits->ws_labels);
	if (waits->ws_mixed != NULL)
		return (waits);
	prof_waits_free(waits);
	return (NULL);
}

/* The function of frame n of the stack at hand; NULL: not known. */
static const struct prof_function *
function_at(struct prof_waits *waits, size_t n)
{
	struct prof_labels *labels = &waits->ws_labels;
	const struct prof_label_chain *chain;

	if (n >= waits->ws_mixed->mx_n)
		return (NULL);
	chain = prof_labels_frame(labels, waits->ws_space,
	    &waits->ws_mixed->mx_frame[n]);
	return (chain == NULL || chain->ch_count == 0 ? NULL :
	    labels->lb_label[labels->lb_chain[chain->ch_first]].lb_function);
}

/* Has a row before it that was found the same name? */
static bool
is_named_before(size_t row, uint64_t found)
{
	for (size_t r = 0; r < row; r++)
		if ((found & 1ULL << r) != 0 &&
		    strcmp(rows[r].ro_name, rows[row].ro_name) == 0)
			return (true);
	return (false);
}

/* ------------------------------------------------------------- words */

static const char *
file_of(const struct prof_function *function)
{
	const char *slash = strrchr(function->fu_module, '/');

	return (slash == NULL ? function->fu_module : slash + 1);
}

static bool
is_of_file(const struct prof_function *function, const char *word, size_t n)
{
	return (strncmp(file_of(function), word, n) == 0);
}

static bool
is_libc(const struct prof_function *function)
{
	static const char *const files[] = { "libc.so", "libc-", "libpthread",
	    "ld-musl", "libc.musl" };

	for (size_t n = 0; n < sizeof(files) / sizeof(files[0]); n++)
		if (is_of_file(function, files[n], strlen(files[n])))
			return (true);
	return (false);
}

/* Without a suffix of the compiler or assembler. */
static bool
is_called(const struct prof_function *function, const char *word, size_t n)
{
	const bool is_prefix = word[n - 1] == '*';
	const char *name = function->fu_name;

	n -= is_prefix;
	return ((function->fu_unnamed == PROF_NAMED || n == 0) &&
	    strncmp(name, word, n) == 0 && (is_prefix || name[n] == '\0' ||
	    name[n] == '.'));
}

static bool
word_fits(const struct prof_function *function, const char *word, size_t n)
{
	switch (word[0]) {
	case '?':
		return (function->fu_unnamed == PROF_UNNAMED_NOSYM &&
		    is_of_file(function, word + 1, n - 1));
	case '@':
		return (is_of_file(function, word + 1, n - 1));
	default:
		return (is_called(function, word, n));
	}
}

/* Does one of the words fit? */
static bool
words_fit(const struct prof_function *function, const char *words)
{
	for (size_t n; *words != '\0'; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (word_fits(function, words, n))
			return (true);
	}
	return (false);
}

/* -------------------------------------------------------------- rows */

/* Is a function without a symbol in another file than ends? */
static bool
is_elsewhere(const struct prof_function *function,
    const struct prof_function *end)
{
	return (function->fu_unnamed != PROF_NAMED &&
	    strcmp(function->fu_module, end->fu_module) != 0);
}

/* The frame that ends the row, from a frame on; SIZE_MAX: it does not fit. */
static size_t
row_end(struct prof_waits *waits, const struct row *row, size_t from)
{
	const struct prof_function *function, *end;
	const bool asks_file = strncmp(row->ro_between, "? ", 2) == 0;
	size_t n, i;

	for (n = from; (end = function_at(waits, n)) != NULL &&
	    !words_fit(end, row->ro_ends); n++)
		if (!words_fit(end, row->ro_between))
			return (SIZE_MAX);
	for (i = from; end != NULL && asks_file && i < n; i++) {
		function = function_at(waits, i);
		if (function == NULL || is_elsewhere(function, end))
			return (SIZE_MAX);
	}
	return (end == NULL ? SIZE_MAX : n);
}

/* An event loop in a callback of the same loop: the callback waits. */
static bool
is_nested(struct prof_waits *waits, const struct row *row, size_t n)
{
	const struct prof_function *function;

	for (n++; n < waits->ws_mixed->mx_n; n++) {
		function = function_at(waits, n);
		if (function != NULL && words_fit(function, row->ro_ends))
			return (true);
	}
	return (false);
}

static void
stack_read(struct prof_waits *waits, const struct prof_fold *fold,
    uint32_t space)
{
	const struct prof_reader *reader = waits->ws_mixed->mx_reader;

	waits->ws_space = space;
	prof_mixed_merge(waits->ws_mixed, &(struct prof_mixed_key){
	    .mk_space = space,
	    .mk_has_leaf = (fold->fo_bits & (PROF_FOLD_USER |
	    PROF_FOLD_USER_PC)) != 0,
	    .mk_leaf = fold->fo_uleaf,
	    .mk_node = fold->fo_ustack == 0 ? 0 : prof_stack_node(reader,
	    fold->fo_ustack),
	    .mk_script = fold->fo_script == 0 ? 0 : prof_stack_node(reader,
	    fold->fo_script),
	    .mk_instruction = fold->fo_instruction,
	    .mk_is_cut = (fold->fo_bits & PROF_FOLD_USER_CUT) != 0 });
}

/* The row of the stack at hand; NULL: none, or not known. */
static const struct row *
row_find(struct prof_waits *waits)
{
	const struct prof_function *function, *call = NULL;
	size_t n = 0, r, end;

	while ((function = function_at(waits, n)) != NULL &&
	    is_libc(function)) {
		call = function;
		n++;
	}
	for (r = 0; r < NROWS; r++) {
		if (rows[r].ro_calls[0] != '\0' && (call == NULL ||
		    !words_fit(call, rows[r].ro_calls)))
			continue;
		end = row_end(waits, &rows[r], n);
		if (end != SIZE_MAX && (rows[r].ro_kind != LOOP ||
		    !is_nested(waits, &rows[r], end)))
			break;
	}
	if (r == NROWS || waits->ws_budget.bu_reached)
		return (NULL);
	waits->ws_found |= 1ULL << r;
	return (&rows[r]);
}

const char *
prof_waits_reason(struct prof_waits *waits, const struct prof_fold *fold,
    uint32_t space, bool folds_idle)
{
	const struct row *row;

	stack_read(waits, fold, space);
	row = row_find(waits);
	if (row == NULL || row->ro_kind == RUNTIME)
		return (NULL);
	if (row->ro_kind == LOCK)
		return (row->ro_name);
	return (folds_idle && fold->fo_bits & PROF_FOLD_OUTSIDE ?
	    prof_waits_idle : row->ro_kind == SCHEDULER ? row->ro_name :
	    NULL);
}

const char *
prof_profile_scheduler(const struct prof_profile *profile, size_t n,
    const char **part)
{
	for (size_t r = 0; r < NROWS; r++)
		if ((profile->pf_tree.tr_waits & 1ULL << r) != 0 &&
		    rows[r].ro_part[0] != '\0' && !is_named_before(r,
		    profile->pf_tree.tr_waits) && n-- == 0) {
			*part = rows[r].ro_part;
			return (rows[r].ro_name);
		}
	return (NULL);
}

uint64_t
prof_waits_found(const struct prof_waits *waits)
{
	return (waits == NULL ? 0 : waits->ws_found);
}

void
prof_waits_free(struct prof_waits *waits)
{
	if (waits == NULL)
		return;
	prof_labels_fini(&waits->ws_labels);
	prof_mixed_free(waits->ws_mixed);
	free(waits);
}
