/* SPDX-License-Identifier: ISC */
/*
 * What the decoder says of instructions, one a line, in the words of objdump:
 * reads "bytes mnemonic" and prints the lines that it understands otherwise,
 * then how many it was asked.  Used by interop/insns-as-objdump.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elf.h>

#include "elf/decode.h"

static const char *
flow_of(const char *mnemonic)
{
	static const char *const ends[] = { "ud2", "ud1", "ud0", "hlt" };
	const char *star = strchr(mnemonic, '*');

	while (strncmp(mnemonic, "bnd ", 4) == 0 ||
	    strncmp(mnemonic, "notrack ", 8) == 0 ||
	    strncmp(mnemonic, "repz ", 5) == 0 ||
	    strncmp(mnemonic, "rep ", 4) == 0)
		mnemonic = strchr(mnemonic, ' ') + 1;
	for (size_t n = 0; n < sizeof(ends) / sizeof(ends[0]); n++)
		if (strncmp(mnemonic, ends[n], 3) == 0)
			return ("end");
	if (strncmp(mnemonic, "ret", 3) == 0)
		return ("return");
	if (strncmp(mnemonic, "jmp", 3) == 0)
		return (star != NULL ? "indirect" : "jump");
	if (mnemonic[0] == 'j' || strncmp(mnemonic, "loop", 4) == 0)
		return ("branch");
	return ("next");
}

int
main(void)
{
	static const char *const names[] = { "next", "return", "jump",
	    "branch", "indirect", "end" };
	char line[1024], whole[1024];
	unsigned long asked = 0;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		uint8_t code[32] = { 0 };
		struct prof_insn insn;
		unsigned byte;
		size_t n = 0;
		char *at = line;

		strcpy(whole, line);
		while (n < 16 && at[0] != ' ' && at[2] == ' ' &&
		    sscanf(at, "%2x", &byte) == 1) {
			code[n++] = (uint8_t)byte;
			at += 3;
		}
		at += strspn(at, " \t");
		asked++;
		/* What follows is not part of it. */
		prof_insn_decode(EM_X86_64, code, sizeof(code), &insn);
		if (insn.in_size != n ||
		    strcmp(names[insn.in_flow], flow_of(at)) != 0)
			printf("%u %s: %s", insn.in_size, names[insn.in_flow],
			    whole);
	}
	printf("asked %lu\n", asked);
	return (0);
}
