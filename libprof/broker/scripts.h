/* SPDX-License-Identifier: ISC */
/*
 * Names of code objects in the memory of a process, by way of a parser: what
 * scripts.c asks and checks, and parse_scripts.c answers.
 */
#ifndef PROF_SCRIPTS_H
#define PROF_SCRIPTS_H

#include "broker.h"
#include "process/languages/language.h"

#define PROF_SCRIPTS_MOST	64	/* code objects in a request */

/* What is wanted, in ascending order of numbers, and what came. */
struct prof_scripts {
	struct prof_broker *sc_broker;
	uint32_t	 sc_pid;
	int		 sc_fd;		/* its memory; the caller's */
	size_t		 sc_n;
	struct prof_code_key sc_key[PROF_SCRIPTS_MOST];
	/* out: functions of a table of scripts; to be freed by the caller */
	struct prof_buf	 sc_body;
	uint32_t	 sc_named;
};

/* Name what can be; the others are gone, or changed, or cost a parser. */
void	prof_scripts_ask(struct prof_scripts *scripts);
/* How many there are in what came.  false: it makes no sense. */
bool	prof_scripts_count(struct prof_scripts *scripts);

#endif /* PROF_SCRIPTS_H */
