/* SPDX-License-Identifier: ISC */
/*
 * dtprof stat: what can be said about a count, and whether it makes sense
 * together.  All is checked before anything is started; count.c then counts.
 */
#include <stdlib.h>
#include <string.h>

#include "by.h"
#include "count.h"

static int	 run_stat(void *options, int n, char **operands);
static int	 options_refuse(const char *cure, const char *why);
static int	 check_target(const struct count_options *co, bool command);
static int	 check_rest(const struct count_options *co, bool command);
static void	 options_fill(const struct count_options *co, int n,
		    char **operands, struct prof_counting_options *what);
static int	 split_events(const struct count_options *co,
		    struct opt_strings *events);

#define BY_WORDS	"syscall,comm,pid,tid,cpu"
#define CO(member)	offsetof(struct count_options, member)
#define MAX_RUNS	100000
#define MAX_MS		86400000	/* a day */

/* By letter or name, as the manual has them. */
static const struct opt_row options_of_stat[] = {
	{ 'a', "all-cpus", NULL, OPT_FLAG, 0, 0, NULL,
	    "count every process", CO(co_all), NULL },
	{ 0, "avg", "FIELD", OPT_STRINGS, 0, 0, NULL,
	    "print the mean of FIELD: duration or event argument",
	    CO(co_avgs), NULL },
	{ 0, "by", "KEYS", OPT_WORDS, 0, 0, NULL,
	    "print one row per combination of KEYS, e.g. syscall,comm",
	    CO(co_by), BY_WORDS },
	{ 'C', "cpu", "CPUS", OPT_IDS, 0, 65535, NULL,
	    "count only on these CPUs, e.g. 0,2-3 (needs "
	    "-a)", CO(co_cpus), NULL },
	{ 0, "cgroup", "PATH", OPT_STRING, 0, 0, NULL,
	    "count the processes in a cgroup",
	    CO(co_cgroup), NULL },
	{ 0, "csv", NULL, OPT_FLAG, 0, 0, NULL,
	    "print CSV, one line per counted value of each run",
	    CO(co_csv), NULL },
	{ 0, "duration", "TIME", OPT_TIME, 1000000, 31536000000000000ULL, NULL,
	    "stop after TIME, e.g. 10s, 5m, 500ms", CO(co_duration), NULL },
	{ 'e', "event", "EVENT", OPT_STRINGS, 0, 0, NULL,
	    "count EVENT (several: A,B; a group: {A,B})",
	    CO(co_events), NULL },
	{ 0, "hist", "FIELD", OPT_STRINGS, 0, 0, NULL,
	    "print a histogram of FIELD[,lin=LO:HI:STEP]",
	    CO(co_hists), NULL },
	{ 'I', "interval", "MS", OPT_COUNT, 1, MAX_MS, NULL,
	    "print counts every MS milliseconds", CO(co_interval_ms),
	    NULL },
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL,
	    "print one JSON object", CO(co_json),
	    NULL },
	{ 0, "limit", "N", OPT_COUNT, 1, INT64_MAX, NULL,
	    "with --by: print at most N rows", CO(co_limit), NULL },
	{ 0, "max", "FIELD", OPT_STRINGS, 0, 0, NULL,
	    "print the maximum of FIELD", CO(co_maxs), NULL },
	{ 0, "min", "FIELD", OPT_STRINGS, 0, 0, NULL,
	    "print the minimum of FIELD", CO(co_mins), NULL },
	{ 0, "no-inherit", NULL, OPT_FLAG, 0, 0, NULL,
	    "do not follow child processes", CO(co_no_inherit),
	    NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, NULL,
	    "output file", CO(co_output), NULL },
	{ 'p', "pid", "PIDS", OPT_IDS, 1, OPT_MAX_PID, NULL,
	    "count these processes and their children", CO(co_pids),
	    NULL },
	{ 0, "per-process", NULL, OPT_FLAG, 0, 0, NULL,
	    "print the counts of each process", CO(co_per_process), NULL },
	{ 0, "per-thread", NULL, OPT_FLAG, 0, 0, NULL,
	    "print the counts of each thread", CO(co_per_thread), NULL },
	{ 'q', "quiet", NULL, OPT_FLAG, 0, 0, NULL,
	    "print no notes", CO(co_quiet), NULL },
	{ 'r', "repeat", "N", OPT_COUNT, 1, MAX_RUNS, "1",
	    "repeat N times; print the mean and its 95% interval",
	    CO(co_runs), NULL },
	{ 0, "sort", "COLUMN", OPT_STRING, 0, 0, NULL,
	    "with --by: sort rows by COLUMN, e.g. p99",
	    CO(co_sort), NULL },
	{ 0, "span", "SPAN", OPT_STRINGS, 0, 0, NULL,
	    "count and time spans: NAME=BEGIN[,END][,key=ARGUMENT]",
	    CO(co_spans), NULL },
	{ 0, "sum", "FIELD", OPT_STRINGS, 0, 0, NULL,
	    "print the sum of FIELD", CO(co_sums), NULL },
	{ 't', "tid", "TIDS", OPT_IDS, 1, OPT_MAX_PID, NULL,
	    "count only these threads", CO(co_tids), NULL },
	{ 0, "user-only", NULL, OPT_FLAG, 0, 0, NULL,
	    "count only in user space", CO(co_user_only), NULL },
	{ 'w', "warmup", "N", OPT_COUNT, 0, MAX_RUNS, "0",
	    "N warm-up runs, not counted",
	    CO(co_warmups), NULL },
	{ 0, "with", "COUNTER", OPT_STRINGS, 0, 0, NULL,
	    "with --span: count COUNTER in spans", CO(co_with), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof stat -- make -j2",
	"time a command and count events in it",
	"dtprof stat -r 10 -- ./program",
	"ten runs: means and intervals",
	"dtprof stat -e '{cycles,instructions},page-faults' -p 4711",
	"count in a running process until it exits or Ctrl-C is typed",
	"dtprof stat -e syscall --by syscall --limit 10 -p 4711",
	"show system calls of a process: counts, errors, times",
	"dtprof stat -a -I 1000 --csv -o counts.csv --duration 60s",
	"count on the whole machine each second, for a minute",
	NULL
};

const struct prof_cmd cmd_stat = {
	.cm_name = "stat",
	.cm_summary = "count events in a command, a process or the machine",
	.cm_operands = "[-- COMMAND [ARGUMENT ...]]",
	.cm_options = options_of_stat,
	.cm_size = sizeof(struct count_options),
	.cm_max = -1,
	.cm_stop_early = true,
	.cm_usage_status = EXIT_DTPROF,
	.cm_examples = examples,
	.cm_notes = "Choose a target: a COMMAND, -p, -t, --cgroup, or -a for "
	    "everything.  With -a, -p, -t or --cgroup, counting ends when "
	    "COMMAND, if given, exits.  With a COMMAND, the table goes to "
	    "standard error, as that of time(1); with --json or --csv to "
	    "standard output, and the output of COMMAND to standard error.",
	.cm_run = run_stat,
};

static int
options_refuse(const char *cure, const char *why)
{
	return (msg_error("stat", why, cure));
}

static int
check_target(const struct count_options *co, bool command)
{
	const int named = co->co_all + (co->co_pids.oi_n > 0) +
	    (co->co_tids.oi_n > 0) + (co->co_cgroup != NULL);

	if (named > 1)
		return (options_refuse("use only one of these options",
		    "-a, -p, -t and --cgroup exclude each other"));
	if (named == 0 && !command)
		return (options_refuse("name a command (-- COMMAND), a process "
		    "(-p PID), or everything (-a)", "nothing to count"));
	if (co->co_cpus.oi_n > 0 && !co->co_all)
		return (options_refuse("add -a, or leave -C out",
		    "-C requires -a, as processes move between CPUs"));
	if (co->co_no_inherit && (co->co_all || co->co_cgroup != NULL))
		return (options_refuse("leave out one of these options",
		    "--no-inherit cannot be used with -a or --cgroup"));
	return (0);
}

static int
check_rest(const struct count_options *co, bool command)
{
	const bool repeats = co->co_runs.on_value > 1 ||
	    co->co_warmups.on_value > 0;
	const bool splits = co->co_per_process || co->co_per_thread;

	if (co->co_json && co->co_csv)
		return (options_refuse("use only one of these options",
		    "--json and --csv exclude each other"));
	if (co->co_per_process && co->co_per_thread)
		return (options_refuse("use only one of these options",
		    "--per-process and --per-thread exclude each other"));
	if (repeats && !command)
		return (options_refuse("add -- COMMAND",
		    "-r and -w require a command"));
	if (splits && co->co_tids.oi_n > 0)
		return (options_refuse("use -p",
		    "-t excludes --per-process and --per-thread"));
	if (splits && co->co_interval_ms.on_set)
		return (options_refuse("leave out one of these options", "-I "
		    "excludes --per-process and --per-thread"));
	if (repeats && (co->co_interval_ms.on_set || splits))
		return (options_refuse("leave out one of these options",
		    "-r and -w exclude -I, --per-process and --per-thread"));
	return (0);
}

static void
options_fill(const struct count_options *co, int n, char **operands,
    struct prof_counting_options *what)
{
	memset(what, 0, sizeof(*what));
	what->co_size = sizeof(*what);
	what->co_target = co->co_all ? PROF_TARGET_ALL :
	    co->co_pids.oi_n > 0 ? PROF_TARGET_PIDS :
	    co->co_tids.oi_n > 0 ? PROF_TARGET_TIDS :
	    co->co_cgroup != NULL ? PROF_TARGET_CGROUP : PROF_TARGET_COMMAND;
	what->co_ids = co->co_pids.oi_n > 0 ? co->co_pids.oi_id :
	    co->co_tids.oi_id;
	what->co_nids = co->co_pids.oi_n + co->co_tids.oi_n;
	what->co_cgroup = co->co_cgroup;
	what->co_cpus = co->co_cpus.oi_id;
	what->co_ncpus = co->co_cpus.oi_n;
	what->co_argv = n > 0 ? operands : NULL;
	what->co_no_inherit = co->co_no_inherit;
	what->co_no_kernel = co->co_user_only;
	what->co_split = co->co_per_process ? PROF_SPLIT_PROCESS :
	    co->co_per_thread ? PROF_SPLIT_THREAD : PROF_SPLIT_NONE;
}

static int
split_events(const struct count_options *co, struct opt_strings *events)
{
	for (size_t n = 0; n < co->co_events.os_n; n++) {
		if (opt_split_events(co->co_events.os_text[n], events) == -1)
			return (options_refuse("free memory", "out of memory"));
	}
	for (size_t n = 0; n < events->os_n; n++) {
		if (events->os_text[n][0] == '\0')
			return (options_refuse("see dtprof list --counters",
			    "-e: empty event name"));
	}
	return (0);
}

static int
run_stat(void *options, int n, char **operands)
{
	const struct count_options *co = options;
	struct prof_counting_options what;
	struct opt_strings events = { 0 };
	int status = EXIT_DTPROF;

	if (check_target(co, n > 0) == 0 && check_rest(co, n > 0) == 0 &&
	    split_events(co, &events) == 0 &&
	    by_check(co, &events) == 0) {
		options_fill(co, n, operands, &what);
		status = (by_is_wanted(co, &events) ? by_run : count_run)(co,
		    &what, &events);
	}
	for (size_t i = 0; i < events.os_n; i++)
		free((char *)(uintptr_t)events.os_text[i]);
	free(events.os_text);
	return (status);
}
