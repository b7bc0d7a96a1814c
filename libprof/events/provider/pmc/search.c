/* SPDX-License-Identifier: ISC */
/*
 * Counters found by what they mean: perf's names, those of libpfm4 for the
 * PMUs of this machine or for any that it knows, and those of sysfs, each
 * with its unit masks, and with what can be done with it here.  Whether it
 * can sample, and how precisely, is tried where the PMU is there; elsewhere
 * libpfm4's tables say it.
 *
 * Called by dtprof list --counters.  Whom a question fits, match.c
 * decides.
 */
#include <sys/types.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/grow.h"
#include "events/names.h"
#include "os/permission.h"

#define SYSFS_PMUS	"/sys/bus/event_source/devices"
#define ANY_PERIOD	1000000007
#define NOT_HERE	"not a PMU of this machine"

struct found {
	struct prof_counter_info fo_info;	/* strings owned */
	unsigned	 fo_score;
	size_t		 fo_order;
};

struct prof_counters {
	struct found	*ct_found;
	size_t		 ct_n;
	size_t		 ct_cap;
	char		*ct_note;
	/* While searching */
	struct prof_names *ct_names;
	struct prof_question *ct_question;
	size_t		 ct_may_miss;	/* words that need not be there */
	const char	*ct_no_pmu;	/* NULL: hardware counts here */
};

static int	found_add(struct prof_counters *, const char *name,
		    const char *pmu, const char *desc, struct found **added);
static int	add_perf(struct prof_counters *);
static int	add_pfm(void *arg, const struct prof_pfm_event *event);
static int	add_sysfs(void *arg, const char *name);
static void	try_out(struct prof_counters *, struct found *);

/* --------------------------------------------------------- what it can do */

static bool
event_opens(const struct perf_event_attr *of, uint64_t period, unsigned precise)
{
	struct perf_event_attr attr = *of;
	int refused;

	attr.freq = 0;
	attr.sample_period = period;
	attr.precise_ip = (__u8)(precise & 3);
	attr.disabled = 1;
	refused = prof_perf_probe(&attr);
	if (refused == EACCES || refused == EPERM) {
		attr.exclude_kernel = attr.exclude_hv = 1;
		if (prof_perf_always_zero(&attr))
			return (false);
		refused = prof_perf_probe(&attr);
	}
	return (refused == 0);
}

static void
code_text(const struct perf_event_attr *attr, char *text, size_t size)
{
	if (attr->type == PERF_TYPE_RAW && attr->config1 == 0 &&
	    attr->config2 == 0)
		snprintf(text, size, "r%" PRIx64, (uint64_t)attr->config);
	else
		snprintf(text, size, "type=%u,config=0x%" PRIx64
		    ",config1=0x%" PRIx64 ",config2=0x%" PRIx64, attr->type,
		    (uint64_t)attr->config, (uint64_t)attr->config1,
		    (uint64_t)attr->config2);
}

/* A PMU that serves several CPUs counts there, for everybody. */
static bool
is_shared(const char *pmu)
{
	char path[256];

	snprintf(path, sizeof(path), SYSFS_PMUS "/%.128s/cpumask", pmu);
	return (access(path, F_OK) == 0);
}

/* Resolve it as record would, and open it on ourselves. */
static void
try_out(struct prof_counters *counters, struct found *found)
{
	struct prof_counter_info *info = &found->fo_info;
	struct prof_events events = { 0 };
	struct prof_err error = { 0 };
	struct perf_event_attr attr;
	char code[128];

	if (prof_names_resolve(counters->ct_names, info->pt_name, NULL,
	    &events, &error) == -1) {
		info->pt_why_not = strdup(error.pe_text);
		return;
	}
	attr = events.el_event[0]->ev_attr;
	prof_events_free(&events);
	code_text(&attr, code, sizeof(code));
	free((char *)(uintptr_t)info->pt_code);
	info->pt_code = strdup(code);
	if (is_shared(info->pt_pmu)) {
		info->pt_can_sample = 0;
		return;
	}
	if (counters->ct_no_pmu != NULL && attr.type != PERF_TYPE_SOFTWARE &&
	    attr.type <= PERF_TYPE_RAW) {
		info->pt_why_not = strdup(counters->ct_no_pmu);
		return;
	}
	attr.sample_freq = 0;
	if (!event_opens(&attr, 0, 0)) {
		info->pt_why_not = strdup("not supported by this machine");
		return;
	}
	info->pt_can_sample = event_opens(&attr, ANY_PERIOD, 0);
	info->pt_precise = 0;
	/* What the kernel counts itself has no skid, and :p means nothing. */
	if (attr.type == PERF_TYPE_SOFTWARE)
		return;
	for (int p = 1; p <= 3 && event_opens(&attr, ANY_PERIOD,
	    (unsigned)p); p++)
		info->pt_precise = p;
}

/* -------------------------------------------------------------- finding */

/* 1: added, 0: it is no answer, -1: no memory. */
static int
found_add(struct prof_counters *counters, const char *name, const char *pmu,
    const char *desc, struct found **added)
{
	unsigned score = prof_question_score(counters->ct_question, name,
	    desc, counters->ct_may_miss);
	struct found *found;

	if (score == 0)
		return (0);
	found = prof_grow(&counters->ct_found, &counters->ct_n,
	    &counters->ct_cap, sizeof(*found));
	if (found == NULL)
		return (-1);
	found->fo_score = score;
	found->fo_order = counters->ct_n - 1;
	found->fo_info.pt_name = strdup(name);
	found->fo_info.pt_pmu = strdup(pmu);
	found->fo_info.pt_desc = strdup(desc);
	found->fo_info.pt_code = strdup("");
	*added = found;
	return (found->fo_info.pt_name == NULL ||
	    found->fo_info.pt_pmu == NULL || found->fo_info.pt_desc == NULL ||
	    found->fo_info.pt_code == NULL ? -1 : 1);
}

static int
add_perf(struct prof_counters *counters)
{
	char name[64], buffer[128];
	struct found *found;
	int rv = 0;

	for (size_t n = 0; rv != -1 && prof_counter_name_at(n, name,
	    sizeof(name)); n++) {
		rv = found_add(counters, name, "perf", prof_counter_desc(name,
		    buffer, sizeof(buffer)), &found);
		if (rv == 1) {
			found->fo_info.pt_can_sample = 1;
			try_out(counters, found);
		}
	}
	return (rv == -1 ? -1 : 0);
}

static int
add_pfm(void *arg, const struct prof_pfm_event *event)
{
	struct prof_counters *counters = arg;
	struct prof_pmc counter = { 0 };
	struct perf_event_attr attr = { 0 };
	struct prof_err error;
	struct found *found;
	char code[128];
	int rv;

	rv = found_add(counters, event->pe_name, event->pe_pmu->pu_name,
	    event->pe_desc, &found);
	if (rv != 1)
		return (rv);
	found->fo_info.pt_can_sample = event->pe_pmu->pu_is_core;
	found->fo_info.pt_precise = event->pe_is_precise;
	if (event->pe_pmu->pu_is_present) {
		try_out(counters, found);
		return (0);
	}
	found->fo_info.pt_why_not = strdup(NOT_HERE);
	if (prof_counter_pfm(counters->ct_names, event->pe_name, &counter,
	    &error) != 1)
		return (0);
	attr.type = counter.pc_type;
	attr.config = counter.pc_config;
	attr.config1 = counter.pc_config1;
	attr.config2 = counter.pc_config2;
	code_text(&attr, code, sizeof(code));
	free((char *)(uintptr_t)found->fo_info.pt_code);
	found->fo_info.pt_code = strdup(code);
	return (found->fo_info.pt_code == NULL ? -1 : 0);
}

static int
add_sysfs(void *arg, const char *name)
{
	struct prof_counters *counters = arg;
	struct found *found;
	char pmu[256];
	int rv;

	snprintf(pmu, sizeof(pmu), "%.*s", (int)strcspn(name, "/"), name);
	rv = found_add(counters, name, pmu, "event of a PMU in sysfs",
	    &found);
	if (rv == 1) {
		found->fo_info.pt_can_sample = 1;
		try_out(counters, found);
	}
	return (rv == -1 ? -1 : 0);
}

/* ---------------------------------------------------------------- asking */

/* The best first; then the shorter name; then as they came. */
static int
answers_compare(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	const size_t nx = strlen(x->fo_info.pt_name),
	    ny = strlen(y->fo_info.pt_name);

	if (x->fo_score != y->fo_score)
		return (x->fo_score > y->fo_score ? -1 : 1);
	if (nx != ny && x->fo_score > 1)
		return (nx < ny ? -1 : 1);
	return (x->fo_order < y->fo_order ? -1 : 1);
}

/* Nobody is called that: the PMU that is nearest. */
static int
unknown_pmu(struct prof_names *names, const char *pmu,
    struct prof_err *error)
{
	const char *name, *nearest = NULL;
	unsigned best = UINT32_MAX, distance;

	for (size_t n = 0; (name = prof_pfm_pmu_at(names, n)) != NULL; n++) {
		distance = prof_name_distance(pmu, name);
		/* Of the many kinds of uncore PMU none is likely meant. */
		if (distance < best) {
			best = distance;
			nearest = name;
		}
	}
	prof_fail(error, PROF_E_EVENT_UNKNOWN, "no such PMU in libpfm4: '%s'",
	    pmu);
	return (prof_cure(error, "did you mean '%s'? '*' stands for all PMUs",
	    nearest == NULL ? "none" : nearest));
}

/* Nothing answers: what is called nearly like that? */
static int
no_answer(struct prof_names *names, const char *words,
    struct prof_err *error)
{
	char *nearest = prof_names_nearest(names, words);

	prof_fail(error, PROF_E_EVENT_UNKNOWN,
	    "no counter has this name or description: '%s'", words);
	prof_cure(error, "%s%s%suse fewer words, or another PMU with --pmu",
	    nearest == NULL ? "" : "did you mean '",
	    nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'? or ");
	free(nearest);
	return (-1);
}

/* Answers that have only some of the words: maybe one is misspelt. */
static void
note_some(struct prof_counters *counters, const char *words)
{
	char *nearest = prof_names_nearest(counters->ct_names, words);

	if (asprintf(&counters->ct_note, "no counter matches all words; the "
	    "counters shown match some words%s%s%s",
	    nearest == NULL ? "" : "; did you mean '",
	    nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?") == -1)
		counters->ct_note = NULL;
	free(nearest);
}

static int
sources_search(struct prof_counters *counters, const char *words,
    const char *pmu, struct prof_err *error)
{
	const char *forced = getenv("LIBPFM_FORCE_PMU");
	const struct perf_event_attr cycles = { .size = sizeof(cycles),
	    .type = PERF_TYPE_HARDWARE,
	    .config = PERF_COUNT_HW_CPU_CYCLES };

	if (!event_opens(&cycles, 0, 0))
		counters->ct_no_pmu = prof_pmc_why_not(PERF_TYPE_HARDWARE,
		    PERF_COUNT_HW_CPU_CYCLES);
	if (forced != NULL && !prof_pfm_ready(counters->ct_names) &&
	    asprintf(&counters->ct_note, "no such PMU in libpfm4: '%s' "
	    "(LIBPFM_FORCE_PMU); no counters are listed", forced) == -1)
		counters->ct_note = NULL;
	do
		if ((pmu == NULL && (add_perf(counters) == -1 ||
		    prof_sysfs_list(add_sysfs, counters) == -1)) ||
		    prof_pfm_each(counters->ct_names, pmu, add_pfm,
		    counters) == -1)
			return (prof_fail_nomem(error));
	while (counters->ct_n == 0 && ++counters->ct_may_miss <
	    prof_question_nwords(counters->ct_question));
	if (counters->ct_n > 0 && counters->ct_may_miss > 0 &&
	    counters->ct_note == NULL)
		note_some(counters, words);
	if (counters->ct_n > 0)
		qsort(counters->ct_found, counters->ct_n,
		    sizeof(*counters->ct_found), answers_compare);
	return (0);
}

static bool
is_a_pmu(struct prof_names *names, const char *glob)
{
	const char *name;

	for (size_t n = 0; (name = prof_pfm_pmu_at(names, n)) != NULL; n++)
		if (prof_glob_match(glob, name))
			return (true);
	return (false);
}

struct prof_counters *
prof_counters_new(const char *words, const char *pmu, struct prof_err *error)
{
	struct prof_counters *counters = calloc(1, sizeof(*counters));
	int rv = -1;

	if (words == NULL)
		words = "";
	if (counters == NULL ||
	    (counters->ct_question = prof_question_new(words)) == NULL)
		prof_fail_nomem(error);
	else if ((counters->ct_names = prof_names_open(error)) == NULL)
		rv = -1;
	else if (pmu != NULL && !is_a_pmu(counters->ct_names, pmu))
		rv = unknown_pmu(counters->ct_names, pmu, error);
	else if ((rv = sources_search(counters, words, pmu, error)) == 0 &&
	    counters->ct_n == 0)
		rv = no_answer(counters->ct_names, words, error);
	if (rv == 0)
		return (counters);
	prof_counters_free(counters);
	return (NULL);
}

size_t
prof_counters_n(const struct prof_counters *counters)
{
	return (counters->ct_n);
}

const struct prof_counter_info *
prof_counters_at(const struct prof_counters *counters, size_t n)
{
	return (n < counters->ct_n ? &counters->ct_found[n].fo_info : NULL);
}

const char *
prof_counters_note(const struct prof_counters *counters, size_t n)
{
	return (n == 0 ? counters->ct_note : NULL);
}

void
prof_counters_free(struct prof_counters *counters)
{
	if (counters == NULL)
		return;
	for (size_t n = 0; n < counters->ct_n; n++) {
		struct prof_counter_info *info =
		    &counters->ct_found[n].fo_info;

		free((char *)(uintptr_t)info->pt_name);
		free((char *)(uintptr_t)info->pt_pmu);
		free((char *)(uintptr_t)info->pt_desc);
		free((char *)(uintptr_t)info->pt_code);
		free((char *)(uintptr_t)info->pt_why_not);
	}
	free(counters->ct_found);
	free(counters->ct_note);
	prof_question_free(counters->ct_question);
	prof_names_close(counters->ct_names);
	free(counters);
}
