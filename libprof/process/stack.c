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
 * behind a boundary frame that says why.  What is inlined at a frame comes
 * before it.  Called for each sample that is shown, and by profile/.
 */
#include "languages/language.h"
#include "recording/frame.h"
#include "recording/query.h"
#include "stack.h"
#include "symbols_impl.h"

#define NOWHERE	UINT32_MAX

struct stack {
	struct prof_frame *st_frame;
	size_t		 st_max;
	size_t		 st_n;		/* of all; the first st_max are kept */
};

static void
frame_add(struct stack *stack, const struct prof_frame *frame)
{
	if (stack->st_n < stack->st_max)
		stack->st_frame[stack->st_n] = *frame;
	stack->st_n++;
}

static void
boundary_add(struct stack *stack, enum prof_boundary why)
{
	frame_add(stack, &(struct prof_frame){ why, PROF_FRAME_BOUNDARY, 0 });
}

/* Native frames first to before end. */
static void
native_add(struct stack *stack, const struct prof_lists *lists,
    uint32_t first, uint32_t end)
{
	struct prof_frame frame;

	for (; first < end; first++) {
		prof_frame_of_pc(lists->li_native[first], PROF_FRAME_NATIVE,
		    first > 0, &frame);
		frame_add(stack, &frame);
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
		function = prof_symbols_function(lists->li_symbols,
		    prof_symbols_find(lists->li_symbols, lists->li_space,
		    &frame));
		if (prof_language_runs(kind, function->fu_raw))
			return (from);
	}
	return (NOWHERE);
}

/* The native frame, from one on, that ran the words at to before end. */
static uint32_t
run_place(const struct prof_lists *lists, uint32_t at, uint32_t end,
    uint32_t from)
{
	struct prof_frame frame = { 0 };
	uint32_t place;

	if (end < lists->li_nscript)
		prof_frame_unpack(lists->li_script[end], &frame);
	place = prof_frame_instruction(&frame);
	if (place != 0)
		return (place > from && place <= lists->li_nnative ?
		    place - 1 : NOWHERE);
	/* One that has no frame yet is of the interpreter of the next. */
	for (; at < lists->li_nscript; at++) {
		prof_frame_unpack(lists->li_script[at], &frame);
		if (prof_frame_is_script(&frame))
			return (run_find(lists, frame.fr_kind, from));
	}
	return (NOWHERE);
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
	uint32_t end;

	for (; at < lists->li_nscript; at = end + 1) {
		end = run_end(lists, at);
		if (stack->st_n > 0 && end > at)
			boundary_add(stack, why);
		run_add(stack, lists, at, end);
		why = PROF_BOUNDARY_INTERPRETER;
	}
}

size_t
prof_stack_merge(const struct prof_lists *lists, struct prof_frame *frames,
    size_t max)
{
	struct stack stack = { frames, max, 0 };
	uint32_t at = 0, native = 0, end, place;

	for (; at < lists->li_nscript; at = end + 1) {
		end = run_end(lists, at);
		place = run_place(lists, at, end, native);
		if (place == NOWHERE)
			break;
		native_add(&stack, lists, native, place);
		if (at == end)
			native_add(&stack, lists, place, place + 1);
		run_add(&stack, lists, at, end);
		native = place + 1;
	}
	native_add(&stack, lists, native, lists->li_nnative);
	callers_add(&stack, lists, at);
	return (stack.st_n);
}

size_t
prof_record_stack(struct prof_symbols *symbols,
    const struct prof_record *record, struct prof_frame *frames, size_t max)
{
	const struct prof_lists lists = {
		.li_native = record->pr_user,
		.li_nnative = record->pr_nuser,
		.li_script = record->pr_script,
		.li_nscript = record->pr_nscript,
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
	return (prof_record_stack(symbols, prof_entry_record(entry), frames,
	    max));
}
