/* SPDX-License-Identifier: ISC */
/*
 * dtprof completion: print a script that completes dtprof's command line in
 * bash, zsh or fish.  completion_bash.c and its siblings write the scripts;
 * here is what they share.
 */
#include <string.h>
#include <unistd.h>

#include "completion.h"

static int	 check_completion(const void *options, int n,
		    char *const *operands);
static int	 run_completion(void *options, int n, char **operands);

static const struct opt_row options_of_completion[] = {
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"source <(dtprof completion bash)", "enable completion in this shell",
	"dtprof completion zsh >_dtprof",
	"install into a directory of zsh's fpath",
	"dtprof completion fish >dtprof.fish",
	"install into ~/.config/fish/completions",
	NULL
};

const struct prof_cmd cmd_completion = {
	.cm_name = "completion",
	.cm_summary = "print a completion script for a shell",
	.cm_operands = "bash | zsh | fish",
	.cm_options = options_of_completion,
	.cm_min = 1,
	.cm_max = 1,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_check = check_completion,
	.cm_run = run_completion,
};

static const struct {
	const char	*name;
	void		(*print)(struct out *);
} shells[] = {
	{ "bash", completion_bash },
	{ "zsh", completion_zsh },
	{ "fish", completion_fish },
};
#define NSHELLS	(sizeof(shells) / sizeof(shells[0]))

const char completion_events[] =
    "/^\\t/ { if (usable && sub(/^\\tperf.s name: /, \"\")) print; next } "
    "{ usable = !/  unavailable: /; if (usable) print $1 }";

void
completion_words(struct out *out, const char *words)
{
	for (; *words != '\0'; words++)
		out_char(out, *words == ',' ? ' ' : *words);
}

void
completion_quoted(struct out *out, const char *text)
{
	out_char(out, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			out_str(out, "'\\''");
		else
			out_char(out, *text);
	}
	out_char(out, '\'');
}

static bool
command_reads(const struct prof_cmd *cmd)
{
	const struct opt_row *row;

	for (row = cmd->cm_options; row->op_type != OPT_END; row++)
		if (strcmp(row->op_name, "input") == 0)
			return (true);
	return (false);
}

enum completion_kind
completion_of_option(const struct prof_cmd *cmd, const struct opt_row *row)
{
	if (row->op_words != NULL)
		return (row->op_type == OPT_SET ||
		    row->op_type == OPT_WORDS ? COMPLETE_LIST :
		    COMPLETE_WORDS);
	if (strcmp(row->op_name, "against") == 0 ||
	    strcmp(row->op_name, "bisect") == 0 ||
	    strcmp(row->op_name, "save") == 0)
		return (COMPLETE_BASELINES);
	/* In a recording are other events than on this machine. */
	if (strcmp(row->op_arg, "EVENT") == 0 && !command_reads(cmd))
		return (COMPLETE_EVENTS);
	if (strcmp(row->op_arg, "FILE") == 0 ||
	    strcmp(row->op_arg, "DIR") == 0 || strcmp(row->op_arg, "PATH") == 0)
		return (COMPLETE_FILES);
	return (COMPLETE_VALUE);
}

enum completion_kind
completion_of_operand(const struct prof_cmd *cmd)
{
	if (cmd->cm_stop_early)
		return (COMPLETE_COMMAND);
	if (cmd == &cmd_help)
		return (COMPLETE_DTPROF);
	if (cmd == &cmd_list)
		return (COMPLETE_EVENTS);
	return (COMPLETE_FILES);
}

static int
check_completion(const void *options, int n, char *const *operands)
{
	size_t i;

	(void)options;
	(void)n;
	for (i = 0; i < NSHELLS; i++)
		if (strcmp(operands[0], shells[i].name) == 0)
			return (0);
	return (msg_fail("completion", "use bash, zsh or fish", "unknown shell "
	    "'%s'", operands[0]));
}

static int
run_completion(void *options, int n, char **operands)
{
	struct out out;
	size_t i;

	(void)options;
	(void)n;
	out_init(&out, STDOUT_FILENO);
	for (i = 0; i < NSHELLS; i++)
		if (strcmp(operands[0], shells[i].name) == 0)
			shells[i].print(&out);
	return (out_end(&out, "completion"));
}
