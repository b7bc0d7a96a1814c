/* SPDX-License-Identifier: ISC */
/*
 * The DWARF of a module, opened with libdw: what lines.c asks.
 */
#ifndef DWARF_FILE_H
#define DWARF_FILE_H

#include <elfutils/libdw.h>

#include <stdbool.h>
#include <stdint.h>

struct prof_dwarf {
	Dwarf		*pd_dwarf;
	Elf		*pd_elf;
	int		 pd_fd;
	Dwarf		*pd_alt;	/* what several files share (dwz) */
	Elf		*pd_alt_elf;
	int		 pd_alt_fd;
	const Elf_Data	*pd_lines;	/* .debug_line, or NULL, and ... */
	const Elf_Data	*pd_abbrevs;	/* .debug_abbrev ... */
	const Elf_Data	*pd_infos;	/* .debug_info ... */
	const Elf_Data	*pd_types;	/* .debug_types, or NULL */
	uint64_t	 pd_size;	/* of the file */
	uint64_t	 pd_memory;	/* bytes that may yet be made of it */
	bool		 pd_refused;	/* it has DWARF that is not read */
};

/*
 * The file's own or its debug file's.  false: it has none, or no memory, or
 * pd_refused: it is damaged, or too much for a file of its size.
 */
bool	prof_dwarf_open(struct prof_dwarf *file, int fd,
	    const char *debug_dirs);
void	prof_dwarf_close(struct prof_dwarf *file);
/* Take from pd_memory; false: so much is not left, and then nothing is. */
bool	prof_dwarf_charge(struct prof_dwarf *file, uint64_t bytes);
/*
 * dwarf_cost.c: take what libdw makes of all units when they are walked
 * through.  false: the file is made so that it would be too much.
 */
bool	prof_dwarf_charge_units(struct prof_dwarf *file);
/* The same of the abbreviations of one unit. */
bool	prof_dwarf_charge_abbrevs(struct prof_dwarf *file, Dwarf_Off offset);

#endif /* DWARF_FILE_H */
