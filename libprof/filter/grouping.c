/* SPDX-License-Identifier: ISC */
/*
 * Compiles group keys and measures to the fields that BPF aggregates by
 * (abi/dtp_group.h).  Names are those of filters, and arguments that are
 * text.  Called by the session for each event.
 */
#include <string.h>

#include "base/error.h"
#include "filter_impl.h"
#include "grouping.h"

#define GROUPS_LEAST	16384u
#define GROUPS_OF_CPU	2048u
#define GROUPS_MOST	(1u << 19)
#define BUCKETS_OF_GROUP 16u

static int
refuse_field(const struct prof_event *event, const char *name,
    const char *why, struct prof_err *error)
{
	prof_fail(error, PROF_E_FILTER, "%s: cannot aggregate by '%s': %s",
	    event->ev_name, name, why);
	return (prof_cure(error, "list arguments with dtprof list '%s'",
	    event->ev_name));
}

static int
key_add(const char *name, const struct filter_scope *scope,
    struct prof_event *event, struct prof_err *error)
{
	struct dtp_grouping *gp = &event->ev_grouping;
	struct dtp_key *key = &gp->gp_key[gp->gp_nkeys];
	enum filter_value value;
	bool is_signed;
	char why[384];
	int field;

	field = prof_filter_field(scope, name, &value, &is_signed, why,
	    sizeof(why));
	if (field == -1)
		return (refuse_field(event, name, why, error));
	key->gk_field = (uint8_t)field;
	key->gk_word = (uint8_t)gp->gp_nwords;
	key->gk_is_name = value == FILTER_SYSCALL;
	if (value == FILTER_TEXT)
		key->gk_text = (uint8_t)scope->fs_arg[field -
		    DTP_F_ARG0].fa_text;
	gp->gp_has_texts |= key->gk_text == DTP_KEY_CALL;
	gp->gp_nwords += key->gk_text != DTP_KEY_NUMBER ? DTP_STR_LEN / 8 :
	    field == DTP_F_COMM ? DTP_COMM_LEN / 8 : 1;
	gp->gp_nkeys++;
	if (gp->gp_nwords <= DTP_GROUP_WORDS)
		return (0);
	return (refuse_field(event, name, "the keys of a group have room for "
	    "only one text argument", error));
}

static int
measure_add(const struct prof_measure *what, const struct filter_scope *scope,
    struct prof_event *event, struct prof_err *error)
{
	struct dtp_grouping *gp = &event->ev_grouping;
	struct dtp_measure *measure = &gp->gp_measure[gp->gp_nmeasures++];
	enum filter_value value;
	bool is_signed;
	char why[384];
	int field;

	field = prof_filter_field(scope, what->me_field, &value, &is_signed,
	    why, sizeof(why));
	if (field == -1)
		return (refuse_field(event, what->me_field, why, error));
	if (value == FILTER_TEXT || value == FILTER_COMM ||
	    value == FILTER_SYSCALL)
		return (refuse_field(event, what->me_field,
		    "the field is not a number", error));
	if (what->me_low < 0 && !is_signed)
		return (refuse_field(event, what->me_field, "LO is negative, "
		    "but the field is never negative", error));
	measure->gm_field = (uint8_t)field;
	measure->gm_signed = is_signed;
	measure->gm_histogram = (uint8_t)what->me_histogram;
	measure->gm_low = (uint64_t)what->me_low;
	measure->gm_step = what->me_step;
	measure->gm_nsteps = what->me_nsteps;
	return (0);
}

/* The argument that holds a call's return value, + 1; 0: there is none. */
static uint32_t
result_of(const struct prof_event *event)
{
	const uint32_t n = prof_event_arg(event, "ret");

	return (event->ev_is_call && n < event->ev_nargs ? n + 1 : 0);
}

static void
tables_size(struct dtp_grouping *gp, uint32_t ncpus)
{
	gp->gp_groups = GROUPS_LEAST;
	while (gp->gp_groups < ncpus * GROUPS_OF_CPU &&
	    gp->gp_groups < GROUPS_MOST)
		gp->gp_groups *= 2;
	gp->gp_buckets = gp->gp_groups * BUCKETS_OF_GROUP;
}

int
prof_grouping_compile(const struct prof_grouping *what,
    struct prof_event *event, uint32_t ncpus, struct prof_err *error)
{
	static const struct prof_measure duration = {
		.me_field = "duration", .me_histogram = DTP_HIST_LOG
	};
	struct dtp_grouping *gp = &event->ev_grouping;
	struct filter_scope scope;

	memset(gp, 0, sizeof(*gp));
	if (event->ev_has_period || event->ev_brings_tasks) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: only probes "
		    "can be aggregated, and this event has a period",
		    event->ev_name);
		return (prof_cure(error, "count this event in a separate run, "
		    "in spans with --with, or use dtprof record and dtprof "
		    "report --by"));
	}
	prof_filter_scope(event, &scope);
	for (size_t n = 0; n < what->gp_nby; n++)
		if (key_add(what->gp_by[n], &scope, event, error) == -1)
			return (-1);
	for (size_t n = 0; n < what->gp_nmeasures; n++)
		if (measure_add(&what->gp_measure[n], &scope, event,
		    error) == -1)
			return (-1);
	if (what->gp_nmeasures == 0 && event->ev_is_call &&
	    measure_add(&duration, &scope, event, error) == -1)
		return (-1);
	gp->gp_is_on = 1;
	gp->gp_result = result_of(event);
	tables_size(gp, ncpus);
	return (0);
}
