/* SPDX-License-Identifier: ISC */
/*
 * A function whose frame information does not hold for its last instructions,
 * where the program is nearly all the time.  Its stack is known:
 *
 *	last KIND
 *
 *	right	the frame information is right
 *		last_right hold_right down (21 times) main ... _start
 *	wrong	its return address is looked for in its caller's frame, where
 *		there is a 0
 *		last_wrong, and no more
 *	later	... where there is one that leads into decoy, which did not
 *		call, and whose own return address is a 0
 *		last_wrong decoy, and no more
 *
 * Goes on until it is killed.
 */
#include <stdio.h>
#include <string.h>

#define DEPTH	20
/* What a call was for happens after it, so it is no jump. */
#define AFTER	__asm__ volatile("" ::: "memory")

void	hold_right(void);
void	hold_wrong(void);
void	hold_later(void);

/*
 * last_*: leaves its frame, and only then turns a loop; FIX is what has to
 * stand between them.  hold_*: calls it out of a frame of zeros, amid which
 * lies PLANTED, where the rule that does not hold looks.
 */
#define FUNCTION(name, code)						\
	__asm__(".text\n.globl " name "\n.type " name ", %function\n"	\
	    name ":\n.cfi_startproc\n" code "\n.cfi_endproc\n"		\
	    ".size " name ", . - " name "\n")

#if defined(__x86_64__)
#define LAST(name, fix)							\
	FUNCTION(name, "subq $24, %rsp\n.cfi_adjust_cfa_offset 24\n"	\
	    "addq $24, %rsp\n" fix "movl $20000, %ecx\n"		\
	    ".p2align 4\n1: subl $1, %ecx\njnz 1b\nret")
#define HOLD(name, last, planted)					\
	FUNCTION(name, "subq $40, %rsp\n.cfi_adjust_cfa_offset 40\n"	\
	    planted "movq $0, (%rsp)\nmovq $0, 8(%rsp)\n"		\
	    "movq %rax, 16(%rsp)\nmovq $0, 24(%rsp)\n"			\
	    "movq $0, 32(%rsp)\ncall " last "\naddq $40, %rsp\n"	\
	    ".cfi_adjust_cfa_offset -40\nret")
#define FIX		".cfi_adjust_cfa_offset -24\n"
#define NOTHING		"xorl %eax, %eax\n"
#define INTO_DECOY	"leaq decoy_back(%rip), %rax\n"
FUNCTION("decoy", "subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
    "call last_right\ndecoy_back: addq $8, %rsp\n"
    ".cfi_adjust_cfa_offset -8\nret");
#elif defined(__aarch64__)
#define LAST(name, fix)							\
	FUNCTION(name, "stp x29, x30, [sp, -48]!\n"			\
	    ".cfi_def_cfa_offset 48\n.cfi_offset 29, -48\n"		\
	    ".cfi_offset 30, -40\nldp x29, x30, [sp], 48\n" fix		\
	    "mov w9, 20000\n1: subs w9, w9, 1\nb.ne 1b\nret")
#define HOLD(name, last, planted)					\
	FUNCTION(name, "sub sp, sp, 112\nstp x29, x30, [sp, 96]\n"	\
	    ".cfi_def_cfa_offset 112\n.cfi_offset 29, -16\n"		\
	    ".cfi_offset 30, -8\n" planted "stp xzr, x9, [sp]\n"	\
	    "stp xzr, xzr, [sp, 16]\nstp xzr, xzr, [sp, 32]\n"		\
	    "stp xzr, xzr, [sp, 48]\nstp xzr, xzr, [sp, 64]\n"		\
	    "stp xzr, xzr, [sp, 80]\nbl " last "\n"			\
	    "ldp x29, x30, [sp, 96]\nadd sp, sp, 112\n"			\
	    ".cfi_restore 30\n.cfi_restore 29\n"			\
	    ".cfi_def_cfa_offset 0\nret")
#define FIX		".cfi_restore 30\n.cfi_restore 29\n"		\
			".cfi_def_cfa_offset 0\n"
#define NOTHING		"mov x9, 0\n"
#define INTO_DECOY	"adr x9, decoy_back\n"
FUNCTION("decoy", "sub sp, sp, 32\nstp x29, x30, [sp, 16]\n"
    ".cfi_def_cfa_offset 32\n.cfi_offset 29, -16\n.cfi_offset 30, -8\n"
    "bl last_right\ndecoy_back: ldp x29, x30, [sp, 16]\n"
    "add sp, sp, 32\n.cfi_restore 30\n.cfi_restore 29\n"
    ".cfi_def_cfa_offset 0\nret");
#endif

LAST("last_right", FIX);
LAST("last_wrong", "");
HOLD("hold_right", "last_right", NOTHING);
HOLD("hold_wrong", "last_wrong", NOTHING);
HOLD("hold_later", "last_wrong", INTO_DECOY);

static void
down(int depth, void (*hold)(void))
{
	if (depth > 0)
		down(depth - 1, hold);
	else
		hold();
	AFTER;
}

int
main(int argc, char *argv[])
{
	static const struct {
		const char	*kind;
		void		(*hold)(void);
	} kinds[] = {
		{ "right", hold_right }, { "wrong", hold_wrong },
		{ "later", hold_later },
	};
	size_t n;

	for (n = 0; argc > 1 && n < sizeof(kinds) / sizeof(*kinds); n++)
		while (strcmp(kinds[n].kind, argv[1]) == 0)
			down(DEPTH, kinds[n].hold);
	fprintf(stderr, "usage: last right|wrong|later\n");
	return (2);
}
