/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Maps and dumps of JITs and lists of the kernel's symbols are read
 * within bounds, whatever is in them; where two functions of a map overlap, the
 * one that is found comes in a later line.
 *
 * Input: one byte that says which (0 map, 1 kallsyms, 2 dump), and the file.
 */
#include <sys/mman.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/symtab.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
look_at(const struct prof_symtab *table)
{
	struct prof_symbol symbol, found;
	size_t n;

	for (n = 0; n < prof_symtab_count(table); n++) {
		prof_symtab_at(table, n, &symbol);
		if (symbol.sy_size == 0 ||
		    symbol.sy_size > UINT64_MAX - symbol.sy_address)
			abort();
		if (!prof_symtab_find(table, symbol.sy_address, &found) ||
		    symbol.sy_address - found.sy_address >= found.sy_size)
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	struct prof_symtab *table;
	bool hidden = false;
	int fd;

	if (length < 1)
		return (0);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd == -1 || write(fd, input + 1, length - 1) !=
	    (ssize_t)length - 1 || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	if (input[0] % 4 >= 2)
		table = prof_symtab_of_jit_dump(fd,
		    &(uint64_t){ PROF_MAP_MEMORY });
	else
		table = input[0] % 4 == 0 ? prof_symtab_of_perf_map(fd,
		    &(uint64_t){ PROF_MAP_MEMORY }) :
		    prof_symtab_of_kallsyms(fd, &hidden);
	if (table != NULL && (hidden || prof_symtab_count(table) == 0))
		abort();
	if (table != NULL)
		look_at(table);
	prof_symtab_free(table);
	close(fd);
	return (0);
}
