/* SPDX-License-Identifier: ISC */
/*
 * The list of this kernel's tracepoints: names and groups from tracefs,
 * names alone from BTF where tracefs cannot be had or does not know them
 * (tracepoints without an event in tracefs).  Made once per names handle,
 * sorted by name.  Called by the static provider, the catalog and suggest.c.
 * The events of the group "syscalls" are not tracepoints: they belong to
 * the syscall provider.
 */
#include <bpf/btf.h>

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"
#include "names.h"

#define BTF_TRACE	"btf_trace_"
#define BTF_ITER	"__traceiter_"

static int	tracepoints_add(struct prof_names *names, const char *group,
		    const char *name, uint32_t types);
static void	tracepoints_iterators(struct prof_names *names);
static int	tracepoints_from_btf(struct prof_names *names);
static void	tracepoints_merge(struct prof_names *names);
static struct prof_tracepoint *tracepoint_search(struct prof_names *names,
		    const char *name);
static int	tracepoint_order(const void *a, const void *b);

const struct prof_tracepoint *
prof_tracepoints(struct prof_names *names, size_t *n)
{
	char *text;

	if (!names->nm_tps_tried) {
		names->nm_tps_tried = true;
		text = prof_names_tracefs_read(names, "available_events");
		if (text != NULL)
			prof_tracepoints_parse(names, text);
		free(text);
		tracepoints_from_btf(names);
		tracepoints_merge(names);
		tracepoints_iterators(names);
	}
	*n = names->nm_ntps;
	return (names->nm_tps);
}

/* Lines of "group:name". */
int
prof_tracepoints_parse(struct prof_names *names, char *text)
{
	char *line, *colon;

	while ((line = strsep(&text, "\n")) != NULL) {
		if ((colon = strchr(line, ':')) == NULL)
			continue;
		*colon = '\0';
		if (strcmp(line, "syscalls") == 0 ||
		    strcmp(line, "ftrace") == 0)
			continue;
		if (tracepoints_add(names, line, colon + 1, 0) == -1)
			return (-1);
	}
	if (names->nm_ntps != 0)
		tracepoints_merge(names);
	return (0);
}

static int
tracepoints_add(struct prof_names *names, const char *group,
    const char *name, uint32_t types)
{
	struct prof_tracepoint *tp = prof_grow(&names->nm_tps, &names->nm_ntps,
	    &names->nm_captps, sizeof(*tp));

	if (tp == NULL)
		return (-1);
	tp->tp_group = strdup(group);
	tp->tp_name = strdup(name);
	tp->tp_types = types;
	if (tp->tp_group != NULL && tp->tp_name != NULL)
		return (0);
	free(tp->tp_group);
	free(tp->tp_name);
	names->nm_ntps--;
	return (-1);
}

static int
tracepoints_from_btf(struct prof_names *names)
{
	struct btf *btf = prof_names_btf(names);
	const struct btf_type *type;
	const char *name;

	if (btf == NULL)
		return (0);
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		type = btf__type_by_id(btf, id);
		if (!btf_is_typedef(type))
			continue;
		name = btf__name_by_offset(btf, type->name_off);
		if (name == NULL ||
		    strncmp(name, BTF_TRACE, sizeof(BTF_TRACE) - 1) != 0)
			continue;
		if (tracepoints_add(names, "",
		    name + sizeof(BTF_TRACE) - 1, id) == -1)
			return (-1);
	}
	return (0);
}

/* Sort, and let the entry that knows its group win. */
static void
tracepoints_merge(struct prof_names *names)
{
	struct prof_tracepoint *tps = names->nm_tps;
	size_t kept = 0;

	if (names->nm_ntps == 0)
		return;
	qsort(tps, names->nm_ntps, sizeof(*tps), tracepoint_order);
	for (size_t n = 0; n < names->nm_ntps; n++) {
		if (kept != 0 &&
		    strcmp(tps[kept - 1].tp_name, tps[n].tp_name) == 0) {
			tps[kept - 1].tp_types |= tps[n].tp_types;
			free(tps[n].tp_group);
			free(tps[n].tp_name);
			continue;
		}
		tps[kept++] = tps[n];
	}
	names->nm_ntps = kept;
}

static int
tracepoint_order(const void *a, const void *b)
{
	const struct prof_tracepoint *x = a, *y = b;
	int by_name = strcmp(x->tp_name, y->tp_name);

	if (by_name != 0)
		return (by_name);
	/* A known group sorts before "". */
	return (strcmp(y->tp_group, x->tp_group));
}

/* The functions whose parameters have the names. */
static void
tracepoints_iterators(struct prof_names *names)
{
	struct btf *btf = prof_names_btf(names);
	const struct btf_type *type;
	struct prof_tracepoint *tp;
	const char *name;

	if (btf == NULL)
		return;
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		type = btf__type_by_id(btf, id);
		if (!btf_is_func(type))
			continue;
		name = btf__name_by_offset(btf, type->name_off);
		if (name == NULL ||
		    strncmp(name, BTF_ITER, sizeof(BTF_ITER) - 1) != 0)
			continue;
		tp = tracepoint_search(names, name + sizeof(BTF_ITER) - 1);
		if (tp != NULL)
			tp->tp_names = id;
	}
}

static struct prof_tracepoint *
tracepoint_search(struct prof_names *names, const char *name)
{
	const size_t n = PROF_BEFORE(i, names->nm_ntps,
	    strcmp(names->nm_tps[i].tp_name, name) < 0);

	return (n < names->nm_ntps && strcmp(names->nm_tps[n].tp_name,
	    name) == 0 ? &names->nm_tps[n] : NULL);
}

const struct prof_tracepoint *
prof_tracepoint_find(struct prof_names *names, const char *name)
{
	size_t n;

	prof_tracepoints(names, &n);
	return (tracepoint_search(names, name));
}

void
prof_tracepoints_free(struct prof_names *names)
{
	for (size_t n = 0; n < names->nm_ntps; n++) {
		free(names->nm_tps[n].tp_group);
		free(names->nm_tps[n].tp_name);
	}
	free(names->nm_tps);
}
