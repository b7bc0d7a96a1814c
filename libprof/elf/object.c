/* SPDX-License-Identifier: ISC */
/*
 * Finds one object or function by its name in the symbol tables of a file.
 * Exported names are looked up in the loader's hash table (.gnu.hash), which
 * takes two reads if the name is missing.  Called for each mapped file, to find
 * interpreters.
 */
#include <string.h>

#include "view.h"

#define MAX_BYTES	(64u << 20)	/* of a table that is looked through */
#define MAX_CHAIN	4096u		/* symbols of one bucket */
#define MAX_NAME	64u

/* How .gnu.hash begins; then a Bloom filter, buckets, and chains. */
struct hash_head {
	uint32_t	hh_nbuckets;
	uint32_t	hh_first;	/* symbol that is in it */
	uint32_t	hh_nbloom;	/* words of the filter */
	uint32_t	hh_shift;
};

static bool
is_named(const struct prof_elf_part *names, uint32_t at, const char *name,
    size_t length)
{
	return (at < names->pp_size && names->pp_size - at > length &&
	    memcmp(names->pp_bytes + at, name, length + 1) == 0);
}

static bool
symbol_find(const struct prof_elf_part *symbols,
    const struct prof_elf_part *names, unsigned type, const char *name,
    Elf64_Sym *symbol)
{
	const size_t length = strlen(name);
	size_t n;

	for (n = 0; n < symbols->pp_size / sizeof(*symbol); n++) {
		memcpy(symbol, symbols->pp_bytes + n * sizeof(*symbol),
		    sizeof(*symbol));
		if (ELF64_ST_TYPE(symbol->st_info) == type &&
		    symbol->st_shndx != SHN_UNDEF &&
		    is_named(names, symbol->st_name, name, length))
			return (true);
	}
	return (false);
}

static bool
tables_have(struct prof_elf *elf, unsigned type, const char *name,
    Elf64_Sym *symbol)
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
		    symbol_find(&symbols, &names, type, name, symbol))
			return (true);
	return (false);
}

bool
prof_elf_object(struct prof_elf *elf, const char *name, uint64_t *address)
{
	Elf64_Sym symbol;

	if (!tables_have(elf, STT_OBJECT, name, &symbol))
		return (false);
	*address = symbol.st_value;
	return (true);
}

bool
prof_elf_function(struct prof_elf *elf, const char *name, uint64_t *address,
    uint64_t *bytes)
{
	Elf64_Sym symbol;

	if (!tables_have(elf, STT_FUNC, name, &symbol))
		return (false);
	*address = symbol.st_value;
	*bytes = symbol.st_size;
	return (true);
}

/* ---------------------------------------------------------- exported */

static uint32_t
hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (uint8_t)*name;
	return (hash);
}

/* May it be there?  Then its bucket is at *at. */
static bool
hash_may_have(const struct prof_elf *elf, const struct prof_elf_part *part,
    uint32_t hash, struct hash_head *head, uint64_t *at)
{
	const uint64_t bloom = part->pp_offset + sizeof(*head);
	uint64_t word;

	if (part->pp_size < sizeof(*head) ||
	    !prof_elf_read(elf, part->pp_offset, head, sizeof(*head)) ||
	    head->hh_nbloom == 0 || head->hh_nbuckets == 0 ||
	    !prof_elf_read(elf, bloom + hash / 64 % head->hh_nbloom *
	    sizeof(word), &word, sizeof(word)))
		return (false);
	*at = bloom + head->hh_nbloom * sizeof(word);
	return ((word >> hash % 64 & word >> (hash >> (head->hh_shift & 31)) %
	    64 & 1) != 0);
}

static bool
symbol_is(const struct prof_elf *elf, const struct prof_elf_part *symbols,
    uint32_t n, const char *name)
{
	struct prof_elf_part names;
	char text[MAX_NAME];
	const size_t size = strlen(name) + 1;
	Elf64_Sym symbol;

	return (size <= sizeof(text) &&
	    n < symbols->pp_size / sizeof(symbol) && prof_elf_read(elf,
	    symbols->pp_offset + n * sizeof(symbol), &symbol,
	    sizeof(symbol)) && symbol.st_shndx != SHN_UNDEF &&
	    prof_elf_section(elf, symbols->pp_link, &names) &&
	    symbol.st_name < names.pp_size && prof_elf_read(elf,
	    names.pp_offset + symbol.st_name, text, size) &&
	    memcmp(text, name, size) == 0);
}

static bool
hash_has(const struct prof_elf *elf, const struct prof_elf_part *part,
    const char *name)
{
	const uint32_t hash = hash_of(name);
	struct prof_elf_part symbols;
	struct hash_head head;
	uint64_t at, chains;
	uint32_t n, last, found = 0;

	if (!hash_may_have(elf, part, hash, &head, &at) ||
	    !prof_elf_section(elf, part->pp_link, &symbols) ||
	    !prof_elf_read(elf, at + hash % head.hh_nbuckets * sizeof(n), &n,
	    sizeof(n)) || n < head.hh_first)
		return (false);
	chains = at + head.hh_nbuckets * sizeof(n);
	for (last = n + MAX_CHAIN; n < last && (found & 1) == 0; n++) {
		if (!prof_elf_read(elf, chains + (uint64_t)(n -
		    head.hh_first) * sizeof(found), &found, sizeof(found)))
			return (false);
		if ((found | 1) == (hash | 1) &&
		    symbol_is(elf, &symbols, n, name))
			return (true);
	}
	return (false);
}

/* The first such table alone, as the loader has one. */
bool
prof_elf_exports(const struct prof_elf *elf, const char *name)
{
	struct prof_elf_part part;
	size_t n;

	for (n = 0; prof_elf_section(elf, n, &part); n++)
		if (part.pp_type == SHT_GNU_HASH)
			return (hash_has(elf, &part, name));
	return (false);
}
