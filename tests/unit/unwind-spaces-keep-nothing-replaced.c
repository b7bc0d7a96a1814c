/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: A process that maps something where it has as many mappings as
 * are kept is not walked in user space with what was there before.
 *
 * Easy to get wrong: what is known is out of date, not just incomplete.
 */
#include "../../libprof/stacks/spaces.c"
#include "cli-check.h"

#define PID		7
#define STEP		8192ULL

int
main(void)
{
	const struct prof_record task = { .pr_type = PROF_R_TASK,
	    .pr_pid = PID, .pr_tid = PID };
	struct prof_record mapping = { .pr_type = PROF_R_MMAP, .pr_pid = PID,
	    .pr_tid = PID, .pr_addr = STEP, .pr_len = STEP / 2,
	    .pr_path = "[vdso]" };
	struct prof_objects *objects = prof_objects_new();
	struct prof_spaces *spaces = prof_spaces_new(objects);
	struct prof_space *space = calloc(1, sizeof(*space) +
	    MAX_MAPS * sizeof(*space->ss_map));
	const struct prof_space *found;
	uint32_t n;

	CHECK(objects != NULL && spaces != NULL && space != NULL, "memory");
	CHECK(prof_spaces_observe(spaces, &task) == 0, "task");
	space->ss_refs = 1;
	space->ss_n = space->ss_cap = MAX_MAPS;
	for (n = 0; n < MAX_MAPS; n++) {
		space->ss_map[n].mp_start = (n + 1) * STEP;
		space->ss_map[n].mp_end = (n + 1) * STEP + STEP / 2;
	}
	(*place_of(spaces, PID))->po_space = space;
	CHECK(prof_space_at(space, STEP) != NULL, "not mapped");
	CHECK(prof_spaces_observe(spaces, &mapping) == 0, "one too many");
	found = prof_spaces_find(spaces, PID);
	CHECK(found == NULL || prof_space_at(found, STEP) == NULL,
	    "what was replaced is still there");
	OK("one mapping too many, and what it replaced is gone");
	CHECK(prof_spaces_observe(spaces, &mapping) == 0, "mapped again");
	found = prof_spaces_find(spaces, PID);
	CHECK(found != NULL && prof_space_at(found, STEP) != NULL &&
	    prof_space_at(found, STEP)->mp_object != NULL, "not found");
	OK("what is mapped from then on is known");
	prof_spaces_free(spaces);
	prof_objects_free(objects);
	return (0);
}
