/* SPDX-License-Identifier: ISC */
/*
 * "Did you mean": the name nearest to one that nobody knows, over all that
 * the providers have.  Called by names.c when resolving failed, so it may
 * take some milliseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "names.h"

struct suggestion {
	const char	*su_wanted;
	size_t		 su_length;
	unsigned	 su_distance;
	char		*su_best;	/* owned */
};

static void	suggest_try(struct suggestion *suggestion, const char *name,
		    const char *key);
static void	suggest_counters(struct prof_names *names,
		    struct suggestion *suggestion);
static void	suggest_tracepoints(struct prof_names *names,
		    struct suggestion *suggestion);
static void	suggest_syscalls(struct suggestion *suggestion);
static void	suggest_listed(struct prof_names *names,
		    struct suggestion *suggestion);
static int	suggest_probe(void *arg, const struct prof_probe *probe);
static int	suggest_pfm(void *arg, const struct prof_pfm_event *event);
static int	suggest_sysfs(void *arg, const char *name);

char *
prof_names_nearest(struct prof_names *names, const char *wanted)
{
	size_t length = strlen(wanted);
	struct suggestion suggestion = { .su_wanted = wanted,
	    .su_length = length };

	/* A third of it may be wrong, and something must be right. */
	suggestion.su_distance = (unsigned)(length / 3) + 1;
	if (suggestion.su_distance > length)
		suggestion.su_distance = (unsigned)length;
	suggest_counters(names, &suggestion);
	suggest_tracepoints(names, &suggestion);
	suggest_syscalls(&suggestion);
	if (suggestion.su_best == NULL && !names->nm_offline)
		suggest_listed(names, &suggestion);
	return (suggestion.su_best);
}

/* key is what the user might have meant to type, name how to write it. */
static void
suggest_try(struct suggestion *suggestion, const char *name, const char *key)
{
	size_t length = strlen(key);
	unsigned distance;
	char *copy;

	/* Lengths that differ by more cannot be nearer. */
	if (length >= suggestion->su_length + suggestion->su_distance ||
	    suggestion->su_length >= length + suggestion->su_distance)
		return;
	distance = prof_name_distance(suggestion->su_wanted, key);
	if (distance >= suggestion->su_distance ||
	    (copy = strdup(name)) == NULL)
		return;
	free(suggestion->su_best);
	suggestion->su_best = copy;
	suggestion->su_distance = distance;
}

static void
suggest_counters(struct prof_names *names, struct suggestion *suggestion)
{
	char name[64], probe[80];

	for (size_t n = 0; prof_counter_name_at(n, name, sizeof(name)); n++) {
		snprintf(probe, sizeof(probe), "pmc:::%s", name);
		suggest_try(suggestion, name, name);
		suggest_try(suggestion, probe, probe);
	}
	suggest_try(suggestion, "profile:::997hz", "profile:::997hz");
	suggest_try(suggestion, "interval:::1s", "interval:::1s");
	if (names->nm_offline)
		return;
	prof_pfm_each(names, NULL, suggest_pfm, suggestion);
	prof_sysfs_list(suggest_sysfs, suggestion);
}

/* With and without PMU; and without the unit mask, whose lack is explained. */
static int
suggest_pfm(void *arg, const struct prof_pfm_event *event)
{
	const char *name = strstr(event->pe_name, "::") + 2;
	char *bare;

	if (!event->pe_pmu->pu_is_core)
		return (0);
	suggest_try(arg, event->pe_name, event->pe_name);
	suggest_try(arg, name, name);
	if ((bare = strndup(name, strcspn(name, ":"))) != NULL)
		suggest_try(arg, bare, bare);
	free(bare);
	return (0);
}

static int
suggest_sysfs(void *arg, const char *name)
{
	suggest_try(arg, name, name);
	return (0);
}

/* Of providers whose names nobody knows here. */
static void
suggest_listed(struct prof_names *names, struct suggestion *suggestion)
{
	const char *why = NULL;

	for (size_t n = 0; prof_providers[n] != NULL; n++)
		if (prof_providers[n]->pv_list != NULL)
			(void)prof_providers[n]->pv_list(names, suggest_probe,
			    suggestion, &why);
}

static int
suggest_probe(void *arg, const struct prof_probe *probe)
{
	suggest_try(arg, probe->pp_probe, probe->pp_probe);
	return (0);
}

static void
suggest_tracepoints(struct prof_names *names, struct suggestion *suggestion)
{
	const struct prof_tracepoint *tps;
	char name[512];
	size_t ntps;

	tps = prof_tracepoints(names, &ntps);
	for (size_t n = 0; n < ntps; n++) {
		snprintf(name, sizeof(name), "static:%s::%s",
		    tps[n].tp_group, tps[n].tp_name);
		suggest_try(suggestion, name, name);
		if (tps[n].tp_group[0] != '\0')
			snprintf(name, sizeof(name), "%s:%s",
			    tps[n].tp_group, tps[n].tp_name);
		suggest_try(suggestion, name, name);
		suggest_try(suggestion, name, tps[n].tp_name);
	}
}

static void
suggest_syscalls(struct suggestion *suggestion)
{
	static const char *const forms[] = {
		"syscall::%s:entry", "syscall::%s:return",
		"syscalls:sys_enter_%s", "syscalls:sys_exit_%s",
		"syscall:%s", "syscall:%s:entry", "syscall:%s:return"
	};
	const char *syscall;
	char name[160];

	for (unsigned nr = 0; nr < DTP_MAX_SYSCALL; nr++) {
		if ((syscall = prof_syscall_name(nr)) == NULL)
			continue;
		for (size_t n = 4; n < 7; n++) {
			snprintf(name, sizeof(name), forms[n], syscall);
			suggest_try(suggestion, name, n == 4 ? syscall : name);
			suggest_try(suggestion, name, name);
		}
		snprintf(name, sizeof(name), forms[0], syscall);
		suggest_try(suggestion, name, name);
		snprintf(name, sizeof(name), forms[1], syscall);
		suggest_try(suggestion, name, name);
		snprintf(name, sizeof(name), forms[2],
		    prof_syscall_to_tracefs(syscall));
		suggest_try(suggestion, name, name);
		snprintf(name, sizeof(name), forms[3],
		    prof_syscall_to_tracefs(syscall));
		suggest_try(suggestion, name, name);
	}
}
