/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: integers of all lengths are read as they were written, whatever
 * follows them; one that is cut off, or has more than 64 bits, is bad and
 * moves the cursor to its end.
 *
 * Easy to get wrong: short ones are read without a loop, where the bytes may
 * end in between.
 */
#include "recording-lib.h"

#include "recording/format.h"

/* Bytes with nothing behind them that may be read. */
static uint64_t
read_back(const uint8_t *bytes, size_t n, size_t *left, bool *is_bad)
{
	uint8_t *copy = malloc(n + 1);
	struct prof_cur cur;
	uint64_t value;

	CHECK(copy != NULL);
	/* At the end of what was allocated. */
	memcpy(copy + 1, bytes, n);
	cur = prof_cur_of(copy + 1, n);
	value = prof_cur_varint(&cur);
	*left = prof_cur_left(&cur);
	*is_bad = cur.cu_bad;
	free(copy);
	return (value);
}

static void
check_value(uint64_t value)
{
	uint8_t bytes[32];
	struct prof_buf buf = { bytes, 0, sizeof(bytes), false };
	size_t left, length;
	bool is_bad;

	prof_buf_varint(&buf, value);
	length = buf.bf_len;
	for (size_t behind = 0; behind <= 10; behind++) {
		memset(bytes + length, behind % 2 == 0 ? 0xff : 0, behind);
		CHECK(read_back(bytes, length + behind, &left, &is_bad) ==
		    value);
		CHECK(!is_bad && left == behind);
	}
	for (size_t n = 0; n < length; n++) {
		CHECK(read_back(bytes, n, &left, &is_bad) == 0);
		CHECK(is_bad && left == 0);
	}
}

int
main(void)
{
	static const uint8_t longer[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	    0x80, 0x80, 0x80, 0x02, 0x00 };
	size_t left;
	bool is_bad;

	for (unsigned bit = 0; bit < 64; bit++) {
		check_value((uint64_t)1 << bit);
		check_value(((uint64_t)1 << bit) - 1);
	}
	check_value(UINT64_MAX);
	/* Zeros in front change nothing, up to the 64th bit. */
	for (size_t n = 1; n < 9; n++) {
		CHECK(read_back(longer, n, &left, &is_bad) == 0 && is_bad);
		CHECK(read_back((const uint8_t[]){ 0x81, 0x80, 0x80, 0x00 } +
		    (n % 3), 4 - n % 3, &left, &is_bad) == (n % 3 == 0));
		CHECK(!is_bad && left == 0);
	}
	CHECK(read_back(longer, sizeof(longer), &left, &is_bad) == 0);
	CHECK(is_bad && left == 0);
	printf("ok: up to 64 bits, whole and cut\n");
	return (0);
}
