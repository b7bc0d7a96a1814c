/* SPDX-License-Identifier: ISC */
/*
 * A bench, from the first warm-up to the last run.
 *
 * Runs are made in blocks: in each block every command runs as often, in an
 * order drawn by chance, so that whatever changes on the machine meanwhile
 * meets all commands alike, and no command always runs first.  The verdicts
 * of compare rest on it: any order of a block was as likely.  It depends on
 * the seed, the block's number and its size, which stays what it was when the
 * block was begun; so a bench that was stopped goes on with the very runs
 * that are missing, and more runs make more blocks.
 *
 * Called by cmd_bench.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

/* The loop. */
struct going {
	struct bench	*go_bench;
	struct term_status go_term;
	uint64_t	 go_begun_ns;
	size_t		 go_done;	/* runs, warm-ups too */
	size_t		 go_left;
	int		 go_status;	/* of bench, once it is over */
};

/* "3 min 20 s" */
static void
show_time(char *text, size_t size, double s)
{
	if (s >= 3600)
		snprintf(text, size, "%d h %d min", (int)s / 3600,
		    (int)s / 60 % 60);
	else if (s >= 60)
		snprintf(text, size, "%d min %d s", (int)s / 60, (int)s % 60);
	else
		snprintf(text, size, "%.0f s", s);
}

static void
show_progress(struct going *going, const struct bench_command *command,
    const char *kind)
{
	const double elapsed = (double)(term_now_ns() - going->go_begun_ns) /
	    1e9;
	char left[64] = "?", text[256];

	if (going->go_done > 0)
		show_time(left, sizeof(left), elapsed *
		    (double)going->go_left / (double)going->go_done);
	snprintf(text, sizeof(text), "%s %zu of %zu  %.80s  %s left", kind,
	    going->go_done + 1, going->go_done + going->go_left,
	    command->bc_name, left);
	term_status_line(&going->go_term, text);
}

/* --------------------------------------------------------------- a run */

static int
give_up(struct going *going, int status)
{
	term_status_erase(&going->go_term);
	going->go_status = status;
	return (-1);
}

/* A command that ended with a status other than 0. */
static int
say_failed(struct going *going, const char *text, int status)
{
	char *words = bench_last_words(going->go_bench);

	term_status_erase(&going->go_term);
	msg_fail("bench", "fix the command, or use --ignore-failure to include "
	    "failed runs in the results",
	    "%s: ended with status %d%s%s", text, status,
	    words != NULL ? ": " : "", words != NULL ? words : "");
	free(words);
	return (give_up(going, EXIT_FAILED));
}

static int
bench_ended(struct going *going, enum bench_end end, const char *text)
{
	struct bench *bench = going->go_bench;

	if (end == BENCH_DONE)
		return (0);
	term_status_erase(&going->go_term);
	if (end == BENCH_INTERRUPTED)
		msg_fail("bench", "to continue, run dtprof bench again with "
		    "the same arguments",
		    "interrupted: %zu of %llu runs are saved in %s",
		    bench->be_nresults,
		    (unsigned long long)bench->be_runs * bench->be_ncommands,
		    bench->be_directory);
	if (end == BENCH_NOT_FOUND)
		msg_fail("bench", "check the name of the command and PATH",
		    "%s: command not found", text);
	if (end == BENCH_NOT_EXECUTABLE)
		msg_fail("bench", "check the path and permissions of the "
		    "command",
		    "%s: cannot be executed", text);
	return (give_up(going, end == BENCH_NOT_FOUND ? EXIT_NOT_FOUND :
	    end == BENCH_NOT_EXECUTABLE ? EXIT_NOT_EXECUTABLE : EXIT_FAILED));
}

static int
run_prepare(struct going *going)
{
	struct bench *bench = going->go_bench;
	char shell[] = "/bin/sh", flag[] = "-c";
	char *const argv[] = { shell, flag, bench->be_prepare, NULL };
	struct bench_result result;

	if (bench->be_prepare == NULL)
		return (0);
	if (bench_ended(going, bench_run(bench, argv, NULL, NULL, &result),
	    bench->be_prepare) == -1)
		return (-1);
	return (result.br_status == 0 ? 0 : say_failed(going,
	    bench->be_prepare, result.br_status));
}

/* profile: its name in the directory, or NULL. */
static int
run_one(struct going *going, unsigned number, const char *profile,
    struct bench_result *result)
{
	struct bench *bench = going->go_bench;
	struct bench_command *bc = &bench->be_command[number];
	char shell[] = "/bin/sh", flag[] = "-c", *path = NULL;
	char *const through_shell[] = { shell, flag, bc->bc_text, NULL };
	enum bench_end end;
	bool is_failed;

	if (run_prepare(going) == -1)
		return (-1);
	if (profile != NULL && asprintf(&path, "%s/%s", bench->be_directory,
	    profile) == -1)
		return (give_up(going, EXIT_FAILED));
	/* One that a kill left there would be kept, and nobody asks for it. */
	if (path != NULL)
		(void)unlink(path);
	end = bench_run(bench, bench->be_shell ? through_shell : bc->bc_argv,
	    path, bc, result);
	is_failed = end == BENCH_DONE && result->br_status != 0 &&
	    !bench->be_options->be_ignore;
	if (path != NULL && (end != BENCH_DONE || is_failed))
		(void)unlink(path);
	free(path);
	if (bench_ended(going, end, bc->bc_text) == -1)
		return (-1);
	if (is_failed)
		return (say_failed(going, bc->bc_text, result->br_status));
	result->br_command = number;
	going->go_done++;
	going->go_left--;
	return (0);
}

/* -------------------------------------------------------------- the plan */

/* Runs that there are of a command in a block. */
static unsigned
runs_stored(const struct bench *bench, uint32_t block, unsigned command)
{
	unsigned n = 0;

	for (size_t i = 0; i < bench->be_nresults; i++)
		n += bench->be_result[i].br_block == block &&
		    bench->be_result[i].br_command == command;
	return (n);
}

/*
 * Runs of each command in a block: as many as when it was begun, else what is
 * still wanted after those before it.  0: there is no such block.
 */
static unsigned
runs_wanted(const struct bench *bench, uint32_t block, uint64_t before)
{
	const uint64_t left = bench->be_runs > before ?
	    bench->be_runs - before : 0;

	for (size_t i = 0; i < bench->be_nresults; i++)
		if (bench->be_result[i].br_block == block)
			return (bench->be_result[i].br_of);
	if (block == 0 && left <= BENCH_ONE_BLOCK)
		return ((unsigned)left);
	return (left < BENCH_IN_BLOCK ? (unsigned)left : BENCH_IN_BLOCK);
}

/* Those of a block that are missing, in its order. */
static int
run_block(struct going *going, uint32_t block, unsigned of)
{
	struct bench *bench = going->go_bench;
	const size_t n = bench->be_ncommands * of;
	uint32_t order[BENCH_ONE_BLOCK * BENCH_COMMANDS] = { 0 };
	unsigned there[BENCH_COMMANDS] = { 0 };
	unsigned seen[BENCH_COMMANDS] = { 0 };

	for (unsigned c = 0; c < bench->be_ncommands; c++)
		there[c] = runs_stored(bench, block, c);
	prof_shuffle(bench->be_seed + block, order, n);
	for (size_t i = 0; i < n; i++) {
		const unsigned c = order[i] % (unsigned)bench->be_ncommands;
		struct bench_result result;
		char profile[64] = "";

		if (seen[c]++ < there[c])
			continue;
		show_progress(going, &bench->be_command[c], "run");
		if (bench->be_record)
			snprintf(profile, sizeof(profile), "b%05u-%c-%u.dtp",
			    block, 'a' + (int)c, seen[c]);
		bench->be_nth = block * BENCH_IN_BLOCK + seen[c];
		if (run_one(going, c, bench->be_record ? profile : NULL,
		    &result) == -1)
			return (-1);
		result.br_block = block;
		result.br_of = of;
		memcpy(result.br_profile, profile, sizeof(profile));
		if (bench_append(bench, &result) == -1)
			return (give_up(going, EXIT_FAILED));
	}
	return (0);
}

static int
warm_up(struct going *going)
{
	struct bench *bench = going->go_bench;
	struct bench_result result;

	for (uint64_t w = 0; w < bench->be_warmups; w++)
		for (unsigned c = 0; c < bench->be_ncommands; c++) {
			show_progress(going, &bench->be_command[c],
			    "warm-up");
			if (run_one(going, c, NULL, &result) == -1)
				return (-1);
		}
	return (0);
}

size_t
bench_missing(const struct bench *bench)
{
	size_t missing = 0;
	uint64_t before = 0;
	unsigned of;

	for (uint32_t b = 0; (of = runs_wanted(bench, b, before)) > 0; b++) {
		for (unsigned c = 0; c < bench->be_ncommands; c++) {
			const unsigned there = runs_stored(bench, b, c);

			missing += there < of ? of - there : 0;
		}
		before += of;
	}
	return (missing);
}

static int
make_runs(struct going *going)
{
	struct bench *bench = going->go_bench;
	uint64_t before = 0;
	unsigned of;

	going->go_left = bench_missing(bench);
	if (going->go_left == 0)
		return (0);
	going->go_left += bench->be_warmups * bench->be_ncommands;
	if (warm_up(going) == -1)
		return (-1);
	for (uint32_t block = 0; (of = runs_wanted(bench, block, before)) > 0;
	    block++) {
		if (run_block(going, block, of) == -1)
			return (-1);
		before += of;
	}
	return (0);
}

/* A recording has its own event. */
static void
open_counters(struct bench *bench)
{
	char shell[] = "/bin/sh", flag[] = "-c";

	for (size_t i = 0; i < bench->be_ncommands && !bench->be_record;
	    i++) {
		struct bench_command *bc = &bench->be_command[i];
		char *const through_shell[] = {
			shell, flag, bc->bc_text, NULL
		};

		bench_count_open(bc, bench->be_shell ? through_shell :
		    bc->bc_argv);
	}
}

int
bench_go(struct bench *bench)
{
	struct going going = { .go_bench = bench };
	int there;

	bench->be_null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	bench->be_words_fd = memfd_create("stderr", MFD_CLOEXEC);
	if (bench->be_null_fd == -1 || bench->be_words_fd == -1 ||
	    signals_open() == -1) {
		msg_fail("bench", "close some files", "cannot start: %s",
		    strerror(errno));
		return (EXIT_FAILED);
	}
	there = bench->be_nresults > 0;
	msg_note("bench", "seed %llu, %llu runs of each command, results in "
	    "%s%s",
	    (unsigned long long)bench->be_seed,
	    (unsigned long long)bench->be_runs, bench->be_directory,
	    there ? " (continued)" : "");
	bench_warn_before();
	open_counters(bench);
	term_status_init(&going.go_term, true);
	going.go_begun_ns = term_now_ns();
	if (make_runs(&going) == 0) {
		term_status_erase(&going.go_term);
		bench_warn_after(bench);
	}
	signals_close();
	/* Nothing was measured: then there is nothing to find there. */
	if (bench->be_nresults == 0)
		(void)rmdir(bench->be_directory);
	return (going.go_status);
}
