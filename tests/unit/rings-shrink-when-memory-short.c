/*
 * ASSERTION: Where locked memory is short the rings become smaller, say so
 * with the knob's name, and still account for every sample.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/resource.h>

#include "rings.h"

static int
ignore(void *arg, const struct prof_record *record)
{
	(void)arg;
	(void)record;
	return (0);
}

int
main(void)
{
	struct prof_event event = page_faults(1), *events[] = { &event };
	const struct rlimit none = { 0, 0 };
	struct prof_rings_options options;
	struct prof_accounting sum;
	struct prof_rings *rings;
	struct child child;
	struct prof_err error;
	const char *note;

	become_ordinary();
	if (prof_proc_number("/proc/sys/kernel/perf_event_paranoid", 2) < 0)
		skip("locked memory is not limited at perf_event_paranoid -1");
	if (setrlimit(RLIMIT_MEMLOCK, &none) == -1)
		skip("the limit of locked memory cannot be lowered");
	child = child_new(fault_pages, 3000);
	rings_online(&options);
	options.ro_pids = &child.ch_pid;
	options.ro_npids = 1;
	options.ro_samples = true;
	options.ro_events = events;
	options.ro_nevents = 1;
	options.ro_ring_bytes = 4096;
	prof_rings_close(rings_open(&options));
	/* Some is to be had, so from here on there is no reason to skip. */
	options.ro_ring_bytes = (size_t)1 << 28;
	memset(&error, 0, sizeof(error));
	rings = prof_rings_open(&options, &error);
	CHECK(rings != NULL, "%s; %s", error.pe_text, error.pe_cure);
	note = prof_rings_note(rings, 0);
	CHECK(note != NULL && strstr(note, "perf_event_mlock_kb") != NULL &&
	    strstr(note, "perf rings reduced") != NULL, "note: %s",
	    note ? note : "none");
	printf("ok: %s\n", note);
	CHECK(prof_rings_enable(rings) == 0, "%s", strerror(errno));
	child_go(&child);
	child_end(&child);
	CHECK(prof_rings_disable(rings) == 0, "%s", strerror(errno));
	rings_drain(rings, UINT64_MAX, ignore, NULL);
	CHECK(prof_rings_accounting(rings, 1, &sum, &error) == 0, "%s",
	    error.pe_text);
	CHECK(sum.pa_fired >= 3000 && sum.pa_unaccounted == 0 &&
	    sum.pa_fired == sum.pa_count, "fired %llu, count %llu",
	    (unsigned long long)sum.pa_fired,
	    (unsigned long long)sum.pa_count);
	printf("ok: fired %llu = count, unaccounted 0\n",
	    (unsigned long long)sum.pa_fired);
	prof_rings_close(rings);
	free((int *)(uintptr_t)options.ro_cpus);
	return (0);
}
