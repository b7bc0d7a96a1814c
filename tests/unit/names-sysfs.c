/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a PMU's terms land on the bits that its format file names, also
 * in pieces, in all three words, and a value that does not fit is refused.
 *
 * Easy to get wrong: the second piece takes the value's next bits, not its
 * low ones, and bit 63 is a bit.
 */
#include "names.h"

static const struct {
	const char	*format;
	uint64_t	 value;
	int		 rv;
	uint64_t	 config, config1, config2;
} cases[] = {
	{ "config:0-7", 0x3c, 0, 0x3c, 0, 0 },
	{ "config:8-15", 0x3c, 0, 0x3c00, 0, 0 },
	{ "config:23", 1, 0, 1 << 23, 0, 0 },
	{ "config:0-7,32-35", 0xabc, 0, 0xa000000bc, 0, 0 },
	{ "config:0-63", UINT64_MAX, 0, UINT64_MAX, 0, 0 },
	{ "config:63", 1, 0, 1ULL << 63, 0, 0 },
	{ "config1:0-15", 100, 0, 0, 100, 0 },
	{ "config2:4-7", 15, 0, 0, 0, 0xf0 },
	{ "config:0-7", 0x100, -1, 0, 0, 0 },
	{ "config:23", 2, -1, 0, 0, 0 },
	{ "config:8-1", 1, -1, 0, 0, 0 },
	{ "config:60-70", 1, -1, 0, 0, 0 },
	{ "config", 1, -1, 0, 0, 0 },
	{ "config9:0-7", 1, -1, 0, 0, 0 },
};

static int
use_first(void *arg, const char *name)
{
	snprintf(arg, 600, "%s", name);
	return (1);
}

int
main(void)
{
	struct prof_names *names = open_names();
	char name[600] = "", other[700];

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct prof_pmc counter;
		int rv;

		memset(&counter, 0, sizeof(counter));
		rv = prof_sysfs_spread(cases[n].format, cases[n].value,
		    &counter);
		CHECK(rv == cases[n].rv, "%s: %d", cases[n].format, rv);
		if (rv == 0)
			CHECK(counter.pc_config == cases[n].config &&
			    counter.pc_config1 == cases[n].config1 &&
			    counter.pc_config2 == cases[n].config2, "%s: %#llx",
			    cases[n].format,
			    (unsigned long long)counter.pc_config);
	}
	/* What this machine lists can be named. */
	if (prof_sysfs_list(use_first, name) == 1) {
		struct prof_events events;

		resolve_one(names, name, NULL, &events);
		CHECK(events.el_event[0]->ev_attr.type >= PERF_TYPE_MAX ||
		    events.el_event[0]->ev_attr.type == PERF_TYPE_RAW,
		    "%s: type %u", name, events.el_event[0]->ev_attr.type);
		prof_events_free(&events);
		/* With the number that other kernels give it. */
		snprintf(other, sizeof(other), "%.*s_0%s",
		    (int)strcspn(name, "/"), name, strchr(name, '/'));
		resolve_one(names, other, NULL, &events);
		prof_events_free(&events);
	}
	prof_names_close(names);
	return (passed());
}
