/* SPDX-License-Identifier: ISC */
/*
 * The completion script for bash.  The tables are made here; what does not
 * depend on them is completion.bash, which says what its variables mean.
 */
#include "completion.h"
#include "completion_bash.h"

static const char *
kind_name(enum completion_kind kind)
{
	switch (kind) {
	case COMPLETE_WORDS:	return ("words");
	case COMPLETE_LIST:	return ("list");
	case COMPLETE_EVENTS:	return ("events");
	case COMPLETE_FILES:	return ("files");
	case COMPLETE_BASELINES: return ("baselines");
	case COMPLETE_COMMAND:	return ("commands");
	case COMPLETE_DTPROF:	return ("dtprof");
	default:		return ("value");
	}
}

static void
print_command(struct out *out, const struct prof_cmd *cmd)
{
	const struct opt_row *row;

	out_fmt(out, "\t%s) begins=%s options='--help", cmd->cm_name,
	    kind_name(completion_of_operand(cmd)));
	for (row = cmd->cm_options; row->op_type != OPT_END; row++)
		out_fmt(out, " --%s", row->op_name);
	out_str(out, "' ;;\n");
}

/* Options that take no value are those that are not named here. */
static void
print_options(struct out *out, const struct prof_cmd *cmd)
{
	const struct opt_row *row;

	for (row = cmd->cm_options; row->op_type != OPT_END; row++) {
		if (row->op_arg == NULL)
			continue;
		out_fmt(out, "\t'%s --%s'", cmd->cm_name, row->op_name);
		if (row->op_letter != 0)
			out_fmt(out, " | '%s -%c'", cmd->cm_name,
			    row->op_letter);
		out_fmt(out, ") takes='%s",
		    kind_name(completion_of_option(cmd, row)));
		if (row->op_words != NULL) {
			out_char(out, ' ');
			completion_words(out, row->op_words);
		}
		out_str(out, "' ;;\n");
	}
}

void
completion_bash(struct out *out)
{
	const struct prof_cmd *const *cmd;

	out_str(out, "_dtprof_commands='");
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		out_fmt(out, "%s%s", cmd == cmd_all ? "" : " ",
		    (*cmd)->cm_name);
	out_str(out, "'\n\n_dtprof_command()\n{\n\tbegins=files options=\n"
	    "\tcase $1 in\n");
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		print_command(out, *cmd);
	out_str(out, "\tesac\n}\n\n_dtprof_option()\n{\n\ttakes=\n"
	    "\tcase \"$1 $2\" in\n");
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		print_options(out, *cmd);
	out_str(out, "\tesac\n}\n\n");
	out_str(out, "_dtprof_awk=");
	completion_quoted(out, completion_events);
	out_str(out, "\n\n");
	out_mem(out, (const char *)completion_bash_script,
	    sizeof(completion_bash_script));
}
