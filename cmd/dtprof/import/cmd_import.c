/* SPDX-License-Identifier: ISC */
/*
 * dtprof import: a recording made of another tool's file.  Reads the options;
 * libprof does the rest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../cmd.h"

struct import_options {
	const char	*io_output;
	bool		 io_quiet;
};

static int	 run_import(void *options, int n, char **operands);

static const struct opt_row options_of_import[] = {
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, DEFAULT_RECORDING,
	    "output file; an existing FILE is renamed to FILE.old",
	    offsetof(struct import_options, io_output), NULL },
	{ 'q', "quiet", NULL, OPT_FLAG, 0, 0, NULL,
	    "print errors only",
	    offsetof(struct import_options, io_quiet), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof import -o x.dtp perf.data", "convert perf.data",
	"perf record -o - -- ls | dtprof import -",
	"convert perf.data from a pipe",
	"perf script | dtprof import -", "convert perf script output",
	"dtprof import -o x.dtp x.folded", "convert folded stacks",
	"dtprof import -o x.dtp cpu.pb.gz", "convert a pprof profile",
	NULL
};

const struct prof_cmd cmd_import = {
	.cm_name = "import",
	.cm_summary = "convert perf.data, pprof or folded stacks to a "
	    "recording",
	.cm_operands = "FILE",
	.cm_options = options_of_import,
	.cm_size = sizeof(struct import_options),
	.cm_min = 1,
	.cm_max = 1,
	.cm_reads = true,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "FILE may be - for standard input.  The format is detected "
	    "from its content.",
	.cm_run = run_import,
};

static int
run_import(void *options, int n, char **operands)
{
	const struct import_options *io = options;
	const struct prof_import_options how = {
		.im_size = sizeof(how),
		.im_input = operands[0],
		.im_output = io->io_output,
	};
	struct prof_err error = { 0 };
	struct prof_import *import;
	const char *note;

	(void)n;
	import = prof_import_new(&how, &error);
	if (import == NULL) {
		msg_prof("import", &error);
		return (EXIT_FAILED);
	}
	for (size_t i = 0; !io->io_quiet &&
	    (note = prof_import_note(import, i)) != NULL; i++)
		msg_note("import", "%s", note);
	if (!io->io_quiet)
		msg_note("import", "%" PRIu64 " samples in %s",
		    prof_import_samples(import), io->io_output);
	prof_import_free(import);
	return (0);
}
