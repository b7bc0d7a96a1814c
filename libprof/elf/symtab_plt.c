/* SPDX-License-Identifier: ISC */
/*
 * Names for the PLT, the stubs through which a module calls functions of
 * others: they have no symbols.  Called by symtab_elf.c.
 *
 * A stub loads the address it jumps to from a slot, and a relocation says
 * whose address the dynamic linker shall put there.  So each stub is read,
 * its slot is looked up, and the name is that of the relocation's symbol with
 * "@plt", as objdump shows it.  This holds whichever linker laid it out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab_impl.h"

/* Beyond that much, relocations stay unread; stubs have no names then. */
#define MAX_RELOCATIONS	(64u << 20)
#define PLTS		3	/* sections of stubs that a file may have */

/* A slot and the symbol whose address is put there. */
struct slot {
	uint64_t	sl_address;
	uint64_t	sl_resolver;	/* or 0: its function says which */
	uint32_t	sl_symbol;
};

struct slots {
	struct prof_elf	*ss_elf;
	bool		 ss_is_all;	/* also those of no stub's section */
	struct slot	*ss_slot;
	size_t		 ss_n;
	size_t		 ss_read;	/* bytes of relocations */
	struct prof_elf_part ss_symbols;
	struct prof_elf_part ss_names;
};

static int
slots_compare(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return (a->sl_address < b->sl_address ? -1 :
	    a->sl_address > b->sl_address);
}

/* Does a relocation put the address of a function into a slot? */
static bool
slot_of(const struct prof_elf *elf, const Elf64_Rela *rela,
    struct slot *slot)
{
	bool arm = elf->el_machine == EM_AARCH64;
	uint32_t type = (uint32_t)ELF64_R_TYPE(rela->r_info);

	slot->sl_address = rela->r_offset;
	slot->sl_symbol = (uint32_t)ELF64_R_SYM(rela->r_info);
	slot->sl_resolver = 0;
	if (type == (arm ? R_AARCH64_IRELATIVE : R_X86_64_IRELATIVE)) {
		slot->sl_resolver = (uint64_t)rela->r_addend;
		return (slot->sl_resolver != 0);
	}
	return (type == (arm ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT) ||
	    type == (arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT));
}

static bool
add_relocations(struct slots *slots, struct prof_elf *elf,
    struct prof_elf_part *part)
{
	size_t n, count = part->pp_size / sizeof(Elf64_Rela);
	Elf64_Rela rela;
	void *grown;

	if (part->pp_size > MAX_RELOCATIONS - slots->ss_read ||
	    !prof_elf_load(elf, part))
		return (true);
	slots->ss_read += part->pp_size;
	grown = reallocarray(slots->ss_slot, slots->ss_n + count + 1,
	    sizeof(*slots->ss_slot));
	if (grown == NULL)
		return (false);
	slots->ss_slot = grown;
	for (n = 0; n < count; n++) {
		memcpy(&rela, part->pp_bytes + n * sizeof(rela), sizeof(rela));
		if (slot_of(elf, &rela, &slots->ss_slot[slots->ss_n]))
			slots->ss_n++;
	}
	return (true);
}

/*
 * Slots, and the table of their symbols; false: no memory.  First those whose
 * relocations are of one section, the stubs' slots: the others are of all data,
 * and may be a hundred times as many.
 */
static bool
read_slots(struct slots *slots, bool is_rest)
{
	struct prof_elf *elf = slots->ss_elf;
	struct prof_elf_part part, dynamic;
	size_t n;

	slots->ss_is_all = is_rest;
	for (n = 0; prof_elf_section(elf, n, &part); n++) {
		if (part.pp_type != SHT_RELA || part.pp_size == 0 ||
		    ((part.pp_flags & SHF_INFO_LINK) == 0) != is_rest ||
		    !prof_elf_section(elf, part.pp_link, &dynamic) ||
		    dynamic.pp_type != SHT_DYNSYM)
			continue;
		if (slots->ss_symbols.pp_size == 0)
			slots->ss_symbols = dynamic;
		if (dynamic.pp_offset == slots->ss_symbols.pp_offset &&
		    !add_relocations(slots, elf, &part))
			return (false);
	}
	if (slots->ss_n == 0 || !prof_elf_load(elf, &slots->ss_symbols) ||
	    !prof_elf_section(elf, slots->ss_symbols.pp_link,
	    &slots->ss_names) || !prof_elf_load(elf, &slots->ss_names))
		slots->ss_n = 0;
	else
		qsort(slots->ss_slot, slots->ss_n, sizeof(*slots->ss_slot),
		    slots_compare);
	return (true);
}

/* What the file calls the function of a slot; in text if it has no name. */
static bool
name_of(struct prof_symtab *table, const struct slots *slots,
    const struct slot *slot, char text[32], struct symtab_item *item)
{
	const struct prof_elf_part *names = &slots->ss_names;
	Elf64_Sym symbol;

	if (slot->sl_resolver != 0) {
		item->it_length = (size_t)snprintf(text, 32, "*ABS*+0x%" PRIx64,
		    slot->sl_resolver);
		item->it_name = text;
		return (true);
	}
	if (slot->sl_symbol >= slots->ss_symbols.pp_size / sizeof(symbol))
		return (false);
	memcpy(&symbol, slots->ss_symbols.pp_bytes +
	    (size_t)slot->sl_symbol * sizeof(symbol), sizeof(symbol));
	if (symbol.st_name >= names->pp_size)
		return (false);
	item->it_name = (const char *)names->pp_bytes + symbol.st_name;
	item->it_length = prof_symtab_length(table, item->it_name,
	    names->pp_size - symbol.st_name);
	return (true);
}

static const struct slot *
find_slot(const struct slots *slots, uint64_t address)
{
	const struct slot key = { .sl_address = address };

	return (slots->ss_n == 0 ? NULL : bsearch(&key, slots->ss_slot,
	    slots->ss_n, sizeof(key), slots_compare));
}

/* Put the stub that jumps to where a slot says, if that is a slot. */
static bool
put_stub(struct prof_symtab *table, struct slots *slots,
    uint64_t slot_address, uint64_t address, uint64_t end)
{
	const struct slot *slot = find_slot(slots, slot_address);
	struct symtab_item item = { .it_address = address, .it_end = end,
	    .it_suffix = "@plt", .it_kind = SYMTAB_STUB,
	    .it_binding = SYMTAB_LOCAL };
	char text[32];

	if (slot == NULL && !slots->ss_is_all) {
		if (!read_slots(slots, true))
			return (false);
		slot = find_slot(slots, slot_address);
	}
	if (slot == NULL || !name_of(table, slots, slot, text, &item))
		return (true);
	return (prof_symtab_put(table, &item));
}

/* [endbr64] [bnd] jmp *displacement(%rip): where the jump lies, or 0. */
static size_t
x86_jump(const uint8_t *stub, size_t size)
{
	static const uint8_t endbr[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (size >= 4 && memcmp(stub, endbr, 4) == 0)
		at = 4;
	if (at < size && stub[at] == 0xf2)
		at++;
	return (size - at >= 6 && stub[at] == 0xff && stub[at + 1] == 0x25 ?
	    at + 6 : 0);
}

static bool
x86_stubs(struct prof_symtab *table, struct slots *slots,
    const struct prof_elf_part *plt)
{
	size_t step = plt->pp_entsize == 8 ? 8 : 16, at, after;
	int32_t displacement;
	uint64_t address;

	for (at = 0; at + step <= plt->pp_size; at += step) {
		after = x86_jump(plt->pp_bytes + at, step);
		if (after == 0)
			continue;
		address = plt->pp_address + at;
		memcpy(&displacement, plt->pp_bytes + at + after - 4, 4);
		if (!put_stub(table, slots, address + after +
		    (uint64_t)(int64_t)displacement, address, address + step))
			return (false);
	}
	return (true);
}

/*
 *	[bti c]
 *	adrp	x16, page of the slot
 *	ldr	x17, [x16, #slot]
 *	add	x16, x16, #slot
 *	br	x17			[nop]
 */
static bool
arm_stubs(struct prof_symtab *table, struct slots *slots,
    const struct prof_elf_part *plt)
{
	uint32_t before = 0, adrp, ldr;
	uint64_t address, page, from;
	size_t at;

	for (at = 0; at + 16 <= plt->pp_size; at += 4, before = adrp) {
		memcpy(&adrp, plt->pp_bytes + at, 4);
		memcpy(&ldr, plt->pp_bytes + at + 4, 4);
		if ((adrp & 0x9f00001f) != 0x90000010 ||
		    (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		address = plt->pp_address + at;
		/* 21 bits with sign, in pages */
		page = (uint64_t)((int64_t)((uint64_t)((adrp >> 5 & 0x7ffff) <<
		    2 | (adrp >> 29 & 3)) << 43) >> 31);
		from = before == 0xd503245f ? address - 4 : address;
		if (!put_stub(table, slots, (address & ~0xfffULL) + page +
		    (ldr >> 10 & 0xfff) * 8, from, address + 16))
			return (false);
	}
	return (true);
}

/* The n-th section of stubs, loaded, if one of them may be asked for. */
static bool
find_plt(struct prof_elf *elf, size_t n, const struct symtab_wanted *wanted,
    struct prof_elf_part *plt)
{
	static const char *const names[PLTS] = { ".plt", ".plt.sec",
	    ".plt.got" };

	return (prof_elf_section_named(elf, names[n], plt) &&
	    (plt->pp_flags & SHF_EXECINSTR) && (wanted == NULL ||
	    prof_symtab_wanted_within(wanted, plt->pp_address,
	    plt->pp_size)) && prof_elf_load(elf, plt));
}

bool
prof_symtab_add_plt(struct prof_symtab *table, struct prof_elf *elf,
    const struct symtab_wanted *wanted)
{
	struct slots slots = { .ss_elf = elf };
	struct prof_elf_part plt;
	bool ok = true, is_read = false;
	size_t n;

	for (n = 0; ok && n < PLTS; n++) {
		if (!find_plt(elf, n, wanted, &plt))
			continue;
		ok = is_read || read_slots(&slots, false);
		is_read = true;
		if (ok)
			ok = elf->el_machine == EM_AARCH64 ?
			    arm_stubs(table, &slots, &plt) :
			    x86_stubs(table, &slots, &plt);
	}
	free(slots.ss_slot);
	return (ok);
}
