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

const char *const compare_traits[] = {
	"kernel", "arch", "cpu_model", "cpus", NULL
};

/* "kernel: 6.1\ncpus: 2\n", owned; NULL: no memory. */
static char *
traits_of(const struct prof_reader *reader)
{
	char *text, key[64];
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return (NULL);
	for (size_t i = 0; compare_traits[i] != NULL; i++) {
		snprintf(key, sizeof(key), "machine.%s", compare_traits[i]);
		if (prof_reader_info(reader, key) != NULL)
			fprintf(stream, "%s: %s\n", compare_traits[i],
			    prof_reader_info(reader, key));
	}
	return (fclose(stream) == 0 ? text : NULL);
}

int
compare_machine_of(struct series *series, struct series_run *run)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader;
	const char *host;
	int rv;

	if (prof_store_is_url(run->sr_profile))
		reader = input_read("compare", run->sr_profile, &error);
	else if (compare_is_recording(run->sr_profile)) {
		file_narrow(run->sr_profile);
		reader = prof_reader_open(run->sr_profile, &error);
	} else
		return (0);
	if (reader == NULL)
		return (msg_prof("compare", &error));
	run->sr_traits = traits_of(reader);
	host = prof_reader_info(reader, "machine.host");
	if (host != NULL)
		run->sr_host = strdup(host);
	rv = run->sr_traits == NULL || (host != NULL &&
	    run->sr_host == NULL) ||
	    compare_add_machine(series, run->sr_traits) == -1 ?
	    msg_error("compare", "out of memory", "free memory") : 0;
	prof_reader_close(reader);
	return (rv);
}

/* ------------------------------------------------------- units of work */

/* Events that begin a span of this name; false: there is none. */
static bool
span_begins(const struct prof_reader *reader, const char *name, bool *is_unit)
{
	const char *of, *text;
	bool found = false;
	char key[48], *end;

	for (size_t n = 0; !found; n++) {
		snprintf(key, sizeof(key), "span.%zu.name", n);
		of = prof_reader_info(reader, key);
		snprintf(key, sizeof(key), "span.%zu.begin", n);
		text = prof_reader_info(reader, key);
		if (of == NULL || text == NULL)
			return (false);
		found = strcmp(of, name) == 0;
	}
	for (; *text != '\0'; text = *end == ' ' ? end + 1 : end) {
		const unsigned long event = strtoul(text, &end, 10);

		if (end == text || event >= prof_reader_nevents(reader))
			return (false);
		is_unit[event] = true;
	}
	return (true);
}

bool *
compare_unit_events(const struct costs *ct, const struct prof_reader *reader,
    const char *path)
{
	const char *one[] = { ct->ct_per };
	const struct opt_strings names = { .os_text = one, .os_n = 1 };
	bool *is_unit;

	if (ct->ct_per != NULL && strncmp(ct->ct_per, "span:", 5) != 0)
		return (choose_events(ct->ct_command, reader, &names));
	is_unit = calloc(prof_reader_nevents(reader) + 1, sizeof(*is_unit));
	if (is_unit == NULL)
		msg_error(ct->ct_command, "out of memory", "free memory");
	else if (ct->ct_per != NULL && !span_begins(reader, ct->ct_per + 5,
	    is_unit)) {
		msg_fail(ct->ct_command, "list the spans of a recording with "
		    "dtprof report --by span",
		    "%s: --per %s: no such span in this recording", path,
		    ct->ct_per);
		free(is_unit);
		is_unit = NULL;
	}
	return (is_unit);
}

double
compare_units(const struct prof_reader *reader,
    const struct prof_profile *profile, const bool *is_unit)
{
	double units = 0;
	const char *unit;

	for (size_t e = 1; e < prof_reader_nevents(reader); e++)
		if (is_unit[e])
			units += (double)prof_profile_weight(profile, e) /
			    (double)prof_unit_scale(prof_reader_event(reader,
			    e)->pi_unit, &unit);
	return (units);
}

/* "CPU per handle", in ns, of cpu-clock and uprobe:/srv/api:handle. */
int
compare_name_total(const struct costs *ct)
{
	const char *in = ct->ct_event == NULL ? NULL :
	    strstr(ct->ct_event, " in "), *per = ct->ct_per, *colon;
	bool is_cpu;
	char *name;
	int rv;

	if (in == NULL || (per == NULL && ct->ct_states == 0))
		return (0);
	colon = per == NULL ? NULL : strrchr(per, ':');
	is_cpu = strncmp(ct->ct_event, "cpu-clock ", 10) == 0 ||
	    strncmp(ct->ct_event, "task-clock ", 11) == 0;
	if ((per == NULL ? asprintf(&name, "elapsed thread time") :
	    asprintf(&name, "%.*s per %s", is_cpu ? 3 :
	    (int)(in - ct->ct_event), is_cpu ? "CPU" : ct->ct_event, colon !=
	    NULL && colon[1] != '\0' ? colon + 1 : per)) == -1)
		return (msg_error(ct->ct_command, "out of memory",
		    "free memory"));
	rv = prof_comparison_call_total(ct->ct_comparison, name, in + 4);
	free(name);
	return (rv == 0 ? 0 : msg_prof(ct->ct_command,
	    prof_comparison_error(ct->ct_comparison)));
}

/* ------------------------------------------------------------ recording */

bool
compare_is_event(struct costs *ct, const struct prof_event_info *info)
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

/* Whose costs a profile's are, where not functions'. */
struct source {
	struct costs	*sr_costs;
	int		 sr_side;
	struct prof_symbols *sr_symbols;
	bool		*sr_is_unit;	/* by event */
	bool		*sr_is_wanted;	/* the same */
	char		 sr_name[1200];
};

/* The first of the events asked for that has any weight, in all runs; or -1. */
static long
event_of(struct costs *ct, const struct prof_profile *profile,
    const struct prof_reader *reader, const char *path,
    const struct source *source)
{
	const int side = source->sr_side;
	const struct prof_event_info *info;
	long event = -1;

	for (size_t e = 0; e < prof_reader_nevents(reader) && event == -1;
	    e++) {
		info = prof_reader_event(reader, e);
		/* A picture has runs without samples, which cost nothing. */
		if (source->sr_is_wanted[e] && !source->sr_is_unit[e] &&
		    choose_is_side(info, side) &&
		    (prof_profile_weight(profile, e) > 0 ||
		    (ct->ct_difference != NULL && ct->ct_event != NULL)) &&
		    compare_is_event(ct, info))
			event = (long)e;
	}
	if (event == -1)
		msg_fail(ct->ct_command, "record longer, leave this recording "
		    "out, or choose an event with -e", "%s: no samples%s%s",
		    path,
		    ct->ct_event != NULL ? " of " : "",
		    ct->ct_event != NULL ? ct->ct_event : "");
	return (event);
}

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

static const struct prof_err *
add_units(const struct source *source, long run,
    const struct prof_profile *profile, const struct prof_reader *reader)
{
	struct prof_comparison *cp = source->sr_costs->ct_comparison;

	return (prof_comparison_units(cp, run, compare_units(reader, profile,
	    source->sr_is_unit)) == 0 ? NULL : prof_comparison_error(cp));
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
	if (source->sr_symbols != NULL) {
		prof_symbols_share(source->sr_symbols, &ct->ct_shared);
		profile = prof_profile_new(reader, source->sr_symbols,
		    options, &error);
	}
	/* That a chunk is damaged may show when it is decoded. */
	input_say_cut(ct->ct_command, reader);
	if (profile != NULL) {
		why = NULL;
		event = event_of(ct, profile, reader, path, source);
	}
	if (event != -1)
		why = add_profile(source, run, profile, (size_t)event);
	if (event != -1 && why == NULL && ct->ct_per != NULL)
		why = add_units(source, run, profile, reader);
	if (why != NULL)
		(void)fail_reading(ct, path, why);
	prof_profile_free(profile);
	prof_symbols_close(source->sr_symbols);
	return (event == -1 || why != NULL ? -1 : 0);
}

/* Which events may cost, and which samples of them. */
static int
source_choose(struct source *source, struct prof_reader *reader,
    const char *path, struct prof_profile_options *options, char **joined)
{
	struct costs *ct = source->sr_costs;

	options->pl_filter = ct->ct_filter[source->sr_side];
	if (ct->ct_states != 0 && prof_reader_elapsed(reader) == -1)
		return (fail_reading(ct, path, prof_reader_error(reader)));
	if (ct->ct_states != 0)
		choose_add_short(&ct->ct_short, reader);
	source->sr_is_wanted = ct->ct_states != 0 ?
	    choose_elapsed(ct->ct_command, reader, ct->ct_states,
	    &options->pl_filter, joined) :
	    choose_events(ct->ct_command, reader, ct->ct_events);
	source->sr_is_unit = compare_unit_events(ct, reader, path);
	return (source->sr_is_wanted == NULL || source->sr_is_unit == NULL ?
	    -1 : 0);
}

int
compare_costs(struct costs *ct, int side, long run, const char *path)
{
	struct prof_profile_options options = ct->ct_profile;
	struct source source = { .sr_costs = ct, .sr_side = side };
	struct prof_err error = { 0 };
	struct prof_reader *reader = input_read(ct->ct_command, path, &error);
	char *joined = NULL;
	int rv = 0;

	if (reader == NULL)
		return (fail_reading(ct, path, &error));
	if (ct->ct_time[side] != NULL)
		rv = choose_range(ct->ct_command, reader, ct->ct_time[side],
		    &options);
	if (rv == 0)
		rv = source_choose(&source, reader, path, &options, &joined);
	if (rv == 0)
		rv = read_costs(&source, run, path, reader, &options);
	free(joined);
	free(source.sr_is_wanted);
	free(source.sr_is_unit);
	prof_reader_close(reader);
	return (rv);
}

void
compare_costs_free(struct costs *ct)
{
	compare_lines_free(ct);
	prof_symbols_shared_fini(&ct->ct_shared);
	free(ct->ct_event);
	ct->ct_event = NULL;
}
