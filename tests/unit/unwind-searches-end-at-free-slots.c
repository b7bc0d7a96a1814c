/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: While processes come and go in the same places of the table, the
 * kernel's search, which ends at a free slot, finds each that is published and
 * no other; and once all are gone it looks at one slot.  Of each number the
 * kernel is told how many are published, without a search.
 *
 * Easy to get wrong: a slot that was freed ends searches for what lies behind
 * it.
 */
#include "unwind-stubs.h"

#define PLACES		5	/* where searches begin, one behind the other */
#define TURNS		4	/* processes that begin at the same place */
#define PIDS		(PLACES * TURNS)
#define ROUNDS		20000

static uint64_t now_ns;

#define PLACE(pid)	((pid) * 2654435761U & (DTP_UW_PROCS - 1))

/* The places lie around the end of the table. */
static uint32_t
pid_of(uint32_t n)
{
	uint32_t pid = 1;

	while (PLACE(pid) != ((n % PLACES - 2) & (DTP_UW_PROCS - 1)))
		pid++;
	return (pid + n / PLACES * DTP_UW_PROCS);
}

/* As in sys/unwind.bpf.h; looks counts slots. */
static const struct dtp_uw_proc *
search(const struct prof_unwind *unwind, uint32_t pid, unsigned *looks)
{
	for (uint32_t n = 0; n < DTP_UW_PROBES; n++) {
		const struct dtp_uw_proc *slot =
		    &unwind->uw_memory.um_procs[(PLACE(pid) + n) &
		    (DTP_UW_PROCS - 1)];

		(*looks)++;
		if (slot->up_tgid == 0)
			return (NULL);
		if (slot->up_tgid == pid)
			return (slot);
	}
	return (NULL);
}

static void
come_or_go(struct prof_unwind *unwind, uint32_t pid)
{
	struct process **place = place_of(unwind, pid);
	const struct prof_record mapping = { .pr_type = PROF_R_MMAP,
	    .pr_time_ns = ++now_ns, .pr_pid = pid, .pr_tid = pid,
	    .pr_addr = 0x400000, .pr_len = 0x1000, .pr_ino = 1,
	    .pr_path = "/bin/true" };

	if (*place != NULL && (*place)->po_slot != NULL) {
		process_withdraw(unwind, *place);
		return;
	}
	prof_unwind_observe(unwind, &mapping);
	prof_unwind_publish(unwind);
}

/* Of those with the same lowest bits. */
static unsigned
told(const struct prof_unwind *unwind, uint32_t pid)
{
	return ((unsigned)unwind->uw_memory.um_numbers[pid &
	    (DTP_UW_NUMBERS - 1)].un_published);
}

/* How many are published; each is found, and only those. */
static unsigned
check_all(struct prof_unwind *unwind, const uint32_t *pid)
{
	static unsigned alike[DTP_UW_NUMBERS];
	unsigned published = 0, looks = 0;

	for (uint32_t n = 0; n < PIDS; n++)
		alike[pid[n] & (DTP_UW_NUMBERS - 1)] = 0;
	for (uint32_t n = 0; n < PIDS; n++) {
		const struct process *process = *place_of(unwind, pid[n]);
		const struct dtp_uw_proc *slot = process == NULL ? NULL :
		    process->po_slot;

		CHECK(search(unwind, pid[n], &looks) == slot);
		published += slot != NULL;
		alike[pid[n] & (DTP_UW_NUMBERS - 1)] += slot != NULL;
	}
	for (uint32_t n = 0; n < PIDS; n++)
		CHECK(told(unwind, pid[n]) ==
		    alike[pid[n] & (DTP_UW_NUMBERS - 1)]);
	return (published);
}

int
main(void)
{
	const int fds[PROF_UNWIND_FDS] = { -1, -1, -1, -1, -1, -1 };
	uint32_t pid[PIDS];
	struct prof_unwind *unwind;
	struct prof_err error;
	unsigned most = 0, looks = 0;

	srandom(1);
	for (uint32_t n = 0; n < PIDS; n++)
		pid[n] = pid_of(n);
	CHECK((unwind = prof_unwind_new(fds, 1, 0, NULL, &error)) != NULL);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned published;

		come_or_go(unwind, pid[(size_t)random() % PIDS]);
		published = check_all(unwind, pid);
		most = published > most ? published : most;
	}
	for (uint32_t n = 0; n < PIDS; n++)
		if (*place_of(unwind, pid[n]) != NULL &&
		    (*place_of(unwind, pid[n]))->po_slot != NULL)
			come_or_go(unwind, pid[n]);
	for (uint32_t n = 0; n < PIDS; n++)
		CHECK(search(unwind, pid[n], &looks) == NULL &&
		    told(unwind, pid[n]) == 0);
	CHECK(most > PIDS / 2 && looks == PIDS);
	printf("ok: up to %u of %d processes at once, each found\n", most,
	    PIDS);
	prof_unwind_free(unwind);
	return (0);
}
