/* SPDX-License-Identifier: ISC */
/*
 * Unwind tables, and interpreters, by way of a parser: what tables.c asks and
 * checks, and parse_table.c answers.
 */
#ifndef PROF_TABLES_H
#define PROF_TABLES_H

#include "broker.h"
#include "elf/unwind_table.h"
#include "process/languages/language.h"

/* What came of it. */
enum prof_tabled {
	PROF_TABLED,		/* a table */
	PROF_TABLED_NONE,	/* the file has none */
	PROF_TABLED_LARGE,	/* it is larger than a slab: nobody's */
	PROF_TABLED_LOST,	/* the file cost a parser */
	PROF_TABLED_LATER	/* no memory, no parser */
};

/* The answer begins so; behind it index, rows and entries. */
struct prof_tabled_head {
	uint32_t	td_what;	/* enum prof_tabled */
	uint32_t	td_machine;
	uint64_t	td_base;
	uint64_t	td_span;
	uint64_t	td_nindex;
	uint64_t	td_nrows;
	uint64_t	td_nentries;
	struct prof_runtime td_runtime;
};

#define PROF_TABLED_ENTRIES	4096	/* of a module's dictionary */
#define PROF_TABLED_SPAN	(1ULL << 32)

/* *table: owned by caller, where there is one; *runtime: whatever comes. */
enum prof_tabled prof_table_ask(struct prof_broker *broker, int fd,
	    const char *name, struct prof_unwind_table **table,
	    struct prof_runtime *runtime);
/* The interpreter alone; its place is 0 where there is none. */
void	prof_runtime_ask(struct prof_broker *broker, int fd, const char *name,
	    struct prof_runtime *runtime);
/* Would programs and we ourselves find our way in it, whatever it says? */
bool	prof_table_holds(const struct prof_unwind_table *table);

#endif /* PROF_TABLES_H */
