/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: code of the kernel that has no name is that of the module in
 * which it lies, in whatever order it is asked for.
 *
 * Easy to get wrong: what has no name is one function, of each module.
 */
#include "recording-lib.h"

static const struct {
	uint64_t	 tx_address;
	const char	*tx_path;
	const char	*tx_module;
} texts[] = {
	{ 0xffffffff81000000, "[kernel.kallsyms]", "[kernel]" },
	{ 0xffffffffc0100000, "[ext4]", "[ext4]" },
	{ 0xffffffffc0200000, "[nf_nat]", "[nf_nat]" },
};
#define NTEXTS	(sizeof(texts) / sizeof(*texts))

static void
write_it(const char *path)
{
	struct prof_record record = { .pr_type = PROF_R_MMAP, .pr_time_ns = 1,
	    .pr_pid = UINT32_MAX, .pr_tid = UINT32_MAX, .pr_len = 0x10000,
	    .pr_comm = "" };
	struct prof_err error = { 0 };
	struct prof_writer *writer = prof_writer_open(path, &error);

	CHECK_OK(writer == NULL ? -1 : 0, &error);
	for (size_t n = 0; n < NTEXTS; n++) {
		record.pr_addr = texts[n].tx_address;
		record.pr_path = texts[n].tx_path;
		CHECK_OK(prof_writer_add(writer, &record),
		    prof_writer_error(writer));
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

int
main(void)
{
	const char *path = work_path("names.dtp");
	const struct prof_function *function;
	struct prof_err error = { 0 };
	struct prof_symbols *symbols;
	struct prof_reader *reader;

	write_it(path);
	reader = prof_reader_open(path, &error);
	CHECK_OK(reader == NULL ? -1 : 0, &error);
	for (size_t first = 0; first < NTEXTS; first++) {
		symbols = prof_symbols_open(reader, NULL, &error);
		CHECK_OK(symbols == NULL ? -1 : 0, &error);
		for (size_t i = 0; i < 2 * NTEXTS; i++) {
			const size_t n = (first + i) % NTEXTS;

			function = prof_symbols_function(symbols,
			    prof_symbols_find(symbols, 0,
			    &(struct prof_frame){ texts[n].tx_address +
			    16 * (i + 1), PROF_FRAME_KERNEL, 0 }));
			CHECK(function->fu_unnamed == PROF_UNNAMED_NOSYM &&
			    function->fu_kind == PROF_FRAME_KERNEL);
			CHECK(strcmp(function->fu_module,
			    texts[n].tx_module) == 0);
		}
		/* The first stands for what there is no memory for. */
		CHECK(prof_symbols_nfunctions(symbols) == 1 + NTEXTS);
		prof_symbols_close(symbols);
	}
	prof_reader_close(reader);
	printf("ok: one function of each module\n");
	return (0);
}
