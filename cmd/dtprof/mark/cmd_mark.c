/* SPDX-License-Identifier: ISC */
/*
 * dtprof mark: put a remark into the recordings that are running, so that
 * the phases of a benchmark can be told apart afterwards; or let them pause.
 */
#include <unistd.h>

#include "../cmd.h"

struct mark_options {
	struct opt_number	 mo_pid;
	bool			 mo_pause;
	bool			 mo_resume;
};

static int	 check_mark(const void *options, int n,
		    char *const *operands);
static int	 run_mark(void *options, int n, char **operands);

static const struct opt_row options_of_mark[] = {
	{ 0, "pause", NULL, OPT_FLAG, 0, 0, NULL,
	    "stop recording samples until --resume",
	    offsetof(struct mark_options, mo_pause), NULL },
	{ 0, "recorder", "PID", OPT_COUNT, 1, OPT_MAX_PID, NULL,
	    "mark only the recording of dtprof process PID (default: all "
	    "recordings of this user)",
	    offsetof(struct mark_options, mo_pid), NULL },
	{ 0, "resume", NULL, OPT_FLAG, 0, 0, NULL,
	    "record samples again",
	    offsetof(struct mark_options, mo_resume), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof mark 'warm-up done'", "mark all recordings of this user",
	"dtprof mark --recorder 4711 begin", "mark only the recording of "
	    "dtprof process 4711",
	"dtprof mark --pause", "record no samples until --resume",
	"dtprof mark --resume 'set-up done'", "record samples again, and store "
	    "a marker with a text",
	NULL
};

const struct prof_cmd cmd_mark = {
	.cm_name = "mark",
	.cm_summary = "add a marker to running recordings, or pause them",
	.cm_operands = "[TEXT]",
	.cm_options = options_of_mark,
	.cm_size = sizeof(struct mark_options),
	.cm_min = 0,
	.cm_max = 1,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_check = check_mark,
	.cm_run = run_mark,
};

static int
check_mark(const void *options, int n, char *const *operands)
{
	const struct mark_options *mo = options;
	const bool has_no_text = n == 0 && !mo->mo_pause && !mo->mo_resume;

	(void)operands;
	if (!has_no_text && !(mo->mo_pause && mo->mo_resume))
		return (0);
	return (msg_error("mark", has_no_text ? "missing marker text" :
	    "--pause and --resume exclude each other", "give a text, or one of "
	    "--pause and --resume"));
}

static int
run_mark(void *options, int n, char **operands)
{
	const struct mark_options *mo = options;
	const enum prof_record_type what = mo->mo_pause ? PROF_R_PAUSE :
	    mo->mo_resume ? PROF_R_RESUME : PROF_R_MARK;
	struct prof_err error = { 0 };
	struct out out;
	int taken;

	taken = prof_mark_send((int)mo->mo_pid.on_value, what,
	    n == 0 ? "" : operands[0], &error);
	if (taken == -1) {
		msg_prof("mark", &error);
		return (EXIT_FAILED);
	}
	out_init(&out, STDOUT_FILENO);
	out_fmt(&out, "%d recording%s %s\n", taken, taken == 1 ? "" : "s",
	    mo->mo_pause ? "paused" : mo->mo_resume ? "resumed" :
	    "marked");
	return (out_end(&out, "mark"));
}
