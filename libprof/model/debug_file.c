/* SPDX-License-Identifier: ISC */
/*
 * Finds the separate debug file of a stripped one, for symtab_elf.c and
 * lines.c: by build-id, else by the link in .gnu_debuglink.
 *
 *	DIR/.build-id/ab/cdef....debug
 *	DIR-OF-FILE/NAME, DIR-OF-FILE/.debug/NAME, DIR/DIR-OF-FILE/NAME
 *
 * A file that is found by its build-id must have that build-id, one that is
 * found by name the checksum that the link states and no other build-id.
 * What the file holds is not trusted all the same.  Nothing is downloaded.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "debug_file.h"
#include "prof_impl.h"

#define USUAL_DIRS	"/usr/lib/debug"
#define MAX_NOTES	(64u << 10)	/* all together */
#define MAX_FILE	(8ULL << 30)	/* to take a checksum of */

struct build_id {
	uint8_t		bi_bytes[20];
	uint32_t	bi_length;	/* 0: none */
};

/* What a link says. */
struct link {
	char		 ln_name[NAME_MAX + 1];
	uint32_t	 ln_crc;
};

static void
build_id_of(struct prof_elf *elf, struct build_id *id)
{
	struct prof_elf_part part;
	size_t n, left = MAX_NOTES;

	id->bi_length = 0;
	for (n = 0; id->bi_length == 0 && prof_elf_section(elf, n, &part);
	    n++) {
		if (part.pp_type != SHT_NOTE || part.pp_size > left ||
		    !prof_elf_load(elf, &part))
			continue;
		left -= part.pp_size;
		id->bi_length = prof_build_id_of_notes(part.pp_bytes,
		    part.pp_size, 4, id->bi_bytes);
	}
}

/* Never waits: what is not a plain file is not opened for long. */
static int
open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd != -1 && (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return (fd);
}

/* Is it of the same build?  Files without build-id: unknown_is says. */
static bool
same_build(int fd, const struct build_id *id, bool unknown_is)
{
	struct build_id other;
	struct prof_elf elf;

	if (prof_elf_open(&elf, fd) == -1)
		return (false);
	build_id_of(&elf, &other);
	prof_elf_close(&elf);
	if (id->bi_length == 0 || other.bi_length == 0)
		return (unknown_is);
	return (id->bi_length == other.bi_length &&
	    memcmp(id->bi_bytes, other.bi_bytes, id->bi_length) == 0);
}

static bool
crc_is(int fd, uint32_t wanted)
{
	uint8_t *buffer = malloc(1 << 16);
	uint64_t total = 0;
	uLong crc = crc32(0, NULL, 0);
	ssize_t n = -1;

	while (buffer != NULL && total < MAX_FILE &&
	    (n = pread(fd, buffer, 1 << 16, (off_t)total)) > 0) {
		crc = crc32(crc, buffer, (uInt)n);
		total += (uint64_t)n;
	}
	free(buffer);
	return (n == 0 && crc == wanted);
}

/* The next of "a:b:c", and the rest behind it; NULL: there is none. */
static const char *
next_dir(const char **dirs, int *length)
{
	const char *dir = *dirs;

	if (dir == NULL || *dir == '\0')
		return (NULL);
	*length = (int)strcspn(dir, ":");
	*dirs = dir + *length + (dir[*length] == ':');
	return (dir);
}

/* The file at a path if it is of the build, else -1. */
static int
open_build(const char *path, const struct build_id *id)
{
	int fd = open_file(path);

	if (fd != -1 && !same_build(fd, id, false)) {
		close(fd);
		fd = -1;
	}
	return (fd);
}

static int
by_build_id(const struct build_id *id, const char *dirs)
{
	char path[PATH_MAX], name[2 * sizeof(id->bi_bytes) + 1];
	const char *dir;
	int fd, length;
	uint32_t n;

	if (id->bi_length < 2)
		return (-1);
	for (n = 0; n < id->bi_length; n++)
		snprintf(name + 2 * n, 3, "%02x", id->bi_bytes[n]);
	while ((dir = next_dir(&dirs, &length)) != NULL) {
		if (snprintf(path, sizeof(path), "%.*s/.build-id/%.2s/%s.debug",
		    length, dir, name, name + 2) >= (int)sizeof(path))
			continue;
		fd = open_build(path, id);
		if (fd != -1)
			return (fd);
	}
	return (-1);
}

/* ---------------------------------------------------------------- link */

/* A plain file name, filled up to a multiple of 4, and the checksum. */
static bool
read_link(struct prof_elf *elf, struct link *link)
{
	struct prof_elf_part part;
	size_t length, at;

	if (!prof_elf_section_named(elf, ".gnu_debuglink", &part) ||
	    part.pp_size > 2 * NAME_MAX || !prof_elf_load(elf, &part))
		return (false);
	length = strnlen((const char *)part.pp_bytes, part.pp_size);
	at = (length + 4) & ~(size_t)3;
	if (length == 0 || length > NAME_MAX || at + 4 > part.pp_size ||
	    memchr(part.pp_bytes, '/', length) != NULL)
		return (false);
	memcpy(link->ln_name, part.pp_bytes, length);
	link->ln_name[length] = '\0';
	memcpy(&link->ln_crc, part.pp_bytes + at, 4);
	return (true);
}

/* The directory in which an open file lies, as far as that can be told. */
static bool
dir_of(int fd, char *dir, size_t size)
{
	char self[64], *slash;
	ssize_t n;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, dir, size - 1);
	if (n <= 0)
		return (false);
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (dir[0] != '/' || slash == NULL)
		return (false);
	*slash = '\0';
	return (true);
}

static int
try_link(const struct link *link, const struct build_id *id,
    const char *path)
{
	int fd = open_file(path);

	if (fd != -1 && same_build(fd, id, true) && crc_is(fd, link->ln_crc))
		return (fd);
	if (fd != -1)
		close(fd);
	return (-1);
}

static int
by_link(const struct link *link, const struct build_id *id, int file,
    const char *dirs)
{
	char own[PATH_MAX], path[2 * PATH_MAX + NAME_MAX + 8];
	const char *dir;
	int fd, length;

	if (!dir_of(file, own, sizeof(own)))
		return (-1);
	snprintf(path, sizeof(path), "%s/%s", own, link->ln_name);
	fd = try_link(link, id, path);
	if (fd != -1)
		return (fd);
	snprintf(path, sizeof(path), "%s/.debug/%s", own, link->ln_name);
	fd = try_link(link, id, path);
	while (fd == -1 && (dir = next_dir(&dirs, &length)) != NULL) {
		if (length >= PATH_MAX)
			continue;
		snprintf(path, sizeof(path), "%.*s%s/%s", length, dir, own,
		    link->ln_name);
		fd = try_link(link, id, path);
	}
	return (fd);
}

int
prof_debug_file_open(struct prof_elf *elf, int fd, const char *debug_dirs)
{
	const char *dirs = debug_dirs == NULL ? USUAL_DIRS : debug_dirs;
	struct build_id id;
	struct link link;
	int found;

	build_id_of(elf, &id);
	found = by_build_id(&id, dirs);
	if (found == -1 && read_link(elf, &link))
		found = by_link(&link, &id, fd, dirs);
	return (found);
}

int
prof_debug_file_of_build(const char *path, const void *build_id,
    size_t length)
{
	struct build_id id;

	if (length == 0 || length > sizeof(id.bi_bytes))
		return (-1);
	memcpy(id.bi_bytes, build_id, length);
	id.bi_length = (uint32_t)length;
	return (open_build(path, &id));
}
