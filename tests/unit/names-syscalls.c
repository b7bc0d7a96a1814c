/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: syscalls are found by name and by glob, in both spellings, each
 * glob as one event with exactly the wanted numbers; slot 0 is the number,
 * behind it the arguments or the signed return value.
 *
 * Easy to get wrong: "open*" is not only open, "fstat" is newfstat in
 * tracefs, syscall:GLOB is the call and not a half, and int arguments leave
 * the upper half of their register undefined.
 */
#include <sys/syscall.h>

#include "names.h"

static unsigned
bits(const struct prof_event *event)
{
	unsigned n = 0;

	for (size_t word = 0; word < DTP_MAX_SYSCALL / 64; word++)
		n += (unsigned)__builtin_popcountll(event->ev_sysmask[word]);
	return (n);
}

static bool
has(const struct prof_event *event, unsigned nr)
{
	return ((event->ev_sysmask[nr / 64] >> (nr % 64) & 1) != 0);
}

static void
check_one(struct prof_names *names, const char *text, const char *probe,
    unsigned nr, bool is_return)
{
	struct prof_events events;
	struct prof_event *event = resolve_one(names, text, NULL, &events);

	CHECK(event->ev_is_syscall &&
	    event->ev_is_return == is_return, "%s", text);
	CHECK(strcmp(event->ev_probe, probe) == 0, "%s: %s", text,
	    event->ev_probe);
	CHECK(strcmp(event->ev_tracepoint, is_return ? "sys_exit" :
	    "sys_enter") == 0, "%s: %s", text, event->ev_tracepoint);
	CHECK(bits(event) == 1 && has(event, nr), "%s: %u numbers", text,
	    bits(event));
	CHECK(strcmp(event->ev_args[0].ag_name, "nr") == 0 &&
	    event->ev_args[0].ag_load.ar_index == 0, "%s", text);
	for (uint32_t n = 1; n < event->ev_nargs; n++)
		CHECK(event->ev_args[n].ag_load.ar_index == n, "%s: %u",
		    text, n);
	if (is_return)
		CHECK(event->ev_nargs == 2 &&
		    strcmp(event->ev_args[1].ag_name, "ret") == 0 &&
		    event->ev_args[1].ag_load.ar_signed == 1 &&
		    event->ev_args[1].ag_load.ar_size == 8, "%s", text);
	prof_events_free(&events);
}

static void
check_globs(struct prof_names *names)
{
	struct prof_events events;
	struct prof_event *event;
	struct prof_err error;
	unsigned all;

	event = resolve_one(names, "syscall::openat*:entry", NULL, &events);
	CHECK(bits(event) == 2 && has(event, SYS_openat) &&
	    has(event, SYS_openat2), "openat*: %u", bits(event));
	CHECK(event->ev_nargs == 7, "generic arguments");
	prof_events_free(&events);

	event = resolve_one(names, "syscall::*:return", NULL, &events);
	all = bits(event);
	CHECK(all > 200 && has(event, SYS_read) && has(event, SYS_execve),
	    "%u syscalls", all);
	CHECK(!has(event, DTP_MAX_SYSCALL - 1), "a number without a name");
	prof_events_free(&events);

	CHECK(prof_names_resolve(names, "syscalls:*", NULL, &events,
	    &error) == 0 && events.el_n == 2 &&
	    bits(events.el_event[0]) == all, "syscalls:*");
	prof_events_free(&events);
	event = resolve_one(names, "syscalls:sys_exit_*", NULL, &events);
	CHECK(event->ev_is_return && bits(event) == all, "sys_exit_*");
	prof_events_free(&events);
}

/* A call is one event: number, return value, arguments, and its time. */
static void
check_calls(struct prof_names *names)
{
	struct prof_events events;
	struct prof_event *event;

	event = resolve_one(names, "syscall:openat", NULL, &events);
	CHECK(event->ev_is_call && !event->ev_is_return && bits(event) == 1 &&
	    has(event, SYS_openat), "syscall:openat");
	CHECK(strcmp(event->ev_probe, "syscall:openat") == 0 &&
	    strcmp(event->ev_unit, "ns") == 0, "%s", event->ev_probe);
	CHECK(strcmp(event->ev_args[1].ag_name, "ret") == 0 &&
	    event->ev_args[1].ag_load.ar_signed == 1, "ret");
	prof_events_free(&events);
	event = resolve_one(names, "syscall:*stat*", NULL, &events);
	CHECK(event->ev_is_call && has(event, SYS_fstat) &&
	    has(event, SYS_statfs) && !has(event, SYS_read), "*stat*");
	CHECK(event->ev_nargs == DTP_MAX_ARGS, "all registers");
	prof_events_free(&events);
	event = resolve_one(names, "syscall", NULL, &events);
	CHECK(event->ev_is_call && bits(event) == DTP_MAX_SYSCALL,
	    "syscall: those without a name, too");
	prof_events_free(&events);
	event = resolve_one(names, "tracepoint:syscalls:sys_enter_read", NULL,
	    &events);
	CHECK(!event->ev_is_call && has(event, SYS_read),
	    "as bpftrace writes it");
	prof_events_free(&events);
}

/* Spellings that would mean something else: the cure names the right one. */
static void
check_refused(struct prof_names *names)
{
	static const struct {
		const char	*text;
		const char	*cure;
	} cases[] = {
		{ "syscall::openat", "syscall:openat" },
		{ "syscall::*stat*", "syscall:*stat*" },
		{ "syscall:", "use syscall for all" },
		{ "syscall::", "use syscall for all" },
		{ "syscall:::", "syscall:*:entry" },
		{ "syscall::read:", "syscall:read for calls" },
		{ "syscall:read:exit", "syscall:read:return" },
		{ "syscall:raed", "syscall:read" },
		{ "syscall:*raed*", "dtprof list 'syscall:*'" },
		{ "syscall:read:entyr", "syscall:read:entry" },
	};
	struct prof_events events = { 0 };
	struct prof_err error;

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		memset(&error, 0, sizeof(error));
		CHECK(prof_names_resolve(names, cases[n].text, NULL, &events,
		    &error) == -1 && events.el_n == 0, "\"%s\" was taken",
		    cases[n].text);
		CHECK(strstr(error.pe_cure, cases[n].cure) != NULL,
		    "\"%s\": cure %s", cases[n].text, error.pe_cure);
	}
}

/* Only where tracefs can be read. */
static void
check_types(struct prof_names *names)
{
	struct prof_events events;
	struct prof_event *event;

	if (prof_names_tracefs(names) == -1)
		return;
	event = resolve_one(names, "syscall::openat:entry", NULL, &events);
	CHECK(event->ev_nargs == 5 &&
	    strcmp(event->ev_args[1].ag_name, "dfd") == 0 &&
	    event->ev_args[1].ag_load.ar_size == 4 &&
	    event->ev_args[1].ag_load.ar_signed == 1, "dfd is an int");
	CHECK(strcmp(event->ev_args[2].ag_name, "filename") == 0 &&
	    event->ev_args[2].ag_load.ar_kind == DTP_A_USTR, "filename");
	prof_events_free(&events);
	event = resolve_one(names, "syscall::read:entry", NULL, &events);
	CHECK(event->ev_nargs == 4 &&
	    strcmp(event->ev_args[2].ag_name, "buf") == 0 &&
	    event->ev_args[2].ag_load.ar_kind == DTP_A_INT,
	    "read's buf is no text");
	prof_events_free(&events);
}

int
main(void)
{
	struct prof_names *names = open_names();

	check_one(names, "syscall::read:entry", "syscall:read:entry",
	    SYS_read, false);
	check_one(names, "syscall::read:return", "syscall:read:return",
	    SYS_read, true);
	check_one(names, "syscalls:sys_enter_openat",
	    "syscall:openat:entry", SYS_openat, false);
	check_one(names, "syscalls:sys_exit_newfstat",
	    "syscall:fstat:return", SYS_fstat, true);
	check_one(names, "syscall:fstat:entry", "syscall:fstat:entry",
	    SYS_fstat, false);
	check_one(names, "syscall::getppi[cd]:entry",
	    "syscall:getppid:entry", SYS_getppid, false);
	check_calls(names);
	check_refused(names);
	check_globs(names);
	check_types(names);
	prof_names_close(names);
	return (passed());
}
