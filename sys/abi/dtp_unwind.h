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
	DTP_UW_CHILD	= 0x8005,	/* STOP if rax is 0, else sp + 8 */
	DTP_UW_USER	= 0x8006,	/* too rare for the kernel */
	DTP_UW_BARE	= 0x8007,	/* code without a table */
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
	__s32	ue_bx_off;	/* rbx: BX_*, or saved at frame addr. + n */
};

/*
 * The loader's stubs that find a function at its first call, on x86-64, keep
 * their frame address in rbx.  Modules with such code have all their rules in
 * the dictionary, where they say what becomes of rbx.
 */
#define DTP_UW_BX		3	/* its DWARF number */
#define DTP_UW_BX_UNKNOWN	0
#define DTP_UW_BX_SAME		1

enum dtp_uw_cfa {
	DTP_UW_CFA_SP = 0, DTP_UW_CFA_FP = 1,
	DTP_UW_CFA_REG = 2,		/* rbx; innermost frame: any */
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

/*
 * Where things are.  Slabs are large arrays that the library maps and fills;
 * modules and processes are small tables, mapped too, so that nothing of
 * this needs a call into the kernel while a recording runs.
 *
 *	process -> mappings (in a slab) -> module -> index, rows (in a slab)
 *
 * Written by the library, read by the programs, but for
 * [k] what programs write
 */
#define DTP_UW_SLABS		64
#define DTP_UW_SLAB_WORDS	(1U << 21)
#define DTP_UW_MODULES		8192
#define DTP_UW_PROCS		16384	/* power of two: hashed by number */
#define DTP_UW_PROBES		16	/* places looked at for a process */
#define DTP_UW_MAX_MAPS		4096	/* executable mappings of a process */
#define DTP_UW_ENTRIES		32768	/* dictionary of all modules */
#define DTP_UW_CACHE_BITS	12
#define DTP_UW_CACHE		(1U << DTP_UW_CACHE_BITS)

/*
 * A process.  up_sequence is odd while the rest changes: whoever sees it
 * change takes the process as unknown this once.  After an exec nothing that
 * was mapped before may be used, before the library even hears of it: so the
 * kernel's own count of execs stands here and must be the task's (ANY: not
 * known, the process was there before us), and the hooks of exec and exit say
 * that what is published is stale.
 */
#define DTP_UW_ANY_EXEC		(~0ULL)
#define DTP_UW_FREED		(~0U)	/* up_tgid: look on behind it */

struct dtp_uw_proc {
	__u32	up_tgid;	/* 0: free, and so is what follows */
	__u32	up_sequence;
	__u32	up_slab;
	__u32	up_at;		/* word of the first mapping */
	__u32	up_nmaps;
	__u32	up_generation;	/* of its mappings, from 1 on */
	__u64	up_exec_id;	/* the exec that these mappings belong to */
	__u64	up_stale;	/* [k] the generation that is void */
	__u32	up_chain;	/* how its script frames lie; 0: it has none */
	__u32	up_pad;
};

/*
 * What forks, execs and exits ask about a process, by the lowest bits of its
 * number.  Most processes end soon and are never published: where thousands
 * end in a second, to look for each in uw_procs costs more than all else.
 * A child that has not executed anything yet has its parent's mappings, unless
 * a later child takes its place.
 */
#define DTP_UW_NUMBERS		32768	/* power of two */

struct dtp_uw_number {
	__u64	un_child;	/* [k] a child; above, whose mappings it has */
	__u64	un_published;	/* of such numbers, in uw_procs */
};

/* An executable mapping, in a slab, in order of um_start. */
struct dtp_uw_map {
	__u64	um_start;
	__u64	um_end;
	__u64	um_bias;	/* address in memory - address in the file */
	__u32	um_module;
	__u32	um_is_young;	/* in a walk: not published, the kernel's */
};

/*
 * Files whose module is known, hashed by inode: how the kernel knows what lies
 * behind a mapping that is not published yet.  The vDSO is the one with zeros
 * for all but its module.
 */
#define DTP_UW_FILES		16384	/* a power of two */
#define DTP_UW_FILE_PROBES	8

struct dtp_uw_file {
	__u64	uf_inode;
	__u64	uf_bytes;
	__u64	uf_changed_ns;	/* its status, the last time */
	__u64	uf_shift;	/* offset of its code, less the address */
	__u32	uf_device;	/* as the kernel writes it */
	__u32	uf_module;	/* 0: free */
};

/* Its table never comes; for files that cannot be told apart or looked into. */
#define DTP_UW_LOST		(DTP_UW_MODULES - 1)

enum dtp_uw_state {
	DTP_UW_AWAITED	= 0,	/* not ready, or could not be had */
	DTP_UW_TABLE	= 1,
	DTP_UW_NO_TABLE	= 2,	/* it has none: frame pointers */
};

struct dtp_uw_module {
	__u64	uo_base;
	__u64	uo_span;
	__u32	uo_slab;
	__u32	uo_index;	/* word of the index ... */
	__u32	uo_rows;	/* ... and of the first row */
	__u16	uo_state;	/* enum dtp_uw_state, and above it a count */
	__u8	uo_wanted;	/* [k] a walk failed for want of it */
	__u8	uo_used;	/* [k] a walk looked into it */
};

/*
 * A table may go for want of memory.  The count changes then: a walk that
 * finds it as it was after the search has not read another's words.
 */
#define DTP_UW_STATE_MASK	3
#define DTP_UW_STATE_ONE	4	/* of the count */

/*
 * Remembered rules, per CPU, a word each, so that one written by a nested
 * program is never half ours.  pc (48 bits) and generation (12 bits) make 60
 * bits, mixed by a multiplication that can be undone: 12 of them are the
 * place, 48 stand in the word above the rule.  So a hit is never wrong.  The
 * library clears the cache before a generation comes round again, and gives
 * it to nobody while a process still has it.
 */
#define DTP_UW_PC_BITS		48
#define DTP_UW_GENERATIONS	(1U << 12)
#define DTP_UW_KEY_MASK		((1ULL << 60) - 1)
#define DTP_UW_MIX		0x9e3779b97f4a7c15ULL

_Static_assert(sizeof(struct dtp_uw_entry) == 24, "struct dtp_uw_entry");
_Static_assert(sizeof(struct dtp_uw_proc) == 48, "struct dtp_uw_proc");
_Static_assert(sizeof(struct dtp_uw_number) == 16, "struct dtp_uw_number");
_Static_assert(sizeof(struct dtp_uw_map) == 32, "struct dtp_uw_map");
_Static_assert(sizeof(struct dtp_uw_file) == 40, "struct dtp_uw_file");
_Static_assert(sizeof(struct dtp_uw_module) == 32, "struct dtp_uw_module");

#endif /* DTP_UNWIND_H */
