/* SPDX-License-Identifier: ISC */
/*
 * Disturbs: writes through 64 MiB of memory, for a while, then rests for a
 * while, by chance, until it is killed.
 *
 *	hog seed
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SIZE	(64UL << 20)

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

int
main(int argc, char **argv)
{
	volatile unsigned char *memory = malloc(SIZE);

	if (memory == NULL)
		return (1);
	srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
	for (;;) {
		const double until = now() + 0.2 + rand() % 1500 / 1000.0;

		while (now() < until)
			for (size_t i = 0; i < SIZE; i += 64)
				memory[i]++;
		usleep((useconds_t)(rand() % 2000) * 1000);
	}
}
