/* SPDX-License-Identifier: ISC */
/*
 * A program without a C library: from its first instruction on it calls
 * close(0x40000000 + token) for the tokens 0 to 9, and then exits.
 */
#include <sys/syscall.h>

#define FIRST	0x40000000L
#define TOKENS	10

void	_start(void);

static long
call(long number, long argument)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile ("syscall" : "=a" (result) : "a" (number),
	    "D" (argument) : "rcx", "r11", "memory");
	return (result);
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = argument;

	__asm__ volatile ("svc 0" : "+r" (x0) : "r" (x8) : "memory");
	return (x0);
#endif
}

void
_start(void)
{
	for (long token = 0; token < TOKENS; token++)
		(void)call(SYS_close, FIRST + token);
	for (;;)
		(void)call(SYS_exit_group, 0);
}
