/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: The memory of a process that runs V8 is read within bounds of our
 * own, whatever is in it and wherever a frame points to; names end, and there
 * are no more lines and inlined functions than there is room for.
 *
 * Input: a byte for the version and the frame; then, of the memory that
 * tests/unit/v8_image.h makes, places of two bytes and what comes there.
 */
#include "../unit/v8_image.h"

#define EDIT	10

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct image image;
static struct prof_code_object code;

static void
text_check(const char *text)
{
	if (strnlen(text, PROF_CODE_TEXT) == PROF_CODE_TEXT)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	struct prof_code_key key;
	uint64_t pc;
	uint16_t at;
	size_t n;

	if (length < 1)
		return (0);
	image_make(&image, input[0] & 3);
	pc = input[0] & 4 ? 0 : input[0] & 8 ?
	    image.im_baseline + IMAGE_BASELINE_CALL :
	    image.im_optimized + IMAGE_CALL;
	key = image_key(&image, image.im_outer, 9, pc);
	for (n = 1; n + EDIT <= length; n += EDIT) {
		memcpy(&at, input + n, 2);
		memcpy(image.im_bytes + at % (IMAGE_BYTES - 8), input + n + 2,
		    8);
	}
	if (input[0] & 16 && length >= 9)
		memcpy(&key.ck_address, input + length - 8, 8);
	if (!image_describe(&image, &key, &code))
		return (0);
	text_check(code.co_name);
	text_check(code.co_file);
	if (code.co_nsteps > PROF_CODE_STEPS ||
	    code.co_ninlined > PROF_TABLE_INLINED)
		abort();
	for (n = 0; n < code.co_ninlined; n++) {
		text_check(code.co_inlined[n].in_name);
		text_check(code.co_inlined[n].in_file);
	}
	return (0);
}
