/* SPDX-License-Identifier: ISC */
/*
 * dtprof completion: a script that completes dtprof's command line in a
 * shell.  What depends on the commands is made here, of the same tables that
 * the parser works by, so that it cannot be out of date; what does not is
 * completion.bash, which says what its variables mean.
 */
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "completion_bash.h"

static int	 check_completion(const void *options, int n,
		    char *const *operands);
static int	 run_completion(void *options, int n, char **operands);

static const struct opt_row options_of_completion[] = {
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"source <(dtprof completion bash)", "complete in this shell",
	NULL
};

const struct prof_cmd cmd_completion = {
	.cm_name = "completion",
	.cm_summary = "print a script that completes commands in a shell",
	.cm_operands = "bash",
	.cm_options = options_of_completion,
	.cm_min = 1,
	.cm_max = 1,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_check = check_completion,
	.cm_run = run_completion,
};

/* The words of a,b,c apart. */
static void
show_words(struct out *out, const char *words)
{
	for (; *words != '\0'; words++)
		out_char(out, *words == ',' ? ' ' : *words);
}

/* What stands behind an option, as completion.bash calls it. */
static void
show_takes(struct out *out, const struct opt_row *row, bool records)
{
	if (row->op_words != NULL) {
		out_str(out, row->op_type == OPT_SET ? "list " : "words ");
		show_words(out, row->op_words);
	} else if (records && strcmp(row->op_arg, "EVENT") == 0) {
		out_str(out, "events");
	} else if (strcmp(row->op_arg, "FILE") == 0 ||
	    strcmp(row->op_arg, "DIR") == 0 ||
	    strcmp(row->op_arg, "PATH") == 0) {
		out_str(out, "files");
	} else {
		out_str(out, "value");
	}
}

static const char *
operand_kind(const struct prof_cmd *cmd)
{
	if (cmd->cm_stop_early)
		return ("commands");
	if (cmd == &cmd_help)
		return ("dtprof");
	if (cmd == &cmd_list)
		return ("events");
	return ("files");
}

static void
show_command(struct out *out, const struct prof_cmd *cmd)
{
	const struct opt_row *row;

	out_fmt(out, "\t%s) begins=%s options='--help", cmd->cm_name,
	    operand_kind(cmd));
	for (row = cmd->cm_options; row->op_type != OPT_END; row++)
		out_fmt(out, " --%s", row->op_name);
	out_str(out, "' ;;\n");
}

/* Options that take no value are those that are not named here. */
static void
show_options(struct out *out, const struct prof_cmd *cmd)
{
	const struct opt_row *row;
	bool reads = false;

	for (row = cmd->cm_options; row->op_type != OPT_END; row++)
		reads |= strcmp(row->op_name, "input") == 0;
	for (row = cmd->cm_options; row->op_type != OPT_END; row++) {
		if (row->op_arg == NULL)
			continue;
		out_fmt(out, "\t'%s --%s'", cmd->cm_name, row->op_name);
		if (row->op_letter != 0)
			out_fmt(out, " | '%s -%c'", cmd->cm_name,
			    row->op_letter);
		out_str(out, ") takes='");
		show_takes(out, row, !reads);
		out_str(out, "' ;;\n");
	}
}

static int
check_completion(const void *options, int n, char *const *operands)
{
	(void)options;
	(void)n;
	if (strcmp(operands[0], "bash") == 0)
		return (0);
	msg_fail("completion", "use bash", "%s: no such shell here",
	    operands[0]);
	return (-1);
}

static int
run_completion(void *options, int n, char **operands)
{
	const struct prof_cmd *const *cmd;
	struct out out;

	(void)options;
	(void)n;
	(void)operands;
	out_init(&out, STDOUT_FILENO);
	out_str(&out, "_dtprof_commands='");
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		out_fmt(&out, "%s%s", cmd == cmd_all ? "" : " ",
		    (*cmd)->cm_name);
	out_str(&out, "'\n\n_dtprof_command()\n{\n\tbegins=files options=\n"
	    "\tcase $1 in\n");
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		show_command(&out, *cmd);
	out_str(&out, "\tesac\n}\n\n_dtprof_option()\n{\n\ttakes=\n"
	    "\tcase \"$1 $2\" in\n");
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		show_options(&out, *cmd);
	out_str(&out, "\tesac\n}\n\n");
	out_mem(&out, (const char *)completion_bash, sizeof(completion_bash));
	return (out_end(&out, "completion"));
}
