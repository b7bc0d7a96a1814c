/* SPDX-License-Identifier: ISC */
/*
 * Runs the programs of call frame information: what is in force from which pc
 * on.  Only what an unwinder needs is followed: the frame address, the frame
 * pointer, the return address and, where there is one, the register in which
 * hand-written code of the loader keeps its frame.  Called by cfi.c.
 */
#include <string.h>

#include "cfi_impl.h"

#define MAX_REMEMBERED	16	/* nesting of remember_state */
#define MAX_EXPRESSION	32	/* bytes */

static int	row_emit(struct compiler *, const struct cie *, uint64_t pc,
		    uint64_t limit, const struct state *);

/* An offset in units of the CIE; both factors are the file's to choose. */
static int64_t
offset_scaled(uint64_t units, const struct cie *cie)
{
	return ((int64_t)(units * (uint64_t)cie->ce_data_align));
}

static struct where *
register_tracked(const struct compiler *co, struct state *state, uint64_t reg)
{
	if (reg == (uint64_t)co->co_fp)
		return (&state->sa_fp);
	if (reg == (uint64_t)co->co_bx)
		return (&state->sa_bx);
	return (reg == (uint64_t)co->co_ra ? &state->sa_ra : NULL);
}

static void
rule_set(const struct compiler *co, struct state *state, uint64_t reg,
    uint8_t kind, int64_t off)
{
	struct where *where = register_tracked(co, state, reg);

	if (where == NULL)
		return;
	where->wh_kind = kind;
	where->wh_off = off;
	if (where == &state->sa_ra)
		state->sa_ra_undefined = false;
}

static void
rule_restore(const struct compiler *co, const struct cie *cie,
    struct state *state, uint64_t reg)
{
	const struct state *initial = &cie->ce_initial;

	if (reg == (uint64_t)co->co_fp)
		state->sa_fp = initial->sa_fp;
	else if (reg == (uint64_t)co->co_bx)
		state->sa_bx = initial->sa_bx;
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
	uint64_t length = cursor_uleb(cu);
	struct cursor expr = *cu;
	int64_t off;

	cursor_skip(cu, length);
	if (cu->cu_over)
		return;
	expr.cu_end = cu->cu_at;
	if (is_value || cursor_fixed(&expr, 1) != 0x70U + (unsigned)co->co_fp) {
		rule_set(co, state, reg, PROF_SAVED_LOST, 0);
		return;
	}
	off = cursor_sleb(&expr);
	rule_set(co, state, reg, expr.cu_at == expr.cu_end && !expr.cu_over ?
	    PROF_SAVED_DEREF_FP : PROF_SAVED_LOST, off);
}

/* The operations that set a register's rule.  0: it was one of them. */
static int
execute_register(struct compiler *co, const struct cie *cie, uint8_t op,
    struct cursor *cu, struct state *state)
{
	uint64_t reg = cursor_uleb(cu);

	switch (op) {
	case 0x05:	/* offset_extended */
		rule_set(co, state, reg, PROF_SAVED_CFA,
		    offset_scaled(cursor_uleb(cu), cie));
		return (0);
	case 0x06:	/* restore_extended */
		rule_restore(co, cie, state, reg);
		return (0);
	case 0x07:	/* undefined */
		rule_set(co, state, reg, PROF_SAVED_LOST, 0);
		if (reg == (uint64_t)co->co_ra)
			state->sa_ra_undefined = true;
		return (0);
	case 0x08:	/* same_value */
		rule_set(co, state, reg, PROF_SAVED_SAME, 0);
		return (0);
	case 0x09:	/* register */
		rule_set(co, state, reg, PROF_SAVED_IN_REG,
		    (int64_t)cursor_uleb(cu));
		return (0);
	case 0x10:	/* expression */
	case 0x16:	/* val_expression */
		set_expression(co, state, reg, cu, op == 0x16);
		return (0);
	case 0x11:	/* offset_extended_sf */
		rule_set(co, state, reg, PROF_SAVED_CFA,
		    offset_scaled((uint64_t)cursor_sleb(cu), cie));
		return (0);
	case 0x14:	/* val_offset */
	case 0x15:	/* val_offset_sf */
		cursor_sleb(cu);
		rule_set(co, state, reg, PROF_SAVED_LOST, 0);
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
		state->sa_reg = (int)(cursor_uleb(cu) & 0xff);
		state->sa_off = (int64_t)cursor_uleb(cu);
		return (0);
	case 0x0d:	/* def_cfa_register */
		state->sa_reg = (int)(cursor_uleb(cu) & 0xff);
		return (0);
	case 0x0e:	/* def_cfa_offset */
		state->sa_off = (int64_t)cursor_uleb(cu);
		return (0);
	case 0x12:	/* def_cfa_sf */
		state->sa_reg = (int)(cursor_uleb(cu) & 0xff);
		state->sa_off = offset_scaled((uint64_t)cursor_sleb(cu), cie);
		return (0);
	case 0x13:	/* def_cfa_offset_sf */
		state->sa_off = offset_scaled((uint64_t)cursor_sleb(cu), cie);
		return (0);
	case 0x0f:	/* def_cfa_expression */
		state->sa_reg = -1;
		state->sa_expr_size = cursor_uleb(cu);
		state->sa_expr = cu->cu_at;
		cursor_skip(cu, state->sa_expr_size);
		return (0);
	}
	return (-1);
}

/* How far an operation moves pc; 0: it is not an advance. */
static bool
pc_advance(struct compiler *co, const struct cie *cie, uint8_t op,
    struct cursor *cu, uint64_t *pc)
{
	if ((op & 0xc0) == 0x40)
		*pc += (op & 0x3fU) * cie->ce_code_align;
	else if (op == 0x01)	/* set_loc */
		*pc = prof_cfi_pointer(co, cu, cie->ce_encoding);
	else if (op == 0x02)	/* advance_loc1, 2, 4 */
		*pc += cursor_fixed(cu, 1) * cie->ce_code_align;
	else if (op == 0x03)
		*pc += cursor_fixed(cu, 2) * cie->ce_code_align;
	else if (op == 0x04)
		*pc += cursor_fixed(cu, 4) * cie->ce_code_align;
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
		rule_set(co, state, op & 0x3f, PROF_SAVED_CFA,
		    offset_scaled(cursor_uleb(cu), cie));
		return (0);
	}
	if ((op & 0xc0) == 0xc0) {	/* restore */
		rule_restore(co, cie, state, op & 0x3f);
		return (0);
	}
	if (op == 0x00 || op == 0x2d)	/* nop, negate_ra_state */
		return (0);
	if (op == 0x2e) {		/* GNU_args_size */
		cursor_uleb(cu);
		return (0);
	}
	if (execute_cfa(cie, op, cu, state) == 0)
		return (0);
	return (execute_register(co, cie, op, cu, state));
}

/*
 * Run a program: of a CIE (fde NULL), to know the initial state, or of an
 * FDE, handing over a row before each step of pc and at the end.  One that
 * cannot be run further ends in a row that says so: what was in force up to
 * there must not stay it.
 */
int
prof_cfi_run(struct compiler *co, const struct cie *cie, struct cursor *cu,
    struct state *state, const struct fde *fde, uint64_t limit)
{
	static const struct prof_cfi_rule unknown = { .cr_cfa =
	    PROF_CFA_OTHER };
	struct state remembered[MAX_REMEMBERED];
	uint64_t pc = fde == NULL ? 0 : fde->fd_start, before;
	bool known = true;
	unsigned depth = 0;
	int rv;

	while (known && cu->cu_at < cu->cu_end && !cu->cu_over) {
		uint8_t op = (uint8_t)cursor_fixed(cu, 1);

		before = pc;
		if (pc_advance(co, cie, op, cu, &pc)) {
			if (fde == NULL || pc <= before)
				continue;
			rv = row_emit(co, cie, before, limit, state);
			if (rv != 0)
				return (rv);
		} else if (op == 0x0a && depth < MAX_REMEMBERED)
			remembered[depth++] = *state;
		else if (op == 0x0b && depth > 0)
			*state = remembered[--depth];
		else
			known = execute_one(co, cie, op, cu, state) == 0;
	}
	known = known && !cu->cu_over;
	if (fde == NULL)
		return (known ? 0 : -1);
	if (known)
		return (row_emit(co, cie, pc, limit, state));
	rv = pc < limit ? co->co_fn(co->co_arg, pc, &unknown) : 0;
	return (rv == 0 ? -1 : rv);
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
	/* What is understood is short; its length is the file's to choose. */
	if (expr == NULL || state->sa_expr_size > MAX_EXPRESSION)
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
	op = cursor_fixed(&cu, 1);
	if (op != 0x70U + (unsigned)co->co_fp &&
	    op != 0x70U + (unsigned)co->co_sp)
		return;
	rule->cr_reg = (uint8_t)(op - 0x70);
	rule->cr_cfa_off = (int32_t)cursor_sleb(&cu);
	rule->cr_cfa_add = 0;
	if (cursor_fixed(&cu, 1) != 0x06)		/* deref */
		return;
	if (cu.cu_at < cu.cu_end) {
		if (cursor_fixed(&cu, 1) != 0x23)	/* plus_uconst */
			return;
		rule->cr_cfa_add = (int32_t)cursor_uleb(&cu);
	}
	if (cu.cu_at == cu.cu_end && !cu.cu_over)
		rule->cr_cfa = PROF_CFA_DEREF;
}

static bool
row_fits(int64_t value)
{
	return (value >= INT32_MIN && value <= INT32_MAX);
}

static uint8_t
rule_saved(const struct where *where, int32_t *off)
{
	*off = (int32_t)where->wh_off;
	return (row_fits(where->wh_off) ? where->wh_kind : PROF_SAVED_LOST);
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
		rule->cr_cfa = row_fits(state->sa_off) ? PROF_CFA_REG :
		    PROF_CFA_OTHER;
		rule->cr_reg = (uint8_t)state->sa_reg;
		rule->cr_cfa_off = (int32_t)state->sa_off;
	}
	rule->cr_fp = rule_saved(&state->sa_fp, &rule->cr_fp_off);
	rule->cr_ra = rule_saved(&state->sa_ra, &rule->cr_ra_off);
	rule->cr_bx = rule_saved(&state->sa_bx, &rule->cr_bx_off);
}

static int
row_emit(struct compiler *co, const struct cie *cie, uint64_t pc,
    uint64_t limit, const struct state *state)
{
	struct prof_cfi_rule rule;

	if (pc >= limit)
		return (0);
	rule_of(co, cie, state, &rule);
	return (co->co_fn(co->co_arg, pc, &rule));
}

