/* SPDX-License-Identifier: ISC */
/*
 * Lives, images, tables of functions and the kernel's addresses out of a
 * recording: one pass over the records that a reader keeps in memory, none
 * over the samples.  Called once, by prof_symbols_open.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/procfs.h"
#include "recording/query.h"
#include "recording/table.h"
#include "symbols_impl.h"

#define MAX_JITS	4096	/* that a recording has names of */

static uint64_t
info_number(const struct prof_reader *reader, const char *key)
{
	const char *text = prof_reader_info(reader, key);

	return (text == NULL ? 0 : strtoull(text, NULL, 10));
}

/* Inodes and addresses of the kernel are those of one boot. */
static bool
is_same_boot(const struct prof_reader *reader)
{
	const char *boot = prof_reader_info(reader, "machine.boot");
	char now[64];

	if (boot == NULL || boot[0] == '\0' || prof_proc_read(
	    "/proc/sys/kernel/random/boot_id", now, sizeof(now)) <= 0)
		return (false);
	now[strcspn(now, "\n")] = '\0';
	return (strcmp(boot, now) == 0);
}

int
prof_symbols_take_event(struct prof_symbols *symbols,
    const struct prof_record *record)
{
	uint32_t image = PROF_IMAGE_ANON;

	if (record->pr_type == PROF_R_KSYMBOL ||
	    (record->pr_type == PROF_R_MMAP && record->pr_pid == UINT32_MAX))
		return (prof_kernel_map_take(symbols->sy_kernel, record));
	if (record->pr_type == PROF_R_MMAP) {
		image = prof_images_get(&symbols->sy_images, record);
		if (image == UINT32_MAX)
			return (-1);
	}
	return (prof_processes_take(symbols->sy_processes, record, image));
}

static int
load_events(struct prof_symbols *symbols)
{
	struct prof_record record;

	for (size_t n = 0; n < prof_reader_nlife(symbols->sy_reader); n++) {
		prof_reader_life(symbols->sy_reader, n, &record);
		if (prof_symbols_take_event(symbols, &record) == -1)
			return (-1);
	}
	return (prof_processes_seal(symbols->sy_processes));
}

static int
load_modules(struct prof_symbols *symbols)
{
	symbols->sy_nmodules = symbols->sy_images.is_n;
	symbols->sy_module = calloc(symbols->sy_nmodules,
	    sizeof(*symbols->sy_module));
	return (symbols->sy_module == NULL ? -1 : 0);
}

/* When no image comes any more: tables may be of files nobody mapped. */
static void
name_modules(struct prof_symbols *symbols)
{
	uint32_t n;

	for (n = 0; n < symbols->sy_nmodules; n++)
		symbols->sy_module[n].mo_image =
		    &symbols->sy_images.is_image[n];
}

/* ---------------------------------------- what the recording names */

/* A table for functions to come; false: no memory. */
static bool
table_ready(struct prof_symtab **symtab)
{
	if (*symtab == NULL)
		*symtab = prof_symtab_new();
	return (*symtab != NULL);
}

/* The module that a table is of; NULL: nobody mapped it. */
static struct prof_module *
module_of(struct prof_symbols *symbols, const struct prof_table *table)
{
	struct prof_record mapping = {
		.pr_path = table->tb_path,
		.pr_dev = table->tb_dev,
		.pr_ino = table->tb_ino,
		.pr_build_id_len = table->tb_id_len,
	};
	struct prof_module *module;
	uint32_t image;
	unsigned n;

	memcpy(mapping.pr_build_id, table->tb_id, table->tb_id_len);
	image = prof_images_get(&symbols->sy_images, &mapping);
	if (image == PROF_IMAGE_ANON || image >= symbols->sy_nmodules)
		return (NULL);
	module = &symbols->sy_module[image];
	module->mo_why = (enum prof_unnamed)table->tb_why;
	module->mo_nsegments = table->tb_nsegments;
	for (n = 0; n < table->tb_nsegments; n++) {
		module->mo_segment[n].so_offset = table->tb_segment[n][0];
		module->mo_segment[n].so_size = table->tb_segment[n][1];
		module->mo_segment[n].so_address = table->tb_segment[n][2];
	}
	return (module);
}

static struct jit *
jit_of(struct prof_symbols *symbols, const struct prof_table *table)
{
	uint32_t life = symbols->sy_is_live ? 0 : prof_processes_memory_at(
	    symbols->sy_processes, table->tb_pid, table->tb_time_ns);
	struct jit *jit;
	size_t n;

	if (life == 0 || table->tb_time_ns >= symbols->sy_until_ns)
		return (NULL);
	for (n = 0; n < symbols->sy_njit; n++)
		if (symbols->sy_jit[n].ji_life == life)
			return (&symbols->sy_jit[n]);
	if (n >= MAX_JITS)
		return (NULL);
	jit = reallocarray(symbols->sy_jit, n + 1, sizeof(*jit));
	if (jit == NULL)
		return (NULL);
	symbols->sy_jit = jit;
	jit[n].ji_life = life;
	jit[n].ji_table = NULL;
	symbols->sy_njit++;
	return (&jit[n]);
}

/* Of what happens now a function may come again; files stay what they are. */
static bool
is_known(const struct prof_symbols *symbols, const struct prof_symtab *symtab,
    const struct prof_table_function *function)
{
	struct prof_symbol symbol;
	bool hidden;

	if (!symbols->sy_is_live)
		return (false);
	if (symtab != NULL)
		return (prof_symtab_find(symtab, function->tf_address,
		    &symbol) && symbol.sy_address == function->tf_address);
	return (prof_kernel_map_find(symbols->sy_kernel,
	    function->tf_address, &symbol, &hidden) &&
	    symbol.sy_address == function->tf_address &&
	    strcmp(symbol.sy_module, function->tf_module) == 0);
}

/* All functions into one table; a damaged chunk was not kept. */
static bool
load_functions(struct prof_symbols *symbols, struct prof_cur *cur,
    struct prof_table *table, struct prof_symtab *symtab)
{
	struct prof_table_function function;

	while (prof_table_unpack_function(cur, table, &function) == 1) {
		if (is_known(symbols, symtab, &function))
			continue;
		if (table->tb_kind == PROF_TABLE_KERNEL) {
			if (prof_kernel_map_add(symbols->sy_kernel,
			    function.tf_address, function.tf_size,
			    function.tf_name, function.tf_module) == -1)
				return (false);
		} else if (!prof_symtab_add(symtab, function.tf_address,
		    function.tf_size, function.tf_name)) {
			return (false);
		}
	}
	return (true);
}

static bool
load_table(struct prof_symbols *symbols, struct prof_cur *cur,
    struct prof_table *table)
{
	struct prof_symtab **symtab = NULL;
	struct prof_module *module;
	struct jit *jit;

	if (table->tb_kind == PROF_TABLE_SCRIPT)
		return (prof_script_load(symbols, cur) == 0);
	if (table->tb_kind == PROF_TABLE_KERNEL) {
		if (table->tb_why == PROF_UNNAMED_HIDDEN)
			prof_kernel_map_hidden(symbols->sy_kernel);
		return (load_functions(symbols, cur, table, NULL));
	}
	if (table->tb_kind == PROF_TABLE_FILE) {
		if ((module = module_of(symbols, table)) != NULL)
			symtab = &module->mo_recorded;
	} else if ((jit = jit_of(symbols, table)) != NULL) {
		symtab = &jit->ji_table;
	}
	if (symtab == NULL)
		return (true);
	return (table_ready(symtab) &&
	    load_functions(symbols, cur, table, *symtab));
}

static int
jit_compare(const void *a, const void *b)
{
	const struct jit *ja = a, *jb = b;

	return (ja->ji_life < jb->ji_life ? -1 : ja->ji_life > jb->ji_life);
}

int
prof_symbols_take_table(struct prof_symbols *symbols, const void *body,
    size_t length)
{
	struct prof_cur cur = prof_cur_of(body, length);
	struct prof_table table;

	return (prof_table_unpack(&cur, &table) == 1 &&
	    !load_table(symbols, &cur, &table) ? -1 : 0);
}

bool
prof_symbols_sort(struct prof_symbols *symbols)
{
	bool ok = true;

	for (uint32_t i = 0; i < symbols->sy_nmodules; i++)
		if (symbols->sy_module[i].mo_recorded != NULL)
			ok = ok && prof_symtab_sort(
			    symbols->sy_module[i].mo_recorded);
	for (size_t n = 0; n < symbols->sy_njit; n++)
		if (symbols->sy_jit[n].ji_table != NULL)
			ok = ok && prof_symtab_sort(
			    symbols->sy_jit[n].ji_table);
	return (ok);
}

/* Tables may come in pieces, so they are sorted when all are there. */
static int
load_tables(struct prof_symbols *symbols)
{
	const void *bytes;
	size_t n, len;

	for (n = 0; (bytes = prof_reader_symbols(symbols->sy_reader, n,
	    &len)) != NULL; n++)
		if (prof_symbols_take_table(symbols, bytes, len) == -1)
			return (-1);
	if (symbols->sy_njit > 0)
		qsort(symbols->sy_jit, symbols->sy_njit,
		    sizeof(*symbols->sy_jit), jit_compare);
	return (prof_symbols_sort(symbols) ? 0 : -1);
}

int
prof_symbols_load(struct prof_symbols *symbols, struct prof_err *error)
{
	const struct prof_reader *reader = symbols->sy_reader;
	const char *path = prof_reader_info(reader, "path");
	struct prof_module_files *files = &symbols->sy_files;

	symbols->sy_processes = prof_processes_new((path != NULL &&
	    strcmp(path, "perf") == 0 ? PROF_PROCESSES_PERF : 0u),
	    prof_processes_most(prof_reader_length(reader)));
	(void)prof_reader_left_out(reader, &symbols->sy_until_ns);
	symbols->sy_kernel = prof_kernel_map_new();
	symbols->sy_is_given = path != NULL && (strcmp(path, "folded") == 0 ||
	    strcmp(path, "pprof") == 0 || strcmp(path, "perf-script") == 0);
	symbols->sy_is_given |= prof_reader_info(reader, "store") != NULL;
	symbols->sy_is_one_memory = (path != NULL &&
	    (strcmp(path, "perf-script") == 0 || strcmp(path, "merge") ==
	    0)) || prof_reader_info(reader, "store") != NULL;
	files->mf_same_boot = is_same_boot(reader);
	files->mf_unchanged_ns = info_number(reader, "import.unchanged_ns");
	files->mf_realtime_ns = info_number(reader, "time.realtime_ns") -
	    info_number(reader, "time.monotonic_ns");
	if (symbols->sy_processes == NULL || symbols->sy_kernel == NULL ||
	    load_events(symbols) == -1 || load_modules(symbols) == -1 ||
	    load_tables(symbols) == -1 ||
	    prof_kernel_map_done(symbols->sy_kernel,
	    files->mf_same_boot && !files->mf_none) == -1)
		return (prof_fail_nomem(error));
	name_modules(symbols);
	return (0);
}

void
prof_symbols_unload(struct prof_symbols *symbols)
{
	uint32_t n;
	size_t i;

	for (n = 0; symbols->sy_module != NULL && n < symbols->sy_nmodules;
	    n++)
		prof_module_fini(&symbols->sy_module[n]);
	free(symbols->sy_module);
	prof_symbols_forget_notes(symbols);
	for (i = 0; i < symbols->sy_njit; i++)
		prof_symtab_free(symbols->sy_jit[i].ji_table);
	free(symbols->sy_jit);
	free(symbols->sy_code);
	for (i = 0; i < symbols->sy_nbodies; i++)
		free(symbols->sy_body[i]);
	free(symbols->sy_body);
	prof_map_free(&symbols->sy_by_code);
	prof_processes_free(symbols->sy_processes);
	prof_kernel_map_free(symbols->sy_kernel);
	prof_images_fini(&symbols->sy_images);
}
