/* SPDX-License-Identifier: ISC */
/*
 * Static probes, made by hand as sys/sdt.h makes them: operands of each form,
 * two places of one probe, a semaphore.
 *
 *	usdt N		prints N lines: the arguments of each firing
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE(name, semaphore, args)					\
	"990: nop\n"							\
	".pushsection .note.stapsdt,\"?\",\"note\"\n"			\
	".balign 4\n"							\
	".4byte 992f-991f, 994f-993f, 3\n"				\
	"991: .asciz \"stapsdt\"\n"					\
	"992: .balign 4\n"						\
	"993: .8byte 990b\n"						\
	".8byte _.stapsdt.base\n"					\
	".8byte " semaphore "\n"					\
	".asciz \"mine\"\n"						\
	".asciz \"" name "\"\n"						\
	".asciz \"" args "\"\n"						\
	"994: .balign 4\n"						\
	".popsection\n"							\
	".ifndef _.stapsdt.base\n"					\
	".pushsection .stapsdt.base,\"aG\",\"progbits\","		\
	".stapsdt.base,comdat\n"					\
	".weak _.stapsdt.base\n"					\
	".hidden _.stapsdt.base\n"					\
	"_.stapsdt.base: .space 1\n"					\
	".size _.stapsdt.base, 1\n"					\
	".popsection\n"							\
	".endif\n"

volatile unsigned short mine_guarded_semaphore
    __attribute__((section(".probes"), used));
int64_t		table[16];
static unsigned fired;

__attribute__((noinline)) static void
registers(int64_t a, int32_t b, int16_t c, uint8_t d)
{
	__asm__ volatile(NOTE("registers", "0", "-8@%0 -4@%k1 -2@%w2 1@%b3")
	    : : "r"(a), "r"(b), "r"(c), "q"(d));
}

/* Constants and memory, one of them at another place of the same probe. */
__attribute__((noinline)) static void
memory(const int64_t *at, int64_t index, const char *text)
{
	int64_t local = at[index] * 3;

	__asm__ volatile(NOTE("memory", "0",
	    "-8@%0 -4@%1 8@$77 -4@$-7 -8@(%2,%3,8) 8@%4 4@8(%2)")
	    : : "m"(local), "m"(local), "r"(at), "r"(index), "r"(text));
}

__attribute__((noinline)) static void
elsewhere(const int64_t *at, int64_t index, const char *text)
{
	__asm__ volatile(NOTE("memory", "0",
	    "-8@$5 -4@$6 8@$7 -4@$8 -8@%1 8@%2 4@8(%0)")
	    : : "r"(at), "r"(index), "r"(text));
}

__attribute__((noinline)) static void
guarded(int64_t a)
{
	if (mine_guarded_semaphore == 0)
		return;
	fired++;
	__asm__ volatile(NOTE("guarded", "mine_guarded_semaphore", "-8@%0")
	    : : "r"(a));
}

int
main(int argc, char *argv[])
{
	const int n = argc > 1 ? atoi(argv[1]) : 0;
	char text[32];

	for (int i = 0; i < n; i++) {
		int64_t a = (int64_t)0x0123456789abcdef * (i + 1) - i;

		for (int t = 0; t < 16; t++)
			table[t] = (int64_t)i * 1000000007 * (t - 8);
		snprintf(text, sizeof(text), "text %d", i);
		registers(a, (int32_t)a, (int16_t)a, (uint8_t)a);
		memory(table, i & 15, text);
		elsewhere(table, i & 15, text);
		guarded(a);
		printf("%lld %d %d %u %lld %d %lld \"%s\" %u\n", (long long)a,
		    (int32_t)a, (int16_t)a, (uint8_t)a,
		    (long long)(table[i & 15] * 3),
		    (int32_t)(table[i & 15] * 3), (long long)table[i & 15],
		    text, (uint32_t)table[1]);
	}
	printf("%u\n", fired);
	return (0);
}
