/* SPDX-License-Identifier: ISC */
/*
 * Turns a loop on one CPU for some time, and counts the timer interrupts of
 * another CPU meanwhile.
 *
 *	ticks cpu other ms
 *
 * Prints "turns interrupts", of the last ms milliseconds of the same time
 * and a tenth more: what a recorder does as the command begins is not in it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static unsigned long
turn(unsigned long ns)
{
	const unsigned long until = now_ns() + ns;
	unsigned long x = 1, turns = 0;

	for (; now_ns() < until; turns++)
		for (int i = 0; i < 10000; i++)
			x = x * 6364136223846793005UL + 1442695040888963407UL;
	sink = x;
	return (turns);
}

int
main(int argc, char **argv)
{
	unsigned long ns, turns, before;
	cpu_set_t set;

	if (argc != 4)
		return (2);
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	ns = strtoul(argv[3], NULL, 10) * 1000000UL;
	if (ns == 0 || sched_setaffinity(0, sizeof(set), &set) == -1)
		return (1);
	turn(ns / 10);
	before = interrupts(atoi(argv[2]));
	turns = turn(ns);
	printf("%lu %lu\n", turns, interrupts(atoi(argv[2])) - before);
	return (0);
}
