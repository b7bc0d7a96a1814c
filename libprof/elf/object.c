/* SPDX-License-Identifier: ISC */
/*
 * The address of one object by its name, out of a file's tables of symbols.
 * Called for files that contain an interpreter.
 */
#include <string.h>

#include "view.h"

#define MAX_BYTES	(64u << 20)	/* of a table that is looked through */

static bool
is_named(const struct prof_elf_part *names, uint32_t at, const char *name,
    size_t length)
{
	return (at < names->pp_size && names->pp_size - at > length &&
	    memcmp(names->pp_bytes + at, name, length + 1) == 0);
}

static bool
object_find(const struct prof_elf_part *symbols,
    const struct prof_elf_part *names, const char *name, uint64_t *address)
{
	const size_t length = strlen(name);
	Elf64_Sym symbol;
	size_t n;

	for (n = 0; n < symbols->pp_size / sizeof(symbol); n++) {
		memcpy(&symbol, symbols->pp_bytes + n * sizeof(symbol),
		    sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
		    symbol.st_shndx != SHN_UNDEF &&
		    is_named(names, symbol.st_name, name, length)) {
			*address = symbol.st_value;
			return (true);
		}
	}
	return (false);
}

bool
prof_elf_object(struct prof_elf *elf, const char *name, uint64_t *address)
{
	struct prof_elf_part symbols, names;
	size_t n;

	for (n = 0; prof_elf_section(elf, n, &symbols); n++)
		if ((symbols.pp_type == SHT_DYNSYM ||
		    symbols.pp_type == SHT_SYMTAB) &&
		    symbols.pp_size <= MAX_BYTES &&
		    prof_elf_section(elf, symbols.pp_link, &names) &&
		    names.pp_size <= MAX_BYTES &&
		    prof_elf_load(elf, &symbols) &&
		    prof_elf_load(elf, &names) &&
		    object_find(&symbols, &names, name, address))
			return (true);
	return (false);
}
