/* SPDX-License-Identifier: ISC */
/*
 * What the encoding of protocol buffers needs: a message is a sequence of
 * (number of a field, value), and what has its default is left out.
 *
 * Included by output/ alone.
 */
#ifndef PROF_PROTOBUF_H
#define PROF_PROTOBUF_H

#include <string.h>

#include "recording/format.h"

static inline void
prof_proto_number(struct prof_buf *buf, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	prof_buf_varint(buf, field << 3);
	prof_buf_varint(buf, value);
}

static inline void
prof_proto_fixed64(struct prof_buf *buf, unsigned field, uint64_t value)
{
	uint8_t bytes[8];

	if (value == 0)
		return;
	prof_put_le(bytes, value, sizeof(bytes));
	prof_buf_varint(buf, field << 3 | 1);
	prof_buf_bytes(buf, bytes, sizeof(bytes));
}

/*
 * A message, a string or packed numbers; what it was built in is empty then.
 * As element of a table it stands there even if it has no fields.
 */
static inline void
prof_proto_message(struct prof_buf *buf, unsigned field,
    struct prof_buf *message)
{
	prof_buf_varint(buf, field << 3 | 2);
	prof_buf_varint(buf, message->bf_len);
	prof_buf_bytes(buf, message->bf_data, message->bf_len);
	buf->bf_failed |= message->bf_failed;
	prof_buf_free(message);
	memset(message, 0, sizeof(*message));
}

#endif /* PROF_PROTOBUF_H */
