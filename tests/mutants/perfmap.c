/* SPDX-License-Identifier: ISC */
/* Maps of JITs: addresses, sizes and names.  One in a while is a flood. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "elf/symtab.h"
#include "mutants.h"

#define FLOOD_ONE_IN	4096
#define FLOOD		12000000u

/* Made once. */
static const struct prof_buf *
flood(void)
{
	static struct prof_buf text;
	char line[32];

	if (text.bf_len > 0)
		return (&text);
	for (unsigned n = 0; n < FLOOD; n++) {
		(void)snprintf(line, sizeof(line), "%x 1 a\n", n);
		prof_buf_bytes(&text, line, strlen(line));
	}
	return (&text);
}

static void
perfmap_mutate(struct chance *chance, const struct prof_buf *seed,
    struct prof_buf *out)
{
	prof_buf_bytes(out, seed->bf_data, seed->bf_len);
	text_mutate(chance, out, " \n");
	if (chance_is(chance, FLOOD_ONE_IN))
		prof_buf_bytes(out, flood()->bf_data, flood()->bf_len);
}

static bool
perfmap_run(struct chance *chance, int fd, size_t length)
{
	struct prof_symtab *table;
	struct prof_symbol symbol;
	bool passed;
	size_t n;

	(void)length;
	if (lseek(fd, 0, SEEK_SET) != 0)
		return (false);
	table = prof_symtab_of_perf_map(fd,
	    &(uint64_t){ PROF_MAP_MEMORY });
	passed = table != NULL;
	for (n = 0; passed && n < prof_symtab_count(table) && n < 1000; n++) {
		prof_symtab_at(table, n, &symbol);
		(void)prof_symtab_find(table, symbol.sy_address +
		    chance_below(chance, 32), &symbol);
	}
	prof_symtab_free(table);
	return (passed);
}

const struct format format_perfmap = { "perfmap", perfmap_mutate,
    perfmap_run };
