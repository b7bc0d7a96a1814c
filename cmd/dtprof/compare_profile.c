/* SPDX-License-Identifier: ISC */
/*
 * What functions cost in one run: from a recording, by its profile; from a
 * folded file ("a;b;c 12": c itself cost 12); or from what import reads, a
 * profile of pprof or perf.data, which becomes a recording for a moment.
 *
 * Called by cmd_compare.c, run by run; a recording is closed again before
 * the next one is opened, so that hundreds of them fit.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choose.h"
#include "compare.h"
#include "json.h"

/* How files begin that are not text. */
static const struct kind {
	const char	*kd_magic;
	size_t		 kd_at;
	bool		 kd_is_ours;
} kinds[] = {
	{ "\x89" "DTP", 0, true },
	{ "PERFILE2", 0, false },
	{ "\x1f\x8b", 0, false },	/* gzip, of pprof */
	{ "\x08", 2, false },		/* pprof: its first type of value */
};

/* NULL: text, or nothing. */
static const struct kind *
kind_of(const char *path)
{
	char begin[8] = "";
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd == -1 ? -1 : read(fd, begin, sizeof(begin));

	if (fd != -1)
		close(fd);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const size_t length = strlen(kinds[k].kd_magic);

		if (n >= (ssize_t)(kinds[k].kd_at + length) && memcmp(begin +
		    kinds[k].kd_at, kinds[k].kd_magic, length) == 0)
			return (&kinds[k]);
	}
	return (NULL);
}

bool
compare_is_recording(const char *path)
{
	const struct kind *kind = kind_of(path);

	return (kind != NULL && kind->kd_is_ours);
}

int
compare_machine_of(struct series *series, const char *path)
{
	static const char *const traits[] = {
		"kernel", "arch", "cpu_model", "cpus"
	};
	struct prof_err error = { 0 };
	struct prof_reader *reader;
	char *text, key[64];
	size_t length;
	FILE *stream;
	int rv;

	if (!compare_is_recording(path))
		return (0);
	reader = prof_reader_open(path, &error);
	if (reader == NULL) {
		msg_prof("compare", &error);
		return (-1);
	}
	stream = open_memstream(&text, &length);
	for (size_t i = 0; stream != NULL &&
	    i < sizeof(traits) / sizeof(traits[0]); i++) {
		snprintf(key, sizeof(key), "machine.%s", traits[i]);
		if (prof_reader_info(reader, key) != NULL)
			fprintf(stream, "%s: %s\n", traits[i],
			    prof_reader_info(reader, key));
	}
	prof_reader_close(reader);
	if (stream == NULL || fclose(stream) != 0) {
		msg_error("compare", "out of memory", "free memory");
		return (-1);
	}
	rv = compare_add_machine(series, text);
	free(text);
	if (rv == -1)
		msg_error("compare", "out of memory", "free memory");
	return (rv);
}

/* ------------------------------------------------------------ recording */

/* Is it what the runs before are of?  The first one decides. */
static bool
is_event(struct costs *ct, const char *name, const char *unit)
{
	char *event;
	bool is_it;

	if (asprintf(&event, "%s in %s", name, unit) == -1)
		return (false);
	if (ct->ct_event == NULL)
		ct->ct_event = strdup(event);
	is_it = ct->ct_event != NULL && strcmp(ct->ct_event, event) == 0;
	free(event);
	return (is_it);
}

/* The first of the events asked for that has any weight, in all runs; or -1. */
static long
event_of(struct costs *ct, const struct prof_profile *profile,
    const struct prof_reader *reader, const char *path)
{
	bool *wanted = choose_events("compare", reader,
	    &ct->ct_options->co_events);
	const struct prof_event_info *info;
	long event = -1;

	if (wanted == NULL)
		return (-1);
	for (size_t e = 0; e < prof_reader_nevents(reader) && event == -1;
	    e++) {
		info = prof_reader_event(reader, e);
		if (wanted[e] && prof_profile_weight(profile, e) > 0 &&
		    is_event(ct, info->pi_name, info->pi_unit))
			event = (long)e;
	}
	if (event == -1)
		msg_fail("compare", "record longer, leave it out, or choose "
		    "an event by -e", "%s: no samples in it%s%s", path,
		    ct->ct_event != NULL ? " of " : "",
		    ct->ct_event != NULL ? ct->ct_event : "");
	free(wanted);
	return (event);
}

/* Where a profile comes from, and where its costs go. */
struct source {
	struct costs	*sr_costs;
	int		 sr_side;
	long		 sr_run;
	struct prof_symbols *sr_symbols;
};

static int
add_cost(const struct source *source, const struct prof_label *label,
    double cost)
{
	const struct costs *ct = source->sr_costs;
	const struct prof_function *fu = label->lb_function;
	const char *module = label->lb_module;
	bool is_inlined = fu != NULL && fu->fu_is_inlined;
	char name[1200];

	if (ct->ct_options->co_by == COMPARE_BY_FUNCTION)
		return (prof_comparison_cost(ct->ct_comparison,
		    source->sr_run, label->lb_name, module, is_inlined, cost));
	if (ct->ct_options->co_by == COMPARE_BY_LINE && fu != NULL &&
	    label->lb_kind == PROF_LABEL_PLACE)
		is_inlined = compare_line_name(source->sr_costs,
		    source->sr_side, source->sr_symbols, label, name,
		    sizeof(name));
	else if (ct->ct_options->co_by == COMPARE_BY_LINE || *module == '\0')
		snprintf(name, sizeof(name), "%s", label->lb_name);
	else
		prof_module_base_name(module, name, sizeof(name));
	if (ct->ct_options->co_by == COMPARE_BY_MODULE)
		module = "";
	return (prof_comparison_cost(ct->ct_comparison, source->sr_run, name,
	    module, is_inlined, cost));
}

/* And how far they can be believed. */
static int
add_costs(const struct source *source, const struct prof_profile *profile,
    size_t event)
{
	const uint64_t *self = prof_profile_self(profile, event);
	const size_t nnodes = prof_profile_nnodes(profile);
	const size_t nlabels = prof_profile_nlabels(profile);
	const struct prof_tree_node *nodes = prof_profile_nodes(profile);
	uint64_t *sum = calloc(nlabels + 1, sizeof(*sum));
	struct prof_quality quality;
	int rv = sum == NULL ? -1 : 0;

	prof_profile_quality(profile, event, &quality);
	if (rv == 0 && quality.pq_is_bad)
		rv = prof_comparison_care(source->sr_costs->ct_comparison,
		    source->sr_run, quality.pq_text);
	for (size_t n = 0; n < nnodes && rv == 0; n++)
		sum[nodes[n].pt_label] += self[n];
	for (uint32_t l = 0; l < nlabels && rv == 0; l++)
		if (sum[l] > 0)
			rv = add_cost(source, prof_profile_label(profile, l),
			    (double)sum[l]);
	free(sum);
	return (rv);
}

static int
fail_reading(const char *path, const struct prof_err *error)
{
	msg_fail("compare", error->pe_cure, "%s: %s", path, error->pe_text);
	return (-1);
}

/*
 * Inlined functions too: one build inlines what another calls.  The name is
 * what the user calls the file.
 */
static int
costs_of_recording(struct costs *ct, int side, long run, const char *path,
    const char *name)
{
	const struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_inlines = ct->ct_options->co_by == COMPARE_BY_FUNCTION,
		.pl_places = ct->ct_options->co_by == COMPARE_BY_LINE
	};
	struct source source = { ct, side, run, NULL };
	struct prof_err error = { 0 };
	struct prof_profile *profile = NULL;
	struct prof_reader *reader = prof_reader_open(path, &error);
	long event;
	int rv = -1;

	if (reader != NULL)
		source.sr_symbols = prof_symbols_open(reader, NULL, &error);
	if (source.sr_symbols != NULL)
		profile = prof_profile_new(reader, source.sr_symbols,
		    &options, &error);
	if (profile == NULL) {
		fail_reading(name, &error);
		goto out;
	}
	input_say_cut("compare", reader);
	event = event_of(ct, profile, reader, name);
	if (event != -1 && add_costs(&source, profile, (size_t)event) == 0)
		rv = 0;
	else if (event != -1)
		fail_reading(name, prof_comparison_error(ct->ct_comparison));
out:
	prof_profile_free(profile);
	prof_symbols_close(source.sr_symbols);
	if (reader != NULL)
		prof_reader_close(reader);
	return (rv);
}

/* ------------------------------------------------- other tools' files */

static int
costs_of_import(struct costs *ct, int side, long run, const char *path)
{
	char directory[FILE_SCRATCH], output[FILE_SCRATCH + 8];
	const struct prof_import_options options = {
		.im_size = sizeof(options), .im_input = path,
		.im_output = output
	};
	struct prof_err error = { 0 };
	struct prof_import *import;
	const char *note;
	int rv = -1;

	if (file_scratch("compare", directory) == -1)
		return (-1);
	snprintf(output, sizeof(output), "%s/x.dtp", directory);
	import = prof_import_new(&options, &error);
	if (import == NULL)
		fail_reading(path, &error);
	for (size_t i = 0; import != NULL &&
	    (note = prof_import_note(import, i)) != NULL; i++)
		msg_note("compare", "%s: %s", path, note);
	if (import != NULL)
		rv = costs_of_recording(ct, side, run, output, path);
	prof_import_free(import);
	(void)unlink(output);
	(void)rmdir(directory);
	return (rv);
}

/* --------------------------------------------------------------- folded */

/* "a;b;c 12": cuts it behind the c, which begins at *leaf; 0: no number. */
static double
cut_line(char *line, char **leaf)
{
	char *blank = strrchr(line, ' '), *end, *semicolon;
	double cost;

	if (blank == NULL || blank == line)
		return (0);
	cost = strtod(blank + 1, &end);
	if (end == blank + 1 || *end != '\0' || !isfinite(cost) || cost < 0)
		return (0);
	*blank = '\0';
	semicolon = strrchr(line, ';');
	*leaf = semicolon != NULL ? semicolon + 1 : line;
	return (cost);
}

static int
costs_of_folded(struct prof_comparison *cp, long run, const char *path)
{
	size_t length, number = 0, used = 0;
	char *text = file_read(path, &length), *line, *rest = text;

	if (text == NULL) {
		msg_fail("compare", "check the file", "%s: %s", path,
		    strerror(errno));
		return (-1);
	}
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *leaf = NULL;
		const double cost = cut_line(line, &leaf);

		number++;
		if (*line == '\0' || (cost == 0 && leaf != NULL))
			continue;
		if (leaf == NULL) {
			msg_fail("compare", "give recordings, folded files, "
			    "profiles of pprof, a bench directory, or JSON of "
			    "stat or hyperfine",
			    "%s: line %zu is not a folded stack", path,
			    number);
			break;
		}
		if (prof_comparison_cost(cp, run, leaf, "", 0, cost) == -1) {
			fail_reading(path, prof_comparison_error(cp));
			break;
		}
		used++;
	}
	free(text);
	if (line == NULL && used == 0)
		msg_fail("compare", "check the file", "%s: it is empty",
		    path);
	return (line == NULL && used > 0 ? 0 : -1);
}

int
compare_costs(struct costs *ct, int side, long run, const char *path)
{
	const struct kind *kind = kind_of(path);

	if (kind == NULL && !is_event(ct, "stacks", "whatever is folded")) {
		msg_fail("compare", "compare files of one kind", "%s: folded "
		    "stacks, beside %s", path, ct->ct_event);
		return (-1);
	}
	if (kind == NULL)
		return (costs_of_folded(ct->ct_comparison, run, path));
	return (kind->kd_is_ours ? costs_of_recording(ct, side, run, path,
	    path) : costs_of_import(ct, side, run, path));
}

void
compare_costs_free(struct costs *ct)
{
	compare_lines_free(ct);
	free(ct->ct_event);
	ct->ct_event = NULL;
}
