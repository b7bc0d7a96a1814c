/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: native and script frames become one stack: each run of script
 * frames stands where the native frame stood that executed it, none is lost
 * where the native frames end early, and a boundary says where frames are
 * missing.  A random pair of lists keeps the order of both.  An interpreter is
 * folded, also where a call has no frame yet.  A function that was called at a
 * place in code and is not known is an unresolved address, between others.
 *
 * Easy to get wrong: places in a file are anybody's, out of range or in no
 * order, and lists may begin or end with boundaries.
 */
#include "process/languages/language.h"
#include "process/stack.h"
#include "recording-lib.h"
#include "recording/frame.h"
#include "recording/table.h"

#define MAX	64

/*
 * One character a frame, innermost first.  Native: a letter, or '.' where
 * frames were left out; script: a digit for each frame, '!' where frames were
 * left out, '|' a boundary without a place, '<' one whose place is the next
 * character's, a letter of the native list.
 */
static const struct example {
	const char	*ex_native;
	const char	*ex_script;
	bool		 ex_is_cut;
	const char	*ex_stack;	/* '!': truncated, '?': interpreter */
} examples[] = {
	{ "abc", "", false, "abc" },
	{ "", "12", false, "12" },
	{ "aEbEm", "12<E3<F", false, "a12b3m" },
	{ "EEm", "1<E2<F", false, "12m" },
	{ "Em", "1<E", false, "1m" },
	{ "aEm", "1<E2", false, "a1m?2" },
	{ "aE", "1<E2|3", true, "a1!2?3" },
	{ "a", "12|3", true, "a!12?3" },
	{ "a", "12|", false, "a?12" },
	{ "aEm", "1<z", false, "aEm?1" },	/* no such place */
	{ "aEbFm", "1<F2<E", false, "aEb1m?2" }, /* not in order */
	{ "aE", "|1<E", false, "aE?1" },
	{ "aEbEm", "<E2<F", false, "aEb2m" },	/* no frame yet */
	{ "a", "||", false, "a" },
	{ "aEm", "12>E", false, "a12!m" },	/* the walk ended there */
	{ "a", "12>E", false, "a?12!" },
	{ "ab", "12!34|", false, "ab?12!34" },
	{ "a.b", "1|2|", false, "a!1?2b" },
};

/* Place of a letter: of 'F' the second capital. */
static uint32_t
place_of(const char *native, char letter)
{
	uint32_t nth = letter - 'E';

	for (uint32_t n = 0; letter != 'z' && native[n] != '\0'; n++)
		if (native[n] >= 'E' && native[n] <= 'Z' && nth-- == 0)
			return (n + 1);
	return (1000);
}

static uint32_t
make_script(const struct example *example, uint64_t *words)
{
	const char *at = example->ex_script;
	enum prof_boundary why;
	uint32_t n = 0;

	for (; *at != '\0'; at++) {
		if (*at == '|')
			words[n++] = PROF_WORD_BOUNDARY(
			    PROF_BOUNDARY_INTERPRETER, 0);
		else if (*at == '!')
			words[n++] = PROF_WORD_GAP;
		else if (*at == '<' || *at == '>') {
			why = *at == '<' ? PROF_BOUNDARY_INTERPRETER :
			    PROF_BOUNDARY_TRUNCATED;
			at++;
			words[n++] = PROF_WORD_BOUNDARY(why,
			    place_of(example->ex_native, *at));
		} else
			words[n++] = (uint64_t)PROF_FRAME_SCRIPT <<
			    PROF_WORD_KIND_SHIFT | (uint64_t)(*at - '0') <<
			    PROF_FRAME_INSTRUCTION_BITS;
	}
	return (n);
}

static char
letter_of(const struct prof_frame *frame)
{
	if (frame->fr_kind == PROF_FRAME_BOUNDARY)
		return (frame->fr_id == PROF_BOUNDARY_TRUNCATED ? '!' : '?');
	return ((char)(frame->fr_kind == PROF_FRAME_NATIVE ? frame->fr_id :
	    '0' + prof_frame_code(frame)));
}

static void
try_example(const struct example *example)
{
	uint64_t native[MAX], script[MAX];
	struct prof_frame frames[MAX];
	char seen[MAX + 1];
	struct prof_lists lists = { .li_native = native, .li_script = script,
	    .li_is_cut = example->ex_is_cut };
	size_t n, i;

	for (n = 0; example->ex_native[n] != '\0'; n++)
		native[n] = example->ex_native[n] == '.' ? PROF_WORD_GAP :
		    (uint64_t)example->ex_native[n];
	lists.li_nnative = (uint32_t)n;
	lists.li_nscript = make_script(example, script);
	n = prof_stack_merge(&lists, frames, MAX);
	CHECK(n < MAX);
	for (i = 0; i < n; i++) {
		seen[i] = letter_of(&frames[i]);
		CHECK(frames[i].fr_kind != PROF_FRAME_NATIVE ||
		    (frames[i].fr_flags == PROF_FRAME_RETURN) ==
		    (frames[i].fr_id != native[0] || i > 0));
	}
	seen[i] = '\0';
	if (strcmp(seen, example->ex_stack) != 0) {
		printf("FAIL: %s with %s is %s, not %s\n", example->ex_native,
		    example->ex_script, seen, example->ex_stack);
		exit(1);
	}
	/* As many as there is room for, and the number of all. */
	CHECK(prof_stack_merge(&lists, frames, 1) == n);
}

/* Script frames all, in order; native ones in order; nothing made up. */
static void
try_random(void)
{
	uint64_t native[MAX], script[MAX];
	struct prof_frame frames[2 * MAX + 2], want;
	struct prof_lists lists = { .li_native = native, .li_script = script,
	    .li_nnative = below(MAX), .li_nscript = below(MAX),
	    .li_is_cut = below(2) };
	uint32_t at = 0, last = 0;
	size_t n, i;

	for (i = 0; i < MAX; i++) {
		native[i] = i + 1;
		script[i] = below(64) == 0 ? PROF_WORD_GAP : below(4) == 0 ?
		    PROF_WORD_BOUNDARY(below(2), below(MAX + 2)) :
		    (uint64_t)PROF_FRAME_JAVA << PROF_WORD_KIND_SHIFT |
		    rnd() >> 20;
	}
	n = prof_stack_merge(&lists, frames, 2 * MAX + 2);
	CHECK(n <= (size_t)lists.li_nnative + lists.li_nscript + 1);
	for (i = 0; i < n; i++) {
		if (frames[i].fr_kind == PROF_FRAME_NATIVE) {
			CHECK(frames[i].fr_id > last);
			last = (uint32_t)frames[i].fr_id;
		} else if (frames[i].fr_kind != PROF_FRAME_BOUNDARY) {
			do {
				CHECK(at < lists.li_nscript);
				prof_frame_unpack(script[at++], &want);
			} while (want.fr_kind == PROF_FRAME_BOUNDARY);
			CHECK(want.fr_id == frames[i].fr_id &&
			    want.fr_kind == frames[i].fr_kind);
		}
	}
	for (; at < lists.li_nscript; at++) {
		prof_frame_unpack(script[at], &want);
		CHECK(want.fr_kind == PROF_FRAME_BOUNDARY);
	}
}

/* ------------------------------------------------------ with symbols */

#define START	0x10000000u
#define PC(n)	(START + 0x1000 * (n) + 0x10)

#define PLACE	2	/* number of script code */

enum { MAIN, EVAL, CALL, FUNCTIONS, CODE };

/* A mapping of a file that has these functions. */
static void
module_write(struct prof_writer *writer, const char *path, unsigned from,
    unsigned to)
{
	static const char *const names[] = { "main",
	    "_PyEval_EvalFrameDefault", "call" };
	struct prof_table table = { .tb_kind = PROF_TABLE_FILE,
	    .tb_path = path, .tb_why = PROF_UNNAMED_NOSYM, .tb_nsegments = 1,
	    .tb_segment = { { 0, FUNCTIONS * 0x1000, 0 } } };
	const struct prof_record map = { .pr_type = PROF_R_MMAP, .pr_pid = 7,
	    .pr_tid = 7, .pr_comm = "", .pr_path = path,
	    .pr_addr = START + 0x1000 * from,
	    .pr_len = 0x1000 * (to - from) };
	struct prof_buf body = { 0 };

	CHECK(prof_writer_add(writer, &map) == 0);
	prof_table_pack(&body, &table);
	for (unsigned n = from; n < to; n++)
		prof_table_pack_function(&body, &table,
		    &(struct prof_table_function){
		    .tf_address = 0x1000 * (n - from), .tf_size = 0x1000,
		    .tf_name = names[n], .tf_module = "" });
	CHECK(prof_writer_symbols(writer, body.bf_data, body.bf_len) == 0);
	prof_buf_free(&body);
}

/*
 * Code that the interpreter made for a function, and a place in code that has
 * called one which is not known.
 */
static void
code_write(struct prof_writer *writer)
{
	struct prof_table table = { .tb_kind = PROF_TABLE_JIT, .tb_pid = 7,
	    .tb_time_ns = 1 };
	const struct prof_record map = { .pr_type = PROF_R_MMAP, .pr_pid = 7,
	    .pr_tid = 7, .pr_comm = "", .pr_path = "//anon",
	    .pr_addr = START + 0x1000 * CODE, .pr_len = 0x1000 };
	static const struct prof_table_inlined unknown[] = { { "", "", 0, 0 },
	    { "[callers not known]", "", 0, 0 } };
	struct prof_buf body = { 0 };

	CHECK(prof_writer_add(writer, &map) == 0);
	prof_table_pack(&body, &table);
	prof_table_pack_function(&body, &table,
	    &(struct prof_table_function){ .tf_address = map.pr_addr,
	    .tf_size = 0x1000, .tf_name = "py::leaf:/x.py",
	    .tf_module = "" });
	CHECK(prof_writer_symbols(writer, body.bf_data, body.bf_len) == 0);
	body.bf_len = 0;
	prof_table_pack(&body, &(struct prof_table){
	    .tb_kind = PROF_TABLE_SCRIPT });
	prof_table_pack_code(&body, &(struct prof_table_code){
	    .tc_number = PLACE, .tc_name = "calls", .tc_file = "/x.js",
	    .tc_inlined = unknown, .tc_ninlined = 2 });
	CHECK(prof_writer_symbols(writer, body.bf_data, body.bf_len) == 0);
	prof_buf_free(&body);
}

/* A program's main, and an interpreter with what is inside of it. */
static struct prof_reader *
names_write(const char *path, struct prof_err *error)
{
	const struct prof_event_info event = { .pi_name = "e", .pi_probe = "e",
	    .pi_provider = "e", .pi_unit = "events" };
	struct prof_writer *writer = prof_writer_open(path, error);

	CHECK_OK(writer == NULL ? -1 : prof_writer_event(writer, &event),
	    error);
	module_write(writer, "/program", MAIN, EVAL);
	module_write(writer, "/interpreter", EVAL, FUNCTIONS);
	code_write(writer);
	CHECK_OK(prof_writer_close(writer, error), error);
	return (prof_reader_open(path, error));
}

#define PY ((uint64_t)PROF_FRAME_PYTHON << PROF_WORD_KIND_SHIFT |	\
	    1 << PROF_FRAME_INSTRUCTION_BITS)

/*
 * What executes a run has a name that nobody knows, and calls code that was
 * made for functions: all that is the interpreter's.
 */
static void
try_places(struct prof_lists *lists)
{
	static const uint64_t native[] = { PC(CODE), PC(CALL), PC(CODE),
	    PC(CALL), PC(MAIN) };
	const uint64_t script[] = { PY,
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_INTERPRETER, 2), PY,
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_INTERPRETER, 4) };
	struct prof_frame frames[MAX];

	lists->li_native = native;
	lists->li_nnative = 5;
	lists->li_script = script;
	lists->li_nscript = 4;
	lists->li_frames = 0;
	CHECK(prof_stack_merge(lists, frames, MAX) == 3);
	CHECK(frames[0].fr_kind == PROF_FRAME_PYTHON &&
	    frames[1].fr_kind == PROF_FRAME_PYTHON &&
	    frames[2].fr_kind == PROF_FRAME_NATIVE);
}

static void
try_unknown(struct prof_lists *lists, struct prof_symbols *symbols)
{
	static const char *const names[] = { "[javascript]",
	    "[callers not known]", "calls" };
	const uint64_t script = (uint64_t)PROF_FRAME_JAVASCRIPT <<
	    PROF_WORD_KIND_SHIFT | PLACE << PROF_FRAME_INSTRUCTION_BITS;
	const struct prof_function *function;
	struct prof_frame frames[MAX];

	lists->li_nnative = 0;
	lists->li_script = &script;
	lists->li_nscript = 1;
	CHECK(prof_stack_merge(lists, frames, MAX) == 3);
	for (unsigned n = 0; n < 3; n++) {
		function = prof_symbols_function(symbols, prof_symbols_find(
		    symbols, lists->li_space, &frames[n]));
		CHECK(strcmp(function->fu_name, names[n]) == 0 &&
		    (function->fu_unnamed != PROF_NAMED) == (n == 0));
	}
}

/* The innermost run has no frame yet, and is folded all the same. */
static void
try_folded(void)
{
	static const uint64_t native[] = { PC(EVAL), PC(CALL), PC(EVAL),
	    PC(MAIN) };
	const uint64_t none = PROF_WORD_BOUNDARY(PROF_BOUNDARY_INTERPRETER, 0);
	const uint64_t script[] = { none, PY, none };
	struct prof_err error = { 0 };
	struct prof_reader *reader = names_write(work_path("x.dtp"), &error);
	struct prof_symbols *symbols = reader == NULL ? NULL :
	    prof_symbols_open(reader, NULL, &error);
	struct prof_lists lists = { .li_native = native, .li_nnative = 4,
	    .li_script = script, .li_nscript = 3, .li_symbols = symbols };
	struct prof_frame frames[MAX];

	CHECK_OK(symbols == NULL ? -1 : 0, &error);
	lists.li_space = prof_symbols_space(symbols, 7, 1);
	CHECK(prof_stack_merge(&lists, frames, MAX) == 2);
	CHECK(lists.li_is_folded && frames[0].fr_kind == PROF_FRAME_PYTHON);
	CHECK(frames[1].fr_kind == PROF_FRAME_NATIVE);
	lists.li_frames = PROF_FRAMES_ALL;
	CHECK(prof_stack_merge(&lists, frames, MAX) == 4);
	CHECK(frames[1].fr_kind == PROF_FRAME_NATIVE &&
	    frames[2].fr_kind == PROF_FRAME_PYTHON);
	try_places(&lists);
	try_unknown(&lists, symbols);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

int
main(void)
{
	const char *seed = getenv("SEED");
	struct prof_frame frame = { 0xabcdef123456, PROF_FRAME_PYTHON, 3 };
	struct prof_frame again;

	random_state = seed == NULL ? 25 : strtoull(seed, NULL, 0);
	printf("seed %" PRIu64 "\n", random_state);
	prof_frame_unpack(prof_frame_pack(&frame), &again);
	CHECK(again.fr_id == frame.fr_id && again.fr_kind == frame.fr_kind &&
	    again.fr_flags == frame.fr_flags);
	CHECK(prof_language_runs(PROF_FRAME_PYTHON,
	    "_PyEval_EvalFrameDefault.cold") &&
	    !prof_language_runs(PROF_FRAME_PYTHON, "_PyEval_EvalFrame") &&
	    !prof_language_runs(PROF_FRAME_PYTHON, ""));
	for (size_t n = 0; n < sizeof(examples) / sizeof(examples[0]); n++)
		try_example(&examples[n]);
	for (unsigned n = 0; n < 100000; n++)
		try_random();
	try_folded();
	printf("ok: %zu examples and 100000 random stacks\n",
	    sizeof(examples) / sizeof(examples[0]));
	return (0);
}
