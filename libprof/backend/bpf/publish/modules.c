/* SPDX-License-Identifier: ISC */
/*
 * Modules: the files that processes map, and the unwind table of each.
 * Threads make the tables, in the order in which they are wanted: a walk
 * that fails for want of one says so in the module's entry.
 *
 * Called by publish.c from the thread of the drain; the threads only open files
 * and have tables made of them (broker/tables.c).  tables.c hands those
 * to the programs.
 */
#include <sys/auxv.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "broker/tables.h"
#include "confine/privilege.h"
#include "elf/build_id.h"
#include "image/images.h"
#include "os/procfs.h"
#include "publish_impl.h"

/* Take the one that walks ask for, else the one that waits longest. */
static struct prof_module *
next_wanted(struct prof_unwind_modules *modules)
{
	struct prof_module **at, **first = &modules->ms_queue, *module;

	for (at = first; *at != NULL; at = &(*at)->mo_link)
		if (modules->ms_memory->um_modules[(*at)->mo_number].uo_wanted)
			break;
	if (*at == NULL)
		at = first;
	module = *at;
	if (module != NULL) {
		*at = module->mo_link;
		modules->ms_nqueued--;
	}
	return (module);
}

/* Names are given to other files; a wrong table is worse than none. */
static bool
is_file(const struct prof_module *module, int fd)
{
	uint8_t id[20];
	struct stat st;

	if (module->mo_id_len != 0)
		return (prof_build_id_of_file(fd, id) == module->mo_id_len &&
		    memcmp(id, module->mo_id, module->mo_id_len) == 0);
	return (fstat(fd, &st) == 0 && st.st_ino == module->mo_ino &&
	    (module->mo_written_ns == 0 ||
	    prof_image_written_ns(fd) == module->mo_written_ns));
}

/* The descriptor, if it is that of the module's file; else -1. */
static int
file_check(const struct prof_module *module, int fd)
{
	if (fd == -1 || is_file(module, fd))
		return (fd);
	close(fd);
	return (-1);
}

static int
open_shown(const struct prof_module *module, const struct prof_shown *shown)
{
	const struct prof_record where = { .pr_pid = shown->sh_pid,
	    .pr_addr = shown->sh_addr, .pr_len = shown->sh_len,
	    .pr_path = module->mo_path };

	return (file_check(module, prof_mapped_file_open(&where)));
}

/*
 * The module's file, through those that show it, else by its name, where its
 * build-id decides: who mapped it last may have ended first.
 */
static int
open_file(const struct prof_module *module, const struct prof_shown *last)
{
	int fd = open_shown(module, last);

	if (fd == -1 && module->mo_first.sh_pid != last->sh_pid)
		fd = open_shown(module, &module->mo_first);
	if (fd == -1 && module->mo_id_len != 0)
		fd = file_check(module, prof_image_open(module->mo_path));
	return (fd);
}

/* The kernel's own, so we read it ourselves. */
static void
make_table_of_vdso(struct prof_module *module)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct prof_elf elf;

	if (vdso == NULL || prof_elf_memory(&elf, vdso,
	    module->mo_vdso_bytes) == -1)
		return;
	module->mo_table = prof_unwind_table_new(&elf);
	if (module->mo_table == NULL && errno != 0)
		module->mo_made = PROF_MADE_TOO_LITTLE;
	prof_elf_close(&elf);
}

static void
make_table(struct prof_broker *broker, struct prof_module *module,
    const struct prof_shown *last)
{
	static const enum prof_made made[] = {
		[PROF_TABLED] = PROF_MADE,
		[PROF_TABLED_NONE] = PROF_MADE,
		[PROF_TABLED_LARGE] = PROF_MADE_NEVER,
		[PROF_TABLED_LOST] = PROF_MADE_NEVER,
		[PROF_TABLED_LATER] = PROF_MADE_TOO_LITTLE,
	};

	module->mo_made = PROF_MADE;
	if (module->mo_path == NULL) {
		make_table_of_vdso(module);
		return;
	}
	if (module->mo_fd == -1)
		module->mo_fd = open_file(module, last);
	if (module->mo_fd == -1) {
		module->mo_made = PROF_MADE_NOTHING;
		return;
	}
	module->mo_made = made[prof_table_ask(broker, module->mo_fd,
	    module->mo_path, &module->mo_table, &module->mo_runtime)];
	close(module->mo_fd);
	module->mo_fd = -1;
}

static void *
maker_run(void *arg)
{
	struct prof_unwind_modules *modules = arg;
	struct prof_module *module;
	struct prof_shown last;

	prof_privileges_thread("dtprof-opener", PROF_CAPS_OPEN);
	pthread_mutex_lock(&modules->ms_mutex);
	while (!modules->ms_quit) {
		module = next_wanted(modules);
		if (module == NULL) {
			modules->ms_nidle++;
			pthread_cond_wait(&modules->ms_more,
			    &modules->ms_mutex);
			modules->ms_nidle--;
			continue;
		}
		last = module->mo_last;
		pthread_mutex_unlock(&modules->ms_mutex);
		make_table(modules->ms_broker, module, &last);
		pthread_mutex_lock(&modules->ms_mutex);
		module->mo_link = modules->ms_made;
		modules->ms_made = module;
	}
	pthread_mutex_unlock(&modules->ms_mutex);
	return (NULL);
}

struct prof_unwind_modules *
prof_unwind_modules_new(struct prof_unwind_memory *memory,
    struct prof_broker *broker)
{
	struct prof_unwind_modules *modules = calloc(1, sizeof(*modules));

	if (modules == NULL)
		return (NULL);
	modules->ms_memory = memory;
	modules->ms_broker = broker;
	modules->ms_n = 1;
	memory->um_modules[0].uo_state = DTP_UW_NO_TABLE;
	pthread_mutex_init(&modules->ms_mutex, NULL);
	pthread_cond_init(&modules->ms_more, NULL);
	modules->ms_max_threads = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	if (modules->ms_max_threads > PROF_MODULE_MAKERS)
		modules->ms_max_threads = PROF_MODULE_MAKERS;
	return (modules);
}

void
prof_unwind_modules_free(struct prof_unwind_modules *modules)
{
	struct prof_module *module, *next;
	size_t n;

	if (modules == NULL)
		return;
	pthread_mutex_lock(&modules->ms_mutex);
	modules->ms_quit = true;
	pthread_cond_broadcast(&modules->ms_more);
	pthread_mutex_unlock(&modules->ms_mutex);
	for (n = 0; n < modules->ms_nthreads; n++)
		pthread_join(modules->ms_thread[n], NULL);
	for (n = 0; n < PROF_MODULE_BUCKETS; n++)
		for (module = modules->ms_bucket[n]; module != NULL;
		    module = next) {
			next = module->mo_next;
			if (module->mo_fd != -1)
				close(module->mo_fd);
			prof_unwind_table_free(module->mo_table);
			free(module->mo_path);
			free(module);
		}
	pthread_mutex_destroy(&modules->ms_mutex);
	pthread_cond_destroy(&modules->ms_more);
	free(modules);
}

static struct prof_module **
bucket_of(struct prof_unwind_modules *modules, uint64_t ino,
    const uint8_t id[20], uint32_t id_len)
{
	uint64_t hash = ino * 0x9e3779b97f4a7c15ULL;

	if (id_len >= 8)
		memcpy(&hash, id, sizeof(hash));
	return (&modules->ms_bucket[hash % PROF_MODULE_BUCKETS]);
}

struct prof_module **
prof_module_bucket(struct prof_unwind_modules *modules,
    const struct prof_module *module)
{
	return (bucket_of(modules, module->mo_ino, module->mo_id,
	    module->mo_id_len));
}

/* By build-id where there is one: the same file, wherever it lies. */
static bool
is_module(const struct prof_module *module, const struct prof_record *mapping)
{
	if (module->mo_id_len != mapping->pr_build_id_len)
		return (false);
	if (module->mo_id_len != 0)
		return (memcmp(module->mo_id, mapping->pr_build_id,
		    module->mo_id_len) == 0);
	return (module->mo_dev == mapping->pr_dev &&
	    module->mo_ino == mapping->pr_ino);
}

/*
 * Has the mapped file been written since?  A build-id would tell the new one
 * apart, and without code there is no table to be wrong.
 */
static bool
is_rewritten(const struct prof_module *module,
    const struct prof_record *mapping)
{
	struct stat st;
	bool is_it;
	int fd;

	if (module->mo_id_len != 0 || module->mo_ntext == 0 ||
	    (fd = prof_mapped_file_open(mapping)) == -1)
		return (false);
	is_it = fstat(fd, &st) == 0 && st.st_ino == module->mo_ino &&
	    prof_image_written_ns(fd) != module->mo_written_ns;
	close(fd);
	return (is_it);
}

/* Which addresses the executable segments are meant for. */
static int
look_into(struct prof_module *module)
{
	struct prof_elf elf;
	const uint8_t *vdso;
	Elf64_Phdr ph;
	size_t n;

	if (module->mo_path != NULL) {
		if (prof_elf_open(&elf, module->mo_fd) == -1)
			return (-1);
	} else {
		vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
		if (vdso == NULL || prof_elf_memory(&elf, vdso,
		    module->mo_vdso_bytes) == -1)
			return (-1);
	}
	for (n = 0; prof_elf_segment(&elf, n, &ph); n++)
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) &&
		    module->mo_ntext < PROF_MODULE_SEGMENTS)
			module->mo_text[module->mo_ntext++] = ph;
	prof_elf_close(&elf);
	return (module->mo_ntext == 0 ? -1 : 0);
}

void
prof_module_make(struct prof_unwind_modules *modules,
    struct prof_module *module)
{
	struct prof_module **last;

	module->mo_is_busy = true;
	pthread_mutex_lock(&modules->ms_mutex);
	for (last = &modules->ms_queue; *last != NULL;
	    last = &(*last)->mo_link)
		continue;
	module->mo_link = NULL;
	*last = module;
	modules->ms_pending++;
	if (++modules->ms_nqueued > modules->ms_nidle &&
	    modules->ms_nthreads < modules->ms_max_threads &&
	    pthread_create(&modules->ms_thread[modules->ms_nthreads], NULL,
	    maker_run, modules) == 0)
		modules->ms_nthreads++;
	pthread_cond_signal(&modules->ms_more);
	pthread_mutex_unlock(&modules->ms_mutex);
}

static struct prof_shown
shown_by(const struct prof_record *mapping)
{
	return ((struct prof_shown){ mapping->pr_pid, mapping->pr_addr,
	    mapping->pr_len });
}

static struct prof_module *
add_module(struct prof_unwind_modules *modules,
    const struct prof_record *mapping)
{
	struct prof_module *module, **bucket;
	bool is_vdso = strcmp(mapping->pr_path, "[vdso]") == 0, has_code;

	if ((module = calloc(1, sizeof(*module))) == NULL)
		return (NULL);
	module->mo_dev = mapping->pr_dev;
	module->mo_ino = mapping->pr_ino;
	module->mo_id_len = mapping->pr_build_id_len;
	module->mo_vdso_bytes = mapping->pr_len;
	module->mo_first = module->mo_last = shown_by(mapping);
	memcpy(module->mo_id, mapping->pr_build_id, sizeof(module->mo_id));
	module->mo_fd = -1;
	if ((!is_vdso && ((module->mo_path = strdup(mapping->pr_path)) ==
	    NULL || (module->mo_fd = open_file(module, &module->mo_last)) ==
	    -1)) || (module->mo_number = prof_module_number(modules)) == 0) {
		/* Gone before we looked: another process may still show it. */
		if (module->mo_fd != -1)
			close(module->mo_fd);
		free(module->mo_path);
		free(module);
		return (NULL);
	}
	if (module->mo_fd != -1)
		module->mo_written_ns = prof_image_written_ns(module->mo_fd);
	modules->ms_module[module->mo_number] = module;
	modules->ms_nfiles++;
	module->mo_needed_ns = prof_now_ns();
	bucket = prof_module_bucket(modules, module);
	module->mo_next = *bucket;
	*bucket = module;
	has_code = look_into(module) == 0;
	prof_file_show(modules->ms_memory, module, module->mo_fd);
	if (has_code) {
		prof_module_make(modules, module);
		return (module);
	}
	if (module->mo_fd != -1)
		close(module->mo_fd);
	module->mo_fd = -1;
	prof_module_has_none(modules, module);
	return (module);
}

static uint64_t
bias_of(const struct prof_module *module, const struct prof_record *mapping)
{
	uint64_t off = mapping->pr_offset;
	unsigned n;

	for (n = 0; n < module->mo_ntext; n++) {
		const Elf64_Phdr *ph = &module->mo_text[n];
		uint64_t page = 65535;

		/* A mapping starts at the page that the segment starts in. */
		if (off + page >= ph->p_offset && off < ph->p_offset +
		    ph->p_filesz)
			return (mapping->pr_addr - off + ph->p_offset -
			    ph->p_vaddr);
	}
	return (mapping->pr_addr - off);
}

/* Walks meet files that are not known: it may be this one, a copy. */
static void
copy_show(struct prof_unwind_modules *modules, struct prof_module *module)
{
	int fd;

	if (!modules->ms_some_unknown || module->mo_path == NULL ||
	    (fd = open_shown(module, &module->mo_last)) == -1)
		return;
	prof_file_show(modules->ms_memory, module, fd);
	close(fd);
}

/* A device: there are no rules to be had. */
static bool
is_no_file(const struct prof_record *mapping)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx",
	    mapping->pr_pid, (unsigned long long)mapping->pr_addr,
	    (unsigned long long)(mapping->pr_addr + mapping->pr_len));
	if (stat(path, &st) == -1 && stat(mapping->pr_path, &st) == -1)
		return (false);
	return (!S_ISREG(st.st_mode));
}

uint32_t
prof_unwind_modules_get(struct prof_unwind_modules *modules,
    const struct prof_record *mapping, uint64_t *bias)
{
	struct prof_module *module;

	*bias = mapping->pr_addr - mapping->pr_offset;
	/* Memory without a file has a name in brackets, or "//anon". */
	if ((mapping->pr_path[0] != '/' || mapping->pr_path[1] == '/') &&
	    strcmp(mapping->pr_path, "[vdso]") != 0)
		return (0);
	for (module = *bucket_of(modules, mapping->pr_ino,
	    mapping->pr_build_id, mapping->pr_build_id_len); module != NULL;
	    module = module->mo_next)
		if (is_module(module, mapping) &&
		    !is_rewritten(module, mapping))
			break;
	if (module != NULL) {
		/* Its table may have to be made again. */
		pthread_mutex_lock(&modules->ms_mutex);
		module->mo_last = shown_by(mapping);
		module->mo_unmapped_ns = 0;
		pthread_mutex_unlock(&modules->ms_mutex);
		copy_show(modules, module);
	} else if ((module = add_module(modules, mapping)) == NULL)
		return (is_no_file(mapping) ? 0 : PROF_MODULE_LOST);
	*bias = bias_of(module, mapping);
	return (module->mo_number);
}

bool
prof_unwind_modules_idle(struct prof_unwind_modules *modules)
{
	bool idle;

	pthread_mutex_lock(&modules->ms_mutex);
	idle = modules->ms_pending == 0;
	pthread_mutex_unlock(&modules->ms_mutex);
	return (idle);
}
