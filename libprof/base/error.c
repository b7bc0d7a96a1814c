/* SPDX-License-Identifier: ISC */
/*
 * Errors: a code, one sentence of what and why, and one cure.
 *
 * Every handle holds a struct prof_err; whatever fails fills it in with one
 * call and returns -1.  The texts of the codes come from errors.def.  Nothing
 * is printed here, and errno is never looked at: callers say in the sentence
 * what it meant.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

struct code_text {
	const char	*ct_name;
	const char	*ct_text;
	const char	*ct_cure;
};

static const struct code_text code_texts[PROF_NCODES] = {
	[PROF_OK] = { "OK", "no error", "" },
#define PROF_ERROR(name, text, cure)					\
	[PROF_E_##name] = { "E_" #name, text, cure },
#include "errors.def"
#undef PROF_ERROR
};

static const struct code_text unknown_code = {
	"E_UNKNOWN", "unknown error", ""
};

static const struct code_text *
code_find(int code)
{
	if (code < 0 || code >= PROF_NCODES)
		return (&unknown_code);
	return (&code_texts[code]);
}

const char *
prof_code_name(int code)
{
	return (code_find(code)->ct_name);
}

const char *
prof_code_text(int code)
{
	return (code_find(code)->ct_text);
}

const char *
prof_code_cure(int code)
{
	return (code_find(code)->ct_cure);
}

#define VERSION_TEXT(major, minor)	VERSION_TEXT2(major, minor)
#define VERSION_TEXT2(major, minor)	#major "." #minor

const char *
prof_version(void)
{
	return (VERSION_TEXT(PROF_VERSION_MAJOR, PROF_VERSION_MINOR));
}

int
prof_fail(struct prof_err *error, enum prof_code code, const char *fmt, ...)
{
	va_list ap;

	if (error == NULL)
		return (-1);
	memset(error, 0, sizeof(*error));
	error->pe_code = code;
	va_start(ap, fmt);
	(void)vsnprintf(error->pe_text, sizeof(error->pe_text), fmt, ap);
	va_end(ap);
	(void)snprintf(error->pe_cure, sizeof(error->pe_cure), "%s",
	    prof_code_cure(code));
	return (-1);
}

int
prof_cure(struct prof_err *error, const char *fmt, ...)
{
	va_list ap;

	if (error == NULL)
		return (-1);
	va_start(ap, fmt);
	(void)vsnprintf(error->pe_cure, sizeof(error->pe_cure), fmt, ap);
	va_end(ap);
	return (-1);
}

int
prof_fail_nomem(struct prof_err *error)
{
	return (prof_fail(error, PROF_E_NOMEM, "%s",
	    prof_code_text(PROF_E_NOMEM)));
}
