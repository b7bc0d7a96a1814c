/* SPDX-License-Identifier: ISC */
/*
 * A look at the parts of an ELF file that unwinding and symbols need; every
 * offset and size is checked against the file before it is used.
 */
#ifndef ELF_VIEW_H
#define ELF_VIEW_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A 64-bit little-endian file of x86-64 or arm64, mapped or in memory. */
struct prof_elf {
	const uint8_t	*el_bytes;
	size_t		 el_size;
	bool		 el_mapped;	/* by prof_elf_open */
	uint16_t	 el_machine;	/* EM_X86_64 or EM_AARCH64 */
	uint16_t	 el_type;
	const Elf64_Phdr *el_ph;	/* may lie unaligned: copy out */
	size_t		 el_nph;
	const Elf64_Shdr *el_sh;
	size_t		 el_nsh;
	const char	*el_names;	/* section names ... */
	size_t		 el_names_size;
};

/* A piece of the file and the address it is meant for. */
struct prof_elf_part {
	const uint8_t	*pp_bytes;
	size_t		 pp_size;
	uint64_t	 pp_address;
	uint32_t	 pp_type;
	uint32_t	 pp_link;
	uint64_t	 pp_entsize;
};

int	prof_elf_open(struct prof_elf *elf, int fd);
int	prof_elf_memory(struct prof_elf *elf, const void *bytes, size_t size);
void	prof_elf_close(struct prof_elf *elf);
/* The n-th segment or section; false: there is none, or it is nonsense. */
bool	prof_elf_segment(const struct prof_elf *elf, size_t n,
	    Elf64_Phdr *segment);
bool	prof_elf_section(const struct prof_elf *elf, size_t n,
	    struct prof_elf_part *part);
bool	prof_elf_section_named(const struct prof_elf *elf, const char *name,
	    struct prof_elf_part *part);
/* What the file holds for an address, up to the end of its segment. */
bool	prof_elf_at(const struct prof_elf *elf, uint64_t address,
	    struct prof_elf_part *part);
/* The addresses that executable segments span. */
bool	prof_elf_text(const struct prof_elf *elf, uint64_t *low,
	    uint64_t *high);

#endif /* ELF_VIEW_H */
