/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: where the recorder did not ask why a module names nothing, the
 * reader does, also for what lies outside of its segments.
 *
 * Easy to get wrong: the reason is a number of the file's, and the one for
 * "not asked" is the one for "it has a name".
 */
#include "recording-lib.h"
#include "recording/table.h"

#define START	0x10000000u

static const struct prof_record lives[] = {
	{ .pr_type = PROF_R_TASK, .pr_time_ns = 1, .pr_pid = 7, .pr_tid = 7,
	    .pr_comm = "", .pr_path = "" },
	{ .pr_type = PROF_R_MMAP, .pr_time_ns = 2, .pr_pid = 7, .pr_tid = 7,
	    .pr_addr = START, .pr_len = 0x100000, .pr_comm = "",
	    .pr_path = "/nonexistent/program" },
};

/* A segment of 16 bytes with nothing in it, and no reason. */
static void
write_it(const char *path)
{
	struct prof_table table = {
		.tb_kind = PROF_TABLE_FILE, .tb_why = PROF_NAMED,
		.tb_path = "/nonexistent/program", .tb_nsegments = 1,
		.tb_segment = { { 0, 16, 0x1000 } },
	};
	struct prof_err error = { 0 };
	struct prof_writer *writer = prof_writer_open(path, &error);
	struct prof_buf body = { 0 };

	CHECK_OK(writer == NULL ? -1 : 0, &error);
	for (size_t n = 0; n < sizeof(lives) / sizeof(*lives); n++)
		CHECK_OK(prof_writer_add(writer, &lives[n]),
		    prof_writer_error(writer));
	prof_table_pack(&body, &table);
	CHECK_OK(prof_writer_symbols(writer, body.bf_data, body.bf_len),
	    prof_writer_error(writer));
	prof_buf_free(&body);
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

int
main(void)
{
	const struct prof_symbols_options options = {
		.so_size = sizeof(options), .so_only_recorded = 1 };
	static const uint32_t offsets[] = { 0x80000, 0xfffff, 0, 8 };
	const struct prof_function *function;
	struct prof_err error = { 0 };
	struct prof_symbols *symbols;
	struct prof_reader *reader;
	const char *path = work_path("names.dtp");
	uint32_t n;

	write_it(path);
	reader = prof_reader_open(path, &error);
	CHECK_OK(reader == NULL ? -1 : 0, &error);
	symbols = prof_symbols_open(reader, &options, &error);
	CHECK_OK(symbols == NULL ? -1 : 0, &error);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		n = prof_symbols_find(symbols, prof_symbols_space(symbols, 7,
		    3), &(struct prof_frame){ START + offsets[i],
		    PROF_FRAME_NATIVE, 0 });
		function = prof_symbols_function(symbols, n);
		printf("%#x: %s, reason %d\n", offsets[i],
		    function->fu_name, (int)function->fu_unnamed);
		CHECK(function->fu_unnamed == PROF_UNNAMED_NOFILE);
	}
	prof_symbols_close(symbols);
	prof_reader_close(reader);
	return (0);
}
