/* SPDX-License-Identifier: ISC */
/*
 * See places.h.  Called by pprof.c, perf_script.c and store.c.
 */
#include <stdlib.h>
#include <string.h>

#include "image/images.h"
#include "places.h"
#include "profile/profile_impl.h"
#include "recording/table.h"

#define MEMORY		0x100000000000ULL	/* of the first file */
#define MEMORY_SIZE	0x100000000ULL		/* of each */
#define NOWHERE		0x7f0000000000ULL	/* in every file */
#define KERNEL		0xffffffff80000000ULL
#define PLACE		16
#define MAX_MODULES	4096
#define MAX_NAMES	(1u << 20)
#define MAX_PATH	4000
#define TABLE_BYTES	(256u << 10)

struct module {
	char		*mo_path;
	uint32_t	 mo_id_len;
	uint8_t		 mo_id[20];
	uint32_t	 mo_names;
	struct prof_table mo_table;
	struct prof_buf	 mo_body;
};

struct prof_places {
	struct prof_import *pa_import;
	struct module	*pa_module;
	size_t		 pa_nmodules;
	size_t		 pa_cap_modules;
	struct prof_dict pa_paths;
	struct prof_dict pa_names;	/* module and name */
	uint64_t	*pa_place;	/* by name */
	size_t		 pa_nplaces;
	size_t		 pa_cap_places;
};

static int
no_memory(struct prof_places *places)
{
	return (prof_fail_nomem(&places->pa_import->im_error));
}

/* ------------------------------------------------------------ modules */

/* The build-id as the format has it: digits, or what else makes a file one. */
static void
take_id(struct module *module, struct prof_places_text text)
{
	size_t n = text.px_length / 2;

	if (text.px_length % 2 != 0 || n > sizeof(module->mo_id))
		return;
	for (size_t i = 0; i < n; i++) {
		const char *at = (const char *)text.px_at + 2 * i;
		const char digits[3] = { at[0], at[1], '\0' };
		char *end;

		module->mo_id[i] = (uint8_t)strtoul(digits, &end, 16);
		if (end != digits + 2)
			return;
	}
	module->mo_id_len = (uint32_t)n;
}

/* A path begins with a slash, but for what is no file and has names. */
static char *
path_of(struct prof_places_text file)
{
	const int length = (int)(file.px_length < MAX_PATH ?
	    file.px_length : MAX_PATH);
	char *path;

	if (length == 0)
		return (strdup("/unknown"));
	if (asprintf(&path, "/%.*s", length, (const char *)file.px_at) == -1)
		return (NULL);
	if (path[1] == '/' || prof_path_has_names(path + 1))
		memmove(path, path + 1, strlen(path));
	return (path);
}

static int
begin_table(struct module *module, bool is_kernel)
{
	struct prof_table *table = &module->mo_table;

	*table = (struct prof_table){
		.tb_kind = is_kernel ? PROF_TABLE_KERNEL : PROF_TABLE_FILE,
		.tb_why = PROF_UNNAMED_NOSYM,
		.tb_path = is_kernel ? "" : module->mo_path,
		.tb_id_len = module->mo_id_len,
		.tb_nsegments = 1,
		.tb_segment = { { 0, MEMORY_SIZE, NOWHERE } },
	};
	memcpy(table->tb_id, module->mo_id, module->mo_id_len);
	prof_table_pack(&module->mo_body, table);
	return (module->mo_body.bf_failed ? -1 : 0);
}

bool
prof_places_is_kernel(struct prof_places_text file)
{
	static const char *const kernels[] = { "[kernel", "[guest.kernel" };

	for (size_t n = 0; n < sizeof(kernels) / sizeof(kernels[0]); n++)
		if (file.px_length >= strlen(kernels[n]) && memcmp(file.px_at,
		    kernels[n], strlen(kernels[n])) == 0)
			return (true);
	return (false);
}

/* The next one, of a path that is new; -1 with an error. */
static int
add_module(struct prof_places *places, struct prof_places_text text,
    struct prof_places_text id)
{
	char *path = path_of(text);
	struct module *module;

	module = path == NULL ? NULL : prof_grow(
	    (void **)&places->pa_module, &places->pa_nmodules,
	    &places->pa_cap_modules, sizeof(*module));
	if (module == NULL) {
		free(path);
		return (no_memory(places));
	}
	memset(module, 0, sizeof(*module));
	module->mo_path = path;
	take_id(module, id);
	return (begin_table(module, false) == -1 ? no_memory(places) : 0);
}

/* A path keeps its number also where no module came of it. */
uint32_t
prof_places_module(struct prof_places *places, struct prof_places_text path,
    struct prof_places_text id)
{
	bool is_new;
	uint32_t n;

	if (prof_places_is_kernel(path))
		return (PROF_PLACES_KERNEL);
	n = prof_dict_find(&places->pa_paths, path.px_at, path.px_length,
	    &is_new);
	if (n == PROF_INTERN_FAILED) {
		no_memory(places);
		return (n);
	}
	if (n >= MAX_MODULES) {
		prof_fail(&places->pa_import->im_error, PROF_E_FORMAT,
		    "the input names more than %d files", MAX_MODULES);
		return (PROF_INTERN_FAILED);
	}
	if (is_new && add_module(places, path, id) == -1)
		return (PROF_INTERN_FAILED);
	return (n < places->pa_nmodules ? n : PROF_INTERN_FAILED);
}

/* -------------------------------------------------------------- names */

static int
say_table(struct prof_places *places, struct module *module)
{
	struct prof_buf *body = &module->mo_body;
	const int rv = body->bf_failed ? no_memory(places) :
	    prof_import_symbols(places->pa_import, body->bf_data,
	    body->bf_len);

	prof_buf_free(body);
	memset(body, 0, sizeof(*body));
	return (rv);
}

/* Of an address without a name, a kernel module's text says which it is. */
static int
say_module(struct prof_places *places, const char *name, uint64_t at)
{
	const struct prof_record record = {
		.pr_type = PROF_R_MMAP, .pr_time_ns = 1,
		.pr_pid = UINT32_MAX, .pr_tid = UINT32_MAX,
		.pr_addr = at, .pr_len = PLACE,
		.pr_path = name, .pr_comm = "",
	};

	return (prof_import_add(places->pa_import, &record));
}

/* A new name's place in its module. */
static int
add_place(struct prof_places *places, uint32_t number, bool in_kernel,
    struct prof_places_text text)
{
	const char *path = places->pa_module[number].mo_path;
	struct module *module = &places->pa_module[in_kernel ?
	    PROF_PLACES_KERNEL : number];
	const uint64_t at = (uint64_t)module->mo_names++ * PLACE;
	char *name = strndup(text.px_at, text.px_length < PROF_MAX_STRING ?
	    text.px_length : PROF_MAX_STRING);
	const struct prof_table_function function = {
		.tf_address = at + (in_kernel ? KERNEL : NOWHERE),
		.tf_size = PLACE,
		.tf_name = name,
		.tf_module = !in_kernel ? "" : number == PROF_PLACES_KERNEL ?
		    "[kernel]" : path + (path[0] == '/'),
	};
	uint64_t *place = prof_grow((void **)&places->pa_place,
	    &places->pa_nplaces, &places->pa_cap_places, sizeof(*place));
	int rv = 0;

	if (name == NULL || place == NULL) {
		free(name);
		return (no_memory(places));
	}
	*place = at + PLACE / 2 + (in_kernel ? KERNEL :
	    MEMORY + number * MEMORY_SIZE);
	if (name[0] != '\0')
		prof_table_pack_function(&module->mo_body, &module->mo_table,
		    &function);
	else if (in_kernel && number != PROF_PLACES_KERNEL)
		rv = say_module(places, function.tf_module,
		    function.tf_address);
	free(name);
	if (rv == -1)
		return (-1);
	if (module->mo_body.bf_len < TABLE_BYTES)
		return (0);
	return (say_table(places, module) == -1 ||
	    begin_table(module, in_kernel) == -1 ? -1 : 0);
}

uint64_t
prof_places_pc(struct prof_places *places, uint32_t module, bool in_kernel,
    struct prof_places_text name)
{
	struct prof_buf key = { 0 };
	uint32_t n = PROF_INTERN_FAILED;
	bool is_new = false;

	prof_buf_bytes(&key, &module, sizeof(module));
	prof_buf_bytes(&key, &in_kernel, sizeof(in_kernel));
	prof_buf_bytes(&key, name.px_at, name.px_length);
	if (!key.bf_failed)
		n = prof_dict_find(&places->pa_names, key.bf_data,
		    key.bf_len, &is_new);
	prof_buf_free(&key);
	if (n == PROF_INTERN_FAILED) {
		no_memory(places);
		return (0);
	}
	if (n >= MAX_NAMES) {
		prof_fail(&places->pa_import->im_error, PROF_E_FORMAT,
		    "the input has more than %u functions", MAX_NAMES);
		return (0);
	}
	if (is_new && add_place(places, module, in_kernel, name) == -1)
		return (0);
	return (n < places->pa_nplaces ? places->pa_place[n] : 0);
}

/* -------------------------------------------------------------- whole */

int
prof_places_say_memory(struct prof_places *places, uint32_t pid,
    uint64_t time_ns)
{
	struct prof_record record = {
		.pr_type = PROF_R_TASK, .pr_time_ns = time_ns,
		.pr_pid = pid, .pr_tid = pid, .pr_comm = "", .pr_path = "",
	};
	int rv = prof_import_add(places->pa_import, &record);

	record.pr_type = PROF_R_MMAP;
	for (size_t m = PROF_PLACES_KERNEL + 1; m < places->pa_nmodules &&
	    rv == 0; m++) {
		const struct module *module = &places->pa_module[m];

		record.pr_addr = MEMORY + m * MEMORY_SIZE;
		record.pr_len = (uint64_t)module->mo_names * PLACE + PLACE;
		record.pr_path = module->mo_path;
		record.pr_build_id_len = module->mo_id_len;
		memcpy(record.pr_build_id, module->mo_id,
		    sizeof(module->mo_id));
		rv = prof_import_add(places->pa_import, &record);
	}
	return (rv);
}

int
prof_places_say_tables(struct prof_places *places)
{
	for (size_t m = 0; m < places->pa_nmodules; m++)
		if (say_table(places, &places->pa_module[m]) == -1)
			return (-1);
	return (0);
}

/* The kernel's module is always there, and the first. */
static int
begin_modules(struct prof_places *places)
{
	struct module *kernel = prof_grow((void **)&places->pa_module,
	    &places->pa_nmodules, &places->pa_cap_modules, sizeof(*kernel));
	bool is_new;

	if (kernel == NULL || prof_dict_find(&places->pa_paths, "\n", 1,
	    &is_new) != PROF_PLACES_KERNEL)
		return (no_memory(places));
	memset(kernel, 0, sizeof(*kernel));
	return (begin_table(kernel, true) == -1 ? no_memory(places) : 0);
}

struct prof_places *
prof_places_new(struct prof_import *import)
{
	struct prof_places *places = calloc(1, sizeof(*places));

	if (places == NULL) {
		prof_fail_nomem(&import->im_error);
		return (NULL);
	}
	places->pa_import = import;
	if (begin_modules(places) == 0)
		return (places);
	prof_places_free(places);
	return (NULL);
}

void
prof_places_free(struct prof_places *places)
{
	if (places == NULL)
		return;
	for (size_t m = 0; m < places->pa_nmodules; m++) {
		free(places->pa_module[m].mo_path);
		prof_buf_free(&places->pa_module[m].mo_body);
	}
	free(places->pa_module);
	free(places->pa_place);
	prof_dict_free(&places->pa_paths);
	prof_dict_free(&places->pa_names);
	free(places);
}
