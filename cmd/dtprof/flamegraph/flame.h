/* SPDX-License-Identifier: ISC */
/*
 * What the files of dtprof flamegraph share.
 *
 *	cmd_flamegraph.c	options; one recording to one picture
 *	flame_sides.c		which runs are the base, and which are new
 *	flame_difference.c	runs of two sides to one picture
 */
#ifndef FLAME_H
#define FLAME_H

#include "../compare/compare.h"
#include "../opt/choose.h"

#define FLAME_CELL_NS	20000000ULL	/* fifty parts of a second */
#define FLAME_MAX_CELLS	400000		/* more: each longer in time */
#define FLAME_MAX_TIMES	4000000		/* more: no timeline */
#define FLAME_MAX_LATENCIES 20000	/* likewise, of durations */
#define FLAME_MAX_EVENTS 64

struct flame_options {
	struct opt_strings	 fo_bases;
	struct choose_time	 fo_base_time;
	struct opt_strings	 fo_events;
	struct opt_strings	 fo_renames;
	struct choose_time	 fo_time;
	const char		*fo_base_filter;
	const char		*fo_filter;
	bool			 fo_held;
	bool			 fo_idle;
	const char		*fo_input;
	const char		*fo_output;
	const char		*fo_ratio;
	const char		*fo_title;
	bool			 fo_inlines;
	unsigned		 fo_frames;
	unsigned		 fo_state;
	bool			 fo_lines;
	bool			 fo_open;
	bool			 fo_reverse;
	const char	*fo_secret_file;
};

/* The base, or what is new. */
struct flame_side {
	struct side	 fs_side;
	struct series	*fs_runs;	/* all of them; in fs_side */
	char		 fs_name[200];	/* for people */
};

/* ------------------------------------------------- cmd_flamegraph.c */

/* What of a recording a picture shows. */
void	flame_profile_options(const struct flame_options *fo,
	    struct prof_profile_options *options);
bool	flame_is_drawing(const struct flame_options *fo);
/* A picture, which it frees; NULL: error says why there is none. */
int	flame_write(const struct flame_options *fo, char *bytes, size_t length,
	    const struct prof_err *error);
/* In a browser; 0, or -1 with a message printed. */
int	flame_show(const char *path);

/* ---------------------------------------------------- flame_sides.c */

/* Both sides, the base first; -1: a message was printed. */
int	flame_sides(const struct flame_options *fo, int n, char **operands,
	    struct flame_side sides[2]);
void	flame_sides_free(struct flame_side sides[2]);

/* ----------------------------------------------- flame_difference.c */

/* 0: it is written; -1: a message was printed. */
int	flame_difference(const struct flame_options *fo, int n,
	    char **operands);

#endif /* FLAME_H */
