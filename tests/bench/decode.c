/* SPDX-License-Identifier: ISC */
/*
 * Reads every record of a recording, does nothing with it, and says how many
 * samples, user frames and seconds of CPU time that were.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "recording/query.h"

static double
cpu_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return ((double)now.tv_sec + (double)now.tv_nsec / 1e9);
}

int
main(int argc, char *argv[])
{
	struct prof_reader *reader;
	struct prof_record record;
	struct prof_err error;
	uint64_t samples = 0, frames = 0, first_ns = 0;
	int got;

	if (argc != 2)
		return (2);
	reader = prof_reader_open(argv[1], &error);
	if (reader == NULL) {
		(void)fprintf(stderr, "%s\n", error.pe_text);
		return (1);
	}
	while ((got = prof_reader_record(reader, &record)) == 1) {
		if (record.pr_type != PROF_R_SAMPLE)
			continue;
		if (samples++ == 0)
			first_ns = record.pr_time_ns;
		frames += record.pr_nuser;
	}
	prof_reader_close(reader);
	printf("%" PRIu64 " %" PRIu64 " %.6f %" PRIu64 "\n", samples, frames,
	    cpu_seconds(), first_ns);
	return (got == 0 ? 0 : 1);
}
