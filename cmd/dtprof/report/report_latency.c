/* SPDX-License-Identifier: ISC */
/*
 * report --plot latency: how long calls and spans took, by the time at which
 * they ended: as text, as a picture by gnuplot (plot.c), or as the numbers
 * (.tsv), whose rows are at most 3.2% wide.  Each call that has a duration is
 * in one cell, so cells sum to the calls.
 *
 *	syscall:read: 3 calls, 0 lost
 *	p50 1.02 ms, p90 3.31 ms, p99 9.8 ms, max 9.8 ms
 *
 *	  8.39 ms |      @   |        1
 *	  4.19 ms |          |        0
 *	  2.10 ms |   @      |        1
 *	  1.05 ms |         @|        1
 *
 * Called by cmd_report.c instead of the table.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../opt/spans.h"
#include "../ui/plot.h"
#include "../ui/terminal.h"
#include "report.h"

#define POWER		32u	/* rows of the library in a power of 2 */
#define DRAWN		8u	/* and in a row of a picture */
#define SHADES		" .:-=+*#%@"
#define LABEL		9	/* columns of a row's least duration */
#define COUNTS		14	/* of what stands beside the map */
#define WIDTH		80	/* of what is no terminal */
#define LEAST		20

/* Cells put together: rows of durations by steps of time. */
struct map {
	const struct prof_latency *ma_of;
	uint32_t	 ma_each;	/* rows of the library in one */
	uint32_t	 ma_first;	/* the row of the shortest */
	size_t		 ma_nrows;
	size_t		 ma_nsteps;
	uint64_t	 ma_step_ns;
	uint64_t	*ma_count;	/* by row, then step */
	uint64_t	 ma_most;
};

/* Free also after -1. */
static int
map_make(struct map *map, const struct prof_latency *of, uint32_t each,
    size_t max_steps)
{
	uint32_t low = UINT32_MAX, high = 0;
	size_t last = 0, step;

	for (size_t n = 0; n < of->lt_ncells; n++) {
		const struct prof_latency_cell *cell = &of->lt_cell[n];

		last = cell->lc_bucket;
		low = cell->lc_row < low ? cell->lc_row : low;
		high = cell->lc_row > high ? cell->lc_row : high;
	}
	step = (last + max_steps) / max_steps;
	*map = (struct map){ .ma_of = of, .ma_each = each,
	    .ma_first = low / each,
	    .ma_nrows = of->lt_ncells == 0 ? 0 : high / each - low / each + 1,
	    .ma_nsteps = last / step + 1,
	    .ma_step_ns = step * of->lt_bucket_ns };
	map->ma_count = calloc(map->ma_nrows * map->ma_nsteps + 1,
	    sizeof(*map->ma_count));
	if (map->ma_count == NULL)
		return (msg_error("report", "out of memory", "free memory"));
	for (size_t n = 0; n < of->lt_ncells; n++) {
		uint64_t *count = &map->ma_count[(of->lt_cell[n].lc_row / each -
		    map->ma_first) * map->ma_nsteps +
		    of->lt_cell[n].lc_bucket / step];

		*count += of->lt_cell[n].lc_count;
		if (*count > map->ma_most)
			map->ma_most = *count;
	}
	return (0);
}

/* Its least duration; of the row after it, where it ends. */
static uint64_t
row_ns(const struct map *map, size_t row)
{
	return (prof_latency_row_ns((map->ma_first + (uint32_t)row) *
	    map->ma_each));
}

/* ---------------------------------------------------------- quantiles */

/* Upper end of the row that has the value of this rank, from 1 on. */
static uint64_t
rank_ns(const struct map *map, uint64_t rank)
{
	uint64_t sum = 0;
	size_t row;

	for (row = 0; row < map->ma_nrows; row++) {
		for (size_t step = 0; step < map->ma_nsteps; step++)
			sum += map->ma_count[row * map->ma_nsteps + step];
		if (sum >= rank)
			break;
	}
	return (row_ns(map, row + 1) - 1);
}

/* As stat has them: upper ends of buckets. */
static int
quantiles_text(const struct prof_latency *of, char *text, size_t size)
{
	static const struct {
		const char	*qu_name;
		unsigned	 qu_percent;
	} quantiles[] = { { "p50", 50 }, { "p90", 90 }, { "p99", 99 },
	    { "max", 100 } };
	struct map map;
	char time[32];
	size_t length = 0;

	if (map_make(&map, of, 1, 1) == -1)
		return (-1);
	for (size_t n = 0; n < sizeof(quantiles) / sizeof(quantiles[0]); n++) {
		weight_time(time, sizeof(time), rank_ns(&map,
		    (of->lt_count / 100) * quantiles[n].qu_percent +
		    (of->lt_count % 100 * quantiles[n].qu_percent + 99) /
		    100));
		length += (size_t)snprintf(text + length, size - length,
		    "%s%s %s", n == 0 ? "" : ", ", quantiles[n].qu_name, time);
	}
	free(map.ma_count);
	return (0);
}

/* What it is made of, and what is missing. */
static void
count_text(const struct prof_latency *of, char *text, size_t size)
{
	const int n = snprintf(text, size, "%" PRIu64 " %s, %" PRIu64 " lost",
	    of->lt_count, of->lt_kind != NULL ? "spans" : strncmp(of->lt_name,
	    "off-cpu", 7) == 0 ? "waits" : "calls", of->lt_lost);

	if (of->lt_unknown > 0)
		snprintf(text + n, size - (size_t)n, ", %" PRIu64
		    " of unknown duration", of->lt_unknown);
}

/* --------------------------------------------------------------- text */

/* The more, the darker: by the root, so that what is rare shows, too. */
static char
shade_of(const struct map *map, uint64_t count)
{
	const size_t most = sizeof(SHADES) - 2;

	if (count == 0)
		return (SHADES[0]);
	return (SHADES[1 + (size_t)(sqrt((double)count /
	    (double)map->ma_most) * (double)(most - 1))]);
}

static void
put_row(struct out *out, const struct map *map, size_t row)
{
	uint64_t sum = 0, count;
	char text[32];

	weight_time(text, sizeof(text), row_ns(map, row));
	out_fmt(out, "%*s |", LABEL, text);
	for (size_t step = 0; step < map->ma_nsteps; step++) {
		count = map->ma_count[row * map->ma_nsteps + step];
		out_char(out, shade_of(map, count));
		sum += count;
	}
	out_fmt(out, "| %*" PRIu64 "\n", COUNTS - 4, sum);
}

static int
put_map(struct out *out, const struct prof_latency *of, size_t width)
{
	char begin[32], counts[128], quantiles[160], step[32];
	struct map map;

	count_text(of, counts, sizeof(counts));
	OUT(out, of->lt_name, ": ", counts);
	out_char(out, '\n');
	if (of->lt_count == 0)
		return (0);
	if (quantiles_text(of, quantiles, sizeof(quantiles)) == -1)
		return (-1);
	out_str(out, quantiles);
	out_str(out, "\n\n");
	if (map_make(&map, of, POWER, width) == -1)
		return (-1);
	for (size_t row = map.ma_nrows; row-- > 0;)
		put_row(out, &map, row);
	weight_time(step, sizeof(step), map.ma_step_ns);
	weight_time(begin, sizeof(begin), of->lt_begin_ns);
	out_fmt(out, "%*s  time since the start%s%s, %s per column; '@' stands "
	    "for the largest count, %" PRIu64 "\n", LABEL, "",
	    of->lt_begin_ns == 0 ? "" :
	    ", from ", of->lt_begin_ns == 0 ? "" : begin, step, map.ma_most);
	free(map.ma_count);
	return (0);
}

static int
latency_show(const struct report_latency *latency,
    const struct prof_latency **of, size_t n)
{
	struct terminal terminal = { .te_fd = STDOUT_FILENO };
	size_t width = WIDTH;
	struct out out;
	int rv = 0;

	terminal_begin(&terminal, latency->rl_color);
	if (terminal.te_width != 0)
		width = terminal.te_width;
	width = width < LABEL + COUNTS + LEAST ? LEAST :
	    width - LABEL - COUNTS;
	out_init(&out, terminal.te_fd);
	for (size_t i = 0; i < n && rv == 0; i++) {
		out_str(&out, i == 0 ? "" : "\n");
		rv = put_map(&out, of[i], width);
	}
	out_str(&out, "\nEach row is labeled with its shortest duration. "
	    "Quantiles and max are at most\n3.2% too high.\n");
	return (terminal_end(&terminal, "report", out_end(&out, "report")) ==
	    0 ? rv : -1);
}

/* ------------------------------------------------------------- pictures */

/* Rows of the file; those of a picture end above 0, for its scale. */
static int
put_cells(FILE *file, const struct prof_latency *of, uint32_t each)
{
	const bool is_drawn = each > 1;
	struct map map;
	uint64_t low;

	if (map_make(&map, of, each, PLOT_STEPS) == -1)
		return (-1);
	for (size_t i = 0; i < map.ma_nrows * map.ma_nsteps; i++) {
		if (map.ma_count[i] == 0)
			continue;
		if (!is_drawn) {
			plot_text(file, of->lt_name);
			fputc('\t', file);
		}
		report_put_seconds(file, of->lt_begin_ns +
		    i % map.ma_nsteps * map.ma_step_ns);
		fputc('\t', file);
		report_put_seconds(file, map.ma_step_ns);
		low = row_ns(&map, i / map.ma_nsteps);
		fputc('\t', file);
		report_put_seconds(file, low == 0 && is_drawn ? 1 : low);
		fputc('\t', file);
		report_put_seconds(file, row_ns(&map, i / map.ma_nsteps + 1));
		fprintf(file, "\t%" PRIu64 "\n", map.ma_count[i]);
	}
	free(map.ma_count);
	return (0);
}

static int
write_numbers(struct plot_dir *dir, const struct prof_latency **of, size_t n)
{
	FILE *file = plot_file(dir, "latency.tsv");
	int rv = 0;

	if (file == NULL)
		return (-1);
	fputs("of\ttime\tlength\tfrom\tbelow\tcount\n", file);
	for (size_t i = 0; i < n; i++)
		rv |= put_cells(file, of[i], 1);
	return (plot_close(dir, file, "latency.tsv") == -1 ? -1 : rv);
}

static int
write_title(struct plot_dir *dir, const struct prof_latency *of)
{
	char counts[128], quantiles[160];
	FILE *file;

	count_text(of, counts, sizeof(counts));
	if (quantiles_text(of, quantiles, sizeof(quantiles)) == -1 ||
	    (file = plot_file(dir, "title.tsv")) == NULL)
		return (-1);
	plot_text(file, of->lt_name);
	fprintf(file, ": %s; %s\n", counts, quantiles);
	return (plot_close(dir, file, "title.tsv"));
}

static int
write_drawing(struct plot_dir *dir, const struct prof_latency *of)
{
	FILE *file;
	int rv;

	if (write_title(dir, of) == -1 ||
	    (file = plot_file(dir, "latency.tsv")) == NULL)
		return (-1);
	fputs("time\tlength\tfrom\tbelow\tcount\n", file);
	rv = put_cells(file, of, DRAWN);
	return (plot_close(dir, file, "latency.tsv") == -1 ? -1 : rv);
}

static int
nothing_to_draw(const struct prof_latency *of)
{
	char counts[128];

	count_text(of, counts, sizeof(counts));
	return (msg_fail("report", "see dtprof report --stats",
	    "--plot latency: %s: %s", of->lt_name, counts));
}

static int
latency_plot(const struct report_latency *latency,
    const struct prof_latency **of, size_t n)
{
	const char *type = plot_type(latency->rl_output);
	const bool is_numbers = strcmp(type, "tsv") == 0;
	struct plot_dir dir;
	int rv = -1;

	if (!is_numbers && n > 1)
		return (msg_fail("report", "choose an event or span with -e, "
		    "e.g. -e 'span:request', or use -o with a name ending in "
		    ".tsv",
		    "--plot latency draws only one event or kind of span, and "
		    "there are %zu: '%s', '%s', ...", n, of[0]->lt_name,
		    of[1]->lt_name));
	if (!is_numbers && of[0]->lt_count == 0)
		return (nothing_to_draw(of[0]));
	if (plot_begin(&dir, "report") == -1)
		return (-1);
	if (is_numbers && write_numbers(&dir, of, n) == 0)
		rv = plot_fetch(&dir, "latency.tsv", latency->rl_output);
	else if (!is_numbers && write_drawing(&dir, of[0]) == 0)
		rv = plot_draw(&dir, PLOT_DRAWS_LATENCY, type,
		    latency->rl_output);
	plot_remove(&dir);
	return (rv);
}

/* ----------------------------------------------------------------- all */

static bool
is_named(const char *name, const struct prof_latency *of)
{
	return (fnmatch(name, of->lt_name, 0) == 0);
}

static bool
is_asked(const struct report_latency *latency, const struct prof_latency *of)
{
	const struct opt_strings *names = latency->rl_names;

	if (names->os_n == 0)
		return (of->lt_count > 0);
	for (size_t n = 0; n < names->os_n; n++)
		if (is_named(names->os_text[n], of))
			return (true);
	return (false);
}

/* Each name is one of a call or of spans. */
static int
names_check(const struct prof_latencies *all,
    const struct report_latency *latency)
{
	const struct opt_strings *names = latency->rl_names;
	const struct prof_latency *of;

	for (size_t n = 0; n < names->os_n; n++) {
		size_t i = 0;

		while ((of = prof_latencies_at(all, i)) != NULL &&
		    !is_named(names->os_text[n], of))
			i++;
		if (of == NULL)
			return (msg_fail("report", "list events with dtprof "
			    "report --by event, and spans with dtprof report "
			    "--by span",
			    "--event %s: no such call or span in this "
			    "recording", names->os_text[n]));
	}
	return (0);
}

/* Those that are asked for; how many, or -1. */
static ssize_t
latency_choose(const struct prof_latencies *all,
    const struct report_latency *latency, const struct prof_latency ***chosen)
{
	const struct prof_latency *of;
	size_t n = 0, count = 0;

	if (names_check(all, latency) == -1)
		return (-1);
	while (prof_latencies_at(all, n) != NULL)
		n++;
	*chosen = calloc(n + 1, sizeof(**chosen));
	if (*chosen == NULL)
		return (msg_error("report", "out of memory", "free memory"));
	for (n = 0; (of = prof_latencies_at(all, n)) != NULL; n++)
		if (is_asked(latency, of))
			(*chosen)[count++] = of;
	if (count == 0)
		return (msg_error("report", "--plot latency: no call, wait "
		    "or span to show", n == 0 ? "record calls, waits or spans, "
		    "e.g. with -e syscall:read or --span NAME=BEGIN,END" :
		    "use a less strict --filter or time range, or run dtprof "
		    "report --stats to see what was recorded"));
	return ((ssize_t)count);
}

/* Warn of what may make the picture wrong. */
static void
latency_doubt(const struct prof_latency *of)
{
	if (of->lt_kind != NULL)
		spans_doubt("report", of->lt_kind);
	else if (of->lt_missed != 0)
		msg_warning("report", "%s: the kernel skipped %" PRIu64
		    " calls, which are not shown", of->lt_name,
		    of->lt_missed);
}

int
report_latency(const struct report *report,
    const struct report_latency *latency)
{
	struct prof_err error = { 0 };
	struct prof_latencies *all = prof_latencies_new(report->re_reader,
	    latency->rl_options, &error);
	const struct prof_latency **of = NULL;
	ssize_t n;
	int rv = -1;

	input_say_cut("report", report->re_reader);
	if (all == NULL)
		return (msg_prof("report", &error));
	n = latency_choose(all, latency, &of);
	for (ssize_t i = 0; i < n; i++)
		latency_doubt(of[i]);
	if (n > 0)
		rv = (strcmp(latency->rl_output, "-") == 0 ? latency_show :
		    latency_plot)(latency, of, (size_t)n);
	free(of);
	prof_latencies_free(all);
	return (rv);
}
