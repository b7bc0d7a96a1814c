/* SPDX-License-Identifier: ISC */
/*
 * The DWARF of a module, opened with libdw: what lines.c asks.
 */
#ifndef DWARF_FILE_H
#define DWARF_FILE_H

#include <elfutils/libdw.h>

#include <stdbool.h>

struct prof_dwarf {
	Dwarf		*pd_dwarf;
	Elf		*pd_elf;
	int		 pd_fd;
	Dwarf		*pd_alt;	/* what several files share (dwz) */
	Elf		*pd_alt_elf;
	int		 pd_alt_fd;
	const Elf_Data	*pd_lines;	/* .debug_line, or NULL */
};

/* The file's own or its debug file's.  false: it has none, or no memory. */
bool	prof_dwarf_open(struct prof_dwarf *file, int fd,
	    const char *debug_dirs);
void	prof_dwarf_close(struct prof_dwarf *file);

#endif /* DWARF_FILE_H */
