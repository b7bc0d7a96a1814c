/* SPDX-License-Identifier: ISC */
/*
 * dtprof bench: what can be said about a bench, and whether it makes sense
 * together.  Commands are split into words here, so that one that cannot be
 * is refused before anything has run.  bench.c does the rest.
 */
#include <sys/random.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compare/compare.h"
#include "../opt/words.h"
#include "bench.h"

static int	 check_bench(const void *options, int n,
		    char *const *operands);
static int	 bisect_misuse(int argc, char *const *argv);
static int	 run_bench(void *options, int n, char **operands);

#define BE(member)	offsetof(struct bench_options, member)
#define DEFAULT_DIRECTORY "dtprof.bench"
#define DEFAULT_RUNS	15
#define DEFAULT_WARMUPS	1
#define DEFAULT_THRESHOLD 5000	/* thousandths of a percent: 5 % */
#define MAX_RUNS	100000
#define BISECT_SKIP	125	/* what git bisect run takes for "skip" */

/* By letter or name, as the manual has them. */
static const struct opt_row options_of_bench[] = {
	{ 0, "bisect", "NAME", OPT_STRING, 0, 0, NULL,
	    "for git bisect run: compare with baseline NAME; exit with 0 if "
	    "not slower, 1 if slower, 125 if undecided or failed",
	    BE(be_bisect), NULL },
	{ 0, "ignore-failure", NULL, OPT_FLAG, 0, 0, NULL,
	    "count runs with a nonzero exit status too",
	    BE(be_ignore), NULL },
	{ 'n', "name", "NAME", OPT_STRINGS, 0, 0, NULL,
	    "name of a command in the results; repeat -n for each command, in "
	    "the order of the commands",
	    BE(be_names), NULL },
	{ 'o', "output", "DIR", OPT_STRING, 0, 0, NULL,
	    "output directory (default dtprof.bench); an interrupted bench in "
	    "DIR is continued, any other bench is renamed to DIR.old",
	    BE(be_output), NULL },
	{ 0, "off-cpu", NULL, OPT_FLAG, 0, 0, NULL,
	    "record off-CPU waits, too, so that dtprof compare can name the "
	    "functions that wait (implies --record)", BE(be_off_cpu), NULL },
	{ 0, "prepare", "CMD", OPT_STRING, 0, 0, NULL,
	    "before each run, run CMD in a shell (not measured)",
	    BE(be_prepare), NULL },
	{ 'r', "runs", "N", OPT_COUNT, 1, MAX_RUNS, "15",
	    "number of runs of each command", BE(be_runs), NULL },
	{ 0, "record", NULL, OPT_FLAG, 0, 0, NULL,
	    "record a profile of each run, so that dtprof compare can name "
	    "the functions that changed", BE(be_record), NULL },
	{ 'S', "shell", NULL, OPT_FLAG, 0, 0, NULL,
	    "run each command with /bin/sh -c", BE(be_shell), NULL },
	{ 0, "save", "NAME", OPT_STRING, 0, 0, NULL,
	    "save the results as baseline NAME in .dtprof/NAME",
	    BE(be_save), NULL },
	{ 0, "seed", "N", OPT_COUNT, 0, UINT64_MAX, NULL,
	    "seed of the random order of runs", BE(be_seed), NULL },
	{ 0, "threshold", "PCT", OPT_PERCENT, 1, 1000000, "5",
	    "with --bisect, ignore a slowdown of PCT% or less",
	    BE(be_threshold), NULL },
	{ 'w', "warmup", "N", OPT_COUNT, 0, MAX_RUNS, "1",
	    "N warm-up runs of each command, not counted",
	    BE(be_warmups), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof bench './old --in x' './new --in x'",
	"find which command is faster: 15 runs of each, in random order",
	"dtprof bench --record -r 20 ./old ./new",
	"also find the functions that make the difference",
	"dtprof bench -S -n gzip -n zstd 'gzip <f >/dev/null' "
	    "'zstd <f >/dev/null'",
	"name the commands and run them through a shell",
	"dtprof bench -o dtprof.bench",
	"continue an interrupted bench",
	"dtprof bench --save main ./prog",
	"save a baseline for dtprof compare --against main",
	"dtprof bench --bisect main",
	"with git bisect run: test whether this commit is slower",
	NULL
};

const struct prof_cmd cmd_bench = {
	.cm_name = "bench",
	.cm_summary = "benchmark commands in randomized, interleaved order",
	.cm_operands = "['COMMAND' ...]",
	.cm_options = options_of_bench,
	.cm_size = sizeof(struct bench_options),
	.cm_max = BENCH_COMMANDS,
	.cm_usage_status = EXIT_USAGE,
	.cm_misused = bisect_misuse,
	.cm_examples = examples,
	.cm_notes = "Quote each COMMAND as one argument; dtprof splits it into "
	    "words as a shell does.  The first COMMAND is the base; the others "
	    "are compared with it.",
	.cm_check = check_bench,
	.cm_run = run_bench,
};

static int
bench_refuse(const char *cure, const char *text, const char *why)
{
	return (msg_fail("bench", cure, "%s%s%s", text, *text != '\0' ? ": " :
	    "", why));
}

/* Wrong use must not look like a bad commit to git bisect. */
static int
bisect_misuse(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--bisect", 8) == 0)
			return (BISECT_SKIP);
	return (EXIT_USAGE);
}

static int
check_bench(const void *options, int n, char *const *operands)
{
	const struct bench_options *be = options;

	(void)n;
	(void)operands;
	if (be->be_save != NULL && be->be_bisect != NULL)
		return (bench_refuse("use only one of the two options", "",
		    "--save and --bisect exclude each other"));
	if (be->be_save != NULL && be->be_output != NULL)
		return (bench_refuse("use only one of the two options", "",
		    "--save and -o exclude each other"));
	if (be->be_threshold.on_set && be->be_bisect == NULL)
		return (bench_refuse("use --threshold with dtprof compare",
		    "--threshold",
		    "only allowed with --bisect"));
	if (be->be_save != NULL && bench_baseline_check("bench", "save",
	    be->be_save, true) == -1)
		return (-1);
	return (be->be_bisect == NULL ? 0 : bench_baseline_check("bench",
	    "bisect", be->be_bisect, false));
}

static bool
has_name(const struct bench *bench, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(bench->be_command[i].bc_name, name) == 0)
			return (true);
	return (false);
}

/*
 * Names must tell commands apart, as compare matches them by it: of an A/A
 * run the second "./a" is "./a (2)".
 */
static int
tell_apart(struct bench *bench)
{
	for (size_t i = 1; i < bench->be_ncommands; i++) {
		struct bench_command *bc = &bench->be_command[i];
		char *name = NULL;

		for (unsigned k = 2; has_name(bench, i, name != NULL ? name :
		    bc->bc_name); k++) {
			free(name);
			if (asprintf(&name, "%s (%u)", bc->bc_name, k) == -1)
				return (bench_refuse("free memory", "",
				    "out of memory"));
		}
		if (name == NULL)
			continue;
		free(bc->bc_name);
		bc->bc_name = name;
	}
	return (0);
}

static int
set_commands(struct bench *bench, int n, char **operands)
{
	const struct opt_strings *names = &bench->be_options->be_names;
	const char *why;

	if (names->os_n > (size_t)n)
		return (bench_refuse("use -n at most once for each command",
		    "-n", "more names than commands"));
	bench->be_command = calloc((size_t)n + 1, sizeof(*bench->be_command));
	if (bench->be_command == NULL)
		return (bench_refuse("free memory", "", "out of memory"));
	bench->be_ncommands = 0;
	for (int i = 0; i < n; i++) {
		struct bench_command *bc =
		    &bench->be_command[bench->be_ncommands++];

		bc->bc_text = strdup(operands[i]);
		bc->bc_name = strdup((size_t)i < names->os_n ?
		    names->os_text[i] : operands[i]);
		if (bc->bc_text == NULL || bc->bc_name == NULL)
			return (bench_refuse("free memory", "",
			    "out of memory"));
		if (bench->be_shell)
			continue;
		bc->bc_argv = words_split(operands[i], &why);
		if (bc->bc_argv == NULL)
			return (bench_refuse("quote these characters, or add "
			    "-S to run commands through a shell", operands[i],
			    why));
		bench_program(bc);
	}
	if (n == 2 && strcmp(operands[0], operands[1]) == 0)
		msg_note("bench", "A/A run: both commands are the same, so any "
		    "difference is noise");
	return (tell_apart(bench));
}

static int
set_rest(struct bench *bench)
{
	const struct bench_options *be = bench->be_options;

	if (be->be_save != NULL)
		bench->be_kept_in = bench_baseline_path(be->be_save, "");
	else if (be->be_bisect != NULL)
		bench->be_kept_in = bench_baseline_path(be->be_bisect,
		    BENCH_BISECT);
	if (bench->be_kept_in == NULL &&
	    (be->be_save != NULL || be->be_bisect != NULL))
		return (bench_refuse("free memory", "", "out of memory"));
	bench->be_directory = be->be_output != NULL ? be->be_output :
	    bench->be_kept_in != NULL ? bench->be_kept_in :
	    DEFAULT_DIRECTORY;
	bench->be_shell = be->be_shell;
	bench->be_record = be->be_record || be->be_off_cpu;
	bench->be_off_cpu = be->be_off_cpu;
	bench->be_runs = be->be_runs.on_set ? be->be_runs.on_value :
	    DEFAULT_RUNS;
	bench->be_warmups = be->be_warmups.on_set ? be->be_warmups.on_value :
	    DEFAULT_WARMUPS;
	bench->be_seed = be->be_seed.on_value;
	if (!be->be_seed.on_set && getrandom(&bench->be_seed,
	    sizeof(bench->be_seed), 0) != sizeof(bench->be_seed))
		bench->be_seed = term_now_ns();
	/* Short enough to be typed. */
	if (!be->be_seed.on_set)
		bench->be_seed %= 1000000000;
	if (be->be_prepare != NULL &&
	    (bench->be_prepare = strdup(be->be_prepare)) == NULL)
		return (bench_refuse("free memory", "", "out of memory"));
	return (0);
}

/*
 * The baseline's commands where none are named, by the programs that are
 * there now; and always all runs, as those of another commit may be there.
 * The exit status, 0: go.
 */
static int
take_baseline(struct bench *bench, bool has_commands)
{
	const struct bench asked = *bench;
	char *path = bench_baseline_path(bench->be_options->be_bisect, "");
	int there;

	if (path == NULL)
		return (EXIT_FAILED);
	bench->be_directory = path;
	bench->be_is_again = true;
	there = bench_load(bench);
	bench->be_directory = asked.be_directory;
	if (there != -1 && !bench->be_has_files)
		bench_refuse("save a baseline at a good commit: dtprof bench "
		    "--save NAME COMMAND", path, "no such baseline");
	free(path);
	if (there == -1 || !bench->be_has_files ||
	    bench_make_baselines() == -1 ||
	    bench_become_caller(!bench->be_record) == -1)
		return (EXIT_FAILED);
	bench->be_has_files = false;
	bench->be_nresults = 0;
	bench->be_seed = asked.be_seed;
	for (size_t i = 0; i < bench->be_ncommands && !has_commands; i++)
		bench_program(&bench->be_command[i]);
	if (bench_is_there(bench) && bench_keep_old(bench) == -1)
		return (EXIT_FAILED);
	return (bench_make_directory(bench) == -1 ? EXIT_FAILED : 0);
}

/*
 * One that was stopped goes on; one that is through, and one of other
 * commands, makes room.  The exit status, 0: go.
 */
static int
take_directory(struct bench *bench, bool has_commands)
{
	const struct bench asked = *bench;
	int there;

	if (bench->be_options->be_save != NULL && bench_make_baselines() == -1)
		return (EXIT_FAILED);
	there = bench_load(bench);
	/* One that goes on is recorded, or is not, as it began. */
	if (there == -1 || bench_become_caller(!bench->be_record) == -1)
		return (EXIT_FAILED);
	if (bench->be_ncommands == 0) {
		bench_refuse("give commands, or -o DIR to continue an "
		    "interrupted bench", "", "nothing to run");
		return (EXIT_USAGE);
	}
	if (has_commands && bench->be_has_files &&
	    (there == 0 || bench_missing(bench) == 0)) {
		if (bench_keep_old(bench) == -1)
			return (EXIT_FAILED);
		bench->be_has_files = false;
		bench->be_nresults = 0;
		bench->be_seed = asked.be_seed;
		bench->be_runs = asked.be_runs;
		bench->be_warmups = asked.be_warmups;
	}
	return (bench_make_directory(bench) == -1 ? EXIT_FAILED : 0);
}

/* The commands beside each other, or what can be done with one alone. */
static int
show_result(const struct bench *bench)
{
	const char *name = bench->be_options->be_save;
	const int status = bench->be_ncommands == 1 && name != NULL ? 0 :
	    compare_directory(bench->be_directory);

	if (status == 0 && name != NULL)
		msg_note("bench", "saved as baseline %s in %s; to compare with "
		    "it, run dtprof bench COMMAND, then dtprof compare "
		    "--against %s", name, bench->be_directory, name);
	return (status);
}

/* Good 0, bad 1, else 125, as git bisect run takes it. */
static int
bench_bisect(const struct bench *bench)
{
	const struct opt_number *threshold =
	    &bench->be_options->be_threshold;
	const double limit = (double)(threshold->on_set ?
	    threshold->on_value : DEFAULT_THRESHOLD) / 100000;
	const char *name = bench->be_options->be_bisect;
	char *path = bench_baseline_path(name, "");
	const enum compare_outcome outcome = path == NULL ? COMPARE_OPEN :
	    compare_bisect(path, bench->be_directory, limit);

	free(path);
	if (outcome == COMPARE_OPEN) {
		msg_note("bench", "bisect: undecided, so git skips this "
		    "commit; more runs (-r) or another --threshold may "
		    "decide");
		return (BISECT_SKIP);
	}
	msg_note("bench", "bisect: %s than baseline %s by more than %g%%",
	    outcome == COMPARE_WORSE ? "bad: slower" : "good: not slower",
	    name, 100 * limit);
	return (outcome == COMPARE_WORSE ? 1 : 0);
}

static int
run_bench(void *options, int n, char **operands)
{
	const bool is_bisect = ((struct bench_options *)options)->be_bisect !=
	    NULL;
	struct bench bench = { .be_options = options };
	int status = EXIT_USAGE;

	if (set_rest(&bench) == 0 && set_commands(&bench, n, operands) == 0)
		status = is_bisect ? take_baseline(&bench, n > 0) :
		    take_directory(&bench, n > 0);
	if (status == 0)
		status = bench_go(&bench);
	if (is_bisect)
		status = status == 0 ? bench_bisect(&bench) : BISECT_SKIP;
	else if (status == 0)
		status = show_result(&bench);
	bench_free(&bench);
	return (status);
}
