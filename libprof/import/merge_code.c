/* SPDX-License-Identifier: ISC */
/*
 * The code of merged recordings, each file once, whoever mapped it and
 * wherever: all of it lies in the memory of one process (PROF_PLACES_PID), so
 * that equal stacks of many hosts are one stack of the dictionary.
 *
 *	0x0000..		why there is no name (PROF_PC_WITHOUT)
 *	(n + 1) << IMAGE_SHIFT	image n, by offset in the file
 *	JIT			code without a file, by name
 *	KERNEL			the kernel's functions, by module and name
 *
 * Files are distinguished as everywhere, by path and build-id.  The kernel lies
 * elsewhere after each boot, and JIT code in each process: there the name
 * decides.  Called by merge.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "image/images.h"
#include "import.h"
#include "merge_code.h"
#include "process/symbols.h"
#include "recording/frame.h"
#include "recording/table.h"

#define IMAGE_SHIFT	38
#define MAX_IMAGES	(1u << 16)
#define JIT		(1ULL << 55)
#define JIT_SIZE	(1ULL << 54)
#define KERNEL		0xffff800000000000ULL
#define PLACE_SHIFT	20		/* of a function of these two */
#define MAX_PLACES	(1u << 26)
#define MAX_CODES	(1u << 24)
#define TABLE_BYTES	(256u << 10)	/* that are written at once */

/* What is known of an image, as far as it has been written. */
struct table {
	struct prof_table tb_head;
	struct prof_buf	 tb_body;
	bool		 tb_has_head;	/* from a recording's table */
};

struct prof_merge_code {
	struct prof_import *mc_import;
	struct prof_images mc_images;
	struct table	*mc_table;	/* by image */
	size_t		 mc_cap_tables;
	size_t		 mc_ntables;
	struct prof_dict mc_functions;	/* image, address and name */
	struct prof_dict mc_places[2];	/* JIT, kernel: module and name */
	struct table	 mc_place_table[2];
	struct prof_dict mc_codes;	/* of scripts */
	struct prof_buf	 mc_code_table;
	bool		 mc_is_hidden;	/* a kernel's addresses were */
	/* of the recording at hand */
	struct prof_symbols *mc_symbols;
	uint64_t	 mc_salt;
	struct prof_dict mc_asked;	/* space and frame -> mc_answer */
	uint64_t	*mc_answer;
	size_t		 mc_cap_answers;
};

static int
no_memory(struct prof_merge_code *code)
{
	return (prof_fail_nomem(&code->mc_import->im_error));
}

/* ------------------------------------------------------------- images */

/* An image's number here; PROF_IMAGE_OVER with an error. */
static uint32_t
image_here(struct prof_merge_code *code, const struct prof_record *mapping)
{
	struct prof_record record = *mapping;
	uint32_t n;

	/* Inodes of one machine are no other's. */
	if (record.pr_build_id_len == 0)
		record.pr_dev ^= code->mc_salt;
	n = prof_images_get(&code->mc_images, &record);
	if (n < UINT32_MAX && n >= MAX_IMAGES) {
		prof_fail(&code->mc_import->im_error, PROF_E_LIMIT,
		    "the recordings have more than %u files", MAX_IMAGES);
		return (PROF_IMAGE_OVER);
	}
	if (n == UINT32_MAX || !prof_room(&code->mc_table, &code->mc_cap_tables,
	    (size_t)n + 1, sizeof(*code->mc_table))) {
		no_memory(code);
		return (PROF_IMAGE_OVER);
	}
	for (; code->mc_ntables <= n; code->mc_ntables++)
		code->mc_table[code->mc_ntables] = (struct table){
			.tb_has_head = false,
		};
	return (n);
}

static int
image_pc(struct prof_merge_code *code, const struct prof_image *image,
    uint64_t offset, uint64_t *pc)
{
	struct prof_record mapping = {
		.pr_path = image->im_path,
		.pr_dev = image->im_dev,
		.pr_ino = image->im_ino,
		.pr_build_id_len = image->im_id_len,
	};
	uint32_t n;

	memcpy(mapping.pr_build_id, image->im_id, image->im_id_len);
	n = image_here(code, &mapping);
	if (n == PROF_IMAGE_OVER)
		return (-1);
	/* No file is so large; what lies outside has no name anyway. */
	if (offset >> IMAGE_SHIFT != 0)
		*pc = PROF_PC_WITHOUT(PROF_UNNAMED_NOMAP);
	else
		*pc = ((uint64_t)(n + 1) << IMAGE_SHIFT) + offset;
	return (0);
}

/* ------------------------------------------ the kernel and code of JITs */

static int
table_write(struct prof_merge_code *code, struct table *table)
{
	struct prof_buf *body = &table->tb_body;
	int rv = body->bf_failed ? no_memory(code) : body->bf_len == 0 ? 0 :
	    prof_import_symbols(code->mc_import, body->bf_data,
	    body->bf_len);

	prof_buf_free(body);
	memset(body, 0, sizeof(*body));
	return (rv);
}

static int
table_add(struct prof_merge_code *code, struct table *table,
    const struct prof_table_function *function)
{
	if (table->tb_body.bf_len == 0)
		prof_table_pack(&table->tb_body, &table->tb_head);
	prof_table_pack_function(&table->tb_body, &table->tb_head, function);
	return (table->tb_body.bf_len < TABLE_BYTES ? 0 :
	    table_write(code, table));
}

/* Text of a kernel's module that its functions do not cover. */
static int
module_map(struct prof_merge_code *code, const char *module, uint64_t at)
{
	const struct prof_record record = {
		.pr_type = PROF_R_MMAP, .pr_time_ns = 1,
		.pr_pid = UINT32_MAX, .pr_tid = UINT32_MAX,
		.pr_addr = at, .pr_len = 1u << PLACE_SHIFT,
		.pr_path = module, .pr_comm = "",
	};

	return (prof_import_add(code->mc_import, &record));
}

/* A function's place, by its name, or that of all of a module without. */
static int
place_of(struct prof_merge_code *code, const struct prof_function *function,
    bool is_kernel, uint64_t *at)
{
	const bool is_named = function->fu_unnamed == PROF_NAMED;
	const char *name = !is_named ? "" : function->fu_raw;
	struct prof_table_function here = {
		.tf_size = 1u << PLACE_SHIFT, .tf_name = name,
		.tf_module = is_kernel ? function->fu_module : "",
	};
	struct prof_buf key = { 0 };
	uint32_t n = PROF_INTERN_FAILED;
	bool is_new = false;

	prof_buf_string(&key, here.tf_module);
	prof_buf_string(&key, name);
	if (!key.bf_failed)
		n = prof_dict_find(&code->mc_places[is_kernel], key.bf_data,
		    key.bf_len, &is_new);
	prof_buf_free(&key);
	if (n >= MAX_PLACES)
		return (no_memory(code));
	*at = (is_kernel ? KERNEL : JIT) + ((uint64_t)n << PLACE_SHIFT);
	here.tf_address = *at;
	if (!is_new)
		return (0);
	if (is_named)
		return (table_add(code, &code->mc_place_table[is_kernel],
		    &here));
	code->mc_is_hidden |= function->fu_unnamed == PROF_UNNAMED_HIDDEN;
	return (is_kernel ? module_map(code, function->fu_module, *at) : 0);
}

static int
place_pc(struct prof_merge_code *code, uint32_t space,
    const struct prof_frame *frame, uint64_t *pc)
{
	const struct prof_function *function = prof_symbols_function(
	    code->mc_symbols, prof_symbols_find(code->mc_symbols, space,
	    frame));
	const uint64_t most = (1u << PLACE_SHIFT) - 1;
	uint64_t inside = 1, at = 0;

	if (place_of(code, function, frame->fr_kind == PROF_FRAME_KERNEL,
	    &at) == -1)
		return (-1);
	if (function->fu_unnamed == PROF_NAMED)
		inside = frame->fr_id - function->fu_address;
	*pc = at + (inside < most ? inside : most);
	return (0);
}

/* -------------------------------------------------------------- frames */

static int
frame_pc(struct prof_merge_code *code, uint32_t space,
    const struct prof_frame *frame, uint64_t *pc)
{
	const struct prof_image *image;
	enum prof_unnamed why;
	uint64_t offset;

	if (frame->fr_kind == PROF_FRAME_KERNEL)
		return (place_pc(code, space, frame, pc));
	image = prof_symbols_image(code->mc_symbols, space, frame, &offset,
	    &why);
	if (image != NULL)
		return (image_pc(code, image, offset, pc));
	if (why == PROF_NAMED)
		return (place_pc(code, space, frame, pc));
	*pc = PROF_PC_WITHOUT(why);
	return (0);
}

int
prof_merge_code_pc(struct prof_merge_code *code, uint32_t space,
    const struct prof_frame *frame, uint64_t *pc)
{
	const uint64_t key[2] = { frame->fr_id, (uint64_t)space << 32 |
	    (uint64_t)frame->fr_kind << 8 | frame->fr_flags };
	bool is_new;
	uint32_t n = prof_dict_find(&code->mc_asked, key, sizeof(key),
	    &is_new);

	if (n == PROF_INTERN_FAILED || !prof_room(&code->mc_answer,
	    &code->mc_cap_answers, (size_t)n + 1, sizeof(*code->mc_answer)))
		return (no_memory(code));
	if (is_new && frame_pc(code, space, frame, &code->mc_answer[n]) == -1)
		return (-1);
	*pc = code->mc_answer[n];
	return (0);
}

/* Code is the same where name, file, lines and what is inlined are. */
static uint32_t
code_number(struct prof_merge_code *code, unsigned kind,
    const struct prof_table_code *what, bool *is_new)
{
	const size_t left = prof_cur_left(&what->tc_steps);
	struct prof_buf key = { 0 };
	uint32_t n = PROF_INTERN_FAILED;

	prof_buf_varint(&key, kind);
	prof_buf_string(&key, what->tc_name);
	prof_buf_string(&key, what->tc_file);
	prof_buf_varint(&key, what->tc_line);
	prof_buf_varint(&key, what->tc_nsteps);
	prof_buf_bytes(&key, what->tc_steps.cu_at, left);
	prof_buf_varint(&key, what->tc_ninlined);
	prof_buf_bytes(&key, what->tc_inlineds.cu_at,
	    prof_cur_left(&what->tc_inlineds));
	if (!key.bf_failed)
		n = prof_dict_find(&code->mc_codes, key.bf_data, key.bf_len,
		    is_new);
	prof_buf_free(&key);
	return (n);
}

static void
code_add(struct prof_merge_code *code, uint32_t number,
    const struct prof_table_code *what)
{
	const struct prof_table head = { .tb_kind = PROF_TABLE_SCRIPT };
	struct prof_buf *body = &code->mc_code_table;
	struct prof_table_code here = *what;

	here.tc_number = number;
	if (body->bf_len == 0)
		prof_table_pack(body, &head);
	prof_table_pack_code(body, &here);
}

int
prof_merge_code_script(struct prof_merge_code *code, uint64_t word,
    uint64_t *here)
{
	static const struct prof_table_code unknown = {
		.tc_name = "", .tc_file = "",
	};
	const struct prof_table_code *what;
	struct prof_frame frame;
	bool is_new = false;
	uint32_t n;

	*here = word;
	prof_frame_unpack(word, &frame);
	if (!prof_frame_is_script(&frame))
		return (0);
	what = prof_script_code(code->mc_symbols, &frame);
	n = code_number(code, frame.fr_kind, what == NULL ? &unknown : what,
	    &is_new);
	if (n >= MAX_CODES)
		return (no_memory(code));
	if (is_new && what != NULL)
		code_add(code, n, what);
	frame.fr_id = (uint64_t)n << PROF_FRAME_INSTRUCTION_BITS |
	    prof_frame_instruction(&frame);
	*here = prof_frame_pack(&frame);
	return (0);
}

/* -------------------------------------------------------------- tables */

/* One that was written already is left out. */
static int
function_take(struct prof_merge_code *code, uint32_t image,
    const struct prof_table_function *function)
{
	struct prof_buf key = { 0 };
	uint32_t n = PROF_INTERN_FAILED;
	bool is_new = false;

	prof_buf_varint(&key, image);
	prof_buf_varint(&key, function->tf_address);
	prof_buf_varint(&key, function->tf_size);
	prof_buf_string(&key, function->tf_name);
	if (!key.bf_failed)
		n = prof_dict_find(&code->mc_functions, key.bf_data,
		    key.bf_len, &is_new);
	prof_buf_free(&key);
	if (n == PROF_INTERN_FAILED)
		return (no_memory(code));
	return (is_new ? table_add(code, &code->mc_table[image], function) :
	    0);
}

/* The image of a table, if a sample met it; else PROF_IMAGE_ANON. */
static uint32_t
table_image(struct prof_merge_code *code, const struct prof_table *table)
{
	struct prof_record mapping = {
		.pr_path = table->tb_path, .pr_dev = table->tb_dev,
		.pr_ino = table->tb_ino, .pr_build_id_len = table->tb_id_len,
	};
	const size_t before = code->mc_ntables;
	uint32_t n;

	memcpy(mapping.pr_build_id, table->tb_id, table->tb_id_len);
	n = image_here(code, &mapping);
	return (n != PROF_IMAGE_OVER && n >= before ? PROF_IMAGE_ANON : n);
}

int
prof_merge_code_table(struct prof_merge_code *code, const void *bytes,
    size_t length)
{
	struct prof_cur cur = prof_cur_of(bytes, length);
	struct prof_table_function function;
	struct prof_table head;
	struct table *table;
	uint32_t image;

	/* The others were asked for by name, frame by frame. */
	if (prof_table_unpack(&cur, &head) != 1 ||
	    head.tb_kind != PROF_TABLE_FILE)
		return (0);
	image = table_image(code, &head);
	if (image == PROF_IMAGE_OVER)
		return (-1);
	if (image == PROF_IMAGE_ANON)
		return (0);
	table = &code->mc_table[image];
	if (!table->tb_has_head) {
		table->tb_head = head;
		table->tb_head.tb_path =
		    code->mc_images.is_image[image].im_path;
		table->tb_head.tb_dev =
		    code->mc_images.is_image[image].im_dev;
		table->tb_has_head = true;
	}
	while (prof_table_unpack_function(&cur, &head, &function) == 1)
		if (function_take(code, image, &function) == -1)
			return (-1);
	/* One without functions says why at least. */
	if (table->tb_body.bf_len == 0)
		prof_table_pack(&table->tb_body, &table->tb_head);
	return (0);
}

/* --------------------------------------------------------------- whole */

static int
images_map(struct prof_merge_code *code, struct prof_record *record)
{
	for (uint32_t n = 1; n < code->mc_images.is_n; n++) {
		const struct prof_image *image = &code->mc_images.is_image[n];

		record->pr_addr = (uint64_t)(n + 1) << IMAGE_SHIFT;
		record->pr_len = 1ULL << IMAGE_SHIFT;
		record->pr_path = image->im_path;
		record->pr_dev = image->im_dev;
		record->pr_ino = image->im_ino;
		record->pr_build_id_len = image->im_id_len;
		memcpy(record->pr_build_id, image->im_id, image->im_id_len);
		if (prof_import_add(code->mc_import, record) == -1)
			return (-1);
	}
	return (0);
}

int
prof_merge_code_end(struct prof_merge_code *code, uint64_t time_ns)
{
	struct prof_record record = {
		.pr_type = PROF_R_MMAP, .pr_time_ns = time_ns,
		.pr_pid = PROF_PLACES_PID, .pr_tid = PROF_PLACES_PID,
		.pr_addr = JIT, .pr_len = JIT_SIZE,
		.pr_comm = "", .pr_path = "//anon",
	};
	struct table *kernel = &code->mc_place_table[1];

	if (prof_import_add(code->mc_import, &record) == -1 ||
	    images_map(code, &record) == -1)
		return (-1);
	if (code->mc_is_hidden)
		kernel->tb_head.tb_why = PROF_UNNAMED_HIDDEN;
	if (code->mc_is_hidden && kernel->tb_body.bf_len == 0)
		prof_table_pack(&kernel->tb_body, &kernel->tb_head);
	for (size_t n = 0; n < code->mc_ntables; n++)
		if (table_write(code, &code->mc_table[n]) == -1)
			return (-1);
	if (table_write(code, &code->mc_place_table[0]) == -1 ||
	    table_write(code, kernel) == -1)
		return (-1);
	if (code->mc_code_table.bf_failed)
		return (no_memory(code));
	return (code->mc_code_table.bf_len == 0 ? 0 : prof_import_symbols(
	    code->mc_import, code->mc_code_table.bf_data,
	    code->mc_code_table.bf_len));
}

void
prof_merge_code_begin(struct prof_merge_code *code,
    struct prof_symbols *symbols, uint64_t salt)
{
	code->mc_symbols = symbols;
	code->mc_salt = salt;
	prof_dict_clear(&code->mc_asked);
}

struct prof_merge_code *
prof_merge_code_new(struct prof_import *import)
{
	struct prof_merge_code *code = calloc(1, sizeof(*code));

	if (code == NULL || prof_images_init(&code->mc_images,
	    UINT64_MAX) == -1) {
		free(code);
		prof_fail_nomem(&import->im_error);
		return (NULL);
	}
	code->mc_import = import;
	code->mc_place_table[0].tb_head = (struct prof_table){
		.tb_kind = PROF_TABLE_JIT, .tb_why = PROF_UNNAMED_ANON,
		.tb_pid = PROF_PLACES_PID, .tb_time_ns = INT64_MAX,
	};
	code->mc_place_table[1].tb_head = (struct prof_table){
		.tb_kind = PROF_TABLE_KERNEL, .tb_why = PROF_UNNAMED_NOSYM,
	};
	return (code);
}

void
prof_merge_code_free(struct prof_merge_code *code)
{
	if (code == NULL)
		return;
	for (size_t n = 0; n < code->mc_ntables; n++)
		prof_buf_free(&code->mc_table[n].tb_body);
	free(code->mc_table);
	for (size_t n = 0; n < 2; n++) {
		prof_buf_free(&code->mc_place_table[n].tb_body);
		prof_dict_free(&code->mc_places[n]);
	}
	prof_images_fini(&code->mc_images);
	prof_dict_free(&code->mc_functions);
	prof_dict_free(&code->mc_codes);
	prof_buf_free(&code->mc_code_table);
	prof_dict_free(&code->mc_asked);
	free(code->mc_answer);
	free(code);
}
