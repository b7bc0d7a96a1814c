/* SPDX-License-Identifier: ISC */
/*
 * dtprof record: what can be said about a recording, and whether it makes
 * sense together.  All is checked before anything is started or written;
 * record.c then runs the session.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cmd.h"
#include "record.h"

static int	 run_record(void *options, int n, char **operands);
static int	 options_refuse(const char *cure, const char *why);
static int	 check_target(const struct record_options *ro, bool command);
static int	 check_rest(const struct record_options *ro);
static uint64_t	 fastest_hz(void);
static void	 options_fill(const struct record_options *ro, int n,
		    char **operands, struct prof_options *po);
static int	 split_events(const struct opt_strings *from,
		    struct opt_strings *events, const char *if_empty);
static void	 free_events(struct opt_strings *events);

#define RO(member)	offsetof(struct record_options, member)
#define ATTACH_TASKS	1		/* the second of its words */
#define MAX_DELAY_MS	86400000	/* a day */
#define MAX_STACK	64512		/* the largest record has 64 KiB */
#define MAX_STALL_NS	10000000000ULL	/* without --max-stall */

/* By letter or name, as the manual has them. */
static const struct opt_row options_of_record[] = {
	{ 'a', "all-cpus", NULL, OPT_FLAG, 0, 0, NULL,
	    "record every process", RO(ro_all), NULL },
	{ 0, "alloc", NULL, OPT_FLAG, 0, 0, NULL,
	    "record allocations of memory (same as -e alloc)", RO(ro_alloc),
	    NULL },
	{ 0, "attach", "WHERE", OPT_CHOICE, 0, 0, "auto",
	    "attach counters to: tasks, cpus, auto",
	    RO(ro_attach), "auto,tasks,cpus" },
	{ 0, "backend", "BACKEND", OPT_CHOICE, 0, 0, "auto",
	    "sampling back end: bpf, perf or auto",
	    RO(ro_backend), "auto,bpf,perf" },
	{ 0, "buffer", "SIZE", OPT_SIZE, 65536, 1 << 30, "8M or 16M, by rate",
	    "buffer size of each CPU",
	    RO(ro_buffer), NULL },
	{ 'C', "cpu", "CPUS", OPT_IDS, 0, 65535, NULL,
	    "record only these CPUs, e.g. 0,2-3 (needs -a)",
	    RO(ro_cpus), NULL },
	{ 'c', "count", "PERIOD", OPT_COUNT, 1, INT64_MAX, NULL,
	    "take a sample every PERIOD events (clocks: ns)",
	    RO(ro_period), NULL },
	{ 0, "call-graph", "HOW", OPT_STRING, 0, 0, "auto",
	    "stacks: auto, fp, dwarf[,SIZE], none",
	    RO(ro_callgraph), "auto,fp,dwarf,none" },
	{ 0, "cgroup", "PATH", OPT_STRING, 0, 0, NULL,
	    "record the processes in a cgroup",
	    RO(ro_cgroup), NULL },
	{ 0, "comm", "NAME", OPT_STRING, 0, 0, NULL,
	    "record only threads named NAME", RO(ro_comm), NULL },
	{ 'D', "delay", "MS", OPT_COUNT, 1, MAX_DELAY_MS, NULL,
	    "start sampling after MS milliseconds", RO(ro_delay), NULL },
	{ 0, "dump-after", "TIME", OPT_TIME, 0, 31536000000000000ULL, "2s",
	    "write the dump TIME after its trigger", RO(ro_dump_after),
	    NULL },
	{ 0, "dump-max", "N", OPT_COUNT, 1, INT64_MAX, "10",
	    "write at most N dumps", RO(ro_dump_max), NULL },
	{ 0, "dump-on", "TRIGGER", OPT_STRINGS, 0, 0, NULL,
	    "when to write a dump (default SIGUSR2, exit)",
	    RO(ro_dump_on), NULL },
	{ 0, "duration", "TIME", OPT_TIME, 1000000, 31536000000000000ULL, NULL,
	    "stop after TIME, e.g. 10s, 5m, 500ms", RO(ro_duration), NULL },
	{ 'e', "event", "EVENT", OPT_STRINGS, 0, 0,
	    "cycles or cpu-clock",
	    "sample EVENT[,EVENT]",
	    RO(ro_events), NULL },
	{ 'F', "freq", "HZ", OPT_COUNT, 1, INT64_MAX, "999",
	    "samples per second on each CPU, or max",
	    RO(ro_frequency), "max" },
	{ 0, "filter", "EXPR", OPT_STRING, 0, 0, NULL,
	    "record only samples that match EXPR, e.g. 'arg0>100'",
	    RO(ro_filter), NULL },
	{ 'g', "stacks", NULL, OPT_FLAG, 0, 0, NULL,
	    "record stacks (on by default)", RO(ro_stacks), NULL },
	{ 0, "include-self", NULL, OPT_FLAG, 0, 0, NULL,
	    "record dtprof itself too", RO(ro_include_self), NULL },
	{ 0, "keep-if", "EXPR", OPT_STRING, 0, 0, NULL,
	    "keep only samples in spans that match EXPR",
	    RO(ro_keep_if), NULL },
	{ 0, "keep-last", "TIME", OPT_TIME, 1000000, 31536000000000000ULL,
	    NULL, "keep only samples of the last TIME (see --ring)",
	    RO(ro_keep_last), NULL },
	{ 0, "label", "KEY=VALUE", OPT_STRINGS, 0, 0, NULL,
	    "label for --push (see dtprof push)", RO(ro_labels), NULL },
	{ 0, "locks", NULL, OPT_FLAG, 0, 0, NULL,
	    "also record waits for locks (adds -e lock)", RO(ro_locks), NULL },
	{ 0, "max-loss", "PCT", OPT_PERCENT, 0, 100000, NULL,
	    "exit with status 124 if over PCT% of events are lost",
	    RO(ro_max_loss), NULL },
	{ 0, "max-memory", "SIZE", OPT_SIZE, 32 << 20, INT64_MAX, NULL,
	    "keep fewer samples, or stop, to need less than SIZE",
	    RO(ro_max_memory), NULL },
	{ 0, "max-overhead", "PCT", OPT_PERCENT, 1, 100000, NULL,
	    "lower rates or detach probes above PCT% overhead",
	    RO(ro_overhead), NULL },
	{ 0, "max-size", "SIZE", OPT_SIZE, 65536, INT64_MAX, NULL,
	    "stop when the output file reaches SIZE", RO(ro_max_size), NULL },
	{ 0, "max-stall", "TIME", OPT_TIME, 2000000000, 31536000000000000ULL,
	    "10s", "stop storing if dtprof stalls for TIME",
	    RO(ro_max_stall), NULL },
	{ 0, "no-inherit", NULL, OPT_FLAG, 0, 0, NULL,
	    "do not follow child processes", RO(ro_no_inherit),
	    NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, DEFAULT_RECORDING,
	    "output file",
	    RO(ro_output), NULL },
	{ 0, "off-cpu", NULL, OPT_FLAG, 0, 0, NULL,
	    "also record off-CPU waits (adds -e off-cpu)",
	    RO(ro_off_cpu), NULL },
	{ 0, "off-cpu-thresh", "MS", OPT_COUNT, 0, MAX_DELAY_MS, NULL,
	    "same as adding -e off-cpu/min=MSms/", RO(ro_off_cpu_ms), NULL },
	{ 0, "overwrite", NULL, OPT_FLAG, 0, 0, NULL,
	    "same as --ring 64M", RO(ro_overwrite), NULL },
	{ 'p', "pid", "PIDS", OPT_IDS, 1, OPT_MAX_PID, NULL,
	    "record these processes and their children", RO(ro_pids),
	    NULL },
	{ 0, "push", "URL", OPT_STRING, 0, 0, NULL,
	    "send the recording to a store while it is written", RO(ro_push),
	    NULL },
	{ 'q', "quiet", NULL, OPT_FLAG, 0, 0, NULL,
	    "print errors only", RO(ro_quiet),
	    NULL },
	{ 0, "record-comm", NULL, OPT_FLAG, 0, 0, NULL,
	    "store the thread name in each sample",
	    RO(ro_record_comm), NULL },
	{ 0, "ring", "SIZE", OPT_SIZE, RECORD_RING_MIN, 1ULL << 40,
	    NULL,
	    "keep SIZE of the newest samples in memory for dumps",
	    RO(ro_ring), NULL },
	{ 0, "rotate", "WHEN", OPT_STRING, 0, 0, NULL,
	    "begin another file after TIME, SIZE, or at SIGUSR2",
	    RO(ro_rotate), NULL },
	{ 0, "rotate-keep", "N", OPT_COUNT, 1, INT64_MAX, NULL,
	    "with --rotate, remove all but the last N files",
	    RO(ro_rotate_keep), NULL },
	{ 0, "secret-file", "FILE", OPT_STRING, 0, 0, NULL,
	    "file with the password for --push (see dtprof push)",
	    RO(ro_secret_file), NULL },
	{ 0, "span", "SPAN", OPT_STRINGS, 0, 0, NULL,
	    "record spans: NAME=BEGIN[,END][,key=ARGUMENT]",
	    RO(ro_spans), NULL },
	{ 0, "switch-output", "HOW", OPT_STRING, 0, 0, NULL,
	    "same as --rotate, or as --dump-on with --overwrite",
	    RO(ro_switch_output), NULL },
	{ 't', "tid", "TIDS", OPT_IDS, 1, OPT_MAX_PID, NULL,
	    "record only these threads", RO(ro_tids), NULL },
	{ 0, "unwind-mem", "SIZE", OPT_SIZE, 8 << 20, 512 << 20, "256M",
	    "memory limit of unwind tables",
	    RO(ro_unwind), NULL },
	{ 0, "user-only", NULL, OPT_FLAG, 0, 0, NULL,
	    "record only user space", RO(ro_user_only), NULL },
	{ 'v', "verbose", NULL, OPT_FLAG, 0, 0, NULL,
	    "print what dtprof records, and how", RO(ro_verbose), NULL },
	{ 0, "verify", NULL, OPT_FLAG, 0, 0, NULL,
	    "also unwind with libunwind, and compare (slow)",
	    RO(ro_verify), NULL },
	{ 0, "wait-for", "NAME", OPT_STRING, 0, 0, NULL,
	    "wait for program NAME and record it",
	    RO(ro_wait_for), NULL },
	{ 0, "wall", NULL, OPT_FLAG, 0, 0, NULL,
	    "also record wall-clock time (adds -e wall)",
	    RO(ro_wall), NULL },
	{ 0, "with", "COUNTER", OPT_STRINGS, 0, 0, NULL,
	    "add to samples COUNTER's count since the last sample",
	    RO(ro_with), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof record -- make -j2",
	"profile a command and its child processes",
	"dtprof record -a --duration 10s",
	"profile the whole machine for ten seconds",
	NULL
};

const struct prof_cmd cmd_record = {
	.cm_name = "record",
	.cm_summary = "record samples of counters, timers and probes",
	.cm_operands = "[-- COMMAND [ARGUMENT ...]]",
	.cm_options = options_of_record,
	.cm_size = sizeof(struct record_options),
	.cm_max = -1,
	.cm_stop_early = true,
	.cm_usage_status = EXIT_DTPROF,
	.cm_examples = examples,
	.cm_notes = "Choose a target: a COMMAND, -p, -t, --cgroup, --wait-for, "
	    "or -a for everything.",
	.cm_run = run_record,
};

static int
options_refuse(const char *cure, const char *why)
{
	return (msg_error("record", why, cure));
}

static int
check_push(const struct record_options *ro)
{
	if (ro->ro_push == NULL && (ro->ro_labels.os_n > 0 ||
	    ro->ro_secret_file != NULL))
		return (options_refuse("add --push URL", "--label and "
		    "--secret-file need --push"));
	if (ro->ro_push != NULL && !prof_store_is_url(ro->ro_push))
		return (options_refuse("use a URL such as "
		    "clickhouse+http://HOST:8123/DATABASE; to send to other "
		    "receivers use dtprof push after recording",
		    "--push: not the URL of a store"));
	return (0);
}

static int
check_target(const struct record_options *ro, bool command)
{
	const int named = ro->ro_all + (ro->ro_pids.oi_n > 0) +
	    (ro->ro_tids.oi_n > 0) + (ro->ro_cgroup != NULL) +
	    (ro->ro_wait_for != NULL);

	if (named > 1)
		return (options_refuse("use only one of these options",
		    "-a, -p, -t, --cgroup and --wait-for exclude each other"));
	if (ro->ro_wait_for != NULL && ro->ro_delay.on_set)
		return (options_refuse("leave out one of these options",
		    "--wait-for cannot be used with --delay"));
	if (named == 0 && !command)
		return (options_refuse("name a command (-- COMMAND), a process "
		    "(-p PID), a program to come (--wait-for NAME), or "
		    "everything (-a)", "nothing to record"));
	if (ro->ro_cpus.oi_n > 0 && !ro->ro_all)
		return (options_refuse("add -a, or leave -C out",
		    "-C requires -a, as processes move between CPUs"));
	if (ro->ro_no_inherit && (ro->ro_all || ro->ro_cgroup != NULL))
		return (options_refuse("leave out one of these options",
		    "--no-inherit cannot be used with -a or --cgroup"));
	return (0);
}

/* The words of --call-graph; a size may follow dwarf. */
static int
parse_callgraph(const char *text, struct prof_options *po)
{
	static const char *const words[] = { "none", "fp", "auto", "dwarf" };
	static const enum prof_callgraph callgraphs[] = {
		PROF_CALLGRAPH_NONE, PROF_CALLGRAPH_FP, PROF_CALLGRAPH_AUTO,
		PROF_CALLGRAPH_DWARF
	};
	const size_t nwords = sizeof(words) / sizeof(words[0]);
	size_t n, length = strcspn(text, ",");

	for (n = 0; n < nwords; n++)
		if (strlen(words[n]) == length &&
		    strncmp(words[n], text, length) == 0)
			break;
	if (n == nwords || (text[length] == ',' &&
	    callgraphs[n] != PROF_CALLGRAPH_DWARF))
		return (msg_fail("record", "use auto, fp, none, dwarf or "
		    "dwarf,SIZE", "--call-graph %s: unknown method", text));
	po->po_callgraph = callgraphs[n];
	if (text[length] == '\0')
		return (0);
	if (opt_size(text + length + 1, &po->po_stack_bytes) == -1 ||
	    po->po_stack_bytes < 1024 || po->po_stack_bytes > MAX_STACK)
		return (msg_fail("record", "use a size from 1K to 63K",
		    "--call-graph %s: invalid size of the stack copy", text));
	po->po_stack_bytes &= ~7ULL;
	return (0);
}

/* Samples wait for their spans to end: they cannot be dumped before. */
static int
check_keep_if(const struct record_options *ro)
{
	if (ro->ro_keep_if == NULL)
		return (0);
	if (ro->ro_spans.os_n == 0)
		return (options_refuse("add --span NAME=BEGIN,END",
		    "--keep-if requires --span"));
	if (ro->ro_with.os_n > 0)
		return (options_refuse("leave out --with, or filter when "
		    "reading, e.g. dtprof report --filter EXPR", "--keep-if "
		    "cannot be used with --with: the counts of discarded "
		    "samples would be missing"));
	if (ro->ro_ring.on_set || ro->ro_overwrite || ro->ro_keep_last.on_set ||
	    ro->ro_dump_on.os_n > 0)
		return (options_refuse("use --dump-on 'span NAME > TIME' to "
		    "dump after slow spans, or leave out --ring",
		    "--keep-if cannot be used with --ring, which keeps the "
		    "newest samples of all spans"));
	if (ro->ro_rotate != NULL || ro->ro_switch_output != NULL)
		return (options_refuse("use --max-size, or filter when "
		    "reading, e.g. dtprof report --filter EXPR", "--keep-if "
		    "cannot be used with --rotate: the samples of a span "
		    "could belong into a file that has ended"));
	if (ro->ro_push != NULL)
		return (options_refuse("run dtprof push URL FILE after "
		    "recording", "--keep-if cannot be used with --push, which "
		    "sends minutes before all of their samples may be "
		    "written"));
	return (0);
}

static int
check_rest(const struct record_options *ro)
{
	if (ro->ro_frequency.on_set && ro->ro_period.on_set)
		return (options_refuse("use only one of these options",
		    "-F and -c exclude each other"));
	if (ro->ro_overhead.on_set && (ro->ro_tids.oi_n > 0 ||
	    ro->ro_no_inherit))
		return (options_refuse("leave out one of these options",
		    "--max-overhead cannot be used with -t or --no-inherit"));
	if (ro->ro_attach == ATTACH_TASKS && (ro->ro_all ||
	    ro->ro_cgroup != NULL || ro->ro_wait_for != NULL ||
	    ro->ro_with.os_n > 0))
		return (options_refuse("leave out one of these options",
		    "--attach tasks cannot be used with -a, --cgroup, "
		    "--wait-for or --with"));
	if (ro->ro_stacks && strcmp(ro->ro_callgraph, "none") == 0)
		return (options_refuse("leave out one of these options",
		    "-g and --call-graph none exclude each other"));
	if (ro->ro_spans.os_n > 0 && (ro->ro_filter != NULL ||
	    ro->ro_comm != NULL))
		return (options_refuse("filter when reading, e.g. dtprof "
		    "report --filter EXPR", "--span cannot be used with "
		    "--filter or --comm, which could keep the begin of a span "
		    "and drop its end"));
	if (ro->ro_quiet && ro->ro_verbose)
		return (options_refuse("leave out one of these options",
		    "-q and -v exclude each other"));
	if (ro->ro_verify && strcmp(ro->ro_callgraph, "auto") != 0)
		return (options_refuse("leave out one of these options",
		    "--verify requires --call-graph auto"));
	if (ro->ro_verify && ro->ro_backend == RECORD_BACKEND_PERF)
		return (options_refuse("use --backend bpf",
		    "--verify requires BPF"));
	if (ro->ro_backend == RECORD_BACKEND_PERF && (ro->ro_cgroup != NULL ||
	    ro->ro_wait_for != NULL))
		return (options_refuse("use --backend bpf, or -p",
		    "--cgroup and --wait-for require BPF"));
	return (0);
}

static uint64_t
fastest_hz(void)
{
	unsigned long long hz = 0;
	FILE *file;

	file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	if (file == NULL || fscanf(file, "%llu", &hz) != 1 || hz == 0)
		hz = 100000;
	if (file != NULL)
		fclose(file);
	return (hz);
}

static void
options_fill(const struct record_options *ro, int n, char **operands,
    struct prof_options *po)
{
	static const enum prof_backend_choice backends[] = {
		PROF_BACKEND_AUTO, PROF_BACKEND_BPF, PROF_BACKEND_PERF
	};

	static const enum prof_attach places[] = {
		PROF_ATTACH_AUTO, PROF_ATTACH_TASKS, PROF_ATTACH_CPUS
	};

	po->po_size = sizeof(*po);
	po->po_output = ro->ro_output;
	po->po_target = ro->ro_all ? PROF_TARGET_ALL :
	    ro->ro_pids.oi_n > 0 ? PROF_TARGET_PIDS :
	    ro->ro_tids.oi_n > 0 ? PROF_TARGET_TIDS :
	    ro->ro_cgroup != NULL ? PROF_TARGET_CGROUP :
	    ro->ro_wait_for != NULL ? PROF_TARGET_NAME : PROF_TARGET_COMMAND;
	po->po_ids = ro->ro_pids.oi_n > 0 ? ro->ro_pids.oi_id :
	    ro->ro_tids.oi_id;
	po->po_nids = ro->ro_pids.oi_n + ro->ro_tids.oi_n;
	po->po_cgroup = ro->ro_cgroup;
	po->po_wait_for = ro->ro_wait_for;
	po->po_cpus = ro->ro_cpus.oi_id;
	po->po_ncpus = ro->ro_cpus.oi_n;
	po->po_argv = n > 0 ? operands : NULL;
	po->po_filter = ro->ro_filter;
	po->po_comm = ro->ro_comm;
	po->po_keep_if = ro->ro_keep_if;
	po->po_frequency_hz = ro->ro_frequency.on_value;
	if (ro->ro_frequency.on_value == UINT64_MAX)
		po->po_frequency_hz = fastest_hz();
	po->po_period = ro->ro_period.on_value;
	po->po_buffer_bytes = ro->ro_buffer.on_value;
	po->po_start_paused = ro->ro_delay.on_set;
	po->po_backend = backends[ro->ro_backend];
	po->po_attach = places[ro->ro_attach];
	po->po_no_inherit = ro->ro_no_inherit;
	po->po_include_self = ro->ro_include_self;
	po->po_no_kernel = ro->ro_user_only;
	po->po_unwind_bytes = ro->ro_unwind.on_value;
	po->po_max_overhead = ro->ro_overhead.on_value;
	po->po_max_stall_ns = ro->ro_max_stall.on_set ?
	    ro->ro_max_stall.on_value : MAX_STALL_NS;
	po->po_record_comm = ro->ro_record_comm;
	po->po_verify = ro->ro_verify;
	/* Walks cannot be compared where only one is made. */
	if (ro->ro_verify)
		po->po_backend = PROF_BACKEND_BPF;
}

static int
split_events(const struct opt_strings *from, struct opt_strings *events,
    const char *if_empty)
{
	for (size_t n = 0; n < from->os_n; n++) {
		if (opt_split_events(from->os_text[n], events) == -1)
			return (options_refuse("free memory", "out of memory"));
	}
	for (size_t n = 0; n < events->os_n; n++) {
		if (events->os_text[n][0] == '\0')
			return (options_refuse("see dtprof list", if_empty));
	}
	return (0);
}

static void
free_events(struct opt_strings *events)
{
	for (size_t i = 0; i < events->os_n; i++)
		free((char *)(uintptr_t)events->os_text[i]);
	free(events->os_text);
}

/* As of perf, the names of all files begin with a plain name. */
static char *
number_names(struct record_options *ro)
{
	char *pattern;

	if (ro->ro_switch_output == NULL || record_name_varies(ro->ro_output) ||
	    strcmp(ro->ro_output, DEFAULT_RECORDING) == 0 ||
	    asprintf(&pattern, "%s.%%n", ro->ro_output) == -1)
		return (NULL);
	ro->ro_output = pattern;
	return (pattern);
}

static int
run_record(void *options, int n, char **operands)
{
	struct record_options *ro = options;
	struct record_events events = { .re_spans = ro->ro_spans };
	struct record_dumping dumping = { 0 };
	struct record_rotating rotating = { 0 };
	struct prof_options po = { 0 };
	char *pattern = number_names(ro), off_cpu[64] = "off-cpu";
	int status = EXIT_DTPROF;

	if (check_push(ro) == 0 && check_target(ro, n > 0) == 0 &&
	    check_rest(ro) == 0 && check_keep_if(ro) == 0 &&
	    parse_callgraph(ro->ro_callgraph, &po) == 0 &&
	    split_events(&ro->ro_events, &events.re_events,
	    "-e: empty event name") == 0 &&
	    (!ro->ro_alloc || opt_split_events("alloc",
	    &events.re_events) == 0) &&
	    split_events(&ro->ro_with, &events.re_with,
	    "--with: empty counter name") == 0) {
		options_fill(ro, n, operands, &po);
		if (ro->ro_off_cpu_ms.on_set)
			snprintf(off_cpu, sizeof(off_cpu), "off-cpu/min=%llums"
			    "/", (unsigned long long)
			    ro->ro_off_cpu_ms.on_value);
		if (ro->ro_off_cpu || ro->ro_off_cpu_ms.on_set)
			events.re_off_cpu = off_cpu;
		else if (ro->ro_locks)
			events.re_off_cpu = "lock";
		if (ro->ro_wall)
			events.re_wall = "wall";
		if (record_dumping_set(&dumping, ro, &po) == 0 &&
		    record_rotating_set(&rotating, ro, &po) == 0) {
			events.re_triggers = dumping.rd_triggers;
			status = record_run(ro, &po, &events, &dumping,
			    &rotating);
		}
		record_dumping_free(&dumping);
	}
	record_rotating_free(&rotating);
	free_events(&events.re_events);
	free_events(&events.re_with);
	free(pattern);
	return (status);
}
