/* SPDX-License-Identifier: ISC */
/*
 * Histograms of dtprof stat --hist for people: buckets merged to powers of 2,
 * or in the steps asked for, as bpftrace shows them.
 *
 *	ret of read, comm cat:
 *	[0]                    1 |@                                       |
 *	[64K, 128K)           16 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
 *
 * Called by by_text.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "by.h"

#define BAR	40		/* columns of the longest */
#define LINES	(2 * 66)	/* powers of 2 of either sign, and 0 */
#define STEPS	1002

/* Lines of one histogram, in order of values. */
struct lines {
	uint64_t	 li_count[STEPS];
	size_t		 li_n;
	size_t		 li_first;	/* that is not empty */
	size_t		 li_last;
	uint64_t	 li_most;
};

/* A whole number of 1024s as bpftrace writes it. */
static void
number_text(char *text, size_t size, uint64_t value, bool is_signed)
{
	static const char units[] = " KMGTPE";
	const bool is_negative = is_signed && (int64_t)value < 0;
	uint64_t rest = is_negative ? -value : value;
	size_t unit = 0;

	while (rest != 0 && rest % 1024 == 0) {
		rest /= 1024;
		unit++;
	}
	snprintf(text, size, "%s%" PRIu64 "%.*s", is_negative ? "-" : "",
	    rest, unit != 0, &units[unit]);
}

/* 1 + n for values from 2^n on; 0 for 0. */
static unsigned
power_of(uint64_t value)
{
	return (value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value));
}

/* Line of a logarithmic bucket: LINES / 2 is 0. */
static size_t
line_of(uint32_t bucket, const struct prof_bucket_ends *ends)
{
	if (bucket & DTP_BUCKET_NEGATIVE)
		return (LINES / 2 - power_of(-ends->be_high));
	return (LINES / 2 + power_of(ends->be_low));
}

static void
lines_make(const struct by *by, const struct prof_measured *of,
    const struct dtp_measure *measure, struct lines *lines)
{
	const bool is_linear = measure->gm_histogram == DTP_HIST_LINEAR;

	memset(lines, 0, sizeof(*lines));
	lines->li_n = is_linear ? measure->gm_nsteps + 2 : LINES;
	for (size_t i = 0; i < of->me_nbuckets; i++) {
		const struct prof_group_bucket *bucket =
		    &by->by_groups.gs_bucket[of->me_first + i];
		const struct prof_bucket_ends ends = prof_bucket_ends(measure,
		    bucket->bu_bucket);
		const size_t at = is_linear ? bucket->bu_bucket :
		    line_of(bucket->bu_bucket, &ends);

		if (at < lines->li_n)
			lines->li_count[at] += bucket->bu_count;
	}
	lines->li_first = lines->li_n;
	for (size_t at = 0; at < lines->li_n; at++) {
		if (lines->li_count[at] == 0)
			continue;
		if (lines->li_first == lines->li_n)
			lines->li_first = at;
		lines->li_last = at;
		if (lines->li_count[at] > lines->li_most)
			lines->li_most = lines->li_count[at];
	}
}

/* "[4, 8)", "[1]", "(-8, -4]", "(..., 0)" */
static void
label_log(char *text, size_t size, size_t at)
{
	const unsigned power = (unsigned)(at > LINES / 2 ? at - LINES / 2 :
	    LINES / 2 - at);
	const bool is_negative = at < LINES / 2;
	char low[32], high[32];

	if (power <= 1) {
		snprintf(text, size, "[%s%u]", is_negative ? "-" : "", power);
		return;
	}
	number_text(low, sizeof(low), 1ULL << (power - 1), false);
	if (power == 64)
		snprintf(high, sizeof(high), "16E");
	else
		number_text(high, sizeof(high), 1ULL << power, false);
	if (is_negative)
		snprintf(text, size, "(-%s, -%s]", high, low);
	else
		snprintf(text, size, "[%s, %s)", low, high);
}

static void
label_linear(char *text, size_t size, const struct dtp_measure *measure,
    size_t at)
{
	const uint64_t from = measure->gm_low +
	    (at - 1) * measure->gm_step;
	char low[32], high[32];

	number_text(low, sizeof(low), at == 0 ? measure->gm_low : from, true);
	number_text(high, sizeof(high), from + measure->gm_step, true);
	if (at == 0)
		snprintf(text, size, "(..., %s)", low);
	else if (at > measure->gm_nsteps)
		snprintf(text, size, "[%s, ...)", low);
	else
		snprintf(text, size, "[%s, %s)", low, high);
}

static void
put_line(struct out *out, const char *label, uint64_t count, uint64_t most)
{
	const int bar = (int)((double)count * BAR / (double)most);

	out_fmt(out, "%-18s %10" PRIu64 " |", label, count);
	for (int n = 0; n < BAR; n++)
		out_char(out, n < bar ? '@' : ' ');
	out_str(out, "|\n");
}

static void
put_histogram(const struct by *by, const struct prof_group *group,
    const struct dtp_measure *measure, uint32_t m, struct out *out)
{
	const struct prof_measured *of = &group->gr_measured[m];
	struct lines lines;
	uint64_t filed = 0;
	char label[80];

	lines_make(by, of, measure, &lines);
	for (size_t at = lines.li_first; at < lines.li_n &&
	    at <= lines.li_last; at++) {
		if (measure->gm_histogram == DTP_HIST_LINEAR)
			label_linear(label, sizeof(label), measure, at);
		else
			label_log(label, sizeof(label), at);
		put_line(out, label, lines.li_count[at], lines.li_most);
		filed += lines.li_count[at];
	}
	/* Of this field: others, and errors, are unfiled, too. */
	if (group->gr_unfiled > 0 && filed < of->me_count)
		out_fmt(out, "%" PRIu64 " values have no bucket: the table of "
		    "buckets was full\n",
		    of->me_count - filed);
}

static void
put_title(const struct by *by, const struct by_event *event,
    const struct prof_group *group, uint32_t m, struct out *out)
{
	OUT(out, "\n", by->by_grouping.gp_measure[m].me_field);
	if (event->be_event->ev_grouping.gp_measure[m].gm_field ==
	    DTP_F_DURATION)
		out_str(out, " (ns)");
	for (size_t k = 0; k < by->by_grouping.gp_nby; k++) {
		OUT(out, k == 0 ? ", " : " ", by->by_grouping.gp_by[k], " ");
		by_key(event, group, k, out);
	}
	out_str(out, ":\n");
}

void
by_histograms(const struct by *by, const struct by_event *event,
    struct out *out)
{
	for (uint32_t m = 0; m < by->by_grouping.gp_nmeasures; m++) {
		if ((by->by_wanted[m] & BY_WANTS_HISTOGRAM) == 0)
			continue;
		for (size_t n = 0; n < by_rows_shown(by, event); n++) {
			put_title(by, event, event->be_row[n], m, out);
			put_histogram(by, event->be_row[n], &event->be_event->
			    ev_grouping.gp_measure[m], m, out);
		}
	}
}
