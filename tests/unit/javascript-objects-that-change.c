/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: In the memory of a process that runs V8, whatever version, a
 * function has its own name or none: not that of another one which came to its
 * address, be it between its sample and its naming or while it is read, nor
 * what is inlined in other code that came to the address of its code.  Code of
 * functions that are alike has the same stamp, which names nothing.  Strings
 * that are made of themselves, counts beyond their objects and callers that
 * come behind what they call are read to an end.
 *
 * Easy to get wrong: a function of another script at the address of the first
 * one, which has the same number in it; a name that is read after the function
 * was found to be the right one.
 */
#include "cli-check.h"
#include "v8_image.h"

#define IS_EXACT	(1ULL << 47)

static struct prof_code_object code;

static void
other_names(struct image *other)
{
	static const char from[] = "outer", to[] = "other";

	for (size_t at = 0; at + 5 <= IMAGE_BYTES; at++)
		if (memcmp(other->im_bytes + at, from, 5) == 0)
			memcpy(other->im_bytes + at, to, 5);
}

/* The same places with another script: its number, its names, its code. */
static void
other_make(struct image *other, const struct image *image)
{
	*other = *image;
	image_put(other, other->im_script, V8_SCRIPT_ID,
	    image_smi(IMAGE_SCRIPT + 1), 8);
	other_names(other);
	for (uint32_t n = 0; n < IMAGE_CODE_BYTES; n++)
		other->im_bytes[other->im_optimized + n] ^= 1;
}

static void
test_replaced(const struct image *image, const struct image *other)
{
	struct prof_code_key key = image_key(image, image->im_outer, 9, 0);

	CHECK(image_describe(image, &key, &code), "it is there");
	CHECK(!image_describe(other, &key, &code),
	    "a function of another script is %s", code.co_name);
	/* The function is the same one, its code is not, or is not known. */
	key = image_key(image, image->im_outer, 9,
	    image->im_optimized + IMAGE_CALL);
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 1,
	    "its code is there");
	key.ck_stamp ^= 1;
	CHECK(!image_describe(image, &key, &code), "who called is not known");
	key.ck_stamp = 0;
	CHECK(!image_describe(image, &key, &code), "code that nobody saw");
	key = image_key(image, image->im_outer, 9,
	    (image->im_optimized + 30) | IS_EXACT);
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 1,
	    "a place is known");
	key.ck_stamp ^= 1;
	CHECK(image_describe(image, &key, &code) && code.co_ninlined == 0 &&
	    code.co_nsteps == 1 && code.co_step[0].tp_line == 0 &&
	    strcmp(code.co_name, "outer") == 0, "other code is at its pc");
}

/* Where the frame is not made yet, code of "other" is where "outer"'s was. */
static void
test_alike(const struct image *image)
{
	const struct prof_code_key called = image_key(image, image->im_inner,
	    IMAGE_LITERAL, image->im_optimized | IS_EXACT), returns = image_key(
	    image, image->im_inner, IMAGE_LITERAL,
	    (image->im_optimized + IMAGE_LEAVES) | IS_EXACT), unsaid =
	    image_key(image, 0, 0, image->im_optimized | IS_EXACT);
	const struct prof_code_key *key[] = { &called, &returns };
	static struct image alike;

	alike = *image;
	other_names(&alike);
	for (unsigned n = 0; n < 2; n++)
		CHECK(image_describe(&alike, key[n], &code) &&
		    strcmp(code.co_name, "inner") == 0 &&
		    code.co_ninlined == 2 &&
		    code.co_inlined[0].in_name[0] == '\0',
		    "%u: code that is alike is %s's", n,
		    code.co_inlined[0].in_name);
	CHECK(!image_describe(&alike, &unsaid, &code),
	    "code that is alike is %s's", code.co_name);
}

/* ------------------------------------------------ changing while read */

static int flip_fd = -1;
static const struct image *flip_other;
static unsigned flip_after;		/* reads of the file; 0: it is done */

ssize_t	__real_pread(int, void *, size_t, off_t);
ssize_t	__wrap_pread(int, void *, size_t, off_t);

static void
image_write(int fd, const struct image *image)
{
	if (pwrite(fd, image->im_bytes, IMAGE_BYTES, 0) != IMAGE_BYTES)
		abort();
}

ssize_t
__wrap_pread(int fd, void *bytes, size_t size, off_t at)
{
	const ssize_t n = __real_pread(fd, bytes, size, at);

	if (fd == flip_fd && flip_after > 0 && --flip_after == 0)
		image_write(fd, flip_other);
	return (n);
}

/* It becomes the other one once, behind each of the reads. */
static void
test_flipped(const struct image *image, const struct image *other,
    const struct prof_code_key *key)
{
	struct prof_peek memory = { .pk_fd = memfd_create("flip",
	    MFD_CLOEXEC) };
	unsigned n, named = 0;
	bool is_known;

	CHECK(memory.pk_fd != -1, "no file");
	flip_fd = memory.pk_fd;
	flip_other = other;
	for (n = 1; ; n++) {
		void *kept = NULL;

		image_write(flip_fd, image);
		memset(&code, 0, sizeof(code));
		memory.pk_kept = &kept;
		flip_after = n;
		is_known = prof_language_javascript.la_describe(&memory, key,
		    &code);
		prof_language_javascript.la_forget(kept);
		if (flip_after > 0)
			break;
		CHECK(!is_known || strcmp(code.co_name, "outer") == 0,
		    "flip %u: its name is %s", n, code.co_name);
		CHECK(!is_known || code.co_ninlined == 0 || strcmp(
		    code.co_inlined[0].in_name, "inner") == 0,
		    "flip %u: %s is inlined", n, code.co_inlined[0].in_name);
		named += is_known;
	}
	CHECK(is_known && n > 20 && named > 0 && named < n / 2,
	    "%u reads, named after %u", n, named);
	flip_after = 0;
	flip_fd = -1;
	close(memory.pk_fd);
	OK("V8 %u.%u: changed behind each of %u reads, named in %u",
	    image->im_layout->vl_major, image->im_layout->vl_minor, n - 1,
	    named);
}

/* -------------------------------------------------------------- loops */

/* The function's own name, which a string of this type and these words is. */
static void
string_make(struct image *image, uint16_t type, uint64_t first,
    uint64_t second)
{
	const uint64_t string = image_object(image, type, 32, 0);

	image_put(image, string, 12, 1U << 20, 4);
	image_put(image, string, 16, first == 0 ? string : first, 8);
	image_put(image, string, 24, second == 0 ? string : second, 8);
	image_put(image, image->im_outer, image->im_layout->vl_name, string,
	    8);
}

static void
test_loops(const struct image *image)
{
	/* Cons, slice, thin, of one byte and of two. */
	static const uint16_t types[] = { 9, 11, 13, 1, 3, 5 };
	static struct image forged;
	struct prof_code_key key;

	for (size_t n = 0; n < sizeof(types) / sizeof(types[0]); n++) {
		forged = *image;
		string_make(&forged, types[n], 0, 0);
		key = image_key(&forged, forged.im_outer, 9, 0);
		CHECK(!image_describe(&forged, &key, &code) ||
		    strcmp(code.co_name, "app.js:1") == 0,
		    "a string of type %u is %s", types[n], code.co_name);
		string_make(&forged, types[n], 0,
		    image_smi(INT32_MAX));
		key = image_key(&forged, forged.im_outer, 9, 0);
		CHECK(!image_describe(&forged, &key, &code) ||
		    strcmp(code.co_name, "app.js:1") == 0,
		    "a slice of type %u is %s", types[n], code.co_name);
	}
}

/* Arrays and tables that say that they are longer than all memory. */
static void
test_lengths(const struct image *image)
{
	static const int32_t lengths[] = { INT32_MAX, -1, INT32_MIN, 0 };
	const struct prof_code_key key = image_key(image, image->im_outer, 9,
	    image->im_optimized + IMAGE_CALL);
	static struct image forged;
	const uint64_t size = image_smi(8);
	uint64_t word;

	for (uint64_t at = 8; at + 8 <= image->im_n; at += 8)
		for (unsigned n = 0; n < 4; n++) {
			memcpy(&word, image->im_bytes + at, 8);
			if (!V8_IS_SMI(word) || word == 0 || word > size * 64)
				continue;
			forged = *image;
			word = image_smi(lengths[n]);
			memcpy(forged.im_bytes + at, &word, 8);
			CHECK(!image_describe(&forged, &key, &code) ||
			    (code.co_nsteps <= PROF_CODE_STEPS &&
			    code.co_ninlined <= 1), "length %d at %ju",
			    lengths[n], (uintmax_t)at);
		}
}

/* What is inlined by itself. */
static void
test_callers(const struct image *image)
{
	const struct prof_code_key exact = image_key(image, image->im_outer, 9,
	    (image->im_optimized + 30) | IS_EXACT), key = image_key(image,
	    image->im_outer, 9, image->im_optimized + IMAGE_CALL);
	const uint64_t caller = 134;	/* place 66, in the outermost one */
	static struct image forged;
	unsigned found = 0;
	uint64_t word;

	forged = *image;
	for (uint64_t at = 0; at + 8 <= image->im_n; at += 8) {
		memcpy(&word, image->im_bytes + at, 8);
		if (word != caller)
			continue;
		word |= 1ULL << 31;
		memcpy(forged.im_bytes + at, &word, 8);
		found++;
	}
	CHECK(!image_describe(&forged, &key, &code), "who called is forged");
	CHECK(found == 1 && image_describe(&forged, &exact, &code) &&
	    code.co_ninlined == 0 && strcmp(code.co_name, "outer") == 0,
	    "%u places, %u functions", found, code.co_ninlined);
}

int
main(void)
{
	static struct image image, other;
	struct prof_code_key key;

	for (uint32_t n = 0; v8_layout_at(n) != NULL; n++) {
		image_make(&image, n);
		other_make(&other, &image);
		test_replaced(&image, &other);
		test_alike(&image);
		key = image_key(&image, image.im_outer, 9,
		    image.im_optimized + IMAGE_CALL);
		test_flipped(&image, &other, &key);
		test_loops(&image);
		test_lengths(&image);
		test_callers(&image);
	}
	return (0);
}
