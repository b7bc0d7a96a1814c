/* SPDX-License-Identifier: ISC */
/*
 * Where the debug information of a stripped file is.
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include "confine/reading.h"
#include "view.h"

/*
 * The separate debug file of an ELF file, open for reading, or -1: by build-id
 * below debug_dirs ("a:b"; NULL: where they usually are), else by
 * .gnu_debuglink with its checksum.  Another build's is never taken.
 */
int	prof_debug_file_open(struct prof_elf *elf, int fd,
	    const char *debug_dirs);
/* What an open file calls so: a path, or a name relative to it; or -1. */
int	prof_debug_beside(const char *name, int file);
/* The same if it is of that build. */
int	prof_debug_file_of_build(const char *name, int file,
	    const void *build_id, size_t length);

/*
 * The next candidate for the debug file of an open file, a plain file that the
 * owner of that file may read; -1: there is none left.  Whether it is the
 * right one the caller finds out.
 */
int	prof_debug_candidate(struct prof_debug_want *want, int file,
	    const char *debug_dirs);
/* From now on somebody else opens candidates: we are a parser, and may not. */
typedef int prof_debug_open_fn(void *arg, struct prof_debug_want *want);
void	prof_debug_open_by(prof_debug_open_fn *fn, void *arg);

#endif /* DEBUG_FILE_H */
