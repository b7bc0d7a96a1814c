/* SPDX-License-Identifier: ISC */
/*
 * A profile made ready to be drawn: which events, under which title.  Called
 * by the writers of the page (page.c) and of the drawing (svg.c), which only
 * read it.
 */
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "flame.h"
#include "profile/profile_impl.h"

static int
add_event(struct prof_flame *flame, size_t event)
{
	struct prof_flame_event *fe = &flame->fm_event[flame->fm_nevents];

	fe->fe_event = event;
	fe->fe_info = prof_reader_event(flame->fm_reader, event);
	prof_profile_quality(flame->fm_profile, event, &fe->fe_quality);
	if (fe->fe_info == NULL)
		return (-1);
	flame->fm_nevents++;
	return (0);
}

static int
choose_events(struct prof_flame *flame, struct prof_err *error)
{
	const struct prof_flame_options *options = &flame->fm_options;
	size_t all = prof_reader_nevents(flame->fm_reader), n, i;

	n = options->fl_nevents > 0 ? options->fl_nevents : all;
	flame->fm_event = calloc(n + 1, sizeof(*flame->fm_event));
	if (flame->fm_event == NULL)
		return (prof_fail_nomem(error));
	for (i = 0; i < options->fl_nevents; i++)
		if (add_event(flame, options->fl_events[i]) == -1)
			return (prof_fail(error, PROF_E_USAGE,
			    "no such event: %zu", options->fl_events[i]));
	/* Event 0 is process events. */
	for (i = 1; options->fl_nevents == 0 && i < all; i++)
		if (prof_profile_count(flame->fm_profile, i) > 0)
			add_event(flame, i);
	if (options->fl_ratio && flame->fm_nevents < 2)
		return (prof_fail(error, PROF_E_USAGE,
		    "a ratio needs two events"));
	return (0);
}

static int
flame_init(struct prof_flame *flame, const struct prof_profile *profile,
    const struct prof_flame_options *options, struct prof_err *error)
{
	memset(flame, 0, sizeof(*flame));
	if (prof_options_take(&flame->fm_options, sizeof(flame->fm_options),
	    options, "prof_flame_options", error) == -1)
		return (-1);
	flame->fm_profile = profile;
	flame->fm_reader = profile->pf_reader;
	flame->fm_node = prof_profile_nodes(profile);
	flame->fm_nnodes = prof_profile_nnodes(profile);
	flame->fm_title = flame->fm_options.fl_title;
	if (flame->fm_title == NULL)
		flame->fm_title = prof_reader_info(flame->fm_reader,
		    "command");
	if (flame->fm_title == NULL)
		flame->fm_title = "flame graph";
	return (choose_events(flame, error));
}

char *
prof_flame_write(const struct prof_flame *flame, prof_flame_fn *fn,
    size_t *length, struct prof_err *error)
{
	struct prof_buf out = { 0 };
	int rv = fn(flame, &out);

	if (rv == 0) {
		*length = out.bf_len;
		return ((char *)out.bf_data);
	}
	prof_buf_free(&out);
	if (rv == PROF_TOO_LARGE) {
		prof_fail(error, PROF_E_LIMIT, "the output would exceed the "
		    "memory budget of a recording of this size");
		prof_cure(error, "select fewer samples with --filter, --from "
		    "and --to");
	} else
		prof_fail_nomem(error);
	return (NULL);
}

char *
prof_flame_make(const struct prof_profile *profile,
    const struct prof_flame_options *options, prof_flame_fn *fn,
    size_t *length, struct prof_err *error)
{
	struct prof_err why = { 0 };
	struct prof_flame flame;
	char *bytes = NULL;

	if (flame_init(&flame, profile, options, &why) == 0)
		bytes = prof_flame_write(&flame, fn, length, &why);
	free(flame.fm_event);
	if (bytes == NULL && error != NULL)
		*error = why;
	return (bytes);
}

size_t
prof_flame_find(const struct prof_flame *flame, size_t event)
{
	size_t i;

	for (i = 0; i < flame->fm_nevents; i++)
		if (flame->fm_event[i].fe_event == event)
			break;
	return (i);
}

uint32_t
prof_flame_hash(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name != '\0'; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return ((hash ^ hash >> 15) & 1023);
}
