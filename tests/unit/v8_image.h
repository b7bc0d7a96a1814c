/* SPDX-License-Identifier: ISC */
/*
 * The memory of a process that runs V8, as small as can be: two functions of
 * one script, "inner" inlined into "outer", interpreted and compiled, in each
 * layout.  Addresses are offsets in the image, which a file has.
 *
 * Included by tests/unit and tests/fuzz.
 */
#ifndef V8_IMAGE_H
#define V8_IMAGE_H

#include <sys/mman.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/languages/v8.h"

#define IMAGE_BYTES	16384u
#define IMAGE_LITERAL	5u		/* number of "inner" in the script, */
#define IMAGE_SCRIPT	77		/* and the script's */
#define IMAGE_CODE_BYTES 256u
#define IMAGE_CALL	32u		/* in the code: behind a call */
#define IMAGE_BASELINE_CALL 12u
#define IMAGE_LEAVES	200u		/* in the code: a little before a ret */

struct image {
	uint8_t		 im_bytes[IMAGE_BYTES];
	uint64_t	 im_n;
	const struct v8_layout *im_layout;
	uint32_t	 im_variant;
	uint64_t	 im_maps;	/* the map of maps */
	uint64_t	 im_script;
	uint64_t	 im_outer;
	uint64_t	 im_inner;
	uint64_t	 im_optimized;	/* addresses of instructions */
	uint64_t	 im_code;	/* what describes the last code */
	uint64_t	 im_data;	/* of optimizing it */
	uint64_t	 im_bytecode;
	uint64_t	 im_baseline;
};

static const char image_source[] =
    "function inner(a) {\n  return a;\n}\n"		/* lines 1 to 3 */
    "function outer(a) {\n\n  return inner(a);\n}\n";	/* 4 to 7 */

static inline void
image_put(struct image *image, uint64_t object, uint64_t at, uint64_t word,
    size_t size)
{
	memcpy(image->im_bytes + object - 1 + at, &word, size);
}

static inline uint64_t
image_smi(int32_t value)
{
	return ((uint64_t)(uint32_t)value << 32);
}

/* An object of a type, so that what lies at a place in it is aligned. */
static inline uint64_t
image_object(struct image *image, uint16_t type, size_t size, uint64_t place)
{
	uint64_t map, object;

	map = image->im_n + 1;
	image->im_n += 64;
	image_put(image, map, 0, image->im_maps, 8);
	image_put(image, map, 12, type, 2);
	object = ((image->im_n + place + 63) & ~63ULL) - place + 1;
	image->im_n = (object + size + 63) & ~63ULL;
	if (image->im_n > IMAGE_BYTES)
		abort();
	image_put(image, object, 0, map, 8);
	return (object);
}

static inline uint64_t
image_array(struct image *image, uint16_t type, const void *bytes,
    uint32_t n, uint32_t length)
{
	const uint64_t object = image_object(image, type, 16 + n, 0);

	image_put(image, object, 8, image_smi((int32_t)length), 8);
	memcpy(image->im_bytes + object - 1 + 16, bytes, n);
	return (object);
}

static inline uint64_t
image_string(struct image *image, const char *text)
{
	const uint32_t n = (uint32_t)strlen(text);
	const uint64_t object = image_array(image, 8, text, n, 0);

	image_put(image, object, 12, n, 4);
	return (object);
}

/* One number of a table of positions. */
static inline uint32_t
image_number(uint8_t *to, uint64_t number)
{
	uint32_t n = 0;

	for (; number >= 0x80; number >>= 7)
		to[n++] = (uint8_t)(number | 0x80);
	to[n++] = (uint8_t)number;
	return (n);
}

/* Entries of offset, place in the source, and what it is inlined by, from 0. */
static inline uint64_t
image_positions(struct image *image, const int (*entry)[3], uint32_t n)
{
	int64_t code = -1, source = 0, next;
	uint8_t bytes[128];
	uint32_t at = 0;

	for (; n-- > 0; entry++) {
		at += image_number(bytes + at,
		    2 * (uint64_t)(entry[0][0] - code));
		code = entry[0][0];
		next = (int64_t)(entry[0][1] + 1) << 1 |
		    (int64_t)(entry[0][2] + 1) << 31;
		at += image_number(bytes + at, next >= source ?
		    2 * (uint64_t)(next - source) :
		    2 * (uint64_t)(source - next) - 1);
		source = next;
	}
	return (image_array(image, 99, bytes, at, at));
}

static inline uint64_t
image_scope(struct image *image, const char *name, int start)
{
	const struct v8_layout *layout = image->im_layout;
	const uint32_t flags = layout->vl_scope_function | 1U << 12 | 1U << 14;
	const uint64_t scope = image_object(image, layout->vl_scope, 128, 0);
	const uint64_t at = layout->vl_scope_raw ? 48 : 32;

	image_put(image, scope, 8, layout->vl_scope_raw ? flags :
	    image_smi((int32_t)flags), 8);
	image_put(image, scope, 24, image_smi(1), 8);
	image_put(image, scope, 32, image_smi(start), 8);
	/* A local with its place, the name with its, what it was made of. */
	image_put(image, scope, at + 16, image_string(image, name), 8);
	if (!layout->vl_scope_raw)
		image_put(image, scope, at + 40, image_smi(start), 8);
	return (scope);
}

static inline uint64_t
image_function(struct image *image, const char *name, int start,
    uint32_t literal)
{
	const struct v8_layout *layout = image->im_layout;
	const uint64_t function = image_object(image, layout->vl_shared, 96, 0);

	image_put(image, function, layout->vl_name,
	    image_scope(image, name, start), 8);
	image_put(image, function, layout->vl_script_at, image->im_script, 8);
	image_put(image, function, layout->vl_script_at + 20U, literal, 4);
	return (function);
}

/* Compiled code; where its instructions are. */
static inline uint64_t
image_code(struct image *image, uint64_t data, uint64_t positions)
{
	const struct v8_layout *layout = image->im_layout;
	const uint64_t stream = image_object(image, layout->vl_stream,
	    layout->vl_header + (size_t)IMAGE_CODE_BYTES, layout->vl_header);
	const uint64_t start = stream - 1 + layout->vl_header;
	uint64_t code = stream;

	if (layout->vl_code != layout->vl_stream) {
		code = image_object(image, layout->vl_code, 96, 0);
		image_put(image, stream, 8, code, 8);
		image_put(image, code, 40, start, 8);
	}
	image->im_code = code;
	image_put(image, code, layout->vl_data, data, 8);
	image_put(image, code, layout->vl_positions, positions, 8);
	image_put(image, code, layout->vl_size, IMAGE_CODE_BYTES, 4);
	for (uint32_t n = 0; n < IMAGE_CODE_BYTES; n++)
		image->im_bytes[start + n] = (uint8_t)((7 * n + 3) & 0x7f);
	image->im_bytes[start + IMAGE_LEAVES + 8] = 0xc3;
	return (start);
}

static inline uint64_t
image_optimized(struct image *image, int call, int in_inner)
{
	const struct v8_layout *layout = image->im_layout;
	const int positions[3][3] = { { 0, call, -1 }, { 24, in_inner, 0 },
	    { 40, call, -1 } };
	const uint64_t caller = (uint64_t)(call + 1) << 1;
	uint64_t words[12] = { 0 }, inlined[2] = { caller, 0 }, wrapper;

	words[layout->vl_literals] = image_array(image, 98,
	    &image->im_inner, 8, 1);
	words[layout->vl_literals + 1] = image_smi(-1);	/* no loop */
	words[layout->vl_inlined] = image_array(image, 99, inlined, 16, 16);
	words[layout->vl_function] = image->im_outer;
	if (layout->vl_wrapped) {
		wrapper = image_object(image, 97, 16, 0);
		image_put(image, wrapper, 8, image->im_outer, 8);
		words[layout->vl_function] = wrapper;
	}
	image->im_data = image_array(image, layout->vl_deopt, words,
	    sizeof(words), 12);
	return (image_code(image, image->im_data,
	    image_positions(image, positions, 3)));
}

static inline void
image_make(struct image *image, uint32_t variant)
{
	const int inner = 14, outer = 49, call = 66, in_inner = 22;
	const int positions[2][3] = { { 0, outer, -1 }, { 2, call, -1 } };
	const uint8_t table[] = { 4, 4, 4, 4 }, code[] = { 11, 1, 11, 2 };
	const struct v8_layout *layout = v8_layout_at(variant);
	uint64_t bytecode;

	memset(image, 0, sizeof(*image));
	image->im_layout = layout;
	image->im_variant = variant;
	image->im_n = 64;
	image->im_maps = 65;
	image_put(image, 65, 0, 65, 8);
	image_put(image, 65, 12, layout->vl_map, 2);
	image->im_n = 128;
	image->im_script = image_object(image, layout->vl_script, 128, 0);
	image_put(image, image->im_script, 8,
	    image_string(image, image_source), 8);
	image_put(image, image->im_script, 16,
	    image_string(image, "file:///srv/app.js"), 8);
	image_put(image, image->im_script, V8_SCRIPT_ID,
	    image_smi(IMAGE_SCRIPT), 8);
	image->im_inner = image_function(image, "inner", inner, IMAGE_LITERAL);
	image->im_outer = image_function(image, "outer", outer, 9);
	bytecode = image_object(image, layout->vl_bytecode, 128, 0);
	image_put(image, bytecode, 8, image_smi(sizeof(code)), 8);
	image_put(image, bytecode, layout->vl_byte_positions,
	    image_positions(image, positions, 2), 8);
	memcpy(image->im_bytes + bytecode - 1 + layout->vl_bytes, code,
	    sizeof(code));
	image_put(image, image->im_outer, 8, bytecode, 8);
	image->im_bytecode = bytecode;
	image->im_baseline = image_code(image, bytecode,
	    image_array(image, 99, table, sizeof(table), sizeof(table)));
	image->im_optimized = image_optimized(image, call, in_inner);
}

/* What the stream has of a frame; pc 0: it is interpreted. */
static inline struct prof_code_key
image_key(const struct image *image, uint64_t function, uint32_t literal,
    uint64_t pc)
{
	const uint32_t identity = dtp_kept_identity(image->im_script,
	    IMAGE_SCRIPT, literal, 0);
	const uint64_t at = pc & ((1ULL << 47) - 1);
	__u64 code[DTP_KEPT_CODE] = { 0 };

	if (pc != 0)
		memcpy(code, image->im_bytes + at - DTP_KEPT_BEFORE,
		    sizeof(code));
	return ((struct prof_code_key){ .ck_address = function | pc >> 32 << 48,
	    .ck_check = (uint64_t)identity << 32 | (uint32_t)pc,
	    .ck_stamp = dtp_kept_stamp(code),
	    .ck_variant = image->im_variant });
}

/* Describe it, in the memory that a file has. */
static inline bool
image_describe(const struct image *image, const struct prof_code_key *key,
    struct prof_code_object *code)
{
	void *kept = NULL;
	const struct prof_peek memory = { .pk_kept = &kept,
	    .pk_fd = memfd_create("image", MFD_CLOEXEC) };
	bool is_known;

	if (memory.pk_fd == -1 || write(memory.pk_fd, image->im_bytes,
	    IMAGE_BYTES) != IMAGE_BYTES)
		abort();
	memset(code, 0, sizeof(*code));
	is_known = prof_language_javascript.la_describe(&memory, key, code);
	prof_language_javascript.la_forget(kept);
	close(memory.pk_fd);
	return (is_known);
}

#endif /* V8_IMAGE_H */
