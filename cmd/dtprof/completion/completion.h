/* SPDX-License-Identifier: ISC */
/*
 * What the completion scripts of the three shells share: what stands behind
 * an option or a command.  A script is made from the tables of options, so it
 * cannot be out of date.  Used by cmd_completion.c and completion_*.c alone.
 */
#ifndef COMPLETION_H
#define COMPLETION_H

#include "../cmd.h"

enum completion_kind {
	COMPLETE_VALUE,		/* nothing to offer */
	COMPLETE_WORDS,		/* one of op_words */
	COMPLETE_LIST,		/* several of op_words, by commas */
	COMPLETE_EVENTS,	/* events of this machine, by commas */
	COMPLETE_FILES,
	COMPLETE_BASELINES,	/* names in .dtprof */
	COMPLETE_COMMAND,	/* a program and its arguments */
	COMPLETE_DTPROF		/* a command of dtprof */
};

/* The shells' names for an event list: one awk program for all of them. */
extern const char completion_events[];

enum completion_kind completion_of_option(const struct prof_cmd *cmd,
	    const struct opt_row *row);
enum completion_kind completion_of_operand(const struct prof_cmd *cmd);
/* The words of a,b,c with blanks between them. */
void	completion_words(struct out *out, const char *words);
/* In single quotes, as all three shells read them. */
void	completion_quoted(struct out *out, const char *text);

void	completion_bash(struct out *out);
void	completion_zsh(struct out *out);
void	completion_fish(struct out *out);

#endif
