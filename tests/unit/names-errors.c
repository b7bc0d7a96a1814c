/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a name that means nothing is refused with the right code, one
 * sentence and a cure, suggests the nearest name that exists, and leaves the
 * list of events as it was, also when a glob fails half way.
 *
 * Easy to get wrong: nothing may stay of a spec of which a part failed, and
 * a suggestion that is nothing like the name is worse than none.
 */
#include "names.h"

static const char tracepoints[] =
    "sched:sched_switch\nsched:sched_wakeup\nirq:irq_handler_entry\n"
    "syscalls:sys_enter_read\nftrace:function\n";

static const struct {
	const char	*text;
	enum prof_code	 code;
	const char	*sentence;	/* contained in it */
	const char	*cure;		/* contained in it */
} cases[] = {
	{ "cycels", PROF_E_EVENT_UNKNOWN,
	    "cannot open event 'cycels': no such event", "mean 'cycles'?" },
	{ "cpuclock", PROF_E_EVENT_UNKNOWN, "'cpuclock'", "'cpu-clock'" },
	{ "page_faults", PROF_E_EVENT_UNKNOWN, "no such", "'page-faults'" },
	{ "sched:sched_swich", PROF_E_EVENT_UNKNOWN, "'sched:sched_swich'",
	    "'sched:sched_switch'" },
	{ "sched_switch", PROF_E_EVENT_UNKNOWN, "'sched_switch'",
	    "'sched:sched_switch'" },
	{ "syscall::raed:entry", PROF_E_EVENT_UNKNOWN, "no such event",
	    "'syscall::read:entry'" },
	{ "syscalls:sys_exit_opnat", PROF_E_EVENT_UNKNOWN, "no such event",
	    "'syscalls:sys_exit_openat'" },
	{ "pmc:::page-fualts", PROF_E_EVENT_UNKNOWN, "no such event",
	    "'pmc:::page-faults'" },
	{ "nothing-like-this-exists", PROF_E_EVENT_UNKNOWN,
	    "'nothing-like-this-exists'", "with dtprof list" },
	{ "dtrace:libc.so::probe", PROF_E_EVENT_UNKNOWN,
	    "'dtrace:libc.so::probe'", "providers are pmc" },
	{ "bpf-output", PROF_E_EVENT_UNKNOWN, "no such event", "dtprof" },
	{ "ftrace:function", PROF_E_EVENT_UNKNOWN, "no such event",
	    "dtprof" },
	{ "nopmu/event=1/", PROF_E_EVENT_UNKNOWN,
	    "no such PMU or event on this machine: 'nopmu'", "dtprof list" },
	{ "", PROF_E_EVENT_SYNTAX, "empty event name", "use provider" },
	{ ":", PROF_E_EVENT_UNKNOWN, "cannot open event ':'", "" },
	{ "/", PROF_E_EVENT_SYNTAX, "two slashes", "period=1000003" },
	{ "//", PROF_E_EVENT_SYNTAX, "invalid event name: '//'",
	    "use provider" },
	{ "cycles/period=5", PROF_E_EVENT_SYNTAX, "two slashes",
	    "cycles/period" },
	{ "cycles/period=x/", PROF_E_EVENT_SYNTAX, "not a number",
	    "cycles/period=1000003/" },
	{ "cycles/period=5/z", PROF_E_EVENT_SYNTAX, "'z' after",
	    "u (user)" },
	{ "cycles/period=5,freq=5/", PROF_E_EVENT_SYNTAX,
	    "duplicate period or freq", "" },
	{ "cycles@", PROF_E_EVENT_SYNTAX, "not a number", "" },
	{ "page-faults/color=1/", PROF_E_EVENT_SYNTAX,
	    "page-faults has no setting 'color'", "period=N" },
	{ "cycles:pppp", PROF_E_EVENT_SYNTAX, "given 4 times", ":ppp" },
	{ "cy\tcles", PROF_E_EVENT_SYNTAX, "character 3", "" },
	{ "pmc:::page*", PROF_E_EVENT_SYNTAX, "needs its full name",
	    "dtprof list 'pmc:::page*'" },
	{ "proc", PROF_E_EVENT_SYNTAX, "part of every recording",
	    "leave out -e" },
	{ "proc:::exec", PROF_E_EVENT_SYNTAX, "part of every recording", "" },
	{ "profile:::soon", PROF_E_EVENT_SYNTAX,
	    "'soon' is neither a rate nor an interval", "profile:::997hz" },
	{ "interval:::1h", PROF_E_EVENT_SYNTAX, "neither a rate", "10ms" },
	{ "sched:sched_switch:u", PROF_E_EVENT_SYNTAX,
	    "a tracepoint has no modifier ':u'", "counters and clocks" },
	{ "sched:sched_switch/period=2/", PROF_E_EVENT_SYNTAX,
	    "a tracepoint has no period", "--filter" },
	{ "syscall::read:entry/period=2/", PROF_E_EVENT_SYNTAX,
	    "a syscall has no period", "--filter" },
};

static void
check_cases(struct prof_names *names)
{
	struct prof_events events = { 0 };
	struct prof_err error;

	CHECK(prof_names_resolve(names, "dummy", NULL, &events, &error) == 0,
	    "%s", error.pe_text);
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		const char *text = cases[n].text;

		memset(&error, 0, sizeof(error));
		CHECK(prof_names_resolve(names, text, NULL, &events,
		    &error) == -1, "\"%s\" was taken", text);
		CHECK(error.pe_code == (int)cases[n].code, "\"%s\": %s: %s",
		    text, prof_code_name(error.pe_code), error.pe_text);
		CHECK(strstr(error.pe_text, cases[n].sentence) != NULL,
		    "\"%s\": %s", text, error.pe_text);
		CHECK(strstr(error.pe_cure, cases[n].cure) != NULL,
		    "\"%s\": cure %s", text, error.pe_cure);
		CHECK(error.pe_cure[0] != '\0' && strchr(error.pe_text,
		    '\n') == NULL, "\"%s\"", text);
		CHECK(events.el_n == 1, "\"%s\" left an event", text);
	}
	prof_events_free(&events);
}

/* 300 tracepoints of one group: too many; and one that fails late. */
static void
check_globs(void)
{
	static char many[300 * 16];
	struct prof_events events = { 0 };
	struct prof_names *names;
	struct prof_err error;
	size_t used = 0;

	for (int n = 0; n < 300; n++)
		used += (size_t)snprintf(many + used, sizeof(many) - used,
		    "big:t%03d\n", n);
	names = prof_names_open_offline(many, &error);
	CHECK(names != NULL, "offline");
	CHECK(prof_names_resolve(names, "big:*", NULL, &events, &error) ==
	    -1 && error.pe_code == PROF_E_LIMIT, "300 tracepoints");
	CHECK(strcmp(error.pe_text, "'big:*' matches 300 tracepoints "
	    "(at most 256)") == 0, "%s", error.pe_text);
	CHECK(prof_names_resolve(names, "big:t[01]*", NULL, &events,
	    &error) == 0 && events.el_n == 200, "200 tracepoints");
	CHECK(strcmp(events.el_event[7]->ev_name, "big:t007") == 0, "%s",
	    events.el_event[7]->ev_name);
	prof_events_free(&events);
	/* No types here, so the first of the 200 already fails. */
	CHECK(prof_names_resolve(names, "big:t[01]*/arg0/", NULL, &events,
	    &error) == -1 && error.pe_code == PROF_E_EVENT_UNSUPPORTED &&
	    events.el_n == 0, "arguments without types");
	prof_events_free(&events);
	prof_names_close(names);
}

/* Of the scheduler's tracepoints the first has a task, some have none. */
static void
check_half_way(void)
{
	struct prof_names *names = open_names();
	struct prof_events events = { 0 };
	struct prof_err error;

	if (prof_names_tracefs(names) != -1 &&
	    prof_names_btf(names) != NULL) {
		CHECK(prof_names_resolve(names, "sched:sched_kthread_stop/pid/",
		    NULL, &events, &error) == 0 && events.el_n == 1, "%s",
		    error.pe_text);
		CHECK(prof_names_resolve(names, "sched:sched_kth*/pid/", NULL,
		    &events, &error) == -1, "not all have a pid");
		CHECK(events.el_n == 1, "%zu events are left", events.el_n);
	}
	prof_events_free(&events);
	prof_names_close(names);
}

int
main(void)
{
	struct prof_names *names;
	struct prof_err error;

	names = prof_names_open_offline(tracepoints, &error);
	CHECK(names != NULL, "offline: %s", error.pe_text);
	check_cases(names);
	prof_names_close(names);
	check_globs();
	check_half_way();
	return (passed());
}
