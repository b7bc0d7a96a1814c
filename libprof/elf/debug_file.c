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

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "build_id.h"
#include "confine/reading.h"
#include "debug_file.h"

#define USUAL_DIRS	"/usr/lib/debug"
#define MAX_NOTES	(64u << 10)	/* all together */
#define MAX_FILE	(8ULL << 30)	/* to take a checksum of */
#define MAX_CANDIDATES	64

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

	memset(id, 0, sizeof(*id));
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

/* Is it of the build that is wanted?  -1 where it is not. */
static int
link_checked(int fd, const struct build_id *id)
{
	if (fd != -1 && !same_build(fd, id, false)) {
		close(fd);
		fd = -1;
	}
	return (fd);
}

/* ---------------------------------------------------------- candidates */

/* Set in a process of its own, before anything is read there. */
static prof_debug_open_fn *open_by;
static void *open_by_arg;

void
prof_debug_open_by(prof_debug_open_fn *fn, void *arg)
{
	open_by = fn;
	open_by_arg = arg;
}

/* The n-th of "a:b:c"; NULL: there is none. */
static const char *
nth_dir(const char *dirs, uint32_t n, int *length)
{
	for (; *dirs != '\0'; dirs += *length + (dirs[*length] == ':')) {
		*length = (int)strcspn(dirs, ":");
		if (n-- == 0)
			return (dirs);
	}
	return (NULL);
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

/*
 * By name first beside the file, then below the directories.  1: path is the
 * n-th candidate, 0: there is none, but maybe later ones, -1: no more.
 */
static int
path_of_link(const struct prof_debug_want *want, int file, const char *dirs,
    char *path, size_t size)
{
	char own[PATH_MAX];
	const char *dir;
	int n, length;

	if (!dir_of(file, own, sizeof(own)))
		return (-1);
	if (want->dw_next < 2)
		n = snprintf(path, size, "%s/%s%s", own, want->dw_next == 0 ?
		    "" : ".debug/", want->dw_link);
	else if ((dir = nth_dir(dirs, want->dw_next - 2, &length)) != NULL)
		n = snprintf(path, size, "%.*s%s/%s", length, dir, own,
		    want->dw_link);
	else
		return (-1);
	return (n < (int)size);
}

static int
path_of_build(const struct prof_debug_want *want, const char *dirs,
    char *path, size_t size)
{
	char name[2 * sizeof(want->dw_id) + 1];
	const char *dir;
	uint32_t n;
	int length;

	dir = nth_dir(dirs, want->dw_next, &length);
	if (dir == NULL)
		return (-1);
	for (n = 0; n < want->dw_id_length; n++)
		snprintf(name + 2 * n, 3, "%02x", want->dw_id[n]);
	return (snprintf(path, size, "%.*s/.build-id/%.2s/%s.debug", length,
	    dir, name, name + 2) < (int)size);
}

static bool
makes_sense(const struct prof_debug_want *want)
{
	const size_t length = strnlen(want->dw_link, sizeof(want->dw_link));

	if (length == 0)
		return (want->dw_id_length >= 2 &&
		    want->dw_id_length <= sizeof(want->dw_id));
	return (length < sizeof(want->dw_link) &&
	    memchr(want->dw_link, '/', length) == NULL);
}

/* A link or a name must not show what only we may read. */
static bool
is_theirs(int fd, int file)
{
	struct stat st, of;

	return (fstat(fd, &st) == 0 && fstat(file, &of) == 0 &&
	    (st.st_uid == of.st_uid || (st.st_mode & S_IROTH)));
}

int
prof_debug_candidate(struct prof_debug_want *want, int file,
    const char *debug_dirs)
{
	const char *dirs = debug_dirs == NULL ? USUAL_DIRS : debug_dirs;
	char path[2 * PATH_MAX + NAME_MAX + 8];
	int fd, rv;

	if (!makes_sense(want))
		return (-1);
	for (; want->dw_next < MAX_CANDIDATES; want->dw_next++) {
		rv = want->dw_link[0] != '\0' ? path_of_link(want, file,
		    dirs, path, sizeof(path)) : path_of_build(want, dirs,
		    path, sizeof(path));
		if (rv == -1)
			break;
		fd = rv == 1 ? prof_image_open(path) : -1;
		if (fd == -1)
			continue;
		want->dw_next++;
		if (is_theirs(fd, file))
			return (fd);
		close(fd);
		want->dw_next--;
	}
	return (-1);
}

static int
next_candidate(struct prof_debug_want *want, int file, const char *dirs)
{
	return (open_by != NULL ? open_by(open_by_arg, want) :
	    prof_reading_is_confined() ?
	    prof_reading_debug(want, file, dirs) :
	    prof_debug_candidate(want, file, dirs));
}

static int
by_build_id(const struct build_id *id, int file, const char *dirs)
{
	struct prof_debug_want want = { .dw_id_length = id->bi_length };
	int fd;

	if (id->bi_length < 2)
		return (-1);
	memcpy(want.dw_id, id->bi_bytes, sizeof(want.dw_id));
	while ((fd = next_candidate(&want, file, dirs)) != -1)
		if ((fd = link_checked(fd, id)) != -1)
			break;
	return (fd);
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
	memset(link->ln_name, 0, sizeof(link->ln_name));
	memcpy(link->ln_name, part.pp_bytes, length);
	memcpy(&link->ln_crc, part.pp_bytes + at, 4);
	return (true);
}

static int
by_link(const struct link *link, const struct build_id *id, int file,
    const char *dirs)
{
	struct prof_debug_want want = { .dw_next = 0 };
	int fd;

	memcpy(want.dw_link, link->ln_name, sizeof(want.dw_link));
	while ((fd = next_candidate(&want, file, dirs)) != -1) {
		if (same_build(fd, id, true) && crc_is(fd, link->ln_crc))
			break;
		close(fd);
	}
	return (fd);
}

int
prof_debug_file_open(struct prof_elf *elf, int fd, const char *debug_dirs)
{
	struct build_id id;
	struct link link;
	int found;

	build_id_of(elf, &id);
	found = by_build_id(&id, fd, debug_dirs);
	if (found == -1 && read_link(elf, &link))
		found = by_link(&link, &id, fd, debug_dirs);
	return (found);
}

int
prof_debug_beside(const char *name, int file)
{
	char dir[PATH_MAX], path[2 * PATH_MAX];

	if (prof_reading_is_confined())
		return (prof_reading_beside(name, file));
	if (name[0] == '/')
		return (prof_image_open(name));
	if (!dir_of(file, dir, sizeof(dir)) ||
	    snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path))
		return (-1);
	return (prof_image_open(path));
}

int
prof_debug_file_of_build(const char *name, int file, const void *build_id,
    size_t length)
{
	struct build_id id;

	if (length == 0 || length > sizeof(id.bi_bytes))
		return (-1);
	memcpy(id.bi_bytes, build_id, length);
	id.bi_length = (uint32_t)length;
	return (link_checked(prof_debug_beside(name, file), &id));
}
