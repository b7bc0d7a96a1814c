/* SPDX-License-Identifier: ISC */
/*
 * Opens an ELF file and hands out segments and sections, checked.  Compressed
 * sections are not handed out.  Called by unwind_table.c and by the symbol
 * reader; knows nothing of what the parts mean.
 *
 * The file belongs to others, who may cut it while it is looked at: a mapping
 * of it would then kill us.  So what is wanted is read, once, and what was
 * checked cannot change afterwards.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view.h"

#define MAX_PART	(256ULL << 20)
#define RECENT		8	/* parts that may be asked for again */

/* A part that was read. */
struct prof_elf_loaded {
	struct prof_elf_loaded *ld_next;
	uint64_t	 ld_offset;
	uint64_t	 ld_size;	/* 0: it is no part of the file */
	uint8_t		 ld_bytes[];
};

static bool
part_inside(const struct prof_elf *elf, uint64_t offset, uint64_t size)
{
	return (offset <= elf->el_size && size <= elf->el_size - offset);
}

/* All of it or nothing. */
static bool
read_at(int fd, uint8_t *to, size_t size, uint64_t offset)
{
	ssize_t n;

	while (size > 0) {
		n = pread(fd, to, size, (off_t)offset);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return (false);
		to += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return (true);
}

/* Memory that is the file's until it is closed; NULL: there is none. */
static uint8_t *
room_for(struct prof_elf *elf, size_t size)
{
	struct prof_elf_loaded *loaded = malloc(sizeof(*loaded) + size);

	if (loaded == NULL)
		return (NULL);
	loaded->ld_next = elf->el_loaded;
	loaded->ld_size = 0;
	elf->el_loaded = loaded;
	return (loaded->ld_bytes);
}

/* Symbols are wanted for functions and again for stubs. */
static const uint8_t *
find_recent(const struct prof_elf *elf, uint64_t offset, uint64_t size)
{
	const struct prof_elf_loaded *loaded = elf->el_loaded;

	for (int n = 0; loaded != NULL && n < RECENT; n++) {
		if (loaded->ld_offset == offset && loaded->ld_size == size)
			return (loaded->ld_bytes);
		loaded = loaded->ld_next;
	}
	return (NULL);
}

/* The bytes of a range of the file, or NULL. */
static const uint8_t *
bytes_of(struct prof_elf *elf, uint64_t offset, uint64_t size)
{
	struct prof_elf_loaded *loaded;
	const uint8_t *recent;
	uint8_t *bytes;

	if (size == 0 || size > MAX_PART || !part_inside(elf, offset, size))
		return (NULL);
	if (elf->el_bytes != NULL)
		return (elf->el_bytes + offset);
	if ((recent = find_recent(elf, offset, size)) != NULL)
		return (recent);
	bytes = room_for(elf, size);
	if (bytes == NULL)
		return (NULL);
	if (read_at(elf->el_fd, bytes, size, offset)) {
		elf->el_loaded->ld_offset = offset;
		elf->el_loaded->ld_size = size;
		return (bytes);
	}
	/* A file that was cut has no more than one part that was in vain. */
	loaded = elf->el_loaded;
	elf->el_loaded = loaded->ld_next;
	free(loaded);
	return (NULL);
}

/* What the header points to. */
static void
read_headers(struct prof_elf *elf, const Elf64_Ehdr *eh)
{
	Elf64_Shdr names;

	if (eh->e_phentsize == sizeof(Elf64_Phdr))
		elf->el_ph = (const Elf64_Phdr *)bytes_of(elf, eh->e_phoff,
		    (uint64_t)eh->e_phnum * sizeof(Elf64_Phdr));
	if (elf->el_ph != NULL)
		elf->el_nph = eh->e_phnum;
	if (eh->e_shentsize == sizeof(Elf64_Shdr))
		elf->el_sh = (const Elf64_Shdr *)bytes_of(elf, eh->e_shoff,
		    (uint64_t)eh->e_shnum * sizeof(Elf64_Shdr));
	if (elf->el_sh != NULL)
		elf->el_nsh = eh->e_shnum;
	if (elf->el_sh == NULL || eh->e_shstrndx >= elf->el_nsh)
		return;
	memcpy(&names, &elf->el_sh[eh->e_shstrndx], sizeof(names));
	elf->el_names = (const char *)bytes_of(elf, names.sh_offset,
	    names.sh_size);
	if (elf->el_names != NULL)
		elf->el_names_size = names.sh_size;
}

static int
look_at(struct prof_elf *elf)
{
	Elf64_Ehdr eh;
	const uint8_t *bytes = bytes_of(elf, 0, sizeof(eh));

	if (bytes == NULL)
		return (-1);
	memcpy(&eh, bytes, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (eh.e_machine != EM_X86_64 && eh.e_machine != EM_AARCH64))
		return (-1);
	elf->el_machine = eh.e_machine;
	elf->el_type = eh.e_type;
	elf->el_entry = eh.e_entry;
	read_headers(elf, &eh);
	return (0);
}

int
prof_elf_memory(struct prof_elf *elf, const void *bytes, size_t size)
{
	memset(elf, 0, sizeof(*elf));
	elf->el_fd = -1;
	elf->el_bytes = bytes;
	elf->el_size = size;
	return (look_at(elf));
}

int
prof_elf_open(struct prof_elf *elf, int fd)
{
	struct stat st;

	memset(elf, 0, sizeof(*elf));
	elf->el_fd = -1;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return (-1);
	elf->el_size = (uint64_t)st.st_size;
	elf->el_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (elf->el_fd != -1 && look_at(elf) == 0)
		return (0);
	prof_elf_close(elf);
	return (-1);
}

void
prof_elf_close(struct prof_elf *elf)
{
	struct prof_elf_loaded *loaded;

	while ((loaded = elf->el_loaded) != NULL) {
		elf->el_loaded = loaded->ld_next;
		free(loaded);
	}
	if (elf->el_fd != -1)
		close(elf->el_fd);
	memset(elf, 0, sizeof(*elf));
	elf->el_fd = -1;
}

bool
prof_elf_load(struct prof_elf *elf, struct prof_elf_part *part)
{
	if (part->pp_bytes == NULL)
		part->pp_bytes = bytes_of(elf, part->pp_offset,
		    part->pp_size);
	return (part->pp_bytes != NULL);
}

bool
prof_elf_read(const struct prof_elf *elf, uint64_t offset, void *to,
    size_t size)
{
	if (!part_inside(elf, offset, size))
		return (false);
	if (elf->el_bytes == NULL)
		return (read_at(elf->el_fd, to, size, offset));
	memcpy(to, elf->el_bytes + offset, size);
	return (true);
}

bool
prof_elf_append(struct prof_elf *elf, struct prof_elf_part *part,
    const struct prof_elf_part *more)
{
	uint8_t *bytes = room_for(elf, part->pp_size + more->pp_size);

	if (bytes == NULL)
		return (false);
	memcpy(bytes, part->pp_bytes, part->pp_size);
	memcpy(bytes + part->pp_size, more->pp_bytes, more->pp_size);
	part->pp_bytes = bytes;
	part->pp_size += more->pp_size;
	return (true);
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
	if (!part_inside(elf, segment->p_offset, segment->p_filesz))
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
	part->pp_span = sh.sh_size;
	part->pp_flags = sh.sh_flags;
	part->pp_offset = sh.sh_offset;
	if (sh.sh_type != SHT_NOBITS && !(sh.sh_flags & SHF_COMPRESSED) &&
	    part_inside(elf, sh.sh_offset, sh.sh_size))
		part->pp_size = sh.sh_size;
	return (true);
}

/* The number of a section, or that of none. */
static size_t
find_name(const struct prof_elf *elf, const char *name)
{
	size_t n, length = strlen(name) + 1;
	Elf64_Shdr sh;

	for (n = 0; n < elf->el_nsh; n++) {
		memcpy(&sh, &elf->el_sh[n], sizeof(sh));
		if (sh.sh_name < elf->el_names_size &&
		    elf->el_names_size - sh.sh_name >= length &&
		    memcmp(elf->el_names + sh.sh_name, name, length) == 0)
			break;
	}
	return (n);
}

bool
prof_elf_section_named(const struct prof_elf *elf, const char *name,
    struct prof_elf_part *part)
{
	return (prof_elf_section(elf, find_name(elf, name), part) &&
	    part->pp_size != 0);
}

bool
prof_elf_has(const struct prof_elf *elf, const char *name)
{
	struct prof_elf_part part;

	return (prof_elf_section(elf, find_name(elf, name), &part) &&
	    part.pp_type != SHT_NOBITS);
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
			part->pp_offset = ph.p_offset + (address - ph.p_vaddr);
			part->pp_size = ph.p_filesz - (address - ph.p_vaddr);
			part->pp_address = address;
			return (true);
		}
	return (false);
}

uint64_t
prof_elf_address(const struct prof_elf *elf, uint64_t offset)
{
	Elf64_Phdr ph;
	size_t n;

	for (n = 0; prof_elf_segment(elf, n, &ph); n++)
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) &&
		    offset >= ph.p_offset &&
		    offset - ph.p_offset < ph.p_filesz)
			return (offset - ph.p_offset + ph.p_vaddr);
	return (0);
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
		if (ph.p_vaddr + ph.p_filesz > *high)
			*high = ph.p_vaddr + ph.p_filesz;
	}
	return (*low < *high);
}
