/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Frames of a made-up language that the scripted back end hands to a
 * session are in its recording, each with the name and line that the language
 * reads from the process, beside the native frames: 1,000 samples of two
 * functions in turn.
 *
 * Easy to get wrong: names that are asked for after the last round.
 */
#include "base/clock.h"
#include "process/codes.h"
#include "recording/frame.h"
#include "recording/query.h"
#include "scripted.h"

#define N	1000
#define MAGIC	0x746f79u

struct toy {
	uint64_t	to_magic;
	char		to_name[16];
	uint32_t	to_line;
};

static const struct toy toys[] = {
	{ MAGIC, "parse", 10 },
	{ MAGIC, "render", 20 },
};
static struct prof_record records[N];
static struct script samples;

static bool
toy_describe(const struct prof_peek *memory,
    const struct prof_code_key *key, struct prof_code_object *code)
{
	struct toy toy;

	if (!prof_peek_read(memory, key->ck_address, &toy, sizeof(toy)) ||
	    toy.to_magic != key->ck_check)
		return (false);
	snprintf(code->co_name, sizeof(code->co_name), "%s", toy.to_name);
	snprintf(code->co_file, sizeof(code->co_file), "/a.toy");
	code->co_line = toy.to_line;
	code->co_step[0] = (struct prof_table_step){ 0, toy.to_line + 1 };
	code->co_nsteps = 1;
	return (true);
}

static const struct prof_language toy_language = {
	.la_name = "toy",
	.la_kind = PROF_FRAME_SCRIPT,
	.la_describe = toy_describe,
};

static const struct prof_language *
language_at(unsigned number)
{
	return (number == 1 ? &toy_language : NULL);
}

/* As the scripted back end, with a script frame in each sample. */
static int
toy_drain_until(void *state, uint64_t until_ns)
{
	const uint64_t word = (uint64_t)PROF_FRAME_SCRIPT <<
	    PROF_WORD_KIND_SHIFT | (uint64_t)1 << PROF_WORD_FLAGS_SHIFT;
	struct script *sc = state;

	while (sc->sc_at < sc->sc_seen &&
	    sc->sc_record[sc->sc_at].pr_time_ns <= until_ns) {
		struct prof_record record = sc->sc_record[sc->sc_at];
		const uint64_t stream[] = { word,
		    (uintptr_t)&toys[sc->sc_at % 2], MAGIC };
		uint64_t words[3], pc = 0x1000;
		const long n = prof_codes_words(sc->sc_plan->pn_codes,
		    record.pr_pid, stream, 3, words);

		CHECK(n == 1);
		record.pr_user = &pc;
		record.pr_nuser = 1;
		record.pr_script = words;
		record.pr_nscript = 1;
		sc->sc_at++;
		sc->sc_samples++;
		if (prof_host_take(sc->sc_plan, &record) == -1)
			return (-1);
	}
	return (0);
}

static void
play(void)
{
	static struct prof_backend toy_backend;
	struct prof_session *session;
	int rounds = 0;

	toy_backend = scripted;
	toy_backend.bk_drain_until = toy_drain_until;
	session = script_session(&toy_backend, &samples);
	prof_codes_free(session->se_plan.pn_codes);
	session->se_plan.pn_codes = prof_codes_new(language_at, NULL);
	CHECK(session->se_plan.pn_codes != NULL);
	CHECK(prof_session_start(session) == 0);
	while (samples.sc_at < N) {
		CHECK(rounds++ < 2 * N);
		CHECK(prof_session_run(session, 1) == 1);
	}
	CHECK(prof_session_stop(session) == 0);
	prof_session_close(session);
}

static void
check_names(void)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(session_file, &error);
	struct prof_symbols *symbols;
	struct prof_record record;
	struct prof_frame frame;
	struct prof_line line;
	const struct toy *toy;
	size_t n = 0;

	CHECK(reader != NULL);
	symbols = prof_symbols_open(reader, NULL, &error);
	CHECK(symbols != NULL);
	while (prof_reader_record(reader, &record) == 1) {
		if (record.pr_type != PROF_R_SAMPLE)
			continue;
		toy = &toys[n++ % 2];
		CHECK(record.pr_nuser == 1 && record.pr_nscript == 1);
		prof_frame_unpack(record.pr_script[0], &frame);
		CHECK(frame.fr_kind == PROF_FRAME_SCRIPT);
		CHECK(strcmp(prof_symbols_function(symbols, prof_symbols_find(
		    symbols, 0, &frame))->fu_name, toy->to_name) == 0);
		CHECK(prof_symbols_lines(symbols, 0, &frame, &line, 1) == 1);
		CHECK(strcmp(line.ln_file, "/a.toy") == 0 &&
		    line.ln_number == toy->to_line + 1);
	}
	CHECK(n == N);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
	printf("ok: %zu samples of two functions, by name and line\n", n);
}

int
main(void)
{
	const uint64_t start_ns = prof_now_ns() + 1000000;

	for (size_t n = 0; n < N; n++)
		records[n] = (struct prof_record){ .pr_type = PROF_R_SAMPLE,
		    .pr_event = 1, .pr_pid = (uint32_t)getpid(),
		    .pr_tid = (uint32_t)getpid(), .pr_comm = "",
		    .pr_path = "", .pr_weight = 1, .pr_ip = 0x1000,
		    .pr_ustatus = PROF_STACK_OK,
		    .pr_time_ns = start_ns + n * 1000 };
	samples = (struct script){ .sc_record = records, .sc_n = N,
	    .sc_a_round = 100 };
	play();
	check_names();
	return (0);
}
