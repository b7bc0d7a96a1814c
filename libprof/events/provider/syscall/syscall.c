/* SPDX-License-Identifier: ISC */
/*
 * The syscall provider, by name or glob:
 *
 *	syscall:read  syscall:*stat*  syscall	a call: one record of each
 *	syscall:read:entry  syscall:*:return	a half of it
 *	syscalls:sys_enter_read			the halves as perf names them
 *	syscall::read:entry			and as four parts
 *
 * A glob is one event with the set of wanted numbers; its argument "nr" tells
 * them apart.  Called through the table of providers; names come from the
 * compiler's asm/unistd.h (mk/syscalls.sh), so this is the table of the own
 * ABI alone, and from below for what that header is too old for.
 */
#include <asm/unistd.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "events/instrument.h"
#include "events/names.h"

enum syscall_part { SYSCALL_ENTRY, SYSCALL_RETURN, SYSCALL_CALL };
#define NPARTS	3

struct syscall_query {
	char	sq_function[PROF_SPEC_MAX];	/* glob of names */
	bool	sq_is_perf;			/* names as tracefs has them */
	bool	sq_want[NPARTS];
};

static int	syscall_resolve(struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);
static int	syscall_query(const struct prof_spec *spec,
		    struct syscall_query *query, struct prof_err *error);
static int	syscall_query_own(const char *name,
		    struct syscall_query *query, struct prof_err *error);
static size_t	syscall_set(const struct syscall_query *query,
		    enum syscall_part part, uint64_t *mask, unsigned *first);
static int	syscall_add(struct prof_names *names, const char *text,
		    const struct syscall_query *query,
		    enum syscall_part part, struct prof_events *events,
		    struct prof_err *error);

/*
 * Newer than the header; from 424 on a call has one number everywhere.
 */
#define SYSCALLS_LATER(X)						\
	X(450, set_mempolicy_home_node) X(451, cachestat)		\
	X(452, fchmodat2) X(453, map_shadow_stack) X(454, futex_wake)	\
	X(455, futex_wait) X(456, futex_requeue) X(457, statmount)	\
	X(458, listmount) X(459, lsm_get_self_attr)			\
	X(460, lsm_set_self_attr) X(461, lsm_list_modules)		\
	X(462, mseal) X(463, setxattrat) X(464, getxattrat)		\
	X(465, listxattrat) X(466, removexattrat)			\
	X(467, open_tree_attr) X(468, file_getattr)			\
	X(469, file_setattr)

/* By number; gaps are NULL. */
static const char *const syscall_names[DTP_MAX_SYSCALL] = {
#define PROF_SYSCALL(name)	[__NR_##name] = #name,
#include "syscalls.h"
#undef PROF_SYSCALL
};

static const char *const syscall_later[] = {
#define PROF_SYSCALL(number, name)	[(number) - 450] = #name,
	SYSCALLS_LATER(PROF_SYSCALL)
#undef PROF_SYSCALL
};

#define NLATER	(sizeof(syscall_later) / sizeof(syscall_later[0]))

/* Where tracefs has another name than the number. */
static const struct {
	const char	*sa_name;
	const char	*sa_tracefs;
} syscall_aliases[] = {
	{ "fstat", "newfstat" },
	{ "lstat", "newlstat" },
	{ "sendfile", "sendfile64" },
	{ "stat", "newstat" },
	{ "umount2", "umount" },
	{ "uname", "newuname" },
};

#define NALIASES	(sizeof(syscall_aliases) / sizeof(syscall_aliases[0]))

const struct prof_provider prof_provider_syscall = {
	.pv_name = "syscall",
	.pv_resolve = syscall_resolve,
	.pv_list = prof_syscall_list,
};

const char *
prof_syscall_name(unsigned nr)
{
	if (nr >= DTP_MAX_SYSCALL)
		return (NULL);
	if (syscall_names[nr] == NULL && nr >= 450 && nr - 450 < NLATER)
		return (syscall_later[nr - 450]);
	return (syscall_names[nr]);
}

unsigned
prof_syscall_number(const char *name)
{
	unsigned nr;

	for (nr = 0; nr < DTP_MAX_SYSCALL; nr++)
		if (prof_syscall_name(nr) != NULL &&
		    strcmp(prof_syscall_name(nr), name) == 0)
			break;
	return (nr);
}

const char *
prof_syscall_to_tracefs(const char *name)
{
	for (size_t n = 0; n < NALIASES; n++)
		if (strcmp(syscall_aliases[n].sa_name, name) == 0)
			return (syscall_aliases[n].sa_tracefs);
	return (name);
}

static int
syscall_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	struct syscall_query query;
	int found = 0, rv;

	(void)defaults;
	if ((rv = syscall_query(spec, &query, error)) != 1)
		return (rv);
	for (unsigned part = 0; part < NPARTS; part++) {
		uint64_t mask[DTP_MAX_SYSCALL / 64];
		unsigned first;

		if (!query.sq_want[part] ||
		    syscall_set(&query, part, mask, &first) == 0)
			continue;
		if (prof_spec_no_rate(spec, "a syscall", error) == -1 ||
		    prof_spec_no_terms(spec, "a syscall", error) == -1 ||
		    syscall_add(names, spec->sp_whole, &query, part, events,
		    error) == -1)
			return (-1);
		found = 1;
	}
	if (!found && !spec->sp_is_probe && !query.sq_is_perf &&
	    prof_glob_is(query.sq_function)) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN, "no such system call: "
		    "'%s'", query.sq_function);
		return (prof_cure(error, "list system calls with dtprof list "
		    "'syscall:*'"));
	}
	return (found);
}

/*
 * Which names and parts.  1: known, 0: not about syscalls at all, -1: a
 * spelling that means nothing here, and error names the one that does.
 */
static int
syscall_query(const struct prof_spec *spec, struct syscall_query *query,
    struct prof_err *error)
{
	const char *name = spec->sp_name;

	memset(query, 0, sizeof(*query));
	if (spec->sp_is_probe) {
		if (!prof_part_match(spec->sp_module, ""))
			return (0);
		snprintf(query->sq_function, sizeof(query->sq_function),
		    "%s", spec->sp_function);
		if (name[0] == '\0' &&
		    strcmp(spec->sp_provider, "syscall") == 0) {
			const char *glob = query->sq_function[0] == '\0' ?
			    "*" : query->sq_function;

			prof_fail(error, PROF_E_EVENT_SYNTAX, "this event "
			    "would fire at both entry and return of each "
			    "call");
			return (prof_cure(error, "use syscall:%s for calls, or "
			    "syscall:%s:entry or syscall:%s:return",
			    glob, glob, glob));
		}
		query->sq_want[SYSCALL_ENTRY] = prof_part_match(name,
		    "entry");
		query->sq_want[SYSCALL_RETURN] = prof_part_match(name,
		    "return");
		return (1);
	}
	if (strcmp(name, "syscall") == 0 ||
	    strncmp(name, "syscall:", 8) == 0)
		return (syscall_query_own(name + 7, query, error));
	if (strncmp(name, "syscalls:", 9) != 0)
		return (0);
	query->sq_is_perf = true;
	query->sq_want[SYSCALL_ENTRY] = query->sq_want[SYSCALL_RETURN] = true;
	snprintf(query->sq_function, sizeof(query->sq_function), "%s",
	    name + 9);
	return (name[9] != '\0');
}

/* ":GLOB", ":GLOB:entry", or nothing, which is all of them. */
static int
syscall_query_own(const char *name, struct syscall_query *query,
    struct prof_err *error)
{
	const char *glob = name[0] == ':' ? name + 1 : "*", *half;
	size_t length = strcspn(glob, ":");

	half = glob[length] == ':' ? glob + length + 1 : "";
	if (length == 0) {
		prof_fail(error, PROF_E_EVENT_SYNTAX, "invalid system call "
		    "event 'syscall%s'", name);
		if (half[0] == '\0' || half[0] == ':')
			return (prof_cure(error, "use syscall for all calls, "
			    "or syscall:read or syscall:*stat* for some"));
		return (prof_cure(error, "use syscall:%s", half));
	}
	snprintf(query->sq_function, sizeof(query->sq_function), "%.*s",
	    (int)length, glob);
	if (glob[length] == '\0')
		query->sq_want[SYSCALL_CALL] = true;
	else if (strcmp(half, "entry") == 0)
		query->sq_want[SYSCALL_ENTRY] = true;
	else if (strcmp(half, "return") == 0)
		query->sq_want[SYSCALL_RETURN] = true;
	else {
		prof_fail(error, PROF_E_EVENT_SYNTAX, "a system call has no "
		    "probe '%s'", half);
		return (prof_cure(error, "use syscall:%s for the call, or "
		    "syscall:%s:entry or syscall:%s:return",
		    query->sq_function, query->sq_function,
		    query->sq_function));
	}
	return (1);
}

static bool
syscall_match(const struct syscall_query *query, enum syscall_part part,
    const char *name)
{
	const char *half = part == SYSCALL_RETURN ? "exit" : "enter";
	char full[160];

	if (!query->sq_is_perf)
		return (prof_part_match(query->sq_function, name));
	snprintf(full, sizeof(full), "sys_%s_%s", half,
	    prof_syscall_to_tracefs(name));
	if (prof_part_match(query->sq_function, full))
		return (true);
	snprintf(full, sizeof(full), "sys_%s_%s", half, name);
	return (prof_part_match(query->sq_function, full));
}

static size_t
syscall_set(const struct syscall_query *query, enum syscall_part part,
    uint64_t *mask, unsigned *first)
{
	/* All calls, those too that have no name here. */
	const bool is_all = part == SYSCALL_CALL &&
	    strcmp(query->sq_function, "*") == 0;
	size_t found = 0;

	memset(mask, 0, DTP_MAX_SYSCALL / 8);
	for (unsigned nr = 0; nr < DTP_MAX_SYSCALL; nr++) {
		const char *name = prof_syscall_name(nr);

		if (!is_all && (name == NULL ||
		    !syscall_match(query, part, name)))
			continue;
		mask[nr / 64] |= 1ULL << (nr % 64);
		if (found++ == 0)
			*first = nr;
	}
	return (found);
}

/* How an event of one call, or of a glob of them, is called. */
static void
syscall_probe(const struct syscall_query *query, enum syscall_part part,
    const char *only, char *probe, size_t size)
{
	static const char *const formats[NPARTS] = {
		"syscall:%s:entry", "syscall:%s:return", "syscall:%s"
	};
	const char *glob = query->sq_function[0] == '\0' ? "*" :
	    query->sq_function;

	snprintf(probe, size, formats[part], only != NULL ? only : glob);
}

/* What programs have to know of each call that is wanted. */
static void
syscall_about(struct prof_names *names, struct prof_event *event)
{
	for (unsigned nr = 0; nr < DTP_MAX_SYSCALL; nr++) {
		if ((event->ev_sysmask[nr / 64] >> nr % 64 & 1) == 0 ||
		    prof_syscall_name(nr) == NULL)
			continue;
		event->ev_call[nr] = prof_syscall_about(names,
		    prof_syscall_name(nr));
		if (event->ev_call[nr] & DTP_CALL_TEXT)
			event->ev_has_texts = true;
	}
}

static int
syscall_add(struct prof_names *names, const char *text,
    const struct syscall_query *query, enum syscall_part part,
    struct prof_events *events, struct prof_err *error)
{
	const bool is_call = part == SYSCALL_CALL;
	char probe[PROF_SPEC_MAX + 32], name[PROF_SPEC_MAX + 32];
	uint64_t mask[DTP_MAX_SYSCALL / 64];
	struct prof_event *event;
	unsigned first = 0;
	const char *only;

	only = syscall_set(query, part, mask, &first) == 1 ?
	    prof_syscall_name(first) : NULL;
	syscall_probe(query, part, only, probe, sizeof(probe));
	/* One text that means both halves is two names. */
	snprintf(name, sizeof(name), "%s", query->sq_want[SYSCALL_ENTRY] &&
	    query->sq_want[SYSCALL_RETURN] && (!query->sq_is_perf ||
	    prof_glob_is(query->sq_function)) ? probe : text);
	event = prof_event_new(name, probe, is_call ? "ns" : "events",
	    &prof_provider_syscall, is_call ? &prof_instrument_call :
	    &prof_instrument_half);
	if (event == NULL)
		return (prof_fail_nomem(error));
	event->ev_tracepoint = strdup(part == SYSCALL_ENTRY ? "sys_enter" :
	    "sys_exit");
	event->ev_is_return = part == SYSCALL_RETURN;
	event->ev_is_call = is_call;
	memcpy(event->ev_sysmask, mask, sizeof(mask));
	event->ev_nargs = is_call ?
	    prof_syscall_call_args(names, only, event->ev_args) :
	    prof_syscall_args(names, only, event->ev_is_return,
	    event->ev_args);
	if (is_call)
		syscall_about(names, event);
	if (event->ev_tracepoint == NULL || event->ev_nargs == 0) {
		prof_event_free(event);
		return (prof_fail_nomem(error));
	}
	if (prof_events_add(events, event) == -1)
		return (prof_fail_nomem(error));
	return (0);
}
