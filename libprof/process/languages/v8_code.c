/* SPDX-License-Identifier: ISC */
/*
 * From a pc in compiled code of V8 to the functions at it, see v8.h.
 *
 * Code lies in objects, each behind its map; the nearest one below a pc that
 * says that it reaches that far is its.  Baseline code has a table from
 * instructions to bytecode, which has one to the source.  Optimized code has
 * one to the source itself, and its positions say what was inlined where.  What
 * is out of line lies behind all of these and has none: there a block ends with
 * a call of a stub and a jump back to where it belongs.
 */
#include <stdlib.h>
#include <string.h>

#include "v8.h"

#define CHUNK		4096u
#define REACH		(512u << 10)	/* from a pc down to its object */
#define ALIGN		32u		/* of instructions */
#define START_AT	40		/* of Code: its instructions */
#define CODE_AT		8		/* of a stream */
#define MAX_TABLE	(4u << 20)
#define MAX_BYTECODE	(4u << 20)
#define WRAPPED_AT	8
#define NONE		UINT32_MAX
#define LAST_PREFIX	3u		/* bytecodes: wide, extra wide */
#define LOOP		1	/* behind literals: its bytecode, or -1 */
#define PROLOGUE	64u		/* bytes in which a frame is made */
#define EPILOGUE	16u		/* to the return that is behind one */
#define NEAR		24u		/* from a position to its call's end */
#define BLOCK		64u		/* bytes of a block out of line */
#define POPS		16u		/* ... behind its call */
#define CALL		7u		/* ... of the call, at most */

/* Instructions. */
enum { RET = 0xc3, RET_POP = 0xc2, CALL_NEAR = 0xe8, JUMP = 0xe9,
    JUMP_SHORT = 0xeb, POP = 0x58, REX = 0x41 };

/* Bits of a position in the source. */
#define IS_EXTERNAL	1u
#define SOURCE(raw)	((uint32_t)((raw) >> 1 & ((1u << 30) - 1)))
#define INLINED(raw)	((int32_t)((raw) >> 31 & 0xffff) - 1)

struct code {
	uint64_t	 co_object;
	uint64_t	 co_start;
	uint64_t	 co_data;	/* bytecode, or of optimizing */
	uint64_t	 co_positions;
};

/* The bytes at an offset in an array of V8; freed by the caller. */
static uint8_t *
bytes_of(const struct v8 *v8, uint64_t array, uint64_t from, uint32_t max,
    uint32_t *n)
{
	uint8_t *bytes;
	uint64_t length;

	if (!v8_word(v8, array, 8, &length) || !V8_IS_SMI(length) ||
	    V8_SMI(length) <= 0 || (uint32_t)V8_SMI(length) > max)
		return (NULL);
	*n = (uint32_t)V8_SMI(length);
	bytes = malloc(*n);
	if (bytes != NULL && !v8_read(v8, array, from, bytes, *n)) {
		free(bytes);
		bytes = NULL;
	}
	return (bytes);
}

/* A number of 7 bits a byte, the lowest first; false: there is none. */
static bool
number_take(const uint8_t *bytes, uint32_t n, uint32_t *at, uint64_t *number)
{
	uint64_t byte;

	*number = 0;
	for (unsigned shift = 0; shift < 64 && *at < n; shift += 7) {
		byte = bytes[(*at)++];
		*number |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return (true);
	}
	return (false);
}

static int64_t
number_sign(uint64_t number)
{
	return ((int64_t)(number >> 1) ^ -(int64_t)(number & 1));
}

bool
v8_positions(const struct v8 *v8, uint64_t table, v8_position_fn *fn,
    void *arg)
{
	struct v8_position position;
	uint64_t source = 0, number;
	uint32_t n = 0, at = 0;
	uint8_t *bytes = bytes_of(v8, table, V8_HEADER, MAX_TABLE, &n);
	bool is_done = false;
	int64_t code = -1, by;		/* -1: before the first instruction */

	while (bytes != NULL && !is_done &&
	    number_take(bytes, n, &at, &number)) {
		/* Its sign says whether a statement begins. */
		by = number_sign(number);
		by = by < 0 ? -(by + 1) : by;
		if (by > UINT32_MAX - 1 - code ||
		    !number_take(bytes, n, &at, &number))
			break;
		code += by;
		source += (uint64_t)number_sign(number);
		if (code < 0 || (source & IS_EXTERNAL) || SOURCE(source) == 0)
			continue;
		position = (struct v8_position){ (uint32_t)code,
		    SOURCE(source) - 1, INLINED(source) };
		is_done = fn(arg, &position);
	}
	free(bytes);
	return (bytes != NULL);
}

/* ----------------------------------------------------------------- code */

/* Is there code at an address, and does the pc lie in it? */
static bool
code_at(const struct v8 *v8, uint64_t stream, uint64_t pc, struct code *code)
{
	const struct v8_layout *layout = v8->v8_layout;
	uint32_t size;

	code->co_object = stream;
	code->co_start = stream - 1 + layout->vl_header;
	if (layout->vl_code != layout->vl_stream &&
	    (!v8_word(v8, stream, CODE_AT, &code->co_object) ||
	    v8_type(v8, code->co_object) != layout->vl_code ||
	    !v8_word(v8, code->co_object, START_AT, &code->co_start) ||
	    code->co_start != stream - 1 + layout->vl_header))
		return (false);
	return (v8_read(v8, code->co_object, layout->vl_size, &size,
	    sizeof(size)) && pc >= code->co_start &&
	    pc - code->co_start <= size &&
	    v8_word(v8, code->co_object, layout->vl_data, &code->co_data) &&
	    v8_word(v8, code->co_object, layout->vl_positions,
	    &code->co_positions));
}

/* All streams have the same map, which is found once. */
static bool
code_is_map(const struct v8 *v8, uint64_t word, uint64_t address)
{
	uint64_t map;

	if (v8->v8_kept->ke_stream_map != 0)
		return (word == v8->v8_kept->ke_stream_map);
	if (!V8_IS_OBJECT(word) || word >> 47 != 0 ||
	    v8_type(v8, address + 1) != v8->v8_layout->vl_stream ||
	    v8_type_in(v8->v8_memory, word, &map) != v8->v8_layout->vl_map)
		return (false);
	v8->v8_kept->ke_stream_map = word;
	return (true);
}

static bool
code_find(const struct v8 *v8, uint64_t pc, struct code *code)
{
	const uint64_t header = v8->v8_layout->vl_header;
	uint64_t words[CHUNK / 8], page, at, last = pc > REACH ? pc - REACH : 0;

	for (page = pc & ~(uint64_t)(CHUNK - 1); page + CHUNK > last;
	    page -= CHUNK) {
		if (!prof_peek_read(v8->v8_memory, page, words,
		    sizeof(words)))
			return (false);
		at = page + CHUNK - 1 < pc ? page + CHUNK - 1 : pc;
		at = ((at + header) & ~(uint64_t)(ALIGN - 1)) - header;
		for (; at >= page && at < page + CHUNK; at -= ALIGN)
			if (code_is_map(v8, words[(at - page) / 8], at) &&
			    code_at(v8, at + 1, pc, code))
				return (true);
	}
	return (false);
}

/* ------------------------------------------------------------- baseline */

/* The bytecode of a baseline pc; NONE: in front of all. */
static uint32_t
baseline_find(const uint8_t *table, uint32_t n, const uint8_t *bytes,
    uint32_t nbytes, const uint8_t (*sizes)[V8_SIZES], uint64_t pc)
{
	uint32_t at = 0, offset = 0, found = NONE, scale;
	uint64_t end = 0, number;

	while (number_take(table, n, &at, &number)) {
		end += number;
		if (end >= pc)
			return (found);
		if (offset >= nbytes)
			break;
		found = offset;
		scale = 0;
		if (bytes[offset] <= LAST_PREFIX) {
			scale = 1 + (bytes[offset] & 1);
			offset++;
		}
		if (offset >= nbytes || bytes[offset] >= V8_SIZES ||
		    sizes[scale][bytes[offset]] == 0)
			break;
		offset += sizes[scale][bytes[offset]];
	}
	return (NONE);
}

struct nearest {
	uint32_t	 ne_at;
	bool		 ne_is_found;
	bool		 ne_is_last;	/* no position is behind it */
	struct v8_position ne_position;
};

static bool
nearest_take(void *arg, const struct v8_position *position)
{
	struct nearest *nearest = arg;

	if (position->po_code > nearest->ne_at) {
		nearest->ne_is_last = false;
		return (true);
	}
	nearest->ne_position = *position;
	nearest->ne_is_found = nearest->ne_is_last = true;
	return (false);
}

/* The place in the source of a baseline pc. */
static void
baseline_place(const struct v8 *v8, const struct code *code, uint64_t pc,
    struct v8_place *place)
{
	const struct v8_layout *layout = v8->v8_layout;
	struct nearest nearest = { 0 };
	uint32_t n = 0, nbytes = 0;
	uint8_t *table = bytes_of(v8, code->co_positions, V8_HEADER,
	    MAX_TABLE, &n);
	uint8_t *bytes = bytes_of(v8, code->co_data, layout->vl_bytes,
	    MAX_BYTECODE, &nbytes);
	uint64_t positions;

	nearest.ne_at = table == NULL || bytes == NULL ? NONE :
	    baseline_find(table, n, bytes, nbytes, layout->vl_sizes,
	    pc - code->co_start);
	free(bytes);
	free(table);
	if (nearest.ne_at == NONE || !v8_word(v8, code->co_data,
	    layout->vl_byte_positions, &positions) ||
	    !v8_positions(v8, positions, nearest_take, &nearest))
		return;
	place->pl_has_position = nearest.ne_is_found;
	place->pl_position = nearest.ne_position.po_source;
}

/* ------------------------------------------------------------ optimized */

/* A word of the data of optimized code. */
static bool
data_word(const struct v8 *v8, uint64_t data, uint32_t index, uint64_t *word)
{
	return (v8_word(v8, data, V8_HEADER + 8 * (uint64_t)index, word));
}

/* An entry of what was inlined: where, and which function. */
static bool
inlined_read(const struct v8 *v8, uint64_t data, int32_t n,
    struct v8_position *caller, uint64_t *shared)
{
	const struct v8_layout *layout = v8->v8_layout;
	uint64_t array, literals, length;
	struct {
		uint64_t	in_position;
		int32_t		in_function;
		int32_t		in_pad;
	} entry;

	if (!data_word(v8, data, layout->vl_inlined, &array) ||
	    !v8_word(v8, array, 8, &length) || !V8_IS_SMI(length) ||
	    (int64_t)n * (int64_t)sizeof(entry) >= V8_SMI(length) ||
	    !v8_read(v8, array, V8_HEADER + (uint64_t)n * sizeof(entry),
	    &entry, sizeof(entry)) ||
	    !data_word(v8, data, layout->vl_literals, &literals) ||
	    !v8_word(v8, literals, 8, &length) || !V8_IS_SMI(length) ||
	    entry.in_function < 0 || entry.in_function >= V8_SMI(length) ||
	    !data_word(v8, literals, (uint32_t)entry.in_function, shared))
		return (false);
	*shared &= ~(uint64_t)2;	/* a weak reference */
	*caller = (struct v8_position){ 0, SOURCE(entry.in_position) - 1,
	    INLINED(entry.in_position) };
	/* Whom it was inlined into comes before it, so this ends. */
	return (SOURCE(entry.in_position) != 0 && caller->po_inlined < n);
}

static bool
code_is_maglev(const struct v8 *v8, const struct code *code)
{
	uint32_t flags;

	return (v8->v8_layout->vl_maglev != 0 && (!v8_read(v8,
	    code->co_object, v8->v8_layout->vl_flags, &flags,
	    sizeof(flags)) || (flags & 0xf) == v8->v8_layout->vl_maglev));
}

/* Was it made for a loop that ran?  It took over the frame. */
static bool
code_is_loop(const struct v8 *v8, const struct code *code)
{
	uint64_t loop;

	return (!data_word(v8, code->co_data, v8->v8_layout->vl_literals +
	    LOOP, &loop) || V8_SMI(loop) >= 0);
}

struct jumps {
	const uint8_t	*ju_bytes;
	uint32_t	 ju_n;
	uint32_t	 ju_source;
	uint8_t		 ju_jump;
	bool		 ju_is_one;
};

static bool
jump_take(void *arg, const struct v8_position *position)
{
	struct jumps *jumps = arg;
	uint32_t at = position->po_code;

	if (position->po_source != jumps->ju_source || at >= jumps->ju_n)
		return (false);
	if (jumps->ju_bytes[at] <= LAST_PREFIX && at + 1 < jumps->ju_n)
		at++;
	jumps->ju_is_one = jumps->ju_bytes[at] == jumps->ju_jump;
	return (jumps->ju_is_one);
}

/*
 * Maglev peels loops, and has for calls in what is left of one the position of
 * the jump at its end.
 */
static bool
place_is_doubtful(const struct v8 *v8, const struct v8_place *place)
{
	struct jumps jumps = { .ju_source = place->pl_position,
	    .ju_jump = v8->v8_layout->vl_jump_loop };
	struct v8_function function;
	uint64_t bytecode, table;
	uint8_t *bytes;
	bool is_known;

	if (jumps.ju_jump == 0 ||
	    !v8_function_read(v8, place->pl_shared, &function))
		return (true);
	bytecode = v8_function_bytecode(v8, &function);
	bytes = bytes_of(v8, bytecode, v8->v8_layout->vl_bytes, MAX_BYTECODE,
	    &jumps.ju_n);
	jumps.ju_bytes = bytes;
	is_known = bytes != NULL && v8_word(v8, bytecode,
	    v8->v8_layout->vl_byte_positions, &table) &&
	    v8_positions(v8, table, jump_take, &jumps);
	free(bytes);
	return (!is_known || jumps.ju_is_one);
}

static bool
is_pop(uint8_t byte)
{
	return ((byte & 0xf8) == POP || byte == REX);
}

/* Is a call in front of it, and nothing else but what it kept? */
static bool
is_behind_call(const uint8_t *at)
{
	for (unsigned n = 0; n < POPS; n++, at--) {
		if (at[-5] == CALL_NEAR || (at[-7] == REX && at[-6] == 0xff &&
		    at[-5] == 0x95) || (at[-4] == REX && at[-3] == 0xff &&
		    at[-2] == 0x55))
			return (true);
		if (!is_pop(at[-1]))
			break;
	}
	return (false);
}

/* Where the jump at the end of a block goes; 0: it has none. */
static uint64_t
jump_target(const uint8_t *bytes, unsigned at, unsigned end, uint64_t address)
{
	int32_t by;

	while (at < end && is_pop(bytes[at]))
		at++;
	if (bytes[at] == JUMP) {
		memcpy(&by, bytes + at + 1, sizeof(by));
		return (address + at + 5 + (uint64_t)(int64_t)by);
	}
	return (bytes[at] != JUMP_SHORT ? 0 : address + at + 2 +
	    (uint64_t)(int64_t)(int8_t)bytes[at + 1]);
}

/* From a pc out of line to where it belongs; 0: not known. */
static uint64_t
code_back(const struct v8 *v8, const struct code *code, uint64_t pc)
{
	uint8_t bytes[POPS + CALL + BLOCK + POPS + 8] = { 0 };
	const unsigned first = POPS + CALL, end = first + BLOCK;
	uint64_t target;

	if (pc - code->co_start < first || !prof_peek_read(v8->v8_memory,
	    pc - first, bytes, sizeof(bytes)))
		return (0);
	for (unsigned at = first; at < end; at++) {
		if (!is_behind_call(bytes + at))
			continue;
		target = jump_target(bytes, at, end + POPS, pc - first);
		if (target >= code->co_start && target < pc)
			return (target);
	}
	return (0);
}

/* The position that counts for a pc, if one does. */
static void
nearest_find(const struct v8 *v8, const struct code *code, uint64_t pc,
    bool is_return, struct nearest *nearest)
{
	uint64_t back;
	uint32_t far;

	*nearest = (struct nearest){ .ne_at =
	    (uint32_t)(pc - code->co_start) };
	(void)v8_positions(v8, code->co_positions, nearest_take, nearest);
	far = nearest->ne_at - nearest->ne_position.po_code;
	if (!nearest->ne_is_last || (is_return && far < NEAR))
		return;
	back = code_back(v8, code, pc);
	nearest->ne_is_found = back != 0 || far < BLOCK;
	if (back == 0)
		return;
	*nearest = (struct nearest){ .ne_at =
	    (uint32_t)(back - code->co_start) };
	(void)v8_positions(v8, code->co_positions, nearest_take, nearest);
}

static size_t
optimized_places(const struct v8 *v8, const struct code *code, uint64_t pc,
    bool is_return, struct v8_place *places)
{
	const struct v8_layout *layout = v8->v8_layout;
	struct nearest nearest;
	struct v8_position *position = &nearest.ne_position;
	uint64_t shared, outer;
	size_t n = 0, i;
	int32_t inlined;

	if (!data_word(v8, code->co_data, layout->vl_function, &outer) ||
	    (layout->vl_wrapped &&
	    !v8_word(v8, outer, WRAPPED_AT, &outer)))
		return (0);
	nearest_find(v8, code, pc, is_return, &nearest);
	while (nearest.ne_is_found && position->po_inlined >= 0) {
		inlined = position->po_inlined;
		places[n] = (struct v8_place){ .pl_position =
		    position->po_source, .pl_has_position = true };
		if (n == V8_MAX_INLINED || !inlined_read(v8, code->co_data,
		    inlined, position, &shared)) {
			/* Then nothing is sure but what was compiled. */
			if (is_return)
				return (0);
			nearest.ne_is_found = false;
			n = 0;
			break;
		}
		places[n++].pl_shared = shared;
	}
	places[n] = (struct v8_place){ outer, position->po_source,
	    nearest.ne_is_found };
	for (i = 0; code_is_maglev(v8, code) && i <= n; i++)
		if ((i == n && code_is_loop(v8, code)) ||
		    place_is_doubtful(v8, &places[i]))
			places[i].pl_has_position = false;
	return (n + 1);
}

/* --------------------------------------------------------------- places */

/*
 * May the frame be the caller's: not made yet, or left already?  Nobody calls
 * code that was made for a loop.
 */
static bool
code_is_frameless(const struct v8 *v8, const struct code *code, uint64_t pc)
{
	uint8_t bytes[EPILOGUE];

	return (!code_is_loop(v8, code) && (pc - code->co_start < PROLOGUE ||
	    (prof_peek_read(v8->v8_memory, pc, bytes, sizeof(bytes)) &&
	    (memchr(bytes, RET, sizeof(bytes)) != NULL ||
	    memchr(bytes, RET_POP, sizeof(bytes)) != NULL))));
}

size_t
v8_code_places(struct v8 *v8, uint64_t pc, bool is_return, uint64_t shared,
    uint64_t bytecode, struct v8_place *places)
{
	uint64_t at = is_return ? pc - 1 : pc;
	struct code code;
	uint16_t type;
	size_t n;

	if (!code_find(v8, at, &code))
		return (0);
	type = v8_type(v8, code.co_data);
	if (type == v8->v8_layout->vl_deopt) {
		n = optimized_places(v8, &code, at, is_return, places);
		return (n > 0 && places[n - 1].pl_shared != shared &&
		    (is_return || !code_is_frameless(v8, &code, at)) ? 0 : n);
	}
	if (type != v8->v8_layout->vl_bytecode || code.co_data != bytecode)
		return (0);
	places[0] = (struct v8_place){ .pl_shared = shared };
	/* Ends of instructions are compared, so the one after a call counts. */
	baseline_place(v8, &code, at + 1, &places[0]);
	return (1);
}
