/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: No process is published with the generation of another one that
 * still is, however many come and go meanwhile; and of more processes than
 * there are generations all are published.
 *
 * Easy to get wrong: generations come round, and two processes that share one
 * take the rules that are remembered of each other's code, where neither lies
 * at a place drawn by chance.  Nothing of the kernel is asked here.
 */
#include <stdio.h>

#include "../../libprof/kernel/unwind.c"

#define LIVING		100
#define ROUNDS		20000
#define FIRST_OF_MANY	1000000
#define MANY		6000

#define CHECK(cond) do {						\
	if (!(cond)) {							\
		printf("FAIL: line %d: %s\n", __LINE__, #cond);		\
		exit(1);						\
	}								\
} while (0)

static uint32_t words_of_all[DTP_UW_MAX_MAPS * 8];

int
prof_unwind_memory_init(struct prof_unwind_memory *memory, const int fds[5],
    size_t ncpus, uint64_t max_bytes, struct prof_err *error)
{
	(void)fds;
	(void)max_bytes;
	(void)error;
	memory->um_cache_bytes = ncpus * DTP_UW_CACHE * sizeof(uint64_t);
	memory->um_cache = calloc(1, memory->um_cache_bytes);
	memory->um_procs = calloc(DTP_UW_PROCS, sizeof(*memory->um_procs));
	return (memory->um_cache == NULL || memory->um_procs == NULL ? -1 :
	    0);
}

void
prof_unwind_memory_fini(struct prof_unwind_memory *memory)
{
	free(memory->um_cache);
	free(memory->um_procs);
}

int
prof_words_get(struct prof_unwind_memory *memory, uint32_t n,
    struct prof_words *words)
{
	(void)memory;
	*words = (struct prof_words){ .wd_n = n };
	return (0);
}

void
prof_words_put(struct prof_unwind_memory *memory,
    const struct prof_words *words)
{
	(void)memory;
	(void)words;
}

uint32_t *
prof_words_at(const struct prof_unwind_memory *memory,
    const struct prof_words *words)
{
	(void)memory;
	(void)words;
	return (words_of_all);
}

struct prof_unwind_modules *
prof_unwind_modules_new(struct prof_unwind_memory *memory)
{
	(void)memory;
	return (calloc(1, sizeof(struct prof_unwind_modules)));
}

void
prof_unwind_modules_free(struct prof_unwind_modules *modules)
{
	free(modules);
}

uint32_t
prof_unwind_modules_get(struct prof_unwind_modules *modules,
    const struct prof_record *mapping, uint64_t *bias)
{
	(void)modules;
	(void)mapping;
	*bias = 0;
	return (0);
}

bool
prof_unwind_modules_idle(struct prof_unwind_modules *modules)
{
	(void)modules;
	return (true);
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

/* It maps something, and is published; as what, or 0: there was no room. */
static uint32_t
begin(struct prof_unwind *unwind, uint32_t pid)
{
	const struct prof_record mapping = { .pr_type = PROF_R_MMAP,
	    .pr_pid = pid, .pr_tid = pid, .pr_addr = 0x400000,
	    .pr_len = 4096, .pr_path = "/bin/true" };
	const struct process *process;

	prof_unwind_observe(unwind, &mapping);
	prof_unwind_publish(unwind);
	process = *place_of(unwind, pid);
	CHECK(process != NULL);
	return (process->po_slot == NULL ? 0 :
	    process->po_slot->up_generation);
}

static void
end(struct prof_unwind *unwind, uint32_t pid)
{
	const struct prof_record gone = { .pr_type = PROF_R_EXIT,
	    .pr_pid = pid, .pr_tid = pid, .pr_group_dead = 1 };

	prof_unwind_observe(unwind, &gone);
	prof_unwind_publish(unwind);
	CHECK(*place_of(unwind, pid) == NULL);
}

int
main(void)
{
	static bool living[DTP_UW_GENERATIONS];
	const int fds[5] = { -1, -1, -1, -1, -1 };
	uint32_t generation, n, published = 0;
	struct prof_unwind *unwind;
	struct dtp_uw_proc *slot;
	struct prof_err error;

	CHECK((unwind = prof_unwind_new(fds, 1, 0, &error)) != NULL);
	for (n = 1; n <= LIVING; n++) {
		generation = begin(unwind, n);
		CHECK(generation != 0 && !living[generation]);
		living[generation] = true;
	}
	for (n = 0; n < ROUNDS; n++) {
		/* What is remembered now is gone when it comes round. */
		unwind->uw_memory.um_cache[0] = n + 1;
		generation = begin(unwind, LIVING + 1 + n);
		slot = (*place_of(unwind, LIVING + 1 + n))->po_slot;
		CHECK(generation != 0 && !living[generation]);
		CHECK(slot->up_stale == 0);
		slot->up_stale = generation;	/* as its exit does */
		CHECK(generation > LIVING + 1 || n == 0 ||
		    unwind->uw_memory.um_cache[0] == 0);
		end(unwind, LIVING + 1 + n);
	}
	for (n = 0; n < MANY; n++)
		published += begin(unwind, FIRST_OF_MANY + n) != 0;
	CHECK(published > DTP_UW_GENERATIONS);
	prof_unwind_free(unwind);
	printf("ok: %d processes kept theirs through %d others; %u of %d at "
	    "once\n", LIVING, ROUNDS, published, MANY);
	return (0);
}
