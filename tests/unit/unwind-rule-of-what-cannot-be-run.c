/*
 * ASSERTION: From where a frame description cannot be run further up to the
 * end of its function, the unwind table leaves the frames to libunwind.
 *
 * Easy to get wrong: a rule is in force until the next one, so that what ends
 * without a row has the last good one, or that of the function before.
 */
/* SPDX-License-Identifier: ISC */
#include "cli-check.h"
#include "forged.h"

#define CALLED	(1 << DTP_UW_CFA_SHIFT)	/* as the CIE says: rsp + 8 */
#define PUSHED	(2 << DTP_UW_CFA_SHIFT)	/* rsp + 16 */

static void
check_rule(const struct prof_unwind_table *table, uint64_t at, uint16_t rule)
{
	uint16_t found = prof_unwind_table_find(table, FORGED_PC + at);

	CHECK(found == rule, "at %u %x, not %x", (unsigned)at, found, rule);
}

/* After a push the program goes on with these operations at byte 8. */
static void
check_tail(const char *what, const uint8_t *tail, size_t size, uint16_t rule)
{
	uint8_t program[64] = { 0x44, 0x0e, 16, 0x44 };
	struct prof_unwind_table *table;
	struct forged forged;

	memcpy(program + 4, tail, size);
	forge(&forged, program, size + 4);
	table = forged_table(&forged);
	CHECK(table != NULL, "no table");
	check_rule(table, 3, CALLED);
	check_rule(table, 7, PUSHED);
	check_rule(table, 8, rule);
	check_rule(table, FORGED_LENGTH - 1, rule);
	check_rule(table, FORGED_LENGTH, DTP_UW_END);
	CHECK(table->ut_bad == (rule == DTP_UW_USER), "%s: %u bad", what,
	    (unsigned)table->ut_bad);
	prof_unwind_table_free(table);
	OK("%s", what);
}

int
main(void)
{
	static const uint8_t known[] = { 0x0e, 8 };
	static const uint8_t unknown[] = { 0x2f, 0x0e, 8 };
	static const uint8_t cut[] = { 0x0e, 0x88 };
	static const uint8_t unbalanced[] = { 0x0b };
	static const uint8_t nested[] = { 10, 10, 10, 10, 10, 10, 10, 10, 10,
	    10, 10, 10, 10, 10, 10, 10, 10 };
	static const uint8_t first[] = { 0x2c };
	struct prof_unwind_table *table;
	struct forged forged;

	check_tail("what can be run", known, sizeof(known), CALLED);
	check_tail("an operation that nobody knows", unknown,
	    sizeof(unknown), DTP_UW_USER);
	check_tail("a program that was cut", cut, sizeof(cut), DTP_UW_USER);
	check_tail("restored more than remembered", unbalanced,
	    sizeof(unbalanced), DTP_UW_USER);
	check_tail("remembered too often", nested, sizeof(nested),
	    DTP_UW_USER);
	forge(&forged, first, sizeof(first));
	table = forged_table(&forged);
	CHECK(table != NULL, "no table");
	check_rule(table, 0, DTP_UW_USER);
	check_rule(table, FORGED_LENGTH - 1, DTP_UW_USER);
	prof_unwind_table_free(table);
	OK("none of it can be run");
	return (0);
}
