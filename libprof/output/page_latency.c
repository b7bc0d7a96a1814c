/* SPDX-License-Identifier: ISC */
/*
 * Durations of calls and spans in the head of a page, by time: four rows for
 * each power of 2 (reports/README.md).  Called by page.c.
 */
#include <inttypes.h>

#include "export.h"
#include "profile/profile_impl.h"

#define ROWS	8u	/* of the library in one of the page */
#define COLUMNS	2000u	/* no more: a browser draws each of their cells */

/* So often two buckets become a column. */
static unsigned
halvings_needed(const struct prof_latency *of)
{
	unsigned n = 0;

	while (of->lt_cell[of->lt_ncells - 1].lc_bucket >> n >= COLUMNS)
		n++;
	return (n);
}

static void
put_rows(const struct prof_latency *of, uint32_t first, uint32_t last,
    struct prof_buf *out)
{
	prof_put_fmt(out, ",\"columns\":%" PRIu32 ",\"rows_ns\":[",
	    (of->lt_cell[of->lt_ncells - 1].lc_bucket >>
	    halvings_needed(of)) + 1);
	/* One more, where the last row ends. */
	for (uint32_t row = first; row <= last + 1; row++)
		prof_put_fmt(out, "%s%" PRIu64, row == first ? "" : ",",
		    prof_latency_row_ns(row * ROWS));
	prof_put_str(out, "]");
}

/*
 * Cells are in order, so those of a bucket that are one in the page come
 * together; the page adds up those of a column.
 */
static void
put_cells(const struct prof_latency *of, uint32_t first,
    struct prof_buf *out)
{
	const struct prof_latency_cell *cell = of->lt_cell;
	const unsigned halved = halvings_needed(of);
	uint64_t sum = 0;

	prof_put_str(out, ",\"cells\":[");
	for (size_t n = 0; n < of->lt_ncells; n++) {
		sum += cell[n].lc_count;
		if (n + 1 < of->lt_ncells &&
		    cell[n + 1].lc_bucket == cell[n].lc_bucket &&
		    cell[n + 1].lc_row / ROWS == cell[n].lc_row / ROWS)
			continue;
		prof_put_fmt(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 "%s",
		    cell[n].lc_bucket >> halved,
		    cell[n].lc_row / ROWS - first, sum,
		    n + 1 < of->lt_ncells ? "," : "");
		sum = 0;
	}
	prof_put_str(out, "]}");
}

static void
put_latency(const struct prof_latency *of, uint64_t start_ns,
    struct prof_buf *out)
{
	uint32_t first = UINT32_MAX, last = 0;

	for (size_t n = 0; n < of->lt_ncells; n++) {
		const uint32_t row = of->lt_cell[n].lc_row / ROWS;

		first = row < first ? row : first;
		last = row > last ? row : last;
	}
	prof_put_str(out, "\n {\"name\":");
	prof_put_json(out, of->lt_name);
	prof_put_fmt(out, ",\"count\":%" PRIu64 ",\"lost\":%" PRIu64
	    ",\"begin_ns\":%" PRIu64 ",\"cell_ns\":%" PRIu64, of->lt_count,
	    of->lt_lost, of->lt_from_ns - start_ns,
	    of->lt_bucket_ns << halvings_needed(of));
	put_rows(of, first, last, out);
	put_cells(of, first, out);
}

/* Of calls those of the events that are shown. */
static bool
is_shown(const struct prof_flame *flame, const struct prof_latency *of)
{
	return (of->lt_ncells > 0 && (of->lt_kind != NULL ||
	    prof_flame_find(flame, of->lt_event) < flame->fm_nevents));
}

void
prof_flame_put_latencies(const struct prof_flame *flame, uint64_t start_ns,
    struct prof_buf *out)
{
	const struct prof_latencies *latencies = flame->fm_profile == NULL ?
	    NULL : flame->fm_profile->pf_latencies;
	const struct prof_latency *of;
	const char *separator = "\"latency\":[";

	for (size_t n = 0; latencies != NULL &&
	    (of = prof_latencies_at(latencies, n)) != NULL; n++) {
		if (!is_shown(flame, of))
			continue;
		prof_put_str(out, separator);
		put_latency(of, start_ns, out);
		separator = ",";
	}
	if (separator[0] == ',')
		prof_put_str(out, "],\n");
}
