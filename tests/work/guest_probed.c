/* SPDX-License-Identifier: ISC */
/*
 * Enters functions of its own and of the kernel so many times: leaf N times,
 * nested N, getppid(2) N, and is left by one of two returns.  For the guest,
 * where it is linked statically.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/syscall.h>

long	leaf(long n, const char *text);
long	nested(long n);

__attribute__((noinline)) long
leaf(long n, const char *text)
{
	if (text[0] == 'o')
		return (n * 2);
	__asm__ volatile("");
	return (n + text[0]);
}

__attribute__((noinline)) long
nested(long n)
{
	long sum = leaf(n, n & 1 ? "odd" : "even");

	__asm__ volatile("");
	return (sum + 1);
}

int
main(int argc, char *argv[])
{
	const long n = argc > 1 ? atol(argv[1]) : 0;
	long sum = 0;

	for (long i = 0; i < n; i++) {
		sum += nested(i);
		(void)syscall(SYS_getppid);
	}
	printf("%ld\n", sum);
	return (0);
}
