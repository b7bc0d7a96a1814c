/* SPDX-License-Identifier: ISC */
/*
 * JavaScript: functions that V8 runs, by the words that sys/kept.bpf.h keeps of
 * each of their frames, and by what "node --perf-basic-prof" writes into a
 * perf map.
 *
 *	 63      48 47                 0     63       32 31        0
 *	+----------+--------------------+   +-----------+-----------+
 *	| pc, high | SharedFunctionInfo |   | identity  |  pc, low  |
 *	+----------+--------------------+   +-----------+-----------+
 *	  address                             check
 *
 * A pc of compiled code stands in both, as what is inlined differs from place
 * to place; its highest bit says that it is no return address.  A stamp says
 * what instructions are there, as code is compiled anew.  Without a pc
 * the frame is interpreted: its instruction is the offset of the bytecode.
 * Without a SharedFunctionInfo the frame did not say yet, or no longer, whose
 * it is.  Then it has no name: code of many functions has the same stamp, so
 * a stamp alone does not tell one from another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/view.h"
#include "v8.h"

#define ADDRESS		((1ULL << 48) - 1)
#define IS_EXACT	(1ULL << 47)

/* Frames were looked at there alone. */
#if defined(__x86_64__)
#define IS_KNOWN_MACHINE	true
#else
#define IS_KNOWN_MACHINE	false
#endif

static const char *const jit[] = { "JS:", "LazyCompile:", "Function:",
    "Script:", "Eval:", NULL };

/* Its version, as its own symbols have it. */
static bool
version_read(struct prof_elf *elf, const char *name, uint32_t *number)
{
	struct prof_elf_part part;
	uint64_t address;

	if (!prof_elf_object(elf, name, &address) ||
	    !prof_elf_at(elf, address, &part) ||
	    part.pp_size < sizeof(*number))
		return (false);
	part.pp_size = sizeof(*number);
	if (!prof_elf_load(elf, &part))
		return (false);
	memcpy(number, part.pp_bytes, sizeof(*number));
	return (true);
}

static bool
javascript_find(struct prof_elf *elf, struct prof_runtime *runtime)
{
	const struct v8_layout *layout;
	uint32_t major, minor;

	if (!version_read(elf, "_ZN2v88internal7Version6major_E", &major) ||
	    !version_read(elf, "_ZN2v88internal7Version6minor_E", &minor))
		return (false);
	runtime->rt_version = major << 16 | (minor & 0xffff);
	(void)snprintf(runtime->rt_name, sizeof(runtime->rt_name),
	    "V8 %u.%u", major, minor);
	layout = v8_layout_find(major, minor, &runtime->rt_variant);
	if (layout == NULL || !IS_KNOWN_MACHINE)
		return (true);
	runtime->rt_is_known = 1;
	runtime->rt_chain = (struct dtp_chain){ .ch_is_kept = 1,
	    .ch_kept_tag = 8, .ch_kept_object = 16, .ch_kept_code = 32,
	    .ch_kept_at = 40, .ch_kept_step = layout->vl_shared_at,
	    .ch_kept_owner = layout->vl_script_at / 8 - 1,
	    .ch_kept_serial = V8_SCRIPT_ID,
	    .ch_kept_builtin = layout->vl_name / 8 - 2,
	    .ch_kept_inner = layout->vl_data };
	return (true);
}

struct steps {
	struct v8	*sp_v8;
	const struct v8_function *sp_function;
	struct prof_code_object *sp_code;
};

/* Lines of bytecode, by what a frame has for its offset. */
static bool
step_add(void *arg, const struct v8_position *position)
{
	const struct steps *steps = arg;
	struct prof_code_object *code = steps->sp_code;
	uint32_t line = v8_function_line(steps->sp_v8, steps->sp_function,
	    position->po_source);
	uint32_t instruction = position->po_code - 1 +
	    steps->sp_v8->v8_layout->vl_bytes;

	if (code->co_nsteps > 0 &&
	    code->co_step[code->co_nsteps - 1].tp_line == line)
		return (false);
	if (code->co_nsteps == PROF_CODE_STEPS - 1)
		line = 0;	/* there are more: they are not known */
	code->co_step[code->co_nsteps++] =
	    (struct prof_table_step){ instruction, line };
	return (code->co_nsteps == PROF_CODE_STEPS);
}

static void
bytecode_describe(struct v8 *v8, const struct v8_function *function,
    uint64_t bytecode, struct prof_code_object *code)
{
	struct steps steps = { v8, function, code };
	uint64_t positions;

	if (v8_word(v8, bytecode, v8->v8_layout->vl_byte_positions,
	    &positions))
		(void)v8_positions(v8, positions, step_add, &steps);
}

static uint32_t
place_line(struct v8 *v8, const struct v8_function *function,
    const struct v8_place *place)
{
	return (!place->pl_has_position ? 0 :
	    v8_function_line(v8, function, place->pl_position));
}

static bool
inlined_add(struct v8 *v8, const struct v8_place *place,
    struct prof_code_object *code)
{
	struct prof_code_inlined *inlined =
	    &code->co_inlined[code->co_ninlined];
	struct v8_function function;

	if (!v8_function_read(v8, place->pl_shared, &function) ||
	    !v8_function_describe(v8, &function, inlined->in_name,
	    inlined->in_file, &inlined->in_line))
		return (false);
	inlined->in_at = place_line(v8, &function, place);
	code->co_ninlined++;
	return (true);
}

/* 0: it is interpreted. */
static uint64_t
pc_of(const struct prof_code_key *key)
{
	return (key->ck_address >> 48 << 32 | (key->ck_check & UINT32_MAX));
}

/* Is the code at a pc still what it was? */
static bool
place_is_same(const struct v8 *v8, uint64_t pc, uint32_t stamp)
{
	__u64 code[DTP_KEPT_CODE];

	return (stamp != 0 && prof_peek_read(v8->v8_memory,
	    pc - DTP_KEPT_BEFORE, code, sizeof(code)) &&
	    dtp_kept_stamp(code) == stamp);
}

/*
 * The functions at a pc of compiled code.  In the first and last instructions
 * of a function the frame still belongs to its caller.  Then the function gets
 * no name, because only the stamp of its code is known, and the functions that
 * are inlined in the caller are not known.  Returns false if other functions
 * may have made a call at this pc, too.
 */
static bool
places_describe(struct v8 *v8, const struct prof_code_key *key,
    uint64_t shared, const struct v8_function *function,
    struct prof_code_object *code)
{
	const uint64_t pc = pc_of(key);
	struct v8_place places[V8_MAX_INLINED + 1];
	bool is_its, is_there;
	size_t n, i;

	n = v8_code_places(v8, pc & ~IS_EXACT, (pc & IS_EXACT) == 0, shared,
	    v8_function_bytecode(v8, function), places);
	is_its = n > 0 && places[n - 1].pl_shared == shared;
	if (is_its)
		code->co_step[0].tp_line = place_line(v8, function,
		    &places[n - 1]);
	for (i = 0; is_its && i < n - 1; i++)
		if (!inlined_add(v8, &places[i], code)) {
			code->co_ninlined = 0;
			n = 0;
			break;
		}
	/* Nothing of it counts unless that code was there all the time. */
	is_there = place_is_same(v8, pc & ~IS_EXACT, key->ck_stamp);
	if (!is_there) {
		code->co_step[0].tp_line = 0;
		code->co_ninlined = 0;
	}
	if (n > 0 && !is_its && is_there) {
		memset(code->co_inlined, 0, 2 * sizeof(code->co_inlined[0]));
		(void)snprintf(code->co_inlined[1].in_name, PROF_CODE_TEXT,
		    "[callers not known]");
		code->co_ninlined = 2;
	}
	return ((is_there && n > 0) || (pc & IS_EXACT) != 0 ||
	    v8_type(v8, function->fn_script) != v8->v8_layout->vl_script);
}

static bool
javascript_describe(const struct prof_peek *memory,
    const struct prof_code_key *key, struct prof_code_object *code)
{
	const uint64_t shared = key->ck_address & ADDRESS;
	struct v8 v8 = { .v8_memory = memory, .v8_kept = *memory->pk_kept };
	struct v8_function function, again;

	if (v8.v8_kept == NULL)
		v8.v8_kept = *memory->pk_kept = calloc(1,
		    sizeof(*v8.v8_kept));
	v8.v8_layout = v8_layout_at(key->ck_variant);
	if (v8.v8_kept == NULL || v8.v8_layout == NULL || shared == 0 ||
	    !v8_function_read(&v8, shared, &function) ||
	    function.fn_identity != key->ck_check >> 32 ||
	    !v8_function_describe(&v8, &function, code->co_name,
	    code->co_file, &code->co_line))
		return (false);
	/* Where none is known, or no table is there yet, so no line is. */
	code->co_step[code->co_nsteps++] = (struct prof_table_step){ 0, 0 };
	if (pc_of(key) == 0)
		bytecode_describe(&v8, &function,
		    v8_function_bytecode(&v8, &function), code);
	else if (!places_describe(&v8, key, shared, &function, code))
		return (false);
	/* It may have become another one meanwhile. */
	return (v8_function_read(&v8, shared, &again) &&
	    again.fn_identity == function.fn_identity);
}

static void
javascript_forget(void *kept)
{
	v8_kept_free(kept);
}

const struct prof_language prof_language_javascript = {
	.la_name = "javascript",
	.la_missing = ": dtprof knows V8 10.2, 11.3, 12.4 and 13.6 (node 18, "
	    "20, 22 and 24) on x86-64; for other versions use node "
	    "--perf-basic-prof",
	.la_kind = PROF_FRAME_JAVASCRIPT,
	.la_jit = jit,
	.la_find = javascript_find,
	.la_describe = javascript_describe,
	.la_forget = javascript_forget,
};
