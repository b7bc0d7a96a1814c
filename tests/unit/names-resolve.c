/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: every way to write an event gives the event that it means: type
 * and code, period or rate, modes, unit, probe name and whether it is a
 * timer, by perf's names and as provider:module:function:name.
 *
 * Easy to get wrong: a clock's rate is a period in ns, :p changes no mode, a
 * period in the name wins over -c and -F, and "faults" is page-faults.
 */
#include "names.h"

static const struct {
	const char	*text, *probe, *unit;
	uint32_t	 type;
	uint64_t	 config;
	bool		 by_frequency;
	uint64_t	 rate;		/* frequency or period */
	const char	*modes;		/* what is excluded, and p */
	bool		 is_timer;
} cases[] = {
	{ "cpu-clock", "pmc:::cpu-clock", "ns", 1, 0, false, 1001001, "",
	    true },
	{ "task-clock", "pmc:::task-clock", "ns", 1, 1, false, 1001001, "",
	    true },
	{ "page-faults", "pmc:::page-faults", "events", 1, 2, false, 1, "",
	    false },
	{ "faults:u", "pmc:::page-faults", "events", 1, 2, false, 1, "kh",
	    false },
	{ "cs", "pmc:::context-switches", "events", 1, 3, false, 1, "",
	    false },
	{ "migrations", "pmc:::cpu-migrations", "events", 1, 4, false, 1, "",
	    false },
	{ "minor-faults", "pmc:::minor-faults", "events", 1, 5, false, 1, "",
	    false },
	{ "major-faults", "pmc:::major-faults", "events", 1, 6, false, 1, "",
	    false },
	{ "alignment-faults", "pmc:::alignment-faults", "events", 1, 7,
	    false, 1, "", false },
	{ "emulation-faults", "pmc:::emulation-faults", "events", 1, 8,
	    false, 1, "", false },
	{ "dummy", "pmc:::dummy", "events", 1, 9, false, 1, "", false },
	{ "page-faults@7", "pmc:::page-faults", "events", 1, 2, false, 7, "",
	    false },
	{ "page-faults/period=3/u", "pmc:::page-faults", "events", 1, 2,
	    false, 3, "kh", false },
	{ "page-faults/freq=50/", "pmc:::page-faults", "events", 1, 2, true,
	    50, "", false },
	{ "cpu-clock@100hz", "pmc:::cpu-clock", "ns", 1, 0, false, 10000000,
	    "", true },
	{ "pmc:::cpu-clock-2000000", "pmc:::cpu-clock", "ns", 1, 0, false,
	    2000000, "", true },
	{ "pmc:::page-faults-50hz", "pmc:::page-faults", "events", 1, 2,
	    true, 50, "", false },
	{ ":::page-faults", "pmc:::page-faults", "events", 1, 2, false, 1,
	    "", false },
	{ "*:::cpu-clock", "pmc:::cpu-clock", "ns", 1, 0, false, 1001001, "",
	    true },
	{ "r1a8", "pmc:::r1a8", "events", 4, 0x1a8, true, 999, "", false },
	{ "profile:::997hz", "profile:::997hz", "ns", 1, 0, false, 1003009,
	    "", true },
	{ "profile:::7hz", "profile:::7hz", "ns", 1, 0, false, 142857143,
	    "", true },
	{ "profile:::10ms", "profile:::10ms", "ns", 1, 0, false, 10000000,
	    "", true },
	{ "profile:::250us:u", "profile:::250us", "ns", 1, 0, false, 250000,
	    "kh", true },
	{ "profile:::99", "profile:::99", "ns", 1, 0, false, 10101010, "",
	    true },
	{ "interval:::1s", "interval:::1s", "ns", 1, 0, false, 1000000000,
	    "", true },
};

/* These come from libpfm4 where it knows them, and then mean the same. */
static const struct {
	const char	*text;
	uint32_t	 type;
	uint64_t	 config;
	bool		 exclude_user, exclude_kernel;
	unsigned	 precise;
} counters[] = {
	{ "cycles", 0, 0, false, false, 0 },
	{ "cycles:u", 0, 0, false, true, 0 },
	{ "cycles:k", 0, 0, true, false, 0 },
	{ "cycles:upp", 0, 0, false, true, 2 },
	{ "cycles:ppp", 0, 0, false, false, 3 },
	{ "cycles:uk", 0, 0, false, false, 0 },
	{ "instructions", 0, 1, false, false, 0 },
	{ "cache-references", 0, 2, false, false, 0 },
	{ "cache-misses:u", 0, 3, false, true, 0 },
	{ "branches", 0, 4, false, false, 0 },
	{ "branch-misses", 0, 5, false, false, 0 },
	{ "L1-dcache-load-misses", 3, 0x10000, false, false, 0 },
	{ "L1-dcache-stores", 3, 0x100, false, false, 0 },
	{ "LLC-loads", 3, 2, false, false, 0 },
	{ "dTLB-load-misses", 3, 0x10003, false, false, 0 },
	{ "r1a8:u", 4, 0x1a8, false, true, 0 },
};

static void
check_modes(const char *text, const struct perf_event_attr *attr,
    const char *modes)
{
	CHECK(attr->exclude_user == (strchr(modes, 'u') != NULL) &&
	    attr->exclude_kernel == (strchr(modes, 'k') != NULL),
	    "%s: user %d, kernel %d", text, attr->exclude_user,
	    attr->exclude_kernel);
}

static void
check_cases(struct prof_names *names)
{
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		const char *text = cases[n].text;
		struct prof_events events;
		struct prof_event *event = resolve_one(names, text, NULL,
		    &events);

		CHECK(event->ev_has_period &&
		    event->ev_provider != NULL, "%s", text);
		CHECK(strcmp(event->ev_name, text) == 0, "%s", text);
		CHECK(strcmp(event->ev_probe, cases[n].probe) == 0,
		    "%s: %s", text, event->ev_probe);
		CHECK(strcmp(event->ev_unit, cases[n].unit) == 0, "%s: %s",
		    text, event->ev_unit);
		CHECK(event->ev_attr.type == cases[n].type &&
		    event->ev_attr.config == cases[n].config, "%s: %u %#llx",
		    text, event->ev_attr.type,
		    (unsigned long long)event->ev_attr.config);
		CHECK(event->ev_attr.freq == cases[n].by_frequency &&
		    event->ev_attr.sample_period == cases[n].rate,
		    "%s: freq %d, %llu", text, event->ev_attr.freq,
		    (unsigned long long)event->ev_attr.sample_period);
		check_modes(text, &event->ev_attr, cases[n].modes);
		CHECK(event->ev_is_timer == cases[n].is_timer, "%s", text);
		CHECK((event->ev_cpu == -1) ==
		    (strncmp(text, "interval", 8) != 0), "%s: cpu %d", text,
		    event->ev_cpu);
		CHECK(event->ev_attr.size == sizeof(event->ev_attr), "%s",
		    text);
		prof_events_free(&events);
	}
}

static void
check_counters(struct prof_names *names)
{
	for (size_t n = 0; n < sizeof(counters) / sizeof(counters[0]); n++) {
		const char *text = counters[n].text;
		struct prof_events events;
		struct prof_event *event = resolve_one(names, text, NULL,
		    &events);
		const struct perf_event_attr *attr = &event->ev_attr;

		CHECK(attr->type == counters[n].type &&
		    attr->config == counters[n].config, "%s: %u %#llx", text,
		    attr->type, (unsigned long long)attr->config);
		CHECK(attr->exclude_user == counters[n].exclude_user &&
		    attr->exclude_kernel == counters[n].exclude_kernel &&
		    attr->precise_ip == counters[n].precise, "%s", text);
		CHECK(attr->freq == 1 && attr->sample_freq == 999 &&
		    !event->ev_is_timer, "%s: 999 Hz", text);
		prof_events_free(&events);
	}
}

static void
check_defaults(struct prof_names *names)
{
	struct prof_event_defaults defaults = { .ed_period = 5000000 };
	struct prof_events events;
	struct prof_event *event;

	event = resolve_one(names, "cpu-clock", &defaults, &events);
	CHECK(event->ev_attr.sample_period == 5000000, "-c on a clock");
	prof_events_free(&events);
	event = resolve_one(names, "cpu-clock@100hz", &defaults, &events);
	CHECK(event->ev_attr.sample_period == 10000000, "the name wins");
	prof_events_free(&events);
	defaults = (struct prof_event_defaults){ .ed_frequency_hz = 200,
	    .ed_user_only = true };
	event = resolve_one(names, "page-faults", &defaults, &events);
	CHECK(event->ev_attr.freq == 1 && event->ev_attr.sample_freq == 200,
	    "-F on a software event");
	CHECK(event->ev_attr.exclude_kernel == 1 &&
	    event->ev_attr.exclude_user == 0, "user space only");
	prof_events_free(&events);
	event = resolve_one(names, "task-clock", &defaults, &events);
	CHECK(event->ev_attr.freq == 0 &&
	    event->ev_attr.sample_period == 5000000, "-F on a clock");
	prof_events_free(&events);
}

int
main(void)
{
	struct prof_names *names = open_names();

	if (prof_max_sample_rate() < 999)
		skip("kernel.perf_event_max_sample_rate is below 999");
	check_cases(names);
	check_counters(names);
	check_defaults(names);
	prof_names_close(names);
	return (passed());
}
