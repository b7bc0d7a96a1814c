/* SPDX-License-Identifier: ISC */
/*
 * The numbers of modules, of which the programs know 8,192: a build server
 * maps more files than that in a day.  When few are left,
 *
 *	1. those that no process maps are taken back, after they have rested;
 *	2. if that is not enough, those whose tables nobody needed for longest:
 *	   their mappings become such of unknown files, so that they are walked
 *	   in user space, until nobody maps them either.
 *
 * A number may have a new owner only when nothing leads to the old one: no
 * process's published mappings (publish.c marks those that are there after
 * all were published); no file that walks look up; no walk that began before,
 * which takes microseconds where a number rests for a second; no remembered
 * rule, since those bear the generation of the process's mappings, which was
 * another one.
 * The state of its entry counts on, so a walk that looked at it at any time
 * sees that it has changed.
 *
 * Called by publish.c, from the thread of the drain.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "publish_impl.h"

#define REST_NS		1000000000ULL
#define LOOK_NS		250000000ULL
#define FEW		(DTP_UW_MODULES / 4)
#define TOO_FEW		(DTP_UW_MODULES / 8)

static uint32_t
numbers_left(const struct prof_unwind_modules *modules)
{
	return (modules->ms_nfree + PROF_MODULE_LOST - modules->ms_n);
}

uint32_t
prof_module_number(struct prof_unwind_modules *modules)
{
	if (modules->ms_nfree > 0)
		return (modules->ms_free[--modules->ms_nfree]);
	if (modules->ms_n < PROF_MODULE_LOST)
		return (modules->ms_n++);
	modules->ms_nrefused++;
	return (0);
}

bool
prof_modules_are_many(const struct prof_unwind_modules *modules)
{
	return (numbers_left(modules) < FEW);
}

bool
prof_modules_is_time(const struct prof_unwind_modules *modules)
{
	return (prof_modules_are_many(modules) &&
	    prof_now_ns() - modules->ms_swept_ns >= LOOK_NS);
}

bool
prof_modules_sweep_begin(struct prof_unwind_modules *modules)
{
	if (!prof_modules_is_time(modules))
		return (false);
	modules->ms_swept_ns = prof_now_ns();
	memset(modules->ms_is_mapped, 0, sizeof(modules->ms_is_mapped));
	return (true);
}

/* Its number is anybody's. */
static void
take_back(struct prof_unwind_modules *modules, struct prof_module *module)
{
	struct prof_module **at;

	prof_module_withdraw(modules, module);
	prof_file_hide(modules->ms_memory, module);
	for (at = prof_module_bucket(modules, module); *at != module;
	    at = &(*at)->mo_next)
		continue;
	*at = module->mo_next;
	modules->ms_module[module->mo_number] = NULL;
	modules->ms_free[modules->ms_nfree++] = (uint16_t)module->mo_number;
	if (module->mo_fd != -1)
		close(module->mo_fd);
	free(module->mo_path);
	free(module);
}

/* How old a module is that must go, so that enough go; 0: none must. */
static uint64_t
age_of_victims(const struct prof_unwind_modules *modules, uint64_t now_ns)
{
	static const uint64_t ages[] = { 64, 16, 4, 1 };
	size_t n, old;
	uint32_t m;

	for (n = 0; n < sizeof(ages) / sizeof(ages[0]); n++) {
		for (m = 1, old = 0; m < modules->ms_n; m++)
			old += modules->ms_module[m] != NULL &&
			    now_ns - modules->ms_module[m]->mo_needed_ns >
			    ages[n] * REST_NS;
		if (old >= TOO_FEW)
			break;
	}
	return (n < sizeof(ages) / sizeof(ages[0]) ? ages[n] * REST_NS :
	    REST_NS);
}

void
prof_modules_sweep_end(struct prof_unwind_modules *modules)
{
	const uint64_t now_ns = prof_now_ns();
	struct prof_module *module;
	uint32_t n, resting = 0;
	uint64_t age;

	for (n = 1; n < modules->ms_n; n++) {
		module = modules->ms_module[n];
		if (module == NULL || module->mo_is_busy)
			continue;
		if (modules->ms_is_mapped[n]) {
			module->mo_unmapped_ns = 0;
			continue;
		}
		prof_file_hide(modules->ms_memory, module);
		if (module->mo_unmapped_ns == 0)
			module->mo_unmapped_ns = now_ns;
		if (now_ns - module->mo_unmapped_ns > REST_NS)
			take_back(modules, module);
		else
			resting++;
	}
	memset(modules->ms_must_go, 0, sizeof(modules->ms_must_go));
	modules->ms_some_must_go = false;
	if (numbers_left(modules) + resting >= TOO_FEW)
		return;
	age = age_of_victims(modules, now_ns);
	for (n = 1; n < modules->ms_n; n++) {
		module = modules->ms_module[n];
		if (module == NULL || !modules->ms_is_mapped[n] ||
		    now_ns - module->mo_needed_ns <= age)
			continue;
		modules->ms_must_go[n] = modules->ms_some_must_go = true;
		prof_file_hide(modules->ms_memory, module);
	}
}
