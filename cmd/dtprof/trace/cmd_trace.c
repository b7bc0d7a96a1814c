/* SPDX-License-Identifier: ISC */
/*
 * dtprof trace: what can be said about a trace, and whether it makes sense
 * together.  trace.c then runs it.
 */
#include <stdlib.h>

#include "../cmd.h"
#include "trace.h"

static int	 run_trace(void *options, int n, char **operands);

#define TO(member)	offsetof(struct trace_options, member)
#define DEFAULT_EVENT	"syscall"	/* as strace and perf trace */

/* By letter or name, as the manual has them. */
static const struct opt_row options_of_trace[] = {
	{ 'a', "all-cpus", NULL, OPT_FLAG, 0, 0, NULL,
	    "trace every process", TO(to_all), NULL },
	{ 0, "buffer", "SIZE", OPT_SIZE, 65536, 1 << 30, "16M",
	    "buffer size of each CPU", TO(to_buffer), NULL },
	{ 'C', "cpu", "CPUS", OPT_IDS, 0, 65535, NULL,
	    "trace only these CPUs, e.g. 0,2-3 (needs -a)",
	    TO(to_cpus), NULL },
	{ 0, "cgroup", "PATH", OPT_STRING, 0, 0, NULL,
	    "trace the processes in a cgroup", TO(to_cgroup), NULL },
	{ 0, "comm", "NAME", OPT_STRING, 0, 0, NULL,
	    "trace only threads named NAME", TO(to_comm), NULL },
	{ 0, "duration", "TIME", OPT_TIME, 1000000, 31536000000000000ULL, NULL,
	    "stop after TIME, e.g. 10s, 5m, 500ms", TO(to_duration), NULL },
	{ 'e', "event", "EVENT", OPT_STRINGS, 0, 0, "syscall",
	    "trace EVENT (several: A,B)", TO(to_events), NULL },
	{ 0, "fields", "FIELDS", OPT_WORDS, 0, 0, NULL,
	    "print only FIELDS, e.g. time,comm,syscall,duration,ret",
	    TO(to_fields), "time,comm,pid,tid,cpu,event,syscall,duration" },
	{ 0, "filter", "EXPR", OPT_STRING, 0, 0, NULL,
	    "trace only events that match EXPR, e.g. 'ret<0'",
	    TO(to_filter), NULL },
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL,
	    "print one JSON object per line", TO(to_json), NULL },
	{ 0, "limit", "N", OPT_COUNT, 1, INT64_MAX, NULL,
	    "stop after N events", TO(to_limit), NULL },
	{ 0, "max-loss", "PCT", OPT_PERCENT, 0, 100000, NULL,
	    "exit with status 124 if over PCT% of events are lost",
	    TO(to_max_loss), NULL },
	{ 0, "no-inherit", NULL, OPT_FLAG, 0, 0, NULL,
	    "do not follow child processes", TO(to_no_inherit), NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, NULL,
	    "output file", TO(to_output), NULL },
	{ 'p', "pid", "PIDS", OPT_IDS, 1, OPT_MAX_PID, NULL,
	    "trace these processes and their children", TO(to_pids), NULL },
	{ 'q', "quiet", NULL, OPT_FLAG, 0, 0, NULL,
	    "print errors only", TO(to_quiet), NULL },
	{ 0, "stack", NULL, OPT_FLAG, 0, 0, NULL,
	    "print the stack of each event", TO(to_stack), NULL },
	{ 't', "tid", "TIDS", OPT_IDS, 1, OPT_MAX_PID, NULL,
	    "trace only these threads", TO(to_tids), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof trace -- ls",
	"print the system calls of a command, with arguments and results",
	"dtprof trace -e 'syscall:open*' --filter 'ret<0' -p 4711",
	"print which files a process cannot open",
	"dtprof trace -e sched:sched_process_exec -a",
	"print each program that starts",
	"dtprof trace --stack -e syscall:fsync -p 4711",
	"print each fsync call of a process, with its stack",
	NULL
};

const struct prof_cmd cmd_trace = {
	.cm_name = "trace",
	.cm_summary = "print events as they happen",
	.cm_operands = "[-- COMMAND [ARGUMENT ...]]",
	.cm_options = options_of_trace,
	.cm_size = sizeof(struct trace_options),
	.cm_max = -1,
	.cm_stop_early = true,
	.cm_usage_status = EXIT_DTPROF,
	.cm_examples = examples,
	.cm_notes = "Choose a target: a COMMAND, -p, -t, --cgroup, or -a for "
	    "everything.  With a COMMAND, lines are written to standard error, "
	    "as strace does.  With --json, lines are written to standard "
	    "output, and the output of COMMAND to standard error.",
	.cm_run = run_trace,
};

static int
options_refuse(const char *cure, const char *why)
{
	return (msg_error("trace", why, cure));
}

static int
check_target(const struct trace_options *to, bool command)
{
	const int named = to->to_all + (to->to_pids.oi_n > 0) +
	    (to->to_tids.oi_n > 0) + (to->to_cgroup != NULL);

	if (named > 1)
		return (options_refuse("use only one of these options",
		    "-a, -p, -t and --cgroup exclude each other"));
	if (named == 0 && !command)
		return (options_refuse("name a command (-- COMMAND), a process "
		    "(-p PID), or everything (-a)", "nothing to trace"));
	if (to->to_cpus.oi_n > 0 && !to->to_all)
		return (options_refuse("add -a, or leave -C out",
		    "-C requires -a, as processes move between CPUs"));
	if (to->to_stack && to->to_fields != NULL)
		return (options_refuse("leave out one of these options",
		    "--stack cannot be used with --fields"));
	if (to->to_no_inherit && (to->to_all || to->to_cgroup != NULL))
		return (options_refuse("leave out one of these options",
		    "--no-inherit cannot be used with -a or --cgroup"));
	return (0);
}

static int
split_events(const struct trace_options *to, struct opt_strings *events)
{
	for (size_t n = 0; n < to->to_events.os_n; n++)
		if (opt_split_events(to->to_events.os_text[n], events) == -1)
			return (options_refuse("free memory", "out of memory"));
	for (size_t n = 0; n < events->os_n; n++)
		if (events->os_text[n][0] == '\0')
			return (options_refuse("see dtprof list",
			    "-e: empty event name"));
	return (events->os_n > 0 || opt_split_events(DEFAULT_EVENT, events) ==
	    0 ? 0 : options_refuse("free memory", "out of memory"));
}

static void
options_fill(const struct trace_options *to, int n, char **operands,
    struct prof_options *po)
{
	po->po_size = sizeof(*po);
	po->po_target = to->to_all ? PROF_TARGET_ALL :
	    to->to_pids.oi_n > 0 ? PROF_TARGET_PIDS :
	    to->to_tids.oi_n > 0 ? PROF_TARGET_TIDS :
	    to->to_cgroup != NULL ? PROF_TARGET_CGROUP : PROF_TARGET_COMMAND;
	po->po_ids = to->to_pids.oi_n > 0 ? to->to_pids.oi_id :
	    to->to_tids.oi_id;
	po->po_nids = to->to_pids.oi_n + to->to_tids.oi_n;
	po->po_cgroup = to->to_cgroup;
	po->po_cpus = to->to_cpus.oi_id;
	po->po_ncpus = to->to_cpus.oi_n;
	po->po_argv = n > 0 ? operands : NULL;
	po->po_filter = to->to_filter;
	po->po_comm = to->to_comm;
	po->po_buffer_bytes = to->to_buffer.on_value;
	po->po_callgraph = to->to_stack ? PROF_CALLGRAPH_AUTO :
	    PROF_CALLGRAPH_NONE;
	po->po_no_inherit = to->to_no_inherit;
	po->po_record_comm = 1;
}

static int
run_trace(void *options, int n, char **operands)
{
	const struct trace_options *to = options;
	struct opt_strings events = { 0 };
	struct prof_options po = { 0 };
	int status = EXIT_DTPROF;

	if (check_target(to, n > 0) == 0 && split_events(to, &events) == 0) {
		options_fill(to, n, operands, &po);
		status = trace_run(to, &po, &events);
	}
	for (size_t i = 0; i < events.os_n; i++)
		free((char *)(uintptr_t)events.os_text[i]);
	free(events.os_text);
	return (status);
}
