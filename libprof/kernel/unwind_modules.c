/* SPDX-License-Identifier: ISC */
/*
 * Modules: the files that processes map, and the unwind table of each.  A
 * thread makes the tables, in the order in which they are wanted: a walk
 * that fails for want of one says so in the module's entry.
 *
 * Called by unwind.c from the thread of the drain, which alone writes what
 * the programs read; the thread only turns files into tables.
 */
#include <sys/auxv.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind_impl.h"

#define BUCKETS		4096
#define MAX_SEGMENTS	4
#define MAX_FILE_BYTES	(2ULL << 30)	/* larger ones are not looked into */

/* One file.  fd and table pass to the thread and back. */
struct module {
	struct module	*mo_next;	/* in its bucket */
	struct module	*mo_link;	/* in the queue, or among the made */
	uint32_t	 mo_number;
	uint64_t	 mo_dev;
	uint64_t	 mo_ino;
	uint32_t	 mo_id_len;
	uint8_t		 mo_id[20];
	int		 mo_fd;		/* -1: the vDSO, in our memory ... */
	size_t		 mo_vdso_bytes;	/* ... which is so long */
	Elf64_Phdr	 mo_text[MAX_SEGMENTS];
	unsigned	 mo_ntext;
	struct prof_unwind_table *mo_table;
};

struct prof_unwind_modules {
	struct prof_unwind_memory *ms_memory;
	struct module	*ms_bucket[BUCKETS];
	uint32_t	 ms_n;		/* numbers given out; 0 is nobody */
	pthread_t	 ms_thread;
	/* [m] all below */
	pthread_mutex_t	 ms_mutex;
	pthread_cond_t	 ms_more;
	struct module	*ms_queue;
	struct module	*ms_made;
	unsigned	 ms_pending;	/* queued, being made, or made */
	bool		 ms_quit;
};

/* Take the one that walks ask for, else the one that waits longest. */
static struct module *
next_wanted(struct prof_unwind_modules *modules)
{
	struct module **at, **first = &modules->ms_queue, *module;

	for (at = first; *at != NULL; at = &(*at)->mo_link)
		if (modules->ms_memory->um_modules[(*at)->mo_number].uo_wanted)
			break;
	if (*at == NULL)
		at = first;
	module = *at;
	if (module != NULL)
		*at = module->mo_link;
	return (module);
}

static void
make_table(struct module *module)
{
	struct prof_elf elf;
	const uint8_t *vdso;

	if (module->mo_fd == -1) {
		vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
		if (vdso != NULL && prof_elf_memory(&elf, vdso,
		    module->mo_vdso_bytes) == 0)
			module->mo_table = prof_unwind_table_new(&elf);
		return;
	}
	if (prof_elf_open(&elf, module->mo_fd) == 0) {
		module->mo_table = prof_unwind_table_new(&elf);
		prof_elf_close(&elf);
	}
	close(module->mo_fd);
	module->mo_fd = -1;
}

static void *
maker(void *arg)
{
	struct prof_unwind_modules *modules = arg;
	struct module *module;

	pthread_mutex_lock(&modules->ms_mutex);
	while (!modules->ms_quit) {
		module = next_wanted(modules);
		if (module == NULL) {
			pthread_cond_wait(&modules->ms_more,
			    &modules->ms_mutex);
			continue;
		}
		pthread_mutex_unlock(&modules->ms_mutex);
		make_table(module);
		pthread_mutex_lock(&modules->ms_mutex);
		module->mo_link = modules->ms_made;
		modules->ms_made = module;
	}
	pthread_mutex_unlock(&modules->ms_mutex);
	return (NULL);
}

struct prof_unwind_modules *
prof_unwind_modules_new(struct prof_unwind_memory *memory)
{
	struct prof_unwind_modules *modules = calloc(1, sizeof(*modules));

	if (modules == NULL)
		return (NULL);
	modules->ms_memory = memory;
	modules->ms_n = 1;
	memory->um_modules[0].uo_state = DTP_UW_NO_TABLE;
	pthread_mutex_init(&modules->ms_mutex, NULL);
	pthread_cond_init(&modules->ms_more, NULL);
	if (pthread_create(&modules->ms_thread, NULL, maker, modules) != 0) {
		free(modules);
		return (NULL);
	}
	return (modules);
}

void
prof_unwind_modules_free(struct prof_unwind_modules *modules)
{
	struct module *module, *next;
	size_t n;

	if (modules == NULL)
		return;
	pthread_mutex_lock(&modules->ms_mutex);
	modules->ms_quit = true;
	pthread_cond_signal(&modules->ms_more);
	pthread_mutex_unlock(&modules->ms_mutex);
	pthread_join(modules->ms_thread, NULL);
	for (n = 0; n < BUCKETS; n++)
		for (module = modules->ms_bucket[n]; module != NULL;
		    module = next) {
			next = module->mo_next;
			if (module->mo_fd != -1)
				close(module->mo_fd);
			prof_unwind_table_free(module->mo_table);
			free(module);
		}
	pthread_mutex_destroy(&modules->ms_mutex);
	pthread_cond_destroy(&modules->ms_more);
	free(modules);
}

static struct module **
bucket_of(struct prof_unwind_modules *modules,
    const struct prof_record *mapping)
{
	uint64_t hash = mapping->pr_ino * 0x9e3779b97f4a7c15ULL;

	if (mapping->pr_build_id_len >= 8)
		memcpy(&hash, mapping->pr_build_id, sizeof(hash));
	return (&modules->ms_bucket[hash % BUCKETS]);
}

/* By build-id where there is one: the same file, wherever it lies. */
static bool
is_module(const struct module *module, const struct prof_record *mapping)
{
	if (module->mo_id_len != mapping->pr_build_id_len)
		return (false);
	if (module->mo_id_len != 0)
		return (memcmp(module->mo_id, mapping->pr_build_id,
		    module->mo_id_len) == 0);
	return (module->mo_dev == mapping->pr_dev &&
	    module->mo_ino == mapping->pr_ino);
}

/* Which addresses the executable segments are meant for. */
static int
look_into(struct module *module)
{
	struct prof_elf elf;
	const uint8_t *vdso;
	Elf64_Phdr ph;
	size_t n;

	if (module->mo_fd != -1) {
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
		    module->mo_ntext < MAX_SEGMENTS)
			module->mo_text[module->mo_ntext++] = ph;
	n = elf.el_size;
	prof_elf_close(&elf);
	return (module->mo_ntext == 0 || n > MAX_FILE_BYTES ? -1 : 0);
}

static void
enqueue(struct prof_unwind_modules *modules, struct module *module)
{
	struct module **last;

	pthread_mutex_lock(&modules->ms_mutex);
	for (last = &modules->ms_queue; *last != NULL;
	    last = &(*last)->mo_link)
		continue;
	module->mo_link = NULL;
	*last = module;
	modules->ms_pending++;
	pthread_cond_signal(&modules->ms_more);
	pthread_mutex_unlock(&modules->ms_mutex);
}

static struct module *
add_module(struct prof_unwind_modules *modules,
    const struct prof_record *mapping)
{
	struct module *module, **bucket = bucket_of(modules, mapping);
	bool is_vdso = strcmp(mapping->pr_path, "[vdso]") == 0;

	if (modules->ms_n == DTP_UW_MODULES ||
	    (module = calloc(1, sizeof(*module))) == NULL)
		return (NULL);
	module->mo_dev = mapping->pr_dev;
	module->mo_ino = mapping->pr_ino;
	module->mo_id_len = mapping->pr_build_id_len;
	module->mo_vdso_bytes = mapping->pr_len;
	memcpy(module->mo_id, mapping->pr_build_id, sizeof(module->mo_id));
	module->mo_fd = is_vdso ? -1 : prof_mapped_file_open(mapping);
	if (!is_vdso && module->mo_fd == -1) {
		/* Gone before we looked: another process may still show it. */
		free(module);
		return (NULL);
	}
	module->mo_number = modules->ms_n++;
	module->mo_next = *bucket;
	*bucket = module;
	if (look_into(module) == 0) {
		enqueue(modules, module);
		return (module);
	}
	if (module->mo_fd != -1)
		close(module->mo_fd);
	module->mo_fd = -1;
	modules->ms_memory->um_modules[module->mo_number].uo_state =
	    DTP_UW_NO_TABLE;
	return (module);
}

static uint64_t
bias_of(const struct module *module, const struct prof_record *mapping)
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

uint32_t
prof_unwind_modules_get(struct prof_unwind_modules *modules,
    const struct prof_record *mapping, uint64_t *bias)
{
	struct module *module;

	*bias = mapping->pr_addr - mapping->pr_offset;
	if (mapping->pr_path[0] != '/' &&
	    strcmp(mapping->pr_path, "[vdso]") != 0)
		return (0);
	for (module = *bucket_of(modules, mapping); module != NULL;
	    module = module->mo_next)
		if (is_module(module, mapping))
			break;
	if (module == NULL && (module = add_module(modules, mapping)) == NULL)
		return (0);
	*bias = bias_of(module, mapping);
	return (module->mo_number);
}

/* A module's own dictionary becomes part of everybody's. */
static uint16_t
shared_rule(struct prof_unwind_memory *memory, uint16_t *shared,
    const struct prof_unwind_table *table, uint16_t rule)
{
	const struct dtp_uw_entry *entry;
	uint32_t n;

	if (rule < DTP_UW_RULES)
		return (rule);
	if (shared[rule - DTP_UW_RULES] != 0)
		return (shared[rule - DTP_UW_RULES]);
	entry = &table->ut_entries[rule - DTP_UW_RULES];
	for (n = 0; n < memory->um_nentries; n++)
		if (memcmp(&memory->um_entries[n], entry, sizeof(*entry)) ==
		    0)
			break;
	if (n == DTP_UW_ENTRIES - (DTP_UW_RULES - DTP_UW_END))
		return (DTP_UW_USER);
	if (n == memory->um_nentries)
		memory->um_entries[memory->um_nentries++] = *entry;
	shared[rule - DTP_UW_RULES] = (uint16_t)(DTP_UW_RULES + n);
	return (shared[rule - DTP_UW_RULES]);
}

static int
publish_one(struct prof_unwind_memory *memory, const struct module *module)
{
	const struct prof_unwind_table *table = module->mo_table;
	struct dtp_uw_module *entry = &memory->um_modules[module->mo_number];
	struct prof_words words;
	uint16_t *shared;
	uint32_t *to;
	size_t n;

	if (table == NULL || table->ut_nindex + table->ut_nrows >
	    DTP_UW_SLAB_WORDS)
		return (-1);
	shared = calloc(table->ut_nentries + 1, sizeof(*shared));
	if (shared == NULL || prof_words_get(memory, (uint32_t)(
	    table->ut_nindex + table->ut_nrows), &words) == -1) {
		free(shared);
		return (-1);
	}
	to = prof_words_at(memory, &words);
	memcpy(to, table->ut_index, table->ut_nindex * sizeof(*to));
	to += table->ut_nindex;
	for (n = 0; n < table->ut_nrows; n++)
		to[n] = (uint32_t)shared_rule(memory, shared, table,
		    (uint16_t)(table->ut_rows[n] >> 16)) << 16 |
		    (table->ut_rows[n] & 0xffff);
	free(shared);
	entry->uo_base = table->ut_base;
	entry->uo_span = table->ut_span;
	entry->uo_slab = words.wd_slab;
	entry->uo_index = words.wd_at;
	entry->uo_rows = words.wd_at + (uint32_t)table->ut_nindex;
	return (0);
}

void
prof_unwind_modules_publish(struct prof_unwind_modules *modules)
{
	struct prof_unwind_memory *memory = modules->ms_memory;
	struct module *made, *module;
	unsigned n = 0;

	pthread_mutex_lock(&modules->ms_mutex);
	made = modules->ms_made;
	modules->ms_made = NULL;
	pthread_mutex_unlock(&modules->ms_mutex);
	for (module = made; module != NULL; module = module->mo_link, n++) {
		uint32_t state = publish_one(memory, module) == 0 ?
		    DTP_UW_TABLE : DTP_UW_NO_TABLE;

		prof_unwind_table_free(module->mo_table);
		module->mo_table = NULL;
		/* Partner: the load of uo_state in unwind.bpf.h. */
		__atomic_store_n(&memory->um_modules[
		    module->mo_number].uo_state, state, __ATOMIC_RELEASE);
	}
	if (n == 0)
		return;
	pthread_mutex_lock(&modules->ms_mutex);
	modules->ms_pending -= n;
	pthread_mutex_unlock(&modules->ms_mutex);
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
