/*
 * ASSERTION: A file that was made to mislead costs the maker of its unwind
 * table neither a byte outside its memory nor more memory than an honest one.
 *
 * Easy to get wrong: code that is known by its bytes may lie at address 0, so
 * that what is a byte before it lies behind everything.
 */
/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "cli-check.h"
#include "forged.h"

/* Where contexts return to, at one of the first addresses of all. */
static void
check_edge(size_t at)
{
	static const uint8_t code[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
	    0x24, 0x48, 0x85, 0xff, 0x74 };
	static const uint8_t program[] = { 0x44, 0x0e, 16, 0x44, 0x0e, 24 };
	struct prof_unwind_table *table;
	struct forged forged;
	uint16_t rule;

	forge(&forged, program, sizeof(program));
	memcpy(forged.fo_text + at, code, sizeof(code));
	table = forged_table(&forged);
	CHECK(table != NULL, "no table");
	rule = prof_unwind_table_find(table, FORGED_PC + 8);
	CHECK(rule == 3 << DTP_UW_CFA_SHIFT, "rule %x", rule);
	rule = prof_unwind_table_find(table, at + 4);
	CHECK(rule == (at < 2 ? DTP_UW_END : DTP_UW_STOP), "rule %x", rule);
	CHECK(prof_unwind_table_find(table, FORGED_PC + FORGED_LENGTH) ==
	    DTP_UW_END, "a rule behind the end");
	prof_unwind_table_free(table);
	OK("code at address %zu", at);
}

int
main(void)
{
	check_edge(0);
	check_edge(1);
	check_edge(2);
	return (0);
}
