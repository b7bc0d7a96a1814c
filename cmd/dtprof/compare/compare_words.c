/* SPDX-License-Identifier: ISC */
/*
 * What metrics are called, and how their values are written.  For all that
 * shows them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../bench/bench.h"
#include "compare.h"

const char *
compare_title(const char *metric)
{
	for (int m = 0; m < BENCH_NMETRICS; m++)
		if (strcmp(bench_metrics[m].mn_name, metric) == 0)
			return (bench_metrics[m].mn_title);
	return (metric);
}

/* Four digits and the unit that fits. */
void
compare_quantity(char *buffer, size_t size, double value, const char *unit)
{
	static const char *const times[] = { "s", "ms", "us", "ns" };
	int t = 0;

	if (!isfinite(value)) {
		snprintf(buffer, size, "-");
		return;
	}
	if (strcmp(unit, "bytes") == 0) {
		term_bytes(buffer, size, (uint64_t)fmax(0, value));
		return;
	}
	if (strcmp(unit, "ns") == 0)
		value /= 1e9;
	if (strcmp(unit, "s") == 0 || strcmp(unit, "ns") == 0) {
		for (; t < 3 && fabs(value) < 1 && value != 0; t++)
			value *= 1000;
		snprintf(buffer, size, "%.4g %s", value, times[t]);
		return;
	}
	snprintf(buffer, size, fabs(value) < 1e6 ? "%.6g" : "%.4g", value);
}
