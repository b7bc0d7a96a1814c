/* SPDX-License-Identifier: ISC */
/* What unit tests share that need no words for what does not hold. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) do {						\
	if (!(what)) {							\
		printf("FAIL: line %d: %s\n", __LINE__, #what);		\
		exit(1);						\
	}								\
} while (0)

#endif /* CHECK_H */
