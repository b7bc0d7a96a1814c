/* SPDX-License-Identifier: ISC */
/*
 * Which processes run an interpreter whose frames programs can find, and how
 * they lie there (sys/abi/dtp_chain.h): as its file says, moved to where that
 * is mapped.
 *
 * Called by publish.c.  A number that is given back rests for a second, as
 * words do: a walk may be reading it.
 */
#include <string.h>

#include "base/clock.h"
#include "publish_impl.h"

#define REST_NS		1000000000ULL

/* One that rested; 0: there is none, and the process has no script frames. */
static uint32_t
number_take(struct prof_chains *chains)
{
	const uint64_t now_ns = prof_now_ns();
	uint32_t n, number;

	for (n = 0; n < DTP_CHAINS - 1; n++) {
		number = 1 + (chains->cs_last + n) % (DTP_CHAINS - 1);
		if (chains->cs_free_ns[number] > now_ns)
			continue;
		chains->cs_free_ns[number] = UINT64_MAX;
		chains->cs_last = number;
		return (number);
	}
	chains->cs_refused++;
	return (0);
}

void
prof_chain_put(struct prof_chains *chains, uint32_t number)
{
	if (number != 0)
		chains->cs_free_ns[number] = prof_now_ns() + REST_NS;
}

/* The first interpreter that is mapped. */
static const struct prof_runtime *
runtime_of(const struct prof_unwind_modules *modules,
    const struct dtp_uw_map *map, uint32_t n, uint64_t *bias)
{
	const struct prof_module *module;

	for (; n > 0; n--, map++) {
		module = modules->ms_module[map->um_module];
		if (module == NULL || !module->mo_runtime.rt_is_known)
			continue;
		*bias = map->um_bias;
		return (&module->mo_runtime);
	}
	return (NULL);
}

uint32_t
prof_chain_get(struct prof_chains *chains,
    const struct prof_unwind_modules *modules, const struct dtp_uw_map *map,
    uint32_t n, uint32_t before)
{
	struct dtp_chain *entries = modules->ms_memory->um_chains, chain;
	const struct prof_runtime *runtime;
	uint64_t bias = 0;
	uint32_t number;

	runtime = runtime_of(modules, map, n, &bias);
	if (runtime == NULL)
		return (0);
	chain = runtime->rt_chain;
	if (!chain.ch_is_kept)
		chain.ch_root += bias;
	if (chain.ch_current != 0)
		chain.ch_current += bias;
	if (before != 0 && memcmp(&entries[before], &chain, sizeof(chain)) ==
	    0)
		return (before);
	number = number_take(chains);
	if (number != 0)
		entries[number] = chain;
	return (number);
}
