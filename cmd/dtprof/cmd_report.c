/* SPDX-License-Identifier: ISC */
/*
 * dtprof report: what a recording holds and what it lost.  So far these are
 * the figures of --stats, which is therefore what it prints without it too.
 */
#include <unistd.h>

#include "stats.h"

struct report_options {
	const char	*rp_input;
	bool		 rp_json;
	bool		 rp_stats;
	bool		 rp_verbose;
};

static int	 run_report(void *options, int n, char **operands);

static const struct opt_row options_of_report[] = {
	{ 'i', "input", "FILE", OPT_STRING, 0, 0, NULL,
	    "the recording, when it is no operand",
	    offsetof(struct report_options, rp_input), NULL },
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL, "the same as JSON",
	    offsetof(struct report_options, rp_json), NULL },
	{ 0, "stats", NULL, OPT_FLAG, 0, 0, NULL,
	    "where the firings of each event went; this is what report "
	    "prints anyway",
	    offsetof(struct report_options, rp_stats), NULL },
	{ 'v', "verbose", NULL, OPT_FLAG, 0, 0, NULL,
	    "also for each CPU",
	    offsetof(struct report_options, rp_verbose), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof report --stats", "was anything lost in dtprof.dtp, and why",
	"dtprof report --stats --json x.dtp | jq .accounting",
	"the same for programs",
	NULL
};

const struct prof_cmd cmd_report = {
	.cm_name = "report",
	.cm_summary = "show what a recording holds, and what it lost",
	.cm_operands = "[FILE]",
	.cm_options = options_of_report,
	.cm_size = sizeof(struct report_options),
	.cm_max = 1,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_run = run_report,
};

static int
run_report(void *options, int n, char **operands)
{
	const struct report_options *rp = options;
	struct stats stats = { 0 };
	struct out out;
	int status = EXIT_FAILED;

	stats.st_reader = input_open("report", rp->rp_input, n, operands,
	    &stats.st_path);
	if (stats.st_reader == NULL)
		return (EXIT_FAILED);
	if (stats_collect(&stats) == 0) {
		out_init(&out, STDOUT_FILENO);
		if (rp->rp_json)
			stats_json(&stats, &out);
		else
			stats_text(&stats, &out, rp->rp_verbose);
		status = out_end(&out, "report");
	}
	stats_free(&stats);
	prof_reader_close(stats.st_reader);
	return (status);
}
