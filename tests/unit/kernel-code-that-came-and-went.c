/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: code of the kernel that was loaded while recording has the name
 * that was announced; where two lay one after the other neither gives its
 * name, also when the first one was there before and only went.
 *
 * Easy to get wrong: of what goes only where it began is said.
 */
#include <string.h>

#include "cli-check.h"
#include "model/kernel_map.h"
#include "prof.h"

static struct prof_kernel_map *map;

static void
announce(uint64_t address, uint64_t length, const char *name)
{
	const struct prof_record record = { .pr_type = PROF_R_KSYMBOL,
	    .pr_addr = address, .pr_len = length, .pr_path = name };

	CHECK(prof_kernel_map_take(map, &record) == 0, "no memory");
}

/* want: NULL, there is no name. */
static void
is_called(uint64_t pc, const char *want)
{
	struct prof_symbol symbol = { 0 };
	bool hidden, found = prof_kernel_map_find(map, pc, &symbol, &hidden);

	CHECK(found == (want != NULL), "%#lx", (unsigned long)pc);
	CHECK(want == NULL || strcmp(symbol.sy_name, want) == 0,
	    "%#lx is %s, not %s", (unsigned long)pc, symbol.sy_name, want);
}

int
main(void)
{
	map = prof_kernel_map_new();
	CHECK(map != NULL, "no memory");
	announce(0x1000, 0x100, "stays");
	announce(0x2000, 0x100, "went");
	announce(0x2000, 0, "went");
	announce(0x3000, 0x100, "first");
	announce(0x3080, 0x100, "second");
	announce(0x4000, 0, "was there before");
	announce(0x4000, 0x100, "came later");
	announce(0x5040, 0, "was there before");
	announce(0x5000, 0x100, "came later");
	CHECK(prof_kernel_map_done(map, false) == 0, "no memory");
	is_called(0x1080, "stays");
	is_called(0x1100, NULL);
	is_called(0x2080, "went");
	OK("what lay there alone");
	is_called(0x3010, NULL);
	is_called(0x3100, NULL);
	is_called(0x4010, NULL);
	is_called(0x5010, NULL);
	is_called(0x50ff, NULL);
	OK("what lay where another had been");
	prof_kernel_map_free(map);
	return (0);
}
