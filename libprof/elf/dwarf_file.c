/* SPDX-License-Identifier: ISC */
/*
 * Opens the DWARF of a module for lines.c: its own, or that of its separate
 * debug file, with the file that several debug files share beside it.
 *
 * libelf reads what it is asked for and maps nothing, since files may become
 * shorter.  libdw unpacks compressed sections when it opens a file, so what
 * they say they become is added up before.  It takes for granted that its
 * strings end within their section (elfutils 0.188), so that is looked at
 * here.  What else is to be opened is opened here; libdw looks for no files.
 */
#include <sys/stat.h>

#include <elfutils/libdwelf.h>
#include <endian.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "debug_file.h"
#include "dwarf_file.h"

/*
 * Bytes of all sections together, unpacked: compilers' DWARF packs to a third
 * or a fifth, zeros to a thousandth.  And what may be made of them in memory.
 */
#define SECTIONS_FIRST	(32ULL << 20)
#define SECTIONS_PER_BYTE 8
#define MEMORY_FIRST	(96ULL << 20)
#define MEMORY_PER_BYTE	4

/* Bytes of a section once it is unpacked. */
static uint64_t
unpacked_size(int fd, const struct prof_elf_part *part)
{
	union {
		Elf64_Chdr packed;
		struct {
			char	 mark[4];
			uint8_t	 size[8];	/* big-endian */
		} old;				/* .zdebug_info */
	} head;
	uint64_t size;

	if (part->pp_type == SHT_NOBITS)
		return (0);
	if (part->pp_offset > INT64_MAX || pread(fd, &head, sizeof(head),
	    (off_t)part->pp_offset) != (ssize_t)sizeof(head))
		return (part->pp_span);
	if (part->pp_flags & SHF_COMPRESSED)
		return (head.packed.ch_size);
	if (memcmp(head.old.mark, "ZLIB", 4) != 0)
		return (part->pp_span);
	memcpy(&size, head.old.size, sizeof(size));
	return (be64toh(size));
}

/* By the size of the file, and no more than half of the machine. */
static uint64_t
most_unpacked(const struct prof_elf *elf)
{
	const long pages = sysconf(_SC_PHYS_PAGES);
	const long page = sysconf(_SC_PAGESIZE);
	uint64_t most = SECTIONS_FIRST + SECTIONS_PER_BYTE *
	    (elf->el_size & (UINT64_MAX >> 8));

	if (pages > 0 && page > 0 &&
	    most > (uint64_t)pages / 2 * (uint64_t)page)
		most = (uint64_t)pages / 2 * (uint64_t)page;
	return (most);
}

/* Has it DWARF, and of a size that can be borne?  *refused: too large. */
static bool
worth_opening(struct prof_elf *elf, bool *refused)
{
	const uint64_t most = most_unpacked(elf);
	struct prof_elf_part part;
	uint64_t total = 0, size;
	size_t n;

	if (!prof_elf_has(elf, ".debug_info") &&
	    !prof_elf_has(elf, ".zdebug_info"))
		return (false);
	for (n = 0; prof_elf_section(elf, n, &part); n++) {
		size = unpacked_size(elf->el_fd, &part);
		if (size > most - total) {
			*refused = true;
			return (false);
		}
		total += size;
	}
	return (true);
}

static bool
worth_opening_fd(int fd, bool *refused)
{
	struct prof_elf elf;
	bool worth;

	if (prof_elf_open(&elf, fd) == -1)
		return (false);
	worth = worth_opening(&elf, refused);
	prof_elf_close(&elf);
	return (worth);
}

/* A descriptor of the file that has the DWARF, or -1. */
static int
find_dwarf(int fd, const char *debug_dirs, bool *refused)
{
	struct prof_elf elf;
	int found = -1;

	if (prof_elf_open(&elf, fd) == -1)
		return (-1);
	/* What is not linked has no addresses; shared parts have no code. */
	if (elf.el_type == ET_REL)
		found = -1;
	else if (worth_opening(&elf, refused))
		found = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	else {
		found = prof_debug_file_open(&elf, fd, debug_dirs);
		if (found != -1 && !worth_opening_fd(found, refused)) {
			close(found);
			found = -1;
		}
	}
	prof_elf_close(&elf);
	return (found);
}

/* The first section of a name, with or without the z of old compression. */
static const Elf_Data *
section_of(Elf *elf, const char *name, Elf_Scn **from)
{
	GElf_Shdr header;
	const char *text;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return (NULL);
	while ((*from = elf_nextscn(elf, *from)) != NULL) {
		if (gelf_getshdr(*from, &header) == NULL ||
		    header.sh_type == SHT_NOBITS ||
		    (text = elf_strptr(elf, names, header.sh_name)) == NULL)
			continue;
		if (text[0] == '.' && text[1] == 'z')
			text++;
		else if (text[0] != '.')
			continue;
		if (strcmp(text + 1, name) == 0)
			return (elf_getdata(*from, NULL));
	}
	return (NULL);
}

/* Of all sections of that name: nobody says which one libdw takes. */
static bool
strings_end(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	const Elf_Data *data;

	do {
		data = section_of(elf, name, &section);
		if (data != NULL && data->d_size > 0 && (data->d_buf == NULL ||
		    ((const char *)data->d_buf)[data->d_size - 1] != '\0'))
			return (false);
	} while (section != NULL);
	return (true);
}

/* libdw has unpacked all when it has begun. */
static bool
dwarf_file_begin(int fd, Elf **elf, Dwarf **dwarf, bool *refused)
{
	*elf = elf_begin(fd, ELF_C_READ, NULL);
	if (*elf != NULL)
		*dwarf = dwarf_begin_elf(*elf, DWARF_C_READ, NULL);
	if (*dwarf == NULL)
		return (false);
	if (strings_end(*elf, "debug_str") &&
	    strings_end(*elf, "debug_line_str"))
		return (true);
	*refused = true;
	return (false);
}

/*
 * false: it needs one that is not there.  libdw would then go and open
 * whatever has that name.
 */
static bool
open_alt(struct prof_dwarf *file)
{
	const char *name;
	const void *id;
	ssize_t length;

	length = dwelf_dwarf_gnu_debugaltlink(file->pd_dwarf, &name, &id);
	if (length == 0)
		return (true);
	if (length < 0)
		return (false);
	file->pd_alt_fd = prof_debug_file_of_build(name, file->pd_fd, id,
	    (size_t)length);
	if (file->pd_alt_fd == -1 || !worth_opening_fd(file->pd_alt_fd,
	    &file->pd_refused) ||
	    !dwarf_file_begin(file->pd_alt_fd, &file->pd_alt_elf, &file->pd_alt,
	    &file->pd_refused))
		return (false);
	dwarf_setalt(file->pd_dwarf, file->pd_alt);
	return (true);
}

static const Elf_Data *
first_of(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	const Elf_Data *data = section_of(elf, name, &section);

	return (data != NULL && data->d_buf != NULL ? data : NULL);
}

/* What is looked at here before libdw looks at it. */
static void
note_sections(struct prof_dwarf *file)
{
	struct stat st;

	file->pd_lines = first_of(file->pd_elf, "debug_line");
	file->pd_abbrevs = first_of(file->pd_elf, "debug_abbrev");
	file->pd_infos = first_of(file->pd_elf, "debug_info");
	file->pd_types = first_of(file->pd_elf, "debug_types");
	if (fstat(file->pd_fd, &st) == 0 && st.st_size > 0)
		file->pd_size = (uint64_t)st.st_size;
	file->pd_memory = MEMORY_FIRST + MEMORY_PER_BYTE *
	    (file->pd_size & (UINT64_MAX >> 8));
}

bool
prof_dwarf_charge(struct prof_dwarf *file, uint64_t bytes)
{
	if (bytes > file->pd_memory) {
		file->pd_memory = 0;
		return (false);
	}
	file->pd_memory -= bytes;
	return (true);
}

bool
prof_dwarf_open(struct prof_dwarf *file, int fd, const char *debug_dirs)
{
	memset(file, 0, sizeof(*file));
	file->pd_alt_fd = -1;
	elf_version(EV_CURRENT);
	file->pd_fd = find_dwarf(fd, debug_dirs, &file->pd_refused);
	if (file->pd_fd != -1 && dwarf_file_begin(file->pd_fd, &file->pd_elf,
	    &file->pd_dwarf, &file->pd_refused) &&
	    open_alt(file)) {
		note_sections(file);
		return (true);
	}
	prof_dwarf_close(file);
	return (false);
}

void
prof_dwarf_close(struct prof_dwarf *file)
{
	dwarf_end(file->pd_dwarf);
	elf_end(file->pd_elf);
	dwarf_end(file->pd_alt);
	elf_end(file->pd_alt_elf);
	if (file->pd_fd != -1)
		close(file->pd_fd);
	if (file->pd_alt_fd != -1)
		close(file->pd_alt_fd);
}
