/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Unwind tables, as the programs search them and the library writes them.
 *
 * A module's table covers addresses from a base that is a multiple of 64 KiB
 * and consists of 32-bit words in a slab:
 *
 *	index	first_row[(span >> 10) + 2]	rows of each KiB of text
 *	rows	rule << 16 | low 16 bits of the address where it begins
 *
 * All rows of one KiB share the higher bits of their address, so 16 bits are
 * enough to search among them; the row in force at the start of a KiB may be
 * the last of an earlier one, which is simply the word before.  A row that
 * says END stands before the first.
 *
 * Most rules (98.9 % of those of a distribution) fit in the row itself:
 *
 *	 15  14   13 ........ 7   6 ......... 0
 *	+---+----+-------------+---------------+
 *	| 0 |base| frame addr. | frame pointer |
 *	+---+----+-------------+---------------+
 *
 * base: 0 stack pointer, 1 frame pointer; frame address = base + n units;
 * frame pointer saved n units below the frame address, 0: unchanged.  A unit
 * is 8 bytes on x86-64, where the return address lies just below the frame
 * address.  On arm64 it is 16 bytes for the frame address and 8 for the
 * frame pointer, the return address lies just above the saved frame pointer,
 * and 0 means that both are still in their registers.
 */
#ifndef DTP_UNWIND_H
#define DTP_UNWIND_H

#include <linux/types.h>

#define DTP_UW_BUCKET_BITS	10

#define DTP_UW_BASE_FP		0x4000
#define DTP_UW_CFA_SHIFT	7
#define DTP_UW_UNITS_MASK	0x7f

enum dtp_uw_rule {
	DTP_UW_END	= 0x8000,	/* no information here */
	DTP_UW_STOP	= 0x8001,	/* outermost frame */
	DTP_UW_SIGNAL	= 0x8002,	/* registers lie in a signal frame */
	DTP_UW_PLT11	= 0x8003,	/* stub: 8 more from pc & 15 >= 11 */
	DTP_UW_PLT10	= 0x8004,
	DTP_UW_USER	= 0x8006,	/* too rare for the kernel */
	DTP_UW_RULES	= 0x8010,	/* and up: index in the dictionary */
};

/* A rule that does not fit in its row. */
struct dtp_uw_entry {
	__u8	ue_cfa;		/* enum dtp_uw_cfa */
	__u8	ue_fp;		/* enum dtp_uw_fp */
	__u8	ue_reg;		/* base of the frame address (REG) */
	__u8	ue_ra;		/* enum dtp_uw_ra */
	__s32	ue_cfa_off;
	__s32	ue_cfa_add;	/* DEREF */
	__s32	ue_fp_off;
	__s32	ue_ra_off;
	__u32	ue_pad;
};

enum dtp_uw_cfa {
	DTP_UW_CFA_SP = 0, DTP_UW_CFA_FP = 1,
	DTP_UW_CFA_REG = 2,		/* any register; innermost frame only */
	DTP_UW_CFA_DEREF_SP = 3, DTP_UW_CFA_DEREF_FP = 4,
};

enum dtp_uw_fp {
	DTP_UW_FP_SAME = 0, DTP_UW_FP_CFA = 1, DTP_UW_FP_DEREF = 2,
	DTP_UW_FP_LOST = 3,
};

enum dtp_uw_ra {
	DTP_UW_RA_CFA = 0,
	DTP_UW_RA_REG = 1,		/* ue_ra_off: its number; innermost */
};

_Static_assert(sizeof(struct dtp_uw_entry) == 24, "struct dtp_uw_entry");

#endif /* DTP_UNWIND_H */
