/* SPDX-License-Identifier: ISC */
/*
 * What users of perf type out of habit: options and commands that mean
 * something here under another name, that are the default here, or that have
 * no counterpart, in which case the table names the nearest line that works.
 * opt.c asks for options, cmd_help.c for commands.
 */
#include <string.h>

#include "../cmd.h"

#define BY	"choose rows with --by (comm, module, function, ...), order " \
		"them with --sort self or total"
#define CALLS	"use --callers or --callees FUNCTION, or dtprof flamegraph"

static const struct opt_habit habits[] = {
	{ "annotate", "s", "NAME", NULL, NULL,
	    "give the function as an operand: dtprof annotate NAME" },
	{ "annotate", "stdio", NULL, NULL, NULL, NULL },
	{ "annotate", "symbol", "NAME", NULL, NULL,
	    "give the function as an operand: dtprof annotate NAME" },
	{ "record", "G", "CGROUP", NULL, "cgroup", NULL },
	{ "record", "N", NULL, NULL, NULL, NULL },
	{ "record", "R", NULL, NULL, NULL, NULL },
	{ "record", "T", NULL, NULL, NULL, NULL },
	{ "record", "W", NULL, NULL, NULL,
	    "dtprof does not record memory access weights" },
	{ "record", "all-kernel", NULL, NULL, NULL,
	    "use modifier k: -e cpu-clock:k" },
	{ "record", "all-user", NULL, NULL, "user-only", NULL },
	{ "record", "b", NULL, NULL, NULL,
	    "dtprof does not record branches; -g records stacks" },
	{ "record", "d", NULL, NULL, NULL,
	    "dtprof does not record data addresses" },
	{ "record", "exclude-perf", NULL, NULL, NULL, NULL },
	{ "record", "i", NULL, NULL, "no-inherit", NULL },
	{ "record", "m", "PAGES", NULL, NULL,
	    "use --buffer SIZE, in bytes per CPU" },
	{ "record", "mmap-pages", "PAGES", NULL, NULL,
	    "use --buffer SIZE, in bytes per CPU" },
	{ "record", "no-buildid", NULL, NULL, NULL, NULL },
	{ "record", "overwrite", NULL, NULL, NULL,
	    "use --duration TIME; the whole recording is kept" },
	{ "record", "s", NULL, NULL, NULL, NULL },
	{ "record", "switch-output", "MODE", NULL, NULL,
	    "use --duration TIME in a loop, one file each time" },
	{ "record", "timestamp", NULL, NULL, NULL, NULL },
	{ "record", "u", "USER", NULL, NULL,
	    "use -p $(pgrep -d, -u USER)" },
	{ "record", "uid", "USER", NULL, NULL,
	    "use -p $(pgrep -d, -u USER)" },
	{ "record", "z", NULL, NULL, NULL, NULL },
	{ "report", "F", "FIELDS", NULL, NULL, BY },
	{ "report", "call-graph", "HOW", "none", NULL, CALLS },
	{ "report", "comms", "NAMES", NULL, NULL,
	    "use --filter 'comm==\"NAME\"'" },
	{ "report", "dsos", "FILES", NULL, NULL, "use --by module" },
	{ "report", "fields", "FIELDS", NULL, NULL, BY },
	{ "report", "g", "HOW", "none", NULL, CALLS },
	{ "report", "n", NULL, NULL, NULL, NULL },
	{ "report", "no-children", NULL, NULL, NULL, NULL },
	{ "report", "percent-limit", "PERCENT", NULL, NULL,
	    "use --limit N" },
	{ "report", "pid", "PID", NULL, NULL, "use --filter pid==N" },
	{ "report", "s", "KEYS", NULL, NULL, BY },
	{ "report", "sort", "KEYS", NULL, NULL, BY },
	{ "report", "stdio", NULL, NULL, NULL, NULL },
	{ "report", "symbols", "NAMES", NULL, NULL,
	    "use --callers or --callees FUNCTION" },
	{ "report", "tid", "TID", NULL, NULL, "use --filter tid==N" },
	{ "report", "tui", NULL, NULL, NULL,
	    "leave it out: output is text, shown in a pager on a terminal" },
	{ "script", "F", "FIELDS", NULL, NULL,
	    "use --json: each line has all fields" },
	{ "script", "fields", "FIELDS", NULL, NULL,
	    "use --json: each line has all fields" },
	{ "script", "header", NULL, NULL, NULL, "use dtprof report --stats" },
	{ "stat", "A", NULL, NULL, NULL, "run once with -C CPU for each CPU" },
	{ "stat", "G", "CGROUP", NULL, "cgroup", NULL },
	{ "stat", "M", "METRICS", NULL, NULL,
	    "use -e cycles,instructions for their ratio" },
	{ "stat", "all-user", NULL, NULL, "user-only", NULL },
	{ "stat", "d", NULL, NULL, NULL,
	    "find events with dtprof list --counters 'cache miss'" },
	{ "stat", "detailed", NULL, NULL, NULL,
	    "find events with dtprof list --counters 'cache miss'" },
	{ "stat", "i", NULL, NULL, "no-inherit", NULL },
	{ "stat", "timeout", "MS", NULL, NULL, "use --duration TIME" },
	{ "stat", "x", "SEPARATOR", ",", "csv",
	    "use --csv: the separator is a comma" },
};
#define NHABITS	(sizeof(habits) / sizeof(habits[0]))

/* Commands of perf, and the line of dtprof that comes nearest. */
static const struct {
	const char	*name;
	const char	*use;
} commands[] = {
	{ "archive", "not needed: a recording contains its symbols, so copy "
	    "the file" },
	{ "buildid-list", "use dtprof report --stats" },
	{ "c2c", "dtprof does not record memory addresses; use dtprof report "
	    "for functions" },
	{ "diff", "use dtprof compare OLD.dtp -- NEW.dtp, or dtprof "
	    "flamegraph --base OLD.dtp NEW.dtp" },
	{ "evlist", "use dtprof report --stats" },
	{ "ftrace", "use dtprof record -e TRACEPOINT, then dtprof script" },
	{ "kmem", "use dtprof record -e 'kmem:*', then dtprof report" },
	{ "lock", "use dtprof record -e 'lock:contention_begin', then dtprof "
	    "report" },
	{ "mem", "dtprof does not record memory addresses; find counters with "
	    "dtprof list --counters 'cache miss'" },
	{ "probe", "use dtprof record -e EVENT with an event from dtprof "
	    "list" },
	{ "sched", "use dtprof record -e sched:sched_switch, then dtprof "
	    "script" },
	{ "timechart", "use dtprof report --plot timeline" },
	{ "top", "use dtprof record -a --duration 10s, then dtprof report" },
	{ "trace", "use dtprof record -e syscall, then dtprof script" },
};
#define NCOMMANDS	(sizeof(commands) / sizeof(commands[0]))

const struct opt_habit *
habit_of_option(const char *command, const char *option, size_t length)
{
	size_t i;

	for (i = 0; i < NHABITS; i++)
		if (strcmp(habits[i].oh_command, command) == 0 &&
		    strncmp(habits[i].oh_option, option, length) == 0 &&
		    habits[i].oh_option[length] == '\0')
			return (&habits[i]);
	return (NULL);
}

const char *
habit_of_command(const char *name)
{
	size_t i;

	for (i = 0; i < NCOMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return (commands[i].use);
	return (NULL);
}
