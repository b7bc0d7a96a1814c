/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: A code object of CPython 3.11 to 3.14 that a process has in its
 * memory gets its name, file and lines; one that is freed, another's by now,
 * or forged gets none, and whatever is written there is survived: 20,000
 * objects with random changes.
 *
 * Easy to get wrong: lengths and pointers that lead out of memory, a table of
 * lines that is cut or larger than what it may become, freed memory that still
 * looks like code.
 *
 * usage: python-code-is-checked [--seed N]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "process/languages/language.h"

#define NVERSIONS	4
#define CHANGES		20000
#define BYTES		512

/* Words of a code object, by version, in order of variants. */
static const unsigned first_lines[NVERSIONS] = { 72, 68, 68, 68 };
static const unsigned ascii_at[NVERSIONS] = { 48, 40, 40, 40 };

/* What lies in the process. */
static struct memory {
	uint8_t	me_code[BYTES];
	uint8_t	me_type[64];
	char	me_type_name[8];
	uint8_t	me_name[128];
	uint8_t	me_file[128];
	uint8_t	me_lines[128];
} memory;
static struct prof_peek peek;
static uint64_t random_state;

static uint64_t
draw(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state % n);
}

static void
put(uint8_t *bytes, unsigned at, uint64_t value, size_t size)
{
	memcpy(bytes + at, &value, size);
}

static void
put_text(uint8_t *bytes, const char *text, unsigned version)
{
	put(bytes, 16, strlen(text), 8);
	/* Characters of a byte, compact, ASCII. */
	put(bytes, 32, 1 << 2 | 1 << 5 | 1 << 6, 4);
	memcpy(bytes + ascii_at[version], text, strlen(text) + 1);
}

static void
make_code(unsigned version)
{
	/* line + 1, 2 instructions; line + 3, 1; none, 1; line + 2, 8 */
	static const uint8_t lines[] = { 0x80 | 11 << 3 | 1, 0, 0,
	    0x80 | 13 << 3, 2 << 1, 0x80 | 15 << 3,
	    0x80 | 14 << 3 | 7, 2 << 1, 0, 0, 0 };

	memset(&memory, 0, sizeof(memory));
	put(memory.me_code, 0, 3, 8);
	put(memory.me_code, 8, (uintptr_t)memory.me_type, 8);
	put(memory.me_code, 88, 77, 8);		/* its number */
	put(memory.me_code, first_lines[version], 10, 4);
	put(memory.me_code, 112, (uintptr_t)memory.me_file, 8);
	put(memory.me_code, 120, (uintptr_t)memory.me_name, 8);
	put(memory.me_code, 128, (uintptr_t)memory.me_name, 8);
	put(memory.me_code, 136, (uintptr_t)memory.me_lines, 8);
	put(memory.me_type, 24, (uintptr_t)memory.me_type_name, 8);
	strcpy(memory.me_type_name, "code");
	put_text(memory.me_name, "Order.price", version);
	put_text(memory.me_file, "/srv/order.py", version);
	put(memory.me_lines, 16, sizeof(lines), 8);
	memcpy(memory.me_lines + 32, lines, sizeof(lines));
}

/* 3.11: what a program makes of it, with both texts. */
static uint64_t
content_of(void)
{
	const uint8_t *texts[] = { memory.me_file, memory.me_name };
	uint64_t word, mixed = 0, length;

	for (uint32_t n = 0; n < DTP_CHAIN_CODE; n++) {
		memcpy(&word, memory.me_code + 16 + 8 * n, 8);
		mixed += dtp_chain_mix(word, 1U << 4, n);
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t sum = 0;

		memcpy(&length, texts[i] + 16, 8);
		for (uint32_t n = 0; n < DTP_CHAIN_TEXT; n++) {
			memcpy(&word, texts[i] + 16 + 8 * n, 8);
			if (8 * n < 32 + length + 1)
				sum += dtp_chain_mix(word, 0xe, n);
		}
		mixed = mixed * DTP_CHAIN_MIX + sum;
	}
	return (mixed | 3);
}

static bool
describe(unsigned version, uint64_t check, struct prof_code_object *code)
{
	const struct prof_code_key key = { .ck_variant = version,
	    .ck_address = (uintptr_t)memory.me_code, .ck_check = check };

	memset(code, 0, sizeof(*code));
	return (prof_language_python.la_describe(&peek, &key, code));
}

static uint64_t
check_of(unsigned version)
{
	return (version == 0 ? content_of() : 77);
}

static struct prof_code_object code;

static void
try_right(unsigned version)
{
	static const struct prof_table_step steps[] = { { 0, 11 }, { 2, 13 },
	    { 3, 0 }, { 4, 15 } };

	make_code(version);
	CHECK(describe(version, check_of(version), &code), "not described");
	CHECK(strcmp(code.co_name, "Order.price") == 0, "%s", code.co_name);
	CHECK(strcmp(code.co_file, "/srv/order.py") == 0, "%s", code.co_file);
	CHECK(code.co_line == 10, "line %u", code.co_line);
	CHECK(code.co_nsteps == 4, "%u steps", code.co_nsteps);
	for (unsigned n = 0; n < 4; n++)
		CHECK(code.co_step[n].tp_instruction ==
		    steps[n].tp_instruction && code.co_step[n].tp_line ==
		    steps[n].tp_line,
		    "step %u: %u is line %u", n,
		    code.co_step[n].tp_instruction, code.co_step[n].tp_line);
}

static void
try_wrong(unsigned version)
{
	const uint64_t check = (make_code(version), check_of(version));

	CHECK(!describe(version, check ^ 1ULL << 40, &code), "another one");
	put(memory.me_code, 0, 0, 8);
	CHECK(!describe(version, check, &code), "no references");
	put(memory.me_code, 0, 0x7f1234567890, 8);
	CHECK(!describe(version, check, &code), "freed");
	make_code(version);
	strcpy(memory.me_type_name, "cod");
	CHECK(!describe(version, check, &code), "not a code object");
	make_code(version);
	memory.me_name[ascii_at[version]] = 'X';
	CHECK(describe(version, check, &code) == (version != 0),
	    "another name");
	make_code(version);
	put(memory.me_code, 128, 16, 8);
	CHECK(!describe(version, check_of(version), &code),
	    "a name that cannot be read");
	CHECK(!describe(NVERSIONS, check, &code), "a version that is none");
}

static void
try_random(unsigned version)
{
	uint8_t *bytes = (uint8_t *)&memory;
	unsigned named = 0;

	for (unsigned n = 0; n < CHANGES / NVERSIONS; n++) {
		make_code(version);
		for (uint64_t i = draw(8); i > 0; i--)
			bytes[draw(sizeof(memory))] = (uint8_t)draw(256);
		named += describe(version, check_of(version), &code);
		CHECK(code.co_nsteps <= PROF_CODE_STEPS, "too many steps");
		CHECK(memchr(code.co_name, '\0', sizeof(code.co_name)) !=
		    NULL && memchr(code.co_file, '\0',
		    sizeof(code.co_file)) != NULL, "no end");
	}
	CHECK(named > CHANGES / NVERSIONS / 10, "only %u were named", named);
}

int
main(int argc, char *argv[])
{
	const uint64_t seed = argc == 3 && strcmp(argv[1], "--seed") == 0 ?
	    strtoull(argv[2], NULL, 10) : 1;

	random_state = seed * 0x9e3779b97f4a7c15ULL | 1;
	peek.pk_pid = (uint32_t)getpid();
	peek.pk_fd = open("/proc/self/mem", O_RDONLY);
	CHECK(peek.pk_fd != -1, "no memory of our own");
	for (unsigned version = 0; version < NVERSIONS; version++) {
		try_right(version);
		try_wrong(version);
		try_random(version);
	}
	OK("%d versions, %d objects with changes, seed %llu", NVERSIONS,
	    CHANGES, (unsigned long long)seed);
	return (0);
}
