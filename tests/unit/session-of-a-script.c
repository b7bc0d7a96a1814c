/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: A session records what a back end from a script hands over: all
 * 10,000 records, in order of time and merged with those of a second back end,
 * and accounts for them; a record out of order is one error that names the
 * back end, and the session still stops and reads.  A mapping that is too young
 * to be handed over is not left waiting until the next round is due.
 *
 * Easy to get wrong: who comes first at equal times, a run of records that
 * crosses the limit of a round, and what comes after the error.
 */
#include "base/clock.h"
#include "recording/query.h"
#include "scripted.h"

#define N		10000
#define STEP_NS		1000

static struct prof_record records[N];
static struct script samples, maps;
static uint64_t start_ns;

/* Every fourth record is a mapping of the second script. */
static size_t
write_scripts(struct prof_record *mapping)
{
	size_t nmaps = 0;

	start_ns = prof_now_ns() + 1000000;
	for (size_t n = 0; n < N; n++) {
		struct prof_record *record = &records[n];

		*record = (struct prof_record){ .pr_type = PROF_R_SAMPLE,
		    .pr_event = 1, .pr_pid = 1, .pr_tid = 1, .pr_comm = "",
		    .pr_path = "", .pr_weight = n,
		    .pr_time_ns = start_ns + n / 2 * STEP_NS };
		if (n % 4 != 0)
			continue;
		mapping[nmaps] = *record;
		mapping[nmaps].pr_type = PROF_R_MMAP;
		mapping[nmaps].pr_path = "/nothing";
		mapping[nmaps].pr_addr = 0x1000 * (n + 1);
		mapping[nmaps].pr_len = 0x1000;
		nmaps++;
	}
	return (nmaps);
}

/* The second script is loaded beside the first, as mappings are. */
static void *
maps_load(struct prof_plan *plan)
{
	maps.sc_plan = plan;
	return (&maps);
}

static int
maps_account(void *state, int cpu, struct prof_accounting *rows)
{
	(void)state;
	(void)cpu;
	(void)rows;
	return (0);
}

static struct prof_session *
open_session(bool with_maps)
{
	static struct prof_backend beside;
	struct prof_session *session = script_session(&scripted, &samples);

	if (with_maps) {
		beside = scripted;
		beside.bk_name = "maps";
		beside.bk_load = maps_load;
		beside.bk_account = maps_account;
		CHECK(prof_merge_add(&session->se_merge, &beside,
		    &session->se_plan) == 0);
	}
	CHECK(prof_session_start(session) == 0);
	return (session);
}

/* Each once, and mappings before the samples of their time. */
static void
check_file(size_t nmaps)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(session_file, &error);
	struct prof_accounting pa;
	struct prof_record record;
	size_t n = 0, m = 0;

	CHECK(reader != NULL);
	while (prof_reader_record(reader, &record) == 1) {
		if (record.pr_type == PROF_R_MMAP &&
		    strcmp(record.pr_path, "/nothing") == 0) {
			CHECK(record.pr_addr == 0x1000 * (4 * m + 1));
			CHECK(record.pr_time_ns <= start_ns + n / 2 * STEP_NS);
			m++;
		}
		if (record.pr_type != PROF_R_SAMPLE)
			continue;
		CHECK(record.pr_weight == n);
		CHECK(record.pr_time_ns == start_ns + n / 2 * STEP_NS);
		CHECK(nmaps == 0 || m == n / 4 + 1);
		n++;
	}
	CHECK(n == N);
	CHECK(m == nmaps);
	CHECK(prof_reader_accounting(reader, 1, -1, &pa) == 0);
	CHECK(pa.pa_fired == N && pa.pa_stored == N && pa.pa_read == N &&
	    pa.pa_written == N);
	prof_reader_close(reader);
}

static void
play(size_t a_round, size_t nmaps, const struct prof_record *mapping)
{
	struct prof_session *session;
	int rounds = 0;

	samples = (struct script){ .sc_record = records, .sc_n = N,
	    .sc_a_round = a_round };
	maps = (struct script){ .sc_record = mapping, .sc_n = nmaps,
	    .sc_a_round = a_round / 5 + 1 };
	session = open_session(nmaps > 0);
	while (samples.sc_at < N || maps.sc_at < nmaps) {
		CHECK(rounds++ < 2 * N);
		CHECK(prof_session_run(session, 1) == 1);
	}
	CHECK(prof_session_stop(session) == 0);
	prof_session_close(session);
	check_file(nmaps);
}

/* Until the samples have come to their time, the mappings wait. */
static void
play_young_mappings(size_t nmaps, const struct prof_record *mapping)
{
	struct prof_session *session;
	uint64_t begun_ns;

	samples = (struct script){ .sc_record = records, .sc_n = N };
	maps = (struct script){ .sc_record = mapping, .sc_n = nmaps,
	    .sc_a_round = nmaps };
	session = open_session(true);
	session->se_wait_ms = 10000;
	CHECK(prof_session_run(session, 0) == 1);
	CHECK(maps.sc_seen == nmaps && maps.sc_at < nmaps);
	begun_ns = prof_now_ns();
	CHECK(prof_session_run(session, 10000) == 1);
	CHECK(prof_now_ns() - begun_ns < 5000000000);
	CHECK(prof_session_stop(session) == 0);
	prof_session_close(session);
	check_file(nmaps);
}

/* Two records change places: the session says so, once, and ends well. */
static void
play_out_of_order(void)
{
	const struct prof_err *error;
	struct prof_session *session;
	struct prof_reader *reader;
	struct prof_record kept = records[5001], record;
	struct prof_err none = { 0 };
	int rounds = 0, errors = 0;
	size_t n = 0;

	records[5001] = records[6001];
	records[6001] = kept;
	samples = (struct script){ .sc_record = records, .sc_n = N,
	    .sc_a_round = 100 };
	session = open_session(false);
	while (samples.sc_at < N && errors == 0) {
		CHECK(rounds++ < N);
		errors += prof_session_run(session, 1) == -1;
	}
	CHECK(errors == 1);
	error = prof_session_error(session);
	CHECK(error->pe_code == PROF_E_DAMAGED);
	CHECK(strstr(error->pe_text, "back end script: a record is ") ==
	    error->pe_text);
	(void)prof_session_stop(session);
	prof_session_close(session);
	reader = prof_reader_open(session_file, &none);
	CHECK(reader != NULL);
	while (prof_reader_record(reader, &record) == 1)
		n += record.pr_type == PROF_R_SAMPLE;
	prof_reader_close(reader);
	CHECK(n >= 5002 && n < N);
}

int
main(void)
{
	static struct prof_record mapping[N];
	const size_t nmaps = write_scripts(mapping);

	play(N, 0, NULL);
	play(7, 0, NULL);
	play(100, nmaps, mapping);
	play_young_mappings(nmaps, mapping);
	play_out_of_order();
	printf("ok: %d samples and %zu mappings, alone, merged, out of order\n",
	    N, nmaps);
	return (0);
}
