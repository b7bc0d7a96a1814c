/* SPDX-License-Identifier: ISC */
/*
 * How V8 lays its heap out, a row a version.  Types, and most offsets, are
 * those that each build publishes as v8dbg_* symbols; positions of the tables
 * and of data of optimized code come from its sources.
 *
 * Called by javascript.c.
 */
#include <stddef.h>

#include "v8.h"
#include "v8_bytecodes.def"

static const struct v8_layout layouts[] = {
	{ .vl_major = 10, .vl_minor = 2, .vl_map = 250, .vl_shared = 257,
	    .vl_script = 170, .vl_array = 179, .vl_scope = 256,
	    .vl_bytecode = 195, .vl_stream = 240, .vl_code = 240,
	    .vl_deopt = 179, .vl_shared_at = 24, .vl_name = 16,
	    .vl_script_at = 32, .vl_scope_function = 2, .vl_bytes = 56,
	    .vl_byte_positions = 32, .vl_header = 128, .vl_data = 16,
	    .vl_positions = 24, .vl_size = 40, .vl_flags = 48,
	    .vl_maglev = 0, .vl_literals = 2, .vl_function = 6,
	    .vl_inlined = 7, .vl_sizes = sizes_10_2 },
	{ .vl_major = 11, .vl_minor = 3, .vl_map = 255, .vl_shared = 262,
	    .vl_script = 167, .vl_array = 175, .vl_scope = 261,
	    .vl_bytecode = 191, .vl_stream = 252, .vl_code = 245,
	    .vl_deopt = 175, .vl_shared_at = 24, .vl_name = 16,
	    .vl_script_at = 32, .vl_scope_function = 2, .vl_bytes = 54,
	    .vl_byte_positions = 32, .vl_header = 16, .vl_data = 16,
	    .vl_positions = 24, .vl_size = 56, .vl_flags = 48,
	    .vl_maglev = 12, .vl_literals = 2, .vl_function = 6,
	    .vl_inlined = 7, .vl_sizes = sizes_11_3 },
	{ .vl_major = 12, .vl_minor = 4, .vl_map = 264, .vl_shared = 274,
	    .vl_script = 167, .vl_array = 174, .vl_scope = 272,
	    .vl_bytecode = 205, .vl_stream = 210, .vl_code = 206,
	    .vl_deopt = 213, .vl_shared_at = 32, .vl_name = 16,
	    .vl_script_at = 32, .vl_scope_function = 2, .vl_bytes = 64,
	    .vl_byte_positions = 24, .vl_header = 32, .vl_data = 8,
	    .vl_positions = 16, .vl_size = 52, .vl_flags = 48,
	    .vl_maglev = 11, .vl_jump_loop = 0x8e, .vl_literals = 2,
	    .vl_function = 6, .vl_inlined = 7, .vl_sizes = sizes_12_4 },
	{ .vl_major = 13, .vl_minor = 6, .vl_map = 272, .vl_shared = 282,
	    .vl_script = 167, .vl_array = 205, .vl_scope = 280,
	    .vl_bytecode = 186, .vl_stream = 192, .vl_code = 187,
	    .vl_deopt = 193, .vl_shared_at = 32, .vl_name = 24,
	    .vl_script_at = 40, .vl_scope_function = 4, .vl_scope_raw = true,
	    .vl_bytes = 64, .vl_byte_positions = 24, .vl_header = 32,
	    .vl_data = 8, .vl_positions = 16, .vl_size = 56, .vl_flags = 52,
	    .vl_maglev = 11, .vl_jump_loop = 0x92, .vl_literals = 3,
	    .vl_function = 7, .vl_inlined = 8, .vl_wrapped = true,
	    .vl_sizes = sizes_13_6 },
};

#define NLAYOUTS	(sizeof(layouts) / sizeof(layouts[0]))

const struct v8_layout *
v8_layout_find(uint32_t major, uint32_t minor, uint32_t *number)
{
	for (*number = 0; *number < NLAYOUTS; (*number)++)
		if (layouts[*number].vl_major == major &&
		    layouts[*number].vl_minor == minor)
			return (&layouts[*number]);
	return (NULL);
}

const struct v8_layout *
v8_layout_at(uint32_t number)
{
	return (number < NLAYOUTS ? &layouts[number] : NULL);
}
