/* SPDX-License-Identifier: ISC */
/*
 * The unwind table of one module: rows in the form of sys/abi/dtp_unwind.h,
 * with a dictionary of its own for the rules that do not fit in a row.
 */
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#include "abi/dtp_unwind.h"
#include "cfi.h"
#include "view.h"

struct prof_unwind_table {
	enum prof_machine ut_machine;
	uint64_t	 ut_base;	/* multiple of 64 KiB */
	uint64_t	 ut_span;	/* bytes covered from base */
	uint32_t	*ut_index;	/* first row of each bucket, and end */
	size_t		 ut_nindex;
	uint32_t	*ut_rows;	/* rule << 16 | low 16 bits */
	size_t		 ut_nrows;
	struct dtp_uw_entry *ut_entries;
	size_t		 ut_nentries;
	size_t		 ut_text;	/* bytes of text */
	size_t		 ut_fdes;
	size_t		 ut_bad;	/* FDEs that could not be read */
	size_t		 ut_user;	/* rows that only libunwind follows */
	void		*ut_memory;	/* what the arrays lie in; NULL: each
					 * is by itself */
};

/* The section that says how to unwind; its bytes are the file's. */
bool	prof_unwind_frames(struct prof_elf *elf, struct prof_cfi_input *in);
/*
 * The entries of the functions at some offsets of the file alone, by the
 * loader's search table (unwind_some.c).  What it does not find is left out:
 * the table may lack or hide it.  Both arrays are the caller's.  -1: the file
 * has no such table, or there is no memory.
 */
int	prof_unwind_frames_some(struct prof_elf *elf, const uint64_t *places,
	    size_t nplaces, struct prof_frames *frames);
/*
 * From the file's .eh_frame, or .debug_frame where there is none; NULL: no
 * memory, or no unwind information (errno 0).  Owned by caller.
 */
struct prof_unwind_table *prof_unwind_table_new(struct prof_elf *elf);
void	prof_unwind_table_free(struct prof_unwind_table *table);
/*
 * The rule in force at an address: DTP_UW_END outside.  The user-space form
 * of the search that sys/unwind.bpf.h makes.
 */
uint16_t prof_unwind_table_find(const struct prof_unwind_table *table,
	    uint64_t address);

#endif /* UNWIND_TABLE_H */
