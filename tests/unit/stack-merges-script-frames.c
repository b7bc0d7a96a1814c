/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: native and script frames become one stack: each run of script
 * frames stands where the native frame stood that executed it, none is lost
 * where the native frames end early, and a boundary says where frames are
 * missing.  A random pair of lists keeps the order of both.
 *
 * Easy to get wrong: places in a file are anybody's, out of range or in no
 * order, and lists may begin or end with boundaries.
 */
#include "process/languages/language.h"
#include "process/stack.h"
#include "recording-lib.h"
#include "recording/frame.h"

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
	printf("ok: %zu examples and 100000 random stacks\n",
	    sizeof(examples) / sizeof(examples[0]));
	return (0);
}
