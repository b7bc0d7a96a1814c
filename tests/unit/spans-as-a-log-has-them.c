/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: spans are exactly those that a log of what happened has, of
 * threads that call, recurse, fork off others' numbers and end in the middle,
 * and of keys that threads hand to each other: each one that no loss or pause
 * touches, with its times, and none that one does.  What is open or orphan is
 * so for certain, and begins and ends add up with those lost.  A thread at a
 * time is in the one span that it was in, and in none where there were several.
 * Time in spans ends with the thread, whoever has its number or key then.  A
 * file can define so many names of spans and no more.  Paired while records
 * come, in rounds at random, they are as many, and as long within a bucket.
 *
 * Easy to get wrong: an end that was lost, after which each end of a recursion
 * belongs to the wrong begin; a thread's number that another one has then; the
 * end of a span that began before the recording, which looks like one whose
 * begin was lost.  As they come, a loss is told only after what it touches.
 *
 * Usage: spans-as-a-log-has-them [ROUNDS] [SEED]
 */
#include "base/error.h"
#include "recording-lib.h"
#include "recording/format.h"
#include "recording/sink.h"
#include "spans/live.h"
#include "spans/spans.h"

#define PIDS		3
#define TIDS		4
#define KEYS		5
#define DEPTH		40
#define STEPS		1500
#define EVENTS		5
#define FIRST_NS	1000

enum { CALL_BEGIN = 1, CALL_END, KEY_BEGIN, KEY_END };

/* What happened: a span, in which nothing was lost or forgotten. */
struct truth {
	uint64_t	tr_begin_ns;	/* 0: before the recording */
	uint64_t	tr_end_ns;	/* 0: never */
	uint64_t	tr_close_ns;	/* where it never ended: it could not */
	uint64_t	tr_gone_ns;	/* its thread, before it ended; 0 */
	uint64_t	tr_key;
	uint32_t	tr_tid;
	uint32_t	tr_end_tid;
};

/* The spans that are open: of a thread, or of a key. */
struct stack {
	uint32_t	st_n;
	size_t		st_truth[DEPTH];
};

struct kind {
	struct truth	kd_truth[STEPS + 2 * PIDS * TIDS * DEPTH];
	size_t		kd_n;
	uint64_t	kd_lost_begins, kd_lost_ends;
};

static struct kind kinds[2];
static struct stack calls[PIDS][TIDS], keys[PIDS][KEYS];
static struct { uint64_t from, to; } gaps[STEPS];
static size_t ngaps;
static uint64_t lost[EVENTS], stored[EVENTS];
static struct prof_writer *writer;
static uint64_t now_ns, detached_ns;
static bool is_lossy, is_paused, is_detached;

static uint32_t
tid_of(uint32_t p, uint32_t t)
{
	return (100 * (p + 1) + t);
}

static void
record_add(enum prof_record_type type, uint32_t event, uint32_t pid,
    uint32_t tid, uint64_t key)
{
	struct prof_record record = { .pr_type = type, .pr_event = event,
	    .pr_pid = pid, .pr_tid = tid, .pr_ptid = tid,
	    .pr_time_ns = now_ns, .pr_comm = "", .pr_path = "",
	    .pr_weight = 1 };

	if (type == PROF_R_SAMPLE) {
		if (is_paused || (is_detached && event == CALL_BEGIN))
			return;
		if (is_lossy && below(2) == 0) {
			lost[event]++;
			return;
		}
		stored[event]++;
		record.pr_nargs = event >= KEY_BEGIN ? 2 : 0;
		record.pr_args[event == KEY_END] = key;
		record.pr_args[event != KEY_END] = 77;
	}
	CHECK_OK(prof_writer_add(writer, &record), prof_writer_error(writer));
}

static void
span_begin(struct kind *kind, struct stack *stack, uint32_t tid, uint64_t key,
    uint64_t begin_ns)
{
	struct truth *truth = &kind->kd_truth[kind->kd_n];

	*truth = (struct truth){ .tr_begin_ns = begin_ns, .tr_key = key,
	    .tr_tid = tid };
	stack->st_truth[stack->st_n++] = kind->kd_n++;
}

static void
span_end(struct kind *kind, struct stack *stack, uint32_t tid)
{
	struct truth *truth = &kind->kd_truth[
	    stack->st_truth[--stack->st_n]];

	truth->tr_end_ns = now_ns;
	truth->tr_end_tid = tid;
}

static void
step_call(uint32_t p, uint32_t t)
{
	struct stack *stack = &calls[p][t];
	const bool begins = stack->st_n == 0 || (stack->st_n < DEPTH &&
	    below(2) == 0);

	if (begins)
		span_begin(&kinds[0], stack, tid_of(p, t), tid_of(p, t),
		    now_ns);
	else
		span_end(&kinds[0], stack, tid_of(p, t));
	record_add(PROF_R_SAMPLE, begins ? CALL_BEGIN : CALL_END,
	    100 * (p + 1), tid_of(p, t), 0);
}

/* Whichever thread comes by ends what another one began. */
static void
step_key(uint32_t p, uint32_t t)
{
	const uint32_t key = below(KEYS);
	struct stack *stack = &keys[p][key];
	const bool begins = stack->st_n == 0 || (stack->st_n < 3 &&
	    below(4) == 0);

	if (begins)
		span_begin(&kinds[1], stack, tid_of(p, t), key, now_ns);
	else
		span_end(&kinds[1], stack, tid_of(p, t));
	record_add(PROF_R_SAMPLE, begins ? KEY_BEGIN : KEY_END, 100 * (p + 1),
	    tid_of(p, t), key);
}

/* In the middle of its calls; another thread gets the number. */
static void
step_exit(uint32_t p, uint32_t t)
{
	struct stack *stack = &calls[p][t];

	while (stack->st_n > 0)
		kinds[0].kd_truth[stack->st_truth[--stack->st_n]]
		    .tr_close_ns = now_ns;
	for (size_t n = 0; n < kinds[1].kd_n; n++) {
		struct truth *truth = &kinds[1].kd_truth[n];

		if (truth->tr_tid == tid_of(p, t) && truth->tr_end_ns == 0 &&
		    truth->tr_gone_ns == 0)
			truth->tr_gone_ns = now_ns;
	}
	record_add(PROF_R_EXIT, 0, 100 * (p + 1), tid_of(p, t), 0);
}

static void
gap_begin(bool is_pause)
{
	gaps[ngaps].from = now_ns;
	is_paused = is_pause;
	is_lossy = !is_pause;
	if (is_pause)
		record_add(PROF_R_PAUSE, 0, 0, 0, 0);
}

/* Losses of each event are told by a record each. */
static void
gap_end(void)
{
	gaps[ngaps].to = now_ns;
	if (is_paused)
		record_add(PROF_R_RESUME, 0, 0, 0, 0);
	for (uint32_t e = 1; is_lossy && e < EVENTS; e++) {
		const struct prof_record record = { .pr_type = PROF_R_LOST,
		    .pr_event = e, .pr_weight = 1, .pr_comm = "",
		    .pr_path = "", .pr_addr = gaps[ngaps].from,
		    .pr_time_ns = now_ns };

		CHECK_OK(prof_writer_add(writer, &record),
		    prof_writer_error(writer));
	}
	ngaps++;
	is_paused = is_lossy = false;
}

static void
step(bool loses)
{
	const uint32_t p = below(PIDS), t = below(TIDS);

	now_ns += 1 + below(1000);
	if (loses && !is_lossy && !is_paused && below(150) == 0)
		gap_begin(below(3) == 0);
	else if ((is_lossy || is_paused) && below(20) == 0)
		gap_end();
	else if (below(60) == 0)
		step_exit(p, t);
	else if (below(2) == 0)
		step_call(p, t);
	else
		step_key(p, t);
}

/* No begin of a call from here on, but ends. */
static void
detach(void)
{
	char text[32];

	is_detached = true;
	detached_ns = ++now_ns;
	(void)snprintf(text, sizeof(text), "%" PRIu64, now_ns);
	CHECK(prof_writer_info(writer, "detached.1", text) == 0);
}

static void
define(unsigned n, const char *name, const char *begin, const char *end,
    const char *key)
{
	static const char *const what[] = { "name", "begin", "end", "scope",
	    "key" };
	const char *const values[] = { name, begin, end, key == NULL ?
	    "thread" : "process", key };
	char text[32];

	for (unsigned i = 0; i < 5; i++) {
		(void)snprintf(text, sizeof(text), "span.%u.%s", n, what[i]);
		if (values[i] != NULL)
			CHECK(prof_writer_info(writer, text, values[i]) == 0);
	}
}

static void
describe(void)
{
	static const char *const names[EVENTS] = { "proc", "call", "back",
	    "take", "give" };
	struct prof_event_info info = { .pi_provider = "static",
	    .pi_unit = "events" };

	for (uint32_t e = 0; e < EVENTS; e++) {
		info.pi_name = info.pi_probe = names[e];
		info.pi_nargs = e >= KEY_BEGIN ? 2 : 0;
		info.pi_arg_names[e == KEY_END] = "id";
		info.pi_arg_names[e != KEY_END] = "other";
		info.pi_arg_types[0] = info.pi_arg_types[1] = "int";
		CHECK_OK(prof_writer_event(writer, &info),
		    prof_writer_error(writer));
	}
	define(0, "call", "1", "2", NULL);
	define(1, "item", "3", "4", "id");
}

static void
file_write(const char *path, bool loses)
{
	struct prof_accounting rows[EVENTS] = { 0 };
	struct prof_err error;

	memset(kinds, 0, sizeof(kinds));
	memset(calls, 0, sizeof(calls));
	memset(keys, 0, sizeof(keys));
	memset(lost, 0, sizeof(lost));
	memset(stored, 0, sizeof(stored));
	ngaps = 0;
	now_ns = FIRST_NS;
	is_lossy = is_paused = is_detached = false;
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	describe();
	record_add(PROF_R_START, 0, 0, 0, 0);
	/* Some have begun already. */
	for (uint32_t p = 0; p < PIDS; p++)
		for (uint32_t t = 0; t < TIDS; t++)
			for (uint32_t n = below(3); n > 0; n--)
				span_begin(&kinds[0], &calls[p][t],
				    tid_of(p, t), tid_of(p, t), 0);
	for (int n = 0; n < STEPS; n++) {
		step(loses);
		if (n == STEPS * 3 / 4 && loses && below(2) == 0)
			detach();
	}
	now_ns++;
	if (is_lossy || is_paused)
		gap_end();
	record_add(PROF_R_STOP, 0, 0, 0, 0);
	for (uint32_t e = 0; e < EVENTS; e++) {
		rows[e].pa_stored = rows[e].pa_read = stored[e];
		rows[e].pa_full = lost[e];
		rows[e].pa_fired = stored[e] + lost[e];
	}
	CHECK(prof_writer_accounting(writer, 0, rows, EVENTS) == 0);
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

static bool
has_gaps(void)
{
	return (ngaps > 0 || is_detached);
}

static bool
is_touched(const struct kind *kind, uint64_t from, uint64_t to)
{
	if (is_detached && kind == &kinds[0] && to >= detached_ns)
		return (true);
	for (size_t n = 0; n < ngaps; n++)
		if (gaps[n].from <= to && gaps[n].to >= from)
			return (true);
	return (false);
}

static const struct prof_span *
span_find(const struct prof_span_kind *found, const struct truth *truth)
{
	for (size_t n = 0; n < found->sk_count; n++)
		if (found->sk_spans[n].sp_begin_ns == truth->tr_begin_ns)
			return (&found->sk_spans[n]);
	return (NULL);
}

static void
span_check(const struct prof_span_kind *found, const struct truth *truth)
{
	const struct prof_span *span = span_find(found, truth);

	CHECK(span != NULL);
	CHECK(span->sp_duration_ns == truth->tr_end_ns - truth->tr_begin_ns);
	CHECK(span->sp_tid == truth->tr_tid);
	CHECK(span->sp_end_tid == truth->tr_end_tid);
	CHECK(span->sp_key == truth->tr_key);
}

/* How many spans there were. */
static uint64_t
kind_check(const struct prof_span_kind *found, const struct kind *kind,
    uint32_t begin, uint32_t end)
{
	uint64_t count = 0, open = 0, orphans = 0;

	for (size_t n = 0; n < kind->kd_n; n++) {
		const struct truth *truth = &kind->kd_truth[n];
		const uint64_t close = truth->tr_close_ns != 0 ?
		    truth->tr_close_ns : now_ns;

		if (truth->tr_begin_ns == 0) {
			orphans += truth->tr_end_ns != 0 &&
			    !is_touched(kind, 0, truth->tr_end_ns);
		} else if (truth->tr_end_ns == 0) {
			open += !is_touched(kind,
			    truth->tr_begin_ns, close);
		} else if (!is_touched(kind, truth->tr_begin_ns,
		    truth->tr_end_ns)) {
			count++;
			span_check(found, truth);
		}
	}
	CHECK(found->sk_count == count);
	CHECK(found->sk_open == open);
	CHECK(found->sk_orphan == orphans);
	CHECK(found->sk_lost_begins == lost[begin]);
	CHECK(found->sk_lost_ends == lost[end]);
	CHECK(stored[begin] == count + open + found->sk_unpaired_begins);
	CHECK(stored[end] == count + orphans + found->sk_unpaired_ends);
	for (size_t n = 1; n < count; n++)
		CHECK(found->sk_spans[n - 1].sp_begin_ns <
		    found->sk_spans[n].sp_begin_ns);
	return (count);
}

/* By counting, not by sorting. */
static void
quantiles_check(const struct prof_span_kind *found)
{
	const uint64_t value[] = { found->sk_p50_ns, found->sk_p90_ns,
	    found->sk_p99_ns, found->sk_max_ns };
	const unsigned percent[] = { 50, 90, 99, 100 };

	for (int q = 0; q < 4; q++) {
		uint64_t below_it = 0, upto_it = 0;

		for (size_t n = 0; n < found->sk_count; n++) {
			below_it += found->sk_spans[n].sp_duration_ns <
			    value[q];
			upto_it += found->sk_spans[n].sp_duration_ns <=
			    value[q];
		}
		CHECK(upto_it * 100 >= percent[q] * found->sk_count);
		CHECK(below_it * 100 < percent[q] * found->sk_count);
	}
}

/* The spans that a thread began and that were not over; of calls one. */
static const struct truth *
truth_at(const struct kind *kind, uint32_t tid, uint64_t time_ns, int *n)
{
	const struct truth *found = NULL;

	*n = 0;
	for (size_t i = 0; i < kind->kd_n; i++) {
		const struct truth *truth = &kind->kd_truth[i];
		const uint64_t end_ns = truth->tr_gone_ns != 0 ?
		    truth->tr_gone_ns : truth->tr_end_ns != 0 ?
		    truth->tr_end_ns : truth->tr_close_ns != 0 ?
		    truth->tr_close_ns : now_ns;

		if (truth->tr_begin_ns == 0 || truth->tr_tid != tid ||
		    time_ns < truth->tr_begin_ns || time_ns >= end_ns ||
		    (*n == 1 && kind == &kinds[0]))
			continue;
		++*n;
		found = truth;
	}
	return (found);
}

/* Random times of random threads; how many were in a span. */
static int
places_check(const struct prof_spans *spans, size_t which)
{
	const struct kind *kind = &kinds[which];
	int in = 0, n;

	for (int i = 0; i < 400; i++) {
		const uint32_t tid = tid_of(below(PIDS), below(TIDS));
		const uint64_t time_ns = FIRST_NS +
		    rnd() % (now_ns - FIRST_NS);
		const struct prof_span *span = prof_spans_at(spans, which,
		    tid, time_ns);
		const struct truth *truth = truth_at(kind, tid, time_ns, &n);

		in += span != NULL;
		if (span == NULL && has_gaps())
			continue;
		if (truth == NULL || n > 1 || truth->tr_end_ns == 0 ||
		    truth->tr_end_tid != tid || truth->tr_gone_ns != 0) {
			CHECK(span == NULL || has_gaps());
			continue;
		}
		CHECK(span != NULL);
		/* Beside a loss the outermost may not be known. */
		CHECK(has_gaps() || span->sp_begin_ns == truth->tr_begin_ns);
		CHECK(span->sp_tid == tid && span->sp_begin_ns <= time_ns &&
		    time_ns < span->sp_begin_ns + span->sp_duration_ns);
	}
	return (in);
}

/*
 * A thread begins a span of a key, then dies; one with its number begins and
 * ends another, and a third thread's ends in a fourth, as it has died, too.
 */
static void
dead_write(const char *path)
{
	static const struct { uint64_t ns; uint32_t event, tid, key; } at[] = {
		{ 2000, KEY_BEGIN, 101, 1 }, { 2100, 0, 101, 0 },
		{ 3000, KEY_BEGIN, 101, 2 }, { 3300, KEY_END, 101, 2 },
		{ 4000, KEY_BEGIN, 102, 3 }, { 4050, 0, 102, 0 },
		{ 9000, KEY_END, 103, 3 } };
	struct prof_accounting rows[EVENTS] = { 0 };
	struct prof_err error;

	is_lossy = is_paused = is_detached = false;
	now_ns = FIRST_NS;
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	describe();
	record_add(PROF_R_START, 0, 0, 0, 0);
	for (size_t n = 0; n < sizeof(at) / sizeof(at[0]); n++) {
		struct prof_record record = { .pr_type = at[n].event == 0 ?
		    PROF_R_EXIT : PROF_R_SAMPLE, .pr_event = at[n].event,
		    .pr_pid = 100, .pr_tid = at[n].tid, .pr_ptid = at[n].tid,
		    .pr_time_ns = at[n].ns, .pr_comm = "", .pr_path = "",
		    .pr_weight = 1, .pr_has_clock = at[n].event != 0,
		    .pr_running_ns = at[n].ns / 4,
		    .pr_off_ns = at[n].ns - at[n].ns / 4,
		    .pr_nargs = at[n].event == 0 ? 0 : 2 };

		record.pr_args[at[n].event == KEY_END] = at[n].key;
		CHECK_OK(prof_writer_add(writer, &record),
		    prof_writer_error(writer));
	}
	now_ns = 10000;
	record_add(PROF_R_STOP, 0, 0, 0, 0);
	rows[KEY_BEGIN].pa_stored = rows[KEY_BEGIN].pa_fired = 3;
	rows[KEY_END].pa_stored = rows[KEY_END].pa_fired = 2;
	CHECK(prof_writer_accounting(writer, 0, rows, EVENTS) == 0);
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

static void
dead_check(const char *path)
{
	struct prof_err error;
	struct prof_reader *reader;
	const struct prof_span_kind *kind;
	struct prof_spans *spans;

	dead_write(path);
	reader = prof_reader_open(path, &error);
	CHECK(reader != NULL);
	spans = prof_spans_new(reader, &error);
	CHECK(spans != NULL);
	kind = prof_spans_kind(spans, 1);
	CHECK(kind->sk_count == 2 && kind->sk_open == 1 && kind->sk_has_times);
	CHECK(kind->sk_inside_ns == 100 + 300 + 50);
	CHECK(kind->sk_ambiguous_ns == 100 + 50);
	CHECK(kind->sk_running_ns == 75 && kind->sk_not_running_ns == 225);
	CHECK(kind->sk_gaps == 0 && kind->sk_clockless == 0);
	CHECK(prof_spans_at(spans, 1, 101, 3100) != NULL);
	prof_spans_free(spans);
	prof_reader_close(reader);
	printf("ok: time in spans ends with their threads\n");
}

/* --------------------------------------------------- as records come */

static int
info_take(void *arg, const char *key, const char *value)
{
	return (prof_spans_live_info(arg, key, value));
}

static int
event_take(void *arg, const struct prof_event_info *info)
{
	return (prof_spans_live_event(arg, info));
}

/* A round ends where nothing is lost that was not told. */
static int
record_take(void *arg, const struct prof_record *record)
{
	const uint64_t ns = record->pr_time_ns;
	struct prof_err error;

	CHECK(prof_spans_live_record(arg, record) == 0);
	if (!is_touched(&kinds[1], ns, ns) && below(10) == 0)
		CHECK(prof_spans_live_round(arg, false, &error) == 0);
	return (0);
}

/* An upper bound, at most a 32nd too high. */
static void
bound_check(uint64_t bound, uint64_t exact)
{
	CHECK(bound >= exact && bound - exact <= exact / 32);
}

static void
same_check(const struct prof_span_kind *live, const struct prof_span_kind *all)
{
	CHECK(live->sk_count == all->sk_count &&
	    live->sk_open == all->sk_open && live->sk_orphan == all->sk_orphan);
	CHECK(live->sk_unpaired_begins == all->sk_unpaired_begins &&
	    live->sk_unpaired_ends == all->sk_unpaired_ends);
	CHECK(live->sk_total_ns == all->sk_total_ns);
	CHECK(live->sk_max_ns == all->sk_max_ns);
	bound_check(live->sk_p50_ns, all->sk_p50_ns);
	bound_check(live->sk_p90_ns, all->sk_p90_ns);
	bound_check(live->sk_p99_ns, all->sk_p99_ns);
}

static void
live_check(struct prof_reader *reader, const struct prof_spans *spans)
{
	struct prof_err error;
	struct prof_spans *live = prof_spans_live_new(&error);
	const struct prof_sink sink = { .sk_arg = live, .sk_info = info_take,
	    .sk_event = event_take, PROF_SINK_RECORDS(record_take) };
	struct prof_span_kind kind;

	CHECK(live != NULL && prof_reader_send(reader, &sink) == 0);
	CHECK(prof_spans_live_round(live, true, &error) == 0);
	CHECK(prof_spans_nkinds(live) == 2);
	for (size_t n = 0; n < 2; n++) {
		prof_spans_live_kind(live, n, false, &kind);
		same_check(&kind, prof_spans_kind(spans, n));
		/* Since the next interval began: nothing. */
		prof_spans_live_lap(live);
		prof_spans_live_kind(live, n, true, &kind);
		CHECK(kind.sk_count == 0 && kind.sk_total_ns == 0);
	}
	prof_spans_free(live);
	(void)prof_reader_rewind(reader);
}

/* As many names as a recorder writes are read, and not one more. */
static void
names_check(const char *path)
{
	for (unsigned more = 0; more < 2; more++) {
		struct prof_spans *spans;
		struct prof_reader *reader;
		struct prof_err error;
		char name[32];

		writer = prof_writer_open(path, &error);
		CHECK(writer != NULL);
		describe();
		for (unsigned n = 2; n < PROF_MAX_SPANS + more; n++) {
			(void)snprintf(name, sizeof(name), "name%u", n);
			define(n, name, "1", "2", NULL);
		}
		CHECK_OK(prof_writer_close(writer, &error), &error);
		reader = prof_reader_open(path, &error);
		CHECK(reader != NULL);
		spans = prof_spans_new(reader, &error);
		CHECK((spans == NULL) == (more == 1));
		CHECK(spans == NULL ? error.pe_code == PROF_E_DAMAGED :
		    prof_spans_nkinds(spans) == PROF_MAX_SPANS);
		prof_spans_free(spans);
		prof_reader_close(reader);
	}
	printf("ok: %u names of spans, and no more\n", PROF_MAX_SPANS);
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 40;
	const char *path = work_path("spans.dtp");
	uint64_t spans_seen = 0, unpaired = 0;
	int in_spans = 0;
	struct prof_spans *spans;
	struct prof_reader *reader;
	struct prof_err error;

	random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261126;
	printf("seed %" PRIu64 "\n", random_state);
	for (int round = 0; round < rounds; round++) {
		file_write(path, round % 4 != 0);
		reader = prof_reader_open(path, &error);
		CHECK(reader != NULL);
		spans = prof_spans_new(reader, &error);
		CHECK(spans != NULL);
		CHECK(prof_spans_nkinds(spans) == 2);
		spans_seen += kind_check(prof_spans_kind(spans, 0), &kinds[0],
		    CALL_BEGIN, CALL_END);
		spans_seen += kind_check(prof_spans_kind(spans, 1), &kinds[1],
		    KEY_BEGIN, KEY_END);
		for (size_t n = 0; n < 2; n++) {
			const struct prof_span_kind *kind =
			    prof_spans_kind(spans, n);

			quantiles_check(kind);
			in_spans += places_check(spans, n);
			unpaired += kind->sk_unpaired_begins;
			CHECK(has_gaps() || (kind->sk_unpaired_begins == 0 &&
			    kind->sk_unpaired_ends == 0));
		}
		/* Nothing is detached from who has no file. */
		if (!is_detached)
			live_check(reader, spans);
		prof_spans_free(spans);
		prof_reader_close(reader);
	}
	dead_check(path);
	names_check(path);
	CHECK(unpaired > 0 && in_spans > 0);
	printf("ok: %d recordings, %" PRIu64 " spans as in the log, %" PRIu64
	    " begins beside losses, %d times in one\n", rounds, spans_seen,
	    unpaired, in_spans);
	return (0);
}
