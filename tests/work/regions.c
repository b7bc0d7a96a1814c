/* SPDX-License-Identifier: ISC */
/*
 * Regions that are marked for spans (prof_region.h): "outer" so often as the
 * argument says, and in each of these three times "inner", which ends in two
 * places.
 */
#include <stdlib.h>

#include "../../libprof/prof_region.h"

#define INNER	3

static volatile unsigned long sink;

static void
inner_run(int n)
{
	PROF_REGION_BEGIN(inner);
	sink += (unsigned long)n;
	if (n % 2 == 0) {
		PROF_REGION_END(inner);
		return;
	}
	sink++;
	PROF_REGION_END(inner);
}

int
main(int argc, char **argv)
{
	const int times = argc > 1 ? atoi(argv[1]) : 1;

	for (int n = 0; n < times; n++) {
		PROF_REGION_BEGIN(outer);
		for (int i = 0; i < INNER; i++)
			inner_run(i);
		PROF_REGION_END(outer);
	}
	return (0);
}
