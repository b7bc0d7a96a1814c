/* SPDX-License-Identifier: ISC */
/*
 * Asks a parser for the unwind table of a file, and believes nothing of it:
 * every number that somebody will go by is looked at.  What the rules say may
 * still be false, as it may be in any file; then stacks are.
 *
 * Called by the threads that make tables.
 */
#include <stdlib.h>
#include <string.h>

#include "tables.h"

#define MOST_BYTES	(sizeof(struct prof_tabled_head) +	\
	    DTP_UW_SLAB_WORDS * sizeof(uint32_t) +		\
	    PROF_TABLED_ENTRIES * sizeof(struct dtp_uw_entry))
#define BUCKETS_IN_64K	(1U << (16 - DTP_UW_BUCKET_BITS))
#define MAX_REG		33	/* DWARF numbers of arm64 are fewer */

/* ---------------------------------------------------------- checks */

static bool
rule_holds(const struct prof_unwind_table *table, uint32_t rule)
{
	switch (rule) {
	case DTP_UW_END:
	case DTP_UW_STOP:
	case DTP_UW_SIGNAL:
	case DTP_UW_PLT11:
	case DTP_UW_PLT10:
	case DTP_UW_CHILD:
	case DTP_UW_USER:
		return (true);
	}
	return (rule < DTP_UW_END || (rule >= DTP_UW_RULES &&
	    rule - DTP_UW_RULES < table->ut_nentries));
}

static bool
entry_holds(const struct dtp_uw_entry *entry)
{
	if (entry->ue_cfa > DTP_UW_CFA_DEREF_FP ||
	    entry->ue_fp > DTP_UW_FP_LOST || entry->ue_ra > DTP_UW_RA_REG ||
	    entry->ue_reg >= MAX_REG)
		return (false);
	return (entry->ue_ra != DTP_UW_RA_REG || (entry->ue_ra_off >= 0 &&
	    entry->ue_ra_off < MAX_REG));
}

/* Rows of a KiB: in order, and of that KiB, with rules that there are. */
static bool
bucket_holds(const struct prof_unwind_table *table, size_t n)
{
	const uint32_t low = table->ut_index[n], high = table->ut_index[n + 1];
	uint32_t row, at, before = 0;

	if (low < 1 || low > high || high > table->ut_nrows)
		return (false);
	for (row = low; row < high; row++) {
		at = table->ut_rows[row] & 0xffff;
		if (at < before || at >> DTP_UW_BUCKET_BITS !=
		    n % BUCKETS_IN_64K ||
		    !rule_holds(table, table->ut_rows[row] >> 16))
			return (false);
		before = at;
	}
	return (true);
}

bool
prof_table_holds(const struct prof_unwind_table *table)
{
	size_t n;

	if (table->ut_span == 0 || table->ut_span > PROF_TABLED_SPAN ||
	    (table->ut_base & 0xffff) != 0 ||
	    table->ut_base + table->ut_span < table->ut_base ||
	    table->ut_nentries > PROF_TABLED_ENTRIES ||
	    table->ut_nindex != (table->ut_span >> DTP_UW_BUCKET_BITS) + 2 ||
	    table->ut_nrows < 1 ||
	    table->ut_rows[0] != (uint32_t)DTP_UW_END << 16 ||
	    table->ut_index[0] != 1 ||
	    table->ut_index[table->ut_nindex - 1] != table->ut_nrows)
		return (false);
	/* So each row but the first lies in one bucket. */
	for (n = 0; n + 1 < table->ut_nindex; n++)
		if (!bucket_holds(table, n))
			return (false);
	for (n = 0; n < table->ut_nentries; n++)
		if (!entry_holds(&table->ut_entries[n]))
			return (false);
	return (true);
}

/* --------------------------------------------------------- request */

/* The answer as a table, where it lies.  NULL: no memory. */
static struct prof_unwind_table *
table_of(const struct prof_tabled_head *head, char *bytes)
{
	struct prof_unwind_table *table = calloc(1, sizeof(*table));

	if (table == NULL)
		return (NULL);
	table->ut_machine = head->td_machine == PROF_MACHINE_X86_64 ?
	    PROF_MACHINE_X86_64 : PROF_MACHINE_AARCH64;
	table->ut_base = head->td_base;
	table->ut_span = head->td_span;
	table->ut_nindex = head->td_nindex;
	table->ut_nrows = head->td_nrows;
	table->ut_nentries = head->td_nentries;
	table->ut_index = (uint32_t *)(void *)(bytes + sizeof(*head));
	table->ut_rows = table->ut_index + table->ut_nindex;
	table->ut_entries = (struct dtp_uw_entry *)(void *)(table->ut_rows +
	    table->ut_nrows);
	return (table);
}

/* Is it as long as its head says, which no sum may overflow? */
static bool
length_holds(const struct prof_tabled_head *head, size_t size)
{
	return (head->td_nindex <= DTP_UW_SLAB_WORDS &&
	    head->td_nrows <= DTP_UW_SLAB_WORDS - head->td_nindex &&
	    head->td_nentries <= PROF_TABLED_ENTRIES && size ==
	    sizeof(*head) + (head->td_nindex + head->td_nrows) *
	    sizeof(uint32_t) + head->td_nentries *
	    sizeof(struct dtp_uw_entry));
}

/* What is wanted, and what came. */
struct tabling {
	enum prof_tabled ti_what;
	struct prof_unwind_table *ti_table;
	struct prof_runtime *ti_runtime;
};

/* Programs survive whatever a chain says; its frames are of its language. */
static bool
runtime_holds(const struct prof_runtime *runtime)
{
	return (runtime->rt_language == 0 ||
	    (prof_language_at(runtime->rt_language) != NULL &&
	    runtime->rt_is_known <= 1 &&
	    memchr(runtime->rt_name, '\0', sizeof(runtime->rt_name)) !=
	    NULL &&
	    runtime->rt_variant < 1U << PROF_LANGUAGE_BITS &&
	    runtime->rt_chain.ch_head == prof_runtime_head(runtime)));
}

static bool
table_take(struct prof_call *call)
{
	struct tabling *tabling = call->ca_take_arg;
	struct prof_unwind_table *table;
	struct prof_tabled_head head;

	if (call->ca_answered < sizeof(head))
		return (false);
	memcpy(&head, call->ca_answer, sizeof(head));
	if (!runtime_holds(&head.td_runtime))
		return (false);
	*tabling->ti_runtime = head.td_runtime;
	if (head.td_what == PROF_TABLED_NONE ||
	    head.td_what == PROF_TABLED_LARGE ||
	    head.td_what == PROF_TABLED_LATER) {
		tabling->ti_what = (enum prof_tabled)head.td_what;
		return (true);
	}
	if (head.td_what != PROF_TABLED ||
	    !length_holds(&head, call->ca_answered))
		return (false);
	table = table_of(&head, call->ca_answer);
	if (table == NULL)
		return (true);
	if (!prof_table_holds(table)) {
		free(table);
		return (false);
	}
	table->ut_memory = call->ca_answer;
	call->ca_answer = NULL;
	tabling->ti_table = table;
	tabling->ti_what = PROF_TABLED;
	return (true);
}

enum prof_tabled
prof_table_ask(struct prof_broker *broker, int fd, const char *name,
    struct prof_unwind_table **table, struct prof_runtime *runtime)
{
	struct tabling tabling = { .ti_what = PROF_TABLED_LATER,
	    .ti_runtime = runtime };
	struct prof_call call = {
		.ca_what = PROF_PARSE_TABLE,
		.ca_fd = fd,
		.ca_name = name,
		.ca_most = MOST_BYTES,
		.ca_can_wait = true,
		.ca_take = table_take,
		.ca_take_arg = &tabling,
	};

	memset(runtime, 0, sizeof(*runtime));
	if (prof_broker_call(broker, &call) == PROF_CALLED_LOST)
		tabling.ti_what = PROF_TABLED_LOST;
	*table = tabling.ti_table;
	return (tabling.ti_what);
}

static bool
runtime_take(struct prof_call *call)
{
	struct prof_runtime runtime;

	if (call->ca_answered != sizeof(runtime))
		return (false);
	memcpy(&runtime, call->ca_answer, sizeof(runtime));
	if (!runtime_holds(&runtime))
		return (false);
	memcpy(call->ca_take_arg, &runtime, sizeof(runtime));
	return (true);
}

void
prof_runtime_ask(struct prof_broker *broker, int fd, const char *name,
    struct prof_runtime *runtime)
{
	struct prof_call call = {
		.ca_what = PROF_PARSE_RUNTIME,
		.ca_fd = fd,
		.ca_name = name,
		.ca_most = sizeof(*runtime),
		.ca_take = runtime_take,
		.ca_take_arg = runtime,
	};

	memset(runtime, 0, sizeof(*runtime));
	(void)prof_broker_call(broker, &call);
}
