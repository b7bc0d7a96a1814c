/* SPDX-License-Identifier: ISC */
/*
 * One run of dtprof stat:
 *
 *	arm, start -> wait until something ends it -> stop, keep the values
 *
 * What ends it: the command or the targets, --duration, a signal (ending.c).
 * Called by count.c for each run, warm-ups included, whose values are not kept.
 */
#include <sys/wait.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "count.h"

#define MAX_INTERVALS	10000000

/* A run that is on. */
struct run {
	struct count	*rn_count;
	struct prof_counting_status rn_status;
	uint64_t	 rn_begun_ns;
	uint64_t	 rn_next_ns;	/* end of the interval; 0: none */
	struct ending	 rn_ending;
};

static bool	 heed_signals(struct run *run);
static bool	 heed_time(struct run *run);
static int	 interval_end(struct run *run, bool is_last);
static int	 command_status(const struct prof_counting_status *status);
static int	 values_keep(struct run *run);

static bool
heed_signals(struct run *run)
{
	const struct prof_counting_status *ks = &run->rn_status;
	const bool now = ending_by_signal(&run->rn_ending,
	    ks->ks_command_pid, ks->ks_command_done);

	run->rn_count->co_interrupted |= run->rn_ending.en_signalled;
	return (now);
}

static bool
heed_time(struct run *run)
{
	const struct prof_counting_status *ks = &run->rn_status;

	return (ending_by_time(&run->rn_ending, ks->ks_command_pid,
	    ks->ks_command_done));
}

/* What the interval that ends now has added. */
static int
interval_end(struct run *run, bool is_last)
{
	const struct count_options *co = run->rn_count->co_options;
	struct count *count = run->rn_count;
	struct count_interval *interval;
	struct prof_counted now;

	if (!is_last && prof_counting_read(count->co_counting) == -1)
		return (-1);
	if (count->co_nintervals == MAX_INTERVALS)
		return (-1);
	interval = prof_append(&count->co_interval, &count->co_nintervals,
	    sizeof(*interval));
	if (interval == NULL)
		return (-1);
	interval->ci_added = calloc(count->co_nevents + 1,
	    sizeof(*interval->ci_added));
	if (interval->ci_added == NULL) {
		count->co_nintervals--;
		return (-1);
	}
	interval->ci_from_s = count->co_last_s;
	interval->ci_until_s = (double)(term_now_ns() - run->rn_begun_ns) /
	    1e9;
	count->co_last_s = interval->ci_until_s;
	for (size_t e = 0; e < count->co_nevents; e++) {
		struct prof_counted *last = &count->co_last[e];
		struct prof_counted *added = &interval->ci_added[e];

		prof_counting_value(count->co_counting, e, &now);
		added->cd_count = now.cd_count - last->cd_count;
		added->cd_estimate = now.cd_estimate - last->cd_estimate;
		added->cd_enabled_ns = now.cd_enabled_ns -
		    last->cd_enabled_ns;
		added->cd_running_ns = now.cd_running_ns -
		    last->cd_running_ns;
		added->cd_is_known = added->cd_running_ns > 0 ||
		    added->cd_enabled_ns == 0 || added->cd_estimate > 0;
		*last = now;
	}
	if (co->co_csv)
		count_csv_interval(count, interval);
	else if (!co->co_json)
		count_text_interval(count, interval);
	out_flush(&count->co_out);
	return (0);
}

static int
wait_for_end(struct run *run)
{
	struct prof_counting *counting = run->rn_count->co_counting;
	const uint64_t step_ns =
	    run->rn_count->co_options->co_interval_ms.on_value * 1000000;
	int go_on;

	do {
		go_on = prof_counting_wait(counting,
		    ending_wait_ms(&run->rn_ending, run->rn_next_ns));
		prof_counting_status(counting, &run->rn_status);
		if (go_on == -1)
			return (-1);
		if (go_on == 0 || run->rn_next_ns == 0 ||
		    term_now_ns() < run->rn_next_ns)
			continue;
		if (interval_end(run, false) == -1)
			return (-1);
		/* Late by more than one: those are one long interval. */
		while (run->rn_next_ns <= term_now_ns())
			run->rn_next_ns += step_ns;
	} while (go_on == 1 && !heed_signals(run) && !heed_time(run));
	/* A signal that ended the command may have been ours too. */
	(void)heed_signals(run);
	return (0);
}

/* As a shell has it; -1: there is no command, or it goes on. */
static int
command_status(const struct prof_counting_status *status)
{
	if (!status->ks_command_done)
		return (-1);
	return (WIFEXITED(status->ks_command_status) ?
	    WEXITSTATUS(status->ks_command_status) :
	    128 + WTERMSIG(status->ks_command_status));
}

/* The values of a run that has ended. */
static int
values_keep(struct run *run)
{
	struct count *count = run->rn_count;
	const struct prof_counting_status *status = &run->rn_status;
	const size_t n = count->co_nruns, nevents = count->co_nevents;
	struct prof_counted *counted;
	double *times;
	int *statuses;

	counted = reallocarray(count->co_counted, (n + 1) * nevents + 1,
	    sizeof(*counted));
	if (counted != NULL)
		count->co_counted = counted;
	times = reallocarray(count->co_times, (n + 1) * COUNT_NTIMES,
	    sizeof(*times));
	if (times != NULL)
		count->co_times = times;
	statuses = reallocarray(count->co_statuses, n + 1,
	    sizeof(*statuses));
	if (statuses != NULL)
		count->co_statuses = statuses;
	if (counted == NULL || times == NULL || statuses == NULL)
		return (-1);
	for (size_t e = 0; e < nevents; e++)
		prof_counting_value(count->co_counting, e,
		    &counted[n * nevents + e]);
	times += n * COUNT_NTIMES;
	times[COUNT_WALL] = (double)status->ks_wall_ns / 1e9;
	times[COUNT_USER] = status->ks_command_done ?
	    (double)status->ks_user_ns / 1e9 : NAN;
	times[COUNT_SYSTEM] = status->ks_command_done ?
	    (double)status->ks_system_ns / 1e9 : NAN;
	statuses[n] = command_status(status);
	count->co_nruns++;
	return (0);
}

/* Start the command. */
static int
command_arm(struct count *count)
{
	const struct count_options *co = count->co_options;
	const int saved = divert_begin((co->co_json || co->co_csv) &&
	    co->co_output == NULL);
	const int rv = prof_counting_arm(count->co_counting);

	divert_end(saved);
	return (rv);
}

int
count_one_run(struct count *count, bool is_warmup)
{
	const struct count_options *co = count->co_options;
	struct prof_counting *counting = count->co_counting;
	struct run run = { .rn_count = count };

	if (command_arm(count) == -1 || prof_counting_start(counting) == -1) {
		msg_prof("stat", prof_counting_error(counting));
		return (ending_status(prof_counting_error(counting)));
	}
	run.rn_begun_ns = term_now_ns();
	if (!is_warmup) {
		count_output_begin(count);
		/* Before it each run is armed, and its command started. */
		if (count->co_nruns + 1 == count->co_wanted)
			prof_counting_confine(counting);
	}
	if (co->co_duration.on_set)
		run.rn_ending.en_end_ns = run.rn_begun_ns +
		    co->co_duration.on_value;
	if (co->co_interval_ms.on_set)
		run.rn_next_ns = run.rn_begun_ns +
		    co->co_interval_ms.on_value * 1000000;
	prof_counting_status(counting, &run.rn_status);
	if (wait_for_end(&run) == -1) {
		msg_error("stat", "counting failed before the "
		    "end", "free memory, or use a longer -I");
		return (EXIT_DTPROF);
	}
	if (prof_counting_stop(counting) == -1) {
		msg_prof("stat", prof_counting_error(counting));
		return (EXIT_DTPROF);
	}
	prof_counting_status(counting, &run.rn_status);
	count->co_last_signal = run.rn_ending.en_interrupts > 1 ? SIGINT :
	    SIGTERM;
	if (is_warmup && count->co_interrupted) {
		msg_error("stat", "interrupted before anything was counted",
		    "wait for the warm-up runs of -w, or leave out -w");
		return (128 + (run.rn_ending.en_interrupts > 0 ?
		    SIGINT : SIGTERM));
	}
	if (is_warmup)
		return (0);
	/* Half a run among whole ones would spoil the mean. */
	if (count->co_interrupted && count->co_nruns > 0) {
		count->co_dropped_status = command_status(&run.rn_status);
		return (0);
	}
	if ((run.rn_next_ns != 0 && interval_end(&run, true) == -1) ||
	    values_keep(&run) == -1) {
		msg_error("stat", "out of memory", "free memory");
		return (EXIT_DTPROF);
	}
	return (0);
}
