/* SPDX-License-Identifier: ISC */
/*
 * The syscall provider: syscall::read:entry, syscall::open*:return, and the
 * names of perf, syscalls:sys_enter_read, syscalls:sys_exit_*.  A glob is
 * one event with the set of wanted numbers; its argument "nr" tells them
 * apart.  Both directions at once (an empty last part) are two events.
 * Called through the table of providers; names come from the compiler's
 * asm/unistd.h (mk/syscalls.sh), so this is the table of the own ABI alone.
 */
#include <asm/unistd.h>

#include <stdlib.h>
#include <string.h>

#include "names.h"

struct syscall_query {
	char	sq_function[PROF_SPEC_MAX];	/* glob of names */
	bool	sq_is_perf;			/* names as tracefs has them */
	bool	sq_want[2];			/* entry, return */
};

static int	syscall_resolve(struct prof_names *names, const char *text,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);
static bool	syscall_query(const struct prof_spec *spec,
		    struct syscall_query *query);
static size_t	syscall_set(const struct syscall_query *query, int is_return,
		    uint64_t *mask, unsigned *first);
static int	syscall_add(struct prof_names *names, const char *text,
		    const struct syscall_query *query, int is_return,
		    struct prof_events *events, struct prof_err *error);

/* By number; gaps are NULL. */
static const char *const syscall_names[DTP_MAX_SYSCALL] = {
#define PROF_SYSCALL(name)	[__NR_##name] = #name,
#include "syscalls.h"
#undef PROF_SYSCALL
};

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
	return (nr < DTP_MAX_SYSCALL ? syscall_names[nr] : NULL);
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
syscall_resolve(struct prof_names *names, const char *text,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	struct syscall_query query;
	struct prof_spec spec;
	int found = 0;

	(void)defaults;
	if (prof_spec_parse(&spec, text, error) == -1)
		return (-1);
	if (!syscall_query(&spec, &query))
		return (0);
	for (int is_return = 0; is_return < 2; is_return++) {
		uint64_t mask[DTP_MAX_SYSCALL / 64];
		unsigned first;

		if (!query.sq_want[is_return] ||
		    syscall_set(&query, is_return, mask, &first) == 0)
			continue;
		if (prof_spec_no_rate(&spec, "a syscall", error) == -1 ||
		    prof_spec_no_terms(&spec, "a syscall", error) == -1 ||
		    syscall_add(names, text, &query, is_return, events,
		    error) == -1)
			return (-1);
		found = 1;
	}
	return (found);
}

/* Which names and directions; false: not about syscalls at all. */
static bool
syscall_query(const struct prof_spec *spec, struct syscall_query *query)
{
	const char *name = spec->sp_name;

	memset(query, 0, sizeof(*query));
	if (spec->sp_is_probe) {
		if (!prof_part_match(spec->sp_module, ""))
			return (false);
		query->sq_want[0] = prof_part_match(name, "entry");
		query->sq_want[1] = prof_part_match(name, "return");
		snprintf(query->sq_function, sizeof(query->sq_function),
		    "%s", spec->sp_function);
		return (true);
	}
	if (strncmp(name, "syscalls:", 9) != 0)
		return (false);
	query->sq_is_perf = true;
	query->sq_want[0] = query->sq_want[1] = true;
	snprintf(query->sq_function, sizeof(query->sq_function), "%s",
	    name + 9);
	return (name[9] != '\0');
}

static bool
syscall_match(const struct syscall_query *query, int is_return,
    const char *name)
{
	char full[160];

	if (!query->sq_is_perf)
		return (prof_part_match(query->sq_function, name));
	snprintf(full, sizeof(full), "sys_%s_%s", is_return ? "exit" :
	    "enter", prof_syscall_to_tracefs(name));
	if (prof_part_match(query->sq_function, full))
		return (true);
	snprintf(full, sizeof(full), "sys_%s_%s", is_return ? "exit" :
	    "enter", name);
	return (prof_part_match(query->sq_function, full));
}

static size_t
syscall_set(const struct syscall_query *query, int is_return, uint64_t *mask,
    unsigned *first)
{
	size_t found = 0;

	memset(mask, 0, DTP_MAX_SYSCALL / 8);
	for (unsigned nr = 0; nr < DTP_MAX_SYSCALL; nr++) {
		if (syscall_names[nr] == NULL ||
		    !syscall_match(query, is_return, syscall_names[nr]))
			continue;
		mask[nr / 64] |= 1ULL << (nr % 64);
		if (found++ == 0)
			*first = nr;
	}
	return (found);
}

static int
syscall_add(struct prof_names *names, const char *text,
    const struct syscall_query *query, int is_return,
    struct prof_events *events, struct prof_err *error)
{
	const char *direction = is_return ? "return" : "entry";
	char probe[PROF_SPEC_MAX + 32], name[PROF_SPEC_MAX + 32];
	struct prof_event *event;
	unsigned first = 0;
	size_t count;
	uint64_t mask[DTP_MAX_SYSCALL / 64];

	count = syscall_set(query, is_return, mask, &first);
	if (count == 1)
		snprintf(probe, sizeof(probe), "syscall::%s:%s",
		    syscall_names[first], direction);
	else
		snprintf(probe, sizeof(probe), "syscall::%s:%s",
		    query->sq_function[0] == '\0' ? "*" : query->sq_function,
		    direction);
	/* One text that means both directions is two names. */
	snprintf(name, sizeof(name), "%s", query->sq_want[0] &&
	    query->sq_want[1] && (!query->sq_is_perf ||
	    prof_glob_is(query->sq_function)) ? probe : text);
	event = prof_event_new(name, probe, "events", &prof_provider_syscall,
	    PROF_KIND_SYSCALL);
	if (event == NULL)
		return (prof_fail_nomem(error));
	event->ev_tracepoint = strdup(is_return ? "sys_exit" : "sys_enter");
	event->ev_is_return = is_return;
	memcpy(event->ev_sysmask, mask, sizeof(mask));
	event->ev_nargs = prof_syscall_args(names, count == 1 ?
	    syscall_names[first] : NULL, is_return, event->ev_args);
	if (event->ev_tracepoint == NULL || event->ev_nargs == 0) {
		prof_event_free(event);
		return (prof_fail_nomem(error));
	}
	if (prof_events_add(events, event) == -1)
		return (prof_fail_nomem(error));
	return (0);
}
