/* SPDX-License-Identifier: ISC */
/*
 * From a place in the code to the function that it is in:
 *
 *	(pid, time) -> space                                   process/
 *	(space, pc) -> mapping -> image, offset: a spot        images.c
 *	(image, offset) -> address -> symbol                   module.c
 *	(image, symbol) -> function, numbered once             here
 *
 * Each spot is looked at once and remembered, whoever has it mapped and where.
 * Called by readers of recordings; one thread at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/search.h"
#include "elf/demangle.h"
#include "languages/language.h"
#include "recording/frame.h"
#include "recording/query.h"
#include "symbols.h"
#include "symbols_impl.h"

#define NO_MODULE	UINT32_MAX
/* Memory of images, by the size of the recording. */
#define IMAGES_FIRST	(16u << 20)
#define IMAGES_PER_BYTE	4
#define JIT_OWNER	(1ULL << 32)
#define SCRIPT_OWNER	(2ULL << 32)
/* In so_flags, above kind and flags: what so_owner is, if not an image. */
#define SPOT_ANON	0x10000u	/* a life */
#define SPOT_NOWHERE	0x20000u	/* an enum prof_unnamed */

/* What is known of a place. */
struct place {
	uint32_t	 pl_module;	/* NO_MODULE: none */
	uint64_t	 pl_owner;	/* tells apart equal addresses */
	bool		 pl_in_file;	/* pl_address is the file's */
	uint64_t	 pl_address;
	enum prof_unnamed pl_why;
	struct prof_symbol pl_symbol;	/* when pl_why is PROF_NAMED */
	const char	*pl_path;
};

/* -------------------------------------------------------- answers */

/* Where the number of a key is kept; NULL: no memory. */
static uint32_t *
answer_at(struct answers *answers, const void *key, size_t len, bool *is_new)
{
	uint32_t n = prof_dict_find(&answers->an_dict, key, len, is_new);

	if (n == PROF_INTERN_FAILED || !prof_room(&answers->an_number,
	    &answers->an_cap, (size_t)n + 1, sizeof(*answers->an_number)))
		return (NULL);
	return (&answers->an_number[n]);
}

static void
answers_free(struct answers *answers)
{
	prof_dict_free(&answers->an_dict);
	free(answers->an_number);
}

void
prof_symbols_forget_asked(struct prof_symbols *symbols)
{
	answers_free(&symbols->sy_asked);
	memset(&symbols->sy_asked, 0, sizeof(symbols->sy_asked));
}

/* ------------------------------------------------------ functions */

static struct function *
function_at(const struct prof_symbols *symbols, uint32_t n)
{
	return (&symbols->sy_block[n / FUNCTIONS_BLOCK][n %
	    FUNCTIONS_BLOCK]);
}

/* A new one, zeroed; NULL: no memory. */
static struct function *
function_new(struct prof_symbols *symbols)
{
	struct function **grown;

	if (symbols->sy_nfunctions ==
	    symbols->sy_nblocks * FUNCTIONS_BLOCK) {
		grown = reallocarray(symbols->sy_block,
		    symbols->sy_nblocks + 1, sizeof(*grown));
		if (grown == NULL)
			return (NULL);
		symbols->sy_block = grown;
		grown[symbols->sy_nblocks] = calloc(FUNCTIONS_BLOCK,
		    sizeof(**grown));
		if (grown[symbols->sy_nblocks] == NULL)
			return (NULL);
		symbols->sy_nblocks++;
	}
	return (function_at(symbols, symbols->sy_nfunctions++));
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash == NULL || slash[1] == '\0' ? path : slash + 1);
}

/*
 * Where the number is kept, from 1, of what has no name there; NULL: no
 * memory.  Modules of the kernel are none of ours, and go by their names.
 */
static uint32_t *
unnamed_at(struct prof_symbols *symbols, const struct place *place,
    enum prof_frame_kind kind)
{
	char key[160];
	bool is_new;
	uint32_t *number;
	int n;

	if (place->pl_module != NO_MODULE)
		return (&symbols->sy_module[place->pl_module].mo_unnamed);
	if (kind != PROF_FRAME_KERNEL)
		return (&symbols->sy_nowhere[place->pl_why]);
	n = snprintf(key, sizeof(key), "%d %.128s", (int)place->pl_why,
	    place->pl_path);
	number = answer_at(&symbols->sy_unnamed, key, (size_t)n, &is_new);
	if (number != NULL && is_new)
		*number = 0;
	return (number);
}

/* What a module does not name is one function, called as the module is. */
static uint32_t
function_unnamed(struct prof_symbols *symbols, const struct place *place,
    enum prof_frame_kind kind)
{
	static const char *const names[PROF_UNNAMED_N] = {
		[PROF_UNNAMED_NOPROC] = "[unknown process]",
		[PROF_UNNAMED_NOMAP] = "[not mapped]",
		[PROF_UNNAMED_ANON] = "[anonymous memory]",
		[PROF_UNNAMED_OVER] = PROF_OVER_NAME,
		[PROF_UNNAMED_NOSYM] = "[kernel]",
		[PROF_UNNAMED_HIDDEN] = "[kernel]",
	};
	uint32_t *number = unnamed_at(symbols, place, kind);
	struct function *function;
	struct prof_function *fu;

	if (number == NULL)
		return (0);
	if (*number != 0)
		return (*number - 1);
	if ((function = function_new(symbols)) == NULL)
		return (0);
	fu = &function->fn_public;
	fu->fu_raw = "";
	fu->fu_module = place->pl_path;
	fu->fu_unnamed = place->pl_why;
	fu->fu_kind = kind;
	fu->fu_name = names[place->pl_why];
	if (place->pl_module != NO_MODULE && asprintf(&function->fn_name,
	    "[%s]", base_name(place->pl_path)) != -1)
		fu->fu_name = function->fn_name;
	*number = symbols->sy_nfunctions;
	return (*number - 1);
}

int
prof_symbols_first(struct prof_symbols *symbols, struct prof_err *error)
{
	struct function *function = function_new(symbols);

	if (function == NULL)
		return (prof_fail_nomem(error));
	function->fn_public.fu_name = "[out of memory]";
	function->fn_public.fu_raw = function->fn_public.fu_module = "";
	function->fn_public.fu_unnamed = PROF_UNNAMED_NOSYM;
	return (0);
}

static void
function_name(struct function *function, const struct place *place,
    bool is_kernel, bool is_given)
{
	struct prof_function *fu = &function->fn_public;
	const char *module = place->pl_symbol.sy_module;

	function->fn_raw = strdup(place->pl_symbol.sy_name);
	function->fn_name = is_kernel || is_given ? NULL :
	    prof_demangle(place->pl_symbol.sy_name);
	fu->fu_raw = function->fn_raw == NULL ? "" : function->fn_raw;
	fu->fu_name = function->fn_name == NULL ? fu->fu_raw :
	    function->fn_name;
	fu->fu_module = place->pl_path;
	if (!is_kernel || module == NULL)
		return;
	/* kallsyms writes "ext4", announcements and tables "[ext4]". */
	if (asprintf(&function->fn_module, module[0] == '[' ? "%s" : "[%s]",
	    module) == -1)
		function->fn_module = NULL;
	else
		fu->fu_module = function->fn_module;
}

/* The number of the function that a place is in. */
static uint32_t
function_of(struct prof_symbols *symbols, const struct place *place,
    enum prof_frame_kind kind)
{
	const struct {
		uint64_t	ky_address;
		uint64_t	ky_owner;
	} key = { place->pl_symbol.sy_address, place->pl_owner };
	struct function *function;
	uint32_t *known;
	bool is_new;

	if (place->pl_why != PROF_NAMED)
		return (function_unnamed(symbols, place, kind));
	known = answer_at(&symbols->sy_known, &key, sizeof(key), &is_new);
	if (known == NULL)
		return (0);
	if (!is_new)
		return (*known);
	*known = 0;
	function = function_new(symbols);
	if (function == NULL)
		return (0);
	function_name(function, place, kind == PROF_FRAME_KERNEL,
	    symbols->sy_is_given);
	function->fn_public.fu_address = place->pl_symbol.sy_address;
	function->fn_public.fu_size = place->pl_symbol.sy_size;
	function->fn_public.fu_kind = place->pl_owner >= JIT_OWNER &&
	    !symbols->sy_is_given ?
	    prof_language_of_jit(place->pl_symbol.sy_name) : kind;
	return (*known = symbols->sy_nfunctions - 1);
}

/* One of each code, wherever in it the frame is. */
static uint32_t
function_of_script(struct prof_symbols *symbols,
    const struct prof_frame *frame)
{
	const struct {
		uint64_t	ky_address;
		uint64_t	ky_owner;
	} key = { prof_frame_is_script(frame) && prof_script_inlined(symbols,
	    frame) == 0 ? prof_frame_code(frame) : frame->fr_id,
	    SCRIPT_OWNER | frame->fr_kind };
	struct function *function;
	uint32_t *known;
	bool is_new;

	known = answer_at(&symbols->sy_known, &key, sizeof(key), &is_new);
	if (known == NULL)
		return (0);
	if (is_new) {
		*known = 0;
		if (function_new(symbols) == NULL)
			return (0);
		*known = symbols->sy_nfunctions - 1;
	}
	function = function_at(symbols, *known);
	/* Of what happens now the name may have come since. */
	if (is_new || (symbols->sy_is_live && *known != 0 &&
	    function->fn_public.fu_unnamed != PROF_NAMED)) {
		memset(&function->fn_public, 0, sizeof(function->fn_public));
		prof_script_name(symbols, frame, &function->fn_public);
	}
	return (*known);
}

/* --------------------------------------------------------- places */

static void
find_kernel(struct prof_symbols *symbols, uint64_t pc, struct place *place)
{
	bool hidden;

	place->pl_address = pc;
	place->pl_path = prof_kernel_map_module(symbols->sy_kernel, pc);
	if (place->pl_path == NULL)
		place->pl_path = "[kernel]";
	place->pl_why = prof_kernel_map_find(symbols->sy_kernel, pc,
	    &place->pl_symbol, &hidden) ? PROF_NAMED : hidden ?
	    PROF_UNNAMED_HIDDEN : PROF_UNNAMED_NOSYM;
}

/* Of what happens now nothing is known of what JITs made. */
static uint32_t
memory_of(const struct prof_symbols *symbols, uint32_t space)
{
	return (symbols->sy_is_live ? 0 : prof_processes_memory(
	    symbols->sy_processes, space));
}

/* Memory without a file: what its process's JIT has said. */
static void
find_anon(struct prof_symbols *symbols, uint32_t space, uint64_t pc,
    struct place *place)
{
	uint32_t life = memory_of(symbols, space);
	const size_t low = PROF_BEFORE(i, symbols->sy_njit,
	    symbols->sy_jit[i].ji_life < life);

	place->pl_address = pc;
	place->pl_path = "[anon]";
	place->pl_why = PROF_UNNAMED_ANON;
	if (low == symbols->sy_njit ||
	    symbols->sy_jit[low].ji_life != life || !prof_symtab_find(
	    symbols->sy_jit[low].ji_table, pc, &place->pl_symbol))
		return;
	place->pl_why = PROF_NAMED;
	place->pl_path = symbols->sy_is_given ? "[folded]" : "[jit]";
	place->pl_owner = JIT_OWNER + life;
}

/* Why there is no file or memory; PROF_NAMED: there is. */
static enum prof_unnamed
mapping_at(const struct prof_symbols *symbols, uint32_t space, uint64_t pc,
    struct prof_mapping *mapping)
{
	if (space == PROF_SPACE_NONE)
		return (PROF_UNNAMED_NOPROC);
	if (space == PROF_SPACE_OVER)
		return (PROF_UNNAMED_OVER);
	if (symbols->sy_is_live)
		return (!prof_processes_at(symbols->sy_processes,
		    symbols->sy_live_pid, symbols->sy_live_ns, pc, mapping) ?
		    PROF_UNNAMED_NOMAP : mapping->mp_image ==
		    PROF_IMAGE_OVER ? PROF_UNNAMED_OVER : PROF_NAMED);
	if (symbols->sy_is_one_memory && pc >> 4 > PROF_NAMED &&
	    pc >> 4 < PROF_UNNAMED_N)
		return ((enum prof_unnamed)(pc >> 4));
	if (prof_processes_mapping(symbols->sy_processes, space, pc, mapping))
		return (mapping->mp_image == PROF_IMAGE_OVER ?
		    PROF_UNNAMED_OVER : PROF_NAMED);
	return (prof_processes_is_over(symbols->sy_processes, space) ?
	    PROF_UNNAMED_OVER : PROF_UNNAMED_NOMAP);
}

static void
find_user(struct prof_symbols *symbols, uint32_t space, uint64_t pc,
    struct place *place)
{
	struct prof_mapping mapping;
	struct prof_module *module;

	place->pl_why = mapping_at(symbols, space, pc, &mapping);
	if (place->pl_why != PROF_NAMED)
		return;
	if (mapping.mp_image == PROF_IMAGE_ANON) {
		find_anon(symbols, space, pc, place);
		return;
	}
	module = &symbols->sy_module[mapping.mp_image];
	place->pl_module = place->pl_owner = mapping.mp_image;
	place->pl_path = module->mo_image->im_path;
	place->pl_in_file = prof_module_address(module, &symbols->sy_files,
	    mapping.mp_offset + (pc - mapping.mp_start),
	    &place->pl_address);
	place->pl_why = PROF_NAMED;
	if (!place->pl_in_file || !prof_module_find(module,
	    &symbols->sy_files, place->pl_address, &place->pl_symbol))
		place->pl_why = module->mo_why;
}

/* A call lies before the address that it returns to. */
static uint64_t
pc_inside(const struct prof_frame *frame)
{
	return (frame->fr_id - ((frame->fr_flags & PROF_FRAME_RETURN) != 0 &&
	    frame->fr_id > 0));
}

static struct place
place_of(struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame)
{
	struct place place = { .pl_module = NO_MODULE,
	    .pl_owner = NO_MODULE };

	place.pl_path = "";
	if (frame->fr_kind == PROF_FRAME_KERNEL)
		find_kernel(symbols, pc_inside(frame), &place);
	else if (frame->fr_kind == PROF_FRAME_NATIVE)
		find_user(symbols, space, pc_inside(frame), &place);
	return (place);
}

/* ------------------------------------------------- what is public */

struct prof_symbols *
prof_symbols_open(struct prof_reader *reader,
    const struct prof_symbols_options *options, struct prof_err *error)
{
	struct prof_symbols *symbols = calloc(1, sizeof(*symbols));
	struct prof_symbols_options so = { .so_size = sizeof(so) };

	if (prof_options_take(&so, sizeof(so), options,
	    "prof_symbols_options", error) == -1) {
		free(symbols);
		return (NULL);
	}
	if (symbols == NULL ||
	    prof_images_init(&symbols->sy_images, IMAGES_FIRST +
	    IMAGES_PER_BYTE * prof_reader_length(reader)) == -1) {
		free(symbols);
		prof_fail_nomem(error);
		return (NULL);
	}
	symbols->sy_reader = reader;
	symbols->sy_files.mf_none = so.so_only_recorded != 0;
	if (so.so_debug_dirs != NULL &&
	    (symbols->sy_debug_dirs = strdup(so.so_debug_dirs)) == NULL) {
		prof_symbols_close(symbols);
		prof_fail_nomem(error);
		return (NULL);
	}
	symbols->sy_files.mf_debug_dirs = symbols->sy_debug_dirs;
	if (prof_symbols_load(symbols, error) == -1 ||
	    prof_symbols_first(symbols, error) == -1) {
		prof_symbols_close(symbols);
		return (NULL);
	}
	return (symbols);
}

void
prof_symbols_share(struct prof_symbols *symbols,
    struct prof_symbols_shared *shared)
{
	symbols->sy_files.mf_tables = &shared->sh_lines;
	prof_kernel_map_share(symbols->sy_kernel, &shared->sh_kernel);
}

void
prof_symbols_shared_fini(struct prof_symbols_shared *shared)
{
	prof_line_tables_fini(&shared->sh_lines);
	prof_kernel_list_fini(&shared->sh_kernel);
}

uint32_t
prof_symbols_space(struct prof_symbols *symbols, uint32_t pid,
    uint64_t time_ns)
{
	uint64_t from_ns = 0, to_ns = UINT64_MAX;

	return (prof_symbols_space_while(symbols, pid, time_ns, &from_ns,
	    &to_ns));
}

uint32_t
prof_symbols_space_while(struct prof_symbols *symbols, uint32_t pid,
    uint64_t time_ns, uint64_t *from_ns, uint64_t *to_ns)
{
	const uint64_t until_ns = symbols->sy_until_ns;

	if (symbols->sy_is_live) {
		symbols->sy_live_pid = pid;
		*from_ns = *to_ns = symbols->sy_live_ns = time_ns;
		return (1);
	}
	if (symbols->sy_is_one_memory)
		return (prof_processes_space(symbols->sy_processes,
		    PROF_PLACES_PID, UINT64_MAX));
	if (time_ns >= until_ns) {
		*from_ns = *from_ns < until_ns ? until_ns : *from_ns;
		return (PROF_SPACE_OVER);
	}
	*to_ns = *to_ns > until_ns ? until_ns : *to_ns;
	return (prof_processes_space_while(symbols->sy_processes, pid,
	    time_ns, from_ns, to_ns));
}

void
prof_symbols_spot(const struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame, struct prof_spot *spot)
{
	struct prof_mapping mapping;
	enum prof_unnamed why;

	*spot = (struct prof_spot){ .so_at = frame->fr_id,
	    .so_flags = frame->fr_flags | (uint32_t)frame->fr_kind << 8 };
	if (frame->fr_kind != PROF_FRAME_NATIVE)
		return;
	why = mapping_at(symbols, space, pc_inside(frame), &mapping);
	if (why != PROF_NAMED) {
		spot->so_flags |= SPOT_NOWHERE;
		spot->so_owner = why;
		return;
	}
	if (mapping.mp_image == PROF_IMAGE_ANON) {
		spot->so_owner = memory_of(symbols, space);
		spot->so_flags |= SPOT_ANON;
		return;
	}
	spot->so_at = mapping.mp_offset + (frame->fr_id - mapping.mp_start);
	spot->so_owner = mapping.mp_image;
}

const struct prof_image *
prof_symbols_image(const struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame, uint64_t *offset, enum prof_unnamed *why)
{
	struct prof_mapping mapping;

	*why = mapping_at(symbols, space, pc_inside(frame), &mapping);
	if (*why != PROF_NAMED || mapping.mp_image == PROF_IMAGE_ANON)
		return (NULL);
	*offset = mapping.mp_offset + (frame->fr_id - mapping.mp_start);
	return (&symbols->sy_images.is_image[mapping.mp_image]);
}

uint32_t
prof_symbols_find(struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame)
{
	struct prof_spot spot;
	struct place place;
	uint32_t *number;
	bool is_new;

	prof_symbols_spot(symbols, space, frame, &spot);
	number = answer_at(&symbols->sy_asked, &spot, sizeof(spot), &is_new);
	if (number == NULL)
		return (0);
	if (!is_new)
		return (*number);
	if (frame->fr_kind > PROF_FRAME_KERNEL)
		return (*number = function_of_script(symbols, frame));
	place = place_of(symbols, space, frame);
	return (*number = function_of(symbols, &place,
	    (enum prof_frame_kind)frame->fr_kind));
}

size_t
prof_symbols_nfunctions(const struct prof_symbols *symbols)
{
	return (symbols->sy_nfunctions);
}

const struct prof_function *
prof_symbols_function(const struct prof_symbols *symbols, uint32_t n)
{
	return (n >= symbols->sy_nfunctions ? NULL :
	    &function_at(symbols, n)->fn_public);
}

int
prof_symbols_place(struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame, const char **module, uint64_t *address)
{
	struct place place = place_of(symbols, space, frame);

	if (!place.pl_in_file)
		return (-1);
	*module = place.pl_path;
	*address = place.pl_address;
	return (0);
}

const char *
prof_symbols_file(struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame)
{
	struct place place = place_of(symbols, space, frame);

	return (place.pl_in_file && prof_module_is_there(
	    &symbols->sy_module[place.pl_module], &symbols->sy_files) ?
	    place.pl_path : NULL);
}

size_t
prof_symbols_lines(struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame, struct prof_line *lines, size_t max)
{
	struct place place = place_of(symbols, space, frame);
	struct prof_lines *table;
	size_t n, i;

	if (frame->fr_kind > PROF_FRAME_KERNEL)
		return (max == 0 ? 0 : prof_script_line(symbols, frame,
		    lines));
	if (!place.pl_in_file)
		return (0);
	table = prof_module_lines(&symbols->sy_module[place.pl_module],
	    &symbols->sy_files);
	n = table == NULL ? 0 : prof_lines_find(table, place.pl_address,
	    lines, max);
	/* Assembler has lines, and its names in the symbol table alone. */
	for (i = 0; i < n; i++)
		if (lines[i].ln_function == NULL)
			lines[i].ln_function = i < n - 1 ? "[no name]" :
			    prof_symbols_function(symbols, function_of(
			    symbols, &place,
			    PROF_FRAME_NATIVE))->fu_name;
	return (n);
}

uint32_t
prof_symbols_inlined(struct prof_symbols *symbols, uint32_t in,
    const char *name)
{
	struct function *function, *of;
	size_t len = strlen(name);
	const char *module;
	uint32_t *number;
	uint8_t *key;
	bool is_new;

	if (in >= symbols->sy_nfunctions ||
	    (key = malloc(sizeof(module) + len + 1)) == NULL)
		return (0);
	/* The module's name is one string for all of its functions. */
	module = function_at(symbols, in)->fn_public.fu_module;
	memcpy(key, &module, sizeof(module));
	memcpy(key + sizeof(module), name, len);
	number = answer_at(&symbols->sy_inlined, key, sizeof(module) + len,
	    &is_new);
	free(key);
	if (number == NULL || !is_new)
		return (number == NULL ? 0 : *number);
	*number = 0;
	if ((function = function_new(symbols)) == NULL ||
	    (function->fn_name = strdup(name)) == NULL)
		return (0);
	of = function_at(symbols, in);
	function->fn_public.fu_name = function->fn_name;
	function->fn_public.fu_raw = "";
	function->fn_public.fu_module = of->fn_public.fu_module;
	function->fn_public.fu_kind = of->fn_public.fu_kind;
	function->fn_public.fu_is_inlined = 1;
	return (*number = symbols->sy_nfunctions - 1);
}

void
prof_symbols_close(struct prof_symbols *symbols)
{
	uint32_t n;

	if (symbols == NULL)
		return;
	for (n = 0; n < symbols->sy_nfunctions; n++) {
		free(function_at(symbols, n)->fn_name);
		free(function_at(symbols, n)->fn_raw);
		free(function_at(symbols, n)->fn_module);
	}
	for (n = 0; n < symbols->sy_nblocks; n++)
		free(symbols->sy_block[n]);
	free(symbols->sy_block);
	answers_free(&symbols->sy_known);
	answers_free(&symbols->sy_inlined);
	answers_free(&symbols->sy_asked);
	answers_free(&symbols->sy_unnamed);
	prof_symbols_forget_objects(symbols);
	prof_symbols_unload(symbols);
	free(symbols->sy_debug_dirs);
	free(symbols);
}
