/* SPDX-License-Identifier: ISC */
/*
 * Places in functions: FUNCTION+OFFSET, where an instruction has to begin, and
 * FUNCTION@LINE, the first instruction of the function that belongs to a line
 * of its source.  Of code that is inlined the line is that of the call.
 *
 * A function is decoded from its beginning, since a breakpoint within an
 * instruction makes another one of it.  Called by sites.c.
 */
#include "decode.h"
#include "lines.h"
#include "sites_impl.h"

#define MOST_BYTES	(1u << 20)	/* of a function */
#define MOST_INLINED	64

struct placing {
	struct prof_elf	*pl_elf;
	struct prof_lines *pl_lines;	/* NULL: none */
	const struct prof_sites_want *pl_want;
};

/* Does the instruction belong to the line that is wanted? */
static bool
is_of_line(struct placing *placing, uint64_t address)
{
	struct prof_line line[MOST_INLINED];
	const size_t n = prof_lines_find(placing->pl_lines, address, line,
	    MOST_INLINED);

	return (n > 0 && n < MOST_INLINED &&
	    line[n - 1].ln_number == placing->pl_want->sw_line);
}

/* The place in the function; or why there is none. */
static enum prof_leave
place_find(struct placing *placing, const struct prof_site *site,
    uint64_t address, uint64_t *found)
{
	const struct prof_sites_want *want = placing->pl_want;
	struct prof_elf_part part;
	struct prof_insn insn;

	if (want->sw_line != 0 && placing->pl_lines == NULL)
		return (PROF_LEAVE_LINES);
	if (site->si_size == 0 || site->si_size > MOST_BYTES ||
	    !prof_elf_at(placing->pl_elf, address, &part) ||
	    part.pp_size < site->si_size)
		return (PROF_LEAVE_SIZE);
	part.pp_size = site->si_size;
	if (!prof_elf_load(placing->pl_elf, &part))
		return (PROF_LEAVE_SIZE);
	for (uint64_t at = 0; at < part.pp_size; at += insn.in_size) {
		prof_insn_decode(placing->pl_elf->el_machine,
		    part.pp_bytes + at, part.pp_size - at, &insn);
		*found = address + at;
		if (want->sw_line != 0 ? is_of_line(placing, *found) :
		    at == want->sw_offset)
			return (PROF_LEAVE_KNOWN);
		if (insn.in_size == 0)
			return (PROF_LEAVE_CODE);
		if (want->sw_line == 0 && at > want->sw_offset)
			return (PROF_LEAVE_WITHIN);
	}
	return (want->sw_line != 0 ? PROF_LEAVE_LINE : PROF_LEAVE_BEHIND);
}

void
prof_places_find(struct prof_elf *elf, int fd,
    const struct prof_sites_want *want, struct prof_sites *sites)
{
	struct placing placing = { .pl_elf = elf, .pl_want = want,
	    .pl_lines = want->sw_line == 0 ? NULL :
	    prof_lines_open(fd, NULL) };

	for (size_t n = 0; n < sites->st_n; n++) {
		struct prof_site *site = &sites->st_site[n];
		uint64_t found = 0;

		site->si_leave = place_find(&placing, site,
		    prof_elf_address(elf, site->si_offset), &found);
		if (site->si_leave == PROF_LEAVE_KNOWN &&
		    !prof_site_offset(elf, found, PF_X, &site->si_offset))
			site->si_leave = PROF_LEAVE_SIZE;
		site->si_flags = (site->si_flags & ~PROF_SITE_CHEAP) |
		    PROF_SITE_INSIDE | prof_site_price(elf, found);
	}
	prof_lines_close(placing.pl_lines);
}
