/* SPDX-License-Identifier: ISC */
/*
 * The frames of a sample with their names, for line_text.c and
 * line_json.c.
 */
#include <stdlib.h>
#include <string.h>

#include "line.h"

/* How many frames there is room for: as many as are needed, if memory is. */
static size_t
room_for(struct line_stack *stack, size_t need)
{
	struct prof_frame *grown;

	if (need > stack->st_cap) {
		grown = reallocarray(stack->st_frame, need, sizeof(*grown));
		if (grown == NULL)
			return (stack->st_cap);
		stack->st_frame = grown;
		stack->st_cap = need;
	}
	return (stack->st_cap);
}

const struct line_stack *
line_stack(const struct line_names *names,
    const struct prof_record *record, bool is_kernel)
{
	struct line_stack *stack = names->sn_stack;
	size_t room = room_for(stack, record->pr_nkernel +
	    (size_t)record->pr_nuser + record->pr_nscript + 1);

	if (is_kernel && (prof_stack_kinds(names->sn_frames) &
	    PROF_FRAMES_KERNEL) == 0) {
		stack->st_n = 0;
		return (stack);
	}
	if (!is_kernel) {
		stack->st_n = prof_record_stack(names->sn_symbols, record,
		    names->sn_frames, stack->st_frame, room);
		/* Functions that are inlined have no word in the record. */
		if (stack->st_n > room) {
			room = room_for(stack, stack->st_n);
			stack->st_n = prof_record_stack(names->sn_symbols,
			    record, names->sn_frames, stack->st_frame,
			    room);
		}
		if (stack->st_n > room)
			stack->st_n = room;
		return (stack);
	}
	for (stack->st_n = 0; stack->st_n < record->pr_nkernel &&
	    stack->st_n < room; stack->st_n++)
		stack->st_frame[stack->st_n] = (struct prof_frame){
			.fr_id = record->pr_kernel[stack->st_n],
			.fr_kind = PROF_FRAME_KERNEL,
			.fr_flags = stack->st_n > 0 ? PROF_FRAME_RETURN : 0,
		};
	return (stack);
}

void
line_frame(const struct line_names *names,
    const struct prof_record *record, const struct prof_frame *of,
    struct line_frame *frame)
{
	struct prof_symbols *symbols = names->sn_symbols;
	uint32_t space = prof_symbols_space(symbols, record->pr_pid,
	    record->pr_time_ns);
	const char *module;
	uint64_t address;

	memset(frame, 0, sizeof(*frame));
	frame->sf_frame = *of;
	frame->sf_function = prof_symbols_function(symbols,
	    prof_symbols_find(symbols, space, of));
	/* The place of a return address is that of the call before it. */
	if (of->fr_kind > PROF_FRAME_KERNEL)
		address = of->fr_id & PROF_FRAME_INSTRUCTION;
	else if (prof_symbols_place(symbols, space, of, &module,
	    &address) == 0)
		address += (of->fr_flags & PROF_FRAME_RETURN) != 0;
	else
		address = of->fr_id;
	frame->sf_offset = address - frame->sf_function->fu_address;
	if (names->sn_lines || (names->sn_script_lines &&
	    of->fr_kind > PROF_FRAME_KERNEL))
		(void)prof_symbols_lines(symbols, space, of,
		    &frame->sf_line, 1);
}
