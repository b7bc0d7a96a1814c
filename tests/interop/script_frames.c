/* SPDX-License-Identifier: ISC */
/*
 * Writes a recording of a made-up language, for script-frames-everywhere.sh:
 * process app, whose native functions (main, eval, call, memcpy) run the
 * script functions outer, inner and helper.
 *
 * usage: script_frames FILE
 */
#include <stdio.h>

#include "recording/frame.h"
#include "recording/table.h"
#include "recording/write.h"

#define START	0x10000000u
#define SIZE	0x10000u
#define PATH	"/nonexistent/toy"
#define PC(n)	(START + 0x100 * (n) + 0x10)
#define SCRIPT(code, instruction)					\
	((uint64_t)PROF_FRAME_SCRIPT << PROF_WORD_KIND_SHIFT |		\
	(uint64_t)(code) << PROF_FRAME_INSTRUCTION_BITS | (instruction))
#define BOUNDARY(place)							\
	PROF_WORD_BOUNDARY(PROF_BOUNDARY_INTERPRETER, place)

enum { MAIN = 1, EVAL, CALL, MEMCPY };
enum { OUTER = 1, INNER, HELPER };

static const char *const natives[] = { "", "main", "eval", "call", "memcpy" };

static void
put_names(struct prof_writer *writer)
{
	static const struct prof_table_step steps[] = { { 0, 21 }, { 10, 22 },
	    { 20, 25 } };
	static const struct prof_table_code codes[] = {
		{ .tc_number = OUTER, .tc_name = "outer",
		    .tc_file = "/toy/app.toy", .tc_line = 10 },
		{ .tc_number = INNER, .tc_name = "inner",
		    .tc_file = "/toy/app.toy", .tc_line = 20,
		    .tc_step = steps, .tc_nsteps = 3 },
		{ .tc_number = HELPER, .tc_name = "helper",
		    .tc_file = "/toy/lib.toy", .tc_line = 5 },
	};
	struct prof_table table = { .tb_kind = PROF_TABLE_FILE,
	    .tb_path = PATH, .tb_why = PROF_UNNAMED_NOSYM, .tb_nsegments = 1,
	    .tb_segment = { { 0, SIZE, 0 } } };
	struct prof_buf body = { 0 };

	prof_table_pack(&body, &table);
	for (unsigned n = MAIN; n <= MEMCPY; n++)
		prof_table_pack_function(&body, &table,
		    &(struct prof_table_function){ .tf_address = 0x100 * n,
		    .tf_size = 0x100, .tf_name = natives[n],
		    .tf_module = "" });
	(void)prof_writer_symbols(writer, body.bf_data, body.bf_len);
	body.bf_len = 0;
	prof_table_pack(&body, &(struct prof_table){
	    .tb_kind = PROF_TABLE_SCRIPT });
	for (unsigned n = 0; n < 3; n++)
		prof_table_pack_code(&body, &codes[n]);
	(void)prof_writer_symbols(writer, body.bf_data, body.bf_len);
	prof_buf_free(&body);
}

static void
put_process(struct prof_writer *writer)
{
	const struct prof_event_info event = { .pi_name = "cpu-clock",
	    .pi_probe = "profile:::1000hz", .pi_provider = "profile",
	    .pi_unit = "ns", .pi_period = 1000 };
	const struct prof_event_info none = { .pi_name = "proc",
	    .pi_probe = "proc", .pi_provider = "proc", .pi_unit = "events" };
	struct prof_record record = { .pr_type = PROF_R_TASK, .pr_time_ns = 1,
	    .pr_pid = 7, .pr_tid = 7, .pr_comm = "app", .pr_path = "" };

	(void)prof_writer_event(writer, &none);
	(void)prof_writer_event(writer, &event);
	(void)prof_writer_add(writer, &record);
	record.pr_type = PROF_R_MMAP;
	record.pr_addr = START;
	record.pr_len = SIZE;
	record.pr_path = PATH;
	(void)prof_writer_add(writer, &record);
}

static void
put_samples(struct prof_writer *writer, const uint64_t *native,
    uint32_t nnative, const uint64_t *script, uint32_t nscript, unsigned n)
{
	static uint64_t now_ns = 1000;
	struct prof_record record = { .pr_type = PROF_R_SAMPLE, .pr_event = 1,
	    .pr_pid = 7, .pr_tid = 7, .pr_comm = "", .pr_path = "",
	    .pr_weight = 1000, .pr_user = native, .pr_nuser = nnative,
	    .pr_script = script, .pr_nscript = nscript,
	    .pr_ip = native[0], .pr_ustatus = nnative > 1 ? PROF_STACK_OK :
	    PROF_STACK_NOROW };

	while (n-- > 0) {
		record.pr_time_ns = now_ns += 1000;
		(void)prof_writer_add(writer, &record);
	}
}

int
main(int argc, char **argv)
{
	static const uint64_t deep[] = { PC(MEMCPY), PC(EVAL), PC(CALL),
	    PC(EVAL), PC(MAIN) };
	static const uint64_t deep_script[] = { SCRIPT(INNER, 12), BOUNDARY(2),
	    SCRIPT(OUTER, 3), BOUNDARY(4) };
	static const uint64_t flat[] = { PC(EVAL), PC(MAIN) };
	static const uint64_t flat_script[] = { SCRIPT(OUTER, 7),
	    BOUNDARY(1) };
	static const uint64_t cut_script[] = { SCRIPT(HELPER, 0),
	    SCRIPT(OUTER, 3) };
	struct prof_err error = { 0 };
	struct prof_writer *writer = argc != 2 ? NULL :
	    prof_writer_open(argv[1], &error);

	if (writer == NULL)
		return (1);
	put_process(writer);
	put_samples(writer, deep, 5, deep_script, 4, 5);
	put_samples(writer, flat, 2, flat_script, 2, 3);
	put_samples(writer, deep, 1, cut_script, 2, 2);
	put_names(writer);
	return (prof_writer_close(writer, &error) == -1);
}
