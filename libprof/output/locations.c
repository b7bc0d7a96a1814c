/* SPDX-License-Identifier: ISC */
/*
 * See locations.h.  Functions, mappings and locations are numbered from 1 on,
 * each by its place in its table, in order of first use, which strict
 * receivers demand.  Called by pprof.c and otlp.c.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "export.h"
#include "locations.h"

/* The number of a key, from 1. */
static uint64_t
key_number(struct prof_locations *locations, struct prof_map *map,
    uint64_t key, bool *is_new)
{
	uint32_t n = prof_map_get(map, key, is_new);

	if (n == PROF_INTERN_FAILED) {
		locations->lo_failed = true;
		*is_new = false;
		return (0);
	}
	return (n + 1ULL);
}

uint32_t
prof_locations_mapping(struct prof_locations *locations,
    const struct prof_label *label, uint64_t *address)
{
	const uint32_t n = prof_code_map_find(locations->lo_code, label,
	    address);

	locations->lo_failed |= n == UINT32_MAX;
	return (n);
}

/* The program is the first one: it is where main is. */
static void
find_main(struct prof_locations *locations)
{
	const struct prof_profile *profile = locations->lo_flame->fm_profile;
	const struct prof_label *label;
	uint64_t address;
	size_t n;

	for (n = 0; n < prof_profile_nlabels(profile); n++) {
		label = prof_profile_label(profile, (uint32_t)n);
		if (label->lb_function == NULL ||
		    strcmp(label->lb_function->fu_name, "main") != 0)
			continue;
		(void)prof_locations_mapping(locations, label, &address);
		return;
	}
}

void
prof_locations_function(struct prof_locations *locations, uint32_t n,
    struct prof_location_function *lf)
{
	const struct prof_label *label = prof_profile_label(
	    locations->lo_flame->fm_profile, n);
	const struct prof_function *function = prof_export_function(label);
	const size_t length = prof_export_source(label, &lf->lf_line);

	lf->lf_name = prof_export_name(label);
	lf->lf_raw = function == NULL || function->fu_raw[0] == '\0' ?
	    lf->lf_name : function->fu_raw;
	/* No struct lies at an odd address. */
	lf->lf_number = key_number(locations, &locations->lo_functions,
	    function != NULL ? (uintptr_t)function : 2ULL * n + 1,
	    &lf->lf_is_new);
	lf->lf_file = function != NULL && length == 0 &&
	    function->fu_kind > PROF_FRAME_KERNEL &&
	    function->fu_module[0] != '[' ?
	    strdup(function->fu_module) : strndup(label->lb_name, length);
}

/* The number of a chain as a location: its place in the table, from 1. */
static uint32_t
location_of(struct prof_locations *locations, uint32_t chain)
{
	struct prof_location *ch = &locations->lo_chain[chain];
	uint32_t *location;

	if (ch->ch_number != 0)
		return (ch->ch_number);
	location = prof_grow((void **)&locations->lo_location,
	    &locations->lo_nlocations, &locations->lo_cap_locations,
	    sizeof(*location));
	if (location == NULL) {
		locations->lo_failed = true;
		return (0);
	}
	*location = chain;
	return (ch->ch_number = (uint32_t)locations->lo_nlocations);
}

/* What is inlined belongs to the frame above it. */
const struct prof_label *
prof_locations_stack(struct prof_locations *locations, uint32_t node,
    struct prof_buf *packed)
{
	const struct prof_flame *flame = locations->lo_flame;
	const struct prof_label *label, *comm = NULL;
	const struct prof_location *chain;

	for (; node != 0; node = flame->fm_node[node].pt_parent) {
		label = prof_profile_label(flame->fm_profile,
		    flame->fm_node[node].pt_label);
		if (label->lb_kind == PROF_LABEL_COMM) {
			comm = label;
			continue;
		}
		chain = &locations->lo_chain[locations->lo_of_node[node]];
		prof_buf_varint(packed, location_of(locations,
		    locations->lo_of_node[node]));
		for (; chain->ch_outer != 0;
		    chain = &locations->lo_chain[chain->ch_outer - 1])
			node = flame->fm_node[node].pt_parent;
	}
	return (comm);
}

/* The chain of each node, so that a node says its location at once. */
static int
find_chains(struct prof_locations *locations)
{
	const struct prof_flame *flame = locations->lo_flame;
	const struct prof_label *label;
	struct prof_location *chain;
	uint32_t n, outer;
	bool is_new;
	uint64_t id;

	for (n = 1; n < flame->fm_nnodes; n++) {
		label = prof_profile_label(flame->fm_profile,
		    flame->fm_node[n].pt_label);
		locations->lo_has_lines |= label->lb_kind == PROF_LABEL_LINE;
		outer = flame->fm_node[n].pt_parent;
		outer = !prof_export_is_inlined(label) || outer == 0 ? 0 :
		    locations->lo_of_node[outer] + 1;
		id = key_number(locations, &locations->lo_chains,
		    (uint64_t)outer << 32 | flame->fm_node[n].pt_label,
		    &is_new);
		if (locations->lo_failed)
			return (-1);
		locations->lo_of_node[n] = (uint32_t)id - 1;
		if (!is_new)
			continue;
		chain = prof_grow((void **)&locations->lo_chain,
		    &locations->lo_nchains, &locations->lo_cap_chains,
		    sizeof(*chain));
		if (chain == NULL)
			return (-1);
		chain->ch_outer = outer;
		chain->ch_label = flame->fm_node[n].pt_label;
		chain->ch_number = 0;
	}
	return (0);
}

static int
find_values(struct prof_locations *locations)
{
	const struct prof_flame *flame = locations->lo_flame;
	size_t e, event;

	locations->lo_samples = calloc(flame->fm_nevents + 1,
	    sizeof(*locations->lo_samples));
	locations->lo_weights = calloc(flame->fm_nevents + 1,
	    sizeof(*locations->lo_weights));
	if (locations->lo_samples == NULL || locations->lo_weights == NULL)
		return (-1);
	for (e = 0; e < flame->fm_nevents; e++) {
		event = flame->fm_event[e].fe_event;
		locations->lo_samples[e] = prof_profile_samples(
		    flame->fm_profile, event);
		locations->lo_weights[e] = prof_profile_self(
		    flame->fm_profile, event);
		if (locations->lo_samples[e] == NULL ||
		    locations->lo_weights[e] == NULL)
			return (-1);
	}
	return (0);
}

int
prof_locations_init(struct prof_locations *locations,
    const struct prof_flame *flame)
{
	*locations = (struct prof_locations){ .lo_flame = flame };
	locations->lo_of_node = calloc(flame->fm_nnodes + 1,
	    sizeof(*locations->lo_of_node));
	locations->lo_code = prof_code_map_new(flame);
	if (locations->lo_of_node == NULL || locations->lo_code == NULL ||
	    find_values(locations) == -1 || find_chains(locations) == -1)
		return (-1);
	find_main(locations);
	return (locations->lo_failed ? -1 : 0);
}

void
prof_locations_fini(struct prof_locations *locations)
{
	free(locations->lo_of_node);
	free(locations->lo_chain);
	free(locations->lo_samples);
	free(locations->lo_weights);
	free(locations->lo_location);
	prof_map_free(&locations->lo_functions);
	prof_map_free(&locations->lo_chains);
	prof_code_map_free(locations->lo_code);
}
