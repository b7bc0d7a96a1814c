/* SPDX-License-Identifier: ISC */
/*
 * A SYMBOL chunk, both ways: the functions of one module that samples met,
 * or why it names none, or the code of scripts.  So a recording keeps its
 * names when the files and processes are gone, and on another machine.
 *
 * Included by recording/, process/ and import/.
 */
#ifndef PROF_TABLE_H
#define PROF_TABLE_H

#include "format.h"

#define PROF_TABLE_SEGMENTS	8
#define PROF_TABLE_INLINED	16	/* at one place */

/* Appended, never renumbered. */
enum prof_table_kind {
	PROF_TABLE_FILE = 1,	/* addresses as the file counts them */
	PROF_TABLE_KERNEL,	/* functions have the name of a module, too */
	PROF_TABLE_JIT,		/* of what a process had made in memory */
	PROF_TABLE_SCRIPT	/* code by number, not by address */
};

struct prof_table {
	enum prof_table_kind tb_kind;
	unsigned	 tb_why;	/* enum prof_unnamed, of the others */
	/* FILE: as the mapping told */
	const char	*tb_path;
	uint64_t	 tb_dev;
	uint64_t	 tb_ino;
	uint32_t	 tb_id_len;
	uint8_t		 tb_id[20];
	/* JIT: whose, and a time at which it was so */
	uint32_t	 tb_pid;
	uint64_t	 tb_time_ns;
	/* FILE: executable segments: offset, size, address */
	unsigned	 tb_nsegments;
	uint64_t	 tb_segment[PROF_TABLE_SEGMENTS][3];
	uint64_t	 tb_last;	/* address of the last function */
};

struct prof_table_function {
	uint64_t	 tf_address;
	uint64_t	 tf_size;
	const char	*tf_name;	/* raw */
	const char	*tf_module;	/* KERNEL; else "" */
};

/* A step of a table of lines: from an instruction on it is that line. */
struct prof_table_step {
	uint32_t	 tp_instruction;
	uint32_t	 tp_line;
};

/* A function that was inlined at a place in another one, and its line there. */
struct prof_table_inlined {
	const char	*ti_name;	/* "": not known */
	const char	*ti_file;
	uint32_t	 ti_line;	/* the first; 0: not known */
	uint32_t	 ti_at;		/* 0: not known */
};

/*
 * What script frames call code: a function, by the number in its frames, or a
 * place in one, where others may be inlined: its frames have no instruction.
 */
struct prof_table_code {
	uint32_t	 tc_number;
	const char	*tc_name;	/* for people */
	const char	*tc_file;	/* of source; "": not known */
	uint32_t	 tc_line;	/* the first; 0: not known */
	/* Packing: by instruction; NULL: tc_steps, as they were unpacked. */
	const struct prof_table_step *tc_step;
	uint32_t	 tc_nsteps;
	struct prof_cur	 tc_steps;	/* unpacked: what is left of them */
	/* Innermost first */
	const struct prof_table_inlined *tc_inlined;	/* packing */
	uint32_t	 tc_ninlined;
	struct prof_cur	 tc_inlineds;	/* unpacked */
};

/* The beginning, then one function after another. */
void	prof_table_pack(struct prof_buf *buf, const struct prof_table *table);
void	prof_table_pack_function(struct prof_buf *buf,
	    struct prof_table *table,
	    const struct prof_table_function *function);
void	prof_table_pack_code(struct prof_buf *buf,
	    const struct prof_table_code *code);
/* 1, 0: of a kind that is not known, -1: damaged.  Strings are borrowed. */
int	prof_table_unpack(struct prof_cur *cur, struct prof_table *table);
/* 1, 0: there is none left, -1: damaged. */
int	prof_table_unpack_function(struct prof_cur *cur,
	    struct prof_table *table, struct prof_table_function *function);
int	prof_table_unpack_code(struct prof_cur *cur,
	    struct prof_table_code *code);
/* The n-th of those that are inlined there. */
bool	prof_table_inlined(const struct prof_table_code *code, uint32_t n,
	    struct prof_table_inlined *inlined);
/* The line of an instruction; 0: not known. */
uint32_t prof_table_line(const struct prof_table_code *code,
	    uint32_t instruction);

#endif /* PROF_TABLE_H */
