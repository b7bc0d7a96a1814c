/* SPDX-License-Identifier: ISC */
/* Samples by chunk, and the stacks of a recording as a tree. */
#ifndef PROF_DECODE_H
#define PROF_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"

/*
 * The chunks of samples, each on its own: what analysis reads, from several
 * threads.  A stack is a number here, the same for the same callers.
 */
struct prof_stack {
	uint64_t	sk_leaf;	/* the innermost pc */
	uint32_t	sk_number;	/* its callers; 0: there are none */
	bool		sk_there;
};

struct prof_sample {
	struct prof_record sm_record;	/* all of it but the frames */
	struct prof_stack sm_kernel;
	struct prof_stack sm_user;
	struct prof_stack sm_script;	/* leaf: its instruction */
};

/* Behind a sample that prof_reader_borrow gave; borrowed as that is. */
static inline const struct prof_sample *
prof_sample_of(const struct prof_record *record)
{
	return ((const struct prof_sample *)(const void *)record);
}

/* One a thread; reader and error must outlive it.  Owned by caller. */
struct prof_decoder;
struct prof_decoder *prof_decoder_new(const struct prof_reader *reader,
	    struct prof_err *error);
/* The same, of elapsed time after prof_reader_elapsed. */
struct prof_decoder *prof_decoder_elapsed(const struct prof_reader *reader,
	    struct prof_err *error);
void	prof_decoder_free(struct prof_decoder *decoder);
size_t	prof_decoder_nchunks(const struct prof_reader *reader);
/*
 * Call fn with each sample, chunk by chunk, until fn does not return 0.
 * Returns what fn returned last; -1: no memory, there or here.
 */
int	prof_samples_each(const struct prof_reader *reader,
	    int (*fn)(void *arg, const struct prof_sample *sample), void *arg,
	    struct prof_err *error);
/* Begin chunk n.  0 (without samples when it is damaged), or -1. */
int	prof_decoder_open(struct prof_decoder *decoder, size_t n);
/* Borrowed until the next call; NULL: no more in this chunk. */
const struct prof_sample *prof_decoder_next(struct prof_decoder *decoder);
/*
 * Count those of n chunks from first that did not decode; prof_reader_cut
 * says so from then on.  When no thread decodes them any more.
 */
int	prof_decoder_damage(struct prof_reader *reader, size_t first,
	    size_t n);

/*
 * Stacks are paths in a tree: the node of a stack's innermost frame (which
 * calls the leaf), or 0 when its chunk was lost.
 */
uint32_t prof_stack_node(const struct prof_reader *reader, uint32_t number);
/* The node that called this one, 0: none; and this one's pc. */
uint32_t prof_stack_caller(const struct prof_reader *reader, uint32_t node,
	    uint64_t *pc);
size_t	prof_stack_nnodes(const struct prof_reader *reader);

#endif /* PROF_DECODE_H */
