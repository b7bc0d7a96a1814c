/*
 * ASSERTION: A file that was made to mislead costs the maker of its unwind
 * table neither a byte outside its memory nor more memory than an honest one.
 *
 * Easy to get wrong: code that is known by its bytes may lie at address 0, so
 * that what is a byte before it lies behind everything; or amid a function,
 * whose rule goes on behind it.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/resource.h>

#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "elf/outermost.h"
#include "forged.h"

#define LAST_RULE	(3 << DTP_UW_CFA_SHIFT)	/* from the 8th byte on */
#define CONTEXT		25		/* bytes where contexts return to */

/* To where contexts return, and goroutines. */
static const uint8_t context[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24,
    0x48, 0x85, 0xff, 0x74 };
static const uint8_t goexit[] = { 0xcc, 0x90, 0xe8, 1, 2, 3, 4, 0x90, 0xcc,
    0xcc, 0xcc };

/* A function, and somewhere such code. */
static struct prof_unwind_table *
with_code_at(size_t at, const uint8_t *code, size_t size)
{
	static const uint8_t program[] = { 0x44, 0x0e, 16, 0x44, 0x0e, 24 };
	struct prof_unwind_table *table;
	struct forged forged;

	forge(&forged, program, sizeof(program));
	memcpy(forged.fo_text + at, code, size);
	table = forged_table(&forged);
	CHECK(table != NULL, "no table");
	return (table);
}

/* Its rule holds for it, and the byte before, by which callers are found. */
static void
check_within(void)
{
	const size_t at = FORGED_PC + 48;
	struct prof_unwind_table *table = with_code_at(at, context,
	    sizeof(context));
	size_t pc;

	for (pc = FORGED_PC + 8; pc < FORGED_PC + FORGED_LENGTH; pc++) {
		uint16_t rule = prof_unwind_table_find(table, pc);

		CHECK(rule == (pc + 1 < at || pc >= at + CONTEXT ? LAST_RULE :
		    DTP_UW_STOP), "rule %x at %zu", rule, pc);
	}
	prof_unwind_table_free(table);
	OK("code within a function: its own rule before and behind");
}

/* At one of the first addresses of all. */
static void
check_edge(size_t at)
{
	struct prof_unwind_table *table = with_code_at(at, context,
	    sizeof(context));
	uint16_t rule = prof_unwind_table_find(table, FORGED_PC + 8);

	CHECK(rule == LAST_RULE, "rule %x", rule);
	rule = prof_unwind_table_find(table, at + 4);
	CHECK(rule == (at < 2 ? DTP_UW_END : DTP_UW_STOP), "rule %x", rule);
	CHECK(prof_unwind_table_find(table, FORGED_PC + FORGED_LENGTH) ==
	    DTP_UW_END, "a rule behind the end");
	prof_unwind_table_free(table);
	OK("code at address %zu", at);
}

/* Where the file describes nothing, nothing is made known. */
static void
check_goexit(size_t at, uint16_t expected)
{
	struct prof_unwind_table *table = with_code_at(at, goexit,
	    sizeof(goexit));
	size_t pc;

	for (pc = at; pc < at + 8; pc++) {
		uint16_t rule = prof_unwind_table_find(table, pc);

		CHECK(rule == expected, "rule %x at %zu", rule, pc);
	}
	prof_unwind_table_free(table);
	OK("the end of goroutines at %zu", at);
}

/* Segments of code that all have the same bytes, of so many. */
static int
overlaid(size_t segments, size_t size)
{
	char name[] = "/tmp/dtprof-test.XXXXXX";
	const Elf64_Phdr load = { .p_type = PT_LOAD, .p_flags = PF_X,
	    .p_vaddr = 4096, .p_filesz = size, .p_memsz = size };
	int fd = mkstemp(name);
	struct forged forged;
	size_t n;

	CHECK(fd != -1, "mkstemp");
	unlink(name);
	forge(&forged, NULL, 0);
	forged.fo_elf.e_entry = 4096;
	forged.fo_elf.e_phnum = (uint16_t)segments;
	CHECK(pwrite(fd, &forged.fo_elf, sizeof(forged.fo_elf), 0) > 0 &&
	    ftruncate(fd, (off_t)size) == 0, "write");
	for (n = 0; n < segments; n++)
		CHECK(pwrite(fd, &load, sizeof(load), (off_t)(sizeof(
		    forged.fo_elf) + n * sizeof(load))) > 0, "write");
	return (fd);
}

static void
check_memory(void)
{
	int fd = overlaid(256, 4 << 20);
	struct rusage before, after;
	struct prof_outermost over;
	struct prof_elf elf;
	size_t count;
	long grown;

	CHECK(getrusage(RUSAGE_SELF, &before) == 0, "getrusage");
	CHECK(prof_elf_open(&elf, fd) == 0, "prof_elf_open");
	count = prof_outermost_find(&elf, false, &over, 1);
	CHECK(count == 1 && over.ou_from == 4096, "%zu found", count);
	prof_elf_close(&elf);
	close(fd);
	CHECK(getrusage(RUSAGE_SELF, &after) == 0, "getrusage");
	grown = (after.ru_maxrss - before.ru_maxrss) / 1024;
	CHECK(grown < 64, "%ld MiB for 4 MiB of code", grown);
	OK("4 MiB of code are read once, not 256 times");
}

int
main(void)
{
	check_within();
	check_edge(0);
	check_edge(1);
	check_edge(2);
	check_goexit(FORGED_PC + 48, DTP_UW_STOP);
	check_goexit(FORGED_PC + FORGED_LENGTH + 48, DTP_UW_END);
	check_memory();
	return (0);
}
