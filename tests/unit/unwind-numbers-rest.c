/*
 * ASSERTION: The number of a module goes to another one only when no process
 * has it mapped, no thread is at its table, and it has rested for a second;
 * then its entry has no table and a state that no walk can have seen.  Where
 * all are mapped, those must go that nobody needed for longest.
 *
 * Easy to get wrong: a walk that began before looks up the number afterwards,
 * and takes another file's rules for those that it wants.
 */
/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/bpf/publish/publish_impl.h"
#include "base/clock.h"

#define CHECK(cond, ...)						\
	do {								\
		if (!(cond)) {						\
			printf("FAIL: line %d: ", __LINE__);		\
			printf(__VA_ARGS__);				\
			printf("\n");					\
			exit(1);					\
		}							\
	} while (0)
#define ALL	(PROF_MODULE_LOST - 1)

static struct prof_unwind_memory memory;
static struct prof_unwind_modules *modules;
static bool is_mapped[DTP_UW_MODULES];

static uint32_t
add(uint64_t needed_ns)
{
	struct prof_module *module = calloc(1, sizeof(*module)), **bucket;
	const uint32_t number = prof_module_number(modules);

	CHECK(module != NULL, "no memory");
	if (number == 0) {
		free(module);
		return (0);
	}
	module->mo_number = number;
	module->mo_ino = number;
	module->mo_fd = -1;
	module->mo_needed_ns = needed_ns;
	bucket = prof_module_bucket(modules, module);
	module->mo_next = *bucket;
	*bucket = module;
	CHECK(modules->ms_module[number] == NULL, "%u has an owner", number);
	modules->ms_module[number] = module;
	return (number);
}

static bool
sweep(void)
{
	if (!prof_modules_sweep_begin(modules))
		return (false);
	memcpy(modules->ms_is_mapped, is_mapped, sizeof(is_mapped));
	prof_modules_sweep_end(modules);
	return (true);
}

/* Longer than a number rests. */
static void
rest(void)
{
	const struct timespec pause = { 1, 100000000 };

	nanosleep(&pause, NULL);
}

/* All but three are mapped; a thread makes the table of one of these. */
static void
those_that_are_free(void)
{
	const uint16_t before = memory.um_modules[7].uo_state;
	uint32_t n, number;

	for (n = 1; n <= ALL; n++)
		is_mapped[n] = n != 7 && n != 8 && n != 9;
	modules->ms_module[9]->mo_is_busy = true;
	CHECK(sweep(), "numbers are few, and nobody looks");
	CHECK(modules->ms_nfree == 0 && add(0) == 0, "one that did not rest");
	rest();
	is_mapped[8] = true;
	CHECK(sweep(), "no second look");
	number = add(prof_now_ns());
	CHECK(number == 7, "%u is free, not 7", number);
	CHECK((memory.um_modules[7].uo_state & DTP_UW_STATE_MASK) ==
	    DTP_UW_AWAITED && memory.um_modules[7].uo_state != before,
	    "state %u, before %u", memory.um_modules[7].uo_state, before);
	CHECK(add(0) == 0, "one that is mapped, or whose table is made");
	printf("ok: of three numbers the one that rested is used again\n");
}

static void
those_that_must_go(void)
{
	uint32_t n, old = 0, young = 0;
	uint64_t now_ns;

	rest();
	now_ns = prof_now_ns();
	for (n = 1; n <= ALL; n++) {
		is_mapped[n] = true;
		modules->ms_module[n]->mo_needed_ns = n % 4 == 0 ?
		    now_ns - 10000000000ULL : now_ns;
	}
	CHECK(sweep(), "no look");
	for (n = 1; n <= ALL; n++)
		*(n % 4 == 0 ? &old : &young) += modules->ms_must_go[n];
	CHECK(young == 0 && old > DTP_UW_MODULES / 8, "%u old, %u young",
	    old, young);
	printf("ok: %u that nobody needed must go, none that is needed\n",
	    old);
}

int
main(void)
{
	uint32_t n;

	memory.um_modules = calloc(DTP_UW_MODULES,
	    sizeof(*memory.um_modules));
	CHECK(memory.um_modules != NULL, "no memory");
	modules = prof_unwind_modules_new(&memory, NULL);
	CHECK(modules != NULL, "no memory");
	CHECK(!sweep(), "there are plenty of numbers");
	for (n = 1; n <= ALL; n++) {
		CHECK(add(prof_now_ns()) == n, "%u", n);
		memory.um_modules[n].uo_state = DTP_UW_TABLE;
	}
	those_that_are_free();
	those_that_must_go();
	CHECK(modules->ms_nrefused == 2, "%llu were refused",
	    (unsigned long long)modules->ms_nrefused);
	prof_unwind_modules_free(modules);
	free(memory.um_modules);
	return (0);
}
