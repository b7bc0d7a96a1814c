/* SPDX-License-Identifier: ISC */
/*
 * dtprof merge: several recordings made into one.  Reads the options; libprof
 * does the rest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../cmd.h"

struct merge_options {
	const char	*mo_output;
	bool		 mo_quiet;
};

static int	 check_merge(const void *options, int n,
		    char *const *operands);
static int	 run_merge(void *options, int n, char **operands);

static const struct opt_row options_of_merge[] = {
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, NULL,
	    "output file; an existing FILE is renamed to FILE.old",
	    offsetof(struct merge_options, mo_output), NULL },
	{ 'q', "quiet", NULL, OPT_FLAG, 0, 0, NULL,
	    "print errors only",
	    offsetof(struct merge_options, mo_quiet), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof merge -o all.dtp web1.dtp web2.dtp",
	"merge two recordings into one",
	NULL
};

const struct prof_cmd cmd_merge = {
	.cm_name = "merge",
	.cm_summary = "merge several recordings into one",
	.cm_operands = "FILE ...",
	.cm_options = options_of_merge,
	.cm_size = sizeof(struct merge_options),
	.cm_min = 1,
	.cm_max = -1,
	.cm_reads = true,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "The weights and the accounting of the recordings are "
	    "summed.  In the output, each recording begins where the previous "
	    "one ended.  Process events and mapping events are left out.",
	.cm_check = check_merge,
	.cm_run = run_merge,
};

static int
check_merge(const void *options, int n, char *const *operands)
{
	const struct merge_options *mo = options;

	(void)n;
	(void)operands;
	return (mo->mo_output != NULL ? 0 : msg_error("merge",
	    "no output file", "name the output file with -o FILE"));
}

static int
run_merge(void *options, int n, char **operands)
{
	const struct merge_options *mo = options;
	struct prof_err error = { 0 };
	struct prof_import *import;
	const char *note;

	for (int i = 0; i < n; i++)
		file_narrow(operands[i]);
	import = prof_merge_new((const char *const *)operands, (size_t)n,
	    mo->mo_output, &error);
	if (import == NULL) {
		msg_prof("merge", &error);
		return (EXIT_FAILED);
	}
	for (size_t i = 0; !mo->mo_quiet &&
	    (note = prof_import_note(import, i)) != NULL; i++)
		msg_note("merge", "%s", note);
	if (!mo->mo_quiet)
		msg_note("merge", "%d recordings, %" PRIu64 " samples in %s",
		    n, prof_import_samples(import), mo->mo_output);
	prof_import_free(import);
	return (0);
}
