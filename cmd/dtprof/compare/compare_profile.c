/* SPDX-License-Identifier: ISC */
/*
 * What functions cost in one run, of a recording or of what import reads, by
 * its profile.
 *
 * Called by cmd_compare.c, run by run; a recording is closed again before
 * the next one is opened, so that hundreds of them fit.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../opt/choose.h"
#include "../ui/json.h"
#include "compare.h"

bool
compare_is_recording(const char *path)
{
	static const char magic[4] = "\x89" "DTP";
	char begin[sizeof(magic)];
	const int fd = prof_reading_open(path, 0);
	const ssize_t n = fd == -1 ? -1 : read(fd, begin, sizeof(begin));

	if (fd != -1)
		close(fd);
	return (n == (ssize_t)sizeof(begin) &&
	    memcmp(begin, magic, sizeof(magic)) == 0);
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
	file_narrow(path);
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
is_event(struct costs *ct, const struct prof_event_info *info)
{
	const char *name = choose_is_column(info) ? "samples" :
	    info->pi_name, *unit;
	char *event;
	bool is_it;

	(void)prof_unit_scale(info->pi_unit, &unit);
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
    const struct prof_reader *reader, const char *path, int side)
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
		if (wanted[e] && choose_is_side(info, side) &&
		    prof_profile_weight(profile, e) > 0 && is_event(ct, info))
			event = (long)e;
	}
	if (event == -1)
		msg_fail("compare", "record longer, leave it out, or choose an "
		    "event with -e", "%s: no samples%s%s", path,
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

/* And how reliable they are. */
static int
add_costs(const struct source *source, const struct prof_reader *reader,
    const struct prof_profile *profile, size_t event)
{
	const char *name;
	const double scale = (double)prof_unit_scale(prof_reader_event(
	    reader, event)->pi_unit, &name);
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
			    (double)sum[l] / scale);
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
 * Inlined functions too: one build inlines what another calls.
 */
int
compare_costs(struct costs *ct, int side, long run, const char *path)
{
	const struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_inlines = ct->ct_options->co_by == COMPARE_BY_FUNCTION,
		.pl_places = ct->ct_options->co_by == COMPARE_BY_LINE
	};
	struct source source = { ct, side, run, NULL };
	struct prof_err error = { 0 };
	struct prof_profile *profile = NULL;
	struct prof_reader *reader = input_read("compare", path, &error);
	long event;
	int rv = -1;

	if (reader != NULL)
		source.sr_symbols = prof_symbols_open(reader, NULL, &error);
	if (source.sr_symbols != NULL)
		profile = prof_profile_new(reader, source.sr_symbols,
		    &options, &error);
	if (profile == NULL) {
		fail_reading(path, &error);
		goto out;
	}
	input_say_cut("compare", reader);
	event = event_of(ct, profile, reader, path, side);
	if (event != -1 && add_costs(&source, reader, profile,
	    (size_t)event) == 0)
		rv = 0;
	else if (event != -1)
		fail_reading(path, prof_comparison_error(ct->ct_comparison));
out:
	prof_profile_free(profile);
	prof_symbols_close(source.sr_symbols);
	if (reader != NULL)
		prof_reader_close(reader);
	return (rv);
}

void
compare_costs_free(struct costs *ct)
{
	compare_lines_free(ct);
	free(ct->ct_event);
	ct->ct_event = NULL;
}
