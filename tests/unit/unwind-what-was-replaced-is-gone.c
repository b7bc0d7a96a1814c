/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Where another file was mapped, no process is published with what
 * was there before, also when it has as many mappings as it may or memory is
 * at its end; and it is published again once there is some.
 *
 * Easy to get wrong: what cannot be added is not just missing.  The code that
 * came is walked with the table of the code that went, and ends well.
 */
#include "unwind-stubs.h"

#define PID		7
#define FIRST		0x400000ULL
#define STEP		0x4000ULL	/* a mapping of half of it, and a gap */

static void
map(struct prof_unwind *unwind, uint64_t at, uint64_t bytes)
{
	const struct prof_record mapping = { .pr_type = PROF_R_MMAP,
	    .pr_pid = PID, .pr_tid = PID, .pr_addr = at, .pr_len = bytes,
	    .pr_path = "/bin/true" };

	prof_unwind_observe(unwind, &mapping);
}

/* Is there something published for an address? */
static bool
is_known(struct prof_unwind *unwind, uint64_t at)
{
	const struct dtp_uw_proc *slot = (*place_of(unwind, PID))->po_slot;
	const struct dtp_uw_map *maps = (const void *)words_of_all;
	uint32_t n;

	for (n = 0; slot != NULL && n < slot->up_nmaps; n++)
		if (at >= maps[n].um_start && at < maps[n].um_end)
			return (true);
	return (false);
}

static void
too_many(struct prof_unwind *unwind)
{
	uint32_t n;

	for (n = 0; n < DTP_UW_MAX_MAPS - 2; n++)
		map(unwind, FIRST + n * STEP, STEP / 2);
	prof_unwind_publish(unwind);
	CHECK(is_known(unwind, FIRST) && is_known(unwind, FIRST + STEP));
	map(unwind, FIRST, STEP / 2);
	prof_unwind_publish(unwind);
	CHECK(!is_known(unwind, FIRST) && is_known(unwind, FIRST + STEP));
	/* Now there is room for one, but not for one that cuts another. */
	map(unwind, FIRST, STEP / 2);
	for (n = 1; n < DTP_UW_MAX_MAPS - 2; n++)
		map(unwind, FIRST + n * STEP + 0x800, 0x800);
	prof_unwind_publish(unwind);
	CHECK((*place_of(unwind, PID))->po_n <= DTP_UW_MAX_MAPS);
	for (n = 1; n < DTP_UW_MAX_MAPS - 2; n++)
		CHECK(is_known(unwind, FIRST + n * STEP));
	CHECK(!is_known(unwind, FIRST + (n - 1) * STEP + 0x800));
	printf("ok: with too many mappings what was replaced is gone\n");
}

static void
too_little(struct prof_unwind *unwind)
{
	map(unwind, FIRST, STEP / 2);
	prof_unwind_publish(unwind);
	CHECK(is_known(unwind, FIRST));
	no_words = true;
	map(unwind, FIRST, STEP / 2);
	prof_unwind_publish(unwind);
	CHECK(!is_known(unwind, FIRST));
	no_words = false;
	prof_unwind_publish(unwind);
	CHECK(is_known(unwind, FIRST) && prof_unwind_ready(unwind));
	printf("ok: without memory it is unknown, until there is some\n");
}

int
main(void)
{
	const int fds[PROF_UNWIND_FDS] = { -1, -1, -1, -1, -1, -1 };
	struct prof_unwind *unwind;
	struct prof_err error;

	CHECK((unwind = prof_unwind_new(fds, 1, 0, NULL, &error)) != NULL);
	too_little(unwind);
	prof_unwind_free(unwind);
	CHECK((unwind = prof_unwind_new(fds, 1, 0, NULL, &error)) != NULL);
	too_many(unwind);
	prof_unwind_free(unwind);
	return (0);
}
