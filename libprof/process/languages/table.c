/* SPDX-License-Identifier: ISC */
/*
 * The languages of languages.def, and what is asked of all of them.
 */
#include <string.h>

#include "language.h"

static const struct prof_language *const languages[] = {
#define PROF_LANGUAGE(name) &prof_language_##name,
#include "languages.def"
#undef PROF_LANGUAGE
};
#define NLANGUAGES	(sizeof(languages) / sizeof(languages[0]))

const struct prof_language *
prof_language_at(unsigned number)
{
	return (number == 0 || number > NLANGUAGES ? NULL :
	    languages[number - 1]);
}

static bool
is_in(const char *const *names, const char *function)
{
	for (; names != NULL && *names != NULL; names++)
		if (strcmp(*names, function) == 0)
			return (true);
	return (false);
}

bool
prof_language_runs(unsigned kind, const char *function)
{
	for (size_t n = 0; n < NLANGUAGES; n++)
		if (languages[n]->la_kind == kind &&
		    is_in(languages[n]->la_runs, function))
			return (true);
	return (false);
}

enum prof_frame_kind
prof_language_of_jit(const char *function)
{
	const char *const *jit;

	for (size_t n = 0; n < NLANGUAGES; n++)
		for (jit = languages[n]->la_jit; jit != NULL && *jit != NULL;
		    jit++)
			if (strncmp(*jit, function, strlen(*jit)) == 0)
				return (languages[n]->la_kind);
	return (PROF_FRAME_NATIVE);
}
