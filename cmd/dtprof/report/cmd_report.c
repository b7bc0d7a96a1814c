/* SPDX-License-Identifier: ISC */
/*
 * dtprof report: from a recording to a table: functions, or what else --by
 * names, with their weights in each event.  --stats is the other report: what
 * was fired, stored and lost.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ui/plot.h"
#include "../ui/terminal.h"
#include "report.h"

struct report_options {
	struct opt_strings rp_events;
	struct choose_time rp_time;
	struct opt_number rp_limit;
	const char	*rp_input;
	const char	*rp_filter;
	const char	*rp_callers;
	const char	*rp_callees;
	const char	*rp_output;
	const char	*rp_by;
	unsigned	 rp_plot;
	unsigned	 rp_frames;
	unsigned	 rp_state;
	int		 rp_color;
	int		 rp_sort;
	bool		 rp_children;
	bool		 rp_csv;
	bool		 rp_held;
	bool		 rp_idle;
	bool		 rp_inline;
	bool		 rp_json;
	bool		 rp_stats;
	bool		 rp_tree;
	bool		 rp_verbose;
	const char		*rp_secret_file;
};

#define PLOT_FILE	"plot.svg"

static int	 check_report(const void *options, int n,
		    char *const *operands);
static int	 begin_report(const struct prof_cmd *cmd, void *options, int n,
		    char *const *operands);
static int	 run_report(void *options, int n, char **operands);

static const struct opt_row options_of_report[] = {
	CHOOSE_BETWEEN(offsetof(struct report_options, rp_time)),
	{ 0, "by", "WHAT", OPT_WORDS, 0, 0, "function",
	    "print one row per function, module, line, pid, tid, comm, cpu, "
	    "event, probe, syscall, span, address of a function, or event "
	    "argument",
	    offsetof(struct report_options, rp_by), BY_WORDS },
	{ 0, "callees", "FUNCTION", OPT_STRING, 0, 0, NULL,
	    "show the callees and the self share of FUNCTION",
	    offsetof(struct report_options, rp_callees), NULL },
	{ 0, "callers", "FUNCTION", OPT_STRING, 0, 0, NULL,
	    "show the callers of FUNCTION",
	    offsetof(struct report_options, rp_callers), NULL },
	{ 0, "children", NULL, OPT_FLAG, 0, 0, NULL,
	    "same as --sort total",
	    offsetof(struct report_options, rp_children), NULL },
	TERMINAL_OPTION(offsetof(struct report_options, rp_color)),
	{ 0, "csv", NULL, OPT_FLAG, 0, 0, NULL, "print the table as CSV",
	    offsetof(struct report_options, rp_csv), NULL },
	CHOOSE_EVENT(offsetof(struct report_options, rp_events)),
	CHOOSE_FILTER(offsetof(struct report_options, rp_filter)),
	CHOOSE_FRAMES(offsetof(struct report_options, rp_frames)),
	CHOOSE_FROM(offsetof(struct report_options, rp_time)),
	CHOOSE_HELD(offsetof(struct report_options, rp_held)),
	CHOOSE_INPUT(offsetof(struct report_options, rp_input)),
	CHOOSE_IDLE(offsetof(struct report_options, rp_idle)),
	{ 0, "inline", NULL, OPT_FLAG, 0, 0, NULL,
	    "show inlined functions as rows of their own",
	    offsetof(struct report_options, rp_inline), NULL },
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL, "print one JSON object",
	    offsetof(struct report_options, rp_json), NULL },
	{ 0, "limit", "N", OPT_COUNT, 1, INT64_MAX, NULL,
	    "print at most N rows",
	    offsetof(struct report_options, rp_limit), NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, NULL,
	    "output file of --plot: .svg, .png or .tsv, or - for text (default "
	    PLOT_FILE ")",
	    offsetof(struct report_options, rp_output), NULL },
	{ 0, "plot", "WHAT", OPT_SET, 0, 0, NULL,
	    "plot with gnuplot: " PLOT_WORDS,
	    offsetof(struct report_options, rp_plot), PLOT_WORDS },
	CHOOSE_SECRET(offsetof(struct report_options, rp_secret_file)),
	{ 0, "sort", "HOW", OPT_CHOICE, 0, 0, "self",
	    "order rows by self or total (callees included)",
	    offsetof(struct report_options, rp_sort), "self,total" },
	CHOOSE_STATE(offsetof(struct report_options, rp_state)),
	{ 0, "stats", NULL, OPT_FLAG, 0, 0, NULL,
	    "show accounting of each event, losses by reason",
	    offsetof(struct report_options, rp_stats), NULL },
	CHOOSE_TO(offsetof(struct report_options, rp_time)),
	{ 0, "tree", NULL, OPT_FLAG, 0, 0, NULL,
	    "show the call tree, heaviest first",
	    offsetof(struct report_options, rp_tree), NULL },
	{ 'v', "verbose", NULL, OPT_FLAG, 0, 0, NULL,
	    "also show sample counts, long notes and intervals of totals; "
	    "with --stats, the accounting of each CPU",
	    offsetof(struct report_options, rp_verbose), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof report", "show functions in dtprof.dtp and their cost",
	"dtprof report --sort total x.dtp",
	"order functions by cost, callees included",
	"dtprof report --tree --limit 30",
	"show the 30 heaviest calls as a tree",
	"dtprof report --callers parse", "show the callers of function parse",
	"dtprof report --by state,tid",
	"show how long threads ran and waited",
	"dtprof report --plot latency -o -",
	"plot durations of calls and spans",
	"dtprof report --stats", "show what was lost, and why",
	NULL
};

const struct prof_cmd cmd_report = {
	.cm_name = "report",
	.cm_summary = "show functions and their cost, or lost samples",
	.cm_operands = "[FILE ...]",
	.cm_options = options_of_report,
	.cm_size = sizeof(struct report_options),
	.cm_max = -1,
	.cm_reads = true,
	.cm_output = PLOT_FILE,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_check = check_report,
	.cm_begin = begin_report,
	.cm_run = run_report,
};

/* ------------------------------------------------------------- --stats */

static int
run_stats(struct report *report, const struct report_options *rp)
{
	struct stats stats = { .st_reader = report->re_reader,
	    .st_path = report->re_path };
	struct stats_names names = { 0 };
	struct out out;
	int status = EXIT_FAILED;

	if (stats_collect(&stats) == 0 &&
	    stats_names_collect(&names, report->re_reader) == 0) {
		out_init(&out, STDOUT_FILENO);
		if (rp->rp_json)
			stats_json(&stats, &names, &out);
		else
			stats_text(&stats, &names, &out, rp->rp_verbose);
		status = out_end(&out, "report");
	}
	stats_names_free(&names);
	stats_free(&stats);
	return (status);
}

/* ------------------------------------------------------------ a store */

/* Its headline says how many threads there were. */
static int
begin_report(const struct prof_cmd *cmd, void *options, int n,
    char *const *operands)
{
	const struct report_options *rp = options;
	const bool has_cpu = rp->rp_by != NULL &&
	    strstr(rp->rp_by, "cpu") != NULL;

	return (input_store_begin(cmd, options, n, operands,
	    rp->rp_plot != 0 || rp->rp_stats ? PROF_STORE_ALL :
	    PROF_STORE_THREADS | (has_cpu ? PROF_STORE_CPUS : 0)));
}

/* ----------------------------------------------------------- the table */

static unsigned
roots_of(unsigned by, unsigned plot)
{
	/* A timeline has lanes of one kind. */
	if (plot == PLOT_TIMELINE)
		return (by & BY_CPU ? PROF_ROOT_CPU : by & BY_PID ?
		    PROF_ROOT_PID : by & BY_COMM ? PROF_ROOT_COMM :
		    PROF_ROOT_TID);
	if (plot != 0)
		return (0);
	return ((by & BY_COMM ? PROF_ROOT_COMM : 0) |
	    (by & BY_PID ? PROF_ROOT_PID : 0) |
	    (by & BY_TID ? PROF_ROOT_TID : 0) |
	    (by & BY_CPU ? PROF_ROOT_CPU : 0) |
	    (by & BY_SYSCALL ? PROF_ROOT_CALL : 0) |
	    (by & BY_ARGS ? PROF_ROOT_ARGS : 0));
}

/* Is it about the time of threads, on and off the CPU? */
static bool
is_elapsed(const struct report *report, const struct report_options *rp)
{
	const struct report_by *by = &report->re_by;
	bool has_waits = false;

	for (size_t n = 0; n < by->rb_nargs; n++)
		has_waits |= strcmp(by->rb_arg[n], "state") == 0 ||
		    strcmp(by->rb_arg[n], "reason") == 0;
	return (rp->rp_state != 0 || (has_waits && rp->rp_events.os_n == 0 &&
	    rp->rp_plot == 0 && !rp->rp_held &&
	    choose_has_waits(report->re_reader)));
}

/* The samples of waits alone if running time cannot be beside them. */
static bool *
choose_time(struct report *report, const struct report_options *rp,
    struct prof_profile_options *options)
{
	struct prof_reader *reader = report->re_reader;
	bool has_elapsed = is_elapsed(report, rp);

	if (has_elapsed && rp->rp_state == 0 &&
	    prof_reader_elapsed(reader) == -1) {
		msg_note("report", "running time is not in the table: %s",
		    prof_reader_error(reader)->pe_text);
		has_elapsed = false;
	}
	if (has_elapsed)
		choose_say_part("report", reader, "elapsed time includes");
	return (has_elapsed ? choose_elapsed("report", reader, rp->rp_state,
	    &options->pl_filter, &report->re_filter) :
	    choose_events("report", reader, &rp->rp_events));
}

static int
make_profile(struct report *report, const struct report_options *rp)
{
	const unsigned by = report->re_by.rb_set;
	struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_filter = rp->rp_filter,
		.pl_held = rp->rp_held,
		.pl_frames = rp->rp_frames,
		.pl_roots = roots_of(by, rp->rp_plot),
		.pl_inlines = rp->rp_inline,
		.pl_lines = (by & BY_LINE) != 0,
		.pl_addresses = (by & BY_ADDRESS) != 0,
		.pl_bucket_ns = rp->rp_plot != 0 ? PLOT_BUCKET_NS : 0,
		/* Rows that are no code, and plots, need no callers. */
		.pl_leaves = rp->rp_plot != 0 || (by & BY_CODE) == 0,
		.pl_args = (const char *const *)report->re_by.rb_arg,
		.pl_nargs = report->re_by.rb_nargs,
		.pl_fold_idle = rp->rp_plot == 0 && !rp->rp_idle,
	};

	report->re_wanted = choose_time(report, rp, &options);
	if (report->re_wanted == NULL || report_by_check(report) == -1 ||
	    choose_range("report", report->re_reader, &rp->rp_time,
	    &options) == -1)
		return (-1);
	report->re_profile = choose_profile("report", report->re_reader,
	    &options, &report->re_symbols);
	if (report->re_profile == NULL)
		return (-1);
	report->re_headline = (struct headline){
		.he_reader = report->re_reader,
		.he_profile = report->re_profile,
		.he_path = report->re_path,
		.he_filter = options.pl_filter,
		.he_is_held = rp->rp_held,
	};
	choose_span(report->re_reader, &rp->rp_time, &options,
	    &report->re_headline.he_span);
	headline_init(&report->re_headline);
	return (0);
}

static int
make_table(struct report *report, const struct report_options *rp)
{
	const uint64_t limit = rp->rp_limit.on_set ? rp->rp_limit.on_value :
	    UINT64_MAX;
	const char *path = prof_reader_info(report->re_reader, "path");
	int rv;

	report->re_table.ta_keys = &report->re_by;
	/* What these tools wrote may be of any language. */
	report->re_table.ta_has_kinds = path == NULL ||
	    (strcmp(path, "folded") != 0 && strcmp(path, "pprof") != 0);
	if (report_columns(report) == -1)
		return (-1);
	if (report->re_table.ta_ncolumns == 0) {
		report->re_table.ta_by = report->re_by.rb_set;
		return (0);
	}
	if (rp->rp_tree)
		return (report_tree(report, limit));
	if (rp->rp_callers != NULL || rp->rp_callees != NULL)
		rv = report_calls(report, rp->rp_callers != NULL ?
		    rp->rp_callers : rp->rp_callees, rp->rp_callees != NULL);
	else
		rv = report_table(report);
	if (rv == 0)
		report_sort(&report->re_table, rp->rp_children ? SORT_TOTAL :
		    (enum report_sort)rp->rp_sort, limit);
	if (rv == 0 && report->re_table.ta_nrows +
	    report->re_table.ta_hidden == 0)
		msg_note("report", "the function has no samples of the shown "
		    "events");
	return (rv);
}

static int
show_json(const struct report *report)
{
	struct stats stats = { .st_reader = report->re_reader,
	    .st_path = report->re_path };
	struct out out;
	int status = EXIT_FAILED;

	if (stats_collect(&stats) == 0) {
		out_init(&out, STDOUT_FILENO);
		report_json(report, &stats, &out);
		status = out_end(&out, "report");
	}
	stats_free(&stats);
	return (status);
}

static int
show_table(const struct report *report, const struct report_options *rp)
{
	struct terminal terminal = { .te_fd = STDOUT_FILENO };
	struct out out;

	if (!rp->rp_csv)
		terminal_begin(&terminal, rp->rp_color);
	out_init(&out, terminal.te_fd);
	if (rp->rp_csv)
		report_csv(report, &out);
	else
		report_text(report, &out, &terminal);
	return (terminal_end(&terminal, "report", out_end(&out, "report")));
}

static int
run_table(struct report *report, const struct report_options *rp)
{
	if (make_profile(report, rp) == -1 || make_table(report, rp) == -1)
		return (EXIT_FAILED);
	input_say_limits("report", report->re_symbols);
	return (rp->rp_json ? show_json(report) : show_table(report, rp));
}

static enum report_form
form_of(const struct report_options *rp)
{
	return (rp->rp_json ? REPORT_JSON : rp->rp_csv ? REPORT_CSV :
	    REPORT_TEXT);
}

static const char *
output_of(const struct report_options *rp)
{
	return (rp->rp_output != NULL ? rp->rp_output : PLOT_FILE);
}

static int
run_plot(struct report *report, const struct report_options *rp)
{
	if (make_profile(report, rp) == -1 || report_columns(report) == -1)
		return (EXIT_FAILED);
	return (report_plot(report, rp->rp_plot, output_of(rp)) == -1 ?
	    EXIT_FAILED : 0);
}

/* Durations are of calls and spans, whatever their functions. */
static int
run_latency(struct report *report, const struct report_options *rp)
{
	struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_filter = rp->rp_filter,
		.pl_held = rp->rp_held,
		.pl_bucket_ns = PLOT_LATENCY_NS,
		.pl_max_buckets = PLOT_LATENCY_CELLS,
	};
	const struct report_latency latency = {
		.rl_options = &options,
		.rl_names = &rp->rp_events,
		.rl_output = output_of(rp),
		.rl_color = rp->rp_color,
	};

	if (choose_range("report", report->re_reader, &rp->rp_time,
	    &options) == -1)
		return (EXIT_FAILED);
	return (report_latency(report, &latency) == -1 ? EXIT_FAILED : 0);
}

/*
 * Of --by lock,holder and --by waker-chain: waits of the whole recording, or
 * what is chosen.
 */
static bool
is_of_waits(const struct report *report, const struct report_options *rp)
{
	return ((report_is_blocked(&report->re_by) ||
	    report_is_chains(&report->re_by)) && rp->rp_events.os_n == 0 &&
	    !rp->rp_held && rp->rp_state == 0 && !rp->rp_tree &&
	    choose_has_waits(report->re_reader));
}

static int
run_waits(struct report *report, const struct report_options *rp)
{
	struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_filter = rp->rp_filter,
	};
	const struct report_waits waits = {
		.rw_options = &options,
		.rw_limit = rp->rp_limit.on_set ? rp->rp_limit.on_value :
		    SIZE_MAX,
		.rw_form = form_of(rp),
		.rw_color = rp->rp_color,
	};

	if (choose_range("report", report->re_reader, &rp->rp_time,
	    &options) == -1)
		return (EXIT_FAILED);
	return (report_is_chains(&report->re_by) ?
	    report_chains(report, &waits) : report_blocked(report, &waits));
}

/* Of --by span, which is about no samples. */
static bool
has_samples(const struct report_options *rp)
{
	return (rp->rp_callers != NULL || rp->rp_callees != NULL ||
	    rp->rp_events.os_n > 0 || rp->rp_filter != NULL || rp->rp_held ||
	    choose_has_time(&rp->rp_time) || rp->rp_limit.on_set ||
	    rp->rp_plot != 0 || rp->rp_state != 0 || rp->rp_stats ||
	    rp->rp_tree);
}

/* Rows of some kinds exclude each other. */
static int
check_by(const struct report_options *rp)
{
	struct report_by by = { 0 };
	int rv = report_by_parse(&by, rp->rp_by);

	if (rv == -1) {
		report_by_free(&by);
		return (-1);
	}
	rv = -1;
	if ((rp->rp_callers != NULL || rp->rp_callees != NULL) &&
	    by.rb_set != BY_FUNCTION)
		msg_error("report", "--callers and --callees require --by "
		    "function",
		    "leave out --by");
	else if (by.rb_set & BY_FUNCTION && by.rb_set & BY_LINE)
		msg_error("report", "--by function and --by line exclude each "
		    "other",
		    "use --by line, which also shows the function of each "
		    "line");
	else if (rp->rp_tree && by.rb_set & (BY_MODULE | BY_EVENT |
	    BY_PROBE))
		msg_error("report", "--tree cannot be used with --by module, "
		    "event or probe",
		    "leave module, event and probe out of --by");
	else if (rp->rp_tree && (rp->rp_callers != NULL ||
	    rp->rp_callees != NULL || rp->rp_stats))
		msg_error("report", "--tree excludes --callers, --callees and "
		    "--stats", "choose one");
	else if (by.rb_set & BY_SPAN && (by.rb_set != BY_SPAN ||
	    has_samples(rp)))
		msg_error("report", "--by span lists all spans, so it excludes "
		    "other keys and options that select samples",
		    "leave out the other keys of --by, and options such as "
		    "--filter, --tree and --limit");
	else if (rp->rp_plot != 0 && by.rb_set & BY_ARGS)
		msg_error("report", "--plot cannot use --by with an event "
		    "argument",
		    "select values of the argument with --filter");
	else
		rv = 0;
	report_by_free(&by);
	return (rv);
}

/* The accounting is of all that was recorded, a plot is of all functions. */
static int
check_choice(const struct report_options *rp)
{
	const bool is_part = rp->rp_callers != NULL ||
	    rp->rp_callees != NULL || rp->rp_limit.on_set;

	if (rp->rp_stats && (is_part || rp->rp_events.os_n > 0 ||
	    rp->rp_filter != NULL || rp->rp_held ||
	    choose_has_time(&rp->rp_time)))
		msg_error("report", "--stats cannot be limited to some samples",
		    "--stats covers the whole recording: leave out the other "
		    "options");
	else if (rp->rp_plot != 0 && is_part)
		msg_error("report",
		    "--plot excludes --callers, --callees and --limit",
		    "choose samples with --filter and --event");
	else if (rp->rp_plot == 0 && rp->rp_output != NULL)
		msg_error("report", "-o requires --plot",
		    "redirect standard output instead: > FILE");
	else
		return (0);
	return (-1);
}

static int
check_output(const struct report_options *rp)
{
	if (strcmp(output_of(rp), "-") != 0)
		return (plot_check("report", output_of(rp), true));
	return (rp->rp_plot == PLOT_LATENCY ? 0 : msg_error("report",
	    "only --plot latency can be drawn as text",
	    "use -o with a name ending in .svg, .png or .tsv"));
}

static int
check_report(const void *options, int n, char *const *operands)
{
	const struct report_options *rp = options;

	(void)operands;
	if (rp->rp_json && rp->rp_csv)
		msg_error("report", "--json and --csv exclude each other",
		    "choose one");
	else if (rp->rp_callers != NULL && rp->rp_callees != NULL)
		msg_error("report", "--callers and --callees exclude each "
		    "other",
		    "choose one");
	else if (rp->rp_state != 0 && (rp->rp_events.os_n > 0 ||
	    rp->rp_held || rp->rp_plot != 0 || rp->rp_stats))
		msg_error("report", "--state excludes --event, --held, --plot "
		    "and --stats",
		    "choose one");
	else if (rp->rp_csv && rp->rp_stats)
		msg_error("report", "--stats cannot be printed as CSV",
		    "use --json");
	else if (rp->rp_plot != 0 && (rp->rp_json || rp->rp_csv ||
	    rp->rp_stats || rp->rp_tree))
		msg_error("report", "--plot excludes --json, --csv, --stats "
		    "and --tree",
		    "for the numbers of the plot use -o FILE.tsv");
	else if ((rp->rp_plot & (rp->rp_plot - 1)) != 0)
		msg_error("report", "--plot takes one argument",
		    "choose one of " PLOT_WORDS);
	else
		return (check_choice(rp) == -1 || check_by(rp) == -1 ||
		    (rp->rp_plot != 0 && check_output(rp) == -1) ||
		    choose_check("report", &rp->rp_time) == -1 ? -1 :
		    input_check("report", rp->rp_input, n));
	return (-1);
}

static int
run_report(void *options, int n, char **operands)
{
	struct report_options *rp = options;
	struct report report = { .re_is_verbose = rp->rp_verbose };
	int status;

	if (report_by_parse(&report.re_by, rp->rp_by) == -1) {
		report_by_free(&report.re_by);
		return (EXIT_USAGE);
	}
	report_by_complete(&report.re_by, rp->rp_tree);
	if (!rp->rp_verbose)
		msg_shorten_notes();
	report.re_reader = input_open("report", rp->rp_input, n, operands,
	    &report.re_path);
	if (report.re_reader == NULL) {
		report_by_free(&report.re_by);
		return (EXIT_FAILED);
	}
	status = rp->rp_stats ? run_stats(&report, rp) :
	    rp->rp_plot == PLOT_LATENCY ? run_latency(&report, rp) :
	    rp->rp_plot != 0 ? run_plot(&report, rp) :
	    report.re_by.rb_set == BY_SPAN ? report_spans(&report,
	    form_of(rp), rp->rp_color) :
	    is_of_waits(&report, rp) ? run_waits(&report, rp) :
	    run_table(&report, rp);
	report_table_free(&report.re_table);
	prof_profile_free(report.re_profile);
	if (report.re_symbols != NULL)
		prof_symbols_close(report.re_symbols);
	free(report.re_wanted);
	free(report.re_filter);
	prof_reader_close(report.re_reader);
	report_by_free(&report.re_by);
	return (status);
}
