/* SPDX-License-Identifier: ISC */
/*
 * An ELF file in memory whose sections are the caller's, for what reads
 * DWARF; and the smallest unit there is.
 */
#ifndef FORGED_DWARF_H
#define FORGED_DWARF_H

#include <sys/mman.h>

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "recording/format.h"

#define FORGED_SECTIONS	8

struct forged_section {
	const char	*fs_name;
	const struct prof_buf *fs_bytes;
	uint64_t	 fs_flags;
};

/* A descriptor of the file, or -1. */
static inline int
forge_elf(const struct forged_section *sections, unsigned n)
{
	Elf64_Shdr header[FORGED_SECTIONS + 2];
	Elf64_Ehdr elf;
	struct prof_buf file = { 0 }, names = { 0 };
	int fd = memfd_create("forged", MFD_CLOEXEC);
	unsigned i;

	memset(header, 0, sizeof(header));
	memset(&elf, 0, sizeof(elf));
	memcpy(elf.e_ident, ELFMAG, SELFMAG);
	elf.e_ident[EI_CLASS] = ELFCLASS64;
	elf.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.e_ident[EI_VERSION] = elf.e_version = EV_CURRENT;
	elf.e_type = ET_DYN;
	elf.e_machine = EM_X86_64;
	elf.e_ehsize = sizeof(elf);
	elf.e_shentsize = sizeof(header[0]);
	elf.e_shnum = (Elf64_Half)(n + 2);
	elf.e_shstrndx = (Elf64_Half)(n + 1);
	prof_buf_bytes(&names, "", 1);
	for (i = 1; i <= n; i++) {
		header[i].sh_name = (Elf64_Word)names.bf_len;
		header[i].sh_type = SHT_PROGBITS;
		header[i].sh_flags = sections[i - 1].fs_flags;
		header[i].sh_offset = sizeof(elf) + file.bf_len;
		header[i].sh_size = sections[i - 1].fs_bytes->bf_len;
		header[i].sh_addralign = 1;
		prof_buf_bytes(&names, sections[i - 1].fs_name,
		    strlen(sections[i - 1].fs_name) + 1);
		prof_buf_bytes(&file, sections[i - 1].fs_bytes->bf_data,
		    sections[i - 1].fs_bytes->bf_len);
		while (file.bf_len % 8 != 0)
			prof_buf_bytes(&file, "", 1);
	}
	header[i].sh_name = (Elf64_Word)names.bf_len;
	prof_buf_bytes(&names, ".shstrtab", 10);
	header[i].sh_type = SHT_STRTAB;
	header[i].sh_offset = sizeof(elf) + file.bf_len;
	header[i].sh_size = names.bf_len;
	prof_buf_bytes(&file, names.bf_data, names.bf_len);
	while (file.bf_len % 8 != 0)
		prof_buf_bytes(&file, "", 1);
	elf.e_shoff = sizeof(elf) + file.bf_len;
	prof_buf_bytes(&file, header, (n + 2) * sizeof(header[0]));
	if (fd != -1 && (file.bf_failed ||
	    write(fd, &elf, sizeof(elf)) != (ssize_t)sizeof(elf) ||
	    write(fd, file.bf_data, file.bf_len) != (ssize_t)file.bf_len)) {
		close(fd);
		fd = -1;
	}
	prof_buf_free(&file);
	prof_buf_free(&names);
	return (fd);
}

static inline void
forge_number(struct prof_buf *buf, uint64_t value, size_t bytes)
{
	prof_buf_bytes(buf, &value, bytes);	/* both machines: little */
}

/*
 * An abbreviation of a unit: its name, where its code and its lines are.  The
 * table is not ended.
 */
static inline void
forge_abbrev(struct prof_buf *abbrevs, uint64_t code)
{
	static const uint8_t unit[] = { 0x11, 0, 0x03, 0x0e, 0x11, 0x01,
	    0x12, 0x07, 0x10, 0x17, 0, 0 };

	prof_buf_varint(abbrevs, code);
	prof_buf_bytes(abbrevs, unit, sizeof(unit));
}

/* A unit of that: its name at a place of .debug_str, 4 KiB of code. */
static inline void
forge_unit(struct prof_buf *infos, uint64_t code, uint64_t name,
    uint64_t address, uint64_t lines)
{
	struct prof_buf unit = { 0 };

	forge_number(&unit, 4, 2);		/* version */
	forge_number(&unit, 0, 4);		/* where abbreviations are */
	forge_number(&unit, 8, 1);
	prof_buf_varint(&unit, code);
	forge_number(&unit, name, 4);
	forge_number(&unit, address, 8);
	forge_number(&unit, 4096, 8);
	forge_number(&unit, lines, 4);
	forge_number(infos, unit.bf_len, 4);
	prof_buf_bytes(infos, unit.bf_data, unit.bf_len);
	prof_buf_free(&unit);
}

/* A line program; each of its bytes makes a line. */
static inline void
forge_lines(struct prof_buf *lines, size_t n)
{
	static const uint8_t header[] = { 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1,
	    1, 0, 0, 0, 1, 0, 0, 1, 0, 'a', 0, 0, 0, 0, 0 };
	static const uint8_t begin[] = { 0, 9, 2, 0, 0, 1, 0, 0, 0, 0, 0 };
	static const uint8_t end[] = { 0, 1, 1 };

	forge_number(lines, 2 + 4 + sizeof(header) + sizeof(begin) + n +
	    sizeof(end), 4);
	forge_number(lines, 4, 2);
	forge_number(lines, sizeof(header), 4);
	prof_buf_bytes(lines, header, sizeof(header));
	prof_buf_bytes(lines, begin, sizeof(begin));
	while (n-- > 0)
		forge_number(lines, 0x12 + n % 2, 1);
	prof_buf_bytes(lines, end, sizeof(end));
}

#endif /* FORGED_DWARF_H */
