/* SPDX-License-Identifier: ISC */
/*
 * Names and lines of script frames, which a recording holds by the number of
 * their code; no file and no process is asked.  Called by symbols.c.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "recording/frame.h"
#include "symbols_impl.h"

int
prof_script_load(struct prof_symbols *symbols, struct prof_cur *cur)
{
	struct prof_table_code code;
	bool is_new;

	while (prof_table_unpack_code(cur, &code) == 1) {
		if (!prof_room(&symbols->sy_code, &symbols->sy_cap_codes,
		    symbols->sy_ncodes + 1, sizeof(*symbols->sy_code)) ||
		    prof_map_find(&symbols->sy_by_code, code.tc_number,
		    &is_new) == PROF_INTERN_FAILED)
			return (-1);
		if (is_new)	/* else the first one counts */
			symbols->sy_code[symbols->sy_ncodes++] = code;
	}
	return (0);
}

const struct prof_table_code *
prof_script_code(const struct prof_symbols *symbols,
    const struct prof_frame *frame)
{
	const uint32_t n = prof_map_peek(&symbols->sy_by_code,
	    prof_frame_code(frame));

	return (n == PROF_INTERN_FAILED ? NULL : &symbols->sy_code[n]);
}

/*
 * Of a place in code, instruction 0 is that code, and the others are what is
 * inlined there, from the innermost on (prof_script_inlined).
 */
static bool
inlined_at(const struct prof_table_code *code, const struct prof_frame *frame,
    struct prof_table_inlined *inlined)
{
	const uint32_t n = prof_frame_instruction(frame);

	return (n > 0 && prof_table_inlined(code, n - 1, inlined));
}

uint32_t
prof_script_inlined(const struct prof_symbols *symbols,
    const struct prof_frame *frame)
{
	const struct prof_table_code *code = symbols == NULL ||
	    !prof_frame_is_script(frame) ? NULL :
	    prof_script_code(symbols, frame);

	return (code == NULL ? 0 : code->tc_ninlined);
}

void
prof_script_name(const struct prof_symbols *symbols,
    const struct prof_frame *frame, struct prof_function *function)
{
	static const char *const boundaries[PROF_BOUNDARY_N] = {
		[PROF_BOUNDARY_INTERPRETER] = "[interpreter boundary]",
		[PROF_BOUNDARY_TRUNCATED] = "[truncated here]",
	};
	static const char *const unnamed[PROF_FRAME_NKINDS] = {
		[PROF_FRAME_PYTHON] = "[python]",
		[PROF_FRAME_JAVASCRIPT] = "[javascript]",
		[PROF_FRAME_JAVA] = "[java]",
		[PROF_FRAME_SCRIPT] = "[script]",
	};
	struct prof_table_inlined inlined;
	const struct prof_table_code *code;

	function->fu_kind = (enum prof_frame_kind)frame->fr_kind;
	function->fu_raw = function->fu_module = "";
	if (frame->fr_kind >= PROF_FRAME_BOUNDARY) {
		function->fu_name = boundaries[
		    frame->fr_id < PROF_BOUNDARY_N ? frame->fr_id :
		    PROF_BOUNDARY_TRUNCATED];
		return;
	}
	code = prof_script_code(symbols, frame);
	function->fu_name = function->fu_module = unnamed[frame->fr_kind];
	if (code == NULL) {
		function->fu_unnamed = PROF_UNNAMED_NOSYM;
		return;
	}
	if (!inlined_at(code, frame, &inlined))
		inlined = (struct prof_table_inlined){
		    .ti_name = code->tc_name, .ti_file = code->tc_file,
		    .ti_line = code->tc_line };
	if (inlined.ti_name[0] == '\0') {
		function->fu_unnamed = PROF_UNNAMED_NOSYM;
		return;
	}
	function->fu_name = inlined.ti_name;
	function->fu_line = inlined.ti_line;
	if (inlined.ti_file[0] != '\0')
		function->fu_module = inlined.ti_file;
}

size_t
prof_script_line(const struct prof_symbols *symbols,
    const struct prof_frame *frame, struct prof_line *line)
{
	const struct prof_table_code *code = !prof_frame_is_script(frame) ?
	    NULL : prof_script_code(symbols, frame);
	struct prof_table_inlined inlined;

	if (code == NULL)
		return (0);
	if (!inlined_at(code, frame, &inlined))
		inlined = (struct prof_table_inlined){ code->tc_name,
		    code->tc_file, code->tc_line, prof_table_line(code,
		    prof_frame_instruction(frame)) };
	if (inlined.ti_at == 0 || inlined.ti_file[0] == '\0')
		return (0);
	line->ln_function = inlined.ti_name;
	line->ln_file = inlined.ti_file;
	line->ln_number = inlined.ti_at;
	return (1);
}
