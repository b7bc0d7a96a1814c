/* SPDX-License-Identifier: ISC */
/*
 * What is printed for people: width, colour and pager, see terminal.c; and
 * quantities, see weight.c.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <sys/types.h>

#include "../cmd.h"

struct terminal {
	size_t		 te_width;	/* columns; 0: it is no terminal */
	bool		 te_colour;
	pid_t		 te_pager;	/* 0: none; -1: the helper's */
	int		 te_fd;		/* where to write */
};

enum terminal_colour {
	TERMINAL_PLAIN, TERMINAL_BOLD, TERMINAL_DIM, TERMINAL_HOT,
	TERMINAL_WARM, TERMINAL_DOUBT
};

/* The words of --color. */
enum terminal_when { TERMINAL_AUTO, TERMINAL_ALWAYS, TERMINAL_NEVER };
#define TERMINAL_OPTION(at) { 0, "color", "WHEN", OPT_CHOICE, 0, 0, "auto", \
	    "use color: auto (on a terminal, unless NO_COLOR is set), always " \
	    "or never", \
	    (at), "auto,always,never" }

/*
 * Look at standard output; on a terminal, begin the pager.  when: enum
 * terminal_when.
 */
void	terminal_begin(struct terminal *terminal, int when);
/*
 * When all was written: wait until the pager has been left.  The status, or
 * EXIT_FAILED where the pager could not be run.
 */
int	terminal_end(struct terminal *terminal, const char *command,
	    int status);
/* By themselves, for helper.c: where to write, or -1; as from wait. */
int	terminal_pager(struct terminal *terminal);
int	terminal_pager_end(struct terminal *terminal);
/* Nothing where there are no colours. */
void	terminal_colour(const struct terminal *terminal, struct out *out,
	    enum terminal_colour colour);
/* A line "warning: [side]event: ..." for each line of pq_text. */
void	terminal_warn(const struct terminal *terminal, struct out *out,
	    const char *side, const char *event, const char *text);
/* How many columns a hostile text takes. */
size_t	terminal_columns(const char *text);
/*
 * Hostile text in at most width columns (SIZE_MAX: all of it), with ".." at
 * the end when it was cut.  How many columns it took.
 */
size_t	terminal_text(struct out *out, const char *text, size_t width);
/*
 * Hostile text and a newline; on a terminal in lines that fit, broken at
 * blanks, of which all but the first begin with so many blanks.
 */
void	terminal_fold(const struct terminal *terminal, struct out *out,
	    const char *text, size_t indent);

/* So many events have no room. */
void	terminal_more_events(const struct terminal *terminal, struct out *out,
	    size_t n);

/* ----------------------------------------------------------- weight.c */

/* A weight as people read it: "1.23 s", "4.56 M"; at most 9 columns. */
void	weight_text(char *text, size_t size, uint64_t weight,
	    const char *unit);
/* What a column of such weights is headed: time, count, bytes, ... */
const char *weight_head(const char *unit);
/* "253 ms", "30.0 s" */
void	weight_time(char *text, size_t size, uint64_t ns);

#endif /* TERMINAL_H */
