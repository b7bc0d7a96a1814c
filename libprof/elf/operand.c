/* SPDX-License-Identifier: ISC */
/*
 * Arguments of static probes, as assemblers of both machines write operands:
 *
 *	x86-64	N@$5  N@%rdi  N@-8(%rbp)  N@(%rax)  N@8(%rax,%rbx,4)
 *	arm64	N@5  N@x0  N@[sp]  N@[sp, 16]  N@[x0, x1]
 *
 * N is the size in bytes, less than 0 if signed.  Floating-point registers
 * (8f@%xmm0) and symbols are not known to programs: such an operand is refused.
 *
 * Called by notes.c in a parser; the text may be anything.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <elf.h>

#include "sites.h"

/* Offsets in struct pt_regs, with the names of 8, 4, 2 and 1 bytes. */
static const struct {
	uint16_t	 rg_offset;
	const char	*rg_name[4];
} x86_registers[] = {
	{ 0, { "r15", "r15d", "r15w", "r15b" } },
	{ 8, { "r14", "r14d", "r14w", "r14b" } },
	{ 16, { "r13", "r13d", "r13w", "r13b" } },
	{ 24, { "r12", "r12d", "r12w", "r12b" } },
	{ 32, { "rbp", "ebp", "bp", "bpl" } },
	{ 40, { "rbx", "ebx", "bx", "bl" } },
	{ 48, { "r11", "r11d", "r11w", "r11b" } },
	{ 56, { "r10", "r10d", "r10w", "r10b" } },
	{ 64, { "r9", "r9d", "r9w", "r9b" } },
	{ 72, { "r8", "r8d", "r8w", "r8b" } },
	{ 80, { "rax", "eax", "ax", "al" } },
	{ 88, { "rcx", "ecx", "cx", "cl" } },
	{ 96, { "rdx", "edx", "dx", "dl" } },
	{ 104, { "rsi", "esi", "si", "sil" } },
	{ 112, { "rdi", "edi", "di", "dil" } },
	{ 152, { "rsp", "esp", "sp", "spl" } },
};

/* A word of letters and digits; false: there is none, or a long one. */
static bool
word_take(const char **at, char *word, size_t size)
{
	size_t n = 0;

	while (isalnum((unsigned char)(*at)[n]))
		n++;
	if (n == 0 || n >= size)
		return (false);
	memcpy(word, *at, n);
	word[n] = '\0';
	*at += n;
	return (true);
}

static bool
number_take(const char **at, __u64 *number)
{
	char *end;

	if (!isdigit((unsigned char)(*at)[**at == '-' || **at == '+']))
		return (false);
	errno = 0;
	*number = **at == '-' ? (uint64_t)strtoll(*at, &end, 0) :
	    strtoull(*at, &end, 0);
	*at = end;
	return (errno == 0);
}

static bool
char_take(const char **at, char wanted)
{
	if (**at != wanted)
		return (false);
	(*at)++;
	return (true);
}

/* ---------------------------------------------------------------- x86-64 */

static bool
x86_register(const char **at, uint16_t *offset)
{
	const size_t n = sizeof(x86_registers) / sizeof(x86_registers[0]);
	char word[8];

	if (!char_take(at, '%') || !word_take(at, word, sizeof(word)))
		return (false);
	for (size_t i = 0; i < n; i++)
		for (int w = 0; w < 4; w++)
			if (strcmp(word, x86_registers[i].rg_name[w]) == 0) {
				*offset = x86_registers[i].rg_offset;
				return (true);
			}
	return (false);
}

/* "(%base,%index,scale)", of which each may be missing. */
static bool
x86_memory(const char **at, struct dtp_operand *operand)
{
	__u64 scale = 1;

	operand->op_nloads = 1;
	if (!char_take(at, '('))
		return (false);
	if (**at != ',' && !x86_register(at, &operand->op_base))
		return (false);
	if (char_take(at, ',')) {
		if (!x86_register(at, &operand->op_index))
			return (false);
		if (char_take(at, ',') && !number_take(at, &scale))
			return (false);
	}
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return (false);
	operand->op_scale = (uint8_t)scale;
	return (char_take(at, ')'));
}

static bool
x86_parse(const char *at, struct dtp_operand *operand)
{
	bool rv;

	if (*at == '%')
		rv = x86_register(&at, &operand->op_base);
	else if (char_take(&at, '$'))
		rv = number_take(&at, &operand->op_number);
	else if (*at == '(')
		rv = x86_memory(&at, operand);
	else {
		rv = number_take(&at, &operand->op_number);
		/* An address of its own. */
		operand->op_nloads = 1;
		if (rv && *at != '\0')
			rv = x86_memory(&at, operand);
	}
	return (rv && *at == '\0');
}

/* ----------------------------------------------------------------- arm64 */

static bool
arm_register(const char **at, uint16_t *offset)
{
	char word[8], *end;
	unsigned long n;

	if (!word_take(at, word, sizeof(word)))
		return (false);
	if (strcmp(word, "sp") == 0 || strcmp(word, "wsp") == 0) {
		*offset = 31 * 8;
		return (true);
	}
	if ((word[0] != 'x' && word[0] != 'w') ||
	    !isdigit((unsigned char)word[1]))
		return (false);
	n = strtoul(word + 1, &end, 10);
	*offset = (uint16_t)(n * 8);
	return (*end == '\0' && n <= 30);
}

static bool
arm_memory(const char **at, struct dtp_operand *operand)
{
	operand->op_nloads = 1;
	operand->op_scale = 1;
	*at += strspn(*at, " ");
	if (!arm_register(at, &operand->op_base))
		return (false);
	if (char_take(at, ',')) {
		*at += strspn(*at, " ");
		(void)char_take(at, '#');
		if (!number_take(at, &operand->op_number) &&
		    !arm_register(at, &operand->op_index))
			return (false);
	}
	*at += strspn(*at, " ");
	return (char_take(at, ']'));
}

static bool
arm_parse(const char *at, struct dtp_operand *operand)
{
	bool rv;

	(void)char_take(&at, '#');
	if (char_take(&at, '['))
		rv = arm_memory(&at, operand);
	else
		rv = number_take(&at, &operand->op_number) ||
		    arm_register(&at, &operand->op_base);
	return (rv && *at == '\0');
}

bool
prof_operand_parse(uint16_t machine, const char *text,
    struct dtp_operand *operand)
{
	struct dtp_operand made = { .op_base = DTP_NO_REGISTER,
	    .op_index = DTP_NO_REGISTER };
	const char *at = text;
	__u64 size = 8;

	memset(operand, 0, sizeof(*operand));
	/* Without a size it is a word. */
	if (strchr(text, '@') != NULL && (!number_take(&at, &size) ||
	    !char_take(&at, '@')))
		return (false);
	made.op_signed = (int64_t)size < 0;
	size = made.op_signed ? -size : size;
	if ((size != 1 && size != 2 && size != 4 && size != 8) ||
	    !(machine == EM_AARCH64 ? arm_parse(at, &made) :
	    x86_parse(at, &made)))
		return (false);
	made.op_size = (uint8_t)size;
	*operand = made;
	return (true);
}
