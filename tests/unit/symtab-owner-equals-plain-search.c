/*
 * ASSERTION: Whatever symbols overlap in a table, the one found at an address
 * is the one that a search through all of them, by the rules, finds: the inner
 * function before the outer one, any function before one of unknown size, and
 * in the map of a JIT the later line; and of aliases the least internal name.
 *
 * Easy to get wrong: what owns the bytes behind an inner function; where a
 * function without a size ends; the last byte.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/mman.h>

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli-check.h"
#include "elf/symtab.h"

#define MANY	60
#define SPACE	400

struct plain {
	uint64_t	pn_address;
	uint64_t	pn_size;
	char		pn_name[16];
};

static struct plain	plain[MANY];
static unsigned		nplain;
static uint64_t		random_state;

static unsigned
below(unsigned n)
{
	random_state = random_state * 6364136223846793005ULL + 1;
	return ((unsigned)(random_state >> 33) % n);
}

/* Where the open function n ends: at the next one. */
static uint64_t
end_of(unsigned n)
{
	uint64_t end = UINT64_MAX;
	unsigned i;

	if (plain[n].pn_size != 0)
		return (plain[n].pn_address + plain[n].pn_size);
	for (i = 0; i < nplain; i++)
		if (plain[i].pn_address > plain[n].pn_address &&
		    plain[i].pn_address < end)
			end = plain[i].pn_address;
	return (end);
}

/* Better at an address that both cover? */
static bool
is_better(unsigned a, unsigned b)
{
	bool a_open = plain[a].pn_size == 0, b_open = plain[b].pn_size == 0;

	if (a_open != b_open)
		return (b_open);
	return (plain[a].pn_address > plain[b].pn_address);
}

static int
search(uint64_t address, bool later)
{
	int best = -1;
	unsigned i;

	for (i = 0; i < nplain; i++) {
		if (address < plain[i].pn_address || address >= end_of(i))
			continue;
		if (best == -1 || later || is_better(i, (unsigned)best))
			best = (int)i;
	}
	return (best);
}

static bool
taken(uint64_t address)
{
	unsigned i;

	for (i = 0; i < nplain; i++)
		if (plain[i].pn_address == address)
			return (true);
	return (false);
}

static void
make_plain(bool map)
{
	unsigned wanted = 1 + below(MANY - 1);
	uint64_t address;

	for (nplain = 0; wanted > 0; wanted--) {
		address = 1000 + below(SPACE);
		if (!map && taken(address))
			continue;
		plain[nplain].pn_address = address;
		plain[nplain].pn_size = below(4) == 0 ? map : 1 +
		    below(below(2) ? 20 : SPACE);
		snprintf(plain[nplain].pn_name, 16, "f%u", nplain);
		nplain++;
	}
}

static void
compare(const struct prof_symtab *table, bool later)
{
	struct prof_symbol symbol;
	uint64_t address;
	int want;

	for (address = 990; address < 1010 + 2 * SPACE; address++) {
		want = search(address, later);
		if (!prof_symtab_find(table, address, &symbol)) {
			CHECK(want == -1, "none at %" PRIu64 ", not %s",
			    address, plain[want].pn_name);
			continue;
		}
		CHECK(want != -1 && strcmp(symbol.sy_name,
		    plain[want].pn_name) == 0, "%s at %" PRIu64 ", not %s",
		    symbol.sy_name, address,
		    want == -1 ? "none" : plain[want].pn_name);
		CHECK(symbol.sy_address == plain[want].pn_address &&
		    symbol.sy_address + symbol.sy_size ==
		    end_of((unsigned)want), "where %s ends", symbol.sy_name);
	}
}

static void
tables(void)
{
	struct prof_symtab *table = prof_symtab_new();
	unsigned i;

	make_plain(false);
	for (i = 0; i < nplain; i++)
		CHECK(prof_symtab_add(table, plain[i].pn_address,
		    plain[i].pn_size, plain[i].pn_name), "add");
	CHECK(prof_symtab_sort(table), "sort");
	CHECK(prof_symtab_count(table) == nplain, "count");
	compare(table, false);
	prof_symtab_free(table);
}

static void
maps(void)
{
	int fd = memfd_create("map", 0);
	struct prof_symtab *table;
	unsigned i;

	make_plain(true);
	for (i = 0; i < nplain; i++)
		dprintf(fd, "%" PRIx64 " %" PRIx64 " %s\n",
		    plain[i].pn_address, plain[i].pn_size, plain[i].pn_name);
	CHECK(lseek(fd, 0, SEEK_SET) == 0, "lseek");
	table = prof_symtab_of_perf_map(fd,
	    &(uint64_t){ PROF_MAP_MEMORY });
	CHECK(table != NULL && prof_symtab_count(table) == nplain, "map");
	compare(table, true);
	prof_symtab_free(table);
	close(fd);
}

/* The first is to be shown, in whichever order they come. */
static void
aliases(const char *const *names, unsigned n)
{
	struct prof_symtab *table;
	struct prof_symbol symbol;
	unsigned first, i;

	for (first = 0; first < n; first++) {
		table = prof_symtab_new();
		for (i = 0; i < n; i++)
			CHECK(prof_symtab_add(table, 16, i == first ? 8 : 4,
			    names[(first + i) % n]), "add");
		CHECK(prof_symtab_sort(table) &&
		    prof_symtab_count(table) == 1 &&
		    prof_symtab_find(table, 23, &symbol) &&
		    !prof_symtab_find(table, 24, &symbol), "aliases");
		CHECK(strcmp(symbol.sy_name, names[0]) == 0, "%s, not %s",
		    symbol.sy_name, names[0]);
		prof_symtab_free(table);
	}
}

int
main(void)
{
	static const char *const plain_names[] = { "malloc", "malloc_b",
	    "malloc_c", "__malloc", "__libc_malloc" };
	static const char *const mangled[] = { "_ZN1AC1Ev", "_ZN1AC2Ev" };
	unsigned n;

	random_state = (uint64_t)time(NULL);
	printf("seed %" PRIu64 "\n", random_state);
	for (n = 0; n < 400; n++) {
		tables();
		maps();
	}
	aliases(plain_names, 5);
	aliases(mangled, 2);
	printf("ok: %u tables and maps, aliases\n", 2 * n);
	return (0);
}
