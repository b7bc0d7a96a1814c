/* SPDX-License-Identifier: ISC */
/*
 * Opens the DWARF of a module for lines.c: its own, or that of its separate
 * debug file, with the file that several debug files share beside it.
 *
 * libelf reads what it is asked for and maps nothing, since files may become
 * shorter.  libdw unpacks compressed sections when it opens a file, so what
 * they say they become is added up before.  What else is to be opened is
 * opened here; libdw looks for no files.
 */
#include <sys/stat.h>

#include <elfutils/libdwelf.h>
#include <endian.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "debug_file.h"
#include "dwarf_file.h"

/* Of all sections together; no program is known to have half of it. */
#define MAX_DWARF	(8ULL << 30)

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

/* Has it DWARF, and of a size that can be borne? */
static bool
worth_opening(struct prof_elf *elf)
{
	struct prof_elf_part part;
	uint64_t total = 0, size;
	size_t n;

	for (n = 0; prof_elf_section(elf, n, &part); n++) {
		size = unpacked_size(elf->el_fd, &part);
		if (size > MAX_DWARF - total)
			return (false);
		total += size;
	}
	return (prof_elf_has(elf, ".debug_info") ||
	    prof_elf_has(elf, ".zdebug_info"));
}

static bool
worth_opening_fd(int fd)
{
	struct prof_elf elf;
	bool worth;

	if (prof_elf_open(&elf, fd) == -1)
		return (false);
	worth = worth_opening(&elf);
	prof_elf_close(&elf);
	return (worth);
}

/* A descriptor of the file that has the DWARF, or -1. */
static int
find_dwarf(int fd, const char *debug_dirs)
{
	struct prof_elf elf;
	int found = -1;

	if (prof_elf_open(&elf, fd) == -1)
		return (-1);
	/* What is not linked has no addresses; shared parts have no code. */
	if (elf.el_type == ET_REL)
		found = -1;
	else if (worth_opening(&elf))
		found = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	else {
		found = prof_debug_file_open(&elf, fd, debug_dirs);
		if (found != -1 && !worth_opening_fd(found)) {
			close(found);
			found = -1;
		}
	}
	prof_elf_close(&elf);
	return (found);
}

static bool
begin(int fd, Elf **elf, Dwarf **dwarf)
{
	*elf = elf_begin(fd, ELF_C_READ, NULL);
	if (*elf != NULL)
		*dwarf = dwarf_begin_elf(*elf, DWARF_C_READ, NULL);
	return (*dwarf != NULL);
}

/* Where the shared file is, whose name is relative to the debug file. */
static bool
alt_path(int fd, const char *name, char *path, size_t size)
{
	char self[64], dir[PATH_MAX], *slash;
	ssize_t n;

	if (name[0] == '/')
		return (snprintf(path, size, "%s", name) < (int)size);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, dir, sizeof(dir) - 1);
	if (n <= 0)
		return (false);
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash == NULL)
		return (false);
	return (snprintf(path, size, "%.*s/%s", (int)(slash - dir), dir,
	    name) < (int)size);
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
	char path[2 * PATH_MAX];
	ssize_t length;

	length = dwelf_dwarf_gnu_debugaltlink(file->pd_dwarf, &name, &id);
	if (length == 0)
		return (true);
	if (length < 0 || !alt_path(file->pd_fd, name, path, sizeof(path)))
		return (false);
	file->pd_alt_fd = prof_debug_file_of_build(path, id, (size_t)length);
	if (file->pd_alt_fd == -1 || !worth_opening_fd(file->pd_alt_fd) ||
	    !begin(file->pd_alt_fd, &file->pd_alt_elf, &file->pd_alt))
		return (false);
	dwarf_setalt(file->pd_dwarf, file->pd_alt);
	return (true);
}

/* libdw has unpacked it by now. */
static const Elf_Data *
line_section(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return (NULL);
	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL ||
		    header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name != NULL && (strcmp(name, ".debug_line") == 0 ||
		    strcmp(name, ".zdebug_line") == 0))
			return (elf_getdata(section, NULL));
	}
	return (NULL);
}

bool
prof_dwarf_open(struct prof_dwarf *file, int fd, const char *debug_dirs)
{
	memset(file, 0, sizeof(*file));
	file->pd_alt_fd = -1;
	elf_version(EV_CURRENT);
	file->pd_fd = find_dwarf(fd, debug_dirs);
	if (file->pd_fd != -1 &&
	    begin(file->pd_fd, &file->pd_elf, &file->pd_dwarf) &&
	    open_alt(file)) {
		file->pd_lines = line_section(file->pd_elf);
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
