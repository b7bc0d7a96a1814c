/* SPDX-License-Identifier: ISC */
/*
 * Calls lseek(2) again and again, numbered from 0 on by the lower 31 bits of
 * the offset; the upper ones, and the other arguments, are noise that cannot be
 * compressed:
 *
 *	sequence N FILE [US]
 *
 * until there were N calls (0: until SIGTERM), with a pause of US microseconds
 * after each 64.  FILE is mapped, and its first 8 bytes are how many there were
 * so far.  Prints their number at the end.  The second half of N calls is made
 * by another function.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static useconds_t pause_us;

static void
end(int number)
{
	(void)number;
	is_over = 1;
}

static void
call(uint64_t number)
{
	uint64_t noise = (number + 1) * 0x9e3779b97f4a7c15ULL;

	noise = (noise ^ noise >> 30) * 0xbf58476d1ce4e5b9ULL;
	noise = (noise ^ noise >> 27) * 0x94d049bb133111ebULL;
	(void)syscall(SYS_lseek, (unsigned)(noise >> 20) & INT32_MAX, number |
	    (noise >> 33) << 31, (unsigned)noise & INT32_MAX);
	if (pause_us != 0 && number % 64 == 63)
		usleep(pause_us);
}

__attribute__((noinline)) static uint64_t
first_half(volatile uint64_t *made, uint64_t until)
{
	for (; *made < until && !is_over; ++*made)
		call(*made);
	return (*made);
}

__attribute__((noinline)) static uint64_t
second_half(volatile uint64_t *made, uint64_t until)
{
	for (; *made < until && !is_over; ++*made)
		call(*made);
	return (*made * 1);
}

int
main(int argc, char **argv)
{
	const uint64_t n = argc >= 3 ? strtoull(argv[1], NULL, 10) : 0;
	const int file = argc >= 3 ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC,
	    0600) : -1;
	volatile uint64_t *made;

	if (file == -1 || ftruncate(file, sizeof(*made)) == -1)
		return (1);
	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED,
	    file, 0);
	if (made == MAP_FAILED)
		return (1);
	if (argc > 3)
		pause_us = (useconds_t)strtoul(argv[3], NULL, 10);
	signal(SIGTERM, end);
	first_half(made, n == 0 ? UINT64_MAX : n / 2);
	printf("%llu\n", (unsigned long long)second_half(made, n));
	return (0);
}
