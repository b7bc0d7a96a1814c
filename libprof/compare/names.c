/* SPDX-License-Identifier: ISC */
/*
 * Which function of one build is which of another.  Addresses say nothing
 * after a rebuild, and compilers add to names what they did to a function;
 * so functions are the same when their names are, without those additions,
 * and when they lie in the same library.  Programs need not have the same
 * name: "sort.old" and "sort.new" are what one compares.
 *
 * Called by comparison.c.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "names.h"

/* More than any name has; each is looked for in all of the name. */
#define MAX_ADDITIONS	16

/*
 * What compilers and linkers add behind a dot; most of it has a number, and
 * is else part of a name: Go calls functions main.part and main.clone.
 */
static const struct addition {
	const char	*ad_word;
	bool		 ad_has_number;
} additions[] = {
	{ "isra", true }, { "cold", false }, { "constprop", true },
	{ "part", true }, { "lto_priv", true }, { "llvm", true },
	{ "localalias", false }, { "clone", true }, { "ipa", true },
	{ "resolver", false }
};

/* Is the text from a dot on one of the additions? */
static bool
is_addition(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(additions) / sizeof(*additions); i++) {
		const struct addition *ad = &additions[i];
		size_t n = strlen(ad->ad_word) + 1;

		if (length < n || strncmp(text + 1, ad->ad_word, n - 1) != 0 ||
		    (length == n && ad->ad_has_number))
			continue;
		for (; n < length; n++)
			if (!isdigit((unsigned char)text[n]) && text[n] != '.')
				break;
		if (n == length)
			return (true);
	}
	/* foo.123: a local name made unique. */
	for (size_t n = 1; n < length; n++)
		if (!isdigit((unsigned char)text[n]))
			return (false);
	return (length > 1);
}

/* "f [clone .isra.0]", as demanglers write it. */
static size_t
without_remark(const char *name, size_t length)
{
	static const char remark[] = " [clone ";
	const size_t n = sizeof(remark) - 1;

	if (length <= n || name[length - 1] != ']')
		return (length);
	for (size_t at = length - n; at > 0; at--)
		if (strncmp(name + at, remark, n) == 0)
			return (at);
	return (length);
}

/* The length of a name less its last addition. */
static size_t
name_shorten(const char *name, size_t length)
{
	const size_t less = without_remark(name, length);
	size_t first = length;

	if (less < length)
		return (less);
	/* Some have a dot inside, before their number: the longest of all. */
	for (size_t at = length; at-- > 1;) {
		if (name[at] == '.' && is_addition(name + at, length - at))
			first = at;
		if (!isalnum((unsigned char)name[at]) && name[at] != '.' &&
		    name[at] != '_')
			break;
	}
	return (first);
}

void
prof_function_base_name(const char *name, char *base, size_t size)
{
	size_t length = strlen(name), less;

	for (int n = 0; n < MAX_ADDITIONS &&
	    (less = name_shorten(name, length)) < length; n++)
		length = less;
	if (size == 0)
		return;
	if (length > size - 1)
		length = size - 1;
	memcpy(base, name, length);
	base[length] = '\0';
}

/*
 * "libc.so.6" and "libc-2.36.so" are libc, but libQt5Core is not libQt5Gui;
 * [kernel] and [vdso] are what they are; any program is the program.
 */
static size_t
library_name(const char *module, const char **begin)
{
	const char *slash = strrchr(module, '/'), *dot, *end;

	*begin = slash != NULL && module[0] != '[' ? slash + 1 : module;
	if (module[0] == '[')
		return (strlen(module));
	dot = strstr(*begin, ".so");
	if (dot == NULL || (dot[3] != '\0' && dot[3] != '.'))
		return (0);
	for (end = dot; end > *begin && (isdigit((unsigned char)end[-1]) ||
	    end[-1] == '.'); end--)
		continue;
	if (end > *begin && end < dot && end[-1] == '-')
		end--;
	return ((size_t)(end - *begin));
}

void
prof_module_base_name(const char *module, char *name, size_t size)
{
	const char *begin;
	const size_t length = library_name(module, &begin);

	if (length > 0 && module[0] != '[')
		snprintf(name, size, "%.*s.so", (int)length, begin);
	else
		snprintf(name, size, "%s", begin);
}

char *
prof_function_key(const char *name, const char *module)
{
	const char *library;
	const size_t length = library_name(module, &library);
	const size_t size = strlen(name) + 1;
	char *key = malloc(length + 1 + size);

	if (key == NULL)
		return (NULL);
	memcpy(key, library, length);
	key[length] = '\n';
	prof_function_base_name(name, key + length + 1, size);
	return (key);
}
