/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: An event that is attached while a session records has its
 * samples from then on, exactly as many as fired until it is detached; each
 * event's accounting balances, a timer is late only for the time that it was
 * attached, and what cannot be attached leaves the recording as it is.  The
 * same holds beside counters in samples, whose values the new ones have, too.
 *
 * Easy to get wrong: tables that were made for the events of the beginning,
 * rows of the accounting that stand there twice, and what fires while it is
 * attached or detached.  How many overruns there are says nothing: the kernel
 * throttles events, and where a CPU idles no tick lifts that.  But with them
 * it is all of the time that a timer was attached.
 */
#include <sys/syscall.h>

#include <time.h>

#include "recording/query.h"
#include "session.h"

#define CALLS	1000

static void
run(struct prof_session *session, int ms)
{
	for (; ms > 0; ms -= 10) {
		CHECK(prof_session_run(session, 10) == 1);
		(void)usleep(1000);
	}
}

static void
call(void)
{
	for (int n = 0; n < CALLS; n++)
		(void)syscall(SYS_getppid);
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec);
}

/*
 * All of the time that it was attached was sampled or overrun.  An event is on
 * for some microseconds longer than its timer runs.
 */
static void
check_timer(const struct prof_accounting *pa, uint64_t period)
{
	const uint64_t known_ns = pa->pa_weight + pa->pa_outside_weight +
	    pa->pa_overruns * period;

	CHECK(pa->pa_has_count && pa->pa_unaccounted_bound != PROF_BOUND_NONE);
	CHECK(pa->pa_unaccounted <= (int64_t)(pa->pa_unaccounted_bound +
	    pa->pa_overruns * period));
	CHECK((uint64_t)llabs((int64_t)(pa->pa_enabled_ns - known_ns)) <=
	    pa->pa_unaccounted_bound + pa->pa_instances * 500000);
}

/* The samples of an event, none of them outside of these times. */
static uint64_t
samples_of(const char *name, uint64_t from_ns, uint64_t to_ns)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(session_file, &error);
	struct prof_accounting pa;
	struct prof_record record;
	size_t event, nevents;
	uint64_t n = 0;

	CHECK(reader != NULL);
	nevents = prof_reader_nevents(reader);
	for (event = 0; event < nevents && strcmp(prof_reader_event(reader,
	    event)->pi_name, name) != 0; event++)
		continue;
	CHECK(event < nevents);
	while (prof_reader_record(reader, &record) == 1)
		if (record.pr_type == PROF_R_SAMPLE &&
		    record.pr_event == event) {
			CHECK(record.pr_time_ns >= from_ns);
			CHECK(record.pr_time_ns <= to_ns);
			n++;
		}
	CHECK(prof_reader_accounting(reader, event, -1, &pa) == 0);
	CHECK(pa.pa_fired == pa.pa_stored + pa.pa_full + pa.pa_nested +
	    pa.pa_filtered + pa.pa_error);
	CHECK(pa.pa_stored == n && pa.pa_read == n && pa.pa_written == n);
	CHECK(pa.pa_missed == 0);
	if (prof_reader_event(reader, event)->pi_period != 0)
		check_timer(&pa, prof_reader_event(reader, event)->pi_period);
	prof_reader_close(reader);
	return (n);
}

static void
refuse(struct prof_session *session, const char *spec, int code)
{
	CHECK(prof_session_attach(session, spec) == -1);
	CHECK(session_code(session) == code);
}

/* The calls touch no new memory: what they count is a number all the same. */
static void
attach_beside_counters(void)
{
	struct prof_options options = session_options();
	struct prof_err error = { 0 };
	struct prof_session *session;
	struct prof_reader *reader;
	struct prof_accounting pa;
	struct prof_record record;
	const int self = getpid();
	uint64_t n = 0, sum = 0;

	options.po_target = PROF_TARGET_PIDS;
	options.po_ids = &self;
	options.po_nids = 1;
	options.po_include_self = 1;
	session = prof_session_open(&options, &error);
	CHECK(session != NULL);
	CHECK(prof_session_add_event(session, "cpu-clock") == 0);
	CHECK(prof_session_add_counter(session, "task-clock") == 0);
	session_arm_or_skip(session);
	CHECK(prof_session_start(session) == 0);
	run(session, 100);
	CHECK(prof_session_attach(session, "syscalls:sys_enter_getppid") == 0);
	call();
	run(session, 100);
	CHECK(prof_session_stop(session) == 0);
	prof_session_close(session);
	reader = prof_reader_open(session_file, &error);
	CHECK(reader != NULL && prof_reader_nevents(reader) == 4);
	CHECK(prof_reader_event(reader, 2)->pi_is_counter);
	CHECK(prof_reader_event(reader, 3)->pi_ncounters == 1);
	CHECK(prof_reader_event(reader, 3)->pi_counter[0] == 2);
	while (prof_reader_record(reader, &record) == 1)
		if (record.pr_type == PROF_R_SAMPLE && record.pr_event == 3) {
			CHECK(record.pr_nvalues == 1);
			sum += (uint64_t)record.pr_values[0];
			n++;
		}
	CHECK(n == CALLS && sum > 0);
	for (size_t e = 1; e < 4; e++) {
		CHECK(prof_reader_accounting(reader, e, -1, &pa) == 0);
		CHECK(pa.pa_fired == pa.pa_stored + pa.pa_full +
		    pa.pa_nested + pa.pa_filtered + pa.pa_error);
		CHECK(e != 3 || pa.pa_stored == CALLS);
		CHECK(e != 2 || pa.pa_read >= CALLS);
	}
	prof_reader_close(reader);
}

int
main(void)
{
	struct prof_options options = session_options();
	struct prof_session *session;
	struct prof_err error = { 0 };
	uint64_t attached_ns, detached_ns, timer_ns, n;
	const int self = getpid();

	options.po_target = PROF_TARGET_PIDS;
	options.po_ids = &self;
	options.po_nids = 1;
	options.po_include_self = 1;
	options.po_attach = PROF_ATTACH_CPUS;
	session = prof_session_open(&options, &error);
	CHECK(session != NULL);
	CHECK(prof_session_add_event(session, "cpu-clock") == 0);
	refuse(session, "sched:sched_switch", PROF_E_BUSY);
	session_arm_or_skip(session);
	CHECK(prof_session_start(session) == 0);
	call();
	run(session, 300);
	attached_ns = now_ns();
	CHECK(prof_session_attach(session,
	    "syscalls:sys_enter_getppid") == 0);
	call();
	run(session, 600);
	CHECK(prof_session_attach(session, "profile:::2ms") == 0);
	run(session, 600);
	CHECK(prof_session_detach(session, "profile:::2ms") == 0);
	timer_ns = now_ns();
	CHECK(prof_session_attach(session, "profile:::1ms") == 0);
	refuse(session, "syscalls:sys_enter_getppid", PROF_E_EXISTS);
	refuse(session, "no:such_event", PROF_E_EVENT_UNKNOWN);
	refuse(session, "sched:*", PROF_E_LIMIT);
	call();
	run(session, 300);
	CHECK(prof_session_detach(session,
	    "syscalls:sys_enter_getppid") == 0);
	detached_ns = now_ns();
	CHECK(prof_session_detach(session,
	    "syscalls:sys_enter_getppid") == -1);
	call();
	run(session, 300);
	CHECK(prof_session_stop(session) == 0);
	prof_session_close(session);
	n = samples_of("syscalls:sys_enter_getppid", attached_ns,
	    detached_ns);
	CHECK(n == 2 * CALLS);
	(void)samples_of("profile:::2ms", attached_ns, timer_ns);
	printf("ok: %llu samples of the timer of the beginning, ",
	    (unsigned long long)samples_of("cpu-clock", 0, UINT64_MAX));
	printf("%llu of one that came later, %llu calls\n",
	    (unsigned long long)samples_of("profile:::1ms", timer_ns,
	    UINT64_MAX), (unsigned long long)n);
	attach_beside_counters();
	return (0);
}
