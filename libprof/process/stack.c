/* SPDX-License-Identifier: ISC */
/*
 * Native and script frames of a sample as one stack.  What an interpreter
 * runs comes in runs, each of which ends at a boundary (recording/frame.h);
 * a run takes the place of the native frame that executed it:
 *
 *	native	memcpy  list_append  eval  call  eval  main
 *	script	f  g  |  h  |
 *	stack	memcpy  list_append  f  g  call  h  main
 *
 * so the script frames are complete even where the walk over the native ones
 * ended early: runs without a native frame are callers of all native frames,
 * behind a boundary frame that says why.  Where one of the lists has a gap,
 * runs behind it are counted from the root.  What is inlined at a frame comes
 * before it.  Called for each sample that is shown, and by profile/.
 */
#include <string.h>

#include "languages/language.h"
#include "recording/frame.h"
#include "recording/query.h"
#include "stack.h"
#include "symbols_impl.h"

#define NOWHERE	UINT32_MAX
#define BESIDE	(NOWHERE - 1)	/* its native frame was left out */

struct stack {
	struct prof_frame *st_frame;
	size_t		 st_max;
	size_t		 st_n;		/* of all; the first st_max are kept */
	unsigned	 st_kinds;	/* that are shown */
	const char	*st_interpreter; /* its file; NULL: not known */
	bool		 st_is_boundary; /* the last frame */
	/* Behind a gap: runs, and native frames that execute them */
	bool		 st_is_outer;
	uint32_t	 st_nruns;
	uint32_t	 st_nplaces;
};

unsigned
prof_stack_kinds(unsigned frames)
{
	const unsigned all = PROF_FRAMES_ALL - 1;

	return (frames & PROF_FRAMES_ALL ? all :
	    frames != 0 ? frames : all & ~PROF_FRAMES_INTERPRETER);
}

static void
frame_add(struct stack *stack, const struct prof_frame *frame)
{
	if (stack->st_n < stack->st_max)
		stack->st_frame[stack->st_n] = *frame;
	stack->st_n++;
	stack->st_is_boundary = frame->fr_kind == PROF_FRAME_BOUNDARY;
}

static void
boundary_add(struct stack *stack, enum prof_boundary why)
{
	frame_add(stack, &(struct prof_frame){ why, PROF_FRAME_BOUNDARY, 0 });
}

static const struct prof_function *
function_of(const struct prof_lists *lists, const struct prof_frame *frame)
{
	return (prof_symbols_function(lists->li_symbols, prof_symbols_find(
	    lists->li_symbols, lists->li_space, frame)));
}

static bool
is_interpreter(const struct stack *stack, const struct prof_lists *lists,
    const struct prof_frame *frame)
{
	const struct prof_function *function;

	if (stack->st_interpreter == NULL || frame->fr_kind !=
	    PROF_FRAME_NATIVE)
		return (false);
	function = function_of(lists, frame);
	return (prof_language_has_chain(function->fu_kind) ||
	    strcmp(function->fu_module, stack->st_interpreter) == 0);
}

/* Native frames first to before end, as far as they are shown. */
static void
native_add(struct stack *stack, struct prof_lists *lists, uint32_t first,
    uint32_t end)
{
	struct prof_frame frame;
	bool is_folded;

	for (; first < end; first++) {
		prof_frame_of_pc(lists->li_native[first], PROF_FRAME_NATIVE,
		    first > 0, &frame);
		is_folded = is_interpreter(stack, lists, &frame);
		if (stack->st_kinds & (is_folded ? PROF_FRAMES_INTERPRETER :
		    PROF_FRAMES_NATIVE))
			frame_add(stack, &frame);
		else if (first == 0)
			lists->li_is_folded = is_folded;
	}
}

/* The end of the run that begins at a word: its boundary, or the end. */
static uint32_t
run_end(const struct prof_lists *lists, uint32_t at)
{
	struct prof_frame frame;

	for (; at < lists->li_nscript; at++) {
		prof_frame_unpack(lists->li_script[at], &frame);
		if (frame.fr_kind == PROF_FRAME_BOUNDARY)
			break;
	}
	return (at);
}

/* The next native frame whose function executes frames of this kind. */
static uint32_t
run_find(const struct prof_lists *lists, unsigned kind, uint32_t from)
{
	const struct prof_function *function;
	struct prof_frame frame;

	for (; lists->li_symbols != NULL && from < lists->li_nnative; from++) {
		prof_frame_of_pc(lists->li_native[from], PROF_FRAME_NATIVE,
		    from > 0, &frame);
		function = function_of(lists, &frame);
		if (prof_language_runs(kind, function->fu_raw))
			return (from);
	}
	return (NOWHERE);
}

/* Were there more script frames, outside of a run that ends there? */
static bool
is_cut_at(const struct prof_lists *lists, uint32_t end)
{
	struct prof_frame frame;

	if (end == lists->li_nscript)
		return (false);
	prof_frame_unpack(lists->li_script[end], &frame);
	return (prof_frame_code(&frame) == PROF_BOUNDARY_TRUNCATED);
}

/* Were frames left out behind a run that ends there? */
static bool
is_gap_at(const struct prof_lists *lists, uint32_t end)
{
	return (end + 1 < lists->li_nscript &&
	    lists->li_script[end] == PROF_WORD_GAP);
}

/* The next gap in the native frames, before one of them. */
static uint32_t
native_gap(const struct prof_lists *lists, uint32_t from, uint32_t end)
{
	for (; from < end && from < lists->li_nnative; from++)
		if (lists->li_native[from] == PROF_WORD_GAP)
			return (from);
	return (NOWHERE);
}

/* Of which kind is a run?  One without a frame yet is of the next one's. */
static unsigned
run_kind(const struct prof_lists *lists, uint32_t at)
{
	struct prof_frame frame;

	for (; at < lists->li_nscript; at++) {
		prof_frame_unpack(lists->li_script[at], &frame);
		if (prof_frame_is_script(&frame))
			return (frame.fr_kind);
	}
	return (PROF_FRAME_BOUNDARY);
}

/* From here on: count what there is up to the root. */
static void
outer_begin(struct stack *stack, const struct prof_lists *lists, uint32_t at,
    uint32_t native)
{
	const unsigned kind = run_kind(lists, at);

	stack->st_is_outer = true;
	for (; at < lists->li_nscript; at = run_end(lists, at) + 1)
		stack->st_nruns++;
	for (; (native = run_find(lists, kind, native)) != NOWHERE; native++)
		stack->st_nplaces++;
}

/* The native frame that ran the words from at on, the next one behind a gap. */
static uint32_t
outer_place(struct stack *stack, const struct prof_lists *lists, uint32_t at,
    uint32_t from)
{
	const unsigned kind = run_kind(lists, at);
	const uint32_t nruns = stack->st_nruns--;
	uint32_t place;

	if (stack->st_nplaces < nruns)
		return (lists->li_is_cut && native_gap(lists, from,
		    NOWHERE) == NOWHERE ? NOWHERE : BESIDE);
	do {
		place = run_find(lists, kind, from);
		from = place + 1;
	} while (stack->st_nplaces-- > nruns && place != NOWHERE);
	return (place);
}

/* The native frame, from one on, that ran the words at to before end. */
static uint32_t
run_place(struct stack *stack, const struct prof_lists *lists, uint32_t at,
    uint32_t end, uint32_t from)
{
	struct prof_frame frame = { 0 };
	uint32_t place;

	if (end < lists->li_nscript)
		prof_frame_unpack(lists->li_script[end], &frame);
	place = prof_frame_instruction(&frame);
	if (place != 0 && !is_gap_at(lists, end))
		return (place > from && place <= lists->li_nnative ?
		    place - 1 : NOWHERE);
	if (stack->st_is_outer)
		return (outer_place(stack, lists, at, from));
	place = run_find(lists, run_kind(lists, at), from);
	if (native_gap(lists, from, place) == NOWHERE)
		return (place);
	outer_begin(stack, lists, at, from);
	return (outer_place(stack, lists, at, from));
}

static void
run_add(struct stack *stack, const struct prof_lists *lists, uint32_t at,
    uint32_t end)
{
	struct prof_frame frame;
	uint32_t n, inlined;

	for (; at < end; at++) {
		prof_frame_unpack(lists->li_script[at], &frame);
		inlined = prof_script_inlined(lists->li_symbols, &frame);
		for (n = 1; n <= inlined; n++) {
			frame_add(stack, &(struct prof_frame){ frame.fr_id | n,
			    frame.fr_kind, frame.fr_flags });
		}
		frame_add(stack, &frame);
	}
}

/* Runs of which no native frame is known, from a word on. */
static void
callers_add(struct stack *stack, const struct prof_lists *lists, uint32_t at)
{
	enum prof_boundary why = lists->li_is_cut ? PROF_BOUNDARY_TRUNCATED :
	    PROF_BOUNDARY_INTERPRETER;
	bool is_cut = false;
	uint32_t end;

	for (; at < lists->li_nscript; at = end + 1) {
		end = run_end(lists, at);
		if (stack->st_n > 0 && end > at && !is_cut)
			boundary_add(stack, why);
		run_add(stack, lists, at, end);
		is_cut = end > at && is_cut_at(lists, end);
		if (is_cut)
			boundary_add(stack, PROF_BOUNDARY_TRUNCATED);
		why = PROF_BOUNDARY_INTERPRETER;
	}
}

/* The file of the function at a place, if it is one that executes scripts. */
static const char *
interpreter_at(const struct prof_lists *lists, uint32_t at, uint32_t place)
{
	const unsigned kind = run_kind(lists, at);
	const struct prof_function *function;
	struct prof_frame frame;

	if (!prof_language_has_chain(kind) &&
	    run_find(lists, kind, place) != place)
		return (NULL);
	prof_frame_of_pc(lists->li_native[place], PROF_FRAME_NATIVE,
	    place > 0, &frame);
	function = function_of(lists, &frame);
	return (function->fu_module[0] == '\0' ? NULL : function->fu_module);
}

/* Native frames up to one that executes a run, where the next ones begin. */
static uint32_t
place_add(struct stack *stack, struct prof_lists *lists, uint32_t native,
    uint32_t place)
{
	uint32_t gap;

	if (place != BESIDE) {
		native_add(stack, lists, native, place);
		return (place + 1);
	}
	gap = native_gap(lists, native, NOWHERE);
	if (gap != NOWHERE)
		native_add(stack, lists, native, gap + 1);
	else if (stack->st_n > 0 && !stack->st_is_boundary)
		boundary_add(stack, PROF_BOUNDARY_INTERPRETER);
	return (gap == NOWHERE ? native : gap + 1);
}

size_t
prof_stack_merge(struct prof_lists *lists, struct prof_frame *frames,
    size_t max)
{
	struct stack stack = { .st_frame = frames, .st_max = max,
	    .st_kinds = prof_stack_kinds(lists->li_frames) };
	uint32_t at = 0, native = 0, end, place;

	lists->li_is_folded = false;
	if ((stack.st_kinds & PROF_FRAMES_SCRIPT) == 0)
		lists->li_nscript = 0;
	for (; at < lists->li_nscript; at = end + 1) {
		end = run_end(lists, at);
		place = run_place(&stack, lists, at, end, native);
		if (place == NOWHERE)
			break;
		if (stack.st_interpreter == NULL && place != BESIDE)
			stack.st_interpreter = interpreter_at(lists, at,
			    place);
		native = place_add(&stack, lists, native, place);
		if (at == end && place != BESIDE)
			native_add(&stack, lists, place, place + 1);
		run_add(&stack, lists, at, end);
		if (is_cut_at(lists, end))
			boundary_add(&stack, PROF_BOUNDARY_TRUNCATED);
		if (is_gap_at(lists, end) && !stack.st_is_outer)
			outer_begin(&stack, lists, end + 1, native);
	}
	native_add(&stack, lists, native, lists->li_nnative);
	callers_add(&stack, lists, at);
	return (stack.st_n);
}

size_t
prof_record_stack(struct prof_symbols *symbols,
    const struct prof_record *record, unsigned shown,
    struct prof_frame *frames, size_t max)
{
	struct prof_lists lists = {
		.li_native = record->pr_user,
		.li_nnative = record->pr_nuser,
		.li_script = record->pr_script,
		.li_nscript = record->pr_nscript,
		.li_frames = shown,
		.li_is_cut = record->pr_ustatus != PROF_STACK_OK,
		.li_symbols = symbols,
		.li_space = prof_symbols_space(symbols, record->pr_pid,
		    record->pr_time_ns),
	};

	return (prof_stack_merge(&lists, frames, max));
}

size_t
prof_symbols_stack(struct prof_symbols *symbols,
    const struct prof_entry *entry, struct prof_frame *frames, size_t max)
{
	return (prof_record_stack(symbols, prof_entry_record(entry),
	    PROF_FRAMES_ALL, frames, max));
}
