/* SPDX-License-Identifier: ISC */
/* What lines.c knows of functions and types, for parameters.c. */
#ifndef LINES_IMPL_H
#define LINES_IMPL_H

#include "dwarf_file.h"
#include "lines.h"

/* The function that begins at an address. */
bool	prof_lines_function(struct prof_lines *lines, uint64_t address,
	    Dwarf_Die *function);
/* Its parts of one kind (DW_TAG), in order; how many, at most max. */
size_t	prof_lines_parts(struct prof_lines *lines, Dwarf_Die *of, int tag,
	    Dwarf_Die *part, size_t max);

#endif /* LINES_IMPL_H */
