/* SPDX-License-Identifier: ISC */
/*
 * dtprof compare: which runs are to be compared with which, whether they may
 * be, and the exit status that the verdicts amount to.
 *
 *	DIR			the first command of a bench with the others
 *	BASE .. -- NEW ..	series of the same name; or the only ones
 *	--filter EXPR FILE	spans of one recording: compare_spans.c
 *
 * The statistics are libprof's; files are read by compare_input.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench/bench.h"
#include "../opt/choose.h"
#include "../ui/plot.h"
#include "../ui/terminal.h"
#include "compare.h"

#define DEFAULT_LIMIT		10
#define DEFAULT_NEW		"dtprof.bench"	/* beside --against */
#define NS_PER_S		1000000000ULL
#define DEFAULT_WINDOW_NS	(600 * NS_PER_S)
#define DAY_LENGTH		10		/* 2026-11-25 */

static int	 check_compare(const void *options, int n,
		    char *const *operands);
static int	 begin_compare(const struct prof_cmd *cmd, void *options,
		    int n, char *const *operands);
static int	 run_compare(void *options, int n, char **operands);
static const char *github_summary(const void *options);

#define CO(member)	offsetof(struct compare_options, member)

/* By letter or name, as the manual has them. */
static const struct opt_row options_of_compare[] = {
	{ 0, "against", "NAME", OPT_STRING, 0, 0, NULL,
	    "compare with baseline NAME of dtprof bench --save",
	    CO(co_against), NULL },
	{ 0, "anyway", NULL, OPT_FLAG, 0, 0, NULL,
	    "compare even if results are from different machines",
	    CO(co_anyway), NULL },
	{ 0, "base-filter", "EXPR", OPT_STRING, 0, 0, NULL,
	    "base: fast spans, or samples in a store, by EXPR",
	    CO(co_base_filter), NULL },
	{ 0, "by", "WHAT", OPT_CHOICE, 0, 0, "function",
	    "costs by function, module or line",
	    CO(co_by), COMPARE_BY },
	TERMINAL_OPTION(CO(co_color)),
	{ 'e', "event", "EVENT", OPT_STRINGS, 0, 0, NULL,
	    "event to compare, if recordings have several events",
	    CO(co_events), NULL },
	{ 0, "fail-on", "slower[:PCT]", OPT_STRING, 0, 0, NULL,
	    "exit with status 3 if new is slower by significantly more than "
	    "PCT%", CO(co_fail_on), NULL },
	{ 0, "filter", "EXPR", OPT_STRING, 0, 0, NULL,
	    "new: slow spans, or samples in a store, by EXPR",
	    CO(co_filter), NULL },
	CHOOSE_FRAMES(CO(co_frames)),
	{ 0, "from", "TIME", OPT_TIME, 0, INT64_MAX, NULL,
	    "with a store: use only samples since TIME, e.g. -2h",
	    CO(co_time.ct_from), "-" },
	{ 0, "github", NULL, OPT_FLAG, 0, 0, NULL,
	    "print annotations and a summary for GitHub Actions",
	    CO(co_github), NULL },
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL,
	    "print one JSON object", CO(co_json), NULL },
	{ 0, "junit", "FILE", OPT_STRING, 0, 0, NULL,
	    "also write the verdicts as JUnit XML", CO(co_junit), NULL },
	{ 0, "limit", "N", OPT_COUNT, 0, UINT32_MAX, "10",
	    "show N functions, and all that changed",
	    CO(co_limit), NULL },
	{ 0, "markdown", NULL, OPT_FLAG, 0, 0, NULL,
	    "print Markdown tables", CO(co_markdown), NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, NULL,
	    "also write an HTML page with tables and plots",
	    CO(co_output), NULL },
	{ 0, "per", "EVENT", OPT_STRING, 0, 0, NULL,
	    "divide costs by the count of EVENT or of span:NAME",
	    CO(co_per), NULL },
	{ 0, "plot", "FILE", OPT_STRING, 0, 0, NULL,
	    "also plot to FILE with gnuplot (.svg or .png)",
	    CO(co_plot), NULL },
	{ 0, "rename", "OLD=NEW", OPT_STRINGS, 0, 0, NULL,
	    "match function OLD of base with function NEW of new",
	    CO(co_renames), NULL },
	{ 0, "secret-file", "FILE", OPT_STRING, 0, 0, NULL,
	    "file with the password of a store's user",
	    CO(co_secret_file), NULL },
	{ 0, "seed", "N", OPT_COUNT, 0, UINT64_MAX, "1",
	    "seed of the random number generator", CO(co_seed), NULL },
	{ 0, "strict", NULL, OPT_FLAG, 0, 0, NULL,
	    "exit with status 4 if a verdict is inconclusive",
	    CO(co_strict), NULL },
	{ 0, "threshold", "PCT", OPT_PERCENT, 1, 100000, "1",
	    "report no change if the interval is within PCT% of 0",
	    CO(co_threshold), NULL },
	{ 0, "to", "TIME", OPT_TIME, 0, INT64_MAX, NULL,
	    "with a store: use only samples before TIME",
	    CO(co_time.ct_to), "-" },
	{ 'v', "verbose", NULL, OPT_FLAG, 0, 0, NULL,
	    "also show full build-ids, long notes and the number of runs that "
	    "a verdict needs", CO(co_verbose), NULL },
	{ 0, "window", "TIME", OPT_TIME, 1000, INT64_MAX, NULL,
	    "length of time windows (default 10m; for spans, 1/20 of the "
	    "time from first to last span)", CO(co_window), NULL },
	{ .op_type = OPT_END }
};

/* What --against reads, whose value is no path. */
static const char *const inputs[] = {
	BENCH_BASELINES, DEFAULT_NEW, NULL
};

static const char *const examples[] = {
	"dtprof compare dtprof.bench",
	"compare the first command of a bench with the others",
	"dtprof compare --against main --fail-on slower:2 --junit x.xml",
	"for CI: compare with a baseline; exit status 3 if over 2% slower",
	"dtprof compare old*.dtp -- new*.dtp",
	"find functions that cost more; each recording is one run",
	"dtprof compare URL --base-filter 'version==\"1\"' "
	    "--filter 'version==\"2\"'",
	"compare two versions of a service over all hosts in a store",
	NULL
};

const struct prof_cmd cmd_compare = {
	.cm_name = "compare",
	.cm_summary = "compare runs and test the differences for significance",
	.cm_operands = "[BASE ...] [-- NEW ...]",
	.cm_options = options_of_compare,
	.cm_size = sizeof(struct compare_options),
	.cm_max = -1,
	.cm_sides = true,
	.cm_reads = true,
	.cm_writes = github_summary,
	.cm_usage_status = EXIT_USAGE,
	.cm_inputs = inputs,
	.cm_examples = examples,
	.cm_notes = "Input files are bench directories, recordings, folded "
	    "stacks, pprof profiles, perf.data, and the JSON of dtprof stat "
	    "and hyperfine.  If there is only one file, its first command is "
	    "the base.",
	.cm_check = check_compare,
	.cm_begin = begin_compare,
	.cm_run = run_compare,
};

const struct prof_change *
compare_headline(const struct pair *pair)
{
	const struct prof_change *cg =
	    prof_comparison_metric(pair->pr_comparison, 0);

	return (cg != NULL ? cg : prof_comparison_total(pair->pr_comparison));
}

const char *const compare_by_words[] = { "function", "module", "line" };

static int
options_refuse(const char *cure, const char *why)
{
	return (msg_error("compare", why, cure));
}

/* ------------------------------------------------------------ which ones */

static int
add_pair(struct compare *cm, const struct series *base,
    const struct series *new)
{
	struct pair *pair = prof_append(&cm->cm_pair, &cm->cm_npairs,
	    sizeof(*pair));

	if (pair == NULL)
		return (options_refuse("free memory", "out of memory"));
	*pair = (struct pair){ .pr_series = { base, new } };
	return (0);
}

/*
 * Benches of another time or place: what verdicts rest on then, beside what
 * prof_comparison_note says of the order of runs.
 */
static int
note_origin(struct pair *pair)
{
	const struct series *const *se = pair->pr_series;
	const bool is_host = se[0]->se_host[0] != '\0' &&
	    se[1]->se_host[0] != '\0' &&
	    strcmp(se[0]->se_host, se[1]->se_host) != 0;
	const bool is_day = se[0]->se_time[0] != '\0' &&
	    se[1]->se_time[0] != '\0' &&
	    strncmp(se[0]->se_time, se[1]->se_time, DAY_LENGTH) != 0;
	char host[176] = "", day[80] = "";

	if (!is_host && !is_day)
		return (0);
	if (is_host)
		snprintf(host, sizeof(host), " on different hosts (base %s, "
		    "new %s)", se[0]->se_host, se[1]->se_host);
	if (is_day)
		snprintf(day, sizeof(day), " on different days (base %.*s, new "
		    "%.*s)", DAY_LENGTH, se[0]->se_time, DAY_LENGTH,
		    se[1]->se_time);
	return (asprintf(&pair->pr_note, "base and new ran%s%s%s: a difference "
	    "may come from the machine, not from the commands",
	    host, is_host && is_day ? " and" : "", day) == -1 ? -1 : 0);
}

/* Within one file: the first against each of the others. */
static int
pair_within(struct compare *cm)
{
	const struct side *side = &cm->cm_side[0];
	const struct series *only = side->sd_n == 1 ? side->sd_series : NULL;

	/* A folded file with two counts a line is base and new. */
	if (only != NULL && only->se_nruns == 1 &&
	    choose_has_columns(only->se_run[0].sr_profile))
		return (add_pair(cm, only, only));
	if (side->sd_n < 2)
		return (options_refuse(
		    "separate base and new with --: dtprof compare BASE -- NEW",
		    "nothing to compare with: only a base is given"));
	for (size_t i = 1; i < side->sd_n; i++)
		if (add_pair(cm, &side->sd_series[0], &side->sd_series[i]) ==
		    -1)
			return (-1);
	return (0);
}

/* The series of a name; NULL: a note says that it is left out. */
static const struct series *
find_series(const struct side *side, const char *name, const char *other)
{
	for (size_t i = 0; i < side->sd_n; i++)
		if (strcmp(name, side->sd_series[i].se_name) == 0)
			return (&side->sd_series[i]);
	msg_note("compare", "%s: only in %s, so it is not compared", name,
	    other);
	return (NULL);
}

/* By name; what stands alone on each side is meant for the other. */
static int
pair_sides(struct compare *cm)
{
	const struct side *base = &cm->cm_side[0], *new = &cm->cm_side[1];

	if (base->sd_n == 1 && new->sd_n == 1)
		return (add_pair(cm, &base->sd_series[0],
		    &new->sd_series[0]));
	for (size_t i = 0; i < base->sd_n; i++) {
		const struct series *found = find_series(new,
		    base->sd_series[i].se_name, "the base");

		if (found != NULL && add_pair(cm, &base->sd_series[i],
		    found) == -1)
			return (-1);
	}
	for (size_t j = 0; j < new->sd_n; j++)
		(void)find_series(base, new->sd_series[j].se_name, "new");
	return (cm->cm_npairs > 0 ? 0 :
	    options_refuse("use the same command names in base and new (bench "
	    "-n)", "base and new have no command in common"));
}

/* A warning, or a refusal: -1. */
static int
say_unlike(const struct compare *cm, const char *what)
{
	if (cm->cm_options->co_anyway) {
		msg_warning("compare", "the machines differ: a change may come "
		    "from the machine, not from the code");
		return (0);
	}
	return (msg_fail("compare", "measure base and new on one machine, or "
	    "add --anyway", "the machines differ: %s", what));
}

/*
 * The runs of either side, then one side and the other.  Of hyperfine's
 * results nobody knows the machine.
 */
static int
check_machines(const struct compare *cm)
{
	for (size_t i = 0; i < cm->cm_npairs; i++) {
		const struct series *const *se = cm->cm_pair[i].pr_series;
		const char *within = se[0]->se_unlike != NULL ?
		    se[0]->se_unlike : se[1]->se_unlike;
		char *between = NULL;
		int rv = 0;

		if (compare_are_hosts(se))
			continue;
		if (within == NULL && compare_unlike(se[0]->se_machine,
		    se[1]->se_machine, "", &between) == -1)
			return (options_refuse("free memory", "out of memory"));
		if (within != NULL || between != NULL)
			rv = say_unlike(cm, within != NULL ? within : between);
		free(between);
		if (rv == -1)
			return (-1);
	}
	return (0);
}

/* ------------------------------------------------------------- comparing */

/* One recording of each of two machines is compared only if asked for. */
static bool
are_hosts(const struct costs *costs, const struct pair *pair)
{
	return (compare_are_hosts(pair->pr_series) && !(costs->ct_anyway &&
	    pair->pr_series[0]->se_nruns == 1 &&
	    pair->pr_series[1]->se_nruns == 1));
}

static int
compare_pair(const struct compare *cm, struct pair *pair,
    bool is_interleaved)
{
	const struct prof_comparison_options options = {
		.cp_size = sizeof(options),
		.cp_threshold = cm->cm_threshold,
		.cp_seed = cm->cm_options->co_seed.on_set ?
		    cm->cm_options->co_seed.on_value : 1,
		.cp_family = cm->cm_npairs,
	};
	struct costs costs = {
		.ct_command = "compare",
		.ct_by = cm->cm_options->co_by,
		.ct_events = &cm->cm_options->co_events,
		.ct_renames = &cm->cm_options->co_renames,
		.ct_time = { &cm->cm_options->co_time,
		    &cm->cm_options->co_time },
		.ct_filter = { cm->cm_options->co_base_filter,
		    cm->cm_options->co_filter },
		.ct_per = cm->cm_options->co_per,
		.ct_window_ns = cm->cm_options->co_window.on_set ?
		    cm->cm_options->co_window.on_value : DEFAULT_WINDOW_NS,
		.ct_anyway = cm->cm_options->co_anyway,
		.ct_profile = {
			.pl_size = sizeof(costs.ct_profile),
			/* One build inlines what another calls. */
			.pl_inlines = cm->cm_options->co_by ==
			    COMPARE_BY_FUNCTION,
			.pl_places = cm->cm_options->co_by == COMPARE_BY_LINE,
			.pl_frames = cm->cm_options->co_frames,
		},
	};
	struct prof_err error = { 0 };
	const bool is_hosts = are_hosts(&costs, pair);

	costs.ct_comparison = prof_comparison_new(&options, &error);
	if (costs.ct_comparison == NULL)
		return (msg_prof("compare", &error));
	pair->pr_comparison = costs.ct_comparison;
	if (!is_hosts)
		compare_choose_states(&costs, pair->pr_series);
	/* It would never fail. */
	if (is_hosts && costs.ct_per == NULL &&
	    cm->cm_options->co_fail_on != NULL)
		return (options_refuse("add --per EVENT or --per span:NAME",
		    "--fail-on needs --per to compare hosts: without --per, "
		    "only shares of functions are compared"));
	if ((is_hosts ? compare_hosts(&costs, pair->pr_series) :
	    compare_runs(&costs, pair->pr_series, is_interleaved)) == -1)
		return (-1);
	pair->pr_lossy = costs.ct_lossy;
	pair->pr_window_ns = costs.ct_window_ns;
	pair->pr_per = costs.ct_per;
	if (compare_headline(pair) == NULL)
		return (options_refuse("check the input files",
		    "no runs to compare"));
	return (note_origin(pair) == -1 ? options_refuse("free memory",
	    "out of memory") : 0);
}

static int
compare_all(struct compare *cm, bool is_interleaved)
{
	struct prof_comparison **all = calloc(cm->cm_npairs + 1,
	    sizeof(struct prof_comparison *));
	int rv = all == NULL ?
	    options_refuse("free memory", "out of memory") : 0;

	for (size_t i = 0; i < cm->cm_npairs && rv == 0; i++) {
		rv = compare_pair(cm, &cm->cm_pair[i], is_interleaved);
		all[i] = cm->cm_pair[i].pr_comparison;
	}
	if (rv == 0) {
		cm->cm_ngeomean = prof_comparison_geomean(all, cm->cm_npairs,
		    &cm->cm_geomean, cm->cm_geomean_ci);
		if (cm->cm_ngeomean == -1)
			rv = options_refuse("free memory", "out of memory");
	}
	free(all);
	return (rv);
}

/* ---------------------------------------------------------------- output */

static int
show_text(const struct compare *cm)
{
	const struct compare_options *co = cm->cm_options;
	const bool is_markdown = co->co_markdown ||
	    (co->co_github && compare_summary() == NULL);
	struct terminal terminal = { .te_fd = STDOUT_FILENO };
	struct out out;
	int status, rv = 0;

	if (!co->co_json && !is_markdown)
		terminal_begin(&terminal, co->co_color);
	out_init(&out, terminal.te_fd);
	if (co->co_json)
		compare_json(cm, &out);
	else
		compare_text(cm, is_markdown ? TABLE_MARKDOWN :
		    TABLE_TEXT, &out, &terminal);
	if (co->co_github)
		rv = compare_github(cm, &out);
	status = terminal_end(&terminal, "compare", out_end(&out, "compare"));
	return (status != 0 ? status : rv == -1 ? EXIT_FAILED :
	    compare_status(cm));
}

static int
results_show(const struct compare *cm)
{
	if (cm->cm_options->co_plot != NULL &&
	    compare_plot(&cm->cm_pair[0], cm->cm_options->co_plot) == -1)
		return (EXIT_FAILED);
	if (cm->cm_options->co_output != NULL &&
	    compare_html(cm, cm->cm_options->co_output) == -1)
		return (EXIT_FAILED);
	if (cm->cm_options->co_junit != NULL &&
	    compare_junit(cm, cm->cm_options->co_junit) == -1)
		return (EXIT_FAILED);
	return (show_text(cm));
}

static void
free_all(struct compare *cm)
{
	for (size_t i = 0; i < cm->cm_npairs; i++) {
		prof_comparison_free(cm->cm_pair[i].pr_comparison);
		free(cm->cm_pair[i].pr_note);
	}
	free(cm->cm_pair);
	compare_side_free(&cm->cm_side[0]);
	compare_side_free(&cm->cm_side[1]);
}

static int
read_baseline(struct side *side, const char *name)
{
	char *path = bench_baseline_path(name, "");
	int rv;

	if (path == NULL)
		return (options_refuse("free memory", "out of memory"));
	side->sd_cure = "use dtprof bench --save NAME COMMAND first";
	rv = compare_read_bench(side, path);
	free(path);
	return (rv);
}

/*
 * Base is the baseline, or what stands before "--", or all when there is
 * none.
 */
static int
read_sides(struct compare *cm, int n, char **operands, bool *has_two)
{
	const char *against = cm->cm_options->co_against;

	*has_two = against != NULL || input_store_answer(0, 0) != NULL;
	if (input_store_answer(0, 0) != NULL)
		return (compare_read_answers(cm->cm_side));
	if (against != NULL && read_baseline(&cm->cm_side[0], against) == -1)
		return (-1);
	if (against != NULL && n == 0)
		return (compare_read(&cm->cm_side[1], DEFAULT_NEW));
	for (int i = 0; i < n; i++) {
		if (strcmp(operands[i], "--") == 0)
			*has_two = true;
		else if (compare_read(&cm->cm_side[*has_two], operands[i]) ==
		    -1)
			return (-1);
	}
	return (0);
}

/* What has been read: pairs and their verdicts. */
static int
compare_sides(struct compare *cm, bool has_two, bool is_one_bench)
{
	return ((has_two ? pair_sides(cm) : pair_within(cm)) == -1 ||
	    check_machines(cm) == -1 || compare_all(cm, is_one_bench) == -1 ?
	    -1 : 0);
}

static bool
has_store(int n, char *const *operands)
{
	for (int i = 0; i < n; i++)
		if (prof_store_is_url(operands[i]))
			return (true);
	return (false);
}

/* Which samples of a store are base and new. */
static int
samples_check(const struct compare_options *co, int n, char *const *operands)
{
	const bool is_store = has_store(n, operands);

	if (is_store && n > 1)
		return (options_refuse("select base and new in the store with "
		    "--base-filter and --filter", "a store must be the only "
		    "input"));
	if (is_store && (co->co_filter == NULL || co->co_base_filter == NULL))
		return (options_refuse("use for example --base-filter "
		    "'version==\"1\"' --filter 'version==\"2\"'", "a store "
		    "needs --base-filter and --filter, to choose base and "
		    "new"));
	if (!is_store && choose_has_time(&co->co_time))
		return (options_refuse("push the recordings to a store and "
		    "compare the store",
		    "--from and --to can be used only with a store"));
	return (0);
}

static int
check_compare(const void *options, int n, char *const *operands)
{
	const struct compare_options *co = options;
	int dashes = 0;

	if (samples_check(co, n, operands) == -1)
		return (-1);
	if (compare_spans_wanted(co) && !has_store(n, operands))
		return (compare_spans_check(co, n, operands));
	for (int i = 0; i < n; i++)
		dashes += strcmp(operands[i], "--") == 0;
	if (co->co_window.on_set && co->co_window.on_value < NS_PER_S)
		return (options_refuse("use --window 1s or more", "--window is "
		    "too short to compare hosts"));
	if (n == 0 && co->co_against == NULL)
		return (options_refuse("give a bench directory, or BASE -- NEW",
		    "nothing to compare"));
	if (co->co_against != NULL && dashes > 0)
		return (options_refuse("leave out 'BASE --': give only new "
		    "files",
		    "--against cannot be used with 'BASE --'"));
	if (co->co_against != NULL && bench_baseline_check("compare",
	    "against", co->co_against, false) == -1)
		return (-1);
	if (dashes > 1 || (dashes == 1 && strcmp(operands[n - 1], "--") == 0))
		return (options_refuse("write dtprof compare BASE -- NEW",
		    "separate base and new with one --"));
	if (co->co_fail_on != NULL &&
	    compare_fail_limit(co->co_fail_on) < 0)
		return (options_refuse("use --fail-on slower or --fail-on "
		    "slower:2", "invalid --fail-on argument"));
	if (co->co_json && co->co_markdown)
		return (options_refuse("use only one of the two options",
		    "--json and --markdown exclude each other"));
	if (co->co_json && co->co_github)
		return (options_refuse("use only one of the two options",
		    "--json and --github exclude each other"));
	if (co->co_plot != NULL && plot_check("compare", co->co_plot, false) ==
	    -1)
		return (-1);
	return (choose_check_renames("compare", &co->co_renames));
}

static int
begin_compare(const struct prof_cmd *cmd, void *options, int n,
    char *const *operands)
{
	return (n == 1 && prof_store_is_url(operands[0]) ?
	    input_store_sides(cmd, options, operands[0]) : 0);
}

static const char *
github_summary(const void *options)
{
	const struct compare_options *co = options;

	return (co->co_github ? compare_summary() : NULL);
}

static int
run_compare(void *options, int n, char **operands)
{
	struct compare_options *co = options;
	struct compare compare = { .cm_options = co };
	bool has_two;
	int status = EXIT_FAILED;

	if (!co->co_verbose)
		msg_shorten_notes();
	if (!co->co_limit.on_set)
		co->co_limit.on_value = DEFAULT_LIMIT;
	if (compare_spans_wanted(co) && input_store_answer(1, 0) == NULL)
		return (compare_spans(co, operands[0]));
	compare.cm_threshold = co->co_threshold.on_set ?
	    (double)co->co_threshold.on_value / 100000 : 0.01;
	if (read_sides(&compare, n, operands, &has_two) == 0 &&
	    compare_sides(&compare, has_two, n == 1 &&
	    co->co_against == NULL) == 0)
		status = results_show(&compare);
	free_all(&compare);
	return (status);
}

/* A bench of one command has nothing to be compared with yet. */
int
compare_directory(const char *path)
{
	struct compare_options options = {
		.co_limit = { .on_value = DEFAULT_LIMIT, .on_set = true }
	};
	struct compare compare = {
		.cm_options = &options, .cm_threshold = 0.01
	};
	int status = EXIT_FAILED;

	if (compare_read(&compare.cm_side[0], path) == 0 &&
	    compare.cm_side[0].sd_n > 1) {
		if (compare_sides(&compare, false, true) == 0)
			status = results_show(&compare);
	} else if (compare.cm_side[0].sd_n == 1) {
		status = 0;
		msg_note("bench", "to compare %s with another bench, use "
		    "dtprof compare OTHER -- %s; for the means of one command "
		    "use dtprof stat -r N", path, path);
	}
	free_all(&compare);
	return (status);
}

/* Of one command: within the limit, beyond it, or it cannot be said. */
static enum compare_outcome
outcome_within(const struct pair *pair, double limit)
{
	const struct prof_change *cg = compare_headline(pair);

	if (cg->cg_verdict == PROF_VERDICT_FEW)
		return (COMPARE_OPEN);
	return (cg->cg_ci95[0] > limit ? COMPARE_WORSE :
	    cg->cg_ci95[1] <= limit ? COMPARE_GOOD : COMPARE_OPEN);
}

enum compare_outcome
compare_bisect(const char *base, const char *new, double limit)
{
	struct compare_options options = {
		.co_limit = { .on_value = DEFAULT_LIMIT, .on_set = true }
	};
	struct compare compare = {
		.cm_options = &options, .cm_threshold = 0.01
	};
	const struct terminal plain = { .te_fd = STDOUT_FILENO };
	enum compare_outcome outcome = COMPARE_OPEN;
	bool is_compared;
	struct out out;

	out_init(&out, STDOUT_FILENO);
	is_compared = compare_read(&compare.cm_side[0], base) == 0 &&
	    compare_read(&compare.cm_side[1], new) == 0 &&
	    compare_sides(&compare, true, false) == 0;
	/* Without a pager: nobody sits there. */
	if (is_compared) {
		compare_text(&compare, TABLE_TEXT, &out, &plain);
		is_compared = out_end(&out, "bench") == 0;
	}
	if (is_compared)
		outcome = COMPARE_GOOD;
	for (size_t i = 0; i < compare.cm_npairs && is_compared &&
	    outcome != COMPARE_WORSE; i++) {
		const enum compare_outcome one =
		    outcome_within(&compare.cm_pair[i], limit);

		if (one != COMPARE_GOOD)
			outcome = one;
	}
	free_all(&compare);
	return (outcome);
}
