/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: I-43: a rate or period out of range is refused with the range
 * and the kernel's knob, the last value inside is taken, and a refused spec
 * changes nothing.
 *
 * Easy to get wrong: the knob's value is this kernel's now and not 100000,
 * clocks have a floor of 10 us, and periods with the highest bit set are
 * refused by the kernel with no more than "invalid argument".
 */
#include <inttypes.h>

#include "names.h"

static struct prof_names *names;

static void
taken(const char *text, const struct prof_event_defaults *defaults)
{
	struct prof_events events;

	resolve_one(names, text, defaults, &events);
	prof_events_free(&events);
}

static void
refused(const char *text, const struct prof_event_defaults *defaults,
    const char *sentence, const char *cure)
{
	struct prof_events events = { 0 };
	struct prof_err error;

	memset(&error, 0, sizeof(error));
	CHECK(prof_names_resolve(names, text, defaults, &events, &error) ==
	    -1 && events.el_n == 0, "%s was taken", text);
	CHECK(error.pe_code == PROF_E_LIMIT, "%s: %s", text, error.pe_text);
	CHECK(strstr(error.pe_text, sentence) != NULL, "%s: %s", text,
	    error.pe_text);
	CHECK(strstr(error.pe_cure, cure) != NULL, "%s: %s", text,
	    error.pe_cure);
	prof_events_free(&events);
}

static void
check_rate(uint64_t most)
{
	struct prof_event_defaults defaults = { .ed_frequency_hz = most };
	char text[128], number[32];

	snprintf(text, sizeof(text), "page-faults/freq=%" PRIu64 "/", most);
	taken(text, NULL);
	taken("page-faults", &defaults);
	snprintf(text, sizeof(text), "page-faults/freq=%" PRIu64 "/",
	    most + 1);
	snprintf(number, sizeof(number), "%" PRIu64 " Hz", most);
	refused(text, NULL, number, "kernel.perf_event_max_sample_rate=");
	refused(text, NULL, "kernel.perf_event_max_sample_rate", number);
	defaults.ed_frequency_hz = most + 1;
	refused("page-faults", &defaults, "perf_event_max_sample_rate",
	    "sysctl");
	snprintf(text, sizeof(text), "profile:::%" PRIu64 "hz", most + 1);
	refused(text, NULL, "perf_event_max_sample_rate", "sysctl");
}

int
main(void)
{
	struct prof_event_defaults defaults = { .ed_period = UINT64_MAX };

	names = open_names();
	check_rate(prof_max_sample_rate());

	refused("page-faults/period=0/", NULL, "period 0: out of range", "1");
	refused("page-faults/freq=0/", NULL, "frequency 0: out of range", "1");
	taken("page-faults/period=1/", NULL);
	taken("page-faults/period=9223372036854775807/", NULL);
	refused("page-faults/period=9223372036854775808/", NULL,
	    "9223372036854775808", "1 to 9223372036854775807");
	refused("page-faults", &defaults, "18446744073709551615",
	    "9223372036854775807");
	/* Tracepoints have no rate: what is set for all is not theirs. */
	taken("syscall::read:entry", &defaults);

	taken("profile:::10us", NULL);
	refused("profile:::9us", NULL, "10000 ns", "10us");
	refused("profile:::9999ns", NULL, "9999 ns", "10us");
	taken("cpu-clock/period=10000/", NULL);
	refused("cpu-clock/period=9999/", NULL, "10000 ns", "10us");
	refused("interval:::1us", NULL, "10000 ns", "10us");
	refused("interval:::18446744073709551615s", NULL, "invalid",
	    "9223372036854775807");
	prof_names_close(names);
	return (passed());
}
