/* SPDX-License-Identifier: ISC */
/*
 * Functions to put probes on, by what their first instruction is, below ten
 * callers:
 *
 *	probes nop|nop5|push|other|endbr|usdt N
 *
 * Calls the function N times and prints the CPU time of a call in nanoseconds,
 * which is the process's own, so that of the trap is in it.  Its argument goes
 * from 0 to 15 and begins again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH	10

#define FUNCTION(name, first, rest)					\
	long at_##name(long n);						\
	__asm__ (".text\n"						\
	"	.globl at_" #name "\n"					\
	"	.type at_" #name ", @function\n"			\
	"at_" #name ":\n"						\
	"	.cfi_startproc\n"					\
	first rest							\
	"	ret\n"							\
	"	.cfi_endproc\n"						\
	"	.size at_" #name ", . - at_" #name "\n")

#define BODY	"	mov %rdi, %rax\n"
#define FRAME								\
	"	.cfi_def_cfa_offset 16\n"				\
	"	.cfi_offset %rbp, -16\n"				\
	"	mov %rsp, %rbp\n"					\
	"	.cfi_def_cfa_register %rbp\n" BODY			\
	"	pop %rbp\n"						\
	"	.cfi_def_cfa %rsp, 8\n"

FUNCTION(nop, "	nop\n", BODY);
FUNCTION(nop5, "	.byte 0x0f, 0x1f, 0x44, 0, 0\n", BODY);
FUNCTION(push, "	push %rbp\n", FRAME);
FUNCTION(other, "", BODY);
FUNCTION(endbr, "	endbr64\n	push %rbp\n", FRAME);

static unsigned short volatile usdt_semaphore
    __attribute__((section(".probes"), used));

/* As SystemTap's sys/sdt.h writes it. */
static __attribute__((noinline)) long
at_usdt(long n)
{
	__asm__ volatile (
	"990:	nop\n"
	"	.pushsection .note.stapsdt, \"\", \"note\"\n"
	"	.balign 4\n"
	"	.4byte 992f-991f, 994f-993f, 3\n"
	"991:	.asciz \"stapsdt\"\n"
	"992:	.balign 4\n"
	"993:	.8byte 990b\n"
	"	.8byte _.stapsdt.base\n"
	"	.8byte usdt_semaphore\n"
	"	.asciz \"bench\"\n"
	"	.asciz \"turn\"\n"
	"	.asciz \"-8@%0\"\n"
	"994:	.balign 4\n"
	"	.popsection\n"
	"	.pushsection .stapsdt.base, \"aG\", \"progbits\", "
	".stapsdt.base, comdat\n"
	"	.weak _.stapsdt.base\n"
	"	.hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	"	.size _.stapsdt.base, 1\n"
	"	.popsection\n" :: "r" (n));
	return (n + usdt_semaphore);
}

static const struct {
	const char	*wh_name;
	long		 (*wh_call)(long n);
} what[] = {
	{ "nop", at_nop }, { "nop5", at_nop5 }, { "push", at_push },
	{ "other", at_other }, { "endbr", at_endbr }, { "usdt", at_usdt }
};

static double
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec * 1e9 + (double)ts.tv_nsec);
}

static __attribute__((noinline)) double
turns(long (*volatile call)(long), long n, int depth)
{
	double from, each;

	if (depth < DEPTH) {
		each = turns(call, n, depth + 1);
		__asm__ volatile ("" ::: "memory");
		return (each);
	}
	from = now_ns();
	for (long i = 0; i < n; i++)
		(void)call(i & 15);
	return ((now_ns() - from) / (double)n);
}

int
main(int argc, char **argv)
{
	const long n = argc == 3 ? atol(argv[2]) : 0;

	for (size_t i = 0; n > 0 && i < sizeof(what) / sizeof(what[0]); i++)
		if (strcmp(argv[1], what[i].wh_name) == 0) {
			printf("%.2f\n", turns(what[i].wh_call, n, 0));
			return (0);
		}
	fprintf(stderr, "probes nop|nop5|push|other|endbr|usdt N\n");
	return (2);
}
