/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: an import keeps each of its notes, in order, however many a
 * reader has.  Easy to get wrong: a bound that drops the last ones unseen.
 * No format has so many today, so the notes are the test's own.
 */
#include <string.h>

#include "cli-check.h"
#include "import/import.h"

#define NOTES	1000

int
main(void)
{
	struct prof_import *import = calloc(1, sizeof(*import));
	const char *note;
	char text[32];
	int n;

	CHECK(import != NULL, "no memory");
	import->im_memory = -1;
	for (n = 0; n < NOTES; n++)
		CHECK(prof_import_say(import, "note %d", n) == 0, "note %d", n);
	for (n = 0; n < NOTES; n++) {
		snprintf(text, sizeof(text), "note %d", n);
		note = prof_import_note(import, (size_t)n);
		CHECK(note != NULL && strcmp(note, text) == 0, "note %d", n);
	}
	CHECK(prof_import_note(import, NOTES) == NULL, "one too many");
	prof_import_free(import);
	OK("%d notes", NOTES);
	return (0);
}
