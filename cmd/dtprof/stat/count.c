/* SPDX-License-Identifier: ISC */
/*
 * dtprof stat at work: events, then run after run (count_run.c), then means
 * and ratios of what was kept, and one of count_text.c, count_json.c and
 * count_csv.c to show them.
 *
 * Called by cmd_stat.c with options that make sense together.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count.h"

static int	 add_events(struct count *count,
		    const struct opt_strings *events);
static int	 add_default(struct count *count);
static bool	 open_output(struct count *count);
static int	 count_finish(struct count *count);
static int	 exit_status(const struct count *count);
static void	 count_fini(struct count *count);

/* --------------------------------------------------------------- events */

/* The event that was added last is less than what was asked for. */
static void
tell_if_reduced(const struct count *count, const char *asked)
{
	const size_t n = prof_counting_nevents(count->co_counting);
	const char *got = prof_counting_event(count->co_counting,
	    n - 1)->ce_name;
	const char *end = strrchr(got, ':');

	if (!count->co_options->co_quiet && end != NULL &&
	    strcmp(end, ":u") == 0 && strpbrk(asked, ":/") == NULL)
		msg_note("stat", "%s: counted in user space only, as the "
		    "kernel does not permit more (see perf_event_paranoid in "
		    "dtprof(1))", got);
}

static int
add_events(struct count *count, const struct opt_strings *events)
{
	if (events->os_n == 0)
		return (add_default(count));
	for (size_t n = 0; n < events->os_n; n++) {
		if (prof_counting_add(count->co_counting,
		    events->os_text[n]) == -1)
			return (-1);
		tell_if_reduced(count, events->os_text[n]);
	}
	return (0);
}

/*
 * One of the default set; or none, when this machine does not have it, or
 * does not let this user have it as it did the one before.
 */
static int
add_one(struct count *count, const char *name, char *missing, size_t size)
{
	struct prof_counting *counting = count->co_counting;
	const struct prof_err *error = prof_counting_error(counting);

	if (prof_counting_add(counting, name) == 0)
		return (0);
	/* As a pair they may have no counters, one by one they may. */
	if (name[0] == '{')
		return (1);
	if (error->pe_code != PROF_E_EVENT_UNSUPPORTED &&
	    error->pe_code != PROF_E_EVENT_UNKNOWN &&
	    (error->pe_code != PROF_E_PERMISSION ||
	    prof_counting_nevents(counting) == 0))
		return (-1);
	if (missing[0] != '\0')
		strncat(missing, ", ", size - strlen(missing) - 1);
	strncat(missing, name, size - strlen(missing) - 1);
	return (0);
}

/* In pairs that make ratios: both of a pair count at the same time. */
static int
add_default(struct count *count)
{
	static const char *const names[] = {
		"task-clock", "context-switches", "cpu-migrations",
		"page-faults", "{cycles,instructions}", "cycles",
		"instructions", "{branches,branch-misses}", "branches",
		"branch-misses", "{cache-references,cache-misses}",
		"cache-references", "cache-misses", NULL
	};
	char missing[256] = "";
	int rv;

	for (size_t n = 0; names[n] != NULL; n++) {
		const char *name = names[n];

		if (n == 0 && count->co_what->co_target == PROF_TARGET_ALL)
			name = "cpu-clock";
		rv = add_one(count, name, missing, sizeof(missing));
		if (rv == -1)
			return (-1);
		/* The pair has been added: not each of it again. */
		if (rv == 0 && name[0] == '{')
			n += 2;
	}
	if (missing[0] != '\0' && !count->co_options->co_quiet)
		msg_note("stat", "not counted on this machine: %s (for the "
		    "reason see dtprof list --counters)", missing);
	return (0);
}

/* -------------------------------------------------------------- results */

int
count_share_of(const struct prof_counted *value)
{
	if (value->cd_enabled_ns == 0)
		return (-1);
	if (value->cd_running_ns >= value->cd_enabled_ns)
		return (100000);
	return ((int)((double)value->cd_running_ns * 100000 /
	    (double)value->cd_enabled_ns));
}

int
count_share(const struct count *count, size_t event)
{
	struct prof_counted sum = { 0 };

	for (size_t r = 0; r < count->co_nruns; r++) {
		const struct prof_counted *value =
		    &count->co_counted[r * count->co_nevents + event];

		sum.cd_enabled_ns += value->cd_enabled_ns;
		sum.cd_running_ns += value->cd_running_ns;
	}
	return (count_share_of(&sum));
}

bool
count_is_partial(const struct count *count, size_t event)
{
	const int share = count_share(count, event);

	return (share != -1 && share < 100000);
}

/* Runs in which it is not known are left out. */
static int
series_summarize(struct count_series *series, size_t nruns)
{
	double *known;
	size_t n = 0;
	int rv;

	if ((known = calloc(nruns + 1, sizeof(*known))) == NULL)
		return (-1);
	for (size_t r = 0; r < nruns; r++)
		if (!isnan(series->cs_values[r]))
			known[n++] = series->cs_values[r];
	rv = prof_summarize(known, n, &series->cs_summary);
	free(known);
	return (rv);
}

static int
summarize_event(struct count *count, size_t event)
{
	const struct prof_counted_event *info =
	    prof_counting_event(count->co_counting, event);
	struct count_series *series = &count->co_event[event];

	series->cs_name = info->ce_name;
	series->cs_unit = info->ce_unit;
	series->cs_values = calloc(count->co_nruns + 1, sizeof(double));
	if (series->cs_values == NULL)
		return (-1);
	for (size_t r = 0; r < count->co_nruns; r++) {
		const struct prof_counted *value =
		    &count->co_counted[r * count->co_nevents + event];

		series->cs_values[r] = value->cd_is_known ?
		    (double)value->cd_estimate * info->ce_scale : NAN;
	}
	count->co_nhardware += info->ce_is_hardware != 0;
	return (series_summarize(series, count->co_nruns));
}

static int
count_finish(struct count *count)
{
	static const char *const names[COUNT_NTIMES] = {
		"wall time", "user time", "system time"
	};
	bool partial = false;

	count->co_event = calloc(count->co_nevents + 1,
	    sizeof(*count->co_event));
	if (count->co_event == NULL)
		return (-1);
	for (size_t e = 0; e < count->co_nevents; e++) {
		if (summarize_event(count, e) == -1)
			return (-1);
		partial |= count_is_partial(count, e);
	}
	for (size_t t = 0; t < COUNT_NTIMES; t++) {
		struct count_series *series = &count->co_time[t];

		series->cs_name = names[t];
		series->cs_unit = "s";
		series->cs_values = calloc(count->co_nruns + 1,
		    sizeof(double));
		if (series->cs_values == NULL)
			return (-1);
		for (size_t r = 0; r < count->co_nruns; r++)
			series->cs_values[r] =
			    count->co_times[r * COUNT_NTIMES + t];
		if (series_summarize(series, count->co_nruns) == -1)
			return (-1);
	}
	if (partial)
		count->co_fitting = prof_counting_fitting(count->co_counting);
	if (count_metrics(count) == -1)
		return (-1);
	for (size_t m = 0; m < count->co_nmetrics; m++)
		if (series_summarize(&count->co_metric[m].cm_series,
		    count->co_nruns) == -1)
			return (-1);
	return (0);
}

/* The command's: of several runs the first that is not 0. */
static int
exit_status(const struct count *count)
{
	struct prof_counting_status status;

	for (size_t r = 0; r < count->co_nruns; r++)
		if (count->co_statuses[r] > 0)
			return (count->co_statuses[r]);
	if (count->co_dropped_status > 0)
		return (count->co_dropped_status);
	prof_counting_status(count->co_counting, &status);
	if (status.ks_command_pid == 0 || status.ks_command_done)
		return (0);
	msg_note("stat", "the command is still running, as process %d",
	    status.ks_command_pid);
	return (128 + count->co_last_signal);
}

static void
count_fini(struct count *count)
{
	for (size_t e = 0; count->co_event != NULL && e < count->co_nevents;
	    e++)
		free(count->co_event[e].cs_values);
	for (size_t t = 0; t < COUNT_NTIMES; t++)
		free(count->co_time[t].cs_values);
	for (size_t m = 0; m < count->co_nmetrics; m++)
		free(count->co_metric[m].cm_series.cs_values);
	for (size_t n = 0; n < count->co_nintervals; n++)
		free(count->co_interval[n].ci_added);
	free(count->co_interval);
	free(count->co_last);
	free(count->co_event);
	free(count->co_counted);
	free(count->co_times);
	free(count->co_statuses);
	prof_counting_close(count->co_counting);
	if (count->co_made && !count->co_has_begun)
		(void)unlink(count->co_options->co_output);
	if (count->co_out.ou_fd > STDERR_FILENO)
		close(count->co_out.ou_fd);
	free(count);
}

/* ------------------------------------------------------------- all of it */

/*
 * Before anything is counted: a name that cannot be written is no surprise.
 * What is there stays until something is: the command may be misspelt.
 */
static bool
open_output(struct count *count)
{
	const struct count_options *co = count->co_options;
	int fd = STDOUT_FILENO;

	if (co->co_output != NULL) {
		fd = file_create(co->co_output, O_WRONLY, &count->co_made);
		if (fd == -1) {
			msg_fail("stat", "choose a file that can be written",
			    "%s: %s", co->co_output, strerror(errno));
			return (false);
		}
	} else if (!co->co_json && !co->co_csv &&
	    count->co_what->co_argv != NULL)
		fd = STDERR_FILENO;
	out_init(&count->co_out, fd);
	if (co->co_output != NULL)
		count->co_out.ou_name = co->co_output;
	return (true);
}

void
count_output_begin(struct count *count)
{
	const struct count_options *co = count->co_options;
	struct stat st;

	if (count->co_has_begun)
		return;
	count->co_has_begun = true;
	/* Pipes and devices have nothing to be emptied of. */
	if (co->co_output != NULL &&
	    fstat(count->co_out.ou_fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    ftruncate(count->co_out.ou_fd, 0) == -1)
		count->co_out.ou_errno = errno;
	if (co->co_csv)
		count_csv_head(count);
}

static int
all_runs(struct count *count)
{
	const struct count_options *co = count->co_options;
	int status = 0;

	count->co_wanted = co->co_runs.on_set ? co->co_runs.on_value : 1;
	count->co_last = calloc(count->co_nevents + 1,
	    sizeof(*count->co_last));
	if (count->co_last == NULL) {
		msg_error("stat", "out of memory", "free memory");
		return (EXIT_DTPROF);
	}
	for (uint64_t n = 0; n < co->co_warmups.on_value && status == 0 &&
	    !count->co_interrupted; n++)
		status = count_one_run(count, true);
	for (uint64_t n = 0; n < count->co_wanted && status == 0 &&
	    !count->co_interrupted; n++)
		status = count_one_run(count, false);
	return (status);
}

static int
count_show(struct count *count)
{
	const struct count_options *co = count->co_options;
	const char *note;
	int status;

	if (count_finish(count) == -1) {
		msg_error("stat", "out of memory", "free memory");
		return (EXIT_DTPROF);
	}
	if (co->co_json)
		count_json(count);
	else if (co->co_csv)
		count_csv(count);
	else
		count_text(count);
	for (size_t n = 0; !co->co_quiet && (note =
	    prof_counting_note(count->co_counting, n)) != NULL; n++)
		msg_note("stat", "%s", note);
	if (co->co_runs.on_value > count->co_nruns && !co->co_quiet)
		msg_note("stat", "interrupted after %zu of %llu runs", count->
		    co_nruns, (unsigned long long)co->co_runs.on_value);
	status = out_end(&count->co_out, "stat");
	return (status == 0 ? exit_status(count) : EXIT_DTPROF);
}

int
count_run(const struct count_options *co,
    const struct prof_counting_options *what,
    const struct opt_strings *events)
{
	struct count *count = calloc(1, sizeof(*count));
	struct prof_err error = { 0 };
	int status = EXIT_DTPROF;

	if (count == NULL || signals_open() == -1) {
		msg_error("stat", "out of memory or file descriptors",
		    "free memory, and close some files");
		free(count);
		return (EXIT_DTPROF);
	}
	count->co_options = co;
	count->co_what = what;
	count->co_counting = prof_counting_open(what, &error);
	if (count->co_counting == NULL)
		msg_prof("stat", &error);
	else if (add_events(count, events) == -1)
		msg_prof("stat", prof_counting_error(count->co_counting));
	else if (open_output(count)) {
		count->co_nevents = prof_counting_nevents(count->co_counting);
		status = all_runs(count);
		if (status == 0)
			status = count_show(count);
	}
	count_fini(count);
	signals_close();
	return (status);
}
