/* SPDX-License-Identifier: ISC */
/*
 * Modules: an image with its tables of functions, the reader's side.
 *
 * A module knows its functions from the recording, which holds those that
 * were hit, and from the file, if the very file is still there, or from its
 * separate debug file.  Files are looked at when something is first asked.
 */
#ifndef MODULE_H
#define MODULE_H

#include "elf/lines.h"
#include "elf/symtab.h"
#include "elf/view.h"
#include "images.h"
#include "line_tables.h"

#define PROF_MODULE_SEGMENTS	8

/* Executable parts of a file and the addresses that they are meant for. */
struct prof_segment_of {
	uint64_t	so_offset;
	uint64_t	so_size;
	uint64_t	so_address;
};

struct prof_module {
	const struct prof_image *mo_image;
	struct prof_symtab *mo_recorded;	/* NULL: none */
	struct prof_symtab *mo_file;		/* NULL: none, or not asked */
	struct prof_symtab *mo_objects;		/* NULL: none, or not asked */
	struct prof_lines *mo_lines;
	struct prof_segment_of mo_segment[PROF_MODULE_SEGMENTS];
	unsigned	 mo_nsegments;
	int		 mo_held;		/* descriptor + 1; 0: none */
	/* Offsets that will be asked for, ascending; NULL: any */
	const uint64_t	*mo_place;
	size_t		 mo_nplaces;
	bool		 mo_asked;		/* the file was looked at */
	bool		 mo_asked_objects;
	bool		 mo_asked_lines;
	bool		 mo_kept_lines;		/* they are mf_tables' */
	bool		 mo_refused_names;	/* too much */
	bool		 mo_refused_lines;	/* damaged, or too much */
	bool		 mo_stripped;		/* it has but a .dynsym */
	enum prof_unnamed mo_why;		/* why a place has no name */
	uint32_t	 mo_unnamed;		/* function + 1 */
};

/* Which files may be looked at. */
struct prof_module_files {
	const char	*mf_debug_dirs;
	bool		 mf_none;
	/* What CLOCK_REALTIME is ahead; mf_same_boot: it can be compared. */
	uint64_t	 mf_realtime_ns;
	bool		 mf_same_boot;
	/* In place of that a file is it when unchanged since then; or 0. */
	uint64_t	 mf_unchanged_ns;
	struct prof_line_tables *mf_tables;	/* NULL: of one recording */
};

/* The address as the file counts it of an offset; false: none is meant. */
bool	prof_module_address(struct prof_module *module,
	    const struct prof_module_files *files, uint64_t offset,
	    uint64_t *address);
/* The function there, whose name the recording or a file gives. */
bool	prof_module_find(struct prof_module *module,
	    const struct prof_module_files *files, uint64_t address,
	    struct prof_symbol *symbol);
/* The object there, whose name the file gives. */
bool	prof_module_object(struct prof_module *module,
	    const struct prof_module_files *files, uint64_t address,
	    struct prof_symbol *symbol);
/* The file, or its debug file, open if it is what was mapped; else -1. */
int	prof_module_open(const struct prof_module *module,
	    const struct prof_module_files *files);
/* NULL: the file has none, or is not there. */
struct prof_lines *prof_module_lines(struct prof_module *module,
	    const struct prof_module_files *files);
/* Is the file that was mapped still there? */
bool	prof_module_is_there(const struct prof_module *module,
	    const struct prof_module_files *files);
void	prof_module_fini(struct prof_module *module);

/* Executable segments of an ELF file; 0: it is none. */
unsigned prof_segments_of(struct prof_elf *elf,
	    struct prof_segment_of segments[PROF_MODULE_SEGMENTS]);
/* By segments, see prof_module_address. */
bool	prof_segments_address(const struct prof_segment_of *segments,
	    unsigned n, uint64_t offset, uint64_t *address);

/* By its name: functions in it that wait do so for their callers. */
bool	prof_is_c_library(const char *path);

#endif /* MODULE_H */
