/*
 * ASSERTION: a perf map that is a flood of lines takes at most 128 MB, and is
 * refused as too much, whole; one of a large program is read, to the last
 * line.
 *
 * Easy to get wrong: a line of ten bytes becomes a function of a hundred, four
 * maps are read at once, and of half a map the wrong line may win.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/mman.h>
#include <sys/resource.h>

#include <errno.h>
#include <unistd.h>

#include "cli-check.h"
#include "elf/symtab.h"

#define LARGE	200000u		/* lines */
#define FLOOD	6000000u

int	main(void);

static int
map_of(unsigned lines, const char *name)
{
	int fd = memfd_create("map", MFD_CLOEXEC);
	FILE *file = fdopen(dup(fd), "w");

	CHECK(fd != -1 && file != NULL, "memfd");
	for (unsigned n = 0; n < lines; n++)
		fprintf(file, "%x 10 %s%x\n", 0x10000 + 16 * n, name, n);
	CHECK(fclose(file) == 0 && lseek(fd, 0, SEEK_SET) == 0, "write");
	return (fd);
}

int
main(void)
{
	struct prof_symtab *table;
	struct prof_symbol symbol;
	struct rusage before, after;
	int large = map_of(LARGE, "Lcom/example/server/Handler;::handle");
	int flood = map_of(FLOOD, "a");
	uint64_t left = PROF_MAP_MEMORY;
	long kib;

	table = prof_symtab_of_perf_map(large, &left);
	CHECK(table != NULL && prof_symtab_count(table) == LARGE &&
	    prof_symtab_find(table, 0x10000 + 16 * (LARGE - 1), &symbol),
	    "a map of %u lines is not read", LARGE);
	prof_symtab_free(table);
	left = PROF_MAP_MEMORY;
	getrusage(RUSAGE_SELF, &before);
	table = prof_symtab_of_perf_map(flood, &left);
	getrusage(RUSAGE_SELF, &after);
	CHECK(table == NULL && errno == EFBIG, "a flood is read");
	kib = after.ru_maxrss - before.ru_maxrss;
	CHECK(kib < 128 << 10, "a flood takes %ld kB", kib);
	printf("%u lines read; %u refused within %ld kB\n", LARGE, FLOOD,
	    kib);
	close(large);
	close(flood);
	return (0);
}
