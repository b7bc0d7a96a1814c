/* SPDX-License-Identifier: ISC */
/*
 * Turns a loop on one CPU for some time, and counts the timer interrupts of
 * another CPU meanwhile.
 *
 *	ticks cpu other ms
 *
 * Prints "turns interrupts", of the last ms milliseconds of the same time
 * and a tenth more: what a recorder does as the command begins is not in it.
 * Turns are those of the median slice of SLICE_NS, which a machine that is
 * taken away for a moment does not change, times the slices, times the share
 * of time in which nobody else had the CPU, by the kernel's own count.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLICE_NS	10000000UL

static volatile unsigned long sink;

static unsigned long
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((unsigned long)now.tv_sec * 1000000000UL +
	    (unsigned long)now.tv_nsec);
}

/* The n-th number of the line "LOC:" in /proc/interrupts. */
static unsigned long
interrupts(int cpu)
{
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned long value = 0;
	char line[65536], *at;

	if (file == NULL)
		exit(1);
	while (fgets(line, sizeof(line), file) != NULL) {
		if ((at = strstr(line, "LOC:")) == NULL)
			continue;
		at += strlen("LOC:");
		for (int n = 0; n <= cpu; n++)
			value = strtoul(at, &at, 10);
		break;
	}
	fclose(file);
	return (value);
}

static int
compare(const void *a, const void *b)
{
	const unsigned long x = *(const unsigned long *)a;
	const unsigned long y = *(const unsigned long *)b;

	return (x < y ? -1 : x > y);
}

/* How long this thread has waited for a CPU. */
static unsigned long
waited_ns(void)
{
	unsigned long waited = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	if (file == NULL || fscanf(file, "%*u %lu", &waited) != 1)
		exit(1);
	fclose(file);
	return (waited);
}

static unsigned long
turn(unsigned long ns)
{
	const unsigned long until = now_ns() + ns;
	unsigned long x = 1, turns = 0;

	for (; now_ns() < until; turns++)
		for (int i = 0; i < 500; i++)
			x = x * 6364136223846793005UL + 1442695040888963407UL;
	sink = x;
	return (turns);
}

/* Turns in so many slices; what was taken from us by others is taken off. */
static double
turns_in(unsigned long slices)
{
	unsigned long *count = calloc(slices, sizeof(*count));
	unsigned long waited = waited_ns(), n;
	double turns;

	if (count == NULL)
		exit(1);
	for (n = 0; n < slices; n++)
		count[n] = turn(SLICE_NS);
	waited = waited_ns() - waited;
	qsort(count, slices, sizeof(*count), compare);
	turns = (double)count[slices / 2] * (double)slices;
	free(count);
	return (turns * (1 - (double)waited / ((double)slices * SLICE_NS)));
}

int
main(int argc, char **argv)
{
	unsigned long slices, before;
	double turns;
	cpu_set_t set;

	if (argc != 4)
		return (2);
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	slices = strtoul(argv[3], NULL, 10) * 1000000UL / SLICE_NS;
	if (slices == 0 || sched_setaffinity(0, sizeof(set), &set) == -1)
		return (1);
	turn(slices * SLICE_NS / 10);
	before = interrupts(atoi(argv[2]));
	turns = turns_in(slices);
	printf("%.0f %lu\n", turns, interrupts(atoi(argv[2])) - before);
	return (0);
}
