/* SPDX-License-Identifier: ISC */
/*
 * See table.h; dtprof-format(5) has the layout.  The writer's side is called
 * at the end of a recording (process/symbolize_tables.c), the reader's when
 * chunks are looked at (keep.c) and when names are asked for
 * (process/symbols_load.c).  Nothing is copied here.
 */
#include "prof.h"
#include "table.h"

static void
pack_file(struct prof_buf *buf, const struct prof_table *table)
{
	unsigned n;

	prof_buf_string(buf, table->tb_path);
	prof_buf_varint(buf, table->tb_dev);
	prof_buf_varint(buf, table->tb_ino);
	prof_buf_varint(buf, table->tb_id_len);
	prof_buf_bytes(buf, table->tb_id, table->tb_id_len);
	prof_buf_varint(buf, table->tb_nsegments);
	for (n = 0; n < table->tb_nsegments; n++) {
		prof_buf_varint(buf, table->tb_segment[n][0]);
		prof_buf_varint(buf, table->tb_segment[n][1]);
		prof_buf_varint(buf, table->tb_segment[n][2]);
	}
}

void
prof_table_pack(struct prof_buf *buf, const struct prof_table *table)
{
	prof_buf_varint(buf, (uint64_t)table->tb_kind);
	prof_buf_varint(buf, table->tb_why);
	if (table->tb_kind == PROF_TABLE_FILE)
		pack_file(buf, table);
	if (table->tb_kind != PROF_TABLE_JIT)
		return;
	prof_buf_varint(buf, table->tb_pid);
	prof_buf_varint(buf, table->tb_time_ns);
}

void
prof_table_pack_function(struct prof_buf *buf, struct prof_table *table,
    const struct prof_table_function *function)
{
	prof_buf_varint(buf,
	    prof_zigzag(function->tf_address - table->tb_last));
	table->tb_last = function->tf_address;
	prof_buf_varint(buf, function->tf_size);
	prof_buf_string(buf, function->tf_name);
	if (table->tb_kind == PROF_TABLE_KERNEL)
		prof_buf_string(buf, function->tf_module);
}

static void
pack_steps(struct prof_buf *buf, const struct prof_table_code *code)
{
	uint32_t instruction = 0, line = code->tc_line, n;

	prof_buf_varint(buf, code->tc_nsteps);
	if (code->tc_step == NULL) {
		prof_buf_bytes(buf, code->tc_steps.cu_at,
		    prof_cur_left(&code->tc_steps));
		return;
	}
	for (n = 0; n < code->tc_nsteps; n++) {
		prof_buf_varint(buf,
		    code->tc_step[n].tp_instruction - instruction);
		prof_buf_varint(buf, prof_zigzag(
		    (uint64_t)code->tc_step[n].tp_line - line));
		instruction = code->tc_step[n].tp_instruction;
		line = code->tc_step[n].tp_line;
	}
}

static void
pack_inlined(struct prof_buf *buf, const struct prof_table_code *code)
{
	uint32_t n;

	prof_buf_varint(buf, code->tc_ninlined);
	if (code->tc_inlined == NULL) {
		prof_buf_bytes(buf, code->tc_inlineds.cu_at,
		    prof_cur_left(&code->tc_inlineds));
		return;
	}
	for (n = 0; n < code->tc_ninlined; n++) {
		prof_buf_string(buf, code->tc_inlined[n].ti_name);
		prof_buf_string(buf, code->tc_inlined[n].ti_file);
		prof_buf_varint(buf, code->tc_inlined[n].ti_line);
		prof_buf_varint(buf, code->tc_inlined[n].ti_at);
	}
}

void
prof_table_pack_code(struct prof_buf *buf, const struct prof_table_code *code)
{
	prof_buf_varint(buf, code->tc_number);
	prof_buf_string(buf, code->tc_name);
	prof_buf_string(buf, code->tc_file);
	prof_buf_varint(buf, code->tc_line);
	pack_steps(buf, code);
	pack_inlined(buf, code);
}

static void
unpack_file(struct prof_cur *cur, struct prof_table *table)
{
	struct prof_cur id;
	uint64_t segments;
	unsigned n, i;

	table->tb_path = prof_cur_string(cur);
	table->tb_dev = prof_cur_varint(cur);
	table->tb_ino = prof_cur_varint(cur);
	id = prof_cur_take(cur, prof_cur_varint(cur));
	if (prof_cur_left(&id) > sizeof(table->tb_id)) {
		cur->cu_bad = true;
		return;
	}
	table->tb_id_len = (uint32_t)prof_cur_left(&id);
	memcpy(table->tb_id, id.cu_at, table->tb_id_len);
	segments = prof_cur_varint(cur);
	if (segments > PROF_TABLE_SEGMENTS) {
		cur->cu_bad = true;
		return;
	}
	table->tb_nsegments = (unsigned)segments;
	for (n = 0; n < table->tb_nsegments; n++)
		for (i = 0; i < 3; i++)
			table->tb_segment[n][i] = prof_cur_varint(cur);
}

int
prof_table_unpack(struct prof_cur *cur, struct prof_table *table)
{
	uint64_t kind = prof_cur_varint(cur), why = prof_cur_varint(cur);

	memset(table, 0, sizeof(*table));
	table->tb_path = "";
	if (cur->cu_bad)
		return (-1);
	if (kind == 0 || kind > PROF_TABLE_SCRIPT)
		return (0);
	table->tb_kind = (enum prof_table_kind)kind;
	/* A later version may know more reasons. */
	table->tb_why = why < PROF_UNNAMED_OVER ? (unsigned)why :
	    PROF_UNNAMED_NOSYM;
	if (table->tb_kind == PROF_TABLE_FILE) {
		unpack_file(cur, table);
	} else if (table->tb_kind == PROF_TABLE_JIT) {
		table->tb_pid = prof_cur_u32(cur);
		table->tb_time_ns = prof_cur_varint(cur);
	}
	return (cur->cu_bad ? -1 : 1);
}

int
prof_table_unpack_function(struct prof_cur *cur, struct prof_table *table,
    struct prof_table_function *function)
{
	if (prof_cur_left(cur) == 0)
		return (0);
	table->tb_last += prof_unzigzag(prof_cur_varint(cur));
	function->tf_address = table->tb_last;
	function->tf_size = prof_cur_varint(cur);
	function->tf_name = prof_cur_string(cur);
	function->tf_module = table->tb_kind != PROF_TABLE_KERNEL ? "" :
	    prof_cur_string(cur);
	return (cur->cu_bad ? -1 : 1);
}

static bool
unpack_step(struct prof_cur *cur, struct prof_table_step *step)
{
	step->tp_instruction += prof_cur_u32(cur);
	step->tp_line += (uint32_t)prof_unzigzag(prof_cur_varint(cur));
	return (!cur->cu_bad);
}

static bool
unpack_inlined(struct prof_cur *cur, struct prof_table_inlined *inlined)
{
	inlined->ti_name = prof_cur_string(cur);
	inlined->ti_file = prof_cur_string(cur);
	inlined->ti_line = prof_cur_u32(cur);
	inlined->ti_at = prof_cur_u32(cur);
	return (!cur->cu_bad);
}

int
prof_table_unpack_code(struct prof_cur *cur, struct prof_table_code *code)
{
	struct prof_table_inlined inlined;
	struct prof_table_step step = { 0 };
	uint32_t n;

	if (prof_cur_left(cur) == 0)
		return (0);
	memset(code, 0, sizeof(*code));
	code->tc_number = prof_cur_u32(cur);
	code->tc_name = prof_cur_string(cur);
	code->tc_file = prof_cur_string(cur);
	code->tc_line = prof_cur_u32(cur);
	code->tc_nsteps = prof_cur_u32(cur);
	if (cur->cu_bad || code->tc_nsteps > prof_cur_left(cur) / 2)
		return (-1);
	code->tc_steps = *cur;
	for (n = 0; n < code->tc_nsteps; n++)
		if (!unpack_step(cur, &step))
			return (-1);
	code->tc_steps.cu_end = cur->cu_at;
	code->tc_ninlined = prof_cur_u32(cur);
	if (cur->cu_bad || code->tc_ninlined > PROF_TABLE_INLINED)
		return (-1);
	code->tc_inlineds = *cur;
	for (n = 0; n < code->tc_ninlined; n++)
		if (!unpack_inlined(cur, &inlined))
			return (-1);
	code->tc_inlineds.cu_end = cur->cu_at;
	return (1);
}

bool
prof_table_inlined(const struct prof_table_code *code, uint32_t n,
    struct prof_table_inlined *inlined)
{
	struct prof_cur cur = code->tc_inlineds;

	if (n >= code->tc_ninlined)
		return (false);
	do {
		if (!unpack_inlined(&cur, inlined))
			return (false);
	} while (n-- > 0);
	return (true);
}

uint32_t
prof_table_line(const struct prof_table_code *code, uint32_t instruction)
{
	struct prof_table_step step = { .tp_line = code->tc_line };
	struct prof_cur cur = code->tc_steps;
	uint32_t line = code->tc_line, n;

	for (n = 0; n < code->tc_nsteps && unpack_step(&cur, &step) &&
	    step.tp_instruction <= instruction; n++)
		line = step.tp_line;
	return (line);
}
