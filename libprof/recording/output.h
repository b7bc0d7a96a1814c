/* SPDX-License-Identifier: ISC */
/*
 * A chunk while it is being laid out, between batch.c and output.c.
 */
#ifndef PROF_OUTPUT_H
#define PROF_OUTPUT_H

#include "batch.h"

#define PROF_MAX_CUTS	32

/*
 * Head and body of a chunk.  Sections differ in what their bytes look like,
 * so a block of the compressor ends at each cut and none is coded with the
 * statistics of its neighbour.
 */
struct prof_body {
	struct prof_buf	bd_head;
	struct prof_buf	bd_buf;
	size_t		bd_cuts[PROF_MAX_CUTS];
	unsigned	bd_ncuts;
};

void	prof_body_stacks(struct prof_body *body,
	    const struct prof_batch *batch);
void	prof_body_life(struct prof_body *body,
	    const struct prof_batch *batch);
void	prof_body_samples(struct prof_body *body,
	    const struct prof_batch *batch);

#endif /* PROF_OUTPUT_H */
