/* SPDX-License-Identifier: ISC */
/*
 * dtprof mark: put a remark into the recordings that are running, so that
 * the phases of a benchmark can be told apart afterwards.
 */
#include <unistd.h>

#include "cmd.h"

struct mark_options {
	struct opt_number	 mo_pid;
};

static int	 run_mark(void *options, int n, char **operands);

static const struct opt_row options_of_mark[] = {
	{ 'p', "pid", "RECORDER_PID", OPT_COUNT, 1, 4194304, NULL,
	    "only the recording made by this dtprof process",
	    offsetof(struct mark_options, mo_pid), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof mark 'warm-up done'", "tell all recordings of this user",
	"dtprof mark -p 4711 begin", "tell the one that dtprof 4711 makes",
	NULL
};

const struct prof_cmd cmd_mark = {
	.cm_name = "mark",
	.cm_summary = "put a remark into running recordings",
	.cm_operands = "TEXT",
	.cm_options = options_of_mark,
	.cm_size = sizeof(struct mark_options),
	.cm_min = 1,
	.cm_max = 1,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_run = run_mark,
};

static int
run_mark(void *options, int n, char **operands)
{
	const struct mark_options *mo = options;
	struct prof_err error = { 0 };
	struct out out;
	int taken;

	(void)n;
	taken = prof_mark_send((int)mo->mo_pid.on_value, operands[0], &error);
	if (taken == -1) {
		msg_prof("mark", &error);
		return (EXIT_FAILED);
	}
	out_init(&out, STDOUT_FILENO);
	out_fmt(&out, "%d recording%s took the mark\n", taken,
	    taken == 1 ? "" : "s");
	return (out_end(&out, "mark"));
}
