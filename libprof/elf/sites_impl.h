/* SPDX-License-Identifier: ISC */
/* What sites.c (functions) and notes.c (static probes) share. */
#ifndef SITES_IMPL_H
#define SITES_IMPL_H

#include "sites.h"
#include "view.h"

/* Where in the file an address of a segment with these flags (PF_*) is. */
bool	prof_site_offset(const struct prof_elf *elf, uint64_t address,
	    uint32_t flags, uint64_t *offset);
/* PROF_SITE_CHEAP, or 0. */
uint32_t prof_site_price(struct prof_elf *elf, uint64_t address);
/* One more, or counted when there are too many; false: no memory. */
bool	prof_site_add(struct prof_sites *sites, size_t *cap,
	    const struct prof_site *site);
/* A part of a function that the compiler put elsewhere. */
struct prof_part {
	uint64_t	pa_key;		/* of the function's name */
	uint64_t	pa_address;
	uint64_t	pa_size;
};

struct prof_parts {
	struct prof_part *ps_part;
	size_t		 ps_n;
	size_t		 ps_cap;
};

/*
 * returns.c: in place of each function the places where it returns, or one
 * that says why these are not known; false: no memory.
 */
bool	prof_returns_find(struct prof_elf *elf, const struct prof_parts *parts,
	    struct prof_sites *sites);
/*
 * places.c: in place of where each function begins the place in it that is
 * wanted, or why there is none.
 */
void	prof_places_find(struct prof_elf *elf, int fd,
	    const struct prof_sites_want *want, struct prof_sites *sites);
/* parameters.c: what debug information says of each function's. */
void	prof_parameters_find(struct prof_elf *elf, int fd,
	    const struct prof_sites_want *want, struct prof_sites *sites);
/* notes.c: static probes, PROVIDER:NAME; false: no memory. */
bool	prof_notes_find(struct prof_elf *elf, const char *pattern,
	    struct prof_sites *sites);

#endif /* SITES_IMPL_H */
