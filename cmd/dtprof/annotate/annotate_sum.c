/* SPDX-License-Identifier: ISC */
/*
 * From the tree of a profile whose frames are places to the places of one
 * function, and from these to lines of source.  A sample counts where it
 * ended, when that is in the function; with --total, at the innermost place
 * of its stack that is: so every sample counts once, and the sums are those
 * of report.
 *
 * Called by cmd_annotate.c.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helper/owner.h"
#include "annotate.h"

#define CONTEXT		3		/* lines around those with samples */
#define MAX_SOURCE	(32u << 20)	/* bytes of a file */
#define NOWHERE		UINT32_MAX

bool
annotate_is_same(const struct prof_function *a, const struct prof_function *b)
{
	return (a == b || (a->fu_address == b->fu_address &&
	    a->fu_unnamed == b->fu_unnamed &&
	    strcmp(a->fu_name, b->fu_name) == 0 &&
	    strcmp(a->fu_module, b->fu_module) == 0));
}

/* --------------------------------------------------------------- rows */

size_t
annotate_sums(struct annotate *an)
{
	const size_t first = an->an_nsums;
	struct an_sum *grown;

	grown = reallocarray(an->an_sum, first + an->an_ncolumns + 1,
	    sizeof(*grown));
	if (grown == NULL)
		return (AN_NONE);
	an->an_sum = grown;
	memset(grown + first, 0, an->an_ncolumns * sizeof(*grown));
	an->an_nsums += an->an_ncolumns;
	return (first);
}

void
annotate_add(struct annotate *an, size_t to, size_t from)
{
	for (size_t c = 0; c < an->an_ncolumns; c++) {
		an->an_sum[to + c].as_weight += an->an_sum[from + c].as_weight;
		an->an_sum[to + c].as_samples +=
		    an->an_sum[from + c].as_samples;
	}
}

struct an_row *
annotate_row(struct annotate *an, enum an_kind kind, uint64_t number,
    char *text)
{
	struct an_row *row = prof_grow(&an->an_row, &an->an_nrows,
	    &an->an_cap_rows, sizeof(*row));

	if (row == NULL) {
		free(text);
		return (NULL);
	}
	*row = (struct an_row){ .ar_kind = kind, .ar_number = number,
	    .ar_text = text, .ar_chain = "", .ar_first = AN_NONE };
	return (row);
}

void
annotate_mark(struct annotate *an, size_t from)
{
	const struct an_row *row;
	uint64_t most;

	if (an->an_base != NULL) {
		annotate_mark_changes(an, from);
		return;
	}
	for (size_t c = 0; c < an->an_ncolumns; c++) {
		most = 1;
		for (size_t i = from; i < an->an_nrows; i++) {
			row = &an->an_row[i];
			if (row->ar_first != AN_NONE &&
			    an->an_sum[row->ar_first + c].as_weight > most)
				most = an->an_sum[row->ar_first + c].as_weight;
		}
		for (size_t i = from; i < an->an_nrows; i++) {
			row = &an->an_row[i];
			if (row->ar_first != AN_NONE &&
			    an->an_sum[row->ar_first + c].as_weight >=
			    most - most / 2)
				an->an_row[i].ar_is_hot = true;
		}
	}
}

const struct an_sum *
annotate_sum_of(const struct annotate *an, const struct an_row *row, size_t c)
{
	const struct an_sum *sum;

	if (row->ar_first == AN_NONE)
		return (NULL);
	sum = &an->an_sum[row->ar_first + c];
	return (sum->as_samples == 0 ? NULL : sum);
}

double
annotate_part(const struct an_sum *sum, uint64_t all)
{
	return (all == 0 ? 0 : (double)sum->as_weight / (double)all);
}

void
annotate_free(struct annotate *an)
{
	for (size_t i = 0; i < an->an_nplaces; i++)
		free(an->an_place[i].ap_chain);
	for (size_t i = 0; i < an->an_nrows; i++)
		free(an->an_row[i].ar_text);
	free(an->an_place);
	free(an->an_row);
	free(an->an_sum);
	free(an->an_column);
	free(an->an_wanted);
}

/* ------------------------------------------------------------- places */

static int
make_columns(struct annotate *an)
{
	const size_t nevents = prof_reader_nevents(an->an_reader);
	struct an_column *column;

	an->an_column = calloc(nevents + 1, sizeof(*an->an_column));
	if (an->an_column == NULL)
		return (-1);
	for (size_t e = 1; e < nevents; e++) {
		if (!an->an_wanted[e] ||
		    prof_profile_count(an->an_profile, e) == 0)
			continue;
		column = &an->an_column[an->an_ncolumns++];
		column->ac_info = prof_reader_event(an->an_reader, e);
		column->ac_event = e;
		column->ac_all = prof_profile_weight(an->an_profile, e);
	}
	return (0);
}

static int
compare_places(const void *a, const void *b)
{
	const struct an_place *pa = a, *pb = b;

	return ((pa->ap_label->lb_address > pb->ap_label->lb_address) -
	    (pa->ap_label->lb_address < pb->ap_label->lb_address));
}

static int
place_new(struct annotate *an, const struct prof_label *label)
{
	size_t first = annotate_sums(an);
	struct an_place *place = first == AN_NONE ? NULL : prof_append(
	    &an->an_place, &an->an_nplaces, sizeof(*place));

	if (place == NULL)
		return (-1);
	*place = (struct an_place){ .ap_label = label,
	    .ap_symbols = an->an_symbols, .ap_first = first };
	return (annotate_line(an->an_symbols, label, 0, &place->ap_file,
	    &place->ap_number, &place->ap_chain));
}

/* By label, which place of the function it is; NOWHERE: of another. */
static uint32_t *
find_places(struct annotate *an)
{
	const size_t nlabels = prof_profile_nlabels(an->an_profile);
	uint32_t *place_of = calloc(nlabels + 1, sizeof(*place_of));
	const struct prof_label *label;

	for (uint32_t i = 0; place_of != NULL && i < nlabels; i++) {
		label = prof_profile_label(an->an_profile, i);
		place_of[i] = NOWHERE;
		if (label->lb_kind != PROF_LABEL_PLACE ||
		    an->an_function == NULL || !annotate_is_same(
		    label->lb_function, an->an_function))
			continue;
		place_of[i] = (uint32_t)an->an_nplaces;
		if (place_new(an, label) == -1) {
			free(place_of);
			return (NULL);
		}
	}
	return (place_of);
}

/* at: by node, the place it counts for. */
static int
sum_column(struct annotate *an, size_t c, const uint32_t *at)
{
	struct an_column *column = &an->an_column[c];
	const uint64_t *self = prof_profile_self(an->an_profile,
	    column->ac_event);
	const uint64_t *samples = prof_profile_samples(an->an_profile,
	    column->ac_event);
	struct an_sum *sum;

	if (self == NULL || samples == NULL)
		return (-1);
	for (size_t i = 0; i < prof_profile_nnodes(an->an_profile); i++) {
		if (at[i] == NOWHERE)
			continue;
		sum = &an->an_sum[an->an_place[at[i]].ap_first + c];
		sum->as_weight += self[i];
		sum->as_samples += samples[i];
		column->ac_sum.as_weight += self[i];
		column->ac_sum.as_samples += samples[i];
	}
	return (0);
}

void
annotate_sort_places(struct annotate *an)
{
	if (an->an_nplaces > 1)
		qsort(an->an_place, an->an_nplaces, sizeof(*an->an_place),
		    compare_places);
}

/* Places that only callers were seen at have no samples of their own. */
static void
drop_empty(struct annotate *an)
{
	size_t n = 0;
	uint64_t samples;

	for (size_t i = 0; i < an->an_nplaces; i++) {
		samples = 0;
		for (size_t c = 0; c < an->an_ncolumns; c++)
			samples += an->an_sum[an->an_place[i].ap_first +
			    c].as_samples;
		if (samples > 0)
			an->an_place[n++] = an->an_place[i];
		else
			free(an->an_place[i].ap_chain);
	}
	an->an_nplaces = n;
	annotate_sort_places(an);
}

int
annotate_sum(struct annotate *an)
{
	const struct prof_tree_node *node =
	    prof_profile_nodes(an->an_profile);
	const size_t nnodes = prof_profile_nnodes(an->an_profile);
	uint32_t *place_of = NULL, *at = NULL;
	int rv = -1;

	if (make_columns(an) == -1 || (place_of = find_places(an)) == NULL ||
	    (at = calloc(nnodes + 1, sizeof(*at))) == NULL)
		goto out;
	at[0] = NOWHERE;
	for (size_t i = 1; i < nnodes; i++) {
		at[i] = place_of[node[i].pt_label];
		if (at[i] == NOWHERE && an->an_total)
			at[i] = at[node[i].pt_parent];
	}
	rv = 0;
	for (size_t c = 0; c < an->an_ncolumns && rv == 0; c++)
		rv = sum_column(an, c, at);
	drop_empty(an);
out:
	free(place_of);
	free(at);
	return (rv);
}

/* ------------------------------------------------------------- source */

/* A file's text, with each line ended by a NUL. */
struct source {
	char		*so_text;
	char		**so_line;
	size_t		 so_nlines;
};

/* The name is the program's: nothing but a file of usual size is read. */
static char *
read_text(const struct owner *owner, const char *path, size_t *length)
{
	int fd = owner_open(owner, path);
	char *text = NULL;
	struct stat st;
	ssize_t n;

	*length = 0;
	if (fd == -1)
		return (NULL);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= MAX_SOURCE)
		text = malloc((size_t)st.st_size + 1);
	while (text != NULL && *length < (size_t)st.st_size && (n = read(fd,
	    text + *length, (size_t)st.st_size - *length)) > 0)
		*length += (size_t)n;
	(void)close(fd);
	if (text != NULL)
		text[*length] = '\0';
	return (text);
}

static void
source_read(struct source *source, const struct owner *owner,
    const char *path)
{
	size_t length, lines = 1;
	char *at;

	memset(source, 0, sizeof(*source));
	source->so_text = read_text(owner, path, &length);
	if (source->so_text == NULL)
		return;
	for (size_t i = 0; i < length; i++)
		lines += source->so_text[i] == '\n';
	source->so_line = calloc(lines + 1, sizeof(*source->so_line));
	at = source->so_text;
	while (source->so_line != NULL && source->so_nlines < lines) {
		source->so_line[source->so_nlines++] = at;
		at = memchr(at, '\n', length -
		    (size_t)(at - source->so_text));
		if (at == NULL)
			break;
		*at++ = '\0';
	}
}

static int
compare_lines(const void *a, const void *b)
{
	const struct an_place *pa = *(struct an_place *const *)a;
	const struct an_place *pb = *(struct an_place *const *)b;
	int order = strcmp(pa->ap_file, pb->ap_file);

	if (order == 0 && pa->ap_number != pb->ap_number)
		return (pa->ap_number < pb->ap_number ? -1 : 1);
	return (order != 0 ? order : strcmp(pa->ap_chain, pb->ap_chain));
}

static struct an_row *
source_row(struct annotate *an, const struct source *source, unsigned number)
{
	char *text = NULL;

	if (number > 0 && number <= source->so_nlines)
		text = strdup(source->so_line[number - 1]);
	return (annotate_row(an, AN_SOURCE, number, text));
}

/* Lines without samples after the last one shown and before the next. */
static int
show_between(struct annotate *an, const struct source *source, unsigned last,
    unsigned next)
{
	const unsigned nlines = (unsigned)source->so_nlines;
	unsigned n = last == 0 && next > CONTEXT + 1 ? next - CONTEXT - 1 :
	    last;

	if (next == 0)
		next = nlines - last > CONTEXT ? last + CONTEXT + 1 :
		    nlines + 1;
	while (++n < next && n <= nlines) {
		if (last != 0 && n == last + CONTEXT + 1 &&
		    next > n + CONTEXT + 1) {
			n = next - CONTEXT - 1;
			if (annotate_row(an, AN_GAP, 0, NULL) == NULL)
				return (-1);
			continue;
		}
		if (source_row(an, source, n) == NULL)
			return (-1);
	}
	return (0);
}

/* The rows of one file: places of a line and chain are one row. */
static int
file_rows(struct annotate *an, struct an_place **place, size_t n,
    const struct source *source)
{
	struct an_row *row = NULL;
	unsigned last = 0;
	size_t first;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && compare_lines(&place[i - 1], &place[i]) == 0) {
			annotate_add(an, row->ar_first, place[i]->ap_first);
			continue;
		}
		if (place[i]->ap_number != last && source->so_nlines > last &&
		    show_between(an, source, last, place[i]->ap_number) == -1)
			return (-1);
		last = place[i]->ap_number;
		first = annotate_sums(an);
		row = source_row(an, source, last);
		if (first == AN_NONE || row == NULL)
			return (-1);
		row->ar_chain = place[i]->ap_chain;
		row->ar_first = first;
		annotate_add(an, first, place[i]->ap_first);
	}
	return (source->so_nlines > last && last != 0 ?
	    show_between(an, source, last, 0) : 0);
}

/* Of the programs that name this file, one that is not root's, if any is. */
static void
least_owner(struct owner *owner, struct an_place **place, size_t n)
{
	const struct prof_label *label;

	for (size_t i = 0; i < n; i++) {
		label = place[i]->ap_label;
		owner_of(owner, prof_symbols_file(place[i]->ap_symbols,
		    label->lb_space, &label->lb_frame));
		if (owner->ow_is_other)
			return;
	}
}

static int
file_show(struct annotate *an, struct an_place **place, size_t n)
{
	const char *path = place[0]->ap_file;
	struct source source;
	struct owner owner;
	int rv = -1;

	least_owner(&owner, place, n);
	source_read(&source, &owner, path);
	if (annotate_row(an, AN_FILE, 0, strdup(path[0] != '\0' ? path :
	    "[unknown source line]")) != NULL && (source.so_nlines > 0 ||
	    path[0] == '\0' || annotate_row(an, AN_NOTE, 0, strdup(
	    "cannot read the source file: only line numbers are shown")) !=
	    NULL))
		rv = file_rows(an, place, n, &source);
	free(source.so_line);
	free(source.so_text);
	return (rv);
}

int
annotate_source(struct annotate *an)
{
	size_t n = an->an_nplaces, from = an->an_nrows, end;
	struct an_place **sorted = calloc(n + 1, sizeof(*sorted));
	int rv = 0;

	if (sorted == NULL)
		return (-1);
	for (size_t i = 0; i < n; i++)
		sorted[i] = &an->an_place[i];
	if (n > 1)
		qsort(sorted, n, sizeof(*sorted), compare_lines);
	for (size_t i = 0; i < n && rv == 0; i = end) {
		for (end = i + 1; end < n && strcmp(sorted[i]->ap_file,
		    sorted[end]->ap_file) == 0; end++)
			continue;
		rv = file_show(an, sorted + i, end - i);
	}
	free(sorted);
	annotate_mark(an, from);
	return (rv);
}
