/* SPDX-License-Identifier: ISC */
/*
 * Structs that cross the public interface and grow with the library.
 *
 * Those of options begin with their size as the caller knows it: members that
 * an older caller does not know are 0, and what a newer caller asks for that
 * we do not know is refused rather than left out in silence.  Structs that
 * the library fills come with their size in the call, as with openat2(2): an
 * older caller gets the members that it knows, a newer one 0 in the rest.
 *
 * Called wherever the public interface takes or fills a struct.
 */
#include <string.h>

#include "error.h"

/* More was never initialized. */
#define SIZE_LIMIT	65536

int
prof_options_take(void *to, size_t known, const void *from, const char *name,
    struct prof_err *error)
{
	const unsigned char *bytes = from;
	size_t given;

	if (from == NULL)
		return (0);
	memcpy(&given, from, sizeof(given));
	if (given < sizeof(given) || given > SIZE_LIMIT) {
		prof_fail(error, PROF_E_USAGE, "struct %s begins with its "
		    "size, which cannot be %zu", name, given);
		return (prof_cure(error, "set the first member of the struct "
		    "to sizeof(struct %s)", name));
	}
	for (size_t n = known; n < given; n++) {
		if (bytes[n] == 0)
			continue;
		prof_fail(error, PROF_E_USAGE, "unknown option at byte %zu of "
		    "struct %s; this version of libprof knows only the first "
		    "%zu bytes", n, name,
		    known);
		return (prof_cure(error, "use the libprof that the program was "
		    "built with, or a newer one"));
	}
	memcpy(to, from, given < known ? given : known);
	return (0);
}

void
prof_struct_give(void *to, size_t given, const void *from, size_t known)
{
	memcpy(to, from, given < known ? given : known);
	if (given > known)
		memset((char *)to + known, 0, given - known);
}
