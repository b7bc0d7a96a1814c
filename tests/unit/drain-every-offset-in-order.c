/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: The drain takes every record once, from any offset of a ring,
 * also across its end, never one that is still being written, gives back
 * exactly the room of what it took, serves every CPU in every round, and
 * does so for CPUs with ids far apart.  A writer that is stuck holds up the
 * other CPUs for a second, not longer; what it brings then is late, in order.
 *
 * Easy to get wrong: a record that wraps, a region whose records lie in
 * another order than their times, an outer writer that is not yet done, and
 * a CPU that is silent while others are not.  Streams of memory of our own
 * are written here as the BPF programs do, by random steps (the seed is
 * printed), and a plain array says what has to come out.
 */
#include <sys/mman.h>

#include <time.h>

#include "backend/bpf/bpf_impl.h"
#include "base/clock.h"
#include "events/instrument.h"
#include "recording/query.h"
#include "recording/sink.h"
#include "recording/write.h"
#include "session.h"

#define NLANES		3
#define RING		65536
#define STEPS		200000
#define MAX_RECORDS	1000000
#define BODY_SAMPLE	8
#define BODY_EXEC	((uint32_t)sizeof(struct dtp_exec))

struct expected {
	uint64_t	ex_time_ns;
	uint64_t	ex_number;
	size_t		ex_order;
	uint32_t	ex_cpu;
};

static const int cpus[NLANES] = { 0, 3, 900 };
static struct expected *expected;
static size_t nexpected;
static struct prof_bpf bpf;
static struct prof_plan plan;
static struct prof_events events;
static struct prof_err plan_error;
static struct prof_writer *writer;
static struct prof_sink sink;
static bool straddled[512];
static uint64_t handed_ns, nlate;

static uint64_t
position(const struct dtp_stream *stream)
{
	return (stream->ss_state >> DTP_WRITERS_BITS);
}

/* The next time, always a later one. */
static uint64_t
tick(void)
{
	static uint64_t last;
	uint64_t now;

	do
		now = prof_now_ns();
	while (now <= last);
	last = now;
	return (now);
}

/* One record at the end of what is reserved; false: it has no room. */
static bool
put(int lane, uint64_t time_ns, bool whole)
{
	struct dtp_stream *stream = &bpf.bp_streams[cpus[lane]];
	uint8_t *ring = (uint8_t *)(uintptr_t)bpf.bp_rings +
	    stream->ss_ring * bpf.bp_ring_stride;
	bool is_exec = random() % 8 == 0;
	uint32_t size = (uint32_t)sizeof(struct dtp_rec) +
	    (is_exec ? BODY_EXEC : BODY_SAMPLE);
	uint64_t at = position(stream), offset = at & (RING - 1);
	struct dtp_rec *rec = (struct dtp_rec *)(ring + offset);

	if (at - stream->ss_tail + size > RING)
		return (false);
	if (offset + size > RING)
		straddled[(RING - offset) / 8] = true;
	stream->ss_state += (uint64_t)size << DTP_WRITERS_BITS;
	if (!whole) {
		memset(rec, 0xff, size);
		return (true);
	}
	memset(rec, 0, size);
	rec->dr_size = size;
	rec->dr_type = is_exec ? DTP_T_EXEC : DTP_T_SAMPLE;
	rec->dr_event = is_exec ? 0 : 1;
	rec->dr_cpu = (uint32_t)cpus[lane];
	rec->dr_time_ns = time_ns;
	rec->dr_pid = rec->dr_tid = 1;
	if (!is_exec)
		memcpy(rec + 1, &nexpected, sizeof(nexpected));
	CHECK(nexpected < MAX_RECORDS);
	expected[nexpected].ex_time_ns = time_ns;
	expected[nexpected].ex_cpu = (uint32_t)cpus[lane];
	expected[nexpected].ex_order = nexpected;
	expected[nexpected].ex_number = is_exec ? UINT64_MAX : nexpected;
	nexpected++;
	return (true);
}

/* Writers within writers: they entered in order, and end the other way. */
static void
region(int lane)
{
	struct dtp_stream *stream = &bpf.bp_streams[cpus[lane]];
	uint64_t time_ns[4];
	int n = (int)(random() % 4) + 1;

	for (int i = 0; i < n; i++)
		time_ns[i] = tick();
	while (n-- > 0)
		(void)put(lane, time_ns[n], true);
	stream->ss_head = position(stream);
}

static void
drain_round(void)
{
	uint64_t until_ns;

	CHECK(prof_drain_look(bpf.bp_drain, handed_ns, &until_ns) == 0);
	CHECK(prof_drain_until(bpf.bp_drain, until_ns) == 0);
}

/*
 * A writer has reserved and is still copying: what lies there now is no
 * record, and must not be looked at.  Then it is done.
 */
static void
unfinished(int lane)
{
	struct dtp_stream *stream = &bpf.bp_streams[cpus[lane]];
	uint64_t state = stream->ss_state, tail, time_ns = tick();

	stream->ss_state++;
	if (put(lane, time_ns, false)) {
		drain_round();
		drain_round();
	}
	tail = stream->ss_tail;
	CHECK(tail <= stream->ss_head);
	stream->ss_state = state;
	(void)put(lane, time_ns, true);
	stream->ss_head = position(stream);
}

static uint64_t
read_of(int lane)
{
	return (prof_drain_read(bpf.bp_drain, (uint32_t)cpus[lane], 0) +
	    prof_drain_read(bpf.bp_drain, (uint32_t)cpus[lane], 1));
}

/* However much one CPU has, a round takes from all of them. */
static void
fair(void)
{
	uint64_t before[NLANES];

	while (put(0, tick(), true))
		continue;
	bpf.bp_streams[cpus[0]].ss_head =
	    position(&bpf.bp_streams[cpus[0]]);
	region(1);
	region(2);
	for (int n = 0; n < NLANES; n++)
		before[n] = read_of(n);
	drain_round();
	for (int n = 0; n < NLANES; n++)
		CHECK(read_of(n) > before[n]);
}

static int
take(void *arg, const struct prof_record *record)
{
	(void)arg;
	CHECK(record->pr_time_ns >= handed_ns);
	handed_ns = record->pr_time_ns;
	return (prof_sink_record(&sink, record));
}

static int
nothing(void *arg, const struct prof_record *record)
{
	(void)arg;
	(void)record;
	return (0);
}

static void
add_event(const char *name, const struct prof_instrument *instrument,
    uint32_t nargs)
{
	struct prof_event *event = prof_event_new(name, name, "events", NULL,
	    instrument);

	CHECK(event != NULL);
	event->ev_nargs = nargs;
	event->ev_id = (uint32_t)events.el_n;
	CHECK(prof_events_add(&events, event) == 0);
}

static void
open_bpf(void)
{
	static const struct prof_host host = { .ho_take = take,
	    .ho_before = nothing, .ho_after = nothing };
	static struct prof_options options;
	struct prof_event_info info = { 0 };
	struct prof_err error = { 0 };

	options = session_options();
	plan = (struct prof_plan){ .pn_options = &options,
	    .pn_events = &events, .pn_online = (int *)(uintptr_t)cpus,
	    .pn_nonline = NLANES, .pn_error = &plan_error, .pn_host = &host };
	bpf.bp_plan = &plan;
	bpf.bp_events = &events;
	bpf.bp_error = &plan_error;
	bpf.bp_ncpus = 901;
	bpf.bp_nevents = bpf.bp_room = 2;
	bpf.bp_ring_bytes = RING;
	bpf.bp_ring_stride = RING + DTP_MAX_RECORD;
	bpf.bp_streams = calloc(bpf.bp_ncpus, sizeof(*bpf.bp_streams));
	bpf.bp_rings = calloc(NLANES, bpf.bp_ring_stride);
	CHECK(bpf.bp_streams != NULL && bpf.bp_rings != NULL);
	for (int n = 0; n < NLANES; n++)
		bpf.bp_streams[cpus[n]].ss_ring = (uint64_t)n;
	add_event("proc", &prof_instrument_tasks, 0);
	add_event("e", &prof_instrument_tracepoint, 1);
	writer = prof_writer_open(options.po_output, &error);
	CHECK(writer != NULL);
	sink = prof_writer_sink(writer);
	info.pi_name = info.pi_probe = info.pi_provider = "e";
	info.pi_unit = "events";
	CHECK(prof_sink_event(&sink, &info) == 0);
	info.pi_nargs = 1;
	info.pi_arg_names[0] = info.pi_arg_types[0] = "n";
	info.pi_parts = DTP_P_ARGS;
	CHECK(prof_sink_event(&sink, &info) == 0);
	bpf.bp_drain = prof_drain_new(&bpf);
	CHECK(bpf.bp_drain != NULL);
}

static int
by_time(const void *a, const void *b)
{
	const struct expected *ea = a, *eb = b;

	if (ea->ex_time_ns != eb->ex_time_ns)
		return (ea->ex_time_ns < eb->ex_time_ns ? -1 : 1);
	/* A reader has process events before samples of the same time. */
	if ((ea->ex_number == UINT64_MAX) != (eb->ex_number == UINT64_MAX))
		return (ea->ex_number == UINT64_MAX ? -1 : 1);
	return (ea->ex_order < eb->ex_order ? -1 : 1);
}

static void
compare(void)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader;
	struct prof_record record;
	size_t n = 0;

	CHECK(prof_writer_close(writer, &error) == 0);
	reader = prof_reader_open(session_file, &error);
	CHECK(reader != NULL);
	qsort(expected, nexpected, sizeof(*expected), by_time);
	while (prof_reader_record(reader, &record) == 1) {
		CHECK(n < nexpected);
		CHECK(record.pr_time_ns == expected[n].ex_time_ns);
		CHECK(record.pr_cpu == expected[n].ex_cpu);
		CHECK((record.pr_type == PROF_R_EXEC) ==
		    (expected[n].ex_number == UINT64_MAX));
		if (record.pr_type == PROF_R_SAMPLE)
			CHECK(record.pr_args[0] == expected[n].ex_number);
		n++;
	}
	CHECK(n == nexpected);
	prof_reader_close(reader);
}

static uint64_t
late(void)
{
	uint64_t sum = 0;

	for (int n = 0; n < NLANES; n++)
		for (uint32_t e = 0; e < 2; e++)
			sum += prof_drain_late(bpf.bp_drain, (uint32_t)cpus[n],
			    e);
	return (sum);
}

/* Records of an outer and an inner writer, and those of another CPU. */
static void
stuck(void)
{
	struct dtp_stream *stream = &bpf.bp_streams[cpus[0]];
	const uint64_t state = stream->ss_state, outer_ns = tick();
	uint64_t inner_ns, before;

	stream->ss_state++;
	CHECK(put(0, outer_ns, false));
	inner_ns = tick();
	drain_round();
	region(1);
	before = read_of(1);
	drain_round();
	CHECK(read_of(1) == before);
	usleep(1100000);
	drain_round();
	CHECK(read_of(1) > before);
	before = read_of(1);
	region(1);
	drain_round();
	CHECK(read_of(1) > before);
	stream->ss_state = state;
	CHECK(put(0, outer_ns, true) && put(0, inner_ns, true));
	stream->ss_head = position(stream);
	expected[nexpected - 1].ex_time_ns = handed_ns;
	expected[nexpected - 2].ex_time_ns = handed_ns;
	drain_round();
	region(0);
	nlate += 2;
	CHECK(late() == nlate);
}

/* The order in which the drain hands over is seen at the writer's door. */
static void
check_empty(void)
{
	uint64_t taken = 0;

	fair();
	while (!prof_drain_empty(bpf.bp_drain))
		drain_round();
	for (int n = 0; n < NLANES; n++) {
		struct dtp_stream *stream = &bpf.bp_streams[cpus[n]];

		CHECK(stream->ss_tail == position(stream));
		taken += read_of(n);
	}
	CHECK(taken == nexpected);
}

int
main(void)
{
	unsigned seed = (unsigned)time(NULL);
	int wraps = 0;

	printf("seed %u\n", seed);
	srandom(seed);
	expected = calloc(MAX_RECORDS, sizeof(*expected));
	CHECK(expected != NULL);
	open_bpf();
	for (int step = 0; step < STEPS; step++) {
		long what = random() % 100;
		/* One CPU is busy, one is not, one hardly ever wakes. */
		int lane = what < 80 ? 0 : what < 97 ? 1 : 2;

		if (random() % 50 == 0)
			unfinished(lane);
		else
			region(lane);
		if (random() % 40 == 0)
			drain_round();
		if (random() % 2000 == 0)
			check_empty();
	}
	check_empty();
	stuck();
	check_empty();
	stuck();
	check_empty();
	compare();
	for (int i = 1; i < 512; i++)
		wraps += straddled[i];
	CHECK(wraps >= 36);
	printf("ok: %zu records of %d CPUs, each once and in order; the ring's "
	    "end lay at %d places of a record\n", nexpected, NLANES, wraps);
	prof_drain_free(bpf.bp_drain);
	prof_events_free(&events);
	free(bpf.bp_streams);
	free((void *)(uintptr_t)bpf.bp_rings);
	free(expected);
	return (0);
}
