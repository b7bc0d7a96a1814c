/* SPDX-License-Identifier: ISC */
/*
 * What users of perf and others type out of habit: options and commands that
 * mean something here under another name, that are the default here, or that
 * have no counterpart, in which case the table names the nearest line that
 * works.
 * opt.c asks for options, cmd_help.c for commands.  Names in one row are
 * separated by spaces.
 */
#include <stdbool.h>
#include <string.h>

#include "../cmd.h"

#define BY	"use --by KEYS (comm, module, function, ...) and --sort " \
		"self or --sort total"
#define CALLS	"use --callers or --callees FUNCTION, or dtprof flamegraph"
#define SYMBOLS	"not needed: a recording contains its symbols"
#define HEAD	"use dtprof report --stats"
#define BRANCH	"dtprof does not record branches; -g records stacks"
#define ADDRESS	"dtprof does not record data addresses"
#define EACH	"run once with -C CPU for each CPU"
#define READ	"report script annotate"

static const struct opt_habit habits[] = {
	/* Means the same, or is done anyway. */
	{ "record", "B N P R T aio buildid-all buildid-mmap exclude-perf "
	    "kcore namespaces no-bpf-event no-buffering no-buildid "
	    "no-buildid-cache period raw-samples running-time s sample-cpu "
	    "sample-identifier strict-freq tail-synthesize threads timestamp "
	    "timestamp-boundary z", NULL, NULL, NULL, NULL },
	{ "record", "affinity mmap-flush num-thread-synthesize "
	    "proc-map-timeout synth vmlinux", "VALUE", NULL, NULL, NULL },
	{ "record", "k clockid", "CLOCK", "mono", NULL,
	    "leave out this option: dtprof always uses CLOCK_MONOTONIC" },
	{ "record", "all-user", NULL, NULL, "user-only", NULL },
	{ "record", "i", NULL, NULL, "no-inherit", NULL },
	{ "record", "G", "CGROUP", NULL, "cgroup", NULL },
	{ READ, "demangle f force group n ns show-nr-samples "
	    "show-total-period stdio stdio2", NULL, NULL, NULL, NULL },
	{ "report", "no-children no-inline no-source skip-empty",
	    NULL, NULL, NULL, NULL },
	{ "list", "desc details long-desc", NULL, NULL, "verbose", NULL },
	{ "annotate", "P full-paths l print-line", NULL, NULL, NULL, NULL },
	{ "stat", "no-big-num scale summary",
	    NULL, NULL, NULL, NULL },
	{ "stat", "G", "CGROUP", NULL, "cgroup", NULL },
	{ "stat", "all-user", NULL, NULL, "user-only", NULL },
	{ "stat", "i", NULL, NULL, "no-inherit", NULL },
	{ "stat", "j json-output", NULL, NULL, "json", NULL },
	{ "stat", "x field-separator", "SEPARATOR", ",", "csv",
	    "use --csv: the separator is a comma" },

	{ "record", "I intr-regs user-regs", NULL, NULL, NULL,
	    "dtprof does not record registers" },
	{ "record", "S aux-sample snapshot", NULL, NULL, NULL,
	    "dtprof does not record instruction traces" },
	{ "record", "W weight transaction", NULL, NULL, NULL,
	    "dtprof does not record memory access weights" },
	{ "record stat", "all-kernel", NULL, NULL, NULL,
	    "use modifier k: -e cpu-clock:k" },
	{ "record stat", "pid", NULL, NULL, NULL,
	    "use a list such as 1,2,5-7, each from 1 to 4194304, or "
	    "-p $(pgrep -d, NAME)" },
	{ "record", "b branch-any branch-filter j", NULL, NULL, NULL, BRANCH },
	{ "record", "control", NULL, NULL, NULL,
	    "use dtprof ctl pause and dtprof ctl resume" },
	{ "record", "d data data-page-size phys-data", NULL, NULL, NULL,
	    ADDRESS },
	{ "record", "dry-run", NULL, NULL, NULL,
	    "run dtprof doctor to see what works here" },
	{ "record", "kernel-callchains user-callchains", NULL, NULL, NULL,
	    "leave out this option: dtprof records user and kernel stacks; "
	    "--user-only records only user space" },
	{ "record", "m mmap-pages", "PAGES", NULL, NULL,
	    "use --buffer SIZE, in bytes per CPU" },
	{ "record", "n no-samples", NULL, NULL, NULL,
	    "count without samples: use dtprof stat" },
	{ "record", "per-thread", NULL, NULL, NULL, "use --attach tasks" },
	{ "record", "r realtime", "PRIORITY", NULL, NULL,
	    "use chrt PRIORITY dtprof record" },
	{ "record", "switch-events", NULL, NULL, NULL,
	    "use -e sched:sched_switch" },
	{ "record", "switch-max-files", "N", NULL, NULL,
	    "use --rotate-keep N" },
	{ "record", "switch-output-event", "EVENT", NULL, NULL,
	    "use --ring SIZE --dump-on 'EVENT{EXPR}'" },
	{ "record", "timestamp-filename", NULL, NULL, NULL,
	    "put %t (time) into the name of -o" },
	{ "record", "u uid", "USER", NULL, NULL,
	    "use -p $(pgrep -d, -u USER)" },

	{ READ, "C cpu", "CPUS", NULL, NULL, "use --filter cpu==N" },
	{ READ, "c comm comms", "NAMES", NULL, NULL,
	    "use --filter 'comm==\"NAME\"'" },
	{ READ, "pid", "PID", NULL, NULL, "use --filter pid==N" },
	{ READ, "tid", "TID", NULL, NULL, "use --filter tid==N" },
	{ READ, "k kallsyms ignore-vmlinux m modules symfs vmlinux",
	    NULL, NULL, NULL, SYMBOLS },
	{ READ, "D dump-raw-trace raw-trace", NULL, NULL, NULL,
	    "use dtprof script --show all" },
	{ READ, "b branch-history branch-stack itrace total-cycles",
	    NULL, NULL, NULL, BRANCH },
	{ READ, "I header header-only mmaps show-info show-lost-events tasks",
	    NULL, NULL, NULL, HEAD },
	{ READ, "q quiet", NULL, NULL, NULL,
	    "use --json: it prints no headings and no warnings" },
	{ READ, "time", "START,STOP", NULL, NULL,
	    "use --from TIME and --to TIME" },
	{ "report annotate", "percent-limit", "PERCENT", NULL, NULL,
	    "use dtprof report --limit N" },

	{ "report", "F fields s sort", "KEYS", NULL, NULL, BY },
	{ "report", "call-graph g", "HOW", "none", NULL, CALLS },
	{ "report", "S ignore-callees p parent symbol-filter symbols x",
	    "NAMES", NULL, NULL, "use --callers or --callees FUNCTION" },
	{ "report", "G hierarchy inverted", NULL, NULL, NULL, "use --tree" },
	{ "report", "M asm-raw objdump source", NULL, NULL, NULL,
	    "use dtprof annotate FUNCTION" },
	{ "report", "T threads", NULL, NULL, NULL, "use --by tid" },
	{ "report", "U hide-unresolved percentage", NULL, NULL, NULL,
	    "leave out this option: a share is always relative to all samples "
	    "of the event" },
	{ "report", "d dsos", "FILES", NULL, NULL, "use --by module" },
	{ "report", "max-stack", "DEPTH", NULL, NULL,
	    "use --tree and --limit N" },
	{ "report", "mem-mode", NULL, NULL, NULL, ADDRESS },
	{ "report", "show-cpu-utilization", NULL, NULL, NULL, "use --by cpu" },
	{ "report", "switch-off switch-on", "EVENT", NULL, NULL,
	    "use dtprof mark, and --between MARKER,MARKER" },
	{ "report", "t field-separator column-widths w", "TEXT", NULL, NULL,
	    "use --csv" },
	{ "script", "v verbose", NULL, NULL, NULL, HEAD },
	{ "report", "tui", NULL, NULL, NULL,
	    "leave out this option: the output is text, shown in a pager on a "
	    "terminal" },

	{ "export", "format", NULL, NULL, NULL,
	    "use folded, pprof, speedscope or firefox; for a picture use "
	    "dtprof flamegraph -o x.svg" },
	{ "annotate", "s symbol", "NAME", NULL, NULL,
	    "give the function as an operand: dtprof annotate NAME" },
	{ "annotate", "M disassembler-style objdump", NULL, NULL, NULL,
	    "leave out this option: instructions are printed as objdump(1) "
	    "prints them" },
	{ "annotate", "d dsos", "FILES", NULL, NULL,
	    "use dtprof annotate MODULE:FUNCTION" },

	{ "script", "F deltatime fields reltime", NULL, NULL, NULL,
	    "use --json: each line has all fields" },
	{ "script", "G hide-call-graph max-stack", NULL, NULL, NULL,
	    "use --no-symbols: one line per record" },
	{ "script", "S dsos graph-function stop-bt symbols", NULL, NULL, NULL,
	    "use dtprof report --callers FUNCTION" },
	{ "script", "dlfilter g gen-script l list s script",
	    NULL, NULL, NULL, "use --json, and a program that reads one "
	    "object per line" },
	{ "script", "inline", NULL, NULL, NULL, "use --lines" },
	{ "script", "per-event-dump", NULL, NULL, NULL,
	    "use -e EVENT, once for each event" },
	{ "script", "show-mmap-events", NULL, NULL, NULL,
	    "use --show samples,mapping-events" },
	{ "script", "show-task-events", NULL, NULL, NULL,
	    "use --show samples,process-events" },

	{ "stat", "A no-aggr per-core per-die per-node per-socket",
	    NULL, NULL, NULL, EACH },
	{ "stat", "B big-num", NULL, NULL, NULL,
	    "leave out this option: numbers have no separators" },
	{ "stat", "D delay", "MS", NULL, NULL,
	    "start the command, then use dtprof stat -p PID" },
	{ "stat", "M metric-only metrics td-level topdown T transaction",
	    NULL, NULL, NULL, "use -e cycles,instructions for their ratio" },
	{ "stat", "S sync", NULL, NULL, NULL, "run sync before dtprof stat" },
	{ "stat", "append log-fd", NULL, NULL, NULL, "use -o FILE" },
	{ "stat", "d detailed", NULL, NULL, NULL,
	    "find events with dtprof list --counters 'cache miss'" },
	{ "stat", "for-each-cgroup", "CGROUPS", NULL, NULL,
	    "run dtprof stat with --cgroup PATH, once for each cgroup" },
	{ "stat", "g group", NULL, NULL, NULL, "use braces: -e '{A,B}'" },
	{ "stat", "interval-count timeout", "N", NULL, NULL,
	    "use --duration TIME" },
	{ "stat", "n null", NULL, NULL, NULL, "use -e task-clock" },
	{ "stat", "post pre", "COMMAND", NULL, NULL,
	    "use dtprof bench --prepare CMD" },
	{ "stat", "table", NULL, NULL, NULL, "use --csv or --json" },
	{ "stat", "v verbose", NULL, NULL, NULL,
	    "leave out this option: dtprof stat always names events that it "
	    "cannot count" },
};
#define NHABITS	(sizeof(habits) / sizeof(habits[0]))

/*
 * Commands of perf, the words that may follow them where dtprof has a command
 * of that name, and the line of dtprof that comes nearest.
 */
static const struct {
	const char	*name;
	const char	*second;	/* NULL: whatever follows */
	const char	*use;
} commands[] = {
	{ "bench", "all breakpoint epoll futex internals mem numa sched "
	    "syscall", "dtprof bench runs your own commands: dtprof bench "
	    "'OLD' 'NEW'" },
	{ "list", "hw pmu sw", "use dtprof list 'pmc:::*'" },
	{ "list", "metric metricgroup", "find counters with dtprof list "
	    "--counters 'cache miss'" },
	{ "list", "sdt tracepoint", "use dtprof list 'static:*'" },
	{ "script", "flamegraph", "use dtprof flamegraph" },
	{ "script", "record report", "dtprof has no scripts: use dtprof "
	    "record, then dtprof report or dtprof script --json" },
	{ "stat", "record report", "use dtprof stat --json -o FILE, and dtprof "
	    "compare to compare two such files" },
	{ "archive buildid-cache inject", NULL, "not needed: a recording "
	    "contains its symbols, so copy the file" },
	{ "buildid-list evlist", NULL, HEAD },
	{ "c2c", NULL, "dtprof does not record memory addresses; use dtprof "
	    "report for functions" },
	{ "config", NULL, "dtprof has no configuration; for options see "
	    "dtprof help COMMAND" },
	{ "daemon", NULL, "use dtprof record -a --duration TIME in a loop" },
	{ "data", NULL, "use dtprof import or dtprof export" },
	{ "diff", NULL, "use dtprof compare OLD.dtp -- NEW.dtp, or dtprof "
	    "flamegraph --base OLD.dtp NEW.dtp" },
	{ "ftrace", NULL, "use dtprof record -e TRACEPOINT, then dtprof "
	    "script" },
	{ "iostat", NULL, "use dtprof record -e 'block:*', then dtprof "
	    "script" },
	{ "kallsyms", NULL, "use grep NAME /proc/kallsyms" },
	{ "kmem", NULL, "use dtprof record -e 'kmem:*', then dtprof report" },
	{ "kvm", NULL, "use dtprof record -e 'kvm:*', then dtprof report" },
	{ "kwork", NULL, "use dtprof record -e 'workqueue:*', then dtprof "
	    "script" },
	{ "lock", NULL, "use dtprof record -e 'lock:contention_begin', then "
	    "dtprof report" },
	{ "mem", NULL, "dtprof does not record memory addresses; find "
	    "counters with dtprof list --counters 'cache miss'" },
	{ "probe", NULL, "use dtprof record -e EVENT with an event from "
	    "dtprof list" },
	{ "sched", NULL, "use dtprof record -e sched:sched_switch, then "
	    "dtprof script" },
	{ "test", NULL, "use dtprof doctor" },
	{ "timechart", NULL, "use dtprof report --plot timeline" },
	{ "top", NULL, "use dtprof record -a --duration 10s, then dtprof "
	    "report" },
};
#define NCOMMANDS	(sizeof(commands) / sizeof(commands[0]))

/* Is the word one of those in names? */
static bool
names_have(const char *names, const char *word, size_t length)
{
	for (size_t n; *names != '\0'; names += n + (names[n] == ' ')) {
		n = strcspn(names, " ");
		if (n == length && strncmp(names, word, length) == 0)
			return (true);
	}
	return (false);
}

const struct opt_habit *
habit_of_option(const char *command, const char *option, size_t length)
{
	size_t i;

	for (i = 0; i < NHABITS; i++)
		if (names_have(habits[i].oh_commands, command,
		    strlen(command)) &&
		    names_have(habits[i].oh_options, option, length))
			return (&habits[i]);
	return (NULL);
}

const char *
habit_of_command(const char *name, const char *second)
{
	size_t i;

	for (i = 0; i < NCOMMANDS; i++)
		if (names_have(commands[i].name, name, strlen(name)) &&
		    (commands[i].second == NULL || (second != NULL &&
		    names_have(commands[i].second, second, strlen(second)))))
			return (commands[i].use);
	return (NULL);
}
