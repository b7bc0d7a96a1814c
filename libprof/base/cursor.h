/* SPDX-License-Identifier: ISC */
/*
 * Reads numbers out of bytes that nobody vouches for, as DWARF writes them.
 */
#ifndef CURSOR_H
#define CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A cursor that reads zeros behind the end, and remembers that it did. */
struct cursor {
	const uint8_t	*cu_at;
	const uint8_t	*cu_end;
	bool		 cu_over;
};

static inline uint64_t
cursor_fixed(struct cursor *cu, size_t bytes)
{
	uint64_t value = 0;

	if ((size_t)(cu->cu_end - cu->cu_at) < bytes) {
		cu->cu_over = true;
		cu->cu_at = cu->cu_end;
		return (0);
	}
	memcpy(&value, cu->cu_at, bytes);	/* both machines: little */
	cu->cu_at += bytes;
	return (value);
}

/* Seven bits a byte; how many in all, and the last byte, say the sign. */
static inline uint64_t
cursor_leb(struct cursor *cu, unsigned *bits, uint64_t *last)
{
	uint64_t value = 0;

	*bits = 0;
	do {
		*last = cursor_fixed(cu, 1);
		if (*bits < 64)
			value |= (*last & 0x7f) << *bits;
		*bits += 7;
	} while (*last & 0x80);
	return (value);
}

static inline uint64_t
cursor_uleb(struct cursor *cu)
{
	uint64_t last;
	unsigned bits;

	/* Most have one byte. */
	if (cu->cu_at < cu->cu_end && *cu->cu_at < 0x80)
		return (*cu->cu_at++);
	return (cursor_leb(cu, &bits, &last));
}

static inline int64_t
cursor_sleb(struct cursor *cu)
{
	uint64_t last, value;
	unsigned bits;

	value = cursor_leb(cu, &bits, &last);
	if (bits < 64 && (last & 0x40))
		value |= ~0ULL << bits;
	return ((int64_t)value);
}

static inline void
cursor_skip(struct cursor *cu, uint64_t bytes)
{
	if ((uint64_t)(cu->cu_end - cu->cu_at) < bytes) {
		cu->cu_over = true;
		cu->cu_at = cu->cu_end;
	} else
		cu->cu_at += bytes;
}

#endif /* CURSOR_H */
