/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Each form in which assemblers write the argument of a static
 * probe is read as what it says, on x86-64 and arm64; any other text is
 * refused, floating-point registers and symbols among them, and so is what a
 * parser says of words behind the registers.
 *
 * Easy to get wrong: half and quarter registers are the whole one cut, a
 * missing base leaves an index, and 8@[sp, 16] has a space.
 */
#include <sys/user.h>

#include <elf.h>

#include "elf/sites.h"
#include "names.h"

#define NO	DTP_NO_REGISTER

static void
taken(uint16_t machine, const char *text, int size, bool memory,
    int64_t number, int base, int index, int scale)
{
	struct dtp_operand operand;

	CHECK(prof_operand_parse(machine, text, &operand), "%s", text);
	CHECK(operand.op_size == abs(size) && operand.op_signed == (size < 0),
	    "%s: size %d", text, operand.op_size);
	CHECK(operand.op_nloads == memory &&
	    (int64_t)operand.op_number == number, "%s: %lld", text,
	    (long long)operand.op_number);
	CHECK(operand.op_base == base && operand.op_index == index, "%s: %d, "
	    "%d", text, operand.op_base, operand.op_index);
	CHECK(index == NO || operand.op_scale == scale, "%s: scale %d", text,
	    operand.op_scale);
}

static void
refused(uint16_t machine, const char *text)
{
	struct dtp_operand operand;

	CHECK(!prof_operand_parse(machine, text, &operand), "%s was taken",
	    text);
	CHECK(operand.op_size == 0, "%s left a size", text);
}

static void
check_x86(void)
{
	static const char *const wrong[] = { "", "@", "8@", "8@%", "8@%xmm0",
	    "8f@%xmm0", "3@%rax", "0@%rax", "16@%rax", "8@%rax ", "8@%ah",
	    "-4@NBuffers(%rip)", "8@8(%rip)", "8@sym", "8@8(%rax", "8@(%rax,)",
	    "8@(%rax,%rbx,3)", "8@$", "8@$x", "8@99999999999999999999(%rax)",
	    "x0", "8@[x0]" };

	taken(EM_X86_64, "8@%rdi", 8, false, 0, 112, NO, 0);
	taken(EM_X86_64, "%rdi", 8, false, 0, 112, NO, 0);
	taken(EM_X86_64, "-4@%eax", -4, false, 0, 80, NO, 0);
	taken(EM_X86_64, "2@%r10w", 2, false, 0, 56, NO, 0);
	taken(EM_X86_64, "1@%sil", 1, false, 0, 104, NO, 0);
	taken(EM_X86_64, "-4@$-7", -4, false, -7, NO, NO, 0);
	taken(EM_X86_64, "8@$18446744073709551615", 8, false, -1, NO, NO, 0);
	taken(EM_X86_64, "8@$0x10", 8, false, 16, NO, NO, 0);
	taken(EM_X86_64, "8@(%rbp)", 8, true, 0, 32, NO, 0);
	taken(EM_X86_64, "-4@-12(%rbp)", -4, true, -12, 32, NO, 0);
	taken(EM_X86_64, "8@8(%rax,%rbx,4)", 8, true, 8, 80, 40, 4);
	taken(EM_X86_64, "8@(%rax,%rbx)", 8, true, 0, 80, 40, 1);
	taken(EM_X86_64, "8@16(,%r9,8)", 8, true, 16, NO, 64, 8);
	taken(EM_X86_64, "4@4198400", 4, true, 4198400, NO, NO, 0);
	for (size_t n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++)
		refused(EM_X86_64, wrong[n]);
}

static void
check_arm(void)
{
	static const char *const wrong[] = { "", "8@", "8@x31", "8@d0", "8@v0",
	    "8@[sp", "8@[sp,", "8@[sp, ]", "8@[]", "8@%rdi", "8@$5", "8@x",
	    "8@[x0, 8]x" };

	taken(EM_AARCH64, "8@x0", 8, false, 0, 0, NO, 0);
	taken(EM_AARCH64, "-4@w19", -4, false, 0, 152, NO, 0);
	taken(EM_AARCH64, "8@sp", 8, false, 0, 248, NO, 0);
	taken(EM_AARCH64, "4@5", 4, false, 5, NO, NO, 0);
	taken(EM_AARCH64, "-8@-5", -8, false, -5, NO, NO, 0);
	taken(EM_AARCH64, "8@[sp]", 8, true, 0, 248, NO, 0);
	taken(EM_AARCH64, "8@[sp, 16]", 8, true, 16, 248, NO, 0);
	taken(EM_AARCH64, "8@[x29, -8]", 8, true, -8, 232, NO, 0);
	taken(EM_AARCH64, "8@[x29, #24]", 8, true, 24, 232, NO, 0);
	taken(EM_AARCH64, "8@[x1, x2]", 8, true, 0, 8, 16, 1);
	for (size_t n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++)
		refused(EM_AARCH64, wrong[n]);
}

/* As a parser that was taken over: a register at that offset. */
static int
forge(void *arg, int fd, const char *name, const struct prof_sites_want *want,
    struct prof_sites *sites)
{
	const uint16_t *offset = arg;

	(void)fd;
	(void)name;
	(void)want;
	*sites = (struct prof_sites){ calloc(1, sizeof(*sites->st_site)), 1,
	    1, 1, { 0 } };
	sites->st_site[0] = (struct prof_site){ .si_name = "a:b",
	    .si_nargs = 1, .si_arg = { { .op_base = offset[0],
	    .op_index = offset[1], .op_scale = 1, .op_size = 8 } } };
	return (0);
}

static int
recorded(uint16_t base, uint16_t index)
{
	const struct prof_event_defaults defaults = { 0 };
	struct prof_err error = { 0 };
	struct prof_names *names = prof_names_open_offline("", &error);
	struct prof_events events = { 0 };
	uint16_t offset[] = { base, index };
	int rv;

	CHECK(names != NULL, "%s", error.pe_text);
	names->nm_sites = forge;
	names->nm_sites_arg = offset;
	rv = prof_names_resolve(names, "usdt:/proc/self/exe:a:b", &defaults,
	    &events, &error);
	CHECK(rv != -1 || strstr(error.pe_text, "is not an integer") !=
	    NULL, "%s", error.pe_text);
	prof_events_free(&events);
	prof_names_close(names);
	return (rv);
}

static void
check_forged(void)
{
#if defined(__x86_64__)
	const uint16_t end = 21 * 8;
#else
	const uint16_t end = sizeof(struct user_regs_struct);
#endif

	CHECK(recorded(0, NO) != -1 && recorded(NO, 0) != -1, "the first");
	CHECK(recorded(end - 8, NO) != -1, "the last register");
	CHECK(recorded(end, NO) == -1 && recorded(NO, end) == -1, "behind");
	CHECK(recorded(end - 4, NO) == -1 && recorded(DTP_REGISTERS, NO) ==
	    -1, "a part behind");
}

int
main(void)
{
	check_x86();
	check_arm();
	check_forged();
	return (passed());
}
