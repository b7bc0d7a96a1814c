/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of what happens now a function that had no name when it was asked
 * for has it once its table has come; and where a module lay before another,
 * neither gives its name.
 *
 * Easy to get wrong: an answer that is remembered.
 */
#include "recording-lib.h"

#include "process/symbols_live.h"
#include "recording/table.h"

#define TEXT	0xffffffffc0100000u
#define CODE	7u

static void
table_put(struct prof_symbols *symbols, const struct prof_buf *body)
{
	CHECK(!body->bf_failed && prof_symbols_live_table(symbols,
	    body->bf_data, body->bf_len) == 0);
}

static void
kernel_put(struct prof_symbols *symbols, uint64_t address, const char *name,
    const char *module)
{
	struct prof_table table = { .tb_kind = PROF_TABLE_KERNEL,
	    .tb_why = PROF_UNNAMED_NOSYM };
	struct prof_buf body = { 0 };

	prof_table_pack(&body, &table);
	prof_table_pack_function(&body, &table,
	    &(struct prof_table_function){ .tf_address = address,
	    .tf_size = 64, .tf_name = name, .tf_module = module });
	table_put(symbols, &body);
	prof_buf_free(&body);
}

static void
code_put(struct prof_symbols *symbols)
{
	struct prof_buf body = { 0 };

	prof_table_pack(&body, &(struct prof_table){
	    .tb_kind = PROF_TABLE_SCRIPT });
	prof_table_pack_code(&body, &(struct prof_table_code){
	    .tc_number = CODE, .tc_name = "spam", .tc_file = "eggs.py" });
	table_put(symbols, &body);
	prof_buf_free(&body);
}

/* "": it has none. */
static const char *
name_of(struct prof_symbols *symbols, uint64_t id, enum prof_frame_kind kind)
{
	const struct prof_frame frame = { .fr_id = id,
	    .fr_kind = (uint16_t)kind };
	const struct prof_function *function = prof_symbols_function(symbols,
	    prof_symbols_find(symbols, prof_symbols_space(symbols, 1, 1),
	    &frame));

	return (function->fu_unnamed != PROF_NAMED ? "" : function->fu_name);
}

int
main(void)
{
	const uint64_t script = (uint64_t)CODE << PROF_FRAME_INSTRUCTION_BITS;
	struct prof_err error = { 0 };
	struct prof_symbols *symbols = prof_symbols_live(false, &error);

	CHECK_OK(symbols == NULL ? -1 : 0, &error);
	CHECK(name_of(symbols, TEXT + 8, PROF_FRAME_KERNEL)[0] == '\0');
	CHECK(name_of(symbols, script, PROF_FRAME_PYTHON)[0] == '\0');
	kernel_put(symbols, TEXT, "first", "ext4");
	code_put(symbols);
	CHECK(strcmp(name_of(symbols, TEXT + 8, PROF_FRAME_KERNEL),
	    "first") == 0);
	CHECK(strcmp(name_of(symbols, script, PROF_FRAME_PYTHON),
	    "spam") == 0);
	printf("ok: names that come later are shown\n");

	kernel_put(symbols, TEXT, "first", "ext4");
	CHECK(strcmp(name_of(symbols, TEXT + 8, PROF_FRAME_KERNEL),
	    "first") == 0);
	kernel_put(symbols, TEXT, "second", "xfs");
	CHECK(name_of(symbols, TEXT + 8, PROF_FRAME_KERNEL)[0] == '\0');
	printf("ok: two modules at one address have no name there\n");
	prof_symbols_close(symbols);
	return (0);
}
