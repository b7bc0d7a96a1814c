/* SPDX-License-Identifier: ISC */
/*
 * How long an instruction is, and where it goes: enough to find all places at
 * which a function returns.  Of x86-64 and arm64; an instruction that is not
 * known has no length, and a function with one is not understood.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum prof_flow {
	PROF_FLOW_NEXT,		/* to the next one, maybe after a call */
	PROF_FLOW_RETURN,
	PROF_FLOW_JUMP,		/* elsewhere, always, */
	PROF_FLOW_BRANCH,	/* or maybe */
	PROF_FLOW_INDIRECT,	/* to what a register or memory says */
	PROF_FLOW_END		/* nowhere: it traps */
};

struct prof_insn {
	unsigned	in_size;	/* bytes; 0: not known */
	enum prof_flow	in_flow;
	int64_t		in_target;	/* JUMP, BRANCH: from its own address */
};

/* The instruction that begins at code, of which size bytes are there. */
void	prof_insn_decode(uint16_t machine, const uint8_t *code, size_t size,
	    struct prof_insn *insn);

#endif /* DECODE_H */
