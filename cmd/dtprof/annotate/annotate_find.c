/* SPDX-License-Identifier: ISC */
/*
 * Which function a glob means: of those that match, by name or as
 * module:name, the one that most of the first event's weight is in.  A label
 * is a place in a function, so functions are told apart here first.
 *
 * Called by cmd_annotate.c, when no function is called so.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"

#define MAX_NAMED	3	/* others that a note names */
#define NONE		UINT32_MAX

struct match {
	const struct prof_function *mt_function;
	uint64_t	 mt_weight;
	uint32_t	 mt_last;	/* node that it was last counted for */
};

struct matches {
	struct match	*ma_match;
	size_t		 ma_n;
	uint32_t	*ma_of;		/* by label, or NONE */
};

static bool
is_matched(const struct prof_function *fu, const char *glob)
{
	const char *slash = strrchr(fu->fu_module, '/');
	char *full = NULL;
	bool is = fnmatch(glob, fu->fu_name, 0) == 0;

	if (!is && strchr(glob, ':') != NULL && asprintf(&full, "%s:%s",
	    slash != NULL && *glob != '/' ? slash + 1 : fu->fu_module,
	    fu->fu_name) != -1) {
		is = fnmatch(glob, full, 0) == 0;
		free(full);
	}
	return (is);
}

static int
by_function(const void *va, const void *vb, void *arg)
{
	const struct annotate *an = arg;
	const struct prof_function *a = prof_profile_label(an->an_profile,
	    *(const uint32_t *)va)->lb_function;
	const struct prof_function *b = prof_profile_label(an->an_profile,
	    *(const uint32_t *)vb)->lb_function;
	int order = strcmp(a->fu_name, b->fu_name);

	if (order == 0)
		order = strcmp(a->fu_module, b->fu_module);
	if (order == 0)
		order = a->fu_address < b->fu_address ? -1 :
		    a->fu_address > b->fu_address;
	return (order != 0 ? order : (int)a->fu_unnamed -
	    (int)b->fu_unnamed);
}

/* Labels of functions that match, put so that one's stand together. */
static int
matches_collect(const struct annotate *an, const char *glob,
    struct matches *matches)
{
	const size_t nlabels = prof_profile_nlabels(an->an_profile);
	uint32_t *order = calloc(nlabels + 1, sizeof(*order));
	const struct prof_label *label;
	size_t n = 0;

	matches->ma_of = calloc(nlabels + 1, sizeof(*matches->ma_of));
	matches->ma_match = calloc(nlabels + 1, sizeof(*matches->ma_match));
	if (order == NULL || matches->ma_of == NULL ||
	    matches->ma_match == NULL) {
		free(order);
		return (-1);
	}
	for (uint32_t l = 0; l < nlabels; l++) {
		label = prof_profile_label(an->an_profile, l);
		matches->ma_of[l] = NONE;
		if (label->lb_kind == PROF_LABEL_PLACE &&
		    is_matched(label->lb_function, glob))
			order[n++] = l;
	}
	qsort_r(order, n, sizeof(*order), by_function,
	    (void *)(uintptr_t)an);
	for (size_t i = 0; i < n; i++) {
		label = prof_profile_label(an->an_profile, order[i]);
		if (i == 0 || !annotate_is_same(label->lb_function,
		    matches->ma_match[matches->ma_n - 1].mt_function))
			matches->ma_match[matches->ma_n++] = (struct match){
			    label->lb_function, 0, NONE };
		matches->ma_of[order[i]] = (uint32_t)matches->ma_n - 1;
	}
	free(order);
	return (0);
}

/* Each node's weight for the functions on its path, or the innermost. */
static void
nodes_weigh(const struct annotate *an, struct matches *matches, size_t event)
{
	const struct prof_tree_node *node =
	    prof_profile_nodes(an->an_profile);
	const size_t nnodes = prof_profile_nnodes(an->an_profile);
	const uint64_t *self = prof_profile_self(an->an_profile, event);
	struct match *match;
	uint32_t of;

	for (uint32_t i = 1; self != NULL && i < nnodes; i++) {
		if (self[i] == 0)
			continue;
		for (uint32_t at = i; at != 0; at = node[at].pt_parent) {
			of = matches->ma_of[node[at].pt_label];
			match = of != NONE ? &matches->ma_match[of] : NULL;
			if (match != NULL && match->mt_last != i) {
				match->mt_weight += self[i];
				match->mt_last = i;
			}
			if (!an->an_total)
				break;
		}
	}
}

static int
by_weight(const void *va, const void *vb)
{
	const struct match *a = va, *b = vb;

	if (a->mt_weight != b->mt_weight)
		return (a->mt_weight > b->mt_weight ? -1 : 1);
	return (strcmp(a->mt_function->fu_name, b->mt_function->fu_name));
}

static void
say_others(const struct matches *matches, const char *glob)
{
	char names[256] = "";
	size_t used = 0, n;

	for (n = 1; n < matches->ma_n && n <= MAX_NAMED; n++) {
		const int length = snprintf(names + used,
		    sizeof(names) - used, "%s%.64s", n > 1 ? ", " : "",
		    matches->ma_match[n].mt_function->fu_name);

		if (length < 0 || used + (size_t)length >= sizeof(names))
			break;
		used += (size_t)length;
	}
	msg_note("annotate", "'%s' matches %zu functions: only the heaviest is "
	    "shown; other matches: %s%s", glob, matches->ma_n, names,
	    matches->ma_n > n ? ", ..." : "");
}

int
annotate_find_glob(struct annotate *an, const char *glob)
{
	struct matches matches = { 0 };
	size_t event = 1;
	int rv = -1;

	while (event + 1 < prof_reader_nevents(an->an_reader) &&
	    (!an->an_wanted[event] ||
	    prof_profile_count(an->an_profile, event) == 0))
		event++;
	if (matches_collect(an, glob, &matches) == -1) {
		msg_error("annotate", "out of memory", "free memory");
	} else if (matches.ma_n == 0) {
		msg_fail("annotate", "list the functions with dtprof report",
		    "'%s' matches no function in this recording", glob);
	} else {
		nodes_weigh(an, &matches, event);
		qsort(matches.ma_match, matches.ma_n,
		    sizeof(*matches.ma_match), by_weight);
		an->an_function = matches.ma_match[0].mt_function;
		if (matches.ma_n > 1)
			say_others(&matches, glob);
		rv = 0;
	}
	free(matches.ma_match);
	free(matches.ma_of);
	return (rv);
}
