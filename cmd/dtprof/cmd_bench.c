/* SPDX-License-Identifier: ISC */
/*
 * dtprof bench: what can be said about a bench, and whether it makes sense
 * together.  Commands are split into words here, so that one that cannot be
 * is refused before anything has run.  bench.c does the rest.
 */
#include <sys/random.h>

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "words.h"

static int	 run_bench(void *options, int n, char **operands);

#define BE(member)	offsetof(struct bench_options, member)
#define DEFAULT_RUNS	15
#define DEFAULT_WARMUPS	1
#define MAX_RUNS	100000

/* By letter or name, as the manual has them. */
static const struct opt_row options_of_bench[] = {
	{ 'i', "ignore-failure", NULL, OPT_FLAG, 0, 0, NULL,
	    "also count runs that end with a status other than 0",
	    BE(be_ignore), NULL },
	{ 'n', "name", "NAME", OPT_STRINGS, 0, 0, NULL,
	    "what to call a command; repeat it, in the order of commands",
	    BE(be_names), NULL },
	{ 'o', "output", "DIR", OPT_STRING, 0, 0, "dtprof.bench",
	    "where results go; a bench that was stopped there goes on, "
	    "another is kept as DIR.old",
	    BE(be_output), NULL },
	{ 0, "prepare", "CMD", OPT_STRING, 0, 0, NULL,
	    "run this before each run, through a shell, unmeasured",
	    BE(be_prepare), NULL },
	{ 'r', "runs", "N", OPT_COUNT, 1, MAX_RUNS, "15",
	    "runs of each command", BE(be_runs), NULL },
	{ 0, "record", NULL, OPT_FLAG, 0, 0, NULL,
	    "record a profile of each run, so that compare can say which "
	    "functions made the difference", BE(be_record), NULL },
	{ 'S', "shell", NULL, OPT_FLAG, 0, 0, NULL,
	    "give each command to /bin/sh -c", BE(be_shell), NULL },
	{ 0, "seed", "N", OPT_COUNT, 0, UINT64_MAX, NULL,
	    "draw the order of runs from this number", BE(be_seed), NULL },
	{ 'w', "warmup", "N", OPT_COUNT, 0, MAX_RUNS, "1",
	    "run each command N times before, and forget it",
	    BE(be_warmups), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof bench './old --in x' './new --in x'",
	"which is faster: 15 runs each, in an order drawn by chance",
	"dtprof bench --record -r 20 ./old ./new",
	"and which functions made it so",
	"dtprof bench -S -n gzip -n zstd 'gzip <f >/dev/null' "
	    "'zstd <f >/dev/null'",
	"through a shell, under names of your own",
	"dtprof bench -o dtprof.bench",
	"go on with one that was stopped",
	NULL
};

const struct prof_cmd cmd_bench = {
	.cm_name = "bench",
	.cm_summary = "run commands in turns, and say which is faster",
	.cm_operands = "['COMMAND' ...]",
	.cm_options = options_of_bench,
	.cm_size = sizeof(struct bench_options),
	.cm_max = BENCH_COMMANDS,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "Each COMMAND is one argument, split as a shell splits "
	    "words; the first is what the others are compared with.",
	.cm_run = run_bench,
};

static int
refuse(const char *cure, const char *text, const char *why)
{
	msg_fail("bench", cure, "%s%s%s", text, *text != '\0' ? ": " : "",
	    why);
	return (-1);
}

/* Names must tell commands apart: compare matches them by it. */
static int
check_names(const struct bench *bench)
{
	for (size_t i = 0; i < bench->be_ncommands; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(bench->be_command[i].bc_name,
			    bench->be_command[j].bc_name) == 0)
				return (refuse("name each with -n",
				    bench->be_command[i].bc_name,
				    "two commands have this name"));
	return (0);
}

static int
set_commands(struct bench *bench, int n, char **operands)
{
	const struct opt_strings *names = &bench->be_options->be_names;
	const char *why;

	if (names->os_n > (size_t)n)
		return (refuse("give one for each command, at most", "-n",
		    "more names than commands"));
	bench->be_command = calloc((size_t)n + 1, sizeof(*bench->be_command));
	if (bench->be_command == NULL)
		return (refuse("free memory", "", "out of memory"));
	bench->be_ncommands = 0;
	for (int i = 0; i < n; i++) {
		struct bench_command *bc =
		    &bench->be_command[bench->be_ncommands++];

		bc->bc_text = strdup(operands[i]);
		bc->bc_name = strdup((size_t)i < names->os_n ?
		    names->os_text[i] : operands[i]);
		if (bc->bc_text == NULL || bc->bc_name == NULL)
			return (refuse("free memory", "", "out of memory"));
		if (bench->be_shell)
			continue;
		bc->bc_argv = words_split(operands[i], &why);
		if (bc->bc_argv == NULL)
			return (refuse("quote it, or add -S to give commands "
			    "to a shell", operands[i], why));
		bench_program(bc);
	}
	return (check_names(bench));
}

static int
set_rest(struct bench *bench)
{
	const struct bench_options *be = bench->be_options;

	bench->be_directory = be->be_output;
	bench->be_shell = be->be_shell;
	bench->be_record = be->be_record;
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
		return (refuse("free memory", "", "out of memory"));
	return (0);
}

/*
 * One that was stopped goes on; one that is through, and one of other
 * commands, makes room.  The exit status, 0: go.
 */
static int
take_directory(struct bench *bench, bool has_commands)
{
	const struct bench asked = *bench;
	const int there = bench_load(bench);

	/* One that goes on is recorded, or is not, as it began. */
	if (there == -1 || bench_become_caller(!bench->be_record) == -1)
		return (EXIT_FAILED);
	if (bench->be_ncommands == 0) {
		refuse("name the commands, or with -o the directory of a "
		    "bench to go on with", "", "nothing to run");
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

static int
run_bench(void *options, int n, char **operands)
{
	struct bench bench = { .be_options = options };
	int status = EXIT_USAGE;

	if (set_rest(&bench) == -1 || set_commands(&bench, n, operands) == -1)
		goto out;
	status = take_directory(&bench, n > 0);
	if (status == 0)
		status = bench_go(&bench);
out:
	bench_free(&bench);
	return (status);
}
