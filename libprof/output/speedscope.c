/* SPDX-License-Identifier: ISC */
/*
 * The JSON file of speedscope: the functions once, then a sampled profile for
 * each event.  Stacks stand root first, equal ones are one, with the sum of
 * their weights; so "Time Order" shows them in the order of the tree.
 *
 * Called by export.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "export.h"

/* One file being written. */
struct scope {
	const struct prof_flame *sc_flame;
	struct prof_buf	*sc_out;
	uint32_t	*sc_frame;	/* by label: frame + 1 */
	uint32_t	*sc_path;
};

static void
put_frame(struct scope *scope, const struct prof_label *label, bool is_first)
{
	struct prof_buf *out = scope->sc_out;
	unsigned line;
	size_t n = prof_export_source(label, &line);
	char *file;

	prof_put_str(out, is_first ? "\n{\"name\":" : ",\n{\"name\":");
	prof_put_json(out, prof_export_name(label));
	if (n > 0) {
		file = strndup(label->lb_name, n);
		prof_put_str(out, ",\"file\":");
		prof_put_json(out, file == NULL ? "" : file);
		prof_put_fmt(out, ",\"line\":%u", line);
		free(file);
	} else if (label->lb_module[0] != '\0') {
		prof_put_str(out, ",\"file\":");
		prof_put_json(out, label->lb_module);
	}
	prof_put_str(out, "}");
}

/* The labels that nodes have, in the order in which nodes come to them. */
static void
put_frames(struct scope *scope)
{
	const struct prof_flame *flame = scope->sc_flame;
	uint32_t n, label, frames = 0;

	for (n = 1; n < flame->fm_nnodes; n++) {
		label = flame->fm_node[n].pt_label;
		if (scope->sc_frame[label] != 0)
			continue;
		put_frame(scope, prof_profile_label(flame->fm_profile, label),
		    frames == 0);
		scope->sc_frame[label] = ++frames;
	}
}

static void
put_stack(struct scope *scope, uint32_t node)
{
	const struct prof_tree_node *nodes = scope->sc_flame->fm_node;
	size_t depth = 0;

	for (; node != 0; node = nodes[node].pt_parent)
		scope->sc_path[depth++] =
		    scope->sc_frame[nodes[node].pt_label] - 1;
	prof_put_str(scope->sc_out, "[");
	while (depth > 0) {
		prof_put_fmt(scope->sc_out, "%" PRIu32,
		    scope->sc_path[--depth]);
		prof_put_str(scope->sc_out, depth > 0 ? "," : "]");
	}
}

/* Both lists have an entry for each node with a value. */
static void
put_lists(struct scope *scope, size_t event, const uint64_t *values)
{
	struct prof_buf *out = scope->sc_out;
	const char *comma = "\n";
	uint32_t n;

	prof_put_str(out, "\"samples\":[");
	for (n = 1; n < scope->sc_flame->fm_nnodes; n++) {
		if (values[n] == 0 ||
		    !prof_export_fits(scope->sc_flame, out))
			continue;
		prof_put_str(out, comma);
		put_stack(scope, n);
		comma = ",\n";
	}
	prof_put_str(out, "],\n\"weights\":[");
	comma = "";
	for (n = 1; n < scope->sc_flame->fm_nnodes; n++) {
		if (values[n] == 0)
			continue;
		prof_put_str(out, comma);
		prof_export_put(scope->sc_flame, event, values[n], out);
		comma = ",";
	}
	prof_put_str(out, "]");
}

static int
put_profile(struct scope *scope, size_t event)
{
	const struct prof_flame *flame = scope->sc_flame;
	const struct prof_event_info *info = flame->fm_event[event].fe_info;
	const uint64_t *values = prof_export_values(flame, event);
	const char *unit = flame->fm_options.fl_samples ? "" :
	    prof_export_unit(info);
	struct prof_buf *out = scope->sc_out;
	uint64_t sum = 0;
	uint32_t n;

	if (values == NULL)
		return (-1);
	for (n = 0; n < flame->fm_nnodes; n++)
		sum += values[n];
	prof_put_str(out, event > 0 ? ",\n" : "\n");
	prof_put_str(out, "{\"type\":\"sampled\",\"name\":");
	prof_put_json(out, info->pi_name);
	prof_put_fmt(out, ",\"unit\":\"%s\",\"startValue\":0,"
	    "\"endValue\":", unit[0] == '\0' ? "none" : unit);
	prof_export_put(flame, event, sum, out);
	prof_put_str(out, ",\n");
	put_lists(scope, event, values);
	prof_put_str(out, "}");
	return (0);
}

static int
put_file(struct scope *scope)
{
	const struct prof_flame *flame = scope->sc_flame;
	struct prof_buf *out = scope->sc_out;
	size_t e;

	prof_put_str(out, "{\"$schema\":"
	    "\"https://www.speedscope.app/file-format-schema.json\",\n"
	    "\"exporter\":\"dtprof@");
	prof_put_str(out, prof_version());
	prof_put_str(out, "\",\n\"name\":");
	prof_put_json(out, flame->fm_title);
	prof_put_str(out, ",\n\"activeProfileIndex\":0,\n"
	    "\"shared\":{\"frames\":[");
	put_frames(scope);
	prof_put_str(out, "]},\n\"profiles\":[");
	for (e = 0; e < flame->fm_nevents; e++)
		if (put_profile(scope, e) == -1)
			return (-1);
	prof_put_str(out, "]}\n");
	if (out->bf_failed)
		return (-1);
	return (prof_export_fits(flame, out) ? 0 : PROF_TOO_LARGE);
}

int
prof_write_speedscope(const struct prof_flame *flame, struct prof_buf *out)
{
	struct scope scope = { .sc_flame = flame, .sc_out = out };
	int rv = -1;

	scope.sc_frame = calloc(prof_profile_nlabels(flame->fm_profile) + 1,
	    sizeof(*scope.sc_frame));
	scope.sc_path = calloc(flame->fm_nnodes + 1, sizeof(*scope.sc_path));
	if (scope.sc_frame != NULL && scope.sc_path != NULL)
		rv = put_file(&scope);
	free(scope.sc_frame);
	free(scope.sc_path);
	return (rv);
}
