/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: In code without unwind information a frame pointer that leads to
 * a word of 0 does not end a walk in user space well, one that leads to code
 * is followed.
 *
 * Easy to get wrong: where no rule is, rbp may be any pointer into the stack,
 * and zeros are what lies there most.
 */
#include "cli-check.h"
#include "process/processes.h"
#include "stacks/snapshot.h"

#define CODE	0x7f0000000000ULL
#define STACK	0x7ffd00000000ULL

static struct prof_walk result;

static void
walk(struct prof_objects *objects, struct prof_unwinder *unwinder,
    uint64_t returns_to)
{
	static uint64_t version;
	uint64_t stack[8] = { 0, 0, STACK + 32, returns_to };
	struct prof_snapshot snapshot = { .sn_known = PROF_ALL_REGS,
	    .sn_base = STACK, .sn_bytes = sizeof(stack),
	    .sn_stack = (const uint8_t *)stack };
	const struct prof_record mapping = { .pr_type = PROF_R_MMAP,
	    .pr_path = "//anon", .pr_addr = CODE, .pr_len = 4096 };
	struct prof_spaces *spaces = prof_spaces_new(objects,
	    PROF_PROCESSES_ALL);
	struct prof_space space;

	CHECK(spaces != NULL && prof_spaces_observe(spaces, &mapping) == 0 &&
	    prof_spaces_find(spaces, 0, 0, &space), "nothing is mapped");
	space.ss_version = ++version;
	snapshot.sn_reg[PROF_REG_PC] = CODE + 16;
	snapshot.sn_reg[PROF_REG_SP] = STACK;
	snapshot.sn_reg[PROF_REG_FP] = STACK + 16;
	prof_unwinder_walk(unwinder, 1, &space, &snapshot, &result);
	prof_spaces_free(spaces);
}

int
main(void)
{
	struct prof_objects *objects = prof_objects_new();
	struct prof_unwinder *unwinder = objects == NULL ? NULL :
	    prof_unwinder_new(objects);

	CHECK(unwinder != NULL, "no memory");
	walk(objects, unwinder, 0);
	CHECK(result.wk_n == 1 && result.wk_status == PROF_STACK_NOROW,
	    "%u frames, status %d", result.wk_n, result.wk_status);
	OK("nothing at the frame pointer: the walk says that it was cut");
	walk(objects, unwinder, CODE + 32);
	CHECK(result.wk_n == 2 && result.wk_status == PROF_STACK_NOROW &&
	    result.wk_frame[1] == CODE + 32, "%u frames, status %d",
	    result.wk_n, result.wk_status);
	OK("a return address there is followed");
	prof_unwinder_free(unwinder);
	prof_objects_free(objects);
	return (0);
}
