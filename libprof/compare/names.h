/* SPDX-License-Identifier: ISC */
/* Names that are compared, and orders of runs: for dtprof(1), too. */
#ifndef PROF_COMPARE_NAMES_H
#define PROF_COMPARE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Numbers 0 to n - 1 in an order that the seed decides. */
void prof_shuffle(uint64_t seed, uint32_t *order, size_t n);
/* A name without what compilers add: .isra, .constprop, .part, .cold ... */
void prof_function_base_name(const char *name, char *base, size_t size);
/* "libc.so" of all libcs; of a program the last part of its path. */
void prof_module_base_name(const char *module, char *name, size_t size);

struct prof_comparison;
struct prof_label;
struct prof_profile;

/* The label of the function that waits in an off-CPU stack; 0: none. */
uint32_t prof_waiting_label(const struct prof_profile *profile, uint32_t node);

/* Whose a cost is. */
struct prof_item {
	const char	*it_state;	/* of its thread; "": not known */
	const char	*it_name;
	const char	*it_module;
	int		 it_is_inlined;
};

/*
 * As prof_comparison_profile.  item: says whose a label's cost is, borrowed
 * until its next call; its state is known by then.
 */
int	prof_comparison_items(struct prof_comparison *comparison, long run,
	    const struct prof_profile *profile, size_t event,
	    void (*item)(void *arg, const struct prof_label *label,
	    struct prof_item *item), void *arg);

#endif /* PROF_COMPARE_NAMES_H */
