/* SPDX-License-Identifier: ISC */
/*
 * A function on two sides: what the base has of it stands beside what is new.
 * Of the very same file places are matched by address, so lines and
 * instructions are; of another build by line alone, as the sources' lines
 * were numbered for each.  Shares are of all that a side recorded, since a
 * function that grows would hide it in shares of itself.
 *
 * Called by cmd_annotate.c, after both sides have been summed up.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"

/*
 * Standard errors that sampling must be off by before a row stands out: by
 * chance 1 row in 16,000 does.
 */
#define SURE	4

/*
 * The same file as it is now, on both sides, and of the recorded build; or a
 * kernel of the same release, which counts from its own begin.
 */
static bool
is_same_build(const struct annotate *an,
    const struct annotate *base)
{
	const struct prof_label *a, *b;
	const char *path, *other;
	bool is_same;
	char *copy;

	if (an->an_nplaces == 0 || base->an_nplaces == 0 ||
	    base->an_is_same_build)
		return (true);
	a = an->an_place[0].ap_label;
	b = base->an_place[0].ap_label;
	if (an->an_function->fu_address != base->an_function->fu_address)
		return (false);
	if (an->an_function->fu_kind == PROF_FRAME_KERNEL) {
		path = prof_reader_info(an->an_reader, "machine.kernel");
		other = prof_reader_info(base->an_reader, "machine.kernel");
		return (path != NULL && other != NULL &&
		    strcmp(path, other) == 0);
	}
	path = prof_symbols_file(an->an_symbols, a->lb_space, &a->lb_frame);
	copy = path == NULL ? NULL : strdup(path);
	other = prof_symbols_file(base->an_symbols, b->lb_space,
	    &b->lb_frame);
	is_same = copy != NULL && other != NULL && strcmp(copy, other) == 0;
	free(copy);
	return (is_same);
}

/* ------------------------------------------------------------- merging */

/* Events of both, in pairs: base, new. */
static struct an_column *
pair_columns(const struct annotate *an, const struct annotate *base,
    size_t *new_of, size_t *base_of, size_t *npairs)
{
	struct an_column *column = calloc(2 * an->an_ncolumns + 1,
	    sizeof(*column));
	size_t n = 0, b;

	for (size_t c = 0; column != NULL && c < an->an_ncolumns; c++) {
		for (b = 0; b < base->an_ncolumns; b++)
			if (strcmp(an->an_column[c].ac_info->pi_name,
			    base->an_column[b].ac_info->pi_name) == 0)
				break;
		if (b == base->an_ncolumns)
			continue;
		column[2 * n] = base->an_column[b];
		column[2 * n + 1] = an->an_column[c];
		base_of[n] = b;
		new_of[n++] = c;
	}
	*npairs = n;
	return (column);
}

/* Places of a side behind those that are there, with room for both sides. */
static void
places_append(struct annotate *an, struct an_sum *sum,
    const struct annotate *from, const size_t *column, size_t npairs,
    size_t side)
{
	for (size_t i = 0; i < from->an_nplaces; i++) {
		const size_t first = 2 * npairs * an->an_nplaces;
		struct an_place *place = &an->an_place[an->an_nplaces++];

		*place = from->an_place[i];
		for (size_t p = 0; p < npairs; p++)
			sum[first + 2 * p + side] = from->an_sum[
			    place->ap_first + column[p]];
		place->ap_first = first;
	}
}

/* What is at one address is one place; they are in order. */
static void
places_fold(struct annotate *an)
{
	struct an_place *place = an->an_place;
	size_t n = 0;

	for (size_t i = 0; i < an->an_nplaces; i++) {
		if (n > 0 && place[n - 1].ap_label->lb_address ==
		    place[i].ap_label->lb_address) {
			annotate_add(an, place[n - 1].ap_first,
			    place[i].ap_first);
			free(place[i].ap_chain);
		} else {
			place[n++] = place[i];
		}
	}
	an->an_nplaces = n;
}

int
annotate_merge(struct annotate *an, struct annotate *base)
{
	const size_t nplaces = an->an_nplaces + base->an_nplaces;
	const size_t ncolumns = an->an_ncolumns + base->an_ncolumns;
	size_t *new_of = calloc(ncolumns + 1, sizeof(*new_of));
	size_t *base_of = calloc(ncolumns + 1, sizeof(*base_of));
	struct an_place *place = calloc(nplaces + 1, sizeof(*place));
	struct an_sum *sum = calloc(nplaces + 1, 2 * (ncolumns + 1) *
	    sizeof(*sum));
	const struct annotate old = *an;
	struct an_column *column = NULL;
	size_t npairs = 0;

	if (new_of != NULL && base_of != NULL && place != NULL &&
	    sum != NULL)
		column = pair_columns(an, base, new_of, base_of, &npairs);
	if (column == NULL) {
		free(place);
		free(sum);
		goto out;
	}
	an->an_is_same_build = is_same_build(an, base);
	an->an_base = base;
	an->an_place = place;
	an->an_sum = sum;
	an->an_nplaces = 0;
	places_append(an, sum, &old, new_of, npairs, 1);
	places_append(an, sum, base, base_of, npairs, 0);
	an->an_nsums = 2 * npairs * nplaces;
	an->an_column = column;
	an->an_ncolumns = 2 * npairs;
	base->an_nplaces = 0;	/* what they own is ours now */
	annotate_sort_places(an);
	if (an->an_is_same_build)
		places_fold(an);
	free(old.an_place);
	free(old.an_sum);
	free(old.an_column);
out:
	free(new_of);
	free(base_of);
	return (column == NULL ? -1 : 0);
}

/* Both sides have a place whose line is known, or no places. */
bool
annotate_has_lines(const struct annotate *an)
{
	bool has_places[2] = { false, false }, has_lines[2] = { false, false };

	for (size_t i = 0; i < an->an_nplaces; i++)
		for (size_t c = 0; c < an->an_ncolumns; c++)
			if (an->an_sum[an->an_place[i].ap_first +
			    c].as_samples > 0) {
				has_places[c % 2] = true;
				has_lines[c % 2] |=
				    an->an_place[i].ap_number > 0;
			}
	return (has_lines[0] == has_places[0] &&
	    has_lines[1] == has_places[1]);
}

/* ------------------------------------------------------------- changes */

const char annotate_no_claim[] = "Base and new have one run each, so "
    "differences were not tested for significance.  Marked lines differ by "
    "more than the sampling error.";

const struct annotate *
annotate_side(const struct annotate *an, size_t column)
{
	return (an->an_base != NULL && column % 2 == 0 ? an->an_base : an);
}

const char *
annotate_side_name(const struct annotate *an, size_t column)
{
	return (an->an_base == NULL ? "" : column % 2 == 0 ? "base, " :
	    "new, ");
}

double
annotate_share(const struct annotate *an, const struct an_row *row,
    size_t column)
{
	const uint64_t all = an->an_column[column].ac_all;

	return (all == 0 || row->ar_first == AN_NONE ? 0 :
	    (double)an->an_sum[row->ar_first + column].as_weight /
	    (double)all);
}

static bool
stands_out(const struct annotate *an, const struct an_row *row, size_t pair)
{
	struct prof_quality quality;
	double share[2], spread = 0;

	for (size_t s = 0; s < 2; s++) {
		share[s] = annotate_share(an, row, 2 * pair + s);
		prof_profile_quality(annotate_side(an, s)->an_profile,
		    an->an_column[2 * pair + s].ac_event, &quality);
		if (quality.pq_effective > 0)
			spread += share[s] * (1 - share[s]) /
			    quality.pq_effective;
	}
	return (spread > 0 && fabs(share[1] - share[0]) >= SURE *
	    sqrt(spread));
}

void
annotate_mark_changes(struct annotate *an, size_t from)
{
	for (size_t i = from; i < an->an_nrows; i++)
		for (size_t p = 0; p < an->an_ncolumns / 2; p++)
			if (an->an_row[i].ar_first != AN_NONE &&
			    stands_out(an, &an->an_row[i], p))
				an->an_row[i].ar_is_hot = true;
}
