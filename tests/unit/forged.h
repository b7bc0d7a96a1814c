/* SPDX-License-Identifier: ISC */
/*
 * A small ELF file of one function, whose frame description is the caller's.
 * All of it is loaded from address 0 on, and executable.
 */
#ifndef FORGED_H
#define FORGED_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "elf/unwind_table.h"

#define FORGED_PC	256		/* of the function, and its length */
#define FORGED_LENGTH	128
#define FORGED_HEADER	64		/* where .eh_frame_hdr lies */

struct forged {
	Elf64_Ehdr	fo_elf;
	Elf64_Phdr	fo_load;
	Elf64_Phdr	fo_frames;
	uint8_t		fo_text[512];
};

/* A CIE as compilers have it, and the FDE. */
static inline void
forge_frames(uint8_t *at, const uint8_t *program, size_t size)
{
	static const uint8_t cie[] = { 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78,
	    16, 0x0c, 7, 8, 0x90, 1, 0, 0 };
	const uint32_t length = 20 + (uint32_t)size, back = sizeof(cie) + 4;
	const uint64_t range[2] = { FORGED_PC, FORGED_LENGTH };

	memcpy(at, cie, sizeof(cie));
	at += sizeof(cie);
	memcpy(at, &length, 4);
	memcpy(at + 4, &back, 4);
	memcpy(at + 8, range, 16);
	if (size > 0)
		memcpy(at + 24, program, size);
}

static inline void
forge(struct forged *forged, const uint8_t *program, size_t size)
{
	static const uint8_t header[] = { 1, 0x1b, 0xff, 0xff, 4, 0, 0, 0 };

	memset(forged, 0, sizeof(*forged));
	memcpy(forged->fo_elf.e_ident, ELFMAG, SELFMAG);
	forged->fo_elf.e_ident[EI_CLASS] = ELFCLASS64;
	forged->fo_elf.e_ident[EI_DATA] = ELFDATA2LSB;
	forged->fo_elf.e_type = ET_DYN;
	forged->fo_elf.e_machine = EM_X86_64;
	forged->fo_elf.e_phoff = sizeof(forged->fo_elf);
	forged->fo_elf.e_phentsize = sizeof(Elf64_Phdr);
	forged->fo_elf.e_phnum = 2;
	forged->fo_load = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_X,
	    .p_offset = offsetof(struct forged, fo_text),
	    .p_filesz = sizeof(forged->fo_text),
	    .p_memsz = sizeof(forged->fo_text) };
	forged->fo_frames = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME,
	    .p_vaddr = FORGED_HEADER };
	memcpy(forged->fo_text + FORGED_HEADER, header, sizeof(header));
	forge_frames(forged->fo_text + FORGED_HEADER + sizeof(header),
	    program, size);
}

/* NULL: none could be made. */
static inline struct prof_unwind_table *
forged_table(const struct forged *forged)
{
	struct prof_unwind_table *table;
	struct prof_elf elf;

	if (prof_elf_memory(&elf, forged, sizeof(*forged)) == -1)
		return (NULL);
	table = prof_unwind_table_new(&elf);
	prof_elf_close(&elf);
	return (table);
}

#endif /* FORGED_H */
