/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: In memory as each known version of V8 lays it out, functions have
 * their names, files and lines, interpreted, of baseline and of optimized code,
 * with what is inlined; an object that is another one by now has no name.
 * Whatever byte of the memory changes, texts end and counts have their bounds.
 *
 * Easy to get wrong: the last instruction of a call belongs to the call, and
 * the first of a function still has its caller's frame; the next ones have one
 * where an earlier call's function stands.
 */
#include "cli-check.h"
#include "v8_image.h"

#define IS_EXACT	(1ULL << 47)

static struct prof_code_object code;

static uint32_t
line_at(uint32_t instruction)
{
	uint32_t line = code.co_line;

	for (uint32_t n = 0; n < code.co_nsteps &&
	    code.co_step[n].tp_instruction <= instruction; n++)
		line = code.co_step[n].tp_line;
	return (line);
}

static void
test_interpreted(const struct image *image)
{
	const uint32_t first = image->im_layout->vl_bytes - 1U;
	struct prof_code_key key = image_key(image, image->im_outer, 9, 0);

	CHECK(image_describe(image, &key, &code), "outer is known");
	CHECK(strcmp(code.co_name, "outer") == 0, "its name");
	CHECK(strcmp(code.co_file, "/srv/app.js") == 0, "its file");
	CHECK(code.co_line == 4, "its first line");
	CHECK(line_at(first) == 4 && line_at(first + 2) == 6, "its lines");
	CHECK(line_at(0) == 0, "no line where none is known");
	key.ck_check ^= 1ULL << 32;
	CHECK(!image_describe(image, &key, &code), "another function");
	key = image_key(image, image->im_inner, IMAGE_LITERAL, 0);
	CHECK(image_describe(image, &key, &code) &&
	    strcmp(code.co_name, "inner") == 0 && code.co_line == 1, "inner");
}

static void
test_compiled(const struct image *image)
{
	struct prof_code_key key = image_key(image, image->im_outer, 9,
	    image->im_optimized + IMAGE_CALL);

	CHECK(image_describe(image, &key, &code) &&
	    strcmp(code.co_name, "outer") == 0 && line_at(0) == 6,
	    "outer calls in line 6");
	CHECK(code.co_ninlined == 1 &&
	    strcmp(code.co_inlined[0].in_name, "inner") == 0 &&
	    code.co_inlined[0].in_line == 1 && code.co_inlined[0].in_at == 2,
	    "inner is inlined");
	key = image_key(image, image->im_outer, 9, image->im_optimized + 24);
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 0,
	    "behind the last instruction before it");
	key = image_key(image, image->im_outer, 9,
	    (image->im_optimized + 24) | IS_EXACT);
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 1,
	    "at its first instruction");
	/* The frame is still inner's. */
	key = image_key(image, image->im_inner, IMAGE_LITERAL,
	    image->im_optimized | IS_EXACT);
	CHECK(image_describe(image, &key, &code) &&
	    strcmp(code.co_name, "inner") == 0 && line_at(0) == 0 &&
	    code.co_ninlined == 2 &&
	    code.co_inlined[0].in_name[0] == '\0' &&
	    strcmp(code.co_inlined[1].in_name, "[callers not known]") == 0,
	    "a function that has just been called has no name");
	key = image_key(image, image->im_inner, IMAGE_LITERAL,
	    (image->im_optimized + IMAGE_LEAVES) | IS_EXACT);
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 2 &&
	    code.co_inlined[0].in_name[0] == '\0',
	    "a function that is about to return has no name");
	key = image_key(image, image->im_inner, IMAGE_LITERAL,
	    (image->im_optimized + IMAGE_LEAVES - 64) | IS_EXACT);
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 0 &&
	    line_at(0) == 0, "code that took the place of another");
	key = image_key(image, image->im_inner, IMAGE_LITERAL,
	    image->im_optimized + IMAGE_CALL);
	CHECK(!image_describe(image, &key, &code),
	    "a return address in such code");
	key = image_key(image, image->im_outer, 9,
	    image->im_baseline + IMAGE_BASELINE_CALL);
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 0 &&
	    line_at(0) == 6, "baseline code");
	key = image_key(image, image->im_outer, 9,
	    image->im_optimized + 4096);
	CHECK(!image_describe(image, &key, &code), "no code there");
	key = image_key(image, image->im_outer, 9,
	    (image->im_optimized + 4096) | IS_EXACT);
	CHECK(image_describe(image, &key, &code) && line_at(0) == 0 &&
	    code.co_ninlined == 0, "a stub, perhaps");
	key = image_key(image, image->im_outer, 9,
	    image->im_optimized + IMAGE_CODE_BYTES + 2);
	CHECK(!image_describe(image, &key, &code), "behind the end of code");
}

/* The frame has not stored whose it is, or has left: nothing else says it. */
static void
test_not_said(const struct image *image)
{
	const uint64_t pcs[] = { image->im_optimized,
	    image->im_optimized + 24,
	    image->im_baseline + IMAGE_BASELINE_CALL };
	struct prof_code_key key;

	for (size_t n = 0; n < sizeof(pcs) / sizeof(pcs[0]); n++) {
		key = image_key(image, 0, 0, pcs[n] | IS_EXACT);
		CHECK(!image_describe(image, &key, &code),
		    "place %zu without a function is %s", n, code.co_name);
	}
}

/* Is it text that ends? */
static bool
is_text(const char *text)
{
	return (strnlen(text, PROF_CODE_TEXT) < PROF_CODE_TEXT);
}

/* Code that a loop came to while it ran, which nobody calls. */
static void
test_loop(struct image *image)
{
	const struct prof_code_key key = image_key(image, image->im_inner,
	    IMAGE_LITERAL, image->im_optimized | IS_EXACT);
	const uint64_t at = V8_HEADER + 8 *
	    (image->im_layout->vl_literals + 1ULL);

	image_put(image, image->im_data, at, image_smi(4), 8);
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 0 &&
	    strcmp(code.co_name, "inner") == 0, "a loop is not called");
	image_put(image, image->im_data, at, image_smi(-1), 8);
}

/* Maglev: the position of a jump at the end of a loop is no call's. */
static void
test_maglev(struct image *image)
{
	const struct v8_layout *layout = image->im_layout;
	const struct prof_code_key key = image_key(image, image->im_outer, 9,
	    image->im_optimized + IMAGE_CALL);
	const uint64_t loop = V8_HEADER + 8 * (layout->vl_literals + 1ULL);
	uint8_t *call = image->im_bytes + image->im_bytecode - 1 +
	    layout->vl_bytes + 2;
	const uint8_t was = *call;

	if (layout->vl_maglev == 0)
		return;
	image_put(image, image->im_code, layout->vl_flags, layout->vl_maglev,
	    4);
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 1 &&
	    line_at(0) == (layout->vl_jump_loop == 0 ? 0 : 6), "Maglev");
	image_put(image, image->im_data, loop, image_smi(4), 8);
	CHECK(image_describe(image, &key, &code) && line_at(0) == 0,
	    "a loop that took over the frame");
	image_put(image, image->im_data, loop, image_smi(-1), 8);
	*call = layout->vl_jump_loop;
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 1 &&
	    line_at(0) == 0, "a loop that was peeled");
	*call = was;
	image_put(image, image->im_code, layout->vl_flags, 0, 4);
}

static void
test_changed(struct image *image)
{
	const struct prof_code_key key = image_key(image, image->im_outer, 9,
	    image->im_optimized + IMAGE_CALL);
	unsigned n, wrong = 0;

	srandom(27);
	for (n = 0; n < 4000; n++) {
		uint8_t *byte = &image->im_bytes[(uint64_t)random() %
		    image->im_n];
		const uint8_t was = *byte;

		*byte = (uint8_t)random();
		if (image_describe(image, &key, &code) &&
		    (!is_text(code.co_name) || !is_text(code.co_file) ||
		    code.co_nsteps > PROF_CODE_STEPS ||
		    code.co_ninlined > PROF_TABLE_INLINED))
			wrong++;
		*byte = was;
	}
	CHECK(wrong == 0, "%u of %u changes break a bound", wrong, n);
}

int
main(void)
{
	static struct image image;
	uint32_t n;

	for (n = 0; v8_layout_at(n) != NULL; n++) {
		image_make(&image, n);
		test_interpreted(&image);
		test_compiled(&image);
		test_not_said(&image);
		test_loop(&image);
		test_maglev(&image);
		test_changed(&image);
	}
	CHECK(n == 4, "four versions");
	OK("%u versions of V8, 4000 changes each", n);
	return (0);
}
