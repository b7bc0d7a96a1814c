/* SPDX-License-Identifier: ISC */
/*
 * What the drawing of a flame graph (svg.c) shares with that of a difference
 * (svg_difference.c), which has widths, colours and words of its own, and with
 * that of states (svg_states.c), which has colours of its own.
 *
 * Included by these three alone.
 */
#ifndef PROF_SVG_H
#define PROF_SVG_H

#include "flame.h"

#define MAX_NAME	300	/* bytes of a name in a tooltip */

/* By node: what it and those above it weigh; and where it begins. */
struct drawing {
	const struct prof_flame *dr_flame;
	uint64_t	*dr_total;
	uint64_t	*dr_samples;
	uint64_t	*dr_other;	/* of the event that is divided by */
	uint64_t	*dr_left;
	uint64_t	*dr_used;	/* by children so far */
	uint64_t	*dr_small;	/* by children not drawn */
	uint32_t	*dr_depth;
	double		*dr_change;	/* as colours show it; NULL: none */
	double		 dr_most;	/* the largest change */
	uint32_t	 dr_rows;
	bool		 dr_has_states;	/* colours show the states of threads */
	struct prof_buf	*dr_out;
};

/* Own widths, and changes as a share of everything; 0: grey. */
void	prof_svg_take_change(struct drawing *drawing);
bool	prof_svg_is_one_sided(const struct drawing *drawing, size_t node);
void	prof_svg_put_change_colour(const struct drawing *drawing,
	    size_t node);
/* For the tooltip. */
void	prof_svg_put_change(const struct drawing *drawing, size_t node);
/* What colours mean, as the line below the title. */
void	prof_svg_put_scale(const struct drawing *drawing);
void	prof_svg_put_stripes(struct prof_buf *out);

/* -------------------------------------------------------- svg_states.c */

bool	prof_svg_has_states(const struct prof_flame *flame);
/* Of a node, below the state that its samples have. */
void	prof_svg_put_state_colour(const struct drawing *drawing, size_t node,
	    uint32_t hash);
/* States and reasons of a node's callers, for its tooltip. */
void	prof_svg_put_states(const struct drawing *drawing, size_t node);
/* What colours mean, as the line below the title. */
void	prof_svg_put_state_scale(const struct drawing *drawing);

#endif /* PROF_SVG_H */
