/* SPDX-License-Identifier: ISC */
/*
 * Columns of numbers in a page: compressed piece by piece, then in letters.
 *
 * Included by output/ alone.
 */
#ifndef PROF_PACK_H
#define PROF_PACK_H

#include <zlib.h>

#include "recording/format.h"

/* Bytes of noise are coded one by one, others by what repeats too. */
enum prof_pack_kind {
	PROF_PACK_TEXT,
	PROF_PACK_NOISE
};

struct prof_pack {
	z_stream	 pk_z;
	struct prof_buf	 pk_out;	/* raw deflate */
};

/* 0, or -1: no memory; free also after a failure. */
int	prof_pack_begin(struct prof_pack *pack);
/* Takes the bytes out of the buffer. */
int	prof_pack_add(struct prof_pack *pack, struct prof_buf *bytes,
	    enum prof_pack_kind kind);
int	prof_pack_end(struct prof_pack *pack);
void	prof_pack_free(struct prof_pack *pack);
/* In letters that JSON and HTML take as they are. */
void	prof_put_letters(struct prof_buf *buf, const struct prof_buf *bytes);

#endif /* PROF_PACK_H */
