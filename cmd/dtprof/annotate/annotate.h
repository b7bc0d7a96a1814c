/* SPDX-License-Identifier: ISC */
/*
 * What the files of dtprof annotate share: cmd_annotate.c (options, which
 * function), annotate_sum.c (samples to places to rows of source),
 * annotate_base.c (places of two sides to places of both),
 * annotate_asm.c (places to rows of instructions, by objdump),
 * annotate_text.c, annotate_html.c and annotate_data.c (rows to what is
 * read).
 */
#ifndef ANNOTATE_H
#define ANNOTATE_H

#include "../ui/headline.h"

struct terminal;

/* Of a row and an event. */
struct an_sum {
	uint64_t	as_weight;
	uint64_t	as_samples;
};

/*
 * An event, and what shares are shares of: all of the function.  With a base
 * columns are pairs: of the base, of what is new; shares are of ac_all.
 */
struct an_column {
	const struct prof_event_info *ac_info;
	size_t		 ac_event;
	struct an_sum	 ac_sum;
	uint64_t	 ac_all;	/* weight of all functions */
};

/* An address in the function that was sampled. */
struct an_place {
	const struct prof_label *ap_label;
	struct prof_symbols *ap_symbols; /* its side's, which know the label */
	const char	*ap_file;	/* "": not known */
	unsigned	 ap_number;
	char		*ap_chain;	/* where it was inlined, or "" */
	size_t		 ap_first;	/* of its sums */
};

enum an_kind {
	AN_FILE,	/* a heading: source file, or module */
	AN_SOURCE,	/* a line of source */
	AN_GAP,		/* lines were left out */
	AN_LINE,	/* the line that the next instructions are of */
	AN_CODE,	/* an instruction */
	AN_NOTE		/* a sentence: why something is missing */
};

struct an_row {
	enum an_kind	 ar_kind;
	uint64_t	 ar_number;	/* line or address */
	char		*ar_text;	/* owned, hostile; NULL: not known */
	const char	*ar_chain;	/* "" where there is none */
	size_t		 ar_first;	/* of its sums, or AN_NONE */
	bool		 ar_is_hot;
};
#define AN_NONE	SIZE_MAX

struct annotate {
	struct prof_reader *an_reader;
	struct prof_symbols *an_symbols;
	struct prof_profile *an_profile;
	bool		*an_wanted;	/* by event */
	struct headline	 an_headline;
	bool		 an_total;	/* places in callers count, too */
	const struct prof_function *an_function;
	struct an_column *an_column;
	size_t		 an_ncolumns;
	struct an_place	*an_place;	/* in order of address */
	size_t		 an_nplaces;
	struct an_sum	*an_sum;
	size_t		 an_nsums;
	struct an_row	*an_row;
	size_t		 an_nrows;
	size_t		 an_cap_rows;
	struct annotate	*an_base;	/* after annotate_merge */
	bool		 an_is_same_build; /* as the base; of a base: known */
};

/* ---------------------------------------------------- annotate_find.c */

/*
 * Of the functions that a glob matches the one with the most: self, or with
 * an_total all; a note says what the others are.  -1: a message was printed.
 */
int	annotate_find_glob(struct annotate *an, const char *glob);

/* ----------------------------------------------------- annotate_sum.c */

bool	annotate_is_same(const struct prof_function *a,
	    const struct prof_function *b);
/* Places, sums and columns of an_function; 0, or -1: no memory. */
int	annotate_sum(struct annotate *an);
/* Room for a row's sums, all 0; AN_NONE: no memory. */
size_t	annotate_sums(struct annotate *an);
void	annotate_add(struct annotate *an, size_t to, size_t from);
/* The text becomes the row's own; NULL: no memory, and the text is freed. */
struct an_row *annotate_row(struct annotate *an, enum an_kind kind,
	    uint64_t number, char *text);
/* Rows of source; 0, or -1: no memory. */
int	annotate_source(struct annotate *an);
/* By address. */
void	annotate_sort_places(struct annotate *an);
/*
 * Mark what is at least half as hot as the hottest, from a row on; with a
 * base what differs.
 */
void	annotate_mark(struct annotate *an, size_t from);
void	annotate_free(struct annotate *an);

/* ---------------------------------------------------- annotate_base.c */

/* The base's places and columns beside an's own; -1: no memory. */
int	annotate_merge(struct annotate *an, struct annotate *base);
bool	annotate_has_lines(const struct annotate *an);
/* Of a row in all that the column's side recorded, from 0 to 1. */
double	annotate_share(const struct annotate *an, const struct an_row *row,
	    size_t column);
/* Whose column it is, and how its name begins: "base, ". */
const struct annotate *annotate_side(const struct annotate *an,
	    size_t column);
const char *annotate_side_name(const struct annotate *an, size_t column);
/* What all who look at two recordings must know. */
extern const char annotate_no_claim[];
/* What more than sampling sets apart. */
void	annotate_mark_changes(struct annotate *an, size_t from);

/* ----------------------------------------------------- annotate_asm.c */

/* Line of a place: file ("": not known), number, chain (owned by caller). */
int	annotate_line(struct prof_symbols *symbols,
	    const struct prof_label *label, int64_t offset, const char **file,
	    unsigned *number, char **chain);
/* Rows of instructions, or a note why there are none; -1: no memory. */
int	annotate_asm(struct annotate *an);
/*
 * Start objdump: a descriptor of what it prints, or -1; then what wait says of
 * it.  For helper.c, too.
 */
int	annotate_objdump(const char *path, uint64_t from, uint64_t to,
	    pid_t *pid);
int	annotate_objdump_end(pid_t pid);

/* A row's sum of column c; NULL: it has no samples. */
const struct an_sum *annotate_sum_of(const struct annotate *an,
	    const struct an_row *row, size_t c);
/* Of a weight, from 0 to 1. */
double	annotate_part(const struct an_sum *sum, uint64_t all);

/* ------------------ annotate_text.c, annotate_html.c, annotate_data.c */

void	annotate_text(const struct annotate *an, struct out *out,
	    const struct terminal *terminal);
void	annotate_html(const struct annotate *an, struct out *out);
void	annotate_json(const struct annotate *an, struct out *out);
void	annotate_csv(const struct annotate *an, struct out *out);

#endif /* ANNOTATE_H */
