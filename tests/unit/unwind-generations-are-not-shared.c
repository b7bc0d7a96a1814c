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

#include "unwind-stubs.h"

#define LIVING		100
#define ROUNDS		20000
#define FIRST_OF_MANY	1000000
#define MANY		6000

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
	const int fds[PROF_UNWIND_FDS] = { -1, -1, -1, -1, -1, -1 };
	uint32_t generation, n, published = 0;
	struct prof_unwind *unwind;
	struct dtp_uw_proc *slot;
	struct prof_err error;

	CHECK((unwind = prof_unwind_new(fds, 1, 0, NULL, &error)) != NULL);
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
