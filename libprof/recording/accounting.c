/* SPDX-License-Identifier: ISC */
/*
 * The accounting's one identity and its one definition of lost, from the
 * roles in counters.def:
 *
 *	fired = stored + lost + filtered
 *
 * Called by whatever sums, checks or shows an accounting.
 */
#include "accounting.h"

/* What a counter adds to lost. */
#define LOST_FIRED(member)	0
#define LOST_STORED(member)	0
#define LOST_LOST(member)	(member)
#define LOST_FILTERED(member)	0
#define LOST_BESIDE(member)	0
#define LOST_AMOUNT(member)	0
#define LOST_COUNT(member)	0
#define LOST_SIDEBAND(member)	0

/* What it adds to the right side of the identity, and its name there. */
#define TERM_FIRED(member)	0
#define TERM_STORED(member)	(member)
#define TERM_LOST(member)	(member)
#define TERM_FILTERED(member)	(member)
#define TERM_BESIDE(member)	0
#define TERM_AMOUNT(member)	0
#define TERM_COUNT(member)	0
#define TERM_SIDEBAND(member)	0

#define NAME_FIRED(name)	""
#define NAME_STORED(name)	name
#define NAME_LOST(name)		name
#define NAME_FILTERED(name)	name
#define NAME_BESIDE(name)	""
#define NAME_AMOUNT(name)	""
#define NAME_COUNT(name)	""
#define NAME_SIDEBAND(name)	""

uint64_t
prof_accounting_lost(const struct prof_accounting *pa)
{
	uint64_t sum = 0;

#define PROF_COUNTER(bit, name, type, role, source, text)		\
	sum += LOST_##role(pa->pa_##name);
#include "counters.def"
	return (sum);
}

uint64_t
prof_accounting_sum(const struct prof_accounting *pa)
{
	uint64_t sum = 0;

#define PROF_COUNTER(bit, name, type, role, source, text)		\
	sum += TERM_##role(pa->pa_##name);
#include "counters.def"
	return (sum);
}

const char *
prof_accounting_terms(void)
{
	static const char terms[] = ""
#define PROF_COUNTER(bit, name, type, role, source, text)		\
	    NAME_##role(" + " #name)
#include "counters.def"
	;

	return (terms + sizeof(" + ") - 1);
}

void
prof_accounting_add(struct prof_accounting *sum,
    const struct prof_accounting *row)
{
	const uint64_t rest = PROF_BOUND_NONE - sum->pa_unaccounted_bound;

	/* Modulo 2^64, as a file may hold any number. */
#define PROF_COUNTER(bit, name, type, role, source, text)		\
	sum->pa_##name = (type)((uint64_t)sum->pa_##name +		\
	    (uint64_t)row->pa_##name);
#define PROF_COUNTER_STACK(bit, name, status)				\
	sum->pa_##name[PROF_STACK_##status] +=				\
	    row->pa_##name[PROF_STACK_##status];
#include "counters.def"
	if (row->pa_unaccounted_bound > rest)
		sum->pa_unaccounted_bound = PROF_BOUND_NONE;
	sum->pa_has_count |= row->pa_has_count;
}

/* What is no sum over time stays. */
void
prof_accounting_subtract(struct prof_accounting *sum,
    const struct prof_accounting *row)
{
	const uint64_t instances = sum->pa_instances;
	const uint64_t bound = sum->pa_unaccounted_bound;

#define PROF_COUNTER(bit, name, type, role, source, text)		\
	sum->pa_##name = (type)((uint64_t)sum->pa_##name -		\
	    (uint64_t)row->pa_##name);
#define PROF_COUNTER_STACK(bit, name, status)				\
	sum->pa_##name[PROF_STACK_##status] -=				\
	    row->pa_##name[PROF_STACK_##status];
#include "counters.def"
	sum->pa_instances = instances;
	sum->pa_unaccounted_bound = bound;
}

double
prof_accounting_open_ns(const struct prof_accounting *pa, uint64_t ran_ns)
{
	/* Each change of the rate opens all instances again. */
	if (pa->pa_has_count && pa->pa_enabled_ns > 0)
		return ((double)pa->pa_enabled_ns);
	return ((double)pa->pa_instances * (double)ran_ns);
}
