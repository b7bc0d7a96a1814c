/* SPDX-License-Identifier: ISC */
/*
 * Sorts many items by the uint64_t that each begins with, digit by digit, so
 * that no two are compared; those with the same number stay in their order.
 */
#ifndef PROF_SORT_H
#define PROF_SORT_H

#include <stdbool.h>
#include <stddef.h>

/* false: no memory, numbers too far apart, or too few items: use qsort. */
bool	prof_sort_items(void *items, size_t n, size_t size);

#endif /* PROF_SORT_H */
