/* SPDX-License-Identifier: ISC */
/*
 * Folded stacks: a line for each different stack, "root;...;leaf COUNT", as
 * flame graph scripts have read them for years.  The name of the thread comes
 * first.  One event; the first of those that are asked for.
 *
 * Called by export.c.  Lines stand in the order of the tree, so the same
 * recording gives the same bytes.
 */
#include <stdlib.h>

#include "export.h"

static void
put_line(const struct prof_flame *flame, uint32_t node, uint64_t value,
    uint32_t *path, struct prof_buf *out)
{
	const struct prof_tree_node *nodes = flame->fm_node;
	size_t depth = 0;

	for (; node != 0; node = nodes[node].pt_parent)
		path[depth++] = nodes[node].pt_label;
	while (depth > 0) {
		prof_put_frame(out, prof_profile_label(flame->fm_profile,
		    path[--depth])->lb_name);
		prof_put_str(out, depth > 0 ? ";" : "");
	}
	prof_put_str(out, " ");
	prof_export_put(flame, 0, value, out);
	prof_put_str(out, "\n");
}

int
prof_write_folded(const struct prof_flame *flame, struct prof_buf *out)
{
	const uint64_t *values;
	uint32_t *path;
	uint32_t n;

	if (flame->fm_nevents == 0)
		return (0);
	values = prof_export_values(flame, 0);
	path = calloc(flame->fm_nnodes + 1, sizeof(*path));
	for (n = 1; values != NULL && path != NULL && n < flame->fm_nnodes;
	    n++)
		if (values[n] > 0 && prof_export_fits(flame, out))
			put_line(flame, n, values[n], path, out);
	free(path);
	if (values == NULL || path == NULL || out->bf_failed)
		return (-1);
	return (prof_export_fits(flame, out) ? 0 : PROF_TOO_LARGE);
}
