/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: code of the kernel that was loaded while recording has the name
 * that was announced; where two lay one after the other neither gives its
 * name, also when the first one was there before and only went.  What has no
 * name is in the module that begins there.
 *
 * Easy to get wrong: of what goes only where it began is said; a module claims
 * the text of the next one, too.
 */
#include <string.h>

#include "base/record.h"
#include "cli-check.h"
#include "process/kernel_map.h"
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

static void
has_text(uint64_t address, uint64_t length, const char *name)
{
	const struct prof_record record = { .pr_type = PROF_R_MMAP,
	    .pr_pid = UINT32_MAX, .pr_addr = address, .pr_len = length,
	    .pr_path = name };

	CHECK(prof_kernel_map_take(map, &record) == 0, "no memory");
}

static void
is_in(uint64_t pc, const char *want)
{
	const char *name = prof_kernel_map_module(map, pc);

	CHECK(name == want || (name != NULL && want != NULL &&
	    strcmp(name, want) == 0), "%#lx is in %s, not %s",
	    (unsigned long)pc, name == NULL ? "none" : name,
	    want == NULL ? "none" : want);
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
	has_text(0x10000, 0x8000, "[one]");
	has_text(0x11000, 0x8000, "[two]");
	has_text(0x30000, 0x8000, "[before]");
	has_text(0x30000, 0x8000, "[after]");
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
	is_in(0x10fff, "[one]");
	is_in(0x11000, "[two]");
	is_in(0x18fff, "[two]");
	is_in(0x19000, NULL);
	is_in(0x30000, NULL);
	OK("which module it is");
	prof_kernel_map_free(map);
	return (0);
}
