/* SPDX-License-Identifier: ISC */
/*
 * What the files behind prof_symbols_* share: symbols.c (from a place in the
 * code to a function), symbols_load.c (mappings, images and tables out of a
 * recording), symbols_live.c (of what is not recorded), kernel_map.c (the
 * kernel's addresses), symbols_note.c, symbols_object.c.
 */
#ifndef PROF_SYMBOLS_IMPL_H
#define PROF_SYMBOLS_IMPL_H

#include "image/module.h"
#include "kernel_map.h"
#include "processes.h"
#include "recording/table.h"
#include "symbols.h"

#define FUNCTIONS_BLOCK	1024

/* A function, and the memory of its names. */
struct function {
	struct prof_function fn_public;
	char		*fn_name;	/* NULL: fu_name is not ours */
	char		*fn_raw;
	char		*fn_module;	/* NULL: fu_module is not ours */
};

/* Numbers by key. */
struct answers {
	struct prof_dict an_dict;
	uint32_t	*an_number;
	size_t		 an_cap;
};

/* Names made of memory, by life: what the JIT of a process said. */
struct jit {
	uint32_t	 ji_life;
	struct prof_symtab *ji_table;
};

struct prof_symbols {
	struct prof_reader *sy_reader;
	struct prof_processes *sy_processes;
	struct prof_images sy_images;
	struct prof_module *sy_module;	/* by number of image */
	uint32_t	 sy_nmodules;
	struct jit	*sy_jit;	/* by life */
	size_t		 sy_njit;
	struct prof_map	 sy_by_code;	/* of script frames -> sy_code */
	struct prof_table_code *sy_code;
	size_t		 sy_ncodes;
	size_t		 sy_cap_codes;
	bool		 sy_is_given;	/* names are what a file said */
	bool		 sy_is_one_memory; /* PROF_PLACES_PID's */
	/* Of what happens now: whom the one space is of, and when. */
	bool		 sy_is_live;
	uint32_t	 sy_live_pid;
	uint64_t	 sy_live_ns;
	void		**sy_body;	/* tables of scripts, kept */
	size_t		 sy_nbodies;
	uint64_t	 sy_until_ns;	/* processes are known so long */
	struct prof_kernel_map *sy_kernel;
	struct prof_module_files sy_files;
	char		*sy_debug_dirs;
	struct function	**sy_block;
	uint32_t	 sy_nfunctions;
	uint32_t	 sy_nblocks;
	struct answers	 sy_known;	/* (owner, address) -> function */
	struct answers	 sy_inlined;	/* (function, name) -> function */
	struct answers	 sy_asked;	/* spot -> function */
	struct answers	 sy_unnamed;	/* kernel module -> function + 1 */
	struct prof_dict sy_by_object;	/* of sy_object */
	char		**sy_object;	/* NULL: not known */
	size_t		 sy_nobjects;
	size_t		 sy_cap_objects;
	uint32_t	 sy_nowhere[PROF_UNNAMED_N]; /* function + 1 */
	char		**sy_notes;
	size_t		 sy_nnotes;
	size_t		 sy_nlimits;	/* the first ones: of limits */
	bool		 sy_noted;
};

/* ------------------------------------------------------ symbols_load.c */
int	prof_symbols_load(struct prof_symbols *symbols,
	    struct prof_err *error);
void	prof_symbols_unload(struct prof_symbols *symbols);
/* A mapping or process event; the functions of a table.  -1: no memory. */
int	prof_symbols_take_event(struct prof_symbols *symbols,
	    const struct prof_record *record);
int	prof_symbols_take_table(struct prof_symbols *symbols,
	    const void *body, size_t length);
/* After the last table. */
bool	prof_symbols_sort(struct prof_symbols *symbols);

/* ---------------------------------------------------------- symbols.c */
/* Of places that were asked. */
void	prof_symbols_forget_asked(struct prof_symbols *symbols);
/* Function 0, for those that no memory was left for. */
int	prof_symbols_first(struct prof_symbols *symbols,
	    struct prof_err *error);

/* ---------------------------------------------------- process/script.c */
/* All code of a table.  -1: no memory. */
int	prof_script_load(struct prof_symbols *symbols, struct prof_cur *cur);
/* How many functions are inlined at a frame; 0, too: it is of another kind. */
uint32_t prof_script_inlined(const struct prof_symbols *symbols,
	    const struct prof_frame *frame);
/* The name, the file and the kind of a script frame or boundary. */
void	prof_script_name(const struct prof_symbols *symbols,
	    const struct prof_frame *frame, struct prof_function *function);
/* Its line: 1, or 0 where it is not known. */
size_t	prof_script_line(const struct prof_symbols *symbols,
	    const struct prof_frame *frame, struct prof_line *line);

/* ---------------------------------------------------- symbols_object.c */
void	prof_symbols_forget_objects(struct prof_symbols *symbols);

/* ------------------------------------------------------ symbols_note.c */
void	prof_symbols_forget_notes(struct prof_symbols *symbols);

#endif /* PROF_SYMBOLS_IMPL_H */
