/* SPDX-License-Identifier: ISC */
/*
 * Opens an ELF file and hands out segments and sections, checked.  Compressed
 * sections are not handed out.  Called by unwind_table.c and by the symbol
 * reader; knows nothing of what the parts mean.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <string.h>

#include "elf_view.h"

static bool
inside(const struct prof_elf *elf, uint64_t offset, uint64_t size)
{
	return (offset <= elf->el_size && size <= elf->el_size - offset);
}

int
prof_elf_memory(struct prof_elf *elf, const void *bytes, size_t size)
{
	Elf64_Ehdr eh;
	Elf64_Shdr names;

	memset(elf, 0, sizeof(*elf));
	elf->el_bytes = bytes;
	elf->el_size = size;
	if (size < sizeof(eh))
		return (-1);
	memcpy(&eh, bytes, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (eh.e_machine != EM_X86_64 && eh.e_machine != EM_AARCH64))
		return (-1);
	elf->el_machine = eh.e_machine;
	elf->el_type = eh.e_type;
	if (eh.e_phentsize == sizeof(Elf64_Phdr) && inside(elf, eh.e_phoff,
	    (uint64_t)eh.e_phnum * sizeof(Elf64_Phdr))) {
		elf->el_ph = (const Elf64_Phdr *)(elf->el_bytes + eh.e_phoff);
		elf->el_nph = eh.e_phnum;
	}
	if (eh.e_shentsize == sizeof(Elf64_Shdr) && inside(elf, eh.e_shoff,
	    (uint64_t)eh.e_shnum * sizeof(Elf64_Shdr))) {
		elf->el_sh = (const Elf64_Shdr *)(elf->el_bytes + eh.e_shoff);
		elf->el_nsh = eh.e_shnum;
	}
	if (eh.e_shstrndx < elf->el_nsh) {
		memcpy(&names, &elf->el_sh[eh.e_shstrndx], sizeof(names));
		if (inside(elf, names.sh_offset, names.sh_size)) {
			elf->el_names = (const char *)elf->el_bytes +
			    names.sh_offset;
			elf->el_names_size = names.sh_size;
		}
	}
	return (0);
}

int
prof_elf_open(struct prof_elf *elf, int fd)
{
	struct stat st;
	void *bytes;

	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return (-1);
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return (-1);
	if (prof_elf_memory(elf, bytes, (size_t)st.st_size) == -1) {
		munmap(bytes, (size_t)st.st_size);
		return (-1);
	}
	elf->el_mapped = true;
	return (0);
}

void
prof_elf_close(struct prof_elf *elf)
{
	if (elf->el_mapped)
		munmap((void *)elf->el_bytes, elf->el_size);
	memset(elf, 0, sizeof(*elf));
}

bool
prof_elf_segment(const struct prof_elf *elf, size_t n, Elf64_Phdr *segment)
{
	if (n >= elf->el_nph)
		return (false);
	memcpy(segment, &elf->el_ph[n], sizeof(*segment));
	if (segment->p_vaddr + segment->p_memsz < segment->p_vaddr ||
	    segment->p_filesz > segment->p_memsz)
		segment->p_type = PT_NULL;
	if (!inside(elf, segment->p_offset, segment->p_filesz))
		segment->p_filesz = 0;
	return (true);
}

bool
prof_elf_section(const struct prof_elf *elf, size_t n,
    struct prof_elf_part *part)
{
	Elf64_Shdr sh;

	if (n >= elf->el_nsh)
		return (false);
	memcpy(&sh, &elf->el_sh[n], sizeof(sh));
	memset(part, 0, sizeof(*part));
	part->pp_type = sh.sh_type;
	part->pp_link = sh.sh_link;
	part->pp_entsize = sh.sh_entsize;
	part->pp_address = sh.sh_addr;
	if (sh.sh_type != SHT_NOBITS && !(sh.sh_flags & SHF_COMPRESSED) &&
	    inside(elf, sh.sh_offset, sh.sh_size)) {
		part->pp_bytes = elf->el_bytes + sh.sh_offset;
		part->pp_size = sh.sh_size;
	}
	return (true);
}

bool
prof_elf_section_named(const struct prof_elf *elf, const char *name,
    struct prof_elf_part *part)
{
	size_t n, length = strlen(name) + 1;
	Elf64_Shdr sh;

	for (n = 0; n < elf->el_nsh; n++) {
		memcpy(&sh, &elf->el_sh[n], sizeof(sh));
		if (sh.sh_name < elf->el_names_size &&
		    elf->el_names_size - sh.sh_name >= length &&
		    memcmp(elf->el_names + sh.sh_name, name, length) == 0)
			return (prof_elf_section(elf, n, part) &&
			    part->pp_bytes != NULL);
	}
	return (false);
}

bool
prof_elf_at(const struct prof_elf *elf, uint64_t address,
    struct prof_elf_part *part)
{
	Elf64_Phdr ph;
	size_t n;

	for (n = 0; prof_elf_segment(elf, n, &ph); n++)
		if (ph.p_type == PT_LOAD && address >= ph.p_vaddr &&
		    address - ph.p_vaddr < ph.p_filesz) {
			memset(part, 0, sizeof(*part));
			part->pp_bytes = elf->el_bytes + ph.p_offset +
			    (address - ph.p_vaddr);
			part->pp_size = ph.p_filesz - (address - ph.p_vaddr);
			part->pp_address = address;
			return (true);
		}
	return (false);
}

bool
prof_elf_text(const struct prof_elf *elf, uint64_t *low, uint64_t *high)
{
	Elf64_Phdr ph;
	size_t n;

	*low = UINT64_MAX;
	*high = 0;
	for (n = 0; prof_elf_segment(elf, n, &ph); n++) {
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		if (ph.p_vaddr < *low)
			*low = ph.p_vaddr;
		if (ph.p_vaddr + ph.p_memsz > *high)
			*high = ph.p_vaddr + ph.p_memsz;
	}
	return (*low < *high);
}
