/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of random records, with calls that nest, keys that threads hand to
 * each other and rounds at random, a speculation passes on exactly the samples
 * that pairing a recording of them selects, in their order, and all records
 * that are no samples.  Taken = committed + discarded + lost, for each event.
 * With losses, exits and spans without an end, no sample that pairing selects
 * is discarded, and each that is committed was in a span that took longer in
 * truth; where too few may be held, none is committed that pairing does not
 * select, and some are lost.
 *
 * Easy to get wrong: a loss is told behind the samples that it touches; what
 * waits behind an undecided sample; begins and ends of spans within others,
 * without which pairing finds other spans.
 *
 * Usage: speculation-keeps-selected-spans [ROUNDS [SEED]]
 */
#include "base/error.h"
#include "recording-lib.h"
#include "recording/sink.h"
#include "spans/speculation.h"
#include "spans/spans.h"

#define PIDS		2
#define TIDS		3
#define KEYS		4
#define STEPS		3000
#define RECORDS		(4 * STEPS)
#define EVENTS		6
#define LIMIT_NS	9000
#define EXPRESSION	"span.duration > 9us"

enum { CALL_BEGIN = 1, CALL_END, KEY_BEGIN, KEY_END, TICK };

static struct prof_record records[RECORDS];
static size_t nrecords;
static bool is_round[RECORDS];	/* behind the record */
/* What happened, whether it was recorded or not; of nested calls the first. */
static struct truth {
	uint64_t	tr_begin_ns;
	uint64_t	tr_end_ns;	/* 0: it goes on */
	uint32_t	tr_tid;
	uint32_t	tr_key;		/* KEYS: a call */
} truths[STEPS];
static size_t ntruths;
static unsigned depth[PIDS][TIDS], keyed[PIDS][KEYS];
static uint64_t now_ns, gap_ns, stored[EVENTS];

/* What was passed on; the time of a record is its own. */
static bool is_passed[RECORDS];
static size_t npassed;

static void
add(enum prof_record_type type, uint32_t event, uint32_t p, uint32_t t,
    uint64_t key)
{
	struct prof_record *record = &records[nrecords++];

	CHECK(nrecords < RECORDS);
	*record = (struct prof_record){ .pr_type = type, .pr_event = event,
	    .pr_pid = 100 * (p + 1), .pr_tid = 100 * (p + 1) + t,
	    .pr_time_ns = ++now_ns, .pr_comm = "", .pr_path = "",
	    .pr_weight = 1 };
	record->pr_ptid = record->pr_tid;
	is_round[nrecords - 1] = gap_ns == 0 && below(20) == 0;
	if (type != PROF_R_SAMPLE)
		return;
	if (gap_ns != 0 && event != TICK && below(2) == 0) {
		nrecords--;
		return;
	}
	stored[event]++;
	record->pr_nargs = event == KEY_BEGIN || event == KEY_END;
	record->pr_args[0] = key;
}

static void
gap_end(void)
{
	for (uint32_t e = 1; gap_ns != 0 && e < TICK; e++) {
		add(PROF_R_LOST, e, 0, 0, 0);
		records[nrecords - 1].pr_addr = gap_ns;
	}
	gap_ns = 0;
}

/* The last that a thread or key began. */
static void
truth_end(uint32_t p, uint32_t tid, uint32_t key)
{
	size_t n = ntruths;

	while (n > 0 && (truths[n - 1].tr_end_ns != 0 || truths[n - 1].tr_tid /
	    100 != p + 1 || truths[n - 1].tr_key != key || (key == KEYS &&
	    truths[n - 1].tr_tid != tid)))
		n--;
	CHECK(n > 0);
	truths[n - 1].tr_end_ns = now_ns + 1;
}

static void
truth_begin(uint32_t tid, uint32_t key)
{
	truths[ntruths++] = (struct truth){ now_ns + 1, 0, tid, key };
}

static void
step_call(uint32_t p, uint32_t t)
{
	const uint32_t tid = 100 * (p + 1) + t;
	const bool begins = depth[p][t] == 0 ||
	    (depth[p][t] < 3 && below(3) == 0);

	if (begins && depth[p][t]++ == 0)
		truth_begin(tid, KEYS);
	else if (!begins && --depth[p][t] == 0)
		truth_end(p, tid, KEYS);
	add(PROF_R_SAMPLE, begins ? CALL_BEGIN : CALL_END, p, t, 0);
}

static void
step_key(uint32_t p, uint32_t t, uint32_t key)
{
	const uint32_t tid = 100 * (p + 1) + t;
	const bool begins = keyed[p][key] == 0 ||
	    (keyed[p][key] < 2 && below(4) == 0);

	keyed[p][key] += begins ? 1U : -1U;
	if (begins)
		truth_begin(tid, key);
	else
		truth_end(p, tid, key);
	add(PROF_R_SAMPLE, begins ? KEY_BEGIN : KEY_END, p, t, key);
}

/* Its calls end; another thread gets the number. */
static void
step_exit(uint32_t p, uint32_t t)
{
	if (depth[p][t] > 0)
		truth_end(p, 100 * (p + 1) + t, KEYS);
	depth[p][t] = 0;
	add(PROF_R_EXIT, 0, p, t, 0);
}

static void
step(bool is_tidy)
{
	const uint32_t p = below(PIDS), t = below(TIDS), key = below(KEYS);
	const uint32_t what = below(100);

	now_ns += below(800);
	if (!is_tidy && what < 1 && gap_ns == 0)
		gap_ns = now_ns;
	else if (gap_ns != 0 && what < 20)
		gap_end();
	else if (!is_tidy && what == 20)
		step_exit(p, t);
	else if (what < 24)
		add(PROF_R_MARK, 0, p, t, 0);
	else if (what < 70)
		add(PROF_R_SAMPLE, TICK, p, t, 0);
	else if (what < 88)
		step_call(p, t);
	else
		step_key(p, t, key);
}

static void
records_make(bool is_tidy)
{
	memset(depth, 0, sizeof(depth));
	memset(keyed, 0, sizeof(keyed));
	memset(stored, 0, sizeof(stored));
	nrecords = ntruths = 0;
	gap_ns = 0;
	now_ns = 1000;
	add(PROF_R_START, 0, 0, 0, 0);
	for (int n = 0; n < STEPS; n++)
		step(is_tidy);
	gap_end();
	for (uint32_t p = 0; p < PIDS && is_tidy; p++) {
		for (uint32_t t = 0; t < TIDS; t++)
			for (; depth[p][t] > 0; depth[p][t]--)
				add(PROF_R_SAMPLE, CALL_END, p, t, 0);
		for (uint32_t k = 0; k < KEYS; k++)
			for (; keyed[p][k] > 0; keyed[p][k]--)
				add(PROF_R_SAMPLE, KEY_END, p, 0, k);
	}
	add(PROF_R_STOP, 0, 0, 0, 0);
}

/* Spans and events, as a recorder tells them. */
static void
describe(const struct prof_sink *sink)
{
	static const char *const infos[][2] = {
		{ "span.0.name", "call" }, { "span.0.begin", "1" },
		{ "span.0.end", "2" }, { "span.0.scope", "thread" },
		{ "span.1.name", "item" }, { "span.1.begin", "3" },
		{ "span.1.end", "4" }, { "span.1.scope", "process" },
		{ "span.1.key", "id" } };
	static const char *const names[EVENTS] = { "proc", "call", "back",
	    "take", "give", "tick" };
	struct prof_event_info info = { .pi_provider = "static",
	    .pi_unit = "events" };

	for (size_t n = 0; n < sizeof(infos) / sizeof(infos[0]); n++)
		CHECK(prof_sink_info(sink, infos[n][0], infos[n][1]) == 0);
	for (uint32_t e = 0; e < EVENTS; e++) {
		info.pi_name = info.pi_probe = names[e];
		info.pi_nargs = e == KEY_BEGIN || e == KEY_END;
		info.pi_arg_names[0] = "id";
		info.pi_arg_types[0] = "int";
		CHECK(prof_sink_event(sink, &info) == 0);
	}
}

/* Those that are passed on, or all. */
static struct prof_reader *
recording_of(const char *path, const bool *which)
{
	struct prof_accounting rows[EVENTS] = { 0 };
	struct prof_err error;
	struct prof_writer *writer = prof_writer_open(path, &error);
	struct prof_reader *reader;
	struct prof_sink sink;

	CHECK(writer != NULL);
	sink = prof_writer_sink(writer);
	describe(&sink);
	for (size_t n = 0; n < nrecords; n++)
		if (which == NULL || which[n])
			CHECK(prof_sink_record(&sink, &records[n]) == 0);
	for (uint32_t e = 0; e < EVENTS; e++)
		rows[e].pa_fired = rows[e].pa_stored = rows[e].pa_read =
		    stored[e];
	CHECK(prof_writer_accounting(writer, 0, rows, EVENTS) == 0);
	CHECK_OK(prof_writer_close(writer, &error), &error);
	reader = prof_reader_open(path, &error);
	CHECK(reader != NULL);
	return (reader);
}

static bool
is_selected(const struct prof_spans *spans, const struct prof_record *record)
{
	for (size_t k = 0; k < 2; k++) {
		const struct prof_span *span = prof_spans_at(spans, k,
		    record->pr_tid, record->pr_time_ns);

		if (span != NULL && span->sp_duration_ns > LIMIT_NS)
			return (true);
	}
	return (false);
}

/* In their order, each once. */
static int
record_pass(void *arg, const struct prof_record *record)
{
	size_t n = *(size_t *)arg;

	while (n < nrecords && records[n].pr_time_ns != record->pr_time_ns)
		n++;
	CHECK(n < nrecords && records[n].pr_type == record->pr_type);
	is_passed[n] = true;
	npassed++;
	*(size_t *)arg = n + 1;
	return (0);
}

static struct prof_speculation *
speculate(size_t most)
{
	static size_t at;
	const struct prof_sink to = { .sk_arg = &at,
	    PROF_SINK_RECORDS(record_pass) };
	struct prof_err error;
	struct prof_speculation *speculation;
	struct prof_sink sink;

	at = npassed = 0;
	memset(is_passed, 0, sizeof(is_passed));
	speculation = prof_speculation_new(EXPRESSION, most, &to, &error);
	CHECK(speculation != NULL);
	sink = prof_speculation_sink(speculation);
	describe(&sink);
	CHECK_OK(prof_speculation_check(speculation, &error), &error);
	for (size_t n = 0; n < nrecords; n++) {
		CHECK(prof_sink_record(&sink, &records[n]) == 0);
		if (is_round[n])
			CHECK(prof_speculation_round(speculation, false) == 0);
	}
	CHECK(prof_speculation_round(speculation, true) == 0);
	return (speculation);
}

static uint64_t
balance_check(const struct prof_speculation *speculation)
{
	const struct prof_unkept unkept = prof_speculation_unkept(speculation);
	uint64_t committed = 0, lost = 0;

	for (uint32_t e = 1; e < EVENTS; e++) {
		const struct prof_speculated sd =
		    prof_speculation_of(speculation, e);

		CHECK(sd.sd_taken == stored[e]);
		CHECK(sd.sd_taken == sd.sd_committed + sd.sd_discarded +
		    sd.sd_lost);
		committed += sd.sd_committed;
		lost += sd.sd_lost;
	}
	CHECK(lost == unkept.uk_memory + unkept.uk_unsure +
	    unkept.uk_unended);
	for (size_t n = 0; n < nrecords; n++)
		committed += records[n].pr_type != PROF_R_SAMPLE;
	CHECK(committed == npassed);
	return (lost);
}

/* Whatever was recorded of it. */
static bool
was_long(const struct prof_record *record)
{
	for (size_t n = 0; n < ntruths; n++) {
		const struct truth *truth = &truths[n];
		const uint64_t end_ns = truth->tr_end_ns == 0 ? now_ns :
		    truth->tr_end_ns;

		if (truth->tr_tid == record->pr_tid &&
		    truth->tr_begin_ns <= record->pr_time_ns &&
		    record->pr_time_ns < end_ns &&
		    end_ns - truth->tr_begin_ns > LIMIT_NS)
			return (true);
	}
	return (false);
}

/* Returns how many samples pairing selects. */
static size_t
selection_check(const char *path, bool is_tidy, bool is_small, uint64_t lost)
{
	struct prof_reader *reader = recording_of(path, NULL);
	struct prof_err error;
	struct prof_spans *spans = prof_spans_new(reader, &error);
	size_t selected = 0, missing = 0;

	CHECK(spans != NULL);
	for (size_t n = 0; n < nrecords; n++) {
		const bool is = records[n].pr_event == TICK &&
		    is_selected(spans, &records[n]);

		CHECK(records[n].pr_type == PROF_R_SAMPLE || is_passed[n]);
		if (records[n].pr_event != TICK)
			continue;
		selected += is;
		missing += is && !is_passed[n];
		CHECK(!is_tidy || is || !is_passed[n]);
		CHECK(!is_passed[n] || was_long(&records[n]));
	}
	CHECK(missing <= lost && (!is_tidy || is_small || missing == 0));
	prof_spans_free(spans);
	prof_reader_close(reader);
	return (selected);
}

/* A recording of what was passed on has these spans, and samples in them. */
static void
kept_check(const char *path)
{
	struct prof_reader *reader = recording_of(path, is_passed);
	struct prof_err error;
	struct prof_spans *spans = prof_spans_new(reader, &error);

	CHECK(spans != NULL);
	for (size_t k = 0; k < 2; k++) {
		const struct prof_span_kind *kind = prof_spans_kind(spans, k);

		CHECK(kind->sk_open == 0 && kind->sk_orphan == 0);
		for (size_t n = 0; n < kind->sk_count; n++)
			CHECK(kind->sk_spans[n].sp_duration_ns > LIMIT_NS);
	}
	for (size_t n = 0; n < nrecords; n++)
		CHECK(records[n].pr_event != TICK || !is_passed[n] ||
		    is_selected(spans, &records[n]));
	prof_spans_free(spans);
	prof_reader_close(reader);
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 20;
	size_t selected[4] = { 0 };
	uint64_t lost[4] = { 0 };
	char path[] = "/tmp/dtprof-speculation.XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd != -1);
	close(fd);
	random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	for (int n = 0; n < 4 * rounds; n++) {
		const bool is_tidy = n % 2 == 0, is_small = n % 4 > 1;
		struct prof_speculation *speculation;
		uint64_t was_lost;

		records_make(is_tidy);
		speculation = speculate(is_small ? 20000 : SIZE_MAX);
		was_lost = balance_check(speculation);
		CHECK(!is_tidy || is_small || was_lost == 0);
		selected[n % 4] += selection_check(path, is_tidy, is_small,
		    was_lost);
		lost[n % 4] += was_lost;
		if (is_tidy && !is_small)
			kept_check(path);
		prof_speculation_free(speculation);
	}
	(void)unlink(path);
	for (int n = 0; n < 4; n++) {
		printf("%s, %s: %zu samples selected, %" PRIu64 " lost\n",
		    n % 2 == 0 ? "all recorded" : "events lost",
		    n > 1 ? "little memory" : "any memory", selected[n],
		    lost[n]);
		CHECK(selected[n] > 0 && (n == 0) == (lost[n] == 0));
	}
	return (0);
}
