/* SPDX-License-Identifier: ISC */
/*
 * One frame of a sample with its names, for script_text.c and script_json.c.
 */
#include <string.h>

#include "script.h"

void
script_frame(const struct script_names *names,
    const struct prof_record *record, bool is_kernel, uint32_t n,
    struct script_frame *frame)
{
	struct prof_symbols *symbols = names->sn_symbols;
	uint32_t space = prof_symbols_space(symbols, record->pr_pid,
	    record->pr_time_ns);
	const char *module;
	uint64_t address;

	memset(frame, 0, sizeof(*frame));
	frame->sf_frame = (struct prof_frame){
		.fr_id = is_kernel ? record->pr_kernel[n] : record->pr_user[n],
		.fr_kind = is_kernel ? PROF_FRAME_KERNEL : PROF_FRAME_NATIVE,
		.fr_flags = n > 0 ? PROF_FRAME_RETURN : 0,
	};
	frame->sf_function = prof_symbols_function(symbols,
	    prof_symbols_find(symbols, space, &frame->sf_frame));
	/* The place of a return address is that of the call before it. */
	if (prof_symbols_place(symbols, space, &frame->sf_frame, &module,
	    &address) == 0)
		address += n > 0;
	else
		address = frame->sf_frame.fr_id;
	frame->sf_offset = address - frame->sf_function->fu_address;
	if (names->sn_lines)
		(void)prof_symbols_lines(symbols, space, &frame->sf_frame,
		    &frame->sf_line, 1);
}
