/* SPDX-License-Identifier: ISC */
/*
 * What the files that read call frame information share: cfi_read.c (entries,
 * as they stand), cfi_run.c (their programs), cfi.c (all of a section).
 */
#ifndef CFI_IMPL_H
#define CFI_IMPL_H

#include "base/cursor.h"
#include "cfi.h"

/* A register's rule while a program runs. */
struct where {
	uint8_t		 wh_kind;	/* enum prof_saved */
	int64_t		 wh_off;
};

struct state {
	int		 sa_reg;	/* base of the cfa, -1: an expression */
	int64_t		 sa_off;
	const uint8_t	*sa_expr;
	size_t		 sa_expr_size;
	struct where	 sa_fp;
	struct where	 sa_ra;
	struct where	 sa_bx;
	bool		 sa_ra_undefined;
};

/* What a CIE says for all FDEs that name it. */
struct cie {
	size_t		 ce_at;		/* offset in the bytes */
	uint64_t	 ce_code_align;
	int64_t		 ce_data_align;
	uint8_t		 ce_encoding;
	bool		 ce_augmented;
	bool		 ce_signal;
	struct state	 ce_initial;
	uint32_t	 ce_program;	/* offset in the bytes ... */
	uint32_t	 ce_program_end;
};

struct fde {
	uint64_t	 fd_start;	/* first: for prof_sort_items */
	uint64_t	 fd_end;
	uint32_t	 fd_cie;
	uint32_t	 fd_program;	/* offset in the bytes ... */
	uint32_t	 fd_program_end;
};

/* Everything of one compilation. */
struct compiler {
	const struct prof_cfi_input *co_in;
	struct prof_cfi_stats *co_stats;
	struct cie	*co_cies;
	size_t		 co_ncies;
	size_t		 co_cap_cies;
	struct fde	*co_fdes;
	size_t		 co_nfdes;
	size_t		 co_cap_fdes;
	int		 co_fp;		/* DWARF numbers of this machine */
	int		 co_sp;
	int		 co_ra;
	int		 co_bx;		/* -1: none is followed */
	prof_cfi_fn	*co_fn;
	void		*co_arg;
};

/* -------------------------------------------------------- cfi_read.c */

/* A pointer in one of the encodings DW_EH_PE_*. */
uint64_t prof_cfi_pointer(const struct compiler *co, struct cursor *cu,
	    uint8_t encoding);
/* All entries.  -1: no memory. */
int	prof_cfi_read(struct compiler *co);

/* --------------------------------------------------------- cfi_run.c */

/*
 * Run a program: of a CIE (fde NULL), to know the initial state, or of an
 * FDE, handing over a row before each step of pc and at the end.  -1: it is
 * nonsense, and its last row says OTHER; else what the receiver of rows
 * returned.
 */
int	prof_cfi_run(struct compiler *co, const struct cie *cie,
	    struct cursor *cu, struct state *state, const struct fde *fde,
	    uint64_t limit);

#endif /* CFI_IMPL_H */
