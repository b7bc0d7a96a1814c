/* SPDX-License-Identifier: ISC */
/*
 * Call frame information, compiled: what cfi.c makes of .eh_frame and
 * .debug_frame, and what unwind_table.c makes compact.
 *
 * A rule says, for a range of pc, how to get from a frame to its caller's:
 * where the canonical frame address is, and where frame pointer and return
 * address were saved.
 */
#ifndef CFI_H
#define CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the canonical frame address is found. */
enum prof_cfa {
	PROF_CFA_NONE = 0,	/* no information: between functions */
	PROF_CFA_REG,		/* register + offset */
	PROF_CFA_DEREF,		/* load(register + offset) + add */
	PROF_CFA_PLT,		/* sp + 8; from pc & 15 >= offset on, 16 */
	PROF_CFA_STOP,		/* outermost frame */
	PROF_CFA_SIGNAL,	/* the registers lie in a signal frame */
	PROF_CFA_OTHER		/* an expression that is not one of these */
};

/* Where a register of the caller is. */
enum prof_saved {
	PROF_SAVED_SAME = 0,	/* unchanged */
	PROF_SAVED_CFA,		/* at cfa + offset */
	PROF_SAVED_DEREF_FP,	/* at frame pointer + offset */
	PROF_SAVED_IN_REG,	/* in the register numbered offset */
	PROF_SAVED_LOST		/* cannot be told */
};

struct prof_cfi_rule {
	uint8_t	cr_cfa;		/* enum prof_cfa */
	uint8_t	cr_reg;		/* DWARF number of the base register */
	uint8_t	cr_fp;		/* enum prof_saved */
	uint8_t	cr_ra;		/* enum prof_saved */
	uint8_t	cr_bx;		/* enum prof_saved; of rbx, x86-64 only */
	int32_t	cr_cfa_off;
	int32_t	cr_cfa_add;
	int32_t	cr_fp_off;
	int32_t	cr_ra_off;
	int32_t	cr_bx_off;
};

enum prof_machine { PROF_MACHINE_X86_64, PROF_MACHINE_AARCH64 };

/* Registers of a machine by their DWARF numbers. */
#define PROF_X86_RBX	3
#define PROF_X86_RBP	6
#define PROF_X86_RSP	7
#define PROF_X86_RA	16
#define PROF_ARM_FP	29
#define PROF_ARM_LR	30
#define PROF_ARM_SP	31

/*
 * .eh_frame, and behind it .debug_frame, which counts where the former knows
 * nothing; one of them may be empty.  The bytes are the caller's.
 */
struct prof_cfi_input {
	enum prof_machine ci_machine;
	bool		 ci_to_zero;	/* .eh_frame ends at length 0 */
	const uint8_t	*ci_bytes;
	size_t		 ci_size;
	size_t		 ci_debug;	/* where .debug_frame begins */
	uint64_t	 ci_address;	/* of the first byte, unrelocated */
};

struct prof_cfi_stats {
	size_t	cs_fdes;
	size_t	cs_bad;		/* FDEs that could not be read */
};

/*
 * Called with rows in order of pc, each rule in force up to the next row's
 * pc.  Nonzero ends it.
 */
typedef int prof_cfi_fn(void *arg, uint64_t pc,
	    const struct prof_cfi_rule *rule);

/* 0: done, -1: no memory, else what fn returned. */
int	prof_cfi_compile(const struct prof_cfi_input *input, prof_cfi_fn *fn,
	    void *arg, struct prof_cfi_stats *stats);

/* What stands there for a function, not run; programs by their offsets. */
struct prof_cfi_entry {
	uint64_t	en_start;
	uint64_t	en_end;
	uint64_t	en_code_align;
	int64_t		en_data_align;
	uint32_t	en_initial;	/* of the CIE */
	uint32_t	en_initial_end;
	uint32_t	en_program;
	uint32_t	en_program_end;
	bool		en_signal;
};

/* Functions in order of their start, owned by the caller.  -1: no memory. */
int	prof_cfi_entries(const struct prof_cfi_input *input,
	    struct prof_cfi_entry **entries, size_t *nentries);

/* Entries and the bytes in which their programs are. */
struct prof_frames {
	struct prof_cfi_entry *fm_entry; /* by start */
	size_t		 fm_nentries;
	const uint8_t	*fm_bytes;
	size_t		 fm_size;
	void		*fm_memory;	/* what both lie in; NULL: each is by
					 * itself */
};

/* Does an entry of these bytes say that nobody called what is at pc? */
bool	prof_cfi_is_outermost(enum prof_machine machine, const uint8_t *bytes,
	    const struct prof_cfi_entry *entry, uint64_t pc);

#endif /* CFI_H */
