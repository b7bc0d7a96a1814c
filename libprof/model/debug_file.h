/* SPDX-License-Identifier: ISC */
/*
 * Where the debug information of a stripped file is.
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include "elf_view.h"

/*
 * The separate debug file of an ELF file, open for reading, or -1: by build-id
 * below debug_dirs ("a:b"; NULL: where they usually are), else by
 * .gnu_debuglink with its checksum.  Another build's is never taken.
 */
int	prof_debug_file_open(struct prof_elf *elf, int fd,
	    const char *debug_dirs);
/* The file at a path if it is of that build, else -1. */
int	prof_debug_file_of_build(const char *path, const void *build_id,
	    size_t length);

#endif /* DEBUG_FILE_H */
