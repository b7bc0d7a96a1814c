/* SPDX-License-Identifier: ISC */
/* Where stacks begin, though no frame information says so. */
#ifndef OUTERMOST_H
#define OUTERMOST_H

#include "view.h"

/* Whether the rule holds, by what the file itself says there. */
enum prof_outer_when {
	PROF_OUTER_BARE = 0,	/* if it says nothing */
	PROF_OUTER_DESCRIBED,	/* if it says something else */
	PROF_OUTER_ALWAYS,
};

/* Code from one address up to another for which this rule holds. */
struct prof_outermost {
	uint64_t	ou_from;
	uint64_t	ou_to;
	uint16_t	ou_rule;	/* DTP_UW_STOP, _SIGNAL or _CHILD */
	uint16_t	ou_when;	/* enum prof_outer_when */
};

/*
 * The first max of them, and how many there are.  is_bare: most code of the
 * file has no frame information, so all of it is looked at.
 */
size_t	prof_outermost_find(struct prof_elf *elf, bool is_bare,
	    struct prof_outermost *found, size_t max);

#endif /* OUTERMOST_H */
