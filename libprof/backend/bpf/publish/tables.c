/* SPDX-License-Identifier: ISC */
/*
 * Hands the tables of modules to the walk in the kernel.  Where memory has an
 * end, the tables go that were not needed for longest; wanted again, they are
 * made again.
 *
 * Called by publish.c once a round, from the thread of the drain, which alone
 * writes what the programs read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "publish_impl.h"

#define LOOK_NS		250000000ULL
#define IDLE_NS		1000000000ULL	/* a table needed since stays */
#define AGAIN_NS	1000000000ULL	/* until one that failed is retried */

/* Partner: the loads of uo_state in unwind.bpf.h. */
static void
set_state(struct prof_unwind_modules *modules, const struct prof_module *module,
    enum dtp_uw_state state)
{
	struct dtp_uw_module *entry =
	    &modules->ms_memory->um_modules[module->mo_number];

	__atomic_store_n(&entry->uo_state, (uint16_t)(((entry->uo_state &
	    ~DTP_UW_STATE_MASK) + DTP_UW_STATE_ONE) | state),
	    __ATOMIC_SEQ_CST);
}

/* A table into words that it has, its dictionary into everybody's. */
static int
write_table(struct prof_unwind_memory *memory, const struct prof_module *module)
{
	const struct prof_unwind_table *table = module->mo_table;
	struct dtp_uw_module *entry = &memory->um_modules[module->mo_number];
	uint16_t rule, *shared = calloc(table->ut_nentries + 1,
	    sizeof(*shared));
	uint32_t *to = prof_words_at(memory, &module->mo_words);
	size_t n;

	if (shared == NULL)
		return (-1);
	for (n = 0; n < table->ut_nentries; n++)
		shared[n] = prof_entry_shared(memory, &table->ut_entries[n]);
	memcpy(to, table->ut_index, table->ut_nindex * sizeof(*to));
	to += table->ut_nindex;
	for (n = 0; n < table->ut_nrows; n++) {
		rule = (uint16_t)(table->ut_rows[n] >> 16);
		if (rule >= DTP_UW_RULES)
			rule = shared[rule - DTP_UW_RULES];
		to[n] = (uint32_t)rule << 16 | (table->ut_rows[n] & 0xffff);
	}
	free(shared);
	entry->uo_base = table->ut_base;
	entry->uo_span = table->ut_span;
	entry->uo_slab = module->mo_words.wd_slab;
	entry->uo_index = module->mo_words.wd_at;
	entry->uo_rows = module->mo_words.wd_at + (uint32_t)table->ut_nindex;
	return (0);
}

/* Its words are somebody else's soon. */
static void
give_back(struct prof_unwind_modules *modules, struct prof_module *module)
{
	prof_words_put(modules->ms_memory, &module->mo_words);
	memset(&module->mo_words, 0, sizeof(module->mo_words));
}

/* It is made again when a walk says that it is wanted. */
static void
table_await(struct prof_unwind_modules *modules, struct prof_module *module)
{
	set_state(modules, module, DTP_UW_AWAITED);
	modules->ms_memory->um_modules[module->mo_number].uo_wanted = 0;
	module->mo_is_evicted = true;
}

static void
table_evict(struct prof_unwind_modules *modules, struct prof_module *module)
{
	table_await(modules, module);
	give_back(modules, module);
	modules->ms_ntables--;
	modules->ms_nevicted++;
}

void
prof_module_withdraw(struct prof_unwind_modules *modules,
    struct prof_module *module)
{
	if (module->mo_words.wd_n != 0)
		table_evict(modules, module);
	else
		table_await(modules, module);
	modules->ms_memory->um_modules[module->mo_number].uo_used = 0;
}

void
prof_module_has_none(struct prof_unwind_modules *modules,
    struct prof_module *module)
{
	set_state(modules, module, DTP_UW_NO_TABLE);
}

/*
 * Send away what was not needed for longest, until so many words are on
 * their way to be free.  What was needed just now stays: whoever asks then
 * waits, and its samples say so.
 */
static void
make_room(struct prof_unwind_modules *modules, size_t words)
{
	uint64_t now_ns = prof_now_ns();
	struct prof_module *module, *victim;
	uint32_t n;

	/* It takes that long to tell who is needed. */
	if (modules->ms_short_ns == 0 ||
	    now_ns - modules->ms_short_ns <= IDLE_NS)
		return;
	while (modules->ms_memory->um_nresting < words) {
		victim = NULL;
		for (n = 1; n < modules->ms_n; n++) {
			module = modules->ms_module[n];
			if (module == NULL || module->mo_words.wd_n == 0 ||
			    now_ns - module->mo_needed_ns <= IDLE_NS)
				continue;
			if (victim == NULL || module->mo_needed_ns <
			    victim->mo_needed_ns)
				victim = module;
		}
		if (victim == NULL)
			return;
		table_evict(modules, victim);
	}
}

/*
 * How much tables may take: some is left for mappings, without which no
 * process can be walked.
 */
static uint64_t
words_of_tables(const struct prof_unwind_memory *memory)
{
	return ((uint64_t)memory->um_max_slabs * DTP_UW_SLAB_WORDS / 16 * 15);
}

static bool
is_short(const struct prof_unwind_memory *memory)
{
	return (memory->um_used > words_of_tables(memory) / 4 * 3);
}

/* To be tried again: for want of memory not for ever, each time is work. */
static void
put_off(struct prof_unwind_modules *modules, struct prof_module *module)
{
	module->mo_again_ns = prof_now_ns() + AGAIN_NS;
	table_await(modules, module);
	if (module->mo_made == PROF_MADE_NOTHING)
		return;
	if (++module->mo_failed == PROF_MODULE_TRIES)
		module->mo_is_evicted = false;
}

/*
 * false: there is no room for it now.  A table that will never have room stays
 * awaited: libunwind has what the kernel cannot have.
 */
static bool
publish_one(struct prof_unwind_modules *modules, struct prof_module *module)
{
	struct prof_unwind_memory *memory = modules->ms_memory;
	const struct prof_unwind_table *table = module->mo_table;
	enum dtp_uw_state state = DTP_UW_AWAITED;
	size_t words = table == NULL ? 0 : table->ut_nindex +
	    table->ut_nrows;

	if (module->mo_made == PROF_MADE_NOTHING ||
	    module->mo_made == PROF_MADE_TOO_LITTLE) {
		put_off(modules, module);
		return (true);
	}
	if (table == NULL && module->mo_made == PROF_MADE)
		state = DTP_UW_NO_TABLE;
	else if (table != NULL && words <= DTP_UW_SLAB_WORDS &&
	    words <= words_of_tables(memory)) {
		if (memory->um_used + memory->um_nresting + words >
		    words_of_tables(memory) || prof_words_get(memory,
		    (uint32_t)words, &module->mo_words) == -1) {
			make_room(modules, words);
			return (false);
		}
		if (write_table(memory, module) == 0) {
			state = DTP_UW_TABLE;
			module->mo_failed = 0;
			modules->ms_ntables++;
		} else {
			give_back(modules, module);
			module->mo_made = PROF_MADE_TOO_LITTLE;
		}
	}
	prof_unwind_table_free(module->mo_table);
	module->mo_table = NULL;
	module->mo_needed_ns = prof_now_ns();
	if (module->mo_made != PROF_MADE_TOO_LITTLE)
		set_state(modules, module, state);
	else
		put_off(modules, module);
	return (true);
}

/*
 * Once in a while: which tables were needed since the last look, and which
 * of those that had to go are wanted again.
 */
static void
tables_look(struct prof_unwind_modules *modules)
{
	uint64_t now_ns = prof_now_ns();
	struct dtp_uw_module *entry;
	struct prof_module *module;
	uint32_t n;

	if (now_ns - modules->ms_looked_ns < LOOK_NS)
		return;
	modules->ms_looked_ns = now_ns;
	if (modules->ms_ready == NULL && !is_short(modules->ms_memory) &&
	    !prof_modules_are_many(modules))
		modules->ms_short_ns = 0;
	else {
		/* What is remembered hides that its table is needed. */
		memset(modules->ms_memory->um_cache, 0,
		    modules->ms_memory->um_cache_bytes);
		if (modules->ms_short_ns == 0)
			modules->ms_short_ns = now_ns;
	}
	for (n = 1; n < modules->ms_n; n++) {
		entry = &modules->ms_memory->um_modules[n];
		module = modules->ms_module[n];
		if (module == NULL)
			continue;
		if (entry->uo_used) {
			entry->uo_used = 0;
			module->mo_was_used = true;
			module->mo_needed_ns = now_ns;
		}
		if (!module->mo_is_evicted || !entry->uo_wanted ||
		    now_ns < module->mo_again_ns)
			continue;
		module->mo_is_evicted = false;
		prof_module_make(modules, module);
	}
}

void
prof_unwind_modules_publish(struct prof_unwind_modules *modules)
{
	struct dtp_uw_module *lost =
	    &modules->ms_memory->um_modules[PROF_MODULE_LOST];
	struct prof_module **last = &modules->ms_ready, *module;
	unsigned n = 0;

	modules->ms_some_unknown = lost->uo_wanted != 0;
	lost->uo_wanted = 0;
	tables_look(modules);
	while (*last != NULL)
		last = &(*last)->mo_link;
	pthread_mutex_lock(&modules->ms_mutex);
	*last = modules->ms_made;
	modules->ms_made = NULL;
	for (module = *last; module != NULL; module = module->mo_link)
		n++;
	modules->ms_pending -= n;
	pthread_mutex_unlock(&modules->ms_mutex);
	while ((module = modules->ms_ready) != NULL &&
	    publish_one(modules, module)) {
		if (module->mo_runtime.rt_is_known)
			modules->ms_has_runtime = true;
		modules->ms_ready = module->mo_link;
		module->mo_is_busy = false;
	}
}

void
prof_unwind_modules_stats(struct prof_unwind_modules *modules,
    struct prof_unwind_stats *stats)
{
	stats->us_modules = modules->ms_nfiles;
	stats->us_refused = modules->ms_nrefused;
	stats->us_tables = modules->ms_ntables;
	stats->us_evicted = modules->ms_nevicted;
}
