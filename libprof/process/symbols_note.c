/* SPDX-License-Identifier: ISC */
/*
 * What has no names, why, and what cures it: made when it is first asked for,
 * from the functions that were found by then.  A few modules of each kind are
 * named; of the others just how many there are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/query.h"
#include "symbols.h"
#include "symbols_impl.h"

#define MAX_NAMED	3
#define MAX_SAID	16	/* all that have no file */

/* No cure for what has no file of its own: the kernel, BPF programs. */
static const struct {
	const char	*re_what;
	const char	*re_cure;
} reasons[PROF_UNNAMED_N] = {
	[PROF_NAMED] = { "", "" },
	[PROF_UNNAMED_HIDDEN] = { "the kernel hid its symbol addresses",
	    "record as root with kernel.kptr_restrict at most 1" },
	[PROF_UNNAMED_OVER] = { "the mappings exceed the memory budget of a "
	    "recording of this size", "" },
	[PROF_UNNAMED_NOFILE] = { "the recorded file was removed or replaced",
	    "install the recorded version of the file, or its debug symbols" },
	[PROF_UNNAMED_NOSYM] = { "the symbols of the file do not cover all "
	    "functions",
	    "install the debug symbols of the file (on Debian PACKAGE-dbgsym), "
	    "or see callers with dtprof report --tree" },
	[PROF_UNNAMED_ANON] = { "JIT code without a perf map",
	    "run java with -XX:+UnlockDiagnosticVMOptions "
	    "-XX:+DumpPerfMapAtExit, node with --perf-basic-prof, python3 "
	    "with -X perf" },
	[PROF_UNNAMED_NOPROC] = { "unknown process", "" },
	[PROF_UNNAMED_NOMAP] = { "no mapping at the address",
	    "" },
};

const char *
prof_unnamed_reason(enum prof_unnamed why, const char *module)
{
	return (why == PROF_UNNAMED_NOSYM && module[0] != '/' ?
	    "no symbol at the address" : reasons[why].re_what);
}

const char *
prof_unnamed_cure(enum prof_unnamed why, const char *module)
{
	return (why == PROF_UNNAMED_NOSYM && module[0] != '/' ? "" :
	    reasons[why].re_cure);
}

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

/* Is it one of those that a note names? */
static bool
is_of(const struct prof_function *fu, enum prof_unnamed why, bool is_file)
{
	return (fu->fu_unnamed == why &&
	    (fu->fu_module[0] == '/') == is_file);
}

/* Scripts have a function for each place without a name, all of one module. */
static bool
is_said(const char *const said[MAX_SAID], unsigned n, const char *module)
{
	for (n = n < MAX_SAID ? n : MAX_SAID; n > 0; n--)
		if (strcmp(said[n - 1], module) == 0)
			return (true);
	return (false);
}

/* "no names in A, B and 4 more: why; cure" */
static void
note_reason(struct prof_symbols *symbols, enum prof_unnamed why, bool is_file)
{
	const struct prof_function *fu;
	const char *module = is_file ? "/" : "", *cure, *said[MAX_SAID], *name;
	unsigned found = 0;
	size_t length;
	FILE *stream;
	char *text;
	uint32_t n;

	if ((stream = open_memstream(&text, &length)) == NULL)
		return;
	for (n = 1; n < symbols->sy_nfunctions; n++) {
		fu = prof_symbols_function(symbols, n);
		if (!is_of(fu, why, is_file))
			continue;
		name = fu->fu_module[0] == '\0' ? fu->fu_name : fu->fu_module;
		if (is_said(said, found, name))
			continue;
		if (found < MAX_SAID)
			said[found] = name;
		if (++found > MAX_NAMED)
			continue;
		fprintf(stream, "%s%s", found == 1 ? "unresolved addresses "
		    "in " : ", ", name);
	}
	if (found > MAX_NAMED)
		fprintf(stream, " and %u more", found - MAX_NAMED);
	cure = prof_unnamed_cure(why, module);
	fprintf(stream, ": %s%s%s", prof_unnamed_reason(why, module),
	    cure[0] == '\0' ? "" : "; ", cure);
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

static void
note_left_out(struct prof_symbols *symbols)
{
	const struct prof_reader *reader = symbols->sy_reader;
	uint64_t from_ns, start_ns;
	const uint64_t left_out = prof_reader_left_out(reader, &from_ns);
	char since[48] = "", *text;

	if (left_out == 0)
		return;
	if (prof_reader_start(reader, &start_ns))
		(void)snprintf(since, sizeof(since), ", from %.3f s on,",
		    ((double)from_ns - (double)start_ns) / 1e9);
	if (asprintf(&text, "%" PRIu64 " process and mapping events%s exceed "
	    "the memory budget of a recording of this size: later user "
	    "addresses are unresolved", left_out, since) != -1)
		note_add(symbols, text);
}

/* What the memory budgets of processes, mappings and files left out. */
static void
note_over(struct prof_symbols *symbols)
{
	const uint64_t mappings = prof_processes_over(symbols->sy_processes) +
	    symbols->sy_images.is_over;
	const uint64_t tables =
	    prof_reader_symbols_left_out(symbols->sy_reader);
	char *text;

	if (tables > 0 && asprintf(&text, "%" PRIu64 " symbol tables exceed "
	    "the memory budget: addresses in the files and perf maps of these "
	    "tables may be unresolved", tables) != -1)
		note_add(symbols, text);
	note_left_out(symbols);
	if (mappings > 0 && asprintf(&text, "%" PRIu64 " mappings exceed the "
	    "memory budget: addresses in processes with these mappings may be "
	    "unresolved", mappings) != -1)
		note_add(symbols, text);
}

const char *
prof_symbols_note(struct prof_symbols *symbols, size_t n)
{
	unsigned why;

	if (!symbols->sy_noted) {
		symbols->sy_noted = true;
		note_over(symbols);
		note_limit(symbols, has_names_limited, "unresolved addresses "
		    "in ",
		    "the symbols exceed the memory budget of a file of this "
		    "size");
		note_limit(symbols, has_lines_limited, "no source lines and no "
		    "inlined functions of ", "debug information is damaged, or "
		    "exceeds the memory budget of a file of this size");
		symbols->sy_nlimits = symbols->sy_nnotes;
		for (why = PROF_NAMED + 1; why < PROF_UNNAMED_N; why++) {
			note_reason(symbols, (enum prof_unnamed)why, true);
			note_reason(symbols, (enum prof_unnamed)why, false);
		}
	}
	return (n < symbols->sy_nnotes ? symbols->sy_notes[n] : NULL);
}

const char *
prof_symbols_limit(struct prof_symbols *symbols, size_t n)
{
	const char *note = prof_symbols_note(symbols, n);

	return (n < symbols->sy_nlimits ? note : NULL);
}

void
prof_symbols_forget_notes(struct prof_symbols *symbols)
{
	while (symbols->sy_nnotes > 0)
		free(symbols->sy_notes[--symbols->sy_nnotes]);
	free(symbols->sy_notes);
}
