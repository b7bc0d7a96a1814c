/* SPDX-License-Identifier: ISC */
/*
 * Lines of source and inlined functions for addresses of one module, out of
 * its DWARF.  One thread at a time may use a handle.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof.h"

struct prof_lines;

/*
 * Of the file, or of its separate debug file; the descriptor stays the
 * caller's and may be closed.  Reads little; each unit is looked at when it is
 * first asked for.  Owned by caller; NULL: it has no DWARF, or no memory, or,
 * with EFBIG, DWARF that is damaged or too much for a file of its size.
 */
struct prof_lines *prof_lines_open(int fd, const char *debug_dirs);
/*
 * The functions whose code the instruction at an address is, innermost
 * inlined one first, the one that was compiled last; how many, at most max
 * (then the outermost are left out).  0: not known.  A line number says where
 * in its function: of the instruction in the first, of the call in the
 * others.  Strings are borrowed until close; the names are demangled.  A
 * function of assembler has a line but no name here (ln_function NULL): ask
 * the symbol table.
 */
size_t	prof_lines_find(struct prof_lines *lines, uint64_t address,
	    struct prof_line *out, size_t max);
/* Was there more than a file of its size may say?  Then lines are missing. */
bool	prof_lines_limited(const struct prof_lines *lines);
void	prof_lines_close(struct prof_lines *lines);

#endif /* LINES_H */
