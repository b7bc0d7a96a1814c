/* SPDX-License-Identifier: ISC */
/*
 * What the writer and the reader of a recording share: numbers of the format,
 * growing buffers, bounded cursors, and chunk headers.  doc/dtprof-format.5
 * is the specification; the constants here follow it.
 *
 * Included by recording/ alone.
 */
#ifndef PROF_FORMAT_H
#define PROF_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PROF_FILE_MAGIC		"\x89" "DTP\r\n\x1a\n"
#define PROF_FILE_MAGIC_LEN	8
#define PROF_FILE_MAJOR		2
#define PROF_FILE_MINOR		0
#define PROF_FILE_ORDER		0x01020304u
#define PROF_FILE_HEADER	64
#define PROF_CHUNK_MAGIC	"\xd7" "TPC"
#define PROF_CHUNK_HEADER	32

/* What a reader accepts; a length beyond these is damage. */
#define PROF_MAX_RAW		(16u << 20)	/* a chunk, decoded */
#define PROF_MAX_STORED		(17u << 20)	/* a chunk, as stored */
#define PROF_MAX_STRING		65535u
#define PROF_MAX_EVENTS		65536u
#define PROF_MAX_SPANS		64u		/* names of spans */
#define PROF_MAX_FRAMES		8192u		/* of one stack */

/* Appended, never renumbered. */
enum prof_chunk_type {
	PROF_C_INFO = 1,
	PROF_C_EVENT,
	PROF_C_LIFE,
	PROF_C_STACK,
	PROF_C_SAMPLE,
	PROF_C_ACCOUNTING,
	PROF_C_INDEX,
	PROF_C_END,
	PROF_C_SYMBOL
};

enum prof_codec {
	PROF_CODEC_NONE,
	PROF_CODEC_ZSTD
};

/* Sections of LIFE and SAMPLE chunks.  Appended, never renumbered. */
enum prof_life_section {
	PROF_LS_STRINGS = 1,
	PROF_LS_RECORDS
};

enum prof_sample_section {
	PROF_SS_SHAPES = 1,	/* tables */
	PROF_SS_TASKS,
	PROF_SS_ADDRS,
	PROF_SS_STRINGS,
	PROF_SS_SHAPE,		/* columns */
	PROF_SS_CPU,
	PROF_SS_TIME,
	PROF_SS_TASK,
	PROF_SS_WEIGHT,
	PROF_SS_KLEAF,
	PROF_SS_KSTACK,
	PROF_SS_ULEAF,
	PROF_SS_USTACK,
	PROF_SS_IP,
	PROF_SS_COMM,
	PROF_SS_ARG0,		/* one for each argument's place */
	PROF_SS_IDLE = PROF_SS_ARG0 + 8,	/* time, of counters */
	PROF_SS_WHOLE,
	PROF_SS_VALUE0,		/* one for each counter's place */
	PROF_SS_INSTRUCTION = PROF_SS_VALUE0 + 8,
	PROF_SS_SCRIPT,
	PROF_SS_RUNNING,
	PROF_SS_OFF,
	PROF_SS_END
};

/* Bits of a sample's shape; event and more follow them in the table. */
#define PROF_SH_KERNEL	0x01	/* the kernel was interrupted */
#define PROF_SH_NESTED	0x02
#define PROF_SH_KSTACK	0x04	/* has kernel frames */
#define PROF_SH_USTACK	0x08	/* has user frames */
#define PROF_SH_IP	0x10	/* pc is not the innermost frame */
#define PROF_SH_COMM	0x20
#define PROF_SH_WEIGHT	0x40	/* weight is not the one before */
#define PROF_SH_VALUES	0x80	/* has values of counters */
#define PROF_SH_SCRIPT	0x100	/* has script frames */
#define PROF_SH_CLOCK	0x200	/* has how long the thread has run */
#define PROF_SH_CHANCE	0x400	/* chance decided whether it has stacks */
#define PROF_SH_STEP	0x7800	/* and pr_by_chance - 1, shifted */
#define PROF_SH_STEP_SHIFT 11

/* Fields of a record of a LIFE chunk, in this order.  Appended. */
enum prof_life_field {
	PROF_LF_EVENT,
	PROF_LF_CPU,
	PROF_LF_PID,
	PROF_LF_TID,
	PROF_LF_WEIGHT,
	PROF_LF_COMM,
	PROF_LF_PPID,
	PROF_LF_PTID,
	PROF_LF_CODE,
	PROF_LF_GROUP_DEAD,
	PROF_LF_PATH,
	PROF_LF_ADDR,
	PROF_LF_LEN,
	PROF_LF_OFFSET,
	PROF_LF_PROT,
	PROF_LF_DEV,
	PROF_LF_INO,
	PROF_LF_BUILD_ID,
	PROF_LF_NFIELDS
};

/* Why a recording ended; the END chunk says it. */
enum prof_end_reason {
	PROF_END_WHOLE,
	PROF_END_DISK_FULL,
	PROF_END_FILE_LIMIT,
	PROF_END_IO
};
#define PROF_END_LEN	32

/* ------------------------------------------------------ growing buffer */

/* A failed growth sticks; what is put after it is dropped. */
struct prof_buf {
	uint8_t	*bf_data;
	size_t	 bf_len;
	size_t	 bf_cap;
	bool	 bf_failed;
};

uint8_t	*prof_buf_grow(struct prof_buf *buf, size_t room);
void	 prof_buf_free(struct prof_buf *buf);
void	 prof_buf_bytes(struct prof_buf *buf, const void *bytes, size_t len);
void	 prof_buf_string(struct prof_buf *buf, const char *text);
void	 prof_buf_section(struct prof_buf *buf, unsigned id,
	    const struct prof_buf *from);

static inline uint8_t *
prof_buf_room(struct prof_buf *buf, size_t room)
{
	if (buf->bf_cap - buf->bf_len >= room)
		return (buf->bf_data + buf->bf_len);
	return (prof_buf_grow(buf, room));
}

/* 7 bits a byte, low ones first; the high bit says that more follow. */
static inline void
prof_buf_varint(struct prof_buf *buf, uint64_t value)
{
	uint8_t *at = prof_buf_room(buf, 10);

	if (at == NULL)
		return;
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	buf->bf_len = (size_t)(at - buf->bf_data);
}

/* Signed differences, modulo 2^64: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t
prof_zigzag(uint64_t value)
{
	return ((value << 1) ^ (0 - (value >> 63)));
}

static inline uint64_t
prof_unzigzag(uint64_t value)
{
	return ((value >> 1) ^ (0 - (value & 1)));
}

/* ------------------------------------------------------ bounded cursor */

/* Reading past the end yields 0 and sticks in cu_bad. */
struct prof_cur {
	const uint8_t	*cu_at;
	const uint8_t	*cu_end;
	bool		 cu_bad;
};

uint64_t prof_cur_varint_slow(struct prof_cur *cur);
/* A string with its NUL, or NULL; borrowed from the bytes. */
const char *prof_cur_string(struct prof_cur *cur);
/* Split off len bytes. */
struct prof_cur prof_cur_take(struct prof_cur *cur, uint64_t len);

static inline struct prof_cur
prof_cur_of(const void *bytes, size_t len)
{
	const uint8_t *at = bytes != NULL ? bytes : (const uint8_t *)"";
	struct prof_cur cur = { at, at + len, false };

	return (cur);
}

static inline size_t
prof_cur_left(const struct prof_cur *cur)
{
	return ((size_t)(cur->cu_end - cur->cu_at));
}

/* Nearly all have a byte or two. */
static inline uint64_t
prof_cur_varint(struct prof_cur *cur)
{
	const uint8_t *at = cur->cu_at;
	const size_t left = prof_cur_left(cur);

	if (left > 0 && at[0] < 0x80) {
		cur->cu_at = at + 1;
		return (at[0]);
	}
	if (left > 1 && at[1] < 0x80) {
		cur->cu_at = at + 2;
		return ((at[0] & 0x7fU) | (uint64_t)at[1] << 7);
	}
	return (prof_cur_varint_slow(cur));
}

/* A varint that must fit 32 bits. */
static inline uint32_t
prof_cur_u32(struct prof_cur *cur)
{
	uint64_t value = prof_cur_varint(cur);

	if (value > UINT32_MAX) {
		cur->cu_bad = true;
		return (0);
	}
	return ((uint32_t)value);
}

/* -------------------------------------------------------------- chunks */

/*
 * A chunk: a header of 32 bytes, a head that is never compressed, a body
 * that may be.
 *
 *	 0     4     6       7  8        12     16    20    24         32
 *	+-----+-----+-------+--+--------+------+-----+-----+----------+----
 *	|magic|type |codec  |0 |stored  |head  |raw  |seq  |checksum  |...
 *	+-----+-----+-------+--+--------+------+-----+-----+----------+----
 */
struct prof_chunk {
	uint16_t	 ck_type;
	uint8_t		 ck_codec;
	uint32_t	 ck_stored;	/* head and body, as in the file */
	uint32_t	 ck_head;
	uint32_t	 ck_raw;	/* body, decoded */
	uint32_t	 ck_sequence;
	uint64_t	 ck_checksum;	/* of bytes 0..23 and what is stored */
	const uint8_t	*ck_payload;
};

void	prof_put_le(uint8_t *at, uint64_t value, unsigned bytes);
uint64_t prof_get_le(const uint8_t *at, unsigned bytes);
uint64_t prof_checksum(const uint8_t *header, const void *payload,
	    size_t len);
void	prof_file_header(uint8_t header[PROF_FILE_HEADER]);
/* Fills in the checksum, too. */
void	prof_chunk_header(struct prof_chunk *chunk,
	    uint8_t header[PROF_CHUNK_HEADER]);
/* Only looks at magic and lengths; false: this is no chunk header. */
bool	prof_chunk_parse(const uint8_t *at, size_t left,
	    struct prof_chunk *chunk);
bool	prof_chunk_whole(const uint8_t *at, const struct prof_chunk *chunk);

#endif /* PROF_FORMAT_H */
