/* SPDX-License-Identifier: ISC */
/*
 * Recordings of many machines to a comparison: each becomes what its host did
 * in windows of time, with the work that was done in them.  Windows in which
 * samples were lost are left out, and counted.
 *
 * Called by cmd_compare.c in the place of compare_runs.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define NS_PER_S	1000000000ULL
#define MOST_LOST	0.01	/* of the samples of a window */

/* A window of a recording. */
struct part {
	uint64_t	*pa_samples;	/* by event */
	uint64_t	*pa_lost;
};

/* A recording, while it is read. */
struct file {
	struct prof_reader *fi_reader;
	const char	*fi_path;
	uint64_t	 fi_shift_ns;	/* from its clock to UTC */
	uint64_t	 fi_first;	/* window of UTC */
	struct part	*fi_part;
	size_t		 fi_nparts;
	bool		*fi_is_unit;	/* by event */
	bool		*fi_is_wanted;
	long		 fi_event;	/* whose costs are compared; -1: none */
};

bool
compare_are_hosts(const struct series *const series[2])
{
	const char *host = NULL;
	bool several = false;

	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < series[s]->se_nruns; r++) {
			const char *of = series[s]->se_run[r].sr_host;

			if (of == NULL)
				return (false);
			several |= host != NULL && strcmp(host, of) != 0;
			host = of;
		}
	return (several);
}

static int
hosts_fail(const struct costs *ct)
{
	return (msg_prof(ct->ct_command,
	    prof_comparison_error(ct->ct_comparison)));
}

/* ------------------------------------------------------- what is in it */

/* Times of a store are UTC. */
static int
clock_find(const struct costs *ct, struct file *file)
{
	const char *real, *mono;

	if (prof_reader_info(file->fi_reader, "store") != NULL)
		return (0);
	real = prof_reader_info(file->fi_reader, "time.realtime_ns");
	mono = prof_reader_info(file->fi_reader, "time.monotonic_ns");
	if (real == NULL || mono == NULL)
		return (msg_fail(ct->ct_command, "record again with this "
		    "version of dtprof",
		    "%s: the recording does not contain its date and time",
		    file->fi_path));
	file->fi_shift_ns = strtoull(real, NULL, 10) -
	    strtoull(mono, NULL, 10);
	return (0);
}

/* The part of a time; NULL: no memory, or a time that cannot be. */
static struct part *
part_at(const struct costs *ct, struct file *file, uint64_t time_ns)
{
	const size_t nevents = prof_reader_nevents(file->fi_reader);
	const uint64_t window = (time_ns + file->fi_shift_ns) /
	    ct->ct_window_ns;

	if (file->fi_nparts == 0)
		file->fi_first = window;
	if (window < file->fi_first ||
	    window - file->fi_first > COMPARE_WINDOWS)
		return (NULL);
	while (file->fi_nparts <= window - file->fi_first) {
		struct part *part = prof_append(&file->fi_part,
		    &file->fi_nparts, sizeof(*part));

		if (part == NULL || (part->pa_samples = calloc(2 * nevents + 1,
		    sizeof(uint64_t))) == NULL)
			return (NULL);
		part->pa_lost = part->pa_samples + nevents;
	}
	return (&file->fi_part[window - file->fi_first]);
}

/* Which windows it is in, and what was lost in each. */
static int
parts_find(const struct costs *ct, struct file *file)
{
	const size_t nevents = prof_reader_nevents(file->fi_reader);
	const struct prof_record *record;
	struct part *part;
	int rv;

	while ((rv = prof_reader_borrow(file->fi_reader, &record)) == 1) {
		if ((record->pr_type != PROF_R_SAMPLE &&
		    record->pr_type != PROF_R_LOST) ||
		    record->pr_event >= nevents)
			continue;
		part = part_at(ct, file, record->pr_time_ns);
		if (part == NULL)
			return (msg_fail(ct->ct_command, "choose longer "
			    "time windows with --window", "%s: the recording "
			    "covers more than %d time windows",
			    file->fi_path, COMPARE_WINDOWS));
		if (record->pr_type == PROF_R_SAMPLE)
			part->pa_samples[record->pr_event]++;
		else
			part->pa_lost[record->pr_event] += record->pr_weight;
	}
	if (rv == -1)
		return (msg_prof(ct->ct_command,
		    prof_reader_error(file->fi_reader)));
	(void)prof_reader_rewind(file->fi_reader);
	return (0);
}

static bool
has_samples(const struct file *file, size_t event)
{
	for (size_t p = 0; p < file->fi_nparts; p++)
		if (file->fi_part[p].pa_samples[event] > 0)
			return (true);
	return (false);
}

/* The first event that may cost, with samples or without; -1: none. */
static long
event_choose(struct costs *ct, const struct file *file, bool with_samples)
{
	for (size_t e = 1; e < prof_reader_nevents(file->fi_reader); e++)
		if (file->fi_is_wanted[e] && !file->fi_is_unit[e] &&
		    (has_samples(file, e) || !with_samples) &&
		    compare_is_event(ct, prof_reader_event(file->fi_reader,
		    e)))
			return ((long)e);
	return (-1);
}

/*
 * What has samples decides which event is compared, not who comes first; then
 * work without samples cost nothing.
 */
static int
event_find(struct costs *ct, struct file *file)
{
	const struct prof_reader *reader = file->fi_reader;

	file->fi_is_wanted = choose_events(ct->ct_command, reader,
	    ct->ct_events);
	file->fi_is_unit = compare_unit_events(ct, reader, file->fi_path);
	if (file->fi_is_wanted == NULL || file->fi_is_unit == NULL)
		return (-1);
	file->fi_event = event_choose(ct, file, true);
	if (file->fi_event == -1 && ct->ct_event != NULL)
		file->fi_event = event_choose(ct, file, false);
	return (0);
}

static bool
is_lossy(const struct file *file, const struct part *part)
{
	for (size_t e = 1; e < prof_reader_nevents(file->fi_reader); e++)
		if ((file->fi_is_unit[e] || (long)e == file->fi_event) &&
		    (double)part->pa_lost[e] > MOST_LOST *
		    (double)(part->pa_lost[e] + part->pa_samples[e]))
			return (true);
	return (false);
}

/* ----------------------------------------------------------------- costs */

static void
part_range(const struct costs *ct, const struct file *file, size_t p,
    struct prof_profile_options *options)
{
	const uint64_t from_ns = (file->fi_first + p) * ct->ct_window_ns -
	    file->fi_shift_ns;
	const uint64_t to_ns = from_ns + ct->ct_window_ns;

	/* The first may begin before the clock did. */
	if (p > 0 && from_ns > options->pl_from_ns)
		options->pl_from_ns = from_ns;
	if (options->pl_to_ns == 0 || to_ns < options->pl_to_ns)
		options->pl_to_ns = to_ns;
}

static int
part_add(struct costs *ct, const struct file *file, int side, size_t p,
    const struct series_run *from, const struct prof_profile *profile)
{
	const double units = compare_units(file->fi_reader, profile,
	    file->fi_is_unit);
	long run;

	/* Work that cost nothing counts, a share of nothing does not. */
	if (ct->ct_per == NULL &&
	    prof_profile_weight(profile, (size_t)file->fi_event) == 0)
		return (0);
	run = prof_comparison_window(ct->ct_comparison, side, from->sr_host,
	    ct->ct_anyway ? "" : from->sr_traits,
	    (uint32_t)(file->fi_first + p));
	if (run == -1 || (ct->ct_per != NULL &&
	    prof_comparison_units(ct->ct_comparison, run, units) == -1) ||
	    prof_comparison_profile(ct->ct_comparison, run, profile,
	    (size_t)file->fi_event) == -1)
		return (hosts_fail(ct));
	return (0);
}

static int
parts_add(struct costs *ct, const struct file *file, int side,
    const struct series_run *from)
{
	struct prof_err error = { 0 };
	struct prof_symbols *symbols = prof_symbols_open(file->fi_reader,
	    NULL, &error);
	int rv = symbols == NULL ? msg_prof(ct->ct_command, &error) : 0;

	if (symbols != NULL)
		prof_symbols_share(symbols, &ct->ct_shared);
	for (size_t p = 0; p < file->fi_nparts && rv == 0; p++) {
		struct prof_profile_options options = ct->ct_profile;
		struct prof_profile *profile;

		if (is_lossy(file, &file->fi_part[p])) {
			ct->ct_lossy++;
			continue;
		}
		options.pl_filter = ct->ct_filter[side];
		if (ct->ct_time[side] != NULL && choose_range(ct->ct_command,
		    file->fi_reader, ct->ct_time[side], &options) == -1) {
			rv = -1;
			break;
		}
		part_range(ct, file, p, &options);
		if (options.pl_from_ns >= options.pl_to_ns)
			continue;
		profile = prof_profile_new(file->fi_reader, symbols, &options,
		    &error);
		rv = profile == NULL ? msg_fail(ct->ct_command, error.pe_cure,
		    "%s: %s", file->fi_path, error.pe_text) :
		    part_add(ct, file, side, p, from, profile);
		prof_profile_free(profile);
	}
	prof_symbols_close(symbols);
	return (rv);
}

/* Its windows; or, while no event has been chosen, what it has alone. */
static int
file_add(struct costs *ct, int side, const struct series_run *from,
    bool is_choosing)
{
	struct file file = { .fi_path = from->sr_profile, .fi_event = -1 };
	struct prof_err error = { 0 };
	int rv = -1;

	file.fi_reader = input_read(ct->ct_command, from->sr_profile, &error);
	if (file.fi_reader == NULL)
		return (msg_fail(ct->ct_command, error.pe_cure, "%s: %s",
		    from->sr_profile, error.pe_text));
	if (clock_find(ct, &file) == 0 && parts_find(ct, &file) == 0 &&
	    event_find(ct, &file) == 0)
		rv = is_choosing || file.fi_event == -1 ? 0 :
		    parts_add(ct, &file, side, from);
	if (!is_choosing) {
		ct->ct_without += file.fi_event == -1;
		input_say_cut(ct->ct_command, file.fi_reader);
	}
	while (file.fi_nparts > 0)
		free(file.fi_part[--file.fi_nparts].pa_samples);
	free(file.fi_part);
	free(file.fi_is_unit);
	free(file.fi_is_wanted);
	prof_reader_close(file.fi_reader);
	return (rv);
}

/* ---------------------------------------------------------- confounders */

/* The value of a trait, "cpus: 2\n", in lines of them; NULL. */
static const char *
trait_value(const char *traits, const char *name, size_t *length)
{
	const size_t n = strlen(name);

	for (; *traits != '\0'; traits += strcspn(traits, "\n") + 1)
		if (strncmp(traits, name, n) == 0 && traits[n] == ':') {
			*length = strcspn(traits + n + 2, "\n");
			return (traits + n + 2);
		}
	return (NULL);
}

static bool
are_alike(const struct series_run *a, const struct series_run *b,
    const char *name)
{
	size_t x, y;
	const char *of_a = trait_value(a->sr_traits, name, &x);
	const char *of_b = trait_value(b->sr_traits, name, &y);

	return (of_a == NULL || of_b == NULL ||
	    (x == y && memcmp(of_a, of_b, x) == 0));
}

/* Has no host of the base what a host of the new has? */
static bool
is_apart(const struct series *const series[2], const char *name)
{
	for (size_t a = 0; a < series[0]->se_nruns; a++)
		for (size_t b = 0; b < series[1]->se_nruns; b++)
			if (are_alike(&series[0]->se_run[a],
			    &series[1]->se_run[b], name))
				return (false);
	return (true);
}

static int
kind_refuse(const struct costs *ct, const struct series *const series[2])
{
	for (size_t t = 0; compare_traits[t] != NULL; t++) {
		size_t x, y;
		const char *a, *b;

		if (!is_apart(series, compare_traits[t]))
			continue;
		a = trait_value(series[0]->se_run[0].sr_traits,
		    compare_traits[t], &x);
		b = trait_value(series[1]->se_run[0].sr_traits,
		    compare_traits[t], &y);
		return (msg_fail(ct->ct_command, "compare hosts of one kind, "
		    "or add --anyway", "no verdict: a change may come from %s, "
		    "not from the version: hosts with \"%.*s\" ran only base, "
		    "and hosts with \"%.*s\" ran only new", compare_traits[t],
		    (int)x, a, (int)y, b));
	}
	return (msg_fail(ct->ct_command, "compare hosts of one kind, or add "
	    "--anyway", "no verdict: a change may come from the kind of host, "
	    "not from the version: no two hosts with the same kernel, "
	    "processor and number of CPUs ran base and new"));
}

static int
confounded_refuse(const struct costs *ct, const struct series *const series[2])
{
	switch (prof_comparison_hosts(ct->ct_comparison)->ph_confounder) {
	case PROF_CONFOUNDER_TIME:
		return (msg_error(ct->ct_command, "no verdict: a change may "
		    "come from the time, not from the version: base and new "
		    "never ran in the same window", "let some hosts run the "
		    "old version while other hosts run the new version, or "
		    "use longer windows (--window)"));
	case PROF_CONFOUNDER_KIND:
		return (kind_refuse(ct, series));
	case PROF_CONFOUNDER_NONE:
		break;
	}
	return (0);
}

/* What is new first: as compare_runs does. */
static int
files_add(struct costs *ct, const struct series *const series[2],
    bool is_choosing)
{
	int rv = 0;

	for (int s = 1; s >= 0; s--)
		for (size_t r = 0; r < series[s]->se_nruns && rv == 0 &&
		    !(is_choosing && ct->ct_event != NULL); r++)
			rv = file_add(ct, s, &series[s]->se_run[r],
			    is_choosing);
	return (rv);
}

int
compare_hosts(struct costs *ct, const struct series *const series[2])
{
	int rv = compare_give_renames(ct);

	if (rv == 0)
		rv = files_add(ct, series, true);
	if (rv == 0 && ct->ct_event != NULL)
		rv = files_add(ct, series, false);
	if (rv == 0 && ct->ct_without > 0)
		msg_note(ct->ct_command, "recordings without event %.*s are "
		    "left out: %zu", (int)strcspn(ct->ct_event, " "),
		    ct->ct_event,
		    ct->ct_without);
	if (rv == 0)
		rv = compare_name_total(ct);
	if (rv == 0 && prof_comparison_finish(ct->ct_comparison) == -1)
		rv = hosts_fail(ct);
	compare_costs_free(ct);
	if (rv == 0 && prof_comparison_hosts(ct->ct_comparison) == NULL)
		rv = msg_error(ct->ct_command, "there are no samples in any "
		    "window",
		    "check --filter, --per and the recordings");
	return (rv == 0 ? confounded_refuse(ct, series) : rv);
}
