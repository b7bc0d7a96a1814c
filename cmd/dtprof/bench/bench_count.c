/* SPDX-License-Identifier: ISC */
/*
 * A run with what the counters of the CPU say of it, where there are any that
 * this user may read: cycles, instructions, misses.  Where there are none the
 * command is run without (bench_run.c), and no counter is ever 0 for want of
 * one.
 *
 * Called by bench.c (open, close) and bench_run.c.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include <stdio.h>

#include "bench.h"

#define WAIT_MS		100

/* As the metrics are, from BENCH_CYCLES on. */
static const char *const counters[BENCH_COUNTERS] = {
	"cycles", "instructions", "branch-misses", "cache-misses"
};

void
bench_count_open(struct bench_command *bc, char *const *argv)
{
	const struct prof_counting_options options = {
		.co_size = sizeof(options),
		.co_target = PROF_TARGET_COMMAND, .co_argv = argv,
	};
	struct prof_err error;
	int n = 0;

	bc->bc_counting = prof_counting_open(&options, &error);
	for (int c = 0; c < BENCH_COUNTERS && bc->bc_counting != NULL; c++) {
		bc->bc_counter[c] = -1;
		if (prof_counting_add(bc->bc_counting, counters[c]) == 0)
			bc->bc_counter[c] = n++;
	}
	if (n == 0)
		bench_count_close(bc);
}

void
bench_count_close(struct bench_command *bc)
{
	if (bc->bc_counting != NULL)
		prof_counting_close(bc->bc_counting);
	bc->bc_counting = NULL;
}

static enum bench_end
wait_for(struct prof_counting *counting, struct prof_counting_status *status)
{
	bool interrupted = false;
	int go_on;

	do {
		go_on = prof_counting_wait(counting, WAIT_MS);
		prof_counting_status(counting, status);
		if (go_on == 1 && !status->ks_command_done)
			interrupted = bench_heed_signals(
			    status->ks_command_pid, interrupted);
	} while (go_on == 1);
	if (prof_counting_stop(counting) == -1 || go_on == -1)
		return (bench_failure(prof_counting_error(counting)));
	prof_counting_status(counting, status);
	return (bench_were_signals() || interrupted ? BENCH_INTERRUPTED :
	    BENCH_DONE);
}

enum bench_end
bench_count_run(const struct bench *bench, struct bench_command *bc,
    struct bench_result *br)
{
	struct prof_counting *counting = bc->bc_counting;
	struct prof_counting_status status = { 0 };
	struct prof_counted value;
	struct rusage before;
	enum bench_end end;
	int saved[3], rv;

	getrusage(RUSAGE_CHILDREN, &before);
	bench_lend(bench, saved);
	rv = prof_counting_arm(counting);
	bench_take_back(saved);
	if (rv == -1 || prof_counting_start(counting) == -1)
		return (bench_failure(prof_counting_error(counting)));
	end = wait_for(counting, &status);
	bench_fill_since(br, &before);
	br->br_value[BENCH_WALL] = (double)status.ks_wall_ns / 1e9;
	br->br_status = WIFEXITED(status.ks_command_status) ?
	    WEXITSTATUS(status.ks_command_status) :
	    128 + WTERMSIG(status.ks_command_status);
	for (int c = 0; c < BENCH_COUNTERS; c++) {
		if (bc->bc_counter[c] == -1)
			continue;
		prof_counting_value(counting, (size_t)bc->bc_counter[c],
		    &value);
		if (value.cd_is_known)
			br->br_value[BENCH_CYCLES + c] =
			    (double)value.cd_estimate;
	}
	return (end);
}
