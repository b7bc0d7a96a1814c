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
#include "recording/frame.h"

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
static struct prof_module *
interpreter_of(const struct prof_unwind_modules *modules,
    const struct dtp_uw_map *map, uint32_t n, uint64_t *bias)
{
	struct prof_module *module;

	for (; n > 0; n--, map++) {
		module = modules->ms_module[map->um_module];
		if (module == NULL || !module->mo_runtime.rt_is_known)
			continue;
		*bias = map->um_bias;
		return (module);
	}
	return (NULL);
}

uint32_t
prof_chain_get(struct prof_chains *chains,
    const struct prof_unwind_modules *modules, const struct dtp_uw_map *map,
    uint32_t n, uint32_t before)
{
	struct dtp_chain *entries = modules->ms_memory->um_chains, chain;
	const struct prof_module *module;
	uint64_t bias = 0;
	uint32_t number;

	module = interpreter_of(modules, map, n, &bias);
	if (module == NULL)
		return (0);
	chain = module->mo_runtime.rt_chain;
	if (!chain.ch_is_kept)
		chain.ch_root += bias;
	if (chain.ch_current != 0)
		chain.ch_current += bias;
	if (before != 0 && memcmp(&entries[before], &chain, sizeof(chain)) ==
	    0)
		return (before);
	number = number_take(chains);
	if (number != 0) {
		entries[number] = chain;
		chains->cs_module[number] = module->mo_number;
		chains->cs_runs[number] = module->mo_runtime.rt_runs + bias;
	}
	return (number);
}

/*
 * The outermost native frame in the function of that address and size, from 1
 * on; 0: there is none.  A function that has just been entered does not count.
 */
static uint32_t
place_executed(const struct prof_record *sample, uint64_t at, uint64_t bytes)
{
	uint32_t n = sample->pr_nuser;

	while (n > 0 && sample->pr_user[n - 1] - at - 1 >= bytes)
		n--;
	return (n);
}

static bool
has_script_frame(const struct prof_record *sample)
{
	struct prof_frame frame;
	uint32_t n;

	for (n = 0; n < sample->pr_nscript; n++) {
		prof_frame_unpack(sample->pr_script[n], &frame);
		if (prof_frame_is_script(&frame))
			return (true);
	}
	return (false);
}

/*
 * True if the frames of this interpreter are found.  A function that calls
 * nothing, in a stack without frames, is then creating its frame or leaving it:
 * samples of a host that calls short functions are often there.
 */
static bool
is_found(const struct prof_module *module)
{
	return (module->mo_samples > 2 * module->mo_missing);
}

bool
prof_chain_fails(const struct prof_chains *chains,
    const struct prof_unwind_modules *modules, uint32_t number,
    const struct prof_record *sample)
{
	struct prof_module *module = number < DTP_CHAINS ?
	    modules->ms_module[chains->cs_module[number]] : NULL;
	bool is_missing;
	uint32_t place;

	if (module == NULL || module->mo_runtime.rt_runs_bytes == 0)
		return (false);
	is_missing = !has_script_frame(sample);
	place = !is_missing ? 0 : place_executed(sample,
	    chains->cs_runs[number], module->mo_runtime.rt_runs_bytes);
	if (is_missing && (place == 0 || (place == 1 && is_found(module))))
		return (false);
	module->mo_samples++;
	module->mo_missing += is_missing;
	return (is_missing);
}
