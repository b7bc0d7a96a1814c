/* SPDX-License-Identifier: ISC */
/*
 * Frames of the language of doc/HACKING.md, as a stream has them, into a
 * recording: our own memory has its code objects, and a table the functions
 * of its interpreter.  Built with a library that knows the language.
 *
 * usage: toy_frames FILE
 */
#include <string.h>
#include <unistd.h>

#include "process/codes.h"
#include "recording/frame.h"
#include "recording/write.h"

#define START	0x10000000u
#define PATH	"/nonexistent/toy"
#define MAGIC	0x746f79u
#define PC(n)	(START + 0x100 * (n) + 0x10)

struct toy_code {
	uint64_t	tc_magic;
	const char	*tc_name;
	const char	*tc_file;
	uint32_t	tc_line;
};

enum { MAIN, EVAL, CALL };

static const struct toy_code codes[] = {
	{ MAGIC, "serve", "/toy/serve.toy", 3 },
	{ MAGIC, "parse", "/toy/parse.toy", 7 },
};

/* Its number in a stream: its place in the table. */
static uint64_t
number_of(const char *name)
{
	const struct prof_language *language;

	for (unsigned n = 1; (language = prof_language_at(n)) != NULL; n++)
		if (strcmp(language->la_name, name) == 0)
			return (n);
	return (0);
}

static int
put(void *writer, const void *body, size_t len)
{
	return (prof_writer_symbols(writer, body, len));
}

static void
put_process(struct prof_writer *writer)
{
	static const char *const natives[] = { "main", "toy_eval", "call" };
	const struct prof_event_info events[] = {
		{ .pi_name = "proc", .pi_probe = "proc", .pi_provider = "proc",
		    .pi_unit = "events" },
		{ .pi_name = "cpu-clock", .pi_probe = "profile:::1000hz",
		    .pi_provider = "profile", .pi_unit = "ns" },
	};
	struct prof_record record = { .pr_type = PROF_R_TASK, .pr_time_ns = 1,
	    .pr_pid = (uint32_t)getpid(), .pr_tid = (uint32_t)getpid(),
	    .pr_comm = "toy", .pr_path = "" };
	struct prof_table table = { .tb_kind = PROF_TABLE_FILE,
	    .tb_path = PATH, .tb_why = PROF_UNNAMED_NOSYM, .tb_nsegments = 1,
	    .tb_segment = { { 0, 0x1000, 0 } } };
	struct prof_buf body = { 0 };

	(void)prof_writer_event(writer, &events[0]);
	(void)prof_writer_event(writer, &events[1]);
	(void)prof_writer_add(writer, &record);
	record.pr_type = PROF_R_MMAP;
	record.pr_addr = START;
	record.pr_len = 0x1000;
	record.pr_path = PATH;
	(void)prof_writer_add(writer, &record);
	prof_table_pack(&body, &table);
	for (unsigned n = 0; n < 3; n++)
		prof_table_pack_function(&body, &table,
		    &(struct prof_table_function){ .tf_address = 0x100 * n,
		    .tf_size = 0x100, .tf_name = natives[n],
		    .tf_module = "" });
	(void)put(writer, body.bf_data, body.bf_len);
	prof_buf_free(&body);
}

int
main(int argc, char **argv)
{
	static const uint64_t native[] = { PC(EVAL), PC(CALL), PC(EVAL),
	    PC(MAIN) };
	const uint64_t head = (uint64_t)PROF_FRAME_SCRIPT <<
	    PROF_WORD_KIND_SHIFT | number_of("toy") << PROF_WORD_FLAGS_SHIFT;
	const uint64_t boundary =
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_INTERPRETER, 0);
	const uint64_t stream[] = { head | 5, (uintptr_t)&codes[1], MAGIC,
	    boundary, head | 2, (uintptr_t)&codes[0], MAGIC, boundary };
	uint64_t words[8];
	struct prof_codes *names = prof_codes_new(prof_language_at,
	    NULL);
	struct prof_record record = { .pr_type = PROF_R_SAMPLE, .pr_event = 1,
	    .pr_pid = (uint32_t)getpid(), .pr_tid = (uint32_t)getpid(),
	    .pr_comm = "", .pr_path = "", .pr_time_ns = 10,
	    .pr_weight = 1000, .pr_user = native, .pr_nuser = 4,
	    .pr_ip = native[0], .pr_ustatus = PROF_STACK_OK,
	    .pr_script = words };
	struct prof_err error = { 0 };
	struct prof_writer *writer = argc != 2 ? NULL :
	    prof_writer_open(argv[1], &error);
	long n;

	if (writer == NULL || names == NULL)
		return (1);
	put_process(writer);
	n = prof_codes_words(names, record.pr_pid, stream, 8, words);
	if (n == -1)
		return (2);
	record.pr_nscript = (uint32_t)n;
	if (prof_writer_add(writer, &record) == -1 ||
	    prof_codes_round(names, true, put, writer) == -1)
		return (3);
	prof_codes_free(names);
	return (prof_writer_close(writer, &error) == -1 ? 4 : 0);
}
