/* SPDX-License-Identifier: ISC */
/*
 * What functions cost in one run, of a recording or of what import reads, by
 * its profile.
 *
 * Called by compare_runs.c, run by run; a recording is closed again before
 * the next one is opened, so that hundreds of them fit.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	if (reader == NULL)
		return (msg_prof("compare", &error));
	stream = open_memstream(&text, &length);
	for (size_t i = 0; stream != NULL &&
	    i < sizeof(traits) / sizeof(traits[0]); i++) {
		snprintf(key, sizeof(key), "machine.%s", traits[i]);
		if (prof_reader_info(reader, key) != NULL)
			fprintf(stream, "%s: %s\n", traits[i],
			    prof_reader_info(reader, key));
	}
	prof_reader_close(reader);
	if (stream == NULL || fclose(stream) != 0)
		return (msg_error("compare", "out of memory", "free memory"));
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
	bool *wanted = choose_events(ct->ct_command, reader, ct->ct_events);
	const struct prof_event_info *info;
	long event = -1;

	if (wanted == NULL)
		return (-1);
	for (size_t e = 0; e < prof_reader_nevents(reader) && event == -1;
	    e++) {
		info = prof_reader_event(reader, e);
		/* A picture has runs without samples, which cost nothing. */
		if (wanted[e] && choose_is_side(info, side) &&
		    (prof_profile_weight(profile, e) > 0 ||
		    (ct->ct_difference != NULL && ct->ct_event != NULL)) &&
		    is_event(ct, info))
			event = (long)e;
	}
	if (event == -1)
		msg_fail(ct->ct_command, "record longer, leave it out, or "
		    "choose an event with -e", "%s: no samples%s%s", path,
		    ct->ct_event != NULL ? " of " : "",
		    ct->ct_event != NULL ? ct->ct_event : "");
	free(wanted);
	return (event);
}

/* Whose costs a profile's are, where not functions'. */
struct source {
	struct costs	*sr_costs;
	int		 sr_side;
	struct prof_symbols *sr_symbols;
	char		 sr_name[1200];
};

static void
item_of(void *arg, const struct prof_label *label, struct prof_item *item)
{
	struct source *source = arg;
	struct costs *ct = source->sr_costs;
	const struct prof_function *fu = label->lb_function;
	const char *module = label->lb_module;
	const size_t size = sizeof(source->sr_name);

	item->it_name = source->sr_name;
	item->it_module = ct->ct_by == COMPARE_BY_MODULE ? "" : module;
	item->it_is_inlined = fu != NULL && fu->fu_is_inlined;
	if (ct->ct_by == COMPARE_BY_LINE && fu != NULL &&
	    label->lb_kind == PROF_LABEL_PLACE)
		item->it_is_inlined = compare_line_name(ct, source->sr_side,
		    source->sr_symbols, label, source->sr_name, size);
	else if (ct->ct_by == COMPARE_BY_LINE || *module == '\0')
		snprintf(source->sr_name, size, "%s", label->lb_name);
	else
		prof_module_base_name(module, source->sr_name, size);
}

/* NULL: it was added. */
static const struct prof_err *
add_profile(struct source *source, long run,
    const struct prof_profile *profile, size_t event)
{
	const struct costs *ct = source->sr_costs;
	struct prof_comparison *cp = ct->ct_comparison;
	int rv;

	if (ct->ct_difference != NULL)
		return (prof_difference_add(ct->ct_difference, run, profile,
		    event) == 0 ? NULL :
		    prof_difference_error(ct->ct_difference));
	rv = ct->ct_by == COMPARE_BY_FUNCTION ?
	    prof_comparison_profile(cp, run, profile, event) :
	    prof_comparison_items(cp, run, profile, event, item_of, source);
	return (rv == 0 ? NULL : prof_comparison_error(cp));
}

static int
fail_reading(const struct costs *ct, const char *path,
    const struct prof_err *error)
{
	return (msg_fail(ct->ct_command, error->pe_cure, "%s: %s", path,
	    error->pe_text));
}

static int
read_costs(struct source *source, long run, const char *path,
    struct prof_reader *reader, const struct prof_profile_options *options)
{
	struct costs *ct = source->sr_costs;
	struct prof_profile *profile = NULL;
	struct prof_err error = { 0 };
	const struct prof_err *why = &error;
	long event = -1;

	source->sr_symbols = prof_symbols_open(reader, NULL, &error);
	if (source->sr_symbols != NULL)
		profile = prof_profile_new(reader, source->sr_symbols,
		    options, &error);
	/* That a chunk is damaged may show when it is decoded. */
	input_say_cut(ct->ct_command, reader);
	if (profile != NULL) {
		why = NULL;
		event = event_of(ct, profile, reader, path, source->sr_side);
	}
	if (event != -1)
		why = add_profile(source, run, profile, (size_t)event);
	if (why != NULL)
		(void)fail_reading(ct, path, why);
	prof_profile_free(profile);
	prof_symbols_close(source->sr_symbols);
	return (event == -1 || why != NULL ? -1 : 0);
}

int
compare_costs(struct costs *ct, int side, long run, const char *path)
{
	struct prof_profile_options options = ct->ct_profile;
	struct source source = { .sr_costs = ct, .sr_side = side };
	struct prof_err error = { 0 };
	struct prof_reader *reader = input_read(ct->ct_command, path, &error);
	int rv = 0;

	if (reader == NULL)
		return (fail_reading(ct, path, &error));
	options.pl_filter = ct->ct_filter[side];
	if (ct->ct_time[side] != NULL)
		rv = choose_range(ct->ct_command, reader, ct->ct_time[side],
		    &options);
	if (rv == 0)
		rv = read_costs(&source, run, path, reader, &options);
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
