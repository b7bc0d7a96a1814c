/* SPDX-License-Identifier: ISC */
/*
 * The file that a probe's FILE means.  With processes given it is what they
 * have mapped, which may be deleted, or lie in a container, and may differ
 * between them; else a path, a library of the loader's cache, a program in
 * PATH.
 *
 * Called when an event is named and for listing.  Files are opened here and
 * parsed elsewhere; of the loader's cache, which is root's, every number is
 * checked all the same.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/grow.h"
#include "confine/reading.h"
#include "events/names.h"
#include "os/procfs.h"

#define CACHE		"/etc/ld.so.cache"
#define CACHE_MAX	(16u << 20)
#define CACHE_MAGIC	"glibc-ld.so.cache1.1"
#if defined(__x86_64__)
#define CACHE_KIND	0x0303	/* a library of glibc for x86-64 */
#else
#define CACHE_KIND	0x0a03	/* for arm64 */
#endif

/* As glibc writes it, in the order of the machine. */
struct cache_head {
	char		ch_magic[sizeof(CACHE_MAGIC) - 1];
	uint32_t	ch_n;
	uint32_t	ch_strings;
	uint32_t	ch_unused[5];
};

struct cache_entry {
	int32_t		ce_flags;
	uint32_t	ce_name;	/* from the head on */
	uint32_t	ce_path;
	uint32_t	ce_version;
	uint64_t	ce_hwcap;
};

struct lookup {
	const char	*lk_name;
	struct prof_binaries *lk_binaries;
};

/* ------------------------------------------------------------------ lists */

/* Takes the descriptor over; a file is there once.  -1: no memory. */
static int
binary_add(struct prof_binaries *binaries, int fd, const char *path)
{
	struct prof_binary *binary;
	struct stat one, other;

	if (fstat(fd, &one) == -1)
		one.st_ino = 0;
	for (size_t n = 0; n < binaries->bs_n; n++)
		if (fstat(binaries->bs_binary[n].bi_fd, &other) == 0 &&
		    other.st_ino == one.st_ino && other.st_dev == one.st_dev) {
			close(fd);
			return (0);
		}
	binary = prof_append(&binaries->bs_binary, &binaries->bs_n,
	    sizeof(*binary));
	if (binary == NULL || (binary->bi_path = strdup(path)) == NULL) {
		binaries->bs_n -= binary != NULL;
		close(fd);
		return (-1);
	}
	binary->bi_fd = fd;
	return (0);
}

void
prof_binaries_free(struct prof_binaries *binaries)
{
	for (size_t n = 0; n < binaries->bs_n; n++) {
		close(binaries->bs_binary[n].bi_fd);
		free(binaries->bs_binary[n].bi_path);
	}
	free(binaries->bs_binary);
	memset(binaries, 0, sizeof(*binaries));
}

/* "libc" is libc.so.6 and libc-2.31.so, but not libcap.so.2. */
static bool
is_library(const char *file, const char *name)
{
	const size_t n = strlen(name);

	if (strncmp(file, name, n) != 0)
		return (false);
	return (file[n] == '\0' || strncmp(file + n, ".so", 3) == 0 ||
	    (file[n] == '-' && strstr(file + n, ".so") != NULL));
}

/* -------------------------------------------------------------- processes */

static int
mapping_see(void *arg, const struct prof_record *record)
{
	const struct lookup *lookup = arg;
	const char *slash = strrchr(record->pr_path, '/');
	int fd;

	if (slash == NULL || (strchr(lookup->lk_name, '/') != NULL ?
	    strcmp(record->pr_path, lookup->lk_name) != 0 :
	    !is_library(slash + 1, lookup->lk_name) &&
	    !prof_glob_match(lookup->lk_name, slash + 1)))
		return (0);
	fd = prof_mapped_file_open(record);
	return (fd == -1 ? 0 : binary_add(lookup->lk_binaries, fd,
	    record->pr_path));
}

/* What they have mapped, also by a glob, else what has that path to them. */
static int
find_mapped(const struct prof_names *names, const char *name,
    struct prof_binaries *binaries)
{
	struct lookup lookup = { name, binaries };
	char path[PATH_MAX];
	int fd;

	for (size_t n = 0; n < names->nm_npids; n++)
		if (prof_procfs_maps(names->nm_pids[n], 0, false, UINT_MAX,
		    mapping_see, &lookup) != 0)
			return (-1);
	for (size_t n = 0; name[0] == '/' && binaries->bs_n == 0 &&
	    n < names->nm_npids; n++) {
		snprintf(path, sizeof(path), "/proc/%d/root%s",
		    names->nm_pids[n], name);
		fd = prof_image_open(path);
		if (fd != -1 && binary_add(binaries, fd, name) == -1)
			return (-1);
	}
	return (0);
}

/* ---------------------------------------------------------- this machine */

static char *
file_read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes = NULL;
	ssize_t got;

	if (fd == -1)
		return (NULL);
	if (fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size < CACHE_MAX &&
	    (bytes = malloc((size_t)st.st_size + 1)) != NULL) {
		got = read(fd, bytes, (size_t)st.st_size);
		*size = got > 0 ? (size_t)got : 0;
		bytes[*size] = '\0';
	}
	close(fd);
	return (bytes);
}

/* The path of a library; borrowed from the cache's bytes, or NULL. */
static const char *
cache_find(const char *bytes, size_t size, const char *name)
{
	const char *base = size < sizeof(CACHE_MAGIC) ? NULL :
	    memmem(bytes, size, CACHE_MAGIC, sizeof(CACHE_MAGIC) - 1);
	struct cache_entry entry;
	struct cache_head head;

	if (base == NULL || (size -= (size_t)(base - bytes)) < sizeof(head))
		return (NULL);
	memcpy(&head, base, sizeof(head));
	for (uint32_t n = 0; n < head.ch_n && sizeof(head) + (n + 1ULL) *
	    sizeof(entry) <= size; n++) {
		memcpy(&entry, base + sizeof(head) + n * sizeof(entry),
		    sizeof(entry));
		if (entry.ce_flags == CACHE_KIND && entry.ce_name < size &&
		    entry.ce_path < size &&
		    is_library(base + entry.ce_name, name))
			return (base + entry.ce_path);
	}
	return (NULL);
}

/* Its path, to be freed; NULL: there is none. */
static char *
library_find(const char *name)
{
	const char *found;
	char *bytes, *path = NULL;
	size_t size = 0;

	if ((bytes = file_read(CACHE, &size)) == NULL)
		return (NULL);
	if ((found = cache_find(bytes, size, name)) != NULL)
		path = strdup(found);
	free(bytes);
	return (path);
}

static char *
program_find(const char *name)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];
	size_t n;

	for (; at != NULL && *at != '\0'; at += n + (at[n] == ':')) {
		n = strcspn(at, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)n, at, name);
		if (n > 0 && access(path, X_OK) == 0)
			return (strdup(path));
	}
	return (NULL);
}

/* As the command line has it. */
static int
find_here(const char *name, struct prof_binaries *binaries,
    struct prof_err *error)
{
	char *path = NULL, whole[PATH_MAX];
	int fd;

	if (strchr(name, '/') == NULL &&
	    (path = library_find(name)) == NULL &&
	    (path = program_find(name)) == NULL) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN, "no library or program "
		    "'%s'", name);
		return (prof_cure(error, "use the path of the file, or -p PID "
		    "for a library that a process has mapped"));
	}
	errno = 0;
	fd = realpath(path == NULL ? name : path, whole) == NULL ? -1 :
	    prof_image_open(whole);
	free(path);
	if (fd == -1) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN, "cannot open '%s': %s",
		    name, errno == 0 ? "not a regular file" : strerror(errno));
		return (prof_cure(error, "check the path of the program"));
	}
	return (binary_add(binaries, fd, whole) == -1 ?
	    prof_fail_nomem(error) : 0);
}

int
prof_binaries_find(const struct prof_names *names, const char *name,
    struct prof_binaries *binaries, struct prof_err *error)
{
	memset(binaries, 0, sizeof(*binaries));
	if (names->nm_npids > 0 &&
	    find_mapped(names, name, binaries) == -1) {
		prof_binaries_free(binaries);
		return (prof_fail_nomem(error));
	}
	return (binaries->bs_n > 0 ? 0 : find_here(name, binaries, error));
}

int
prof_binary_sites(struct prof_names *names, const struct prof_binary *binary,
    const struct prof_sites_want *want, struct prof_sites *sites,
    struct prof_err *error)
{
	if (names->nm_sites(names->nm_sites_arg, binary->bi_fd,
	    binary->bi_path, want, sites) == 0)
		return (0);
	if (errno == ENOMEM)
		return (prof_fail_nomem(error));
	prof_fail(error, PROF_E_EVENT_UNKNOWN, "cannot read the symbols of "
	    "'%s': %s", binary->bi_path, errno == ENOEXEC ?
	    "not a program of x86-64 or arm64" : errno == EIO ?
	    "the file reader process ended before the end of the file" :
	    strerror(errno));
	return (prof_cure(error, "use the path of a program or library"));
}
