/* SPDX-License-Identifier: ISC */
/*
 * A parser: the process that reads what belongs to others, one file after
 * another, as the recorder asks for it.  It has no rights, may open nothing,
 * and what becomes of it costs the file at hand.
 *
 *	recorder			parser
 *	   | kind, bytes, descriptor  ->  |
 *	   |  <-  ASK: open what?         |	zero or more times
 *	   | descriptor, or none      ->  |
 *	   |  <-  DONE, bytes             |
 *
 * To extend it: a kind here, a function in parser.c's table, and a file that
 * asks for it (tables.c, names.c), which checks all that comes back.
 */
#ifndef PROF_PARSER_H
#define PROF_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Never stored, so they may be renumbered. */
enum prof_parse {
	PROF_PARSE_NOTHING,	/* what is it like in there? */
	PROF_PARSE_TABLE,	/* the unwind table of an ELF file */
	PROF_PARSE_NAMES,	/* functions at places of an ELF file */
	PROF_PARSE_MAP,		/* functions at addresses, by a perf map */
	PROF_PARSE_FRAMES,	/* call frame information of an ELF file */
	PROF_PARSE_SITES,	/* where probes can be in an ELF file */
	PROF_PARSE_RUNTIME,	/* the interpreter in an ELF file */
	PROF_PARSE_SCRIPTS,	/* code objects in the memory of a process */
	PROF_PARSE_KINDS
};

/* Status of one that could not begin, or lost the recorder. */
#define PROF_PARSER_LOST	120

/* The request at hand. */
struct prof_task {
	int		ta_sock;
	int		ta_fd;		/* -1: none came along */
	const void	*ta_bytes;
	size_t		ta_size;
	bool		ta_answered;
};

/* Announce an answer of so many bytes, then send them in pieces. */
void	prof_task_answer(struct prof_task *task, uint64_t bytes);
void	prof_task_send(const struct prof_task *task, const void *bytes,
	    size_t size);

/*
 * Have something opened by the recorder; its words are answered in place.  -1:
 * it does not, or has nothing.
 */
int	prof_task_ask(const struct prof_task *task, void *want, size_t size);

void	prof_parser_main(int sock) __attribute__((noreturn));

/* --------------------------------------- parse_*.c, one for each kind */

void	prof_parse_table(struct prof_task *task);
void	prof_parse_names(struct prof_task *task);
void	prof_parse_map(struct prof_task *task);
void	prof_parse_frames(struct prof_task *task);
void	prof_parse_sites(struct prof_task *task);
void	prof_parse_runtime(struct prof_task *task);
void	prof_parse_scripts(struct prof_task *task);

/*
 * For tests, which link a function of that name: what a hostile file might
 * do.  The library has none.
 */
void	prof_parser_fault(int fd) __attribute__((weak));

#endif /* PROF_PARSER_H */
