/* SPDX-License-Identifier: ISC */
/*
 * The completion script for zsh: one call of _arguments for each command.
 */
#include <string.h>

#include "completion.h"

static const char functions[] =
    "_dtprof_events()\n{\n"
    "\tlocal -a events\n"
    "\tevents=(${(f)\"$(dtprof list -v 2>/dev/null | "
    "awk \"$_dtprof_awk\")\"})\n"
    "\tcompset -P '*,'\n"
    "\tcompadd -- $events\n"
    "}\n\n"
    "_dtprof_baselines()\n{\n"
    "\tcompadd -- .dtprof/*(N-/:t)\n"
    "}\n\n"
    "_dtprof_list()\n{\n"
    "\tcompset -P '*,'\n"
    "\tcompadd -- ${=1}\n"
    "}\n\n";

/* _arguments gives a meaning to brackets and colons. */
static void
print_escaped(struct out *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'') {
			out_str(out, "'\\''");
			continue;
		}
		if (strchr("[]:\\", *text) != NULL)
			out_char(out, '\\');
		out_char(out, *text);
	}
}

static void
print_value(struct out *out, enum completion_kind kind, const char *words)
{
	switch (kind) {
	case COMPLETE_WORDS:
		out_char(out, '(');
		completion_words(out, words);
		out_char(out, ')');
		break;
	case COMPLETE_LIST:
		out_str(out, "{_dtprof_list \"");
		completion_words(out, words);
		out_str(out, "\"}");
		break;
	case COMPLETE_EVENTS:
		out_str(out, "_dtprof_events");
		break;
	case COMPLETE_FILES:
		out_str(out, "_files");
		break;
	case COMPLETE_BASELINES:
		out_str(out, "_dtprof_baselines");
		break;
	default:
		out_char(out, ' ');
		break;
	}
}

/* *{-o+,--output=}'[help]:FILE:_files' */
static void
print_option(struct out *out, const struct prof_cmd *cmd,
    const struct opt_row *row)
{
	out_str(out, " \\\n\t\t    '*'");
	if (row->op_letter != 0)
		out_fmt(out, "{-%c%s,--%s%s}'[", row->op_letter,
		    row->op_arg == NULL ? "" : "+", row->op_name,
		    row->op_arg == NULL ? "" : "=");
	else
		out_fmt(out, "--%s%s'[", row->op_name,
		    row->op_arg == NULL ? "" : "=");
	print_escaped(out, row->op_help);
	out_char(out, ']');
	if (row->op_arg != NULL) {
		out_char(out, ':');
		print_escaped(out, row->op_arg);
		out_char(out, ':');
		print_value(out, completion_of_option(cmd, row),
		    row->op_words);
	}
	out_char(out, '\'');
}

static void
print_operand(struct out *out, const struct prof_cmd *cmd)
{
	switch (completion_of_operand(cmd)) {
	case COMPLETE_COMMAND:
		out_str(out, "'(-)1:command: _command_names -e' "
		    "'*::argument: _normal'");
		break;
	case COMPLETE_EVENTS:
		out_str(out, "'*:event:_dtprof_events'");
		break;
	case COMPLETE_DTPROF:
		out_str(out, "'1:command:"
		    "{_dtprof_list \"$_dtprof_commands\"}'");
		break;
	default:
		out_str(out, "'*:file:_files'");
		break;
	}
}

static void
print_command(struct out *out, const struct prof_cmd *cmd)
{
	const struct opt_row *row;

	out_fmt(out, "\t\t%s)\n\t\t    _arguments -s -S -A '-*' "
	    "'--help[show help]' ", cmd->cm_name);
	print_operand(out, cmd);
	for (row = cmd->cm_options; row->op_type != OPT_END; row++)
		print_option(out, cmd, row);
	out_str(out, "\n\t\t    ;;\n");
}

void
completion_zsh(struct out *out)
{
	const struct prof_cmd *const *cmd;

	out_str(out, "_dtprof_awk=");
	completion_quoted(out, completion_events);
	out_str(out, "\n_dtprof_commands='");
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		out_fmt(out, "%s ", (*cmd)->cm_name);
	out_str(out, "'\n\n");
	out_str(out, functions);
	out_str(out, "_dtprof()\n{\n\tlocal curcontext=$curcontext state line\n"
	    "\tlocal -a commands\n"
	    "\t_arguments -C '1:command:->command' '*::argument:->argument'\n"
	    "\tcase $state in\n\tcommand)\n\t\tcommands=(");
	for (cmd = cmd_all; *cmd != NULL; cmd++) {
		out_fmt(out, "\n\t\t    '%s:", (*cmd)->cm_name);
		print_escaped(out, (*cmd)->cm_summary);
		out_char(out, '\'');
	}
	out_str(out, ")\n\t\t_describe command commands ;;\n\targument)\n"
	    "\t\tcase $words[1] in\n");
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		print_command(out, *cmd);
	out_str(out, "\t\tesac ;;\n\tesac\n}\n\n"
	    "(( $+functions[compdef] )) && compdef _dtprof dtprof\n");
}
