/* SPDX-License-Identifier: ISC */
/*
 * Puts a snapshot together again that came through a stream in pieces.
 *
 * Called by the drain with the records behind a sample, in their order.  A
 * snapshot may end early, where the ring was full or the stack could not be
 * read; what is there is contiguous, from the stack pointer up.
 */
#include <string.h>

#include "snapshot.h"

void
prof_collect_begin(struct prof_collect *co)
{
	memset(&co->co_snapshot, 0, sizeof(co->co_snapshot));
	co->co_snapshot.sn_stack = co->co_bytes;
	co->co_snapshot.sn_cut = true;
	co->co_kept = 0;
	co->co_has_head = co->co_ended = false;
}

static void
add_head(struct prof_collect *co, const struct dtp_snapshot *head)
{
	struct prof_snapshot *sn = &co->co_snapshot;

	co->co_has_head = true;
	co->co_kept = head->dn_sure;
	sn->sn_is_return = head->dn_is_return != 0;
	sn->sn_base = head->dn_sure == 0 ? head->dn_reg[PROF_REG_SP] :
	    head->dn_at_sp;
	if (head->dn_sure == 0) {
		memcpy(sn->sn_reg, head->dn_reg, (PROF_REGS - 1) *
		    sizeof(*sn->sn_reg));
		sn->sn_reg[PROF_REG_PC] = head->dn_pc;
		sn->sn_known = PROF_ALL_REGS;
		return;
	}
	sn->sn_reg[PROF_REG_PC] = head->dn_at_pc;
	sn->sn_reg[PROF_REG_SP] = head->dn_at_sp;
	sn->sn_reg[PROF_REG_FP] = head->dn_at_fp;
	sn->sn_known = 1ULL << PROF_REG_PC | 1ULL << PROF_REG_SP |
	    1ULL << PROF_REG_FP;
}

static void
add_piece(struct prof_collect *co, const struct dtp_piece *piece,
    size_t size)
{
	struct prof_snapshot *sn = &co->co_snapshot;

	if (sn->sn_bytes == 0)
		sn->sn_base = piece->dp_address;
	if (piece->dp_bytes == 0) {
		sn->sn_cut = false;	/* the stack has no more */
		co->co_ended = true;
		return;
	}
	if (piece->dp_bytes > size - sizeof(*piece) ||
	    piece->dp_bytes > sizeof(co->co_bytes) - sn->sn_bytes ||
	    piece->dp_address != sn->sn_base + sn->sn_bytes) {
		co->co_ended = true;
		return;
	}
	memcpy(co->co_bytes + sn->sn_bytes, piece + 1, piece->dp_bytes);
	sn->sn_bytes += piece->dp_bytes;
}

void
prof_collect_add(struct prof_collect *co, const struct dtp_rec *rec)
{
	size_t size = rec->dr_size - sizeof(*rec);

	if (rec->dr_type == DTP_T_SNAPSHOT && !co->co_has_head &&
	    size >= sizeof(struct dtp_snapshot))
		add_head(co, (const void *)(rec + 1));
	else if (rec->dr_type == DTP_T_PIECE && co->co_has_head &&
	    !co->co_ended && size >= sizeof(struct dtp_piece))
		add_piece(co, (const void *)(rec + 1), size);
}
