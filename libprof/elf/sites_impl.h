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
/* notes.c: static probes, PROVIDER:NAME; false: no memory. */
bool	prof_notes_find(struct prof_elf *elf, const char *pattern,
	    struct prof_sites *sites);

#endif /* SITES_IMPL_H */
