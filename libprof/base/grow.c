/* SPDX-License-Identifier: ISC */
/* See grow.h.  Used everywhere. */
#include <stdlib.h>
#include <string.h>

#include "grow.h"

#define LEAST	64	/* items that are made room for at once */

bool
prof_room(void *items, size_t *cap, size_t need, size_t size)
{
	size_t more = *cap + *cap / 2 + LEAST;
	void **array = items, *grown;

	if (need <= *cap)
		return (true);
	if (more < need)
		more = need;
	grown = reallocarray(*array, more, size);
	if (grown == NULL)
		return (false);
	*array = grown;
	*cap = more;
	return (true);
}

void *
prof_grow(void *items, size_t *n, size_t *cap, size_t size)
{
	if (!prof_room(items, cap, *n + 1, size))
		return (NULL);
	return (memset((char *)*(void **)items + (*n)++ * size, 0, size));
}

void *
prof_append(void *items, size_t *n, size_t size)
{
	void **array = items, *grown = reallocarray(*array, *n + 1, size);

	if (grown == NULL)
		return (NULL);
	*array = grown;
	return (memset((char *)grown + (*n)++ * size, 0, size));
}
