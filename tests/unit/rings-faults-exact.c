/*
 * ASSERTION: Without BPF, as an ordinary user, a loop that faults exactly N
 * pages gives N samples; stored and lost together are the kernel's own count
 * to the unit, and nothing is unaccounted.  What cannot be read has a reason.
 *
 * Easy to get wrong: a full ring loses samples without a record of it, and
 * PERF_SAMPLE_PERIOD makes software events fire at any period.
 */
/* SPDX-License-Identifier: ISC */
#include "backend/perf/rings_impl.h"
#include "rings.h"

struct seen {
	uint64_t	se_samples;
	uint64_t	se_touching;	/* of them: by the loop that faults */
};

static int
count(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;

	if (record->pr_type == PROF_R_SAMPLE) {
		CHECK(record->pr_weight != 0 && record->pr_ip != 0 &&
		    record->pr_event == 1 && !record->pr_in_kernel,
		    "a sample without weight, pc or event");
		CHECK(record->pr_nuser > 0 && record->pr_user[0] ==
		    record->pr_ip, "the stack does not begin at the pc");
		seen->se_samples++;
		seen->se_touching += is_touching(record->pr_ip);
	}
	return (0);
}

/* A count that cannot be read, and an event of nobody: there is a reason. */
static void
check_unread(struct prof_rings *rings)
{
	struct prof_accounting sum;
	struct prof_err unread = { 0 }, nobody = { 0 };
	size_t n = 0;
	int fd;

	while (rings->rs_fd[n].rf_event != 0)
		n++;
	fd = rings->rs_fd[n].rf_fd;
	rings->rs_fd[n].rf_fd = -1;
	CHECK(prof_rings_accounting(rings, 1, &sum, &unread) == -1 &&
	    unread.pe_code == PROF_E_IO, "%s", unread.pe_text);
	rings->rs_fd[n].rf_fd = fd;
	CHECK(prof_rings_accounting(rings, 99, &sum, &nobody) == -1 &&
	    nobody.pe_code == PROF_E_USAGE, "%s", nobody.pe_text);
}

static struct prof_accounting
run(size_t npages, uint64_t period, size_t ring_bytes,
    struct seen *seen)
{
	struct prof_event event = page_faults(period), *events[] = { &event };
	struct prof_rings_options options;
	struct prof_accounting sum;
	struct prof_rings *rings;
	struct prof_err error = { 0 };
	struct child child;

	memset(seen, 0, sizeof(*seen));
	child = child_new(fault_pages, npages);
	rings_online(&options);
	options.ro_pids = &child.ch_pid;
	options.ro_npids = 1;
	options.ro_inherit = true;
	options.ro_samples = true;
	options.ro_callchain = true;
	options.ro_events = events;
	options.ro_nevents = 1;
	options.ro_ring_bytes = ring_bytes;
	rings = rings_open(&options);
	CHECK(prof_rings_enable(rings) == 0, "%s", strerror(errno));
	child_go(&child);
	child_end(&child);
	CHECK(prof_rings_disable(rings) == 0, "%s", strerror(errno));
	CHECK(rings_drain(rings, UINT64_MAX, count, seen) == 0,
	    "drain");
	CHECK(prof_rings_accounting(rings, 1, &sum, &error) == 0, "%s",
	    error.pe_text);
	CHECK(sum.pa_stored == seen->se_samples, "%llu handed over, %llu "
	    "stored", (unsigned long long)seen->se_samples,
	    (unsigned long long)sum.pa_stored);
	CHECK(sum.pa_fired == sum.pa_stored + sum.pa_full + sum.pa_nested +
	    sum.pa_filtered + sum.pa_error, "the identity");
	printf("ok: %zu pages, period %llu, ring %zu: fired %llu stored %llu "
	    "full %llu count %llu unaccounted %lld bound %llu\n", npages,
	    (unsigned long long)period, ring_bytes,
	    (unsigned long long)sum.pa_fired,
	    (unsigned long long)sum.pa_stored,
	    (unsigned long long)sum.pa_full,
	    (unsigned long long)sum.pa_count, (long long)sum.pa_unaccounted,
	    (unsigned long long)sum.pa_unaccounted_bound);
	check_unread(rings);
	prof_rings_close(rings);
	free((int *)(uintptr_t)options.ro_cpus);
	return (sum);
}

int
main(void)
{
	struct prof_accounting some, full, tenth;
	struct seen seen;

	become_ordinary();
	run(0, 1, 1 << 19, &seen);
	CHECK(seen.se_touching == 0, "samples of a loop that did not run");
	some = run(1000, 1, 1 << 19, &seen);
	CHECK(some.pa_full == 0, "the ring was too small for this test");
	CHECK(seen.se_touching == 1000, "%llu samples of 1000 faults",
	    (unsigned long long)seen.se_touching);
	full = run(50000, 1, 4096, &seen);
	CHECK(full.pa_full > 0, "a ring of one page was not full");
	CHECK(full.pa_fired >= 50000, "%llu fired",
	    (unsigned long long)full.pa_fired);
	CHECK(some.pa_unaccounted == 0 && full.pa_unaccounted == 0 &&
	    some.pa_unaccounted_bound == 0 &&
	    full.pa_unaccounted_bound == 0, "unaccounted");
	CHECK(some.pa_fired == some.pa_count &&
	    full.pa_fired == full.pa_count, "the kernel counted otherwise");
	tenth = run(1000, 10, 1 << 19, &seen);
	CHECK(tenth.pa_has_count && tenth.pa_unaccounted >= 0 &&
	    (uint64_t)tenth.pa_unaccounted <= tenth.pa_unaccounted_bound,
	    "period 10: %lld unaccounted", (long long)tenth.pa_unaccounted);
	CHECK(tenth.pa_count >= 1000 && tenth.pa_full == 0 &&
	    10 * tenth.pa_stored + (uint64_t)tenth.pa_unaccounted ==
	    tenth.pa_count, "period 10 gave %llu samples of %llu",
	    (unsigned long long)tenth.pa_stored,
	    (unsigned long long)tenth.pa_count);
	return (0);
}
