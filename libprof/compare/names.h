/* SPDX-License-Identifier: ISC */
/* Names that builds have in common, and orders of runs: for dtprof(1), too. */
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

#endif /* PROF_COMPARE_NAMES_H */
