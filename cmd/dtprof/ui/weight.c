/* SPDX-License-Identifier: ISC */
/*
 * Quantities as people read them.  Used by the tables of report, annotate and
 * their headlines.
 */
#include <stdio.h>
#include <string.h>

#include "terminal.h"

void
weight_text(char *text, size_t size, uint64_t weight, const char *unit)
{
	static const char *const times[] = { "ns", "us", "ms", "s" };
	static const char *const counts[] = { "", " k", " M", " G", " T",
	    " P", " E" };
	const bool is_time = strcmp(unit, "ns") == 0;
	const bool is_bytes = strcmp(unit, "bytes") == 0;
	const unsigned last = is_time ? 3 : 6;
	const char *name;
	const uint64_t scale = prof_unit_scale(unit, &name);
	double value = (double)weight / (double)scale;
	unsigned n = 0;

	if (scale > 1 && value < 999.5) {
		snprintf(text, size, "%.4g", value);
		return;
	}
	for (; value >= 999.5 && n < last; n++)
		value /= 1000;
	snprintf(text, size, n == 0 || value >= 999.5 ? "%.0f%s%s%s" :
	    value >= 99.95 ? "%.1f%s%s%s" : "%.2f%s%s%s", value,
	    is_time || (is_bytes && n == 0) ? " " : "",
	    is_time ? times[n] : counts[n], is_bytes ? "B" : "");
}

const char *
weight_head(const char *unit)
{
	static const char *const counts[] = { "events", "counts", "samples" };
	const char *name;

	(void)prof_unit_scale(unit, &name);
	if (strcmp(unit, "ns") == 0)
		return ("time");
	for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
		if (strcmp(name, counts[n]) == 0)
			return ("count");
	return (name);
}

void
weight_time(char *text, size_t size, uint64_t ns)
{
	const double s = (double)ns / 1e9;

	if (ns < 1000)
		snprintf(text, size, "%u ns", (unsigned)ns);
	else if (s < 0.9995)
		snprintf(text, size, s < 0.0009995 ? "%.3g us" : "%.3g ms",
		    s * (s < 0.0009995 ? 1e6 : 1e3));
	else
		snprintf(text, size, s < 9.995 ? "%.2f s" :
		    s < 99.95 ? "%.1f s" : "%.0f s", s);
}
