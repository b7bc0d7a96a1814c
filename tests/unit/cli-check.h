/* SPDX-License-Identifier: ISC */
/* What the unit tests of the command share: say what held, or end. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(holds, ...) do {						\
	if (!(holds)) {							\
		printf("%s:%d: %s: ", __FILE__, __LINE__, #holds);	\
		printf(__VA_ARGS__);					\
		printf("\n");						\
		exit(1);						\
	}								\
} while (0)

#define OK(...) do {							\
	printf("ok: ");							\
	printf(__VA_ARGS__);						\
	printf("\n");							\
} while (0)

#endif /* CLI_CHECK_H */
