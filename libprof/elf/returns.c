/* SPDX-License-Identifier: ISC */
/*
 * Where a function returns.  The kernel's own probes of returns replace return
 * addresses, and kill a program through which an exception passes; a probe at
 * each instruction that returns does no harm, but all of them have to be known.
 *
 * So a function is decoded from its beginning to its end, with the part that
 * the compiler has put elsewhere (NAME.cold).  It is understood if each
 * instruction is known, the last one ends where it does, each branch goes to
 * an instruction of it, and none leaves it but by returning: not by a jump to
 * another function, which would return in its place, nor to where only a
 * register says.
 *
 * Called by sites.c.
 */
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "sites_impl.h"

#define MOST_BYTES	(1u << 20)	/* of a function */
#define MOST_RETURNS	1024

/* A piece of code that belongs to the function: it, or its cold part. */
struct piece {
	uint64_t	 pc_address;
	uint64_t	 pc_size;
	const uint8_t	*pc_code;
	uint8_t		*pc_begins;	/* 1: an instruction begins there */
};

struct leaving {
	struct prof_elf	*lv_elf;
	const struct prof_parts *lv_parts;
	struct piece	 lv_piece[2];
	size_t		 lv_npieces;
	uint64_t	 lv_return[MOST_RETURNS];
	size_t		 lv_n;
};

/* Its bytes; false: they cannot be had. */
static bool
piece_load(struct leaving *leaving, uint64_t address, uint64_t size)
{
	struct piece *piece = &leaving->lv_piece[leaving->lv_npieces];
	struct prof_elf_part part;

	if (size == 0 || size > MOST_BYTES ||
	    !prof_elf_at(leaving->lv_elf, address, &part) ||
	    part.pp_size < size)
		return (false);
	part.pp_size = size;
	piece->pc_begins = calloc(1, size);
	if (piece->pc_begins == NULL ||
	    !prof_elf_load(leaving->lv_elf, &part)) {
		free(piece->pc_begins);
		return (false);
	}
	piece->pc_address = address;
	piece->pc_size = size;
	piece->pc_code = part.pp_bytes;
	leaving->lv_npieces++;
	return (true);
}

static const struct piece *
piece_around(const struct leaving *leaving, uint64_t address)
{
	for (size_t n = 0; n < leaving->lv_npieces; n++)
		if (address - leaving->lv_piece[n].pc_address <
		    leaving->lv_piece[n].pc_size)
			return (&leaving->lv_piece[n]);
	return (NULL);
}

/* Notes where instructions begin, and returns. */
static enum prof_leave
piece_decode(struct leaving *leaving, struct piece *piece)
{
	const uint16_t machine = leaving->lv_elf->el_machine;
	struct prof_insn insn;
	uint64_t at;

	for (at = 0; at < piece->pc_size; at += insn.in_size) {
		prof_insn_decode(machine, piece->pc_code + at,
		    piece->pc_size - at, &insn);
		if (insn.in_size == 0)
			return (PROF_LEAVE_CODE);
		piece->pc_begins[at] = 1;
		if (insn.in_flow == PROF_FLOW_INDIRECT)
			return (PROF_LEAVE_INDIRECT);
		if (insn.in_flow != PROF_FLOW_RETURN)
			continue;
		if (leaving->lv_n == MOST_RETURNS)
			return (PROF_LEAVE_SIZE);
		leaving->lv_return[leaving->lv_n++] = piece->pc_address + at;
	}
	/* No instruction reaches out of it, since it would be cut. */
	return (PROF_LEAVE_KNOWN);
}

/* Do all branches go to where an instruction of ours begins? */
static enum prof_leave
piece_follow(const struct leaving *leaving, const struct piece *piece)
{
	const uint16_t machine = leaving->lv_elf->el_machine;
	const struct piece *other;
	struct prof_insn insn;
	uint64_t at, target;

	for (at = 0; at < piece->pc_size; at += insn.in_size) {
		prof_insn_decode(machine, piece->pc_code + at,
		    piece->pc_size - at, &insn);
		if (insn.in_flow != PROF_FLOW_JUMP &&
		    insn.in_flow != PROF_FLOW_BRANCH)
			continue;
		target = piece->pc_address + at + (uint64_t)insn.in_target;
		other = piece_around(leaving, target);
		if (other == NULL)
			return (PROF_LEAVE_TAIL);
		if (!other->pc_begins[target - other->pc_address])
			return (PROF_LEAVE_CODE);
	}
	return (PROF_LEAVE_KNOWN);
}

static enum prof_leave
function_decode(struct leaving *leaving, const struct prof_site *site,
    uint64_t address)
{
	enum prof_leave leave = PROF_LEAVE_KNOWN;
	size_t n;

	if (!piece_load(leaving, address, site->si_size))
		return (PROF_LEAVE_SIZE);
	for (n = 0; n < leaving->lv_parts->ps_n; n++) {
		const struct prof_part *part = &leaving->lv_parts->ps_part[n];

		/* Two functions of one name may have two: which is not told. */
		if (part->pa_key == site->si_key && (leaving->lv_npieces == 2 ||
		    !piece_load(leaving, part->pa_address, part->pa_size)))
			return (PROF_LEAVE_SIZE);
	}
	for (n = 0; n < leaving->lv_npieces && leave == PROF_LEAVE_KNOWN; n++)
		leave = piece_decode(leaving, &leaving->lv_piece[n]);
	for (n = 0; n < leaving->lv_npieces && leave == PROF_LEAVE_KNOWN; n++)
		leave = piece_follow(leaving, &leaving->lv_piece[n]);
	if (leave == PROF_LEAVE_KNOWN && leaving->lv_n == 0)
		leave = PROF_LEAVE_NEVER;
	return (leave);
}

/* Of one function; false: no memory. */
static bool
returns_add(struct leaving *leaving, const struct prof_site *function,
    struct prof_sites *returns, size_t *cap)
{
	struct prof_site site = *function;
	size_t n;

	leaving->lv_n = leaving->lv_npieces = 0;
	site.si_leave = site.si_flags & PROF_SITE_GO ?
	    PROF_LEAVE_GO : function_decode(leaving, function,
	    prof_elf_address(leaving->lv_elf, function->si_offset));
	for (n = 0; n < leaving->lv_npieces; n++)
		free(leaving->lv_piece[n].pc_begins);
	if (site.si_leave != PROF_LEAVE_KNOWN)
		return (prof_site_add(returns, cap, &site));
	for (n = 0; n < leaving->lv_n; n++) {
		if (!prof_site_offset(leaving->lv_elf, leaving->lv_return[n],
		    PF_X, &site.si_offset))
			continue;
		site.si_flags = (function->si_flags & ~PROF_SITE_CHEAP) |
		    prof_site_price(leaving->lv_elf, leaving->lv_return[n]);
		if (!prof_site_add(returns, cap, &site))
			return (false);
	}
	return (true);
}

bool
prof_returns_find(struct prof_elf *elf, const struct prof_parts *parts,
    struct prof_sites *sites)
{
	struct prof_sites returns = { .st_functions = sites->st_functions };
	struct leaving *leaving = calloc(1, sizeof(*leaving));
	size_t n, cap = 0;
	bool ok = leaving != NULL;

	for (n = 0; n < sites->st_n && ok; n++) {
		leaving->lv_elf = elf;
		leaving->lv_parts = parts;
		ok = returns_add(leaving, &sites->st_site[n], &returns, &cap);
	}
	free(leaving);
	if (!ok) {
		prof_sites_free(&returns);
		return (false);
	}
	free(sites->st_site);
	*sites = returns;
	return (true);
}
