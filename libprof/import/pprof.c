/* SPDX-License-Identifier: ISC */
/*
 * A profile of pprof made into a recording.  It has names and, mostly, no
 * files to look addresses up in.  So each file that was mapped becomes a
 * memory of its own in which each function gets a place of 16 bytes, and the
 * recording has a table of what is where, as of any file.  Functions that
 * were inlined are frames like others.  The places are where no file has code,
 * so that nothing of the real one, should it be here, is taken for theirs.
 *
 * A sample has several values.  One that counts how often ("count") and
 * stands before another of something else is how many samples that other one
 * is made of; all others are events of their own.
 *
 * Called by import.c.
 */
#include <stdlib.h>

#include "analysis/analysis.h"
#include "model/images.h"
#include "pprof.h"
#include "recording/table.h"

#define MEMORY		0x100000000000ULL	/* of the first file */
#define MEMORY_SIZE	0x100000000ULL		/* of each */
#define NOWHERE		0x7f0000000000ULL	/* in every file */
#define KERNEL		0xffffffff80000000ULL
#define PLACE		16
#define MAX_MODULES	4096
#define MAX_NAMES	(1u << 20)
#define MAX_FRAMES	8192
#define MAX_SAMPLES	(4u << 20)
#define PID		1
#define TABLE_BYTES	(256u << 10)
#define KERNEL_MODULE	0		/* the first of all modules */
#define NO_COUNT	PPROF_TYPES	/* a value that no sample has */

struct module {
	char		*mo_path;
	uint32_t	 mo_id_len;
	uint8_t		 mo_id[20];
	uint32_t	 mo_names;
	struct prof_table mo_table;
	struct prof_buf	 mo_body;
};

/* Which of a sample's values an event is made of. */
struct event {
	unsigned	 et_value;
	unsigned	 et_count;	/* how many samples; NO_COUNT */
	uint64_t	 et_samples;	/* that there would be */
	uint64_t	 et_weight;	/* of all of them */
	bool		 et_by_weight;	/* too many: one a stack */
	char		*et_name;
	char		*et_unit;
};

struct conversion {
	struct prof_import *cv_import;
	struct pprof_file cv_file;
	struct module	*cv_module;
	size_t		 cv_nmodules;
	size_t		 cv_cap_modules;
	struct prof_dict cv_paths;
	struct prof_dict cv_names;	/* module and name */
	uint64_t	*cv_place;	/* by name */
	size_t		 cv_nplaces;
	size_t		 cv_cap_places;
	struct event	 cv_event[PPROF_TYPES];
	unsigned	 cv_nevents;
	struct prof_accounting cv_sum[PPROF_TYPES + 1];
	uint64_t	 cv_time_ns;
	uint64_t	 cv_deep;
	uint64_t	 cv_negative;
	uint64_t	 cv_kernel[MAX_FRAMES];
	uint64_t	 cv_user[MAX_FRAMES];
};

static int
no_memory(struct conversion *cv)
{
	return (prof_fail_nomem(&cv->cv_import->im_error));
}

static char *
copy(struct pprof_text text)
{
	const size_t n = text.pt_length < PROF_MAX_STRING ? text.pt_length :
	    PROF_MAX_STRING;

	return (strndup((const char *)text.pt_at, n));
}

/* ------------------------------------------------------------ modules */

/* The build-id as the format has it: digits, or what else makes a file one. */
static void
take_id(struct module *module, struct pprof_text text)
{
	size_t n = text.pt_length / 2;

	if (text.pt_length % 2 != 0 || n > sizeof(module->mo_id))
		return;
	for (size_t i = 0; i < n; i++) {
		const char digits[3] = { (char)text.pt_at[2 * i],
		    (char)text.pt_at[2 * i + 1], '\0' };
		char *end;

		module->mo_id[i] = (uint8_t)strtoul(digits, &end, 16);
		if (end != digits + 2)
			return;
	}
	module->mo_id_len = (uint32_t)n;
}

/* A path begins with a slash, but for what is no file and has names. */
static char *
path_of(struct pprof_text file)
{
	const int length = (int)(file.pt_length < 4000 ? file.pt_length :
	    4000);
	char *path;

	if (length == 0)
		return (strdup("/unknown"));
	if (asprintf(&path, "/%.*s", length, (const char *)file.pt_at) == -1)
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

static struct pprof_text
file_of(const struct conversion *cv, const struct pprof_mapping *mapping)
{
	return (prof_pprof_string(&cv->cv_file,
	    mapping == NULL ? UINT64_MAX : mapping->pm_file));
}

static bool
is_kernel(struct pprof_text file)
{
	return (prof_pprof_begins(file, "[kernel"));
}

/* The next one, of a path that is new; -1 with an error. */
static int
add_module(struct conversion *cv, const struct pprof_mapping *mapping)
{
	char *path = path_of(file_of(cv, mapping));
	struct module *module;

	module = path == NULL ? NULL : prof_grow((void **)&cv->cv_module,
	    &cv->cv_nmodules, &cv->cv_cap_modules, sizeof(*module));
	if (module == NULL) {
		free(path);
		return (no_memory(cv));
	}
	memset(module, 0, sizeof(*module));
	module->mo_path = path;
	if (mapping != NULL)
		take_id(module, prof_pprof_string(&cv->cv_file,
		    mapping->pm_build_id));
	return (begin_table(module, false) == -1 ? no_memory(cv) : 0);
}

/*
 * The kernel, or any file; the number of its module, or PROF_INTERN_FAILED
 * with an error.  A path keeps its number also where no module came of it.
 */
static uint32_t
module_of(struct conversion *cv, uint64_t mapping_id)
{
	const struct pprof_mapping *mapping = prof_pprof_mapping(&cv->cv_file,
	    mapping_id);
	const struct pprof_text file = file_of(cv, mapping);
	bool is_new;
	uint32_t n;

	if (is_kernel(file))
		return (KERNEL_MODULE);
	n = prof_dict_find(&cv->cv_paths, file.pt_at, file.pt_length,
	    &is_new);
	if (n == PROF_INTERN_FAILED) {
		no_memory(cv);
		return (n);
	}
	if (n >= MAX_MODULES) {
		prof_fail(&cv->cv_import->im_error, PROF_E_FORMAT,
		    "it has more than %d files", MAX_MODULES);
		return (PROF_INTERN_FAILED);
	}
	if (is_new && add_module(cv, mapping) == -1)
		return (PROF_INTERN_FAILED);
	return (n < cv->cv_nmodules ? n : PROF_INTERN_FAILED);
}

/* -------------------------------------------------------------- names */

static int
say_table(struct conversion *cv, struct module *module)
{
	struct prof_buf *body = &module->mo_body;
	const int rv = body->bf_failed ? no_memory(cv) :
	    prof_import_symbols(cv->cv_import, body->bf_data, body->bf_len);

	prof_buf_free(body);
	memset(body, 0, sizeof(*body));
	return (rv);
}

/* A new name's place in its module; without one it is as stripped code is. */
static int
add_place(struct conversion *cv, uint32_t number, bool in_kernel,
    struct pprof_text text)
{
	const char *path = cv->cv_module[number].mo_path;
	struct module *module = &cv->cv_module[in_kernel ? KERNEL_MODULE :
	    number];
	const uint64_t at = (uint64_t)module->mo_names++ * PLACE;
	char *name = copy(text);
	const struct prof_table_function function = {
		.tf_address = at + (in_kernel ? KERNEL : NOWHERE),
		.tf_size = PLACE,
		.tf_name = name,
		.tf_module = !in_kernel ? "" : number == KERNEL_MODULE ?
		    "[kernel]" : path + (path[0] == '/'),
	};
	uint64_t *place = prof_grow((void **)&cv->cv_place, &cv->cv_nplaces,
	    &cv->cv_cap_places, sizeof(*place));

	if (name == NULL || place == NULL) {
		free(name);
		return (no_memory(cv));
	}
	*place = at + PLACE / 2 + (in_kernel ? KERNEL :
	    MEMORY + number * MEMORY_SIZE);
	if (name[0] != '\0')
		prof_table_pack_function(&module->mo_body, &module->mo_table,
		    &function);
	free(name);
	if (module->mo_body.bf_len < TABLE_BYTES)
		return (0);
	return (say_table(cv, module) == -1 ||
	    begin_table(module, in_kernel) == -1 ? -1 : 0);
}

/* Where a function of a module lies; 0: too many, or no memory. */
static uint64_t
place_of(struct conversion *cv, uint32_t module, bool in_kernel,
    uint64_t function_id)
{
	const struct pprof_function *function = prof_pprof_function(
	    &cv->cv_file, function_id);
	const struct pprof_text text = prof_pprof_string(&cv->cv_file,
	    function == NULL ? UINT64_MAX : function->pn_name);
	struct prof_buf key = { 0 };
	uint32_t n = PROF_INTERN_FAILED;
	bool is_new = false;

	prof_buf_bytes(&key, &module, sizeof(module));
	prof_buf_bytes(&key, &in_kernel, sizeof(in_kernel));
	prof_buf_bytes(&key, text.pt_at, text.pt_length);
	if (!key.bf_failed)
		n = prof_dict_find(&cv->cv_names, key.bf_data, key.bf_len,
		    &is_new);
	prof_buf_free(&key);
	if (n == PROF_INTERN_FAILED || n >= MAX_NAMES ||
	    (is_new && add_place(cv, module, in_kernel, text) ==
	    -1))
		return (0);
	return (cv->cv_place[n]);
}

/* ------------------------------------------------------------- stacks */

static int
add_frame(struct conversion *cv, struct prof_record *record,
    uint32_t module, bool in_kernel, uint64_t function)
{
	const uint64_t place = place_of(cv, module, in_kernel, function);

	if (place == 0)
		return (cv->cv_import->im_error.pe_code != PROF_OK ? -1 :
		    prof_fail(&cv->cv_import->im_error, PROF_E_FORMAT,
		    "it has more than %u functions", MAX_NAMES));
	if (record->pr_nkernel + record->pr_nuser == MAX_FRAMES) {
		record->pr_ustatus = PROF_STACK_DEEP;
		return (0);
	}
	if (in_kernel)
		cv->cv_kernel[record->pr_nkernel++] = place;
	else
		cv->cv_user[record->pr_nuser++] = place;
	return (0);
}

/*
 * How many locations, the innermost, are what the kernel did: its modules and
 * BPF programs have mappings of their own, and are called from it.
 */
static size_t
in_kernel_of(struct conversion *cv, const struct pprof_sample *sample)
{
	size_t n = sample->ps_nlocations < MAX_FRAMES ?
	    sample->ps_nlocations : MAX_FRAMES;
	const struct pprof_location *location;

	for (; n > 0; n--) {
		location = prof_pprof_location(&cv->cv_file,
		    sample->ps_location[n - 1]);
		if (location != NULL && is_kernel(file_of(cv,
		    prof_pprof_mapping(&cv->cv_file, location->pl_mapping))))
			break;
	}
	return (n);
}

/*
 * The frames of a sample, the innermost first; -1 with an error.  Locations
 * and their lines take a byte or two each, so behind the last frame that is
 * kept nothing is looked at.
 */
static int
make_stack(struct conversion *cv, const struct pprof_sample *sample,
    struct prof_record *record)
{
	const size_t nkernel = in_kernel_of(cv, sample);

	for (size_t i = 0; i < sample->ps_nlocations &&
	    record->pr_ustatus != PROF_STACK_DEEP; i++) {
		const struct pprof_location *location = prof_pprof_location(
		    &cv->cv_file, sample->ps_location[i]);
		struct pprof_text rest;
		uint64_t function;
		uint32_t module;
		bool in_kernel;
		int lines = 0;

		if (location == NULL)
			continue;
		module = module_of(cv, location->pl_mapping);
		if (module == PROF_INTERN_FAILED)
			return (-1);
		in_kernel = i < nkernel || module == KERNEL_MODULE;
		for (rest = location->pl_message;
		    record->pr_ustatus != PROF_STACK_DEEP &&
		    prof_pprof_line(&rest, &function) == 1; lines++)
			if (add_frame(cv, record, module, in_kernel,
			    function) == -1)
				return (-1);
		if (lines == 0 && add_frame(cv, record, module, in_kernel,
		    0) == -1)
			return (-1);
	}
	cv->cv_deep += record->pr_ustatus == PROF_STACK_DEEP;
	record->pr_in_kernel = record->pr_nkernel > 0;
	record->pr_ip = record->pr_nkernel > 0 ? cv->cv_kernel[0] :
	    record->pr_nuser > 0 ? cv->cv_user[0] : 0;
	return (0);
}

/* How many samples a value is made of, and what each weighs. */
static uint64_t
samples_of(const struct event *event, const struct pprof_sample *sample)
{
	const int64_t value = event->et_value < sample->ps_nvalues ?
	    sample->ps_value[event->et_value] : 0;
	const int64_t count = event->et_count < sample->ps_nvalues ?
	    sample->ps_value[event->et_count] : 0;

	/* Fewer than none are a difference of two profiles. */
	if (value <= 0)
		return (0);
	return (count > 0 && count <= value ? (uint64_t)count : 1);
}

static int
add_event(struct conversion *cv, const struct pprof_sample *sample,
    unsigned e, struct prof_record *record)
{
	const struct event *event = &cv->cv_event[e];
	const uint64_t n = event->et_by_weight ? 1 :
	    samples_of(event, sample);
	const uint64_t whole = (uint64_t)sample->ps_value[event->et_value];
	struct prof_accounting *sum = &cv->cv_sum[e + 1];

	record->pr_event = e + 1;
	record->pr_weight = whole / n;
	if (whole % n > 0) {
		record->pr_weight += whole % n;
		if (prof_import_repeat(cv->cv_import, record, 1, sum,
		    &cv->cv_time_ns) == -1)
			return (-1);
		record->pr_weight = whole / n;
		return (prof_import_repeat(cv->cv_import, record, n - 1, sum,
		    &cv->cv_time_ns));
	}
	return (prof_import_repeat(cv->cv_import, record, n, sum,
	    &cv->cv_time_ns));
}

static int
add_sample(struct conversion *cv, const struct pprof_sample *sample)
{
	struct prof_record record = {
		.pr_type = PROF_R_SAMPLE, .pr_pid = PID, .pr_tid = PID,
		.pr_ustatus = PROF_STACK_OK, .pr_user = cv->cv_user,
		.pr_kernel = cv->cv_kernel, .pr_comm = "", .pr_path = "",
	};

	if (make_stack(cv, sample, &record) == -1)
		return (-1);
	for (unsigned e = 0; e < cv->cv_nevents; e++)
		if (samples_of(&cv->cv_event[e], sample) > 0 &&
		    add_event(cv, sample, e, &record) == -1)
			return (-1);
	return (0);
}

/* Only count what there will be; names and memories come out of it, too. */
static int
count_sample(struct conversion *cv, const struct pprof_sample *sample)
{
	struct prof_record record = { 0 };

	for (unsigned e = 0; e < cv->cv_nevents; e++) {
		struct event *event = &cv->cv_event[e];
		const int64_t value = event->et_value < sample->ps_nvalues ?
		    sample->ps_value[event->et_value] : 0;

		cv->cv_negative += value < 0;
		/* No more samples than weight. */
		event->et_samples += samples_of(event, sample);
		if (value > 0 && __builtin_add_overflow(event->et_weight,
		    (uint64_t)value, &event->et_weight))
			return (prof_fail(&cv->cv_import->im_error,
			    PROF_E_FORMAT, "its values add up to more than "
			    "64 bits hold"));
	}
	return (make_stack(cv, sample, &record));
}

static int
each_sample(struct conversion *cv, int (*take)(struct conversion *,
    const struct pprof_sample *))
{
	struct pprof_text rest = cv->cv_file.pf_whole;
	struct pprof_sample sample = { 0 };
	int rv;

	while ((rv = prof_pprof_sample(&rest, &sample)) == 1)
		if (take(cv, &sample) == -1)
			break;
	free(sample.ps_location);
	if (rv == -1)
		return (no_memory(cv));
	return (rv == 0 ? 0 : -1);
}

/* ------------------------------------------------------------- events */

static bool
is_count(const struct conversion *cv, unsigned type)
{
	const struct pprof_text unit = prof_pprof_string(&cv->cv_file,
	    cv->cv_file.pf_type[type].py_unit);

	return (unit.pt_length == 5 && memcmp(unit.pt_at, "count", 5) == 0);
}

/* A count of samples goes with what follows: dtprof writes "samples". */
static bool
is_number_of(const struct conversion *cv, unsigned type)
{
	const struct pprof_text name = prof_pprof_string(&cv->cv_file,
	    cv->cv_file.pf_type[type].py_type);

	return (type + 1 < cv->cv_file.pf_ntypes && is_count(cv, type) &&
	    (!is_count(cv, type + 1) || prof_pprof_begins(name, "samples")));
}

static int
make_events(struct conversion *cv)
{
	for (unsigned t = 0; t < cv->cv_file.pf_ntypes; t++) {
		struct event *event = &cv->cv_event[cv->cv_nevents];
		const unsigned value = t + is_number_of(cv, t);
		const struct pprof_type *type = &cv->cv_file.pf_type[value];

		event->et_value = value;
		event->et_count = value != t || is_count(cv, t) ? t :
		    NO_COUNT;
		event->et_name = copy(prof_pprof_string(&cv->cv_file,
		    type->py_type));
		event->et_unit = copy(prof_pprof_string(&cv->cv_file,
		    type->py_unit));
		cv->cv_nevents++;
		if (event->et_name == NULL || event->et_unit == NULL)
			return (no_memory(cv));
		t = value;
	}
	return (0);
}

static int
say_events(struct conversion *cv)
{
	const struct prof_event_info proc = {
		.pi_name = "proc", .pi_probe = "proc:::", .pi_provider =
		"proc", .pi_unit = "events", .pi_period = 1,
	};
	int rv = prof_import_event(cv->cv_import, &proc);

	for (unsigned e = 0; e < cv->cv_nevents && rv == 0; e++) {
		struct event *event = &cv->cv_event[e];
		const bool is_ns = strcmp(event->et_unit, "nanoseconds") == 0;
		const struct prof_event_info info = {
			.pi_name = event->et_name[0] != '\0' ?
			    event->et_name : "samples",
			.pi_probe = "pprof:::", .pi_provider = "pprof",
			.pi_unit = is_ns ? "ns" : is_count(cv,
			    event->et_value) ? "events" : event->et_unit,
			.pi_period = 1,
			.pi_parts = DTP_P_USTACK | DTP_P_KSTACK | DTP_P_WEIGHT,
		};

		event->et_by_weight = event->et_samples > MAX_SAMPLES;
		rv = prof_import_event(cv->cv_import, &info);
		if (rv == 0 && event->et_by_weight)
			rv = prof_import_say(cv->cv_import, "%s: too many "
			    "samples: each stack is one, of their weight",
			    info.pi_name);
	}
	return (rv);
}

/* -------------------------------------------------------------- whole */

static int
say_memory(struct conversion *cv)
{
	struct prof_record record = {
		.pr_type = PROF_R_TASK, .pr_time_ns = 1, .pr_pid = PID,
		.pr_tid = PID, .pr_comm = "", .pr_path = "",
	};
	int rv = prof_import_add(cv->cv_import, &record);

	record.pr_type = PROF_R_MMAP;
	for (size_t m = KERNEL_MODULE + 1; m < cv->cv_nmodules && rv == 0;
	    m++) {
		const struct module *module = &cv->cv_module[m];

		record.pr_addr = MEMORY + m * MEMORY_SIZE;
		record.pr_len = (uint64_t)module->mo_names * PLACE + PLACE;
		record.pr_path = module->mo_path;
		record.pr_build_id_len = module->mo_id_len;
		memcpy(record.pr_build_id, module->mo_id,
		    sizeof(module->mo_id));
		rv = prof_import_add(cv->cv_import, &record);
	}
	record = (struct prof_record){ .pr_type = PROF_R_START,
	    .pr_time_ns = 2, .pr_comm = "", .pr_path = "" };
	return (rv == -1 ? -1 : prof_import_add(cv->cv_import, &record));
}

static int
finish(struct conversion *cv)
{
	const struct prof_record stop = {
		.pr_type = PROF_R_STOP, .pr_comm = "", .pr_path = "",
		.pr_time_ns = cv->cv_time_ns + 1,
	};

	for (unsigned e = 0; e <= cv->cv_nevents; e++)
		cv->cv_sum[e].pa_stored = cv->cv_sum[e].pa_read =
		    cv->cv_sum[e].pa_fired;
	if (cv->cv_deep > 0 && prof_import_say(cv->cv_import, "%llu stacks "
	    "are deeper than %d and lost their outermost frames",
	    (unsigned long long)cv->cv_deep, MAX_FRAMES) == -1)
		return (-1);
	if (cv->cv_negative > 0 && prof_import_say(cv->cv_import, "%llu "
	    "values are below zero, as in a difference of two profiles, and "
	    "were left out", (unsigned long long)cv->cv_negative) == -1)
		return (-1);
	for (size_t m = 0; m < cv->cv_nmodules; m++)
		if (say_table(cv, &cv->cv_module[m]) == -1)
			return (-1);
	return (prof_import_add(cv->cv_import, &stop) == -1 ? -1 :
	    prof_import_accounting(cv->cv_import, cv->cv_sum,
	    cv->cv_nevents + 1));
}

/* The kernel's module is always there, and the first. */
static int
begin_modules(struct conversion *cv)
{
	struct module *kernel = prof_grow((void **)&cv->cv_module,
	    &cv->cv_nmodules, &cv->cv_cap_modules, sizeof(*kernel));
	bool is_new;

	if (kernel == NULL || prof_dict_find(&cv->cv_paths, "\n", 1,
	    &is_new) != KERNEL_MODULE)
		return (no_memory(cv));
	memset(kernel, 0, sizeof(*kernel));
	return (begin_table(kernel, true) == -1 ? no_memory(cv) : 0);
}

static int
convert(struct conversion *cv, const uint8_t *bytes, size_t length)
{
	struct prof_import *import = cv->cv_import;

	if (prof_pprof_read(&cv->cv_file, bytes, length, &import->im_error) ==
	    -1 || begin_modules(cv) == -1 || make_events(cv) == -1 ||
	    prof_import_info(import, "import", "pprof") == -1 ||
	    prof_import_info(import, "path", "pprof") == -1 ||
	    each_sample(cv, count_sample) == -1)
		return (-1);
	cv->cv_deep = 0;
	cv->cv_time_ns = 2;
	if (say_events(cv) == -1 || say_memory(cv) == -1 ||
	    each_sample(cv, add_sample) == -1)
		return (-1);
	return (finish(cv));
}

static void
conversion_free(struct conversion *cv)
{
	for (size_t m = 0; m < cv->cv_nmodules; m++) {
		free(cv->cv_module[m].mo_path);
		prof_buf_free(&cv->cv_module[m].mo_body);
	}
	for (unsigned e = 0; e < cv->cv_nevents; e++) {
		free(cv->cv_event[e].et_name);
		free(cv->cv_event[e].et_unit);
	}
	free(cv->cv_module);
	free(cv->cv_place);
	prof_dict_free(&cv->cv_paths);
	prof_dict_free(&cv->cv_names);
	prof_pprof_fini(&cv->cv_file);
	free(cv);
}

int
prof_import_pprof(struct prof_import *import)
{
	struct conversion *cv = calloc(1, sizeof(*cv));
	struct prof_buf plain = { 0 };
	int rv = 0;

	if (cv == NULL)
		return (prof_fail_nomem(&import->im_error));
	cv->cv_import = import;
	if (import->im_length > 2 && import->im_bytes[0] == 0x1f &&
	    import->im_bytes[1] == 0x8b)
		rv = prof_pprof_inflate(import, &plain);
	if (rv == 0)
		rv = plain.bf_data != NULL ?
		    convert(cv, plain.bf_data, plain.bf_len) :
		    convert(cv, import->im_bytes, import->im_length);
	conversion_free(cv);
	prof_buf_free(&plain);
	return (rv);
}

/* In gzip; or its first field is a type of value, as pprof writes it. */
bool
prof_import_is_pprof(const uint8_t *bytes, size_t length)
{
	return (length > 2 && ((bytes[0] == 0x1f && bytes[1] == 0x8b) ||
	    (bytes[0] == 0x0a && bytes[1] < 32 && bytes[2] == 0x08)));
}
