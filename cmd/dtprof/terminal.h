/* SPDX-License-Identifier: ISC */
/* What is printed for people: width, colour and pager; see terminal.c. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <sys/types.h>

#include "cmd.h"

struct terminal {
	size_t		 te_width;	/* columns; 0: it is no terminal */
	bool		 te_colour;
	pid_t		 te_pager;	/* 0: there is none */
	int		 te_fd;		/* where to write */
};

enum terminal_colour {
	TERMINAL_PLAIN, TERMINAL_BOLD, TERMINAL_DIM, TERMINAL_HOT,
	TERMINAL_WARM
};

/* Look at standard output; on a terminal, begin the pager. */
void	terminal_begin(struct terminal *terminal);
/*
 * When all was written: wait until the pager has been left.  The status, or
 * EXIT_FAILED where the pager could not be run.
 */
int	terminal_end(struct terminal *terminal, const char *command,
	    int status);
/* Nothing where there are no colours. */
void	terminal_colour(const struct terminal *terminal, struct out *out,
	    enum terminal_colour colour);
/* A line "warning: [side]event: ..." for each line of pq_text. */
void	terminal_warn(const struct terminal *terminal, struct out *out,
	    const char *side, const char *event, const char *text);
/*
 * Hostile text in at most width columns (SIZE_MAX: all of it), with ".." at
 * the end when it was cut.  How many columns it took.
 */
size_t	terminal_text(struct out *out, const char *text, size_t width);

#endif /* TERMINAL_H */
