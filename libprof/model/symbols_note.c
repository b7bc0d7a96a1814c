/* SPDX-License-Identifier: ISC */
/*
 * What has no names, why, and what cures it: made when it is first asked for,
 * from the functions that were found by then.  A few modules of each kind are
 * named; of the others just how many there are.
 */
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

#define MAX_NAMED	3

struct reason {
	enum prof_unnamed re_why;
	const char	*re_what;
	const char	*re_cure;
};

static const struct reason reasons[] = {
	{ PROF_UNNAMED_HIDDEN, "the kernel hid its addresses", "record as "
	    "root, or set kernel.kptr_restrict to 0" },
	{ PROF_UNNAMED_NOFILE, "the file that was recorded is no longer "
	    "there, or another build is", "install that version, or its "
	    "debug symbols" },
	{ PROF_UNNAMED_NOSYM, "stripped: not all functions have names",
	    "install the debug symbols (on Debian PACKAGE-dbgsym)" },
	{ PROF_UNNAMED_ANON, "made in memory, and no map was left by a JIT",
	    "let it write one (node --perf-basic-prof, java perf agents)" },
	{ PROF_UNNAMED_NOPROC, "nothing is known of the process", "" },
};

static void
note_add(struct prof_symbols *symbols, char *text)
{
	char **grown = text == NULL ? NULL : reallocarray(symbols->sy_notes,
	    symbols->sy_nnotes + 1, sizeof(*grown));

	if (grown == NULL) {
		free(text);
		return;
	}
	symbols->sy_notes = grown;
	grown[symbols->sy_nnotes++] = text;
}

/* "no names in A, B and 4 more: why; cure" */
static void
note_reason(struct prof_symbols *symbols, const struct reason *reason)
{
	const struct prof_function *fu;
	unsigned found = 0;
	size_t length;
	FILE *stream;
	char *text;
	uint32_t n;

	if ((stream = open_memstream(&text, &length)) == NULL)
		return;
	for (n = 1; n < symbols->sy_nfunctions; n++) {
		fu = prof_symbols_function(symbols, n);
		if (fu->fu_unnamed != reason->re_why || ++found > MAX_NAMED)
			continue;
		fprintf(stream, "%s%s", found == 1 ? "no names in " : ", ",
		    fu->fu_module[0] == '\0' ? fu->fu_name : fu->fu_module);
	}
	if (found > MAX_NAMED)
		fprintf(stream, " and %u more", found - MAX_NAMED);
	fprintf(stream, ": %s%s%s", reason->re_what,
	    reason->re_cure[0] == '\0' ? "" : "; ", reason->re_cure);
	if (fclose(stream) != 0)
		return;
	if (found > 0)
		note_add(symbols, text);
	else
		free(text);
}

static bool
has_lines_limited(const struct prof_module *module)
{
	return (module->mo_refused_lines || (module->mo_lines != NULL &&
	    prof_lines_limited(module->mo_lines)));
}

static bool
has_names_limited(const struct prof_module *module)
{
	return (module->mo_refused_names);
}

/* "no source lines in A, B and 4 more: ..." */
static void
note_limit(struct prof_symbols *symbols,
    bool (*is_limited)(const struct prof_module *), const char *what,
    const char *why)
{
	unsigned found = 0;
	size_t length;
	FILE *stream;
	char *text;
	uint32_t n;

	if ((stream = open_memstream(&text, &length)) == NULL)
		return;
	for (n = 0; n < symbols->sy_nmodules; n++)
		if (is_limited(&symbols->sy_module[n]) &&
		    ++found <= MAX_NAMED)
			fprintf(stream, "%s%s", found == 1 ? what : ", ",
			    symbols->sy_module[n].mo_image->im_path);
	if (found > MAX_NAMED)
		fprintf(stream, " and %u more", found - MAX_NAMED);
	fprintf(stream, ": %s", why);
	if (fclose(stream) != 0)
		return;
	if (found > 0)
		note_add(symbols, text);
	else
		free(text);
}

const char *
prof_symbols_note(struct prof_symbols *symbols, size_t n)
{
	size_t i;

	if (!symbols->sy_noted) {
		symbols->sy_noted = true;
		for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
			note_reason(symbols, &reasons[i]);
		note_limit(symbols, has_names_limited, "no names in ",
		    "more symbols than the memory budget of a file of its "
		    "size");
		note_limit(symbols, has_lines_limited, "source lines and "
		    "inlined functions are missing in ", "damaged debug "
		    "information, or more than the memory budget of a file "
		    "of its size");
	}
	return (n < symbols->sy_nnotes ? symbols->sy_notes[n] : NULL);
}

void
prof_symbols_forget_notes(struct prof_symbols *symbols)
{
	while (symbols->sy_nnotes > 0)
		free(symbols->sy_notes[--symbols->sy_nnotes]);
	free(symbols->sy_notes);
}
