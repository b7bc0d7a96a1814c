/* SPDX-License-Identifier: ISC */
/*
 * Arrays that grow.  items: where the pointer to the first item is, NULL where
 * there is none yet.  Without memory the array stays as it is.
 */
#ifndef PROF_GROW_H
#define PROF_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Room for so many items at least; it grows by half.  false: no memory. */
bool	prof_room(void *items, size_t *cap, size_t need, size_t size);
/* One more item behind *n, zeroed; NULL: no memory. */
void	*prof_grow(void *items, size_t *n, size_t *cap, size_t size);
/* The same of an array that has no room to spare: for few items. */
void	*prof_append(void *items, size_t *n, size_t size);

#endif /* PROF_GROW_H */
