/* SPDX-License-Identifier: ISC */
/* Where stacks begin, though no frame information says so. */
#ifndef OUTERMOST_H
#define OUTERMOST_H

#include "elf_view.h"

/* Code from one address up to another for which this rule holds. */
struct prof_outermost {
	uint64_t	ou_from;
	uint64_t	ou_to;
	uint16_t	ou_rule;	/* DTP_UW_STOP or DTP_UW_SIGNAL */
	bool		ou_always;	/* whatever the file itself says */
};

/*
 * The first max of them, and how many there are.  is_bare: most code of the
 * file has no frame information, so all of it is looked at.
 */
size_t	prof_outermost_find(struct prof_elf *elf, bool is_bare,
	    struct prof_outermost *found, size_t max);

#endif /* OUTERMOST_H */
