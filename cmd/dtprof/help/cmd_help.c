/* SPDX-License-Identifier: ISC */
/*
 * The commands, how one of them is found and run, and the two small ones
 * that talk about dtprof itself: help and version.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helper/helper.h"

static int	 run_help(void *options, int n, char **operands);
static int	 run_version(void *options, int n, char **operands);

static const struct opt_row no_options[] = { { .op_type = OPT_END } };

static const char *const help_examples[] = {
	"dtprof help record", "show help and examples of the command record",
	NULL
};

const struct prof_cmd cmd_help = {
	.cm_name = "help",
	.cm_summary = "list the commands, or show the help of COMMAND",
	.cm_operands = "[COMMAND]",
	.cm_options = no_options,
	.cm_max = 1,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = help_examples,
	.cm_run = run_help,
};

static const char *const version_examples[] = {
	"dtprof --version", "same as dtprof version",
	NULL
};

static const struct prof_cmd cmd_version = {
	.cm_name = "version",
	.cm_summary = "print the version",
	.cm_operands = "",
	.cm_options = no_options,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = version_examples,
	.cm_run = run_version,
};

const struct prof_cmd *const cmd_all[] = {
	&cmd_record, &cmd_trace, &cmd_stacks, &cmd_report, &cmd_flamegraph,
	&cmd_annotate, &cmd_script, &cmd_stat, &cmd_bench, &cmd_compare,
	&cmd_export, &cmd_import, &cmd_merge, &cmd_push, &cmd_store,
	&cmd_list, &cmd_doctor, &cmd_mark, &cmd_ctl, &cmd_completion,
	&cmd_help, &cmd_version, NULL
};

static int
run_version(void *options, int n, char **operands)
{
	struct out out;

	(void)options;
	(void)n;
	(void)operands;
	out_init(&out, STDOUT_FILENO);
	out_fmt(&out, "dtprof %s\n", prof_version());
	return (out_end(&out, "version"));
}

static int
run_help(void *options, int n, char **operands)
{
	const struct prof_cmd *const *cmd, *one;
	struct out out;

	(void)options;
	out_init(&out, STDOUT_FILENO);
	if (n == 1) {
		one = cmd_find(operands[0], NULL);
		if (one == NULL)
			return (EXIT_USAGE);
		opt_help(one, &out);
		return (out_end(&out, "help"));
	}
	out_str(&out, "dtprof: a profiler for Linux: samples counters, timers "
	    "and probes\n\nstart with:\n  dtprof record -- COMMAND      "
	    "profile a command\n  dtprof report                 show its "
	    "functions and their cost\n  dtprof flamegraph --open      draw it "
	    "as a flame graph\n  dtprof bench 'OLD' 'NEW'      find out which "
	    "command is faster\n\ncommands:\n");
	for (cmd = cmd_all; *cmd != NULL; cmd++)
		out_fmt(&out, "  %-10s %s\n", (*cmd)->cm_name,
		    (*cmd)->cm_summary);
	out_str(&out, "\nSee dtprof COMMAND --help for examples and options, "
	    "and dtprof(1).\n");
	return (out_end(&out, "help"));
}

const struct prof_cmd *
cmd_find(const char *name, const char *second)
{
	const char *names[sizeof(cmd_all) / sizeof(cmd_all[0])], *nearest;
	const char *habit = habit_of_command(name, second);
	const struct prof_cmd *found = NULL;
	size_t n;

	for (n = 0; cmd_all[n] != NULL; n++) {
		names[n] = cmd_all[n]->cm_name;
		if (strcmp(name, names[n]) == 0)
			found = cmd_all[n];
	}
	names[n] = NULL;
	if (habit != NULL) {
		msg_fail(NULL, habit, "%s%s%s: no such command", name,
		    found != NULL ? " " : "", found != NULL ? second : "");
		return (NULL);
	}
	if (found != NULL)
		return (found);
	if (strchr(name, '/') != NULL) {
		msg_fail(NULL, "record a program with dtprof record PROGRAM",
		    "%s: no such command", name);
		return (NULL);
	}
	nearest = opt_nearest(name, names);
	msg_fail(NULL, "list the commands with dtprof help",
	    "%s: no such command%s%s%s", name,
	    nearest != NULL ? "; did you mean " : "",
	    nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
	return (NULL);
}

int
cmd_run(const struct prof_cmd *cmd, int argc, char **argv)
{
	const int misused = cmd->cm_misused != NULL ?
	    cmd->cm_misused(argc, argv) : cmd->cm_usage_status;
	struct opt_error error = { 0 };
	struct out out;
	void *options;
	int first, status;

	/* A command without options still has a struct to point at. */
	options = calloc(1, cmd->cm_size + 1);
	if (options == NULL) {
		msg_error(cmd->cm_name, "out of memory", "free memory");
		return (misused);
	}
	first = opt_parse(cmd, argc, argv, options, &error);
	if (first == -2) {
		out_init(&out, STDOUT_FILENO);
		opt_help(cmd, &out);
		status = out_end(&out, cmd->cm_name);
	} else if (first == -1) {
		msg_error(cmd->cm_name, error.oe_text, error.oe_cure);
		status = misused;
	} else {
		argc -= first;
		argv += first;
		status = cmd->cm_check != NULL &&
		    cmd->cm_check(options, argc, argv) == -1 ?
		    misused : (cmd->cm_begin != NULL &&
		    cmd->cm_begin(cmd, options, argc, argv) == -1) ||
		    (cmd->cm_reads &&
		    helper_begin(cmd, options, argc, argv) == -1) ?
		    EXIT_FAILED : cmd->cm_run(options, argc, argv);
		opt_free(cmd, options);
	}
	free(options);
	return (status);
}
