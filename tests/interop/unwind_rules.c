/* SPDX-License-Identifier: ISC */
/*
 * Says in readelf's words which rule the unwind table of a file has at each
 * address on stdin: frame address, frame pointer, return address.
 *
 *	unwind_rules FILE <addresses
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "elf/unwind_table.h"

static const char *const names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
	"r10", "r11", "r12", "r13", "r14", "r15", "ra"
};

static const char *
name_of(int reg)
{
	return (reg >= 0 && reg <= 16 ? names[reg] : "?");
}

static void
say_entry(const struct dtp_uw_entry *entry)
{
	switch (entry->ue_cfa) {
	case DTP_UW_CFA_SP:
		printf("rsp%+d", entry->ue_cfa_off);
		break;
	case DTP_UW_CFA_FP:
		printf("rbp%+d", entry->ue_cfa_off);
		break;
	case DTP_UW_CFA_REG:
		printf("%s%+d", name_of(entry->ue_reg), entry->ue_cfa_off);
		break;
	default:
		printf("exp");
	}
	if (entry->ue_fp == DTP_UW_FP_CFA)
		printf(" c%+d", entry->ue_fp_off);
	else
		printf(" %s", entry->ue_fp == DTP_UW_FP_SAME ? "u" :
		    entry->ue_fp == DTP_UW_FP_DEREF ? "exp" : "lost");
	if (entry->ue_ra == DTP_UW_RA_REG)
		printf(" %s\n", name_of(entry->ue_ra_off));
	else
		printf(" c%+d\n", entry->ue_ra_off);
}

static void
say(const struct prof_unwind_table *table, uint16_t rule)
{
	unsigned saved = rule & DTP_UW_UNITS_MASK;

	if (rule >= DTP_UW_RULES)
		say_entry(&table->ut_entries[rule - DTP_UW_RULES]);
	else if (rule < DTP_UW_END) {
		printf("%s+%u ", rule & DTP_UW_BASE_FP ? "rbp" : "rsp",
		    (rule >> DTP_UW_CFA_SHIFT & DTP_UW_UNITS_MASK) * 8);
		if (saved == 0)
			printf("u c-8\n");
		else
			printf("c-%u c-8\n", saved * 8);
	} else if (rule == DTP_UW_END)
		puts("end");
	else if (rule == DTP_UW_STOP)
		puts("stop");
	else if (rule == DTP_UW_CHILD)
		puts("child");
	else if (rule == DTP_UW_SIGNAL)
		puts("signal");
	else
		puts(rule == DTP_UW_USER ? "user" : "exp u c-8");
}

int
main(int argc, char *argv[])
{
	struct prof_unwind_table *table;
	struct prof_elf elf;
	char line[64];
	int fd;

	if (argc != 2 || (fd = open(argv[1], O_RDONLY)) == -1 ||
	    prof_elf_open(&elf, fd) == -1 || elf.el_machine != EM_X86_64)
		return (2);	/* its words are those of x86-64 */
	if ((table = prof_unwind_table_new(&elf)) == NULL)
		return (3);
	while (fgets(line, sizeof(line), stdin) != NULL)
		say(table, prof_unwind_table_find(table,
		    strtoull(line, NULL, 16)));
	prof_unwind_table_free(table);
	prof_elf_close(&elf);
	return (0);
}
