/* SPDX-License-Identifier: ISC */
/*
 * See module.h.  A file is opened by the path that was mapped, and counts
 * only when it is what was mapped (prof_image_matches): a wrong name is worse
 * than none.  Where it is gone or replaced, the separate debug file of the
 * same build-id still names its functions, or the copy that perf keeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

#define PAGE		65535u	/* the largest page that machines have - 1 */
#define DEBUG_DIR	"/usr/lib/debug"

/*
 * Of a debug file too, which has the segments of the file that it is of, but
 * not what is in them.  Where objcopy made it, sizes are 0 and offsets are
 * anything: by these a place would be in another function.
 */
unsigned
prof_segments_of(struct prof_elf *elf,
    struct prof_segment_of segments[PROF_MODULE_SEGMENTS])
{
	Elf64_Phdr ph;
	unsigned n = 0;
	size_t i;

	for (i = 0; n < PROF_MODULE_SEGMENTS && prof_elf_segment(elf, i, &ph);
	    i++) {
		if (ph.p_type != PT_LOAD || (ph.p_flags & PF_X) == 0)
			continue;
		/* As it stands there: it need not lie in this file. */
		memcpy(&ph, &elf->el_ph[i], sizeof(ph));
		if (ph.p_filesz == 0)
			continue;
		segments[n].so_offset = ph.p_offset;
		segments[n].so_size = ph.p_filesz;
		segments[n++].so_address = ph.p_vaddr;
	}
	return (n);
}

/*
 * A mapping begins and ends with a page, so there is more in it than the
 * segment; what is in the segment proper goes first.
 */
bool
prof_segments_address(const struct prof_segment_of *segments, unsigned n,
    uint64_t offset, uint64_t *address)
{
	const struct prof_segment_of *so;
	unsigned i, slack;

	for (slack = 0; slack <= PAGE; slack += PAGE)
		for (i = 0; i < n; i++) {
			so = &segments[i];
			if (offset + slack < so->so_offset ||
			    offset >= so->so_offset + so->so_size + slack)
				continue;
			*address = offset - so->so_offset + so->so_address;
			return (true);
		}
	return (false);
}

/*
 * Is this open file, or debug file, that of the image?  One that is held was,
 * but another may have been written into it.  That its ctime is new says
 * nothing: unlinking makes it so.
 */
static bool
is_it(const struct prof_module *module,
    const struct prof_module_files *files, int fd)
{
	const struct prof_image *image = module->mo_image;

	if (module->mo_held != 0 && image->im_id_len == 0)
		return (prof_image_written_ns(fd) == image->im_written_ns);
	return (prof_image_matches(image, fd, files->mf_unchanged_ns != 0 ||
	    !files->mf_same_boot ? files->mf_unchanged_ns :
	    image->im_first_ns + files->mf_realtime_ns));
}

/* The file itself; -1: it is gone, or another one is there. */
static int
open_file(const struct prof_module *module,
    const struct prof_module_files *files)
{
	int fd = module->mo_held != 0 ?
	    fcntl(module->mo_held - 1, F_DUPFD_CLOEXEC, 0) :
	    prof_image_open(module->mo_image->im_path);

	if (fd != -1 && !is_it(module, files, fd)) {
		close(fd);
		fd = -1;
	}
	return (fd);
}

/* By build-id, DIR/.build-id/ab/cdef... and ending; -1: it is not there. */
static int
open_id(const struct prof_image *image, const char *dir, size_t length,
    const char *ending)
{
	char path[512], id[2 * sizeof(image->im_id) + 1];
	uint32_t n;
	int fd;

	if (image->im_id_len < 2)
		return (-1);
	for (n = 0; n < image->im_id_len; n++)
		snprintf(id + 2 * n, 3, "%02x", image->im_id[n]);
	if (snprintf(path, sizeof(path), "%.*s/.build-id/%.2s/%s%s",
	    (int)length, dir, id, id + 2, ending) >= (int)sizeof(path))
		return (-1);
	fd = prof_image_open(path);
	if (fd != -1 && !prof_image_matches(image, fd, 0)) {
		close(fd);
		fd = -1;
	}
	return (fd);
}

/* Of a file that is gone: its debug file in one of a:b; -1: none. */
static int
open_debug(const struct prof_image *image, const char *dirs)
{
	size_t length;
	int fd = -1;

	for (; fd == -1 && *dirs != '\0';
	    dirs += length + (dirs[length] == ':')) {
		length = strcspn(dirs, ":");
		fd = open_id(image, dirs, length, ".debug");
	}
	return (fd);
}

/* The copy that perf record or perf archive keeps; -1: none. */
static int
open_copy(const struct prof_image *image)
{
	const char *home = secure_getenv("HOME");
	char dir[256];

	if (home == NULL || snprintf(dir, sizeof(dir), "%s/.debug", home) >=
	    (int)sizeof(dir))
		return (-1);
	return (open_id(image, dir, strlen(dir), "/elf"));
}

int
prof_module_open(const struct prof_module *module,
    const struct prof_module_files *files)
{
	int fd = open_file(module, files);

	if (fd == -1)
		fd = open_debug(module->mo_image, files->mf_debug_dirs !=
		    NULL ? files->mf_debug_dirs : DEBUG_DIR);
	return (fd != -1 ? fd : open_copy(module->mo_image));
}

static bool
has_symtab(struct prof_elf *elf)
{
	struct prof_elf_part part;

	return (prof_elf_section_named(elf, ".symtab", &part) ||
	    prof_elf_section_named(elf, ".gnu_debugdata", &part));
}

static void
ask_vdso(struct prof_module *module)
{
	const void *bytes;
	size_t size = prof_image_own_vdso(module->mo_image, &bytes);
	struct prof_elf elf;

	if (size == 0 || prof_elf_memory(&elf, bytes, size) == -1)
		return;
	if (module->mo_nsegments == 0)
		module->mo_nsegments = prof_segments_of(&elf,
		    module->mo_segment);
	prof_elf_close(&elf);
	module->mo_file = prof_symtab_of_memory(bytes, size);
	module->mo_why = PROF_UNNAMED_NOSYM;
}

static int
address_compare(const void *a, const void *b)
{
	const uint64_t *aa = a, *ab = b;

	return (*aa < *ab ? -1 : *aa > *ab);
}

/* The functions, or those at the places that will be asked for. */
static struct prof_symtab *
symtab_of(const struct prof_module *module, const char *debug_dirs, int fd)
{
	struct prof_symtab *symtab;
	uint64_t *address;
	int error_number;
	size_t i, n = 0;

	if (module->mo_place == NULL)
		return (prof_symtab_of_elf(fd, debug_dirs));
	address = reallocarray(NULL, module->mo_nplaces + 1,
	    sizeof(*address));
	if (address == NULL)
		return (NULL);
	for (i = 0; i < module->mo_nplaces; i++)
		if (prof_segments_address(module->mo_segment,
		    module->mo_nsegments, module->mo_place[i], &address[n]))
			n++;
	/* Segments need not lie in memory as they lie in the file. */
	qsort(address, n, sizeof(*address), address_compare);
	symtab = prof_symtab_of_elf_at(fd, debug_dirs, address, n);
	error_number = errno;
	free(address);
	errno = error_number;
	return (symtab);
}

/* It may be written to while it is read; then nothing of it is believed. */
static void
read_file(struct prof_module *module, const struct prof_module_files *files,
    int fd)
{
	const unsigned nsegments = module->mo_nsegments;
	struct prof_elf elf;

	if (prof_elf_open(&elf, fd) == 0) {
		if (nsegments == 0)
			module->mo_nsegments = prof_segments_of(&elf,
			    module->mo_segment);
		module->mo_stripped = !has_symtab(&elf);
		prof_elf_close(&elf);
	}
	errno = 0;
	module->mo_file = symtab_of(module, files->mf_debug_dirs, fd);
	module->mo_refused_names = module->mo_file == NULL && errno == EFBIG;
	if (is_it(module, files, fd)) {
		module->mo_why = PROF_UNNAMED_NOSYM;
		return;
	}
	prof_symtab_free(module->mo_file);
	module->mo_file = NULL;
	module->mo_nsegments = nsegments;
	module->mo_stripped = false;
}

/* Look at the file, once. */
static void
module_ask(struct prof_module *module, const struct prof_module_files *files)
{
	int fd;

	if (module->mo_asked)
		return;
	module->mo_asked = true;
	if (module->mo_why == PROF_NAMED)
		module->mo_why = PROF_UNNAMED_NOFILE;
	if (files->mf_none)
		return;
	if (prof_image_is_vdso(module->mo_image)) {
		ask_vdso(module);
		return;
	}
	fd = prof_module_open(module, files);
	if (fd == -1)
		return;
	read_file(module, files, fd);
	close(fd);
}

bool
prof_module_address(struct prof_module *module,
    const struct prof_module_files *files, uint64_t offset, uint64_t *address)
{
	if (module->mo_nsegments == 0)
		module_ask(module, files);
	if (prof_segments_address(module->mo_segment, module->mo_nsegments,
	    offset, address))
		return (true);
	/* The recorder may not have asked why there is no name. */
	module_ask(module, files);
	return (false);
}

bool
prof_module_find(struct prof_module *module,
    const struct prof_module_files *files, uint64_t address,
    struct prof_symbol *symbol)
{
	if (module->mo_recorded != NULL &&
	    prof_symtab_find(module->mo_recorded, address, symbol))
		return (true);
	module_ask(module, files);
	return (module->mo_file != NULL &&
	    prof_symtab_find(module->mo_file, address, symbol));
}

static void
ask_objects(struct prof_module *module, const struct prof_module_files *files)
{
	int fd;

	module->mo_asked_objects = true;
	fd = files->mf_none ? -1 : prof_module_open(module, files);
	if (fd == -1)
		return;
	module->mo_objects = prof_symtab_of_objects(fd, files->mf_debug_dirs);
	if (!is_it(module, files, fd)) {
		prof_symtab_free(module->mo_objects);
		module->mo_objects = NULL;
	}
	close(fd);
}

bool
prof_module_object(struct prof_module *module,
    const struct prof_module_files *files, uint64_t address,
    struct prof_symbol *symbol)
{
	if (!module->mo_asked_objects)
		ask_objects(module, files);
	return (module->mo_objects != NULL &&
	    prof_symtab_find(module->mo_objects, address, symbol));
}

bool
prof_module_is_there(const struct prof_module *module,
    const struct prof_module_files *files)
{
	int fd = files->mf_none || prof_image_is_vdso(module->mo_image) ? -1 :
	    open_file(module, files);

	if (fd == -1)
		return (false);
	close(fd);
	return (true);
}

struct prof_lines *
prof_module_lines(struct prof_module *module,
    const struct prof_module_files *files)
{
	int fd;

	if (module->mo_asked_lines || files->mf_none)
		return (module->mo_lines);
	module->mo_asked_lines = true;
	module->mo_lines = prof_line_tables_find(files->mf_tables,
	    module->mo_image);
	module->mo_kept_lines = module->mo_lines != NULL;
	if (module->mo_kept_lines)
		return (module->mo_lines);
	fd = prof_module_open(module, files);
	if (fd == -1)
		return (NULL);
	errno = 0;
	module->mo_lines = prof_lines_open(fd, files->mf_debug_dirs);
	module->mo_refused_lines = module->mo_lines == NULL &&
	    errno == EFBIG;
	close(fd);
	module->mo_kept_lines = prof_line_tables_keep(files->mf_tables,
	    module->mo_image, module->mo_lines);
	return (module->mo_lines);
}

void
prof_module_fini(struct prof_module *module)
{
	prof_symtab_free(module->mo_recorded);
	prof_symtab_free(module->mo_file);
	prof_symtab_free(module->mo_objects);
	if (module->mo_lines != NULL && !module->mo_kept_lines)
		prof_lines_close(module->mo_lines);
}

bool
prof_is_c_library(const char *path)
{
	static const char *const files[] = { "libc.so", "libc-2", "libpthread",
	    "ld-linux", "ld-musl", "libc.musl" };
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;

	for (size_t n = 0; n < sizeof(files) / sizeof(files[0]); n++)
		if (strncmp(name, files[n], strlen(files[n])) == 0)
			return (true);
	return (false);
}
