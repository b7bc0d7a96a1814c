/* SPDX-License-Identifier: ISC */
/*
 * Columns of numbers in a page: compressed (raw deflate), then in letters of
 * base 91, which are a twelfth shorter than those of base 64.
 *
 * Called by page.c and page_timeline.c.
 */
#include "pack.h"

#define LEVEL	6
#define ROOM	(1u << 16)
#define BITS	13u		/* in two letters ... */
#define BITS_LAST 6u		/* ... or, of the last ones, in one */

int
prof_pack_begin(struct prof_pack *pack)
{
	*pack = (struct prof_pack){ 0 };
	return (deflateInit2(&pack->pk_z, LEVEL, Z_DEFLATED, -15, 9,
	    Z_DEFAULT_STRATEGY) == Z_OK ? 0 : -1);
}

/* All that was given, as far as the flush says. */
static int
pack_run(struct prof_pack *pack, int flush)
{
	z_stream *z = &pack->pk_z;

	do {
		z->avail_out = ROOM;
		z->next_out = prof_buf_room(&pack->pk_out, ROOM);
		if (z->next_out == NULL || deflate(z, flush) < 0)
			return (-1);
		pack->pk_out.bf_len += ROOM - z->avail_out;
	} while (z->avail_out == 0);
	return (0);
}

/* After a flush nothing waits that a change of strategy would write out. */
int
prof_pack_add(struct prof_pack *pack, struct prof_buf *bytes,
    enum prof_pack_kind kind)
{
	z_stream *z = &pack->pk_z;

	if (bytes->bf_failed || deflateParams(z, LEVEL, kind ==
	    PROF_PACK_NOISE ? Z_RLE : Z_DEFAULT_STRATEGY) != Z_OK)
		return (-1);
	z->next_in = bytes->bf_data;
	z->avail_in = (uInt)bytes->bf_len;
	bytes->bf_len = 0;
	return (pack_run(pack, Z_SYNC_FLUSH));
}

int
prof_pack_end(struct prof_pack *pack)
{
	return (pack_run(pack, Z_FINISH));
}

void
prof_pack_free(struct prof_pack *pack)
{
	deflateEnd(&pack->pk_z);
	prof_buf_free(&pack->pk_out);
}

/* The low bits first: of a pair, the first letter is its remainder by 91. */
void
prof_put_letters(struct prof_buf *buf, const struct prof_buf *bytes)
{
	static const char digits[] = "!#$%&'()*+,-./0123456789:;=>?@"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
	uint8_t *at = prof_buf_room(buf, bytes->bf_len / BITS * 16 + 32);
	uint32_t bits = 0, pair;
	unsigned n = 0;
	size_t i = 0;

	if (at == NULL)
		return;
	while (i < bytes->bf_len || n > 0) {
		for (; n < BITS && i < bytes->bf_len; n += 8)
			bits |= (uint32_t)bytes->bf_data[i++] << n;
		pair = bits & ((1u << BITS) - 1);
		*at++ = (uint8_t)digits[pair % 91];
		if (n > BITS_LAST)
			*at++ = (uint8_t)digits[pair / 91];
		bits >>= BITS;
		n = n < BITS ? 0 : n - BITS;
	}
	buf->bf_len = (size_t)(at - buf->bf_data);
}
