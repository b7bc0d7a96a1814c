/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a table that a parser sends is published only when each of its
 * numbers leads to where it should: any one of them falsified at random is
 * either refused, or no search in the table leaves its arrays.
 *
 * Easy to get wrong: the parser read a hostile file and may send anything;
 * lengths that are looked at by themselves, not against each other, let a
 * search in the recorder, or in the kernel, go astray.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "broker/tables.h"
#include "cli-check.h"

#define ROUNDS		2000
#define SEARCHES	64

static uint64_t seed = 88172645463325252ULL;

static uint64_t
chance(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed);
}

static uint32_t
falsify(uint32_t value)
{
	switch (chance() % 4) {
	case 0:
		return (value ^ 1U << chance() % 32);
	case 1:
		return ((uint32_t)chance());
	case 2:
		return (value + 1);
	}
	return (value - 1);
}

/* One word of one array, or one of the sizes, which are not memory's. */
static void
mutate(struct prof_unwind_table *table)
{
	uint8_t *entry;

	switch (chance() % 6) {
	case 0:
		table->ut_span = chance() % 2 ? falsify(
		    (uint32_t)table->ut_span) : chance();
		break;
	case 1:
		table->ut_base = chance();
		break;
	case 2:
		entry = (uint8_t *)&table->ut_entries[chance() %
		    (table->ut_nentries + 1)];
		entry[chance() % sizeof(*table->ut_entries)] =
		    (uint8_t)chance();
		break;
	case 3:
	case 4:
		table->ut_index[chance() % table->ut_nindex] = falsify(
		    table->ut_index[chance() % table->ut_nindex]);
		break;
	default:
		table->ut_rows[chance() % table->ut_nrows] = falsify(
		    table->ut_rows[chance() % table->ut_nrows]);
	}
}

/* Every rule found is one of the table's own, or the kernel's. */
static void
search(const struct prof_unwind_table *table)
{
	uint16_t rule;
	int n;

	for (n = 0; n < SEARCHES; n++) {
		rule = prof_unwind_table_find(table, table->ut_base +
		    chance() % table->ut_span);
		CHECK(rule < DTP_UW_RULES || rule - DTP_UW_RULES <
		    (int)table->ut_nentries, "rule %x", rule);
	}
}

int
main(void)
{
	struct prof_unwind_table *table, good, copy;
	int fd = open("/proc/self/exe", O_RDONLY), refused = 0, n;
	uint32_t *index, *rows;
	struct dtp_uw_entry *entries;
	struct prof_elf elf;

	CHECK(fd != -1 && prof_elf_open(&elf, fd) == 0, "no ELF file");
	table = prof_unwind_table_new(&elf);
	CHECK(table != NULL && prof_table_holds(table), "our own table");
	good = copy = *table;
	index = calloc(good.ut_nindex, sizeof(*index));
	rows = calloc(good.ut_nrows, sizeof(*rows));
	entries = calloc(good.ut_nentries + 1, sizeof(*entries));
	CHECK(index != NULL && rows != NULL && entries != NULL, "no memory");
	copy.ut_index = index;
	copy.ut_rows = rows;
	copy.ut_entries = entries;
	for (n = 0; n < ROUNDS; n++) {
		memcpy(index, good.ut_index, good.ut_nindex *
		    sizeof(*index));
		memcpy(rows, good.ut_rows, good.ut_nrows * sizeof(*rows));
		memcpy(entries, good.ut_entries, good.ut_nentries *
		    sizeof(*entries));
		copy.ut_span = good.ut_span;
		copy.ut_base = good.ut_base;
		mutate(&copy);
		if (prof_table_holds(&copy))
			search(&copy);
		else
			refused++;
	}
	CHECK(refused > n / 4, "of %d only %d refused", n, refused);
	OK("of %d falsified tables %d refused, the others held", n, refused);
	free(index);
	free(rows);
	free(entries);
	prof_unwind_table_free(table);
	prof_elf_close(&elf);
	close(fd);
	return (0);
}
