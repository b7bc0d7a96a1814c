/* SPDX-License-Identifier: ISC */
/*
 * dtprof annotate: where in a function the samples lie, by line of source
 * and by instruction.  Reads the options, finds the function, and has the
 * rest done by annotate_*.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ui/terminal.h"
#include "annotate.h"

#define MAX_SHOWN	16	/* functions that a message names */

struct annotate_options {
	struct opt_strings	 ao_events;
	struct choose_time	 ao_time;
	struct choose_time	 ao_base_time;
	const char		*ao_base;
	const char		*ao_filter;
	const char		*ao_input;
	const char		*ao_output;
	unsigned		 ao_frames;
	int			 ao_color;
	bool			 ao_asm;
	bool			 ao_csv;
	bool			 ao_html;
	bool			 ao_json;
	bool			 ao_source;
	bool			 ao_total;
};

#define PAGE_FILE	"annotate.html"

static int	 check_annotate(const void *options, int n,
		    char *const *operands);
static int	 run_annotate(void *options, int n, char **operands);

static const struct opt_row options_of_annotate[] = {
	{ 0, "asm", NULL, OPT_FLAG, 0, 0, NULL,
	    "show only instructions",
	    offsetof(struct annotate_options, ao_asm), NULL },
	{ 0, "base", "BASE", OPT_STRING, 0, 0, NULL,
	    "compare with recording BASE",
	    offsetof(struct annotate_options, ao_base), NULL },
	CHOOSE_BASE_BETWEEN(offsetof(struct annotate_options, ao_base_time)),
	CHOOSE_BASE_FROM(offsetof(struct annotate_options, ao_base_time)),
	CHOOSE_BASE_TO(offsetof(struct annotate_options, ao_base_time)),
	CHOOSE_BETWEEN(offsetof(struct annotate_options, ao_time)),
	TERMINAL_OPTION(offsetof(struct annotate_options, ao_color)),
	{ 0, "csv", NULL, OPT_FLAG, 0, 0, NULL,
	    "print the lines and instructions that have samples, as CSV",
	    offsetof(struct annotate_options, ao_csv), NULL },
	CHOOSE_EVENT(offsetof(struct annotate_options, ao_events)),
	CHOOSE_FILTER(offsetof(struct annotate_options, ao_filter)),
	CHOOSE_FRAMES(offsetof(struct annotate_options, ao_frames)),
	CHOOSE_FROM(offsetof(struct annotate_options, ao_time)),
	{ 0, "html", NULL, OPT_FLAG, 0, 0, NULL,
	    "write one self-contained HTML page",
	    offsetof(struct annotate_options, ao_html), NULL },
	CHOOSE_INPUT(offsetof(struct annotate_options, ao_input)),
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL,
	    "print all lines and instructions as one JSON object",
	    offsetof(struct annotate_options, ao_json), NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, NULL,
	    "output file of --html (default " PAGE_FILE ")",
	    offsetof(struct annotate_options, ao_output), NULL },
	{ 0, "source", NULL, OPT_FLAG, 0, 0, NULL,
	    "show only source lines",
	    offsetof(struct annotate_options, ao_source), NULL },
	CHOOSE_TO(offsetof(struct annotate_options, ao_time)),
	{ 0, "total", NULL, OPT_FLAG, 0, 0, NULL,
	    "add the cost of callees to the line that calls them",
	    offsetof(struct annotate_options, ao_total), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof annotate parse",
	"show lines and instructions of function parse",
	"dtprof annotate 'pars*'",
	"show the heaviest function that matches the pattern",
	"dtprof annotate --source --total main x.dtp",
	"show source lines of function main, callees included",
	"dtprof annotate --html -o f.html f",
	"write an HTML page to keep or to send",
	"dtprof annotate --base old.dtp f new.dtp",
	"show which lines of function f became slower or faster",
	NULL
};

const struct prof_cmd cmd_annotate = {
	.cm_name = "annotate",
	.cm_summary = "show the cost of a function's source lines and "
	    "instructions",
	.cm_operands = "FUNCTION [FILE ...]",
	.cm_options = options_of_annotate,
	.cm_size = sizeof(struct annotate_options),
	.cm_min = 1,
	.cm_max = -1,
	.cm_reads = true,
	.cm_output = PAGE_FILE,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "FUNCTION is a name as printed by dtprof report, or a "
	    "pattern, which selects the heaviest function that matches.  If "
	    "several functions have the same name, use MODULE:NAME or "
	    "NAME@0xADDRESS.  Source lines need debug information; "
	    "instructions need objdump (binutils) and the program file that "
	    "was recorded.",
	.cm_check = check_annotate,
	.cm_run = run_annotate,
};

/* ---------------------------------------------------------- which one */

/*
 * name, or module:name, or either with @0xaddress behind it; by_base: the
 * name without what compilers add to it.
 */
static bool
is_called(const struct prof_function *fu, const char *text, bool by_base)
{
	const size_t length = strlen(text);
	const size_t module = strlen(fu->fu_module);
	const char *slash = strrchr(fu->fu_module, '/');
	const char *base = slash != NULL ? slash + 1 : fu->fu_module;
	const size_t nbase = strlen(base);
	char address[24], bare[256];
	size_t n, name = strlen(fu->fu_name);

	if (module > 0 && length > module && text[module] == ':' &&
	    strncmp(text, fu->fu_module, module) == 0)
		text += module + 1;
	else if (nbase > 0 && length > nbase && text[nbase] == ':' &&
	    strncmp(text, base, nbase) == 0)
		text += nbase + 1;
	if (by_base) {
		prof_function_base_name(fu->fu_name, bare, sizeof(bare));
		return (strcmp(text, bare) == 0);
	}
	if (fu->fu_raw[0] != '\0' && strcmp(text, fu->fu_raw) == 0)
		return (true);
	if (strncmp(text, fu->fu_name, name) != 0)
		return (false);
	n = (size_t)snprintf(address, sizeof(address), "@0x%llx",
	    (unsigned long long)fu->fu_address);
	return (text[name] == '\0' || (strncmp(text + name, address, n) ==
	    0 && text[name + n] == '\0'));
}

static void
say_nearest(const struct annotate *an, const char *text)
{
	const size_t nlabels = prof_profile_nlabels(an->an_profile);
	const char **names = calloc(nlabels + 1, sizeof(*names)), *nearest;
	const struct prof_label *label;
	char cure[256] = "list the functions with dtprof report; dtprof "
	    "annotate shows inlined functions in their caller";
	size_t n = 0;

	for (uint32_t i = 0; names != NULL && i < nlabels; i++) {
		label = prof_profile_label(an->an_profile, i);
		if (label->lb_kind == PROF_LABEL_PLACE)
			names[n++] = label->lb_function->fu_name;
	}
	nearest = names == NULL ? NULL : opt_nearest(text, names);
	if (nearest != NULL)
		snprintf(cure, sizeof(cure), "did you mean '%.200s'?", nearest);
	msg_fail("annotate", cure, "no such function in this recording: '%s'",
	    text);
	free(names);
}

static void
say_several(const char *text, const struct prof_function **found, size_t n)
{
	struct out out;

	msg_fail("annotate", "use one of these names",
	    "ambiguous name '%s': it matches %zu functions%s", text, n,
	    n == MAX_SHOWN ? ", or more" : "");
	out_init(&out, STDERR_FILENO);
	for (size_t i = 0; i < n; i++) {
		OUT(&out, "  ", found[i]->fu_module, ":", found[i]->fu_name);
		out_fmt(&out, "@0x%llx\n",
		    (unsigned long long)found[i]->fu_address);
	}
	out_flush(&out);
}

/* How many functions are called as this one, up to two; the last is taken. */
static int
find_like(struct annotate *base, const struct prof_function *function,
    const char *module)
{
	char name[512], other[512];
	int n = 0;

	prof_function_base_name(function->fu_name, name, sizeof(name));
	for (uint32_t l = 0; l < prof_profile_nlabels(base->an_profile) &&
	    n < 2; l++) {
		const struct prof_label *label = prof_profile_label(
		    base->an_profile, l);
		const struct prof_function *fu = label->lb_function;

		if (label->lb_kind != PROF_LABEL_PLACE || (module != NULL &&
		    strcmp(fu->fu_module, module) != 0) ||
		    (n > 0 && annotate_is_same(base->an_function, fu)))
			continue;
		prof_function_base_name(fu->fu_name, other, sizeof(other));
		if (strcmp(name, other) != 0)
			continue;
		base->an_function = fu;
		n++;
	}
	return (n);
}

/* The base's: in the same module, else anywhere.  It need not be there. */
static int
find_in_base(struct annotate *base, const struct prof_function *function)
{
	int n = find_like(base, function, function->fu_module);

	if (n == 0)
		n = find_like(base, function, NULL);
	if (n < 2)
		return (0);
	return (msg_fail("annotate", "choose a function whose name is unique "
	    "in the base", "ambiguous name: the base has several functions "
	    "named '%s'", function->fu_name));
}

static int
find_function(struct annotate *an, const char *text)
{
	const size_t nlabels = prof_profile_nlabels(an->an_profile);
	const struct prof_function *found[MAX_SHOWN];
	const struct prof_label *label;
	size_t n = 0, i;

	/* Bare names only where nothing is called so. */
	for (size_t l = 0; l < 2 * nlabels && n < MAX_SHOWN; l++) {
		if (l == nlabels && n > 0)
			break;
		label = prof_profile_label(an->an_profile,
		    (uint32_t)(l % nlabels));
		if (label->lb_kind != PROF_LABEL_PLACE ||
		    !is_called(label->lb_function, text, l >= nlabels))
			continue;
		for (i = 0; i < n; i++)
			if (annotate_is_same(found[i], label->lb_function))
				break;
		if (i == n)
			found[n++] = label->lb_function;
	}
	if (n == 0 && strpbrk(text, "*?[") != NULL)
		return (annotate_find_glob(an, text));
	if (n == 1)
		an->an_function = found[0];
	else if (n == 0)
		say_nearest(an, text);
	else
		say_several(text, found, n);
	return (n == 1 ? 0 : -1);
}

/* ------------------------------------------------------------- profile */

static int
make_profile(struct annotate *an, const struct annotate_options *ao,
    const struct choose_time *time, const char *path)
{
	struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_filter = ao->ao_filter,
		.pl_places = 1,
		.pl_frames = ao->ao_frames,
	};

	an->an_wanted = choose_events("annotate", an->an_reader,
	    &ao->ao_events);
	if (an->an_wanted == NULL || choose_range("annotate", an->an_reader,
	    time, &options) == -1)
		return (-1);
	an->an_profile = choose_profile("annotate", an->an_reader, &options,
	    &an->an_symbols);
	if (an->an_profile == NULL)
		return (-1);
	an->an_headline = (struct headline){ .he_reader = an->an_reader,
	    .he_profile = an->an_profile, .he_path = path,
	    .he_filter = ao->ao_filter };
	choose_span(an->an_reader, time, &options, &an->an_headline.he_span);
	headline_init(&an->an_headline);
	return (0);
}

/* Both, unless one is asked for. */
static int
make_rows(struct annotate *an, const struct annotate_options *ao)
{
	if (((ao->ao_source || !ao->ao_asm) && annotate_source(an) == -1) ||
	    ((ao->ao_asm || !ao->ao_source) && annotate_asm(an) == -1))
		return (msg_error("annotate", "out of memory", "free memory"));
	if (an->an_nplaces > 0)
		return (0);
	return (msg_fail("annotate", "use --total to include the callees of "
	    "the function",
	    "%s: the function itself has no samples",
	    an->an_function->fu_name));
}

/* -------------------------------------------------------------- output */

static int
annotate_show(const struct annotate *an, const struct annotate_options *ao)
{
	struct terminal terminal;
	struct out out;

	if (ao->ao_json || ao->ao_csv) {
		out_init(&out, STDOUT_FILENO);
		(ao->ao_json ? annotate_json : annotate_csv)(an, &out);
		return (out_end(&out, "annotate"));
	}
	terminal_begin(&terminal, ao->ao_color);
	out_init(&out, terminal.te_fd);
	annotate_text(an, &out, &terminal);
	return (terminal_end(&terminal, "annotate",
	    out_end(&out, "annotate")));
}

static void
put_page(const void *arg, struct out *out)
{
	annotate_html(arg, out);
}

static int
show_page(const struct annotate *an, const struct annotate_options *ao)
{
	return (file_replace_by("annotate", ao->ao_output != NULL ?
	    ao->ao_output : PAGE_FILE, put_page, an) == 0 ? 0 : EXIT_FAILED);
}

static int
sum_up(struct annotate *an)
{
	if (annotate_sum(an) == 0)
		return (0);
	return (msg_error("annotate", "out of memory", "free memory"));
}

/* Of another build lines are all that can stand beside each other. */
static int
check_builds(struct annotate *an)
{
	static const char note[] = "base and new are different builds: source "
	    "lines are matched by line number";

	if (an->an_is_same_build)
		return (0);
	if (!annotate_has_lines(an))
		return (msg_error("annotate", "base and new are different "
		    "builds, and one has no line information, so lines "
		    "cannot be compared", "build with -g, "
		    "keep the program files, and record again"));
	msg_note("annotate", "%s", note);
	return (annotate_row(an, AN_NOTE, 0, strdup(note)) == NULL ? -1 : 0);
}

static int
add_base(struct annotate *an, struct annotate *base,
    const struct annotate_options *ao, const char *path)
{
	const char *file = ao->ao_base != NULL ? ao->ao_base : path;
	struct prof_err error = { 0 };

	base->an_is_same_build = strcmp(file, path) == 0;
	base->an_reader = input_read("annotate", file, &error);
	if (base->an_reader == NULL)
		return (msg_prof("annotate", &error));
	if (make_profile(base, ao, choose_has_time(&ao->ao_base_time) ?
	    &ao->ao_base_time : &ao->ao_time, file) == -1 ||
	    find_in_base(base, an->an_function) == -1 || sum_up(base) == -1)
		return (-1);
	if (base->an_function == NULL)
		msg_note("annotate", "the base has no samples of %s",
		    an->an_function->fu_name);
	if (annotate_merge(an, base) == -1)
		return (msg_error("annotate", "out of memory", "free memory"));
	if (an->an_ncolumns > 0)
		return (check_builds(an));
	return (msg_error("annotate", "base and new have no event in common",
	    "list the events of both recordings with dtprof report --by "
	    "event"));
}

static bool
has_base(const struct annotate_options *ao)
{
	return (ao->ao_base != NULL || choose_has_time(&ao->ao_base_time));
}

static void
side_free(struct annotate *an)
{
	annotate_free(an);
	prof_profile_free(an->an_profile);
	if (an->an_symbols != NULL)
		prof_symbols_close(an->an_symbols);
	if (an->an_reader != NULL)
		prof_reader_close(an->an_reader);
}

static int
check_annotate(const void *options, int n, char *const *operands)
{
	const struct annotate_options *ao = options;

	(void)operands;
	if (ao->ao_csv + ao->ao_html + ao->ao_json > 1)
		return (msg_error("annotate", "--csv, --html and --json "
		    "exclude each other", "choose one"));
	if (ao->ao_output != NULL && !ao->ao_html)
		return (msg_error("annotate", "-o requires --html",
		    "redirect standard output instead: > FILE"));
	return (choose_check("annotate", &ao->ao_time) == -1 ||
	    choose_check("annotate", &ao->ao_base_time) == -1 ? -1 :
	    input_check("annotate", ao->ao_input, n - 1));
}

static int
run_annotate(void *options, int n, char **operands)
{
	const struct annotate_options *ao = options;
	struct annotate an = { .an_total = ao->ao_total };
	struct annotate base = { .an_total = ao->ao_total };
	int status = EXIT_FAILED;
	const char *path;

	an.an_reader = input_open("annotate", ao->ao_input, n - 1,
	    operands + 1, &path);
	if (an.an_reader == NULL)
		return (EXIT_FAILED);
	if (make_profile(&an, ao, &ao->ao_time, path) == 0 &&
	    find_function(&an, operands[0]) == 0 && sum_up(&an) == 0 &&
	    (!has_base(ao) || add_base(&an, &base, ao, path) == 0) &&
	    make_rows(&an, ao) == 0) {
		input_say_limits("annotate", an.an_symbols);
		status = ao->ao_html ? show_page(&an, ao) :
		    annotate_show(&an, ao);
	}
	side_free(&an);
	side_free(&base);
	return (status);
}
