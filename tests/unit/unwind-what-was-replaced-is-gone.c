/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Where another file was mapped, no process is published with what
 * was there before, also when it has more mappings than it may or memory is
 * at its end; and it is published again once there is some.
 *
 * Easy to get wrong: what cannot be added is not just missing.  The code that
 * came is walked with the table of the code that went, and ends well.
 */
#include "unwind-stubs.h"

#define PID		7
#define FIRST		0x400000ULL
#define STEP		0x4000ULL	/* a mapping of half of it, and a gap */

static uint64_t now_ns;
static uint32_t module;		/* of what is mapped */

static void
map(struct prof_unwind *unwind, uint64_t at, uint64_t bytes)
{
	const struct prof_record mapping = { .pr_type = PROF_R_MMAP,
	    .pr_time_ns = ++now_ns, .pr_pid = PID, .pr_tid = PID,
	    .pr_addr = at, .pr_len = bytes, .pr_ino = module,
	    .pr_path = "/bin/true" };

	prof_unwind_observe(unwind, &mapping);
}

/* The module that is published for an address; -1: none is. */
static int64_t
module_at(struct prof_unwind *unwind, uint64_t at)
{
	const struct dtp_uw_map *map = published_at(unwind, PID, at);

	return (map == NULL ? -1 : (int64_t)map->um_module);
}

static bool
is_known(struct prof_unwind *unwind, uint64_t at)
{
	return (module_at(unwind, at) != -1);
}

static void
too_many(struct prof_unwind *unwind)
{
	uint32_t n;

	/* Those in the middle have a table. */
	for (n = 0; n < DTP_UW_MAX_MAPS - 2; n++) {
		module = n >= 1000 && n < 1100 ? 1 : 0;
		map(unwind, FIRST + n * STEP, STEP / 2);
	}
	prof_unwind_publish(unwind);
	for (n = 0; n < DTP_UW_MAX_MAPS - 2; n++)
		CHECK(is_known(unwind, FIRST + n * STEP));
	/* What cuts one makes two or three of it. */
	module = 2;
	for (n = 0; n < DTP_UW_MAX_MAPS - 2; n++)
		map(unwind, FIRST + n * STEP + 0x800, 0x800);
	prof_unwind_publish(unwind);
	CHECK((*place_of(unwind, PID))->po_nmaps <= DTP_UW_MAX_MAPS);
	for (n = 0; n < DTP_UW_MAX_MAPS - 300; n++)
		CHECK(module_at(unwind, FIRST + n * STEP + 0x800) == 2);
	for (n = 0; n < DTP_UW_MAX_MAPS - 300; n++)
		CHECK(module_at(unwind, FIRST + n * STEP) ==
		    (n >= 1000 && n < 1100 ? 1 : -1));
	printf("ok: of too many mappings those without a table go, and none "
	    "is what was replaced\n");
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
