/* SPDX-License-Identifier: ISC */
/*
 * Structs of options that grow with the library.  Each begins with its size
 * as the caller knows it: members that an older caller does not know are 0,
 * and what a newer caller asks for that we do not know is refused rather than
 * left out in silence.
 *
 * Called wherever the public interface takes options.
 */
#include <string.h>

#include "prof_impl.h"

int
prof_options_take(void *to, size_t known, const void *from, size_t given,
    struct prof_err *error)
{
	const unsigned char *bytes = from;

	memcpy(to, from, given < known ? given : known);
	for (size_t n = known; n < given; n++) {
		if (bytes[n] == 0)
			continue;
		prof_fail(error, PROF_E_USAGE, "unknown option at byte %zu of "
		    "a struct; this library knows %zu bytes", n, known);
		return (prof_cure(error, "use the libprof that the program was "
		    "built with, or a newer one"));
	}
	return (0);
}
