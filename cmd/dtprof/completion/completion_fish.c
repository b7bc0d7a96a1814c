/* SPDX-License-Identifier: ISC */
/*
 * The completion script for fish: one "complete" line for each command and
 * for each of its options.
 */
#include "completion.h"

static const char functions[] =
    "function __dtprof_events\n"
    "    dtprof list -v 2>/dev/null | awk $__dtprof_awk\n"
    "end\n"
    "\n"
    "# The words, each behind what stands before the last comma.\n"
    "function __dtprof_list\n"
    "    set -l token (string replace -r '^--[^=]*=' '' -- "
    "(commandline -ct))\n"
    "    set -l front (string replace -r '[^,]*$' '' -- $token)\n"
    "    for word in $argv\n"
    "        echo $front$word\n"
    "    end\n"
    "end\n"
    "\n"
    "function __dtprof_command\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
    "end\n"
    "\n"
    "complete -c dtprof -f\n";

static void
print_value(struct out *out, enum completion_kind kind, const char *words)
{
	switch (kind) {
	case COMPLETE_WORDS:
		out_str(out, " -x -a '");
		completion_words(out, words);
		out_char(out, '\'');
		break;
	case COMPLETE_LIST:
		out_str(out, " -x -a '(__dtprof_list ");
		completion_words(out, words);
		out_str(out, ")'");
		break;
	case COMPLETE_EVENTS:
		out_str(out, " -x -a '(__dtprof_list (__dtprof_events))'");
		break;
	case COMPLETE_FILES:
		out_str(out, " -r -F");
		break;
	case COMPLETE_BASELINES:
		out_str(out, " -x -a '(command ls .dtprof 2>/dev/null)'");
		break;
	default:
		out_str(out, " -x");
		break;
	}
}

static void
print_option(struct out *out, const struct prof_cmd *cmd,
    const struct opt_row *row)
{
	out_fmt(out, "complete -c dtprof -n '__dtprof_command %s' -l %s",
	    cmd->cm_name, row->op_name);
	if (row->op_letter != 0)
		out_fmt(out, " -s %c", row->op_letter);
	if (row->op_arg != NULL)
		print_value(out, completion_of_option(cmd, row),
		    row->op_words);
	out_str(out, " -d ");
	completion_quoted(out, row->op_help);
	out_char(out, '\n');
}

static void
print_operand(struct out *out, const struct prof_cmd *cmd)
{
	const struct prof_cmd *const *other;

	out_fmt(out, "complete -c dtprof -n '__dtprof_command %s'",
	    cmd->cm_name);
	switch (completion_of_operand(cmd)) {
	case COMPLETE_COMMAND:
		out_str(out, " -F -a '(complete -C \"$(commandline -ct)\")'");
		break;
	case COMPLETE_EVENTS:
		out_str(out, " -a '(__dtprof_events)'");
		break;
	case COMPLETE_DTPROF:
		out_str(out, " -a '");
		for (other = cmd_all; *other != NULL; other++)
			out_fmt(out, "%s%s", other == cmd_all ? "" : " ",
			    (*other)->cm_name);
		out_char(out, '\'');
		break;
	default:
		out_str(out, " -F");
		break;
	}
	out_char(out, '\n');
}

static void
print_command(struct out *out, const struct prof_cmd *cmd)
{
	const struct opt_row *row;

	out_fmt(out, "complete -c dtprof -n __fish_is_first_arg -a %s -d ",
	    cmd->cm_name);
	completion_quoted(out, cmd->cm_summary);
	out_char(out, '\n');
	print_operand(out, cmd);
	out_fmt(out, "complete -c dtprof -n '__dtprof_command %s' -l help "
	    "-d 'show help'\n", cmd->cm_name);
	for (row = cmd->cm_options; row->op_type != OPT_END; row++)
		print_option(out, cmd, row);
}

void
completion_fish(struct out *out)
{
	const struct prof_cmd *const *cmd;

	out_str(out, "set -g __dtprof_awk ");
	completion_quoted(out, completion_events);
	out_str(out, "\n\n");
	out_str(out, functions);
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		print_command(out, *cmd);
}
