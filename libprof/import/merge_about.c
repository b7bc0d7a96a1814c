/* SPDX-License-Identifier: ISC */
/*
 * What recordings say of themselves, as one: events by their names, the
 * accounting, which adds up, and descriptions.  An event of the same name must
 * be the same: weights of different ones do not add up to anything.  Called
 * by merge.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_abi.h"
#include "base/grow.h"
#include "base/intern.h"
#include "merge_about.h"
#include "recording/accounting.h"
#include "recording/format.h"

/* A key of INFO, and what all recordings together say of it. */
struct fact {
	char		*fa_key;
	char		*fa_value;
	size_t		 fa_n;		/* recordings that have it */
	uint64_t	 fa_sum;
	bool		 fa_differs;
};

struct event {
	struct prof_event_info et_info;	/* its texts are ours */
	struct prof_accounting et_sum;
	size_t		 et_n;		/* recordings that have it */
	bool		 et_no_count;	/* one of these without its count */
	char		*et_path;	/* the first of them */
};

struct prof_merge_about {
	struct prof_import *ma_import;
	size_t		 ma_n;		/* recordings taken */
	uint64_t	 ma_merged;	/* the same, merged ones by their own */
	struct prof_dict ma_keys;
	struct fact	*ma_fact;
	size_t		 ma_nfacts;
	size_t		 ma_cap_facts;
	struct prof_dict ma_names;
	struct event	*ma_event;
	size_t		 ma_nevents;
	size_t		 ma_cap_events;
	struct prof_dict ma_texts;
	char		**ma_text;
	size_t		 ma_ntexts;
	size_t		 ma_cap_texts;
	struct prof_dict ma_notes;
	struct prof_dict ma_hosts;
	uint32_t	 ma_number[PROF_MAX_EVENTS]; /* of one's events */
	char		*ma_calls;	/* why no system calls can be merged */
};

static int
no_memory(struct prof_merge_about *about)
{
	return (prof_fail_nomem(&about->ma_import->im_error));
}

/* A copy that lives as long as all of this; NULL: no memory. */
static const char *
text_keep(struct prof_merge_about *about, const char *text)
{
	bool is_new;
	const uint32_t n = prof_dict_find(&about->ma_texts, text,
	    strlen(text), &is_new);

	if (n == PROF_INTERN_FAILED)
		return (NULL);
	if (is_new) {
		char **kept = prof_grow((void **)&about->ma_text,
		    &about->ma_ntexts, &about->ma_cap_texts, sizeof(*kept));

		if (kept == NULL || (*kept = strdup(text)) == NULL)
			return (NULL);
	}
	return (about->ma_text[n]);
}

/* -------------------------------------------------------------- events */

static bool
is_same_argument(const struct prof_event_info *a,
    const struct prof_event_info *b, uint32_t n)
{
	return (strcmp(a->pi_arg_names[n], b->pi_arg_names[n]) == 0 &&
	    strcmp(a->pi_arg_types[n], b->pi_arg_types[n]) == 0 &&
	    a->pi_arg_is_str[n] == b->pi_arg_is_str[n] &&
	    a->pi_arg_is_signed[n] == b->pi_arg_is_signed[n]);
}

/* In what two events of one name differ; NULL: in nothing. */
static const char *
difference_of(const struct prof_event_info *a,
    const struct prof_event_info *b)
{
	if (strcmp(a->pi_probe, b->pi_probe) != 0 ||
	    strcmp(a->pi_provider, b->pi_provider) != 0 ||
	    a->pi_is_syscall != b->pi_is_syscall ||
	    a->pi_is_call != b->pi_is_call)
		return ("is another probe");
	if (strcmp(a->pi_unit, b->pi_unit) != 0)
		return ("has another unit");
	if (a->pi_nargs != b->pi_nargs)
		return ("has other arguments");
	for (uint32_t n = 0; n < a->pi_nargs; n++)
		if (!is_same_argument(a, b, n))
			return ("has other arguments");
	if (a->pi_is_counter != b->pi_is_counter ||
	    a->pi_ncounters != b->pi_ncounters ||
	    memcmp(a->pi_counter, b->pi_counter,
	    a->pi_ncounters * sizeof(a->pi_counter[0])) != 0)
		return ("has other counters");
	return (NULL);
}

static struct event *
event_new(struct prof_merge_about *about, const char *path,
    const struct prof_event_info *info)
{
	struct event *event = prof_grow((void **)&about->ma_event,
	    &about->ma_nevents, &about->ma_cap_events, sizeof(*event));
	struct prof_event_info *here;
	bool ok;

	if (event == NULL)
		return (NULL);
	here = &event->et_info;
	*here = *info;
	here->pi_calls = NULL;
	here->pi_name = text_keep(about, info->pi_name);
	here->pi_probe = text_keep(about, info->pi_probe);
	here->pi_provider = text_keep(about, info->pi_provider);
	here->pi_unit = text_keep(about, info->pi_unit);
	event->et_path = strdup(path);
	ok = here->pi_name != NULL && here->pi_probe != NULL &&
	    here->pi_provider != NULL && here->pi_unit != NULL &&
	    event->et_path != NULL;
	for (uint32_t n = 0; n < info->pi_nargs; n++) {
		here->pi_arg_names[n] = text_keep(about,
		    info->pi_arg_names[n]);
		here->pi_arg_types[n] = text_keep(about,
		    info->pi_arg_types[n]);
		ok = ok && here->pi_arg_names[n] != NULL &&
		    here->pi_arg_types[n] != NULL;
	}
	return (ok ? event : NULL);
}

/* Its counters have their numbers here by now. */
static int
event_take(struct prof_merge_about *about, const char *path,
    const struct prof_event_info *given, const uint32_t *number, uint32_t n)
{
	struct prof_event_info info = *given;
	struct event *event;
	const char *what;

	for (uint32_t i = 0; i < info.pi_ncounters; i++)
		info.pi_counter[i] = number[info.pi_counter[i]];
	event = n == about->ma_nevents ? event_new(about, path, &info) :
	    &about->ma_event[n];
	if (event == NULL)
		return (no_memory(about));
	what = difference_of(&event->et_info, &info);
	if (what != NULL) {
		prof_fail(&about->ma_import->im_error, PROF_E_EXISTS,
		    "%s: event '%s' %s than in recording %s", path,
		    info.pi_name, what,
		    event->et_path);
		return (prof_cure(&about->ma_import->im_error,
		    "merge recordings of the same events"));
	}
	/* Samples keep the names of their threads. */
	event->et_info.pi_parts |= info.pi_parts | DTP_P_COMM;
	/* Weights add up at any rate. */
	if (info.pi_period != event->et_info.pi_period ||
	    info.pi_frequency_hz != event->et_info.pi_frequency_hz)
		event->et_info.pi_period = event->et_info.pi_frequency_hz = 0;
	event->et_n++;
	return (0);
}

/* By name; those that are new get the next numbers, in order. */
static int
events_take(struct prof_merge_about *about, const char *path,
    const struct prof_reader *reader, uint32_t number[PROF_MAX_EVENTS])
{
	const size_t nevents = prof_reader_nevents(reader);
	bool is_new;

	for (size_t e = 0; e < nevents; e++) {
		const char *name = prof_reader_event(reader, e)->pi_name;

		number[e] = prof_dict_find(&about->ma_names, name,
		    strlen(name), &is_new);
		if (number[e] >= PROF_MAX_EVENTS)
			return (prof_fail(&about->ma_import->im_error,
			    PROF_E_LIMIT, "%s: the recordings have more than "
			    "%u events", path, PROF_MAX_EVENTS));
	}
	for (size_t e = 0; e < nevents; e++)
		if (event_take(about, path, prof_reader_event(reader, e),
		    number, number[e]) == -1)
			return (-1);
	return (0);
}

int
prof_merge_about_events(struct prof_merge_about *about, const char *path,
    const struct prof_reader *reader, uint32_t number[PROF_MAX_EVENTS])
{
	for (size_t e = 0; e < prof_reader_nevents(reader); e++) {
		const char *name = prof_reader_event(reader, e)->pi_name;

		number[e] = prof_dict_peek(&about->ma_names, name,
		    strlen(name));
		if (number[e] == PROF_INTERN_FAILED)
			return (prof_fail(&about->ma_import->im_error,
			    PROF_E_FORMAT, "%s: the file changed while merge "
			    "read it",
			    path));
	}
	return (0);
}

/* ---------------------------------------------------------- accounting */

int
prof_merge_about_account(struct prof_merge_about *about,
    const struct prof_reader *reader, const uint32_t *number)
{
	struct prof_accounting row;

	for (size_t e = 0; e < prof_reader_nevents(reader); e++) {
		struct event *event = &about->ma_event[number[e]];

		/* One that was cut may have none. */
		if (prof_reader_accounting(reader, e, -1, &row) == -1)
			memset(&row, 0, sizeof(row));
		event->et_no_count |= !row.pa_has_count;
		prof_accounting_add(&event->et_sum, &row);
	}
	return (0);
}

/* What some had not counted has no sum. */
static void
count_forget(struct prof_accounting *sum)
{
	sum->pa_has_count = 0;
	sum->pa_count = 0;
	sum->pa_unaccounted = 0;
	sum->pa_unaccounted_bound = 0;
	sum->pa_enabled_ns = sum->pa_running_ns = 0;
}

int
prof_merge_about_end(struct prof_merge_about *about)
{
	struct prof_accounting *rows = calloc(about->ma_nevents + 1,
	    sizeof(*rows));
	int rv;

	if (rows == NULL)
		return (no_memory(about));
	for (size_t e = 0; e < about->ma_nevents; e++) {
		rows[e] = about->ma_event[e].et_sum;
		if (about->ma_event[e].et_no_count)
			count_forget(&rows[e]);
	}
	rv = prof_sink_end(&about->ma_import->im_sink, rows,
	    about->ma_nevents);
	free(rows);
	return (rv);
}

/* -------------------------------------------------------- descriptions */

/* These are numbers of what was done, and add up. */
static bool
is_sum(const char *key)
{
	static const char *const sums[] = {
		"snapshots.", "names.late", "names.dropped", "calls.",
		"waits.", "wall.", "maps.reread", "files.processes",
		"files.lost"
	};

	for (size_t n = 0; n < sizeof(sums) / sizeof(sums[0]); n++)
		if (strncmp(key, sums[n], strlen(sums[n])) == 0)
			return (true);
	return (false);
}

/* These hold for all where they hold for one. */
static bool
is_any(const char *key)
{
	return (strncmp(key, "less.", 5) == 0 ||
	    strncmp(key, "skid.", 5) == 0 ||
	    strcmp(key, "user_only") == 0 ||
	    strcmp(key, "pid.namespace") == 0);
}

/* What a merged recording has not, or says itself. */
static bool
is_left_out(const char *key)
{
	return (strcmp(key, "path") == 0 || strcmp(key, "merged") == 0 ||
	    strcmp(key, "machine.boot") == 0 ||
	    strcmp(key, "names.places") == 0 ||
	    strcmp(key, "names.modules") == 0 ||
	    strcmp(key, "names.functions") == 0 ||
	    strncmp(key, "unwind.", 7) == 0 ||
	    strncmp(key, "throttled.", 10) == 0 ||
	    strncmp(key, "import", 6) == 0);
}

static struct fact *
fact_of(struct prof_merge_about *about, const char *key, bool *is_new)
{
	const uint32_t n = prof_dict_find(&about->ma_keys, key, strlen(key),
	    is_new);
	struct fact *fact;

	if (n == PROF_INTERN_FAILED)
		return (NULL);
	if (!*is_new)
		return (&about->ma_fact[n]);
	fact = prof_grow((void **)&about->ma_fact, &about->ma_nfacts,
	    &about->ma_cap_facts, sizeof(*fact));
	if (fact != NULL)
		fact->fa_key = strdup(key);
	return (fact == NULL || fact->fa_key == NULL ? NULL : fact);
}

/* Notes about how a recording was made, each once. */
static int
note_take(struct prof_merge_about *about, const char *note)
{
	char key[32];
	bool is_new;
	const uint32_t n = prof_dict_find(&about->ma_notes, note,
	    strlen(note), &is_new);

	if (n == PROF_INTERN_FAILED)
		return (no_memory(about));
	if (!is_new)
		return (0);
	snprintf(key, sizeof(key), "note.%u", n);
	return (prof_import_info(about->ma_import, key, note));
}

/* The number of an event in a key is another one here. */
static const char *
key_here(const char *key, const uint32_t *number, size_t nevents,
    char *here, size_t size)
{
	static const char *const prefixes[] = { "calls.", "skid.", "waits.",
	    "wall." };

	for (size_t n = 0; n < sizeof(prefixes) / sizeof(prefixes[0]); n++) {
		const size_t length = strlen(prefixes[n]);
		char *end;
		unsigned long e;

		if (strncmp(key, prefixes[n], length) != 0)
			continue;
		e = strtoul(key + length, &end, 10);
		if (end == key + length || e >= nevents)
			continue;
		snprintf(here, size, "%s%u%s", prefixes[n], number[e], end);
		return (here);
	}
	return (key);
}

/* "close(unsigned int fd)" and "close" are the same call. */
static bool
is_same_call(const char *a, const char *b)
{
	const size_t length = strcspn(a, "(");

	return (length == strcspn(b, "(") && strncmp(a, b, length) == 0);
}

static int
fact_take(struct prof_merge_about *about, const char *path, const char *key,
    const char *value)
{
	bool is_new;
	struct fact *fact = fact_of(about, key, &is_new);
	char *end;

	if (fact == NULL || (is_new &&
	    (fact->fa_value = strdup(value)) == NULL))
		return (no_memory(about));
	fact->fa_n++;
	fact->fa_sum += strtoull(value, &end, 10);
	fact->fa_differs |= is_sum(key) ? end == value || *end != '\0' :
	    strcmp(fact->fa_value, value) != 0;
	if (strncmp(key, "syscall.", 8) == 0 && about->ma_calls == NULL &&
	    !is_same_call(fact->fa_value, value) && asprintf(
	    &about->ma_calls, "%s: system call %s is '%.*s' in this recording "
	    "and '%.*s' in previous recordings", path, key + 8,
	    (int)strcspn(value, "("), value,
	    (int)strcspn(fact->fa_value, "("), fact->fa_value) == -1)
		return (no_memory(about));
	return (0);
}

static int
facts_take(struct prof_merge_about *about, const char *path,
    const struct prof_reader *reader, const uint32_t *number)
{
	const size_t nevents = prof_reader_nevents(reader);
	const char *key, *value;
	char here[64];
	int rv = 0;

	for (size_t n = 0; rv == 0 && prof_reader_info_at(reader, n, &key,
	    &value); n++) {
		if (is_left_out(key))
			continue;
		rv = strncmp(key, "note.", 5) == 0 ?
		    note_take(about, value) : fact_take(about, path, key_here(
		    key, number, nevents, here, sizeof(here)), value);
	}
	return (rv);
}

/* Numbers of system calls are those of one machine. */
static int
calls_check(struct prof_merge_about *about)
{
	for (size_t e = 0; about->ma_calls != NULL && e < about->ma_nevents;
	    e++)
		if (about->ma_event[e].et_info.pi_is_syscall) {
			prof_fail(&about->ma_import->im_error, PROF_E_EXISTS,
			    "%s", about->ma_calls);
			return (prof_cure(&about->ma_import->im_error,
			    "merge recordings of system calls of one "
			    "architecture at a time"));
		}
	return (0);
}

int
prof_merge_about_take(struct prof_merge_about *about, const char *path,
    const struct prof_reader *reader)
{
	const char *host = prof_reader_info(reader, "machine.host");
	const char *merged = prof_reader_info(reader, "merged");
	uint32_t *number = about->ma_number;
	bool is_new;

	about->ma_n++;
	about->ma_merged += merged == NULL ? 1 : strtoull(merged, NULL, 10);
	if (host != NULL && prof_dict_find(&about->ma_hosts, host,
	    strlen(host), &is_new) == PROF_INTERN_FAILED)
		return (no_memory(about));
	return (events_take(about, path, reader, number) == -1 ||
	    facts_take(about, path, reader, number) == -1 ? -1 :
	    calls_check(about));
}

/* What all say alike, and sums. */
static int
facts_write(struct prof_merge_about *about)
{
	char sum[32];
	int rv = 0;

	for (size_t n = 0; n < about->ma_nfacts && rv == 0; n++) {
		const struct fact *fact = &about->ma_fact[n];

		if (is_sum(fact->fa_key) && !fact->fa_differs) {
			snprintf(sum, sizeof(sum), "%" PRIu64, fact->fa_sum);
			rv = prof_import_info(about->ma_import, fact->fa_key,
			    sum);
		} else if (is_any(fact->fa_key) ||
		    strncmp(fact->fa_key, "time.", 5) == 0 ||
		    strncmp(fact->fa_key, "syscall.", 8) == 0 ||
		    (fact->fa_n == about->ma_n && !fact->fa_differs)) {
			rv = prof_import_info(about->ma_import, fact->fa_key,
			    fact->fa_value);
		}
	}
	return (rv);
}

static int
notes_say(struct prof_merge_about *about)
{
	const size_t hosts = about->ma_hosts.dt_count;

	if (hosts > 1 && prof_import_say(about->ma_import, "the recordings are "
	    "of %zu hosts: processes, threads and CPUs with the same ID on "
	    "different hosts are not distinguished", hosts) == -1)
		return (-1);
	for (size_t e = 1; e < about->ma_nevents; e++) {
		const struct event *event = &about->ma_event[e];

		if (event->et_n < about->ma_n && prof_import_say(
		    about->ma_import, "event '%s' is in only %zu of %zu "
		    "recordings", event->et_info.pi_name, event->et_n,
		    about->ma_n) == -1)
			return (-1);
	}
	return (0);
}

int
prof_merge_about_write(struct prof_merge_about *about)
{
	char merged[32];

	snprintf(merged, sizeof(merged), "%" PRIu64, about->ma_merged);
	if (prof_import_info(about->ma_import, "path", "merge") == -1 ||
	    prof_import_info(about->ma_import, "merged", merged) == -1 ||
	    facts_write(about) == -1 || notes_say(about) == -1)
		return (-1);
	for (size_t n = 0; n < about->ma_import->im_nnotes; n++)
		if (note_take(about, about->ma_import->im_notes[n]) == -1)
			return (-1);
	for (size_t e = 0; e < about->ma_nevents; e++)
		if (prof_import_event(about->ma_import,
		    &about->ma_event[e].et_info) == -1)
			return (-1);
	return (0);
}

struct prof_merge_about *
prof_merge_about_new(struct prof_import *import)
{
	struct prof_merge_about *about = calloc(1, sizeof(*about));

	if (about == NULL)
		prof_fail_nomem(&import->im_error);
	else
		about->ma_import = import;
	return (about);
}

void
prof_merge_about_free(struct prof_merge_about *about)
{
	if (about == NULL)
		return;
	while (about->ma_nfacts > 0) {
		free(about->ma_fact[--about->ma_nfacts].fa_key);
		free(about->ma_fact[about->ma_nfacts].fa_value);
	}
	free(about->ma_fact);
	while (about->ma_nevents > 0)
		free(about->ma_event[--about->ma_nevents].et_path);
	free(about->ma_event);
	while (about->ma_ntexts > 0)
		free(about->ma_text[--about->ma_ntexts]);
	free(about->ma_text);
	prof_dict_free(&about->ma_keys);
	prof_dict_free(&about->ma_names);
	prof_dict_free(&about->ma_texts);
	prof_dict_free(&about->ma_notes);
	prof_dict_free(&about->ma_hosts);
	free(about->ma_calls);
	free(about);
}
