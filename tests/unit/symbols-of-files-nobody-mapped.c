/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: names that a recording has of files that nobody in it mapped, as
 * when the chunk of the mappings is damaged, change nothing for the others.
 *
 * Easy to get wrong: to learn the number of such a file is to add it, and
 * what was added may move what is pointed at.  The sanitizers see that.
 */
#include "recording-lib.h"
#include "recording/table.h"

#define MAPPED	63	/* as many as there is room for */
#define START	0x10000000u
#define EACH	0x10000u

static void
add_table(struct prof_writer *writer, const char *path, const char *name)
{
	struct prof_table table = {
		.tb_kind = PROF_TABLE_FILE, .tb_why = PROF_UNNAMED_NOSYM,
		.tb_path = path, .tb_nsegments = 1,
		.tb_segment = { { 0, EACH, 0 } },
	};
	const struct prof_table_function function = { .tf_address = 16,
	    .tf_size = 16, .tf_name = name, .tf_module = "" };
	struct prof_buf body = { 0 };

	prof_table_pack(&body, &table);
	prof_table_pack_function(&body, &table, &function);
	CHECK_OK(prof_writer_symbols(writer, body.bf_data, body.bf_len),
	    prof_writer_error(writer));
	prof_buf_free(&body);
}

static void
write_it(const char *file)
{
	struct prof_record record = { .pr_type = PROF_R_TASK, .pr_time_ns = 1,
	    .pr_pid = 7, .pr_tid = 7, .pr_comm = "", .pr_path = "" };
	struct prof_err error = { 0 };
	struct prof_writer *writer = prof_writer_open(file, &error);
	char path[64];

	CHECK_OK(writer == NULL ? -1 : 0, &error);
	CHECK_OK(prof_writer_add(writer, &record), prof_writer_error(writer));
	record.pr_type = PROF_R_MMAP;
	record.pr_len = EACH;
	record.pr_path = path;
	for (unsigned n = 0; n < MAPPED; n++) {
		snprintf(path, sizeof(path), "/nonexistent/mapped%u", n);
		record.pr_addr = START + n * EACH;
		CHECK_OK(prof_writer_add(writer, &record),
		    prof_writer_error(writer));
		add_table(writer, path, path + strlen("/nonexistent/"));
	}
	for (unsigned n = 0; n < 200; n++) {
		snprintf(path, sizeof(path), "/nonexistent/other%u", n);
		add_table(writer, path, "other");
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

int
main(void)
{
	const struct prof_symbols_options options = {
		.so_size = sizeof(options), .so_only_recorded = 1 };
	const char *path = work_path("names.dtp");
	const struct prof_function *function;
	struct prof_err error = { 0 };
	struct prof_symbols *symbols;
	struct prof_reader *reader;
	char want[64];
	uint32_t space;

	write_it(path);
	reader = prof_reader_open(path, &error);
	CHECK_OK(reader == NULL ? -1 : 0, &error);
	symbols = prof_symbols_open(reader, &options, &error);
	CHECK_OK(symbols == NULL ? -1 : 0, &error);
	space = prof_symbols_space(symbols, 7, 3);
	for (unsigned n = 0; n < MAPPED; n++) {
		function = prof_symbols_function(symbols, prof_symbols_find(
		    symbols, space, &(struct prof_frame){ START + n * EACH +
		    20, PROF_FRAME_NATIVE, 0 }));
		snprintf(want, sizeof(want), "/nonexistent/mapped%u", n);
		CHECK(strcmp(function->fu_module, want) == 0);
		CHECK(strcmp(function->fu_name,
		    want + strlen("/nonexistent/")) == 0);
	}
	printf("ok: %d files keep their names\n", MAPPED);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
	return (0);
}
