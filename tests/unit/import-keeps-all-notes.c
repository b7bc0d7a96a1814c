/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: an import keeps each of its notes, in order, however many a
 * reader has.  Easy to get wrong: a bound that drops the last ones unseen.
 * No format has so many today, so the notes are the test's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof.h"

#include "import/import.h"

#define NOTES	1000

#define CHECK(what) do {						\
	if (!(what)) {							\
		printf("FAIL: line %d: %s\n", __LINE__, #what);		\
		exit(1);						\
	}								\
} while (0)

int
main(void)
{
	struct prof_import *import = calloc(1, sizeof(*import));
	char text[32];
	int n;

	CHECK(import != NULL);
	import->im_memory = -1;
	for (n = 0; n < NOTES; n++)
		CHECK(prof_import_say(import, "note %d", n) == 0);
	for (n = 0; n < NOTES; n++) {
		snprintf(text, sizeof(text), "note %d", n);
		CHECK(prof_import_note(import, (size_t)n) != NULL);
		CHECK(strcmp(prof_import_note(import, (size_t)n), text) == 0);
	}
	CHECK(prof_import_note(import, NOTES) == NULL);
	prof_import_free(import);
	printf("ok: %d notes\n", NOTES);
	return (0);
}
