/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: In the kernel, too, a record that finds no ring counts as error;
 * the identity holds to the unit, and all that was stored is read, whole.
 *
 * Easy to get wrong: by itself this never happens, so it is provoked through
 * the memory that is shared with the programs: the number of the ring is made
 * one that does not exist, while system calls go on, and made right again.
 * (That a record loses every race for its place, nested, cannot be provoked
 * from outside; tests/replay does it.)
 */
#include <sys/syscall.h>

#include <pthread.h>
#include <sched.h>

#include "backend/bpf/bpf_impl.h"
#include "recording/query.h"
#include "session.h"
#include "session/session_impl.h"

static volatile int ended;

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
}

static void *
call(void *arg)
{
	pin(0);
	while (!ended)
		syscall(SYS_getppid);
	return (arg);
}

static struct prof_session *
open_and_start(void)
{
	struct prof_options options = session_options();
	struct prof_session *session;

	options.po_include_self = 1;
	session = session_open(&options);
	session_arm_or_skip(session);
	CHECK(prof_session_start(session) == 0);
	return (session);
}

/* Behind the back end of mappings. */
static struct prof_bpf *
bpf_of(const struct prof_session *session)
{
	CHECK(session->se_merge.mg_source[1].so_backend == &prof_backend_bpf);
	return (session->se_merge.mg_source[1].so_state);
}

static uint64_t
sum_of(const struct prof_session *session, size_t member)
{
	const struct prof_bpf *bpf = bpf_of(session);
	uint64_t sum = 0;

	for (uint32_t n = 0; n < bpf->bp_ncpus * bpf->bp_nevents; n++)
		sum += *(const volatile uint64_t *)((const char *)
		    &bpf->bp_counts[n] + member);
	return (sum);
}

/* The recording says the same, balances, and reads to its end. */
static void
check_recording(void)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(session_file, &error);
	struct prof_accounting pa;
	struct prof_record record;
	uint64_t errors = 0, stored = 0, samples = 0;

	CHECK(reader != NULL);
	CHECK(prof_reader_cut(reader) == NULL);
	for (size_t n = 0; n < prof_reader_nevents(reader); n++) {
		CHECK(prof_reader_accounting(reader, n, -1, &pa) == 0);
		CHECK(pa.pa_fired == pa.pa_stored + pa.pa_full +
		    pa.pa_nested + pa.pa_filtered + pa.pa_error);
		CHECK(pa.pa_read == pa.pa_stored);
		errors += pa.pa_error;
		stored += n == 0 ? 0 : pa.pa_stored;
	}
	while (prof_reader_record(reader, &record) == 1)
		samples += record.pr_type == PROF_R_SAMPLE;
	prof_reader_close(reader);
	CHECK(samples == stored);
	CHECK(errors > 0);
	CHECK(stored > 0);
	printf("ok: %llu stored, %llu error: balanced\n",
	    (unsigned long long)stored, (unsigned long long)errors);
}

static void
provoke(struct prof_session *session, size_t member)
{
	for (int turns = 0; sum_of(session, member) == 0; turns++) {
		CHECK(turns < 3000);
		CHECK(prof_session_run(session, 10) == 1);
	}
}

int
main(void)
{
	struct prof_session *session = open_and_start();
	pthread_t caller;
	uint64_t ring;

	CHECK(pthread_create(&caller, NULL, call, NULL) == 0);
	provoke(session, offsetof(struct dtp_counts, cn_stored));
	ring = bpf_of(session)->bp_streams[0].ss_ring;
	bpf_of(session)->bp_streams[0].ss_ring = UINT32_MAX;
	provoke(session, offsetof(struct dtp_counts, cn_error));
	bpf_of(session)->bp_streams[0].ss_ring = ring;
	CHECK(prof_session_run(session, 10) == 1);
	ended = 1;
	pthread_join(caller, NULL);
	CHECK(prof_session_stop(session) == 0);
	prof_session_close(session);
	check_recording();
	return (0);
}
