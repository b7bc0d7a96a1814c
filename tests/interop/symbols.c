/*
 * What libprof says of a module, for tests that compare it with other tools.
 *
 *	symbols list|find|lines FILE [DEBUG-DIRS]
 *	symbols kernel|map FILE
 *	symbols demangle|fold|where FILE
 *
 * find and lines read addresses in hexadecimal, demangle and fold names, where
 * offsets, one a line, and answer in the same order.
 */
/* SPDX-License-Identifier: ISC */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/demangle.h"
#include "elf/lines.h"
#include "elf/symtab.h"

static void
list(const struct prof_symtab *table)
{
	struct prof_symbol symbol;
	size_t n;

	for (n = 0; n < prof_symtab_count(table); n++) {
		prof_symtab_at(table, n, &symbol);
		printf("%" PRIx64 " %" PRIx64 " %s%s%s\n", symbol.sy_address,
		    symbol.sy_size, symbol.sy_name,
		    symbol.sy_module == NULL ? "" : " ",
		    symbol.sy_module == NULL ? "" : symbol.sy_module);
	}
}

static void
find(const struct prof_symtab *table, const char *line)
{
	uint64_t address = strtoull(line, NULL, 16);
	struct prof_symbol symbol;

	if (prof_symtab_find(table, address, &symbol))
		printf("%" PRIx64 " %s\n", symbol.sy_address, symbol.sy_name);
	else
		printf("-\n");
}

/* As addr2line -a -f -i prints it. */
static void
show_lines(struct prof_lines *lines, const char *line)
{
	uint64_t address = strtoull(line, NULL, 16);
	struct prof_line out[64];
	size_t n, count = prof_lines_find(lines, address, out, 64);

	printf("0x%" PRIx64 "\n", address);
	for (n = 0; n < count; n++)
		printf("%s\n%s:%u\n", out[n].ln_function == NULL ? "??" :
		    out[n].ln_function, out[n].ln_file == NULL ? "??" :
		    out[n].ln_file, out[n].ln_number);
	if (count == 0)
		printf("??\n??:0\n");
}

static void
show_name(const char *how, const char *line)
{
	char *made = strcmp(how, "fold") == 0 ? prof_name_fold(line) :
	    prof_demangle(line);

	printf("%s\n", made == NULL ? line : made);
	free(made);
}

static void
show_where(int fd, const char *line)
{
	uint64_t address;

	if (prof_symtab_file_to_address(fd, strtoull(line, NULL, 16),
	    &address))
		printf("%" PRIx64 "\n", address);
	else
		printf("-\n");
}

static struct prof_symtab *
table_of(const char *how, int fd, const char *dirs)
{
	struct prof_symtab *table = NULL;
	bool hidden = false;

	if (strcmp(how, "kernel") == 0)
		table = prof_symtab_of_kallsyms(fd, &hidden);
	else if (strcmp(how, "map") == 0)
		table = prof_symtab_of_perf_map(fd,
	    &(uint64_t){ PROF_MAP_MEMORY });
	else if (strcmp(how, "list") == 0 || strcmp(how, "find") == 0)
		table = prof_symtab_of_elf(fd, dirs);
	else
		return (NULL);
	if (table == NULL && errno != 0)
		err(1, "%s", how);
	if (table == NULL)
		errx(3, "%s", hidden ? "hidden" : "no symbols");
	return (table);
}

int
main(int argc, char **argv)
{
	const char *how = argc < 3 ? "" : argv[1];
	const char *dirs = argc > 3 ? argv[3] : NULL;
	int fd = argc < 3 ? -1 : open(argv[2], O_RDONLY);
	struct prof_symtab *table;
	struct prof_lines *lines = NULL;
	static char line[1 << 16];

	if (fd == -1)
		errx(2, "symbols HOW FILE [DEBUG-DIRS]");
	table = table_of(how, fd, dirs);
	if (strcmp(how, "lines") == 0 &&
	    (lines = prof_lines_open(fd, dirs)) == NULL)
		errx(3, "no lines");
	if (table != NULL && strcmp(how, "find") != 0)
		list(table);
	else while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (table != NULL)
			find(table, line);
		else if (lines != NULL)
			show_lines(lines, line);
		else if (strcmp(how, "where") == 0)
			show_where(fd, line);
		else
			show_name(how, line);
	}
	prof_symtab_free(table);
	prof_lines_close(lines);
	return (0);
}
