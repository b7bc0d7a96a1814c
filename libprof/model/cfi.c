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

#include "cfi.h"
#include "cursor.h"

#define MAX_REMEMBERED	16	/* nesting of remember_state */
#define PADDING		16	/* between functions; needs no row */

/* Encodings of pointers, DW_EH_PE_*. */
#define ENC_OMIT	0xff
#define ENC_FORMAT	0x0f
#define ENC_RELATIVE	0x70
#define ENC_PCREL	0x10

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
	bool		 sa_ra_undefined;
};

/* What a CIE says for all FDEs that name it. */
struct cie {
	size_t		 ce_at;		/* offset in the section */
	uint64_t	 ce_code_align;
	int64_t		 ce_data_align;
	uint8_t		 ce_encoding;
	bool		 ce_augmented;
	bool		 ce_signal;
	struct state	 ce_initial;
};

struct fde {
	uint64_t	 fd_start;
	uint64_t	 fd_end;
	uint32_t	 fd_cie;
	uint32_t	 fd_program;	/* offset in the section ... */
	uint32_t	 fd_program_end;
};

/* Everything of one compilation. */
struct compiler {
	const struct prof_cfi_input *co_in;
	struct prof_cfi_stats *co_stats;
	struct cie	*co_cies;
	size_t		 co_ncies;
	struct fde	*co_fdes;
	size_t		 co_nfdes;
	int		 co_fp;		/* DWARF numbers of this machine */
	int		 co_sp;
	int		 co_ra;
	prof_cfi_fn	*co_fn;
	void		*co_arg;
};

static int	emit(struct compiler *, const struct cie *, uint64_t pc,
		    uint64_t limit, const struct state *);
static int	execute(struct compiler *, const struct cie *,
		    struct cursor *, struct state *, const struct fde *,
		    uint64_t limit);

static uint64_t
encoded(const struct compiler *co, struct cursor *cu, uint8_t encoding)
{
	uint64_t value, here = co->co_in->ci_address +
	    (uint64_t)(cu->cu_at - co->co_in->ci_bytes);

	switch (encoding & ENC_FORMAT) {
	case 0x0: case 0x4: case 0xc:
		value = fixed(cu, 8);
		break;
	case 0x1:
		value = uleb(cu);
		break;
	case 0x2:
		value = fixed(cu, 2);
		break;
	case 0x3:
		value = fixed(cu, 4);
		break;
	case 0x9:
		value = (uint64_t)sleb(cu);
		break;
	case 0xa:
		value = (uint64_t)(int16_t)fixed(cu, 2);
		break;
	case 0xb:
		value = (uint64_t)(int32_t)fixed(cu, 4);
		break;
	default:
		cu->cu_over = true;
		return (0);
	}
	if ((encoding & ENC_RELATIVE) == ENC_PCREL)
		value += here;
	else if ((encoding & ENC_RELATIVE) != 0)
		cu->cu_over = true;
	return (value);
}

/* The letters of an augmentation that starts with z, and their data. */
static void
augmentation(struct compiler *co, struct cie *cie, struct cursor *cu,
    const uint8_t *letters)
{
	struct cursor data = *cu;
	uint64_t length = uleb(&data);
	struct cursor end = data;

	skip(&end, length);
	for (letters++; *letters != '\0'; letters++)
		if (*letters == 'R')
			cie->ce_encoding = (uint8_t)fixed(&data, 1);
		else if (*letters == 'L')
			fixed(&data, 1);
		else if (*letters == 'P')
			encoded(co, &data, fixed(&data, 1) & ENC_FORMAT);
		else if (*letters == 'S')
			cie->ce_signal = true;
	cie->ce_augmented = true;
	end.cu_over |= data.cu_over;
	*cu = end;
}

static int
read_cie(struct compiler *co, struct cie *cie, struct cursor *cu, size_t at)
{
	const uint8_t *letters;
	uint64_t version;

	memset(cie, 0, sizeof(*cie));
	cie->ce_at = at;
	version = fixed(cu, 1);
	letters = cu->cu_at;
	while (fixed(cu, 1) != 0)
		continue;
	if (cu->cu_over || (version != 1 && version != 3 && version != 4) ||
	    (letters[0] != '\0' && letters[0] != 'z'))
		return (-1);
	if (version == 4 && (fixed(cu, 1) != 8 || fixed(cu, 1) != 0))
		return (-1);
	cie->ce_code_align = uleb(cu);
	cie->ce_data_align = sleb(cu);
	if ((version == 1 ? fixed(cu, 1) : uleb(cu)) != (uint64_t)co->co_ra)
		return (-1);
	if (letters[0] == 'z')
		augmentation(co, cie, cu, letters);
	cie->ce_initial.sa_reg = -1;
	if (co->co_in->ci_machine == PROF_MACHINE_AARCH64)
		cie->ce_initial.sa_reg = co->co_sp;
	return (cu->cu_over ? -1 : execute(co, cie, cu, &cie->ce_initial,
	    NULL, 0));
}

static const struct cie *
find_cie(const struct compiler *co, size_t at)
{
	size_t low = 0, high = co->co_ncies;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (co->co_cies[middle].ce_at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return (low < co->co_ncies && co->co_cies[low].ce_at == at ?
	    &co->co_cies[low] : NULL);
}

static int
read_fde(struct compiler *co, struct fde *fde, struct cursor *cu,
    size_t cie_at)
{
	const struct cie *cie = find_cie(co, cie_at);
	uint64_t length;

	if (cie == NULL)
		return (-1);
	fde->fd_cie = (uint32_t)(cie - co->co_cies);
	fde->fd_start = encoded(co, cu, cie->ce_encoding);
	length = encoded(co, cu, cie->ce_encoding & ENC_FORMAT);
	if (cie->ce_augmented)
		skip(cu, uleb(cu));
	fde->fd_end = fde->fd_start + length;
	fde->fd_program = (uint32_t)(cu->cu_at - co->co_in->ci_bytes);
	fde->fd_program_end = (uint32_t)(cu->cu_end - co->co_in->ci_bytes);
	/* A function of a section that the linker dropped starts at 0. */
	return (cu->cu_over || length == 0 || fde->fd_start == 0 ||
	    fde->fd_end < fde->fd_start ? -1 : 0);
}

static void *
room(void *array, size_t n, size_t size)
{
	/* Grows in powers of two: full exactly when n is one. */
	if (n >= 64 && (n & (n - 1)) != 0)
		return (array);
	if (n != 0 && n < 64)
		return (array);
	return (reallocarray(array, n == 0 ? 64 : n * 2, size));
}

/* One entry: a CIE, an FDE, or neither. */
static int
read_entry(struct compiler *co, struct cursor *cu, size_t at, size_t id_at)
{
	const bool debug = co->co_in->ci_debug;
	uint64_t id = fixed(cu, 4);
	void *grown;

	if (debug ? id == 0xffffffff : id == 0) {
		grown = room(co->co_cies, co->co_ncies, sizeof(*co->co_cies));
		if (grown == NULL)
			return (-1);
		co->co_cies = grown;
		if (read_cie(co, &co->co_cies[co->co_ncies], cu, at) == 0)
			co->co_ncies++;
		return (0);
	}
	grown = room(co->co_fdes, co->co_nfdes, sizeof(*co->co_fdes));
	if (grown == NULL)
		return (-1);
	co->co_fdes = grown;
	if ((!debug && id > id_at) || read_fde(co,
	    &co->co_fdes[co->co_nfdes], cu, debug ? id : id_at - id) == -1)
		co->co_stats->cs_bad++;
	else
		co->co_nfdes++;
	return (0);
}

static int
read_section(struct compiler *co)
{
	const struct prof_cfi_input *in = co->co_in;
	struct cursor all = { in->ci_bytes, in->ci_bytes + in->ci_size,
	    false };

	while (all.cu_end - all.cu_at >= 8) {
		size_t at = (size_t)(all.cu_at - in->ci_bytes);
		uint64_t length = fixed(&all, 4);
		struct cursor entry = all;

		if (length == 0 && in->ci_to_zero)
			break;
		if (length == 0)
			continue;	/* crti and crtn leave these behind */
		if (length > (uint64_t)(all.cu_end - all.cu_at))
			break;		/* 64-bit DWARF, or nonsense */
		entry.cu_end = all.cu_at + length;
		if (read_entry(co, &entry, at, at + 4) == -1)
			return (-1);
		all.cu_at = entry.cu_end;
	}
	return (0);
}

static struct where *
tracked(const struct compiler *co, struct state *state, uint64_t reg)
{
	if (reg == (uint64_t)co->co_fp)
		return (&state->sa_fp);
	return (reg == (uint64_t)co->co_ra ? &state->sa_ra : NULL);
}

static void
set(const struct compiler *co, struct state *state, uint64_t reg,
    uint8_t kind, int64_t off)
{
	struct where *where = tracked(co, state, reg);

	if (where == NULL)
		return;
	where->wh_kind = kind;
	where->wh_off = off;
	if (where == &state->sa_ra)
		state->sa_ra_undefined = false;
}

static void
restore(const struct compiler *co, const struct cie *cie,
    struct state *state, uint64_t reg)
{
	const struct state *initial = &cie->ce_initial;

	if (reg == (uint64_t)co->co_fp)
		state->sa_fp = initial->sa_fp;
	else if (reg == (uint64_t)co->co_ra) {
		state->sa_ra = initial->sa_ra;
		state->sa_ra_undefined = initial->sa_ra_undefined;
	}
}

/* Saved where an expression says: only "frame pointer + n" is followed. */
static void
set_expression(const struct compiler *co, struct state *state, uint64_t reg,
    struct cursor *cu, bool is_value)
{
	uint64_t length = uleb(cu);
	struct cursor expr = *cu;
	int64_t off;

	skip(cu, length);
	if (cu->cu_over)
		return;
	expr.cu_end = cu->cu_at;
	if (is_value || fixed(&expr, 1) != 0x70U + (unsigned)co->co_fp) {
		set(co, state, reg, PROF_SAVED_LOST, 0);
		return;
	}
	off = sleb(&expr);
	set(co, state, reg, expr.cu_at == expr.cu_end && !expr.cu_over ?
	    PROF_SAVED_DEREF_FP : PROF_SAVED_LOST, off);
}

/* The operations that set a register's rule.  0: it was one of them. */
static int
execute_register(struct compiler *co, const struct cie *cie, uint8_t op,
    struct cursor *cu, struct state *state)
{
	uint64_t reg = uleb(cu);

	switch (op) {
	case 0x05:	/* offset_extended */
		set(co, state, reg, PROF_SAVED_CFA,
		    (int64_t)uleb(cu) * cie->ce_data_align);
		return (0);
	case 0x06:	/* restore_extended */
		restore(co, cie, state, reg);
		return (0);
	case 0x07:	/* undefined */
		set(co, state, reg, PROF_SAVED_LOST, 0);
		if (reg == (uint64_t)co->co_ra)
			state->sa_ra_undefined = true;
		return (0);
	case 0x08:	/* same_value */
		set(co, state, reg, PROF_SAVED_SAME, 0);
		return (0);
	case 0x09:	/* register */
		set(co, state, reg, PROF_SAVED_IN_REG, (int64_t)uleb(cu));
		return (0);
	case 0x10:	/* expression */
	case 0x16:	/* val_expression */
		set_expression(co, state, reg, cu, op == 0x16);
		return (0);
	case 0x11:	/* offset_extended_sf */
		set(co, state, reg, PROF_SAVED_CFA,
		    sleb(cu) * cie->ce_data_align);
		return (0);
	case 0x14:	/* val_offset */
	case 0x15:	/* val_offset_sf */
		sleb(cu);
		set(co, state, reg, PROF_SAVED_LOST, 0);
		return (0);
	}
	return (-1);
}

/* The operations that define the frame address.  0: it was one of them. */
static int
execute_cfa(const struct cie *cie, uint8_t op, struct cursor *cu,
    struct state *state)
{
	switch (op) {
	case 0x0c:	/* def_cfa */
		state->sa_reg = (int)(uleb(cu) & 0xff);
		state->sa_off = (int64_t)uleb(cu);
		return (0);
	case 0x0d:	/* def_cfa_register */
		state->sa_reg = (int)(uleb(cu) & 0xff);
		return (0);
	case 0x0e:	/* def_cfa_offset */
		state->sa_off = (int64_t)uleb(cu);
		return (0);
	case 0x12:	/* def_cfa_sf */
		state->sa_reg = (int)(uleb(cu) & 0xff);
		state->sa_off = sleb(cu) * cie->ce_data_align;
		return (0);
	case 0x13:	/* def_cfa_offset_sf */
		state->sa_off = sleb(cu) * cie->ce_data_align;
		return (0);
	case 0x0f:	/* def_cfa_expression */
		state->sa_reg = -1;
		state->sa_expr_size = uleb(cu);
		state->sa_expr = cu->cu_at;
		skip(cu, state->sa_expr_size);
		return (0);
	}
	return (-1);
}

/* How far an operation moves pc; 0: it is not an advance. */
static bool
advance(struct compiler *co, const struct cie *cie, uint8_t op,
    struct cursor *cu, uint64_t *pc)
{
	if ((op & 0xc0) == 0x40)
		*pc += (op & 0x3fU) * cie->ce_code_align;
	else if (op == 0x01)	/* set_loc */
		*pc = encoded(co, cu, cie->ce_encoding);
	else if (op == 0x02)	/* advance_loc1, 2, 4 */
		*pc += fixed(cu, 1) * cie->ce_code_align;
	else if (op == 0x03)
		*pc += fixed(cu, 2) * cie->ce_code_align;
	else if (op == 0x04)
		*pc += fixed(cu, 4) * cie->ce_code_align;
	else
		return (false);
	return (true);
}

/* Everything that is neither an advance nor remember and restore. */
static int
execute_one(struct compiler *co, const struct cie *cie, uint8_t op,
    struct cursor *cu, struct state *state)
{
	if ((op & 0xc0) == 0x80) {	/* offset */
		set(co, state, op & 0x3f, PROF_SAVED_CFA,
		    (int64_t)uleb(cu) * cie->ce_data_align);
		return (0);
	}
	if ((op & 0xc0) == 0xc0) {	/* restore */
		restore(co, cie, state, op & 0x3f);
		return (0);
	}
	if (op == 0x00 || op == 0x2d)	/* nop, negate_ra_state */
		return (0);
	if (op == 0x2e) {		/* GNU_args_size */
		uleb(cu);
		return (0);
	}
	if (execute_cfa(cie, op, cu, state) == 0)
		return (0);
	return (execute_register(co, cie, op, cu, state));
}

/*
 * Run a program: of a CIE (fde NULL), to know the initial state, or of an
 * FDE, handing over a row before each step of pc and at the end.
 */
static int
execute(struct compiler *co, const struct cie *cie, struct cursor *cu,
    struct state *state, const struct fde *fde, uint64_t limit)
{
	struct state remembered[MAX_REMEMBERED];
	uint64_t pc = fde == NULL ? 0 : fde->fd_start, before;
	unsigned depth = 0;
	int rv;

	while (cu->cu_at < cu->cu_end && !cu->cu_over) {
		uint8_t op = (uint8_t)fixed(cu, 1);

		before = pc;
		if (advance(co, cie, op, cu, &pc)) {
			if (fde == NULL || pc <= before)
				continue;
			rv = emit(co, cie, before, limit, state);
			if (rv != 0)
				return (rv);
		} else if (op == 0x0a) {
			if (depth == MAX_REMEMBERED)
				return (-1);
			remembered[depth++] = *state;
		} else if (op == 0x0b) {
			if (depth == 0)
				return (-1);
			*state = remembered[--depth];
		} else if (execute_one(co, cie, op, cu, state) == -1)
			return (-1);
	}
	if (cu->cu_over)
		return (-1);
	return (fde == NULL ? 0 : emit(co, cie, pc, limit, state));
}

/* An expression of the cfa: the stub's of the PLT, or load(reg + n) + m. */
static void
cfa_of_expression(const struct compiler *co, const struct state *state,
    struct prof_cfi_rule *rule)
{
	static const uint8_t plt_head[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a };
	static const uint8_t plt_tail[] = { 0x2a, 0x33, 0x24, 0x22 };
	const uint8_t *expr = state->sa_expr;
	struct cursor cu = { expr, expr, false };
	uint64_t op;

	rule->cr_cfa = PROF_CFA_OTHER;
	if (expr == NULL)
		return;
	cu.cu_end += state->sa_expr_size;
	if (co->co_in->ci_machine == PROF_MACHINE_X86_64 &&
	    state->sa_expr_size == 11 && memcmp(expr, plt_head, 6) == 0 &&
	    memcmp(expr + 7, plt_tail, 4) == 0 && expr[6] >= 0x30 &&
	    expr[6] < 0x40) {
		rule->cr_cfa = PROF_CFA_PLT;
		rule->cr_cfa_off = expr[6] - 0x30;
		return;
	}
	op = fixed(&cu, 1);
	if (op != 0x70U + (unsigned)co->co_fp &&
	    op != 0x70U + (unsigned)co->co_sp)
		return;
	rule->cr_reg = (uint8_t)(op - 0x70);
	rule->cr_cfa_off = (int32_t)sleb(&cu);
	rule->cr_cfa_add = 0;
	if (fixed(&cu, 1) != 0x06)		/* deref */
		return;
	if (cu.cu_at < cu.cu_end) {
		if (fixed(&cu, 1) != 0x23)	/* plus_uconst */
			return;
		rule->cr_cfa_add = (int32_t)uleb(&cu);
	}
	if (cu.cu_at == cu.cu_end && !cu.cu_over)
		rule->cr_cfa = PROF_CFA_DEREF;
}

static bool
fits(int64_t value)
{
	return (value >= INT32_MIN && value <= INT32_MAX);
}

static void
rule_of(const struct compiler *co, const struct cie *cie,
    const struct state *state, struct prof_cfi_rule *rule)
{
	memset(rule, 0, sizeof(*rule));
	if (cie->ce_signal) {
		rule->cr_cfa = PROF_CFA_SIGNAL;
		return;
	}
	if (state->sa_ra_undefined) {
		rule->cr_cfa = PROF_CFA_STOP;
		return;
	}
	if (state->sa_reg == -1)
		cfa_of_expression(co, state, rule);
	else {
		rule->cr_cfa = fits(state->sa_off) ? PROF_CFA_REG :
		    PROF_CFA_OTHER;
		rule->cr_reg = (uint8_t)state->sa_reg;
		rule->cr_cfa_off = (int32_t)state->sa_off;
	}
	rule->cr_fp = fits(state->sa_fp.wh_off) ? state->sa_fp.wh_kind :
	    PROF_SAVED_LOST;
	rule->cr_fp_off = (int32_t)state->sa_fp.wh_off;
	rule->cr_ra = fits(state->sa_ra.wh_off) ? state->sa_ra.wh_kind :
	    PROF_SAVED_LOST;
	rule->cr_ra_off = (int32_t)state->sa_ra.wh_off;
}

static int
emit(struct compiler *co, const struct cie *cie, uint64_t pc,
    uint64_t limit, const struct state *state)
{
	struct prof_cfi_rule rule;

	if (pc >= limit)
		return (0);
	rule_of(co, cie, state, &rule);
	return (co->co_fn(co->co_arg, pc, &rule));
}

static int
by_start(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->fd_start != y->fd_start)
		return (x->fd_start < y->fd_start ? -1 : 1);
	return (x->fd_program < y->fd_program ? -1 : 1);
}

/* Functions in order; what overlaps the next one is cut where that begins. */
static int
run_all(struct compiler *co)
{
	static const struct prof_cfi_rule nothing;
	size_t n;
	int rv;

	qsort(co->co_fdes, co->co_nfdes, sizeof(*co->co_fdes), by_start);
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
		rv = execute(co, cie, &cu, &state, fde,
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

int
prof_cfi_compile(const struct prof_cfi_input *input, prof_cfi_fn *fn,
    void *arg, struct prof_cfi_stats *stats)
{
	struct compiler co = { .co_in = input, .co_stats = stats,
	    .co_fn = fn, .co_arg = arg };
	int rv;

	memset(stats, 0, sizeof(*stats));
	if (input->ci_machine == PROF_MACHINE_X86_64) {
		co.co_fp = PROF_X86_RBP;
		co.co_sp = PROF_X86_RSP;
		co.co_ra = PROF_X86_RA;
	} else {
		co.co_fp = PROF_ARM_FP;
		co.co_sp = PROF_ARM_SP;
		co.co_ra = PROF_ARM_LR;
	}
	if (input->ci_size > UINT32_MAX)
		return (0);
	rv = read_section(&co);
	stats->cs_fdes = co.co_nfdes;
	if (rv == 0)
		rv = run_all(&co);
	free(co.co_cies);
	free(co.co_fdes);
	return (rv);
}
