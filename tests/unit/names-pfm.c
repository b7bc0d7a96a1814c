/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: libpfm4's names give its encodings, modes and precision; and
 * its quirks do no harm: with a PMU forced that does not exist it has none
 * and says nothing, with another one forced it no longer knows "cycles".
 *
 * Easy to get wrong: a PMU of the own architecture alone can be forced, and
 * libpfm4 is initialised once per process, so each case is a child.
 */
#include <sys/types.h>

#include "names.h"

static void
expect(struct prof_names *names, const char *text, uint32_t type,
    uint64_t config, bool exclude_kernel, unsigned precise)
{
	struct prof_events events;
	struct prof_event *event = resolve_one(names, text, NULL, &events);
	const struct perf_event_attr *attr = &event->ev_attr;

	CHECK(attr->type == type && attr->config == config, "%s: %u %#llx",
	    text, attr->type, (unsigned long long)attr->config);
	CHECK(attr->exclude_kernel == exclude_kernel && attr->precise_ip ==
	    precise, "%s: modes", text);
	CHECK(attr->size == sizeof(*attr) && attr->freq == 1, "%s", text);
	prof_events_free(&events);
}

static void
with_nothing(struct prof_names *names)
{
	CHECK(!prof_pfm_ready(names), "a PMU that does not exist");
	expect(names, "cycles", 0, 0, false, 0);
	expect(names, "r1a8:u", 4, 0x1a8, true, 0);
	expect(names, "L1-dcache-load-misses", 3, 0x10000, false, 0);
}

static void
with_skylake(struct prof_names *names)
{
	struct prof_events events = { 0 };
	struct prof_err error;

	CHECK(prof_pfm_ready(names), "skx");
	expect(names, "INST_RETIRED", 4, 0xc0, false, 0);
	expect(names, "INST_RETIRED:ANY_P:u", 4, 0xc0, true, 0);
	expect(names, "inst_retired:any_p:upp", 4, 0xc0, true, 2);
	expect(names, "skx::UNHALTED_CORE_CYCLES", 4, 0x3c, false, 0);
	expect(names, "pmc:::MEM_LOAD_RETIRED:L3_MISS:u", 4, 0x20d1, true,
	    0);
	expect(names, "cycles:u", 0, 0, true, 0);
	CHECK(prof_names_resolve(names, "INST_RETIRED:NO_SUCH_MASK", NULL,
	    &events, &error) == -1 &&
	    error.pe_code == PROF_E_EVENT_SYNTAX &&
	    strstr(error.pe_text, "(libpfm4)") != NULL, "%s",
	    error.pe_text);
}

/* 0: held, 77: libpfm4 of this architecture lacks the PMU. */
static void
child(const char *pmu, void (*check)(struct prof_names *names))
{
	struct prof_names *names;
	int status;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0) {
		setenv("LIBPFM_FORCE_PMU", pmu, 1);
		names = open_names();
		check(names);
		prof_names_close(names);
		exit(0);
	}
	CHECK(pid != -1 && waitpid(pid, &status, 0) == pid &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 0, "PMU %s", pmu);
}

int
main(void)
{
	child("nosuchpmu", with_nothing);
#ifdef __x86_64__
	child("skx", with_skylake);
#else
	(void)with_skylake;
#endif
	return (passed());
}
