/*
 * What names cost: the functions of each file loaded, one looked up at random
 * addresses, and lines with inlined functions, each address once.
 *
 *	symbols FILE ...
 *
 * Lines are of files that have DWARF, in themselves or installed beside them.
 * Figures are CPU time: minimum, median and maximum of some rounds.
 */
/* SPDX-License-Identifier: ISC */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elf/lines.h"
#include "elf/symtab.h"

#define ROUNDS	5
#define FINDS	1000000
#define LINES	3000

struct figures {
	double	fi_value[ROUNDS];
};

static uint64_t random_state = 1;

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

static uint64_t
below(uint64_t n)
{
	random_state = random_state * 6364136223846793005ULL +
	    1442695040888963407ULL;
	return ((random_state >> 33) % n);
}

static int
compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a < b ? -1 : a > b);
}

static void
show(const char *what, struct figures *figures, const char *unit)
{
	double *value = figures->fi_value;

	qsort(value, ROUNDS, sizeof(*value), compare);
	printf("  %-44s %.3g / %.3g / %.3g %s\n", what, value[0],
	    value[ROUNDS / 2], value[ROUNDS - 1], unit);
}

/* Somewhere in a function. */
static uint64_t
some_address(const struct prof_symtab *table)
{
	struct prof_symbol symbol;

	prof_symtab_at(table, below(prof_symtab_count(table)), &symbol);
	return (symbol.sy_address + below(symbol.sy_size));
}

static double
find_all(const struct prof_symtab *table)
{
	uint64_t *address = calloc(FINDS, sizeof(*address));
	struct prof_symbol symbol;
	unsigned n, found = 0;
	double begun;

	if (address == NULL)
		err(1, "memory");
	for (n = 0; n < FINDS; n++)
		address[n] = some_address(table);
	begun = now();
	for (n = 0; n < FINDS; n++)
		found += prof_symtab_find(table, address[n], &symbol);
	begun = now() - begun;
	if (found != FINDS)
		errx(1, "%u of %d found", found, FINDS);
	free(address);
	return (begun * 1e9 / FINDS);
}

static double
lines_all(const struct prof_symtab *table, int fd, double *opened)
{
	double begun = now();
	struct prof_lines *lines = prof_lines_open(fd, NULL);
	struct prof_line out[16];
	uint64_t address;
	double spent = 0;
	unsigned n;

	if (lines == NULL)
		return (-1);
	*opened = (now() - begun) * 1e3;
	for (n = 0; n < LINES; n++) {
		address = some_address(table);
		begun = now();
		prof_lines_find(lines, address, out, 16);
		spent += now() - begun;
	}
	prof_lines_close(lines);
	return (spent * 1e6 / LINES);
}

static void
measure(const char *path)
{
	struct figures load, find, lines, opened;
	int fd = open(path, O_RDONLY | O_CLOEXEC), round;
	struct prof_symtab *table = NULL;
	double begun;

	if (fd == -1)
		err(1, "%s", path);
	for (round = 0; round < ROUNDS; round++) {
		prof_symtab_free(table);
		begun = now();
		table = prof_symtab_of_elf(fd, NULL);
		load.fi_value[round] = (now() - begun) * 1e3;
		if (table == NULL)
			errx(1, "%s: no symbols", path);
		find.fi_value[round] = find_all(table);
		lines.fi_value[round] = lines_all(table, fd,
		    &opened.fi_value[round]);
	}
	printf(" %s, %zu functions:\n", path, prof_symtab_count(table));
	show("functions loaded", &load, "ms");
	show("a function looked up", &find, "ns");
	if (lines.fi_value[0] >= 0) {
		show("DWARF opened", &opened, "ms");
		show("a line and what is inlined, each for once", &lines,
		    "us");
	}
	prof_symtab_free(table);
	close(fd);
}

int
main(int argc, char **argv)
{
	int n;

	for (n = 1; n < argc; n++)
		measure(argv[n]);
	return (0);
}
