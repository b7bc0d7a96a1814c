/* SPDX-License-Identifier: ISC */
/*
 * Call frame information to rules: reads .eh_frame or .debug_frame, runs the
 * program of each function once, and hands over what is in force from which
 * pc on.  The DWARF 5 standard, section 6.4, and the LSB's description of
 * .eh_frame say what the bytes mean.
 *
 * Called by unwind_table.c.  The bytes come from any file that a process
 * maps, so no length is trusted: reading stops at a section's end, whatever
 * it says, and work is linear in its size.  Only what an unwinder needs is
 * followed: the frame address, the frame pointer and the return address.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cfi_impl.h"

#define PADDING		16	/* between functions; needs no row */

static int
by_start(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->fd_start != y->fd_start)
		return (x->fd_start < y->fd_start ? -1 : 1);
	return (x->fd_program < y->fd_program ? -1 : 1);
}

/* By start, then as they lie in the bytes, which is how they come. */
static void
sort_by_start(struct compiler *co)
{
	if (!prof_sort_items(co->co_fdes, co->co_nfdes,
	    sizeof(*co->co_fdes)))
		qsort(co->co_fdes, co->co_nfdes, sizeof(*co->co_fdes),
		    by_start);
}

/*
 * In order; what .debug_frame says of a function that .eh_frame knows goes.
 * Of the same start .eh_frame's comes first: it lies before the other.
 */
static void
rows_sort(struct compiler *co)
{
	uint64_t known = 0;	/* to .eh_frame, up to here */
	struct fde *to;
	size_t n;

	sort_by_start(co);
	if (co->co_in->ci_debug == 0 ||
	    co->co_in->ci_debug == co->co_in->ci_size)
		return;
	to = co->co_fdes;
	for (n = 0; n < co->co_nfdes; n++) {
		const struct fde *fde = &co->co_fdes[n];

		if (fde->fd_program >= co->co_in->ci_debug) {
			if (fde->fd_start < known)
				continue;
		} else if (fde->fd_end > known)
			known = fde->fd_end;
		*to++ = *fde;
	}
	co->co_nfdes = (size_t)(to - co->co_fdes);
}

/* Functions in order; what overlaps the next one is cut where that begins. */
static int
run_all(struct compiler *co)
{
	static const struct prof_cfi_rule nothing;
	size_t n;
	int rv;

	rows_sort(co);
	for (n = 0; n < co->co_nfdes; n++) {
		const struct fde *fde = &co->co_fdes[n];
		const struct cie *cie = &co->co_cies[fde->fd_cie];
		const uint8_t *bytes = co->co_in->ci_bytes;
		struct cursor cu = { bytes + fde->fd_program,
		    bytes + fde->fd_program_end, false };
		struct state state = cie->ce_initial;
		uint64_t next = n + 1 < co->co_nfdes ? fde[1].fd_start :
		    UINT64_MAX;

		if (next == fde->fd_start)
			continue;
		rv = prof_cfi_run(co, cie, &cu, &state, fde,
		    fde->fd_end < next ? fde->fd_end : next);
		if (rv == -1)
			co->co_stats->cs_bad++;
		else if (rv != 0)
			return (rv);
		if (fde->fd_end < next && next - fde->fd_end >= PADDING &&
		    (rv = co->co_fn(co->co_arg, fde->fd_end, &nothing)) != 0)
			return (rv);
	}
	return (0);
}

static void
compiler_init(struct compiler *co, const struct prof_cfi_input *input)
{
	bool x86 = input->ci_machine == PROF_MACHINE_X86_64;

	memset(co, 0, sizeof(*co));
	co->co_in = input;
	co->co_fp = x86 ? PROF_X86_RBP : PROF_ARM_FP;
	co->co_sp = x86 ? PROF_X86_RSP : PROF_ARM_SP;
	co->co_ra = x86 ? PROF_X86_RA : PROF_ARM_LR;
	co->co_bx = x86 ? PROF_X86_RBX : -1;
}

/* Read all entries; their programs are not run. */
static int
read_all(struct compiler *co, const struct prof_cfi_input *input,
    struct prof_cfi_stats *stats)
{
	compiler_init(co, input);
	memset(stats, 0, sizeof(*stats));
	co->co_stats = stats;
	return (input->ci_size > UINT32_MAX ? 0 : prof_cfi_read(co));
}

static void
compiler_fini(struct compiler *co)
{
	free(co->co_cies);
	free(co->co_fdes);
}

int
prof_cfi_entries(const struct prof_cfi_input *input,
    struct prof_cfi_entry **entries, size_t *nentries)
{
	struct prof_cfi_stats stats;
	struct compiler co;
	int rv = read_all(&co, input, &stats);
	size_t n;

	if (rv == 0) {
		rows_sort(&co);
		*entries = reallocarray(NULL, co.co_nfdes + 1,
		    sizeof(**entries));
		rv = *entries == NULL ? -1 : 0;
	}
	for (n = 0; rv == 0 && n < co.co_nfdes; n++) {
		const struct fde *fde = &co.co_fdes[n];
		const struct cie *cie = &co.co_cies[fde->fd_cie];

		(*entries)[n] = (struct prof_cfi_entry){
			fde->fd_start, fde->fd_end, cie->ce_code_align,
			cie->ce_data_align, cie->ce_program,
			cie->ce_program_end, fde->fd_program,
			fde->fd_program_end, cie->ce_signal
		};
	}
	*nentries = rv == 0 ? co.co_nfdes : 0;
	compiler_fini(&co);
	return (rv);
}

int
prof_cfi_compile(const struct prof_cfi_input *input, prof_cfi_fn *fn,
    void *arg, struct prof_cfi_stats *stats)
{
	struct compiler co;
	int rv = read_all(&co, input, stats);

	co.co_fn = fn;
	co.co_arg = arg;
	stats->cs_fdes = co.co_nfdes;
	if (rv == 0)
		rv = run_all(&co);
	compiler_fini(&co);
	return (rv);
}

/* What is in force at an address: the last row that is not behind it. */
struct asked {
	uint64_t	as_pc;
	bool		as_stops;
};

static int
rows_ask(void *arg, uint64_t pc, const struct prof_cfi_rule *rule)
{
	struct asked *asked = arg;

	if (pc <= asked->as_pc)
		asked->as_stops = rule->cr_cfa == PROF_CFA_STOP;
	return (0);
}

bool
prof_cfi_is_outermost(enum prof_machine machine, const uint8_t *bytes,
    const struct prof_cfi_entry *entry, uint64_t pc)
{
	const struct prof_cfi_input input = { .ci_machine = machine,
	    .ci_bytes = bytes };
	const struct fde fde = { .fd_start = entry->en_start };
	struct cie cie = { .ce_code_align = entry->en_code_align,
	    .ce_data_align = entry->en_data_align,
	    .ce_signal = entry->en_signal };
	struct cursor initial = { bytes + entry->en_initial,
	    bytes + entry->en_initial_end, false };
	struct cursor program = { bytes + entry->en_program,
	    bytes + entry->en_program_end, false };
	struct asked asked = { pc, false };
	struct compiler co;
	struct state state;

	compiler_init(&co, &input);
	co.co_fn = rows_ask;
	co.co_arg = &asked;
	if (prof_cfi_run(&co, &cie, &initial, &cie.ce_initial, NULL, 0) != 0)
		return (false);
	state = cie.ce_initial;
	prof_cfi_run(&co, &cie, &program, &state, &fde, entry->en_end);
	return (asked.as_stops);
}
