/* SPDX-License-Identifier: ISC */
/*
 * Python: which file contains CPython, how its frames lie in memory, and names
 * and lines of its code objects; besides the trampolines that "python -X perf"
 * puts around each function and names in a perf map.
 *
 * Rows say what does not lie the same in all versions.  From 3.13 on an
 * interpreter says most of it itself (_Py_DebugOffsets, at the beginning of
 * _PyRuntime): then what it says counts, and a row that it contradicts does
 * not.  An object of type code has a number of its own from 3.12 on; in 3.11
 * all that it consists of has to tell it from another one in the same place.
 *
 * What is read of a process is its own word, here as in the programs.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/view.h"
#include "language.h"

#define SECTION		".PyRuntime"
#define VERSION		"Py_Version"
#define COOKIE		"xdebugpy"
#define CODE_TYPE	"code"
#define MAX_LINETABLE	65536u
#define CODE_BYTES	152u	/* up to the key, and the pointers */
/* Bytes per read: fewer reads are faster than fewer bytes. */
#define TEXT_BYTES	192u
#define LINES_BYTES	512u
#define OBJECT_SIZE	16u	/* offset of ob_size in an object */
#define BYTES_DATA	32u	/* offset of the data of a bytes object */

static const char *const runs[] = { "_PyEval_EvalFrameDefault", NULL };
static const char *const jit[] = { "py::", NULL };

/* One minor version.  ch_root and ch_current are offsets in _PyRuntime. */
struct row {
	uint32_t	ro_version;
	struct dtp_chain ro_chain;
	/* In a code object */
	uint16_t	ro_file;
	uint16_t	ro_name;
	uint16_t	ro_lines;
	uint16_t	ro_first_line;
	/* In a text: where its characters are */
	uint16_t	ro_ascii;
	uint16_t	ro_compact;
	/* Words that _Py_DebugOffsets has more than 3.13's; see its enum */
	uint8_t		ro_more_thread;
	uint8_t		ro_more_code;
	bool		ro_tells;	/* it has _Py_DebugOffsets */
};

/* What lies the same in all of them. */
#define ALL_CODE	.ro_file = 112, .ro_name = 128, .ro_lines = 136
#define ALL_CHAIN	.ch_thread_next = 8, .ch_instruction = 56, .ch_shift = 1

static const struct row rows[] = {
	{ 0x030b, { ALL_CHAIN, .ch_code_mask = ~0ULL,
	    .ch_root = 40, .ch_current = 576,
	    .ch_thread = 16, .ch_tid = 160, .ch_frame = 56,
	    .ch_has_record = 1, .ch_record_frame = 8, .ch_record_outer = 16,
	    .ch_code = 32, .ch_previous = 48, .ch_mark = 68,
	    .ch_mark_from = 1, .ch_mark_is_code = 1, .ch_first = 184,
	    /* Without flags, next to a counter; of texts, hash and state. */
	    .ch_key = 16, .ch_nwords = DTP_CHAIN_CODE, .ch_skip = 1U << 4,
	    .ch_text_at = 16, .ch_text = { 12, 14 },
	    .ch_text_data = { 32, 32 }, .ch_text_skip = { 0xe, 0xe } },
	    ALL_CODE, .ro_first_line = 72, .ro_ascii = 48, .ro_compact = 72 },
	{ 0x030c, { ALL_CHAIN, .ch_code_mask = ~0ULL,
	    .ch_root = 40, .ch_thread = 72,
	    .ch_tid = 144, .ch_frame = 56, .ch_has_record = 1,
	    .ch_record_frame = 0, .ch_record_outer = 8,
	    .ch_code = 0, .ch_previous = 8, .ch_mark = 70, .ch_mark_from = 3,
	    .ch_first = 192, .ch_key = 88, .ch_nwords = 1,
	    .ch_key_mask = ~0ULL },
	    ALL_CODE, .ro_first_line = 68, .ro_ascii = 40, .ro_compact = 56 },
	{ 0x030d, { ALL_CHAIN, .ch_code_mask = ~0ULL, .ch_tid = 160,
	    .ch_frame = 72,
	    .ch_code = 0, .ch_previous = 8, .ch_mark = 70, .ch_mark_from = 3,
	    .ch_first = 200, .ch_key = 88, .ch_nwords = 1,
	    .ch_key_mask = ~0ULL },
	    ALL_CODE, .ro_first_line = 68, .ro_ascii = 40, .ro_compact = 56,
	    .ro_tells = true },
	/*
	 * Words that lead to code have tags.  The loop of evaluation may be
	 * many functions without a name, which tail-call each other.
	 */
	{ 0x030e, { ALL_CHAIN, .ch_code_mask = ~7ULL, .ch_frame = 72,
	    .ch_tid = 160, .ch_code = 0, .ch_previous = 8, .ch_mark = 74,
	    .ch_mark_from = 3, .ch_first = 208, .ch_key = 88,
	    .ch_nwords = 1, .ch_key_mask = ~0ULL, .ch_has_places = 1 },
	    ALL_CODE, .ro_first_line = 68, .ro_ascii = 40, .ro_compact = 56,
	    .ro_more_thread = 3, .ro_more_code = 5, .ro_tells = true },
};
#define NROWS	(sizeof(rows) / sizeof(rows[0]))

/* ------------------------------------------------------ interpreters */

/*
 * Words of _Py_DebugOffsets, by number, as 3.13 has them; later ones have more
 * of them before those of threads and before those of code objects.
 */
enum { OFF_VERSION = 1, OFF_FREE_THREADED, OFF_ROOT = 5, OFF_GROUP_NEXT = 8,
	OFF_THREAD = 9, OFF_THREAD_NEXT = 21, OFF_FRAME = 23, OFF_TID = 25,
	OFF_PREVIOUS = 29, OFF_CODE, OFF_INSTRUCTION, OFF_OWNER = 33,
	OFF_FILE = 35, OFF_NAME = 37, OFF_LINES, OFF_FIRST_LINE,
	OFF_FIRST = 43, NOFFS = 64 };

/* Does it say of frames and code what the row says? */
static bool
row_holds(const struct row *row, const uint64_t *off)
{
	const struct dtp_chain *chain = &row->ro_chain;
	const uint64_t *frame = off + row->ro_more_thread,
	    *code = off + row->ro_more_code;

	return (off[OFF_FREE_THREADED] == 0 &&
	    frame[OFF_PREVIOUS] == chain->ch_previous &&
	    frame[OFF_CODE] == chain->ch_code &&
	    frame[OFF_INSTRUCTION] == chain->ch_instruction &&
	    frame[OFF_OWNER] == chain->ch_mark &&
	    code[OFF_FILE] == row->ro_file && code[OFF_NAME] == row->ro_name &&
	    code[OFF_LINES] == row->ro_lines &&
	    code[OFF_FIRST_LINE] == row->ro_first_line &&
	    code[OFF_FIRST] == chain->ch_first);
}

/* Where threads are, which the interpreter says itself. */
static bool
threads_find(const struct row *row, const uint64_t *off,
    struct dtp_chain *chain)
{
	const uint64_t *thread = off + row->ro_more_thread;

	if (off[OFF_GROUP_NEXT] > UINT16_MAX || off[OFF_THREAD] >
	    UINT16_MAX || thread[OFF_THREAD_NEXT] > UINT16_MAX ||
	    thread[OFF_FRAME] > UINT16_MAX || thread[OFF_TID] > UINT16_MAX)
		return (false);
	chain->ch_root = off[OFF_ROOT];
	chain->ch_group_next = (uint16_t)off[OFF_GROUP_NEXT];
	chain->ch_thread = (uint16_t)off[OFF_THREAD];
	chain->ch_thread_next = (uint16_t)thread[OFF_THREAD_NEXT];
	chain->ch_frame = (uint16_t)thread[OFF_FRAME];
	chain->ch_tid = (uint16_t)thread[OFF_TID];
	return (true);
}

/* 0x030b02f0 is 3.11.2; 0: it is not known. */
static uint32_t
version_of(struct prof_elf *elf, const uint64_t *off)
{
	struct prof_elf_part part;
	uint64_t address;
	uint32_t version;

	if (memcmp(off, COOKIE, sizeof(off[0])) == 0)
		return ((uint32_t)off[OFF_VERSION]);
	if (!prof_elf_object(elf, VERSION, &address) ||
	    !prof_elf_at(elf, address, &part) ||
	    part.pp_size < sizeof(version))
		return (0);
	part.pp_size = sizeof(version);
	if (!prof_elf_load(elf, &part))
		return (0);
	memcpy(&version, part.pp_bytes, sizeof(version));
	return (version);
}

static void
name_put(struct prof_runtime *runtime, const uint64_t *off)
{
	const uint32_t version = runtime->rt_version;
	const bool is_free = memcmp(off, COOKIE, sizeof(off[0])) == 0 &&
	    off[OFF_FREE_THREADED] != 0;

	if (version == 0)
		(void)snprintf(runtime->rt_name, sizeof(runtime->rt_name),
		    "Python older than 3.11");
	else
		(void)snprintf(runtime->rt_name, sizeof(runtime->rt_name),
		    "Python %u.%u.%u%s", version >> 24, version >> 16 & 255,
		    version >> 8 & 255, is_free ? ", free-threaded" : "");
}

static bool
python_find(struct prof_elf *elf, struct prof_runtime *runtime)
{
	struct dtp_chain *chain = &runtime->rt_chain;
	struct prof_elf_part part;
	uint64_t off[NOFFS];
	size_t n;

	if (!prof_elf_section_named(elf, SECTION, &part) ||
	    part.pp_size < sizeof(off))
		return (false);
	part.pp_size = sizeof(off);
	if (!prof_elf_load(elf, &part))
		return (false);
	memcpy(off, part.pp_bytes, sizeof(off));
	runtime->rt_version = version_of(elf, off);
	name_put(runtime, off);
	for (n = 0; n < NROWS; n++)
		if (rows[n].ro_version == runtime->rt_version >> 16)
			break;
	if (n == NROWS)
		return (true);
	*chain = rows[n].ro_chain;
	if (rows[n].ro_tells && (!row_holds(&rows[n], off) ||
	    !threads_find(&rows[n], off, chain)))
		return (true);
	chain->ch_root += part.pp_address;
	if (chain->ch_current != 0)
		chain->ch_current += part.pp_address;
	runtime->rt_variant = (uint32_t)n;
	runtime->rt_is_known = 1;
	(void)prof_elf_function(elf, runs[0], &runtime->rt_runs,
	    &runtime->rt_runs_bytes);
	return (true);
}

/* -------------------------------------------------------------- text */

static uint64_t
word_at(const uint8_t *bytes, unsigned offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return (word);
}

/* A character, as UTF-8; how many bytes. */
static size_t
utf8_put(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return (1);
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return (2);
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return (3);
	}
	to[0] = (char)(0xf0 | (c >> 18 & 0x7));
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return (4);
}

/* Its characters of 1, 2 or 4 bytes, as far as there is room. */
static void
text_convert(const uint8_t *from, size_t length, unsigned width, char *to,
    size_t size)
{
	size_t at = 0, n;
	uint32_t c;

	for (n = 0; n < length && at + 5 < size; n++) {
		c = 0;
		memcpy(&c, from + n * width, width);
		at += utf8_put(to + at, c);
	}
	to[at] = '\0';
}

static bool
text_read(const struct prof_peek *memory, const struct row *row,
    uint64_t address, char *to, size_t size)
{
	uint8_t bytes[UINT8_MAX + 4 * PROF_CODE_TEXT];
	const size_t have = prof_peek_some(memory, address, bytes, TEXT_BYTES);
	uint64_t length;
	uint32_t state;
	unsigned width, at;

	if (have < 32 + sizeof(state))
		return (false);
	length = word_at(bytes, OBJECT_SIZE);
	memcpy(&state, bytes + 32, sizeof(state));
	width = state >> 2 & 7;
	if ((width != 1 && width != 2 && width != 4) || (state & 1U << 5) == 0)
		return (false);
	if (length > size)
		length = size;
	at = state & 1U << 6 ? row->ro_ascii : row->ro_compact;
	if (have < at + length * width && !prof_peek_read(memory, address + at,
	    bytes + at, length * width))
		return (false);
	text_convert(bytes + at, length, width, to, size);
	return (true);
}

/* ------------------------------------------------------------- lines */

/* A table of lines: entries of a byte, kind and length, and what follows. */
struct lines {
	const uint8_t	*li_at;
	const uint8_t	*li_end;
};

static uint32_t
lines_byte(struct lines *lines)
{
	return (lines->li_at < lines->li_end ? *lines->li_at++ : 0);
}

static uint32_t
lines_varint(struct lines *lines)
{
	uint32_t byte = lines_byte(lines), value = byte & 63;
	unsigned shift;

	for (shift = 6; byte & 64 && shift < 32; shift += 6) {
		byte = lines_byte(lines);
		value |= (byte & 63) << shift;
	}
	return (value);
}

static uint32_t
lines_delta(struct lines *lines)
{
	const uint32_t value = lines_varint(lines);

	return (value & 1 ? 0 - (value >> 1) : value >> 1);
}

enum { LINES_ONE = 10, LINES_NO_COLUMNS = 13, LINES_LONG, LINES_NONE };

/* By how much an entry of a kind changes the line. */
static uint32_t
lines_entry(struct lines *lines, unsigned kind)
{
	uint32_t delta = 0;
	int n;

	if (kind == LINES_NO_COLUMNS)
		return (lines_delta(lines));
	if (kind == LINES_LONG) {
		delta = lines_delta(lines);
		for (n = 0; n < 3; n++)
			(void)lines_varint(lines);
	} else if (kind >= LINES_ONE && kind < LINES_NO_COLUMNS) {
		delta = kind - LINES_ONE;
		lines->li_at += 2;
	} else if (kind < LINES_ONE)
		lines->li_at += 1;
	return (delta);
}

/* One more step, unless it changes nothing; the last one has no line. */
static bool
step_add(struct prof_code_object *code, uint32_t instruction, uint32_t line)
{
	struct prof_table_step *step = &code->co_step[code->co_nsteps];

	if (code->co_nsteps > 0 && step[-1].tp_line == line)
		return (true);
	if (code->co_nsteps == PROF_CODE_STEPS - 1)
		line = 0;
	*step = (struct prof_table_step){ instruction, line };
	return (++code->co_nsteps < PROF_CODE_STEPS);
}

static void
lines_decode(struct lines *lines, struct prof_code_object *code)
{
	uint32_t instruction = 0, line = code->co_line, head;
	unsigned kind;

	while (lines->li_at < lines->li_end) {
		head = lines_byte(lines);
		kind = head >> 3 & 15;
		line += lines_entry(lines, kind);
		if ((head & 0x80) == 0 || lines->li_at > lines->li_end ||
		    !step_add(code, instruction, kind == LINES_NONE ? 0 :
		    line))
			return;
		instruction += (head & 7) + 1;
	}
}

static void
lines_read(const struct prof_peek *memory, uint64_t address,
    struct prof_code_object *code)
{
	uint8_t first[LINES_BYTES], *bytes = first;
	const size_t have = prof_peek_some(memory, address, first,
	    sizeof(first));
	struct lines lines;
	uint64_t size;

	if (have < BYTES_DATA)
		return;
	size = word_at(first, OBJECT_SIZE) + BYTES_DATA;
	if (size <= BYTES_DATA || size > MAX_LINETABLE)
		return;
	if (size > have && (bytes = malloc(size)) == NULL)
		return;
	if (size <= have || prof_peek_read(memory, address, bytes, size)) {
		lines.li_at = bytes + BYTES_DATA;
		lines.li_end = bytes + size;
		lines_decode(&lines, code);
	}
	if (bytes != first)
		free(bytes);
}

/* -------------------------------------------------------------- code */

/* The type of all code objects; it stays where it is, and is kept. */
static bool
is_code_type(const struct prof_peek *memory, uint64_t type)
{
	char name[sizeof(CODE_TYPE)];
	uint64_t at;

	if (memory->pk_kept != NULL && (uintptr_t)*memory->pk_kept == type)
		return (type != 0);
	if (!prof_peek_read(memory, type + 24, &at, sizeof(at)) ||
	    !prof_peek_read(memory, at, name, sizeof(name)) ||
	    memcmp(name, CODE_TYPE, sizeof(name)) != 0)
		return (false);
	if (memory->pk_kept != NULL)
		*memory->pk_kept = (void *)(uintptr_t)type;
	return (true);
}

static void
type_forget(void *kept)
{
	(void)kept;
}

/*
 * Is it an object of type code that was not freed?  Freed memory begins with a
 * pointer, or two, where objects have a small number and their type; what it
 * points to may be another's already.
 */
static bool
is_alive(const struct prof_peek *memory, const uint8_t *bytes)
{
	const uint64_t references = word_at(bytes, 0);
	const uint32_t middle = references >> 32 & 0xffff;

	return ((uint32_t)references != 0 && (middle == 0 ||
	    references >> 48 != 0) && is_code_type(memory, word_at(bytes, 8)));
}

/* Is it the code object that the program met, which read those texts? */
static bool
is_code(const struct prof_peek *memory, const struct row *row,
    const uint8_t *bytes, uint64_t check)
{
	const struct dtp_chain *chain = &row->ro_chain;
	uint64_t word[DTP_CHAIN_CODE], text[DTP_CHAIN_TEXT], mixed = 0;
	uint32_t i, n, skip;

	if (!is_alive(memory, bytes))
		return (false);
	memcpy(word, bytes + chain->ch_key, chain->ch_nwords * sizeof(*word));
	if (chain->ch_nwords == 1)
		return ((word[0] & chain->ch_key_mask) == check);
	for (n = 0; n < DTP_CHAIN_CODE; n++)
		mixed += dtp_chain_mix(word[n], chain->ch_skip, n);
	for (i = 0; i < DTP_CHAIN_TEXTS; i++) {
		mixed *= DTP_CHAIN_MIX;
		if ((check & 1U << i) == 0)
			continue;
		if (!prof_peek_read(memory, word[chain->ch_text[i]] +
		    chain->ch_text_at, text, sizeof(text)))
			return (false);
		skip = dtp_chain_text_skip(chain, i, text[0]);
		for (n = 0; n < DTP_CHAIN_TEXT; n++)
			mixed += dtp_chain_mix(text[n], skip, n);
	}
	return (((mixed ^ check) & ~(uint64_t)DTP_CHAIN_READ) == 0);
}

/* Has it the names and lines that it had before? */
static bool
is_same(const struct row *row, const uint8_t *before, const uint8_t *now)
{
	return (word_at(before, row->ro_name) == word_at(now, row->ro_name) &&
	    word_at(before, row->ro_file) == word_at(now, row->ro_file) &&
	    word_at(before, row->ro_lines) == word_at(now, row->ro_lines) &&
	    memcmp(before + row->ro_first_line, now + row->ro_first_line,
	    sizeof(uint32_t)) == 0);
}

/* Whose names were read is known at the end, when all is read once more. */
static bool
python_describe(const struct prof_peek *memory,
    const struct prof_code_key *key, struct prof_code_object *code)
{
	const struct row *row;
	uint8_t bytes[CODE_BYTES], again[CODE_BYTES];

	if (key->ck_variant >= NROWS)
		return (false);
	row = &rows[key->ck_variant];
	if (!prof_peek_read(memory, key->ck_address, bytes, sizeof(bytes)) ||
	    !is_alive(memory, bytes) ||
	    !text_read(memory, row, word_at(bytes, row->ro_name),
	    code->co_name, sizeof(code->co_name)) ||
	    !text_read(memory, row, word_at(bytes, row->ro_file),
	    code->co_file, sizeof(code->co_file)))
		return (false);
	memcpy(&code->co_line, bytes + row->ro_first_line,
	    sizeof(code->co_line));
	lines_read(memory, word_at(bytes, row->ro_lines), code);
	return (prof_peek_read(memory, key->ck_address, again,
	    sizeof(again)) && is_code(memory, row, again, key->ck_check) &&
	    is_same(row, bytes, again));
}

const struct prof_language prof_language_python = {
	.la_name = "python",
	.la_kind = PROF_FRAME_PYTHON,
	.la_missing = ": dtprof knows Python 3.11 to 3.14, except "
	    "free-threaded builds",
	.la_instead = "run an unmodified build of this Python version, or, "
	    "from 3.12 on, python3 -X perf",
	.la_runs = runs,
	.la_jit = jit,
	.la_has_chain = true,
	.la_find = python_find,
	.la_describe = python_describe,
	.la_forget = type_forget,
};
