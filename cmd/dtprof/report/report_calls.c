/* SPDX-License-Identifier: ISC */
/*
 * report --callers F and --callees F.  Every stack with F in it counts once:
 * for callers, by what stands above its outermost F; for callees, by what
 * stands below its innermost F, which is F itself ("[self]") where F was
 * running.  So both sum to F's total, also when F calls itself.
 *
 * Called by cmd_report.c in the place of report_table.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define NONE	UINT32_MAX

struct calls {
	const struct prof_profile *ca_profile;
	const struct prof_tree_node *ca_node;
	size_t		 ca_nnodes;
	bool		*ca_is_it;	/* by label: is it F */
	bool		 ca_callees;
	uint32_t	*ca_key;	/* by node: label of its row, or NONE */
	uint32_t	*ca_row;	/* by label: its row, or NONE */
	struct report_table *ca_table;
};

/* Rows that are no function have numbers behind those of the labels. */
#define EXTRA_SELF	0
#define EXTRA_OUTERMOST	1
#define EXTRAS		2

static const char *const extra_names[EXTRAS] = {
	"[self]", "[no caller: outermost frame]"
};

/* The name itself, else what the glob matches. */
static size_t
find_function(struct calls *calls, const char *function)
{
	const size_t nlabels = prof_profile_nlabels(calls->ca_profile);
	const struct prof_label *label;
	size_t found = 0;

	for (int is_glob = 0; is_glob < 2 && found == 0; is_glob++) {
		for (uint32_t i = 0; i < nlabels; i++) {
			label = prof_profile_label(calls->ca_profile, i);
			if (label->lb_kind != PROF_LABEL_FUNCTION)
				continue;
			calls->ca_is_it[i] = is_glob ?
			    fnmatch(function, label->lb_name, 0) == 0 :
			    strcmp(function, label->lb_name) == 0;
			found += calls->ca_is_it[i];
		}
	}
	return (found);
}

static void
say_nearest(const struct calls *calls, const char *function, bool callees)
{
	const size_t nlabels = prof_profile_nlabels(calls->ca_profile);
	const char **names = calloc(nlabels + 1, sizeof(*names)), *nearest;
	char cure[256] = "list functions with dtprof report, or dtprof report "
	    "--inline; * and ? match any characters";

	for (uint32_t i = 0; names != NULL && i < nlabels; i++)
		names[i] = prof_profile_label(calls->ca_profile, i)->lb_name;
	nearest = names == NULL ? NULL : opt_nearest(function, names);
	if (nearest != NULL)
		snprintf(cure, sizeof(cure), "did you mean %.200s?", nearest);
	msg_fail("report", cure, "--calle%ss %s: no such function in this "
	    "recording", callees ? "e" : "r", function);
	free(names);
}

/*
 * Nodes in order of the tree, so that a parent's key is known.  Callers: the
 * outermost F has the label above it, and everything below keeps that.
 * Callees: each F begins anew with [self], what it calls has its own label.
 */
static void
find_keys(struct calls *calls, uint32_t nlabels)
{
	const struct prof_tree_node *node;
	const struct prof_label *above;
	uint32_t parent, key;
	bool was_it, is_it;

	calls->ca_key[0] = NONE;
	for (size_t i = 1; i < calls->ca_nnodes; i++) {
		node = &calls->ca_node[i];
		parent = node->pt_parent;
		is_it = calls->ca_is_it[node->pt_label];
		was_it = calls->ca_is_it[calls->ca_node[parent].pt_label];
		key = calls->ca_key[parent];
		if (calls->ca_callees) {
			if (is_it)
				key = nlabels + EXTRA_SELF;
			else if (was_it)
				key = node->pt_label;
		} else if (is_it && key == NONE) {
			above = prof_profile_label(calls->ca_profile,
			    calls->ca_node[parent].pt_label);
			key = above->lb_kind == PROF_LABEL_FUNCTION ||
			    above->lb_kind == PROF_LABEL_CUT ?
			    calls->ca_node[parent].pt_label :
			    nlabels + EXTRA_OUTERMOST;
		}
		calls->ca_key[i] = key;
	}
}

/* A row for each label that is a key, in order of the labels. */
static int
make_rows(struct calls *calls, uint32_t nlabels)
{
	struct report_table *table = calls->ca_table;
	const struct prof_label *label;
	struct report_row *row;

	memset(calls->ca_row, 0xff,
	    (nlabels + EXTRAS) * sizeof(*calls->ca_row));
	for (size_t i = 0; i < calls->ca_nnodes; i++)
		if (calls->ca_key[i] != NONE)
			calls->ca_row[calls->ca_key[i]] = 0;
	table->ta_row = calloc(nlabels + EXTRAS, sizeof(*table->ta_row));
	if (table->ta_row == NULL)
		return (-1);
	for (uint32_t i = 0; i < nlabels + EXTRAS; i++) {
		if (calls->ca_row[i] == NONE)
			continue;
		calls->ca_row[i] = (uint32_t)table->ta_nrows;
		row = &table->ta_row[table->ta_nrows];
		row->rw_first = table->ta_nrows++ * table->ta_ncolumns;
		if (i >= nlabels) {
			row->rw_name = extra_names[i - nlabels];
			row->rw_module = "";
			row->rw_is_asked = i == nlabels + EXTRA_SELF;
			continue;
		}
		label = prof_profile_label(calls->ca_profile, i);
		row->rw_name = label->lb_name;
		row->rw_module = label->lb_module;
		row->rw_function = label->lb_function;
	}
	return (0);
}

static int
sum_rows(const struct calls *calls)
{
	struct report_table *table = calls->ca_table;
	const uint64_t *self, *samples;
	struct report_sum *sum;
	size_t event;

	table->ta_sum = calloc(table->ta_nrows * table->ta_ncolumns + 1,
	    sizeof(*table->ta_sum));
	if (table->ta_sum == NULL)
		return (-1);
	for (size_t c = 0; c < table->ta_ncolumns; c++) {
		event = table->ta_column[c].co_event;
		self = prof_profile_self(calls->ca_profile, event);
		samples = prof_profile_samples(calls->ca_profile, event);
		if (self == NULL || samples == NULL)
			return (-1);
		for (size_t i = 0; i < calls->ca_nnodes; i++) {
			if (calls->ca_key[i] == NONE)
				continue;
			sum = &table->ta_sum[c + table->ta_row[
			    calls->ca_row[calls->ca_key[i]]].rw_first];
			sum->su_total += self[i];
			sum->su_total_samples += samples[i];
		}
	}
	return (0);
}

int
report_calls(struct report *report, const char *function, bool callees)
{
	const uint32_t nlabels =
	    (uint32_t)prof_profile_nlabels(report->re_profile);
	struct calls calls = {
		.ca_profile = report->re_profile,
		.ca_node = prof_profile_nodes(report->re_profile),
		.ca_nnodes = prof_profile_nnodes(report->re_profile),
		.ca_callees = callees,
		.ca_table = &report->re_table,
	};
	int rv = -1;

	calls.ca_is_it = calloc(nlabels + 1, sizeof(*calls.ca_is_it));
	calls.ca_key = calloc(calls.ca_nnodes + 1, sizeof(*calls.ca_key));
	calls.ca_row = calloc(nlabels + EXTRAS, sizeof(*calls.ca_row));
	report->re_table.ta_by = BY_FUNCTION;
	report->re_table.ta_is_flow = true;
	report->re_table.ta_per_row = report->re_table.ta_ncolumns;
	if (calls.ca_is_it == NULL || calls.ca_key == NULL ||
	    calls.ca_row == NULL) {
		msg_error("report", "out of memory", "free memory");
	} else if (find_function(&calls, function) == 0) {
		say_nearest(&calls, function, callees);
	} else {
		find_keys(&calls, nlabels);
		if (make_rows(&calls, nlabels) == 0 && sum_rows(&calls) == 0)
			rv = 0;
		else
			msg_error("report", "out of memory", "free memory");
	}
	free(calls.ca_is_it);
	free(calls.ca_key);
	free(calls.ca_row);
	return (rv);
}
