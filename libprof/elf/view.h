/* SPDX-License-Identifier: ISC */
/*
 * A look at the parts of an ELF file that unwinding and symbols need; every
 * offset and size is checked against the file before it is used.
 *
 * Functions that find a part describe it; prof_elf_load reads its bytes.
 */
#ifndef PROF_VIEW_H
#define PROF_VIEW_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A 64-bit little-endian file of x86-64 or arm64, open or in memory. */
struct prof_elf {
	int		 el_fd;		/* ours; -1: in memory, here: */
	const uint8_t	*el_bytes;
	uint64_t	 el_size;
	uint16_t	 el_machine;	/* EM_X86_64 or EM_AARCH64 */
	uint16_t	 el_type;
	uint64_t	 el_entry;
	const Elf64_Phdr *el_ph;	/* may lie unaligned: copy out */
	size_t		 el_nph;
	const Elf64_Shdr *el_sh;
	size_t		 el_nsh;
	const char	*el_names;	/* section names ... */
	size_t		 el_names_size;
	struct prof_elf_loaded *el_loaded; /* what was read, until close */
};

/* A piece of the file and the address it is meant for. */
struct prof_elf_part {
	const uint8_t	*pp_bytes;	/* NULL until it is loaded */
	uint64_t	 pp_offset;
	size_t		 pp_size;	/* 0: not in the file, or compressed */
	uint64_t	 pp_address;
	uint64_t	 pp_span;	/* bytes that it takes in memory */
	uint64_t	 pp_flags;
	uint32_t	 pp_type;
	uint32_t	 pp_link;
	uint64_t	 pp_entsize;
};

/* The descriptor stays the caller's, and may be closed at once. */
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
/* Has it such a section, though it may be compressed? */
bool	prof_elf_has(const struct prof_elf *elf, const char *name);
/*
 * Read the bytes of a part (the caller may have made it smaller) into memory
 * that is the file's until it is closed.  false: it is empty, or larger than
 * anything we want to know, or the file has become shorter meanwhile.
 */
bool	prof_elf_load(struct prof_elf *elf, struct prof_elf_part *part);
/* Copy bytes of the file; they are not kept.  false: not all are there. */
bool	prof_elf_read(const struct prof_elf *elf, uint64_t offset, void *to,
	    size_t size);
/* Two loaded parts as one, the second behind the first.  false: no memory. */
bool	prof_elf_append(struct prof_elf *elf, struct prof_elf_part *part,
	    const struct prof_elf_part *more);
/* What the file holds for an address, up to the end of its segment. */
bool	prof_elf_at(const struct prof_elf *elf, uint64_t address,
	    struct prof_elf_part *part);
/* Of code at an offset of the file; 0: there is none. */
uint64_t prof_elf_address(const struct prof_elf *elf, uint64_t offset);
/* Address of the object or function with this name; object.c. */
bool	prof_elf_object(struct prof_elf *elf, const char *name,
	    uint64_t *address);
bool	prof_elf_function(struct prof_elf *elf, const char *name,
	    uint64_t *address, uint64_t *bytes);
/* Has the loader's table of symbols this one?  Of names below 64 bytes. */
bool	prof_elf_exports(const struct prof_elf *elf, const char *name);
/* The addresses of the code that the file holds. */
bool	prof_elf_text(const struct prof_elf *elf, uint64_t *low,
	    uint64_t *high);

#endif /* PROF_VIEW_H */
