/* SPDX-License-Identifier: ISC */
/* Stacks that were unwound both ways (po_verify): what dtprof record says. */
#ifndef PROF_STACKS_VERIFY_H
#define PROF_STACKS_VERIFY_H

#include <stdint.h>

/* How the stack of a sample fared that was walked both ways (po_verify). */
enum prof_verify_kind {
	PROF_VERIFY_SAME,	/* every frame, to the same end */
	PROF_VERIFY_SHORT,	/* alike, as far as the copy goes */
	PROF_VERIFY_DOUBT,	/* the kernel's said that it guesses */
	PROF_VERIFY_EARLIER,	/* alike; libunwind ended earlier */
	PROF_VERIFY_FURTHER,	/* alike; the kernel's walk ended earlier */
	PROF_VERIFY_DIFFER	/* they went different ways */
};

/* What happened at one place; the frame is the last that both have. */
struct prof_verify_row {
	enum prof_verify_kind vr_kind;
	uint8_t		 vr_status;	/* of who ended, else the kernel's */
	const char	*vr_module;	/* file of that frame, or "" */
	uint64_t	 vr_address;	/* in that file */
	uint64_t	 vr_samples;
};

#endif /* PROF_STACKS_VERIFY_H */
