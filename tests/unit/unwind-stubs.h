/* SPDX-License-Identifier: ISC */
/*
 * What unit tests of the processes in libprof/backend/bpf/publish/publish.c
 * share: the file itself, with memory and modules that need nothing of the
 * kernel.
 */
#ifndef UNWIND_STUBS_H
#define UNWIND_STUBS_H

#include "check.h"
#include "../../libprof/backend/bpf/publish/publish.c"

#define RUNS	16384

static uint32_t *run_of[RUNS];	/* of words, by their place */
static uint32_t nruns;
static bool no_words;		/* memory is at its end */

int
prof_unwind_memory_init(struct prof_unwind_memory *memory,
    const int fds[PROF_UNWIND_FDS],
    size_t ncpus, uint64_t max_bytes, struct prof_err *error)
{
	(void)fds;
	(void)max_bytes;
	(void)error;
	memory->um_cache_bytes = ncpus * DTP_UW_CACHE * sizeof(uint64_t);
	memory->um_cache = calloc(1, memory->um_cache_bytes);
	memory->um_procs = calloc(DTP_UW_PROCS, sizeof(*memory->um_procs));
	memory->um_numbers = calloc(DTP_UW_NUMBERS,
	    sizeof(*memory->um_numbers));
	return (memory->um_cache == NULL || memory->um_procs == NULL ||
	    memory->um_numbers == NULL ? -1 : 0);
}

void
prof_unwind_memory_fini(struct prof_unwind_memory *memory)
{
	free(memory->um_cache);
	free(memory->um_procs);
	free(memory->um_numbers);
	for (nruns = 0; nruns < RUNS; nruns++) {
		free(run_of[nruns]);
		run_of[nruns] = NULL;
	}
}

int
prof_words_get(struct prof_unwind_memory *memory, uint32_t n,
    struct prof_words *words)
{
	(void)memory;
	while (run_of[nruns % RUNS] != NULL)
		nruns++;
	*words = (struct prof_words){ .wd_n = n, .wd_at = nruns % RUNS };
	if (!no_words)
		run_of[words->wd_at] = calloc(n, sizeof(**run_of));
	return (run_of[words->wd_at] == NULL ? -1 : 0);
}

void
prof_words_put(struct prof_unwind_memory *memory,
    const struct prof_words *words)
{
	(void)memory;
	if (words->wd_n == 0)
		return;
	free(run_of[words->wd_at]);
	run_of[words->wd_at] = NULL;
}

uint32_t *
prof_words_at(const struct prof_unwind_memory *memory,
    const struct prof_words *words)
{
	(void)memory;
	return (run_of[words->wd_at]);
}

/* No process runs an interpreter. */
uint32_t
prof_chain_get(struct prof_chains *chains,
    const struct prof_unwind_modules *modules, const struct dtp_uw_map *map,
    uint32_t n, uint32_t before)
{
	(void)chains;
	(void)modules;
	(void)map;
	(void)n;
	(void)before;
	return (0);
}

void
prof_chain_put(struct prof_chains *chains, uint32_t number)
{
	(void)chains;
	(void)number;
}

bool
prof_chain_fails(const struct prof_chains *chains,
    const struct prof_unwind_modules *modules, uint32_t number,
    const struct prof_record *sample)
{
	(void)chains;
	(void)modules;
	(void)number;
	(void)sample;
	return (false);
}

/* What a process has published for an address; NULL: nothing. */
static inline const struct dtp_uw_map *
published_at(struct prof_unwind *unwind, uint32_t pid, uint64_t pc)
{
	const struct process *process = *place_of(unwind, pid);
	const struct dtp_uw_proc *slot = process == NULL ? NULL :
	    process->po_slot;
	const struct dtp_uw_map *map = slot == NULL ? NULL :
	    (const void *)run_of[slot->up_at];
	uint32_t n;

	for (n = 0; slot != NULL && n < slot->up_nmaps; n++)
		if (pc >= map[n].um_start && pc < map[n].um_end)
			return (&map[n]);
	return (NULL);
}

struct prof_unwind_modules *
prof_unwind_modules_new(struct prof_unwind_memory *memory,
    struct prof_broker *broker)
{
	(void)memory;
	(void)broker;
	return (calloc(1, sizeof(struct prof_unwind_modules)));
}

void
prof_unwind_modules_free(struct prof_unwind_modules *modules)
{
	free(modules);
}

/* The number of the file says which module it is. */
uint32_t
prof_unwind_modules_get(struct prof_unwind_modules *modules,
    const struct prof_record *mapping, uint64_t *bias)
{
	(void)modules;
	*bias = mapping->pr_addr - mapping->pr_offset;
	return ((uint32_t)mapping->pr_ino);
}

bool
prof_unwind_modules_idle(struct prof_unwind_modules *modules)
{
	(void)modules;
	return (true);
}

bool
prof_modules_is_time(const struct prof_unwind_modules *modules)
{
	(void)modules;
	return (false);
}

bool
prof_modules_sweep_begin(struct prof_unwind_modules *modules)
{
	(void)modules;
	return (false);
}

void
prof_modules_sweep_end(struct prof_unwind_modules *modules)
{
	(void)modules;
}

void
prof_unwind_modules_publish(struct prof_unwind_modules *modules)
{
	(void)modules;
}

void
prof_unwind_modules_stats(struct prof_unwind_modules *modules,
    struct prof_unwind_stats *stats)
{
	(void)modules;
	(void)stats;
}

#endif /* UNWIND_STUBS_H */
