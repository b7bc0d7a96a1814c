/* SPDX-License-Identifier: ISC */
/*
 * A line of folded stacks, "root;...;leaf COUNT", or with two counts as
 * difffolded.pl writes it.
 *
 * Included by import/ alone.
 */
#ifndef PROF_FOLDED_H
#define PROF_FOLDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLDED_COUNTS	2	/* base and new */
#define FOLDED_DECIMALS	18

/* 12.5 is 125 with one decimal. */
struct folded_count {
	uint64_t	 fc_digits;
	unsigned	 fc_decimals;	/* the last of them is not 0 */
};

/* Its last count stands last.  A name may end in a number as well. */
struct folded_line {
	const char	*ln_text;
	size_t		 ln_length;	/* of the stack, before the last */
	bool		 ln_has_two;	/* numbers at its end */
	size_t		 ln_length_of_two; /* of the stack before both */
	struct folded_count ln_count[FOLDED_COUNTS];
};

/* NULL, or why it is none.  The text is without the end of the line. */
const char *folded_line_parse(const char *text, size_t length,
	    struct folded_line *line);
/* Nothing, or a comment. */
bool	folded_line_is_empty(const char *text, size_t length);

#endif /* PROF_FOLDED_H */
