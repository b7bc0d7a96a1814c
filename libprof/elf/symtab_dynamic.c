/* SPDX-License-Identifier: ISC */
/*
 * Where a file without section headers has its dynamic symbols: by the
 * segment that the loader reads.
 *
 * Called by symtab_elf.c.  Nothing there says how many symbols there are; a
 * hash table does, the old one by the length of its chains, the new one by
 * where its last chain ends.  Addresses are the file's and nothing is trusted:
 * what does not lie in the file is no table, and what is cut has fewer names.
 */
#include <string.h>

#include "symtab_impl.h"

#define MAX_DYNAMIC	65536u		/* of a dynamic segment, a chain */
#define MAX_TABLE	(64u << 20)	/* bytes of a table */

/* What the dynamic segment tells; 0: it does not. */
struct dynamic {
	uint64_t	dy_symbols;
	uint64_t	dy_names;
	uint64_t	dy_names_size;
	uint64_t	dy_hash;
	uint64_t	dy_gnu_hash;
};

/* So many bytes at an address, or as many of them as there are. */
static bool
load_at(struct prof_elf *elf, uint64_t address, uint64_t size,
    struct prof_elf_part *part)
{
	if (address == 0 || !prof_elf_at(elf, address, part))
		return (false);
	if (part->pp_size > size)
		part->pp_size = size;
	if (part->pp_size > MAX_TABLE)
		part->pp_size = MAX_TABLE;
	return (prof_elf_load(elf, part));
}

static bool
read_dynamic(struct prof_elf *elf, struct dynamic *dynamic)
{
	struct prof_elf_part part;
	Elf64_Phdr ph = { 0 };
	Elf64_Dyn entry;
	size_t n;

	for (n = 0; prof_elf_segment(elf, n, &ph); n++)
		if (ph.p_type == PT_DYNAMIC)
			break;
	if (ph.p_type != PT_DYNAMIC ||
	    !load_at(elf, ph.p_vaddr, MAX_DYNAMIC, &part))
		return (false);
	for (n = 0; n < part.pp_size / sizeof(entry); n++) {
		memcpy(&entry, part.pp_bytes + n * sizeof(entry),
		    sizeof(entry));
		switch (entry.d_tag) {
		case DT_NULL:
			return (true);
		case DT_SYMTAB:
			dynamic->dy_symbols = entry.d_un.d_ptr;
			break;
		case DT_STRTAB:
			dynamic->dy_names = entry.d_un.d_ptr;
			break;
		case DT_STRSZ:
			dynamic->dy_names_size = entry.d_un.d_val;
			break;
		case DT_HASH:
			dynamic->dy_hash = entry.d_un.d_ptr;
			break;
		case DT_GNU_HASH:
			dynamic->dy_gnu_hash = entry.d_un.d_ptr;
			break;
		default:
			break;
		}
	}
	return (true);
}

static uint32_t
word_read(const struct prof_elf_part *part, uint64_t n)
{
	uint32_t value;

	memcpy(&value, part->pp_bytes + n * sizeof(value), sizeof(value));
	return (value);
}

/* Of buckets | symbol offset | words of the filter | shift, then all these. */
static uint64_t
count_gnu(struct prof_elf *elf, uint64_t address)
{
	struct prof_elf_part head, buckets, chains;
	uint64_t n, last = 0;
	uint32_t first;

	if (!load_at(elf, address, 16, &head) || head.pp_size < 16)
		return (0);
	first = word_read(&head, 1);
	address += 16 + 8 * (uint64_t)word_read(&head, 2);
	if (!load_at(elf, address, 4 * (uint64_t)word_read(&head, 0), &buckets))
		return (0);
	for (n = 0; n < buckets.pp_size / 4; n++)
		if (word_read(&buckets, n) > last)
			last = word_read(&buckets, n);
	if (last < first)
		return (first);
	/* The bit that ends a chain; what is cut counts as far as it is. */
	address += 4 * (uint64_t)word_read(&head, 0) + 4 * (last - first);
	if (!load_at(elf, address, MAX_DYNAMIC, &chains))
		return (last);
	for (n = 0; n < chains.pp_size / 4; n++)
		if (word_read(&chains, n) & 1)
			return (last + n + 1);
	return (last);
}

static uint64_t
count_symbols(struct prof_elf *elf, const struct dynamic *dynamic)
{
	struct prof_elf_part head;

	if (load_at(elf, dynamic->dy_hash, 8, &head) && head.pp_size == 8)
		return (word_read(&head, 1));
	return (dynamic->dy_gnu_hash == 0 ? 0 :
	    count_gnu(elf, dynamic->dy_gnu_hash));
}

bool
prof_symtab_dynamic(struct prof_elf *elf, struct prof_elf_part *symbols,
    struct prof_elf_part *names)
{
	struct dynamic dynamic = { 0 };

	return (read_dynamic(elf, &dynamic) && load_at(elf,
	    dynamic.dy_symbols, count_symbols(elf, &dynamic) *
	    sizeof(Elf64_Sym), symbols) && load_at(elf, dynamic.dy_names,
	    dynamic.dy_names_size, names));
}
