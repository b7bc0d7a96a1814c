/*
 * ASSERTION: A drain hands over all rings' records in order of time, none
 * twice and none never, whatever the limit, the order in the rings, and where
 * their ends fall; one that comes after others' that are younger has the time
 * of these and is counted; a record with an impossible size costs only what was
 * unread of its own ring.
 *
 * Easy to get wrong: an interrupt's record stands before the one that it
 * interrupted, so a record above the limit can have earlier ones behind it.
 */
/* SPDX-License-Identifier: ISC */
#include "backend/perf/rings_impl.h"
#include "rings.h"

#define NRINGS		3
#define RING_BYTES	4096
#define NROUNDS		2000

static struct ring_fd the_fd = { .rf_event = 0, .rf_id = 42 };
static uint64_t data[NRINGS][RING_BYTES / 8];
static struct perf_event_mmap_page control[NRINGS];

/* What has come out; times are unique. */
struct seen {
	uint64_t	se_n;
	uint64_t	se_last_ns;
	uint64_t	se_until_ns;
	uint64_t	se_sum;
};

static uint64_t
next_random(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33);
}

/* A sample with a chain of n frames, each of them its time; or no room. */
static bool
put_sample(struct ring *ring, uint64_t time_ns, size_t nframes)
{
	uint64_t record[64], head = ring->rg_control->data_head;
	size_t n, words = 7 + nframes;

	if (head + words * 8 - ring->rg_control->data_tail > ring->rg_bytes)
		return (false);
	record[0] = (uint64_t)(words * 8) << 48 |
	    (uint64_t)PERF_RECORD_MISC_USER << 32 | PERF_RECORD_SAMPLE;
	record[1] = the_fd.rf_id;
	record[2] = time_ns;
	record[3] = 0x200000001;
	record[4] = time_ns;
	record[5] = (uint64_t)ring->rg_cpu;
	record[6] = nframes;
	for (n = 0; n < nframes; n++)
		record[7 + n] = n == 0 ? (uint64_t)PERF_CONTEXT_USER :
		    time_ns;
	for (n = 0; n < words; n++)
		((uint64_t *)(void *)ring->rg_data)[(head / 8 + n) %
		    (ring->rg_bytes / 8)] = record[n];
	ring->rg_control->data_head = head + words * 8;
	return (true);
}

static int
check_sample(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;
	uint32_t n;

	CHECK(record->pr_type == PROF_R_SAMPLE, "type %d", record->pr_type);
	CHECK(record->pr_time_ns > seen->se_last_ns, "%llu after %llu",
	    (unsigned long long)record->pr_time_ns,
	    (unsigned long long)seen->se_last_ns);
	CHECK(record->pr_time_ns <= seen->se_until_ns, "above the limit");
	for (n = 0; n < record->pr_nuser; n++)
		CHECK(record->pr_user[n] == record->pr_time_ns,
		    "a frame of another record");
	seen->se_last_ns = record->pr_time_ns;
	seen->se_sum += record->pr_time_ns;
	seen->se_n++;
	return (0);
}

static struct prof_rings *
fake_rings(void)
{
	static struct ring ring[NRINGS];
	static struct ring_event event;
	static struct prof_rings rings;
	int n;

	memset(ring, 0, sizeof(ring));
	memset(&event, 0, sizeof(event));
	memset(&rings, 0, sizeof(rings));
	memset(control, 0, sizeof(control));
	for (n = 0; n < NRINGS; n++) {
		ring[n].rg_cpu = n;
		ring[n].rg_control = &control[n];
		ring[n].rg_data = (uint8_t *)data[n];
		ring[n].rg_bytes = RING_BYTES;
	}
	event.re_layout.ly_period = 1;
	event.re_layout.ly_has_chain = true;
	event.re_layout.ly_max_stack = 127;
	rings.rs_ring = ring;
	rings.rs_nrings = NRINGS;
	rings.rs_fd = &the_fd;
	rings.rs_nfds = 1;
	rings.rs_event = &event;
	rings.rs_nevents = 1;
	rings.rs_at_cap = 1;
	rings.rs_at = calloc(1, sizeof(*rings.rs_at));
	rings.rs_scratch = calloc(1, 65536);
	CHECK(rings.rs_at != NULL && rings.rs_scratch != NULL, "no memory");
	return (&rings);
}

static void
fini_rings(struct prof_rings *rings)
{
	free(rings->rs_at);
	free(rings->rs_scratch);
}

/*
 * Each round writes bursts whose times run backwards within a burst, as
 * nested interrupts leave them, and drains up to a limit that falls anywhere
 * below the next round's first time.
 */
static void
shuffled(void)
{
	struct prof_rings *rings = fake_rings();
	uint64_t now = 1000, sum = 0, written = 0;
	struct seen seen = { 0 };
	int round, burst, n;

	for (round = 0; round < NROUNDS; round++) {
		uint64_t start = now;

		for (burst = 0; burst < 12; burst++) {
			struct ring *ring = &rings->rs_ring[next_random() %
			    NRINGS];
			int nested = 1 + (int)(next_random() % 4);

			for (n = nested; n > 0; n--)
				if (put_sample(ring, now + (uint64_t)n,
				    next_random() % 20)) {
					sum += now + (uint64_t)n;
					written++;
				}
			now += 5;
		}
		seen.se_until_ns = start + next_random() % (now - start);
		/* These times are not the machine's: look anyway. */
		CHECK(rings_drain(rings, seen.se_until_ns, check_sample,
		    &seen) == 0, "drain");
	}
	seen.se_until_ns = UINT64_MAX;
	CHECK(rings_drain(rings, UINT64_MAX, check_sample, &seen) == 0,
	    "drain");
	CHECK(seen.se_n == written && seen.se_sum == sum &&
	    rings->rs_event[0].re_stored == written && written > NROUNDS,
	    "%llu of %llu", (unsigned long long)seen.se_n,
	    (unsigned long long)written);
	for (n = 0; n < NRINGS; n++)
		CHECK(control[n].data_tail == control[n].data_head,
		    "ring %d is not given back", n);
	printf("ok: %llu records out of order, %d drains, all once and in "
	    "order\n", (unsigned long long)written, round + 1);
	fini_rings(rings);
}

static void
impossible_size(void)
{
	struct prof_rings *rings = fake_rings();
	struct seen seen = { .se_until_ns = UINT64_MAX };
	uint16_t size;
	uint64_t at;

	put_sample(&rings->rs_ring[0], 1, 3);
	at = control[0].data_head;
	put_sample(&rings->rs_ring[0], 2, 3);
	put_sample(&rings->rs_ring[0], 3, 3);
	put_sample(&rings->rs_ring[1], 4, 3);
	size = 4;
	memcpy((uint8_t *)data[0] + at + 6, &size, sizeof(size));
	CHECK(rings_drain(rings, UINT64_MAX, check_sample, &seen) == 0,
	    "drain");
	CHECK(seen.se_n == 2 && rings->rs_damaged == 1, "%llu came out",
	    (unsigned long long)seen.se_n);
	put_sample(&rings->rs_ring[0], 5, 3);
	CHECK(rings_drain(rings, UINT64_MAX, check_sample, &seen) == 0 &&
	    seen.se_n == 3, "the ring did not go on");
	printf("ok: an impossible size ends that ring's round alone\n");
	fini_rings(rings);
}

static int
note_time(void *arg, const struct prof_record *record)
{
	uint64_t *time_ns = arg;

	*time_ns = record->pr_time_ns;
	return (0);
}

/* Another back end has come to 100 when 90 is published here. */
static void
late(void)
{
	struct prof_rings *rings = fake_rings();
	uint64_t time_ns = 0;

	put_sample(&rings->rs_ring[0], 50, 3);
	CHECK(rings_drain(rings, 60, note_time, &time_ns) == 0 &&
	    time_ns == 50, "at %llu", (unsigned long long)time_ns);
	put_sample(&rings->rs_ring[0], 90, 3);
	prof_rings_look(rings, 100);
	CHECK(prof_rings_drain(rings, 110, note_time, &time_ns) == 0 &&
	    time_ns == 100, "at %llu", (unsigned long long)time_ns);
	put_sample(&rings->rs_ring[0], 120, 3);
	prof_rings_look(rings, 110);
	CHECK(prof_rings_drain(rings, 130, note_time, &time_ns) == 0 &&
	    time_ns == 120, "at %llu", (unsigned long long)time_ns);
	CHECK(rings->rs_event[0].re_late == 1, "%llu are late",
	    (unsigned long long)rings->rs_event[0].re_late);
	printf("ok: what comes late has the time that others have come to\n");
	fini_rings(rings);
}

int
main(void)
{
	shuffled();
	late();
	impossible_size();
	return (0);
}
