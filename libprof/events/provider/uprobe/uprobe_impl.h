/* SPDX-License-Identifier: ISC */
/* What the files of probes in programs share. */
#ifndef UPROBE_IMPL_H
#define UPROBE_IMPL_H

#include "events/names.h"

/* The registers of the ABI as arguments of a function. */
void	prof_site_abi(struct prof_site *site);
/* And that of what it returns. */
void	prof_site_abi_ret(struct prof_site *site);
/*
 * Those of the event that -e names, else all that there are, at one more of
 * its places.
 */
int	prof_hook_args(struct prof_event *event, struct prof_hook *hook,
	    const struct prof_site *site, const struct prof_spec *spec,
	    struct prof_err *error);
/* Names and types, static; how many. */
uint32_t prof_site_list_args(const struct prof_site *site,
	    struct prof_probe *probe);

#endif /* UPROBE_IMPL_H */
