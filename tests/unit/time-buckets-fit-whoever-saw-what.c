/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: buckets of time are added up as a plain count says, are as short
 * as the number that is wanted allows and no shorter, and are the same however
 * the samples were shared out among threads.
 *
 * Easy to get wrong: a part that becomes coarser than the whole has to, buckets
 * that were halved before others came, the same bucket twice at an edge.
 */
#include <stdlib.h>

#include "cli-check.h"
#include "profile/profile_impl.h"

#define NODES	20
#define EVENTS	3
#define TIMES	1024
#define PARTS	5

struct sample {
	struct prof_bucket sa_bucket;
	unsigned	 sa_part;
};

static uint64_t count[TIMES][NODES][EVENTS], weigh[TIMES][NODES][EVENTS];

/* What there is when each bucket is so long: also how many buckets. */
static size_t
plain(const struct sample *samples, size_t n, unsigned halved)
{
	size_t buckets = 0, i;

	memset(count, 0, sizeof(count));
	memset(weigh, 0, sizeof(weigh));
	for (i = 0; i < n; i++) {
		const struct prof_bucket *bucket = &samples[i].sa_bucket;
		uint64_t *at = &count[bucket->pc_bucket >> halved]
		    [bucket->pc_node][bucket->pc_event];

		buckets += *at == 0;
		*at += bucket->pc_samples;
		weigh[bucket->pc_bucket >> halved][bucket->pc_node]
		    [bucket->pc_event] += bucket->pc_weight;
	}
	return (buckets);
}

static bool
is_one_cell(const struct sample *samples, size_t n, unsigned halved)
{
	for (size_t i = 0; i < n; i++)
		if (samples[i].sa_bucket.pc_bucket >> halved > 0)
			return (false);
	return (true);
}

static size_t
make(struct sample *samples, size_t max)
{
	size_t n = (size_t)random() % max, i;
	/* As in recordings: often the same one again. */
	unsigned nodes = 1 + (unsigned)random() % NODES;
	unsigned times = 1 + (unsigned)random() % TIMES;

	for (i = 0; i < n; i++)
		samples[i] = (struct sample){ .sa_bucket = {
		    .pc_bucket = (uint32_t)(i * times / n),
		    .pc_node = (uint32_t)random() % nodes,
		    .pc_event = (uint32_t)random() % EVENTS,
		    .pc_samples = 1 + (uint64_t)random() % 2,
		    .pc_weight = (uint64_t)random() },
		    .sa_part = (unsigned)random() % PARTS };
	return (n);
}

static void
check_once(const struct sample *samples, size_t n, size_t max,
    unsigned *total_halved)
{
	struct prof_buckets whole = { 0 }, part[PARTS] = { 0 };
	unsigned halved = 0, p;
	size_t i;

	CHECK(prof_buckets_init(&whole, NODES, max) == 0, "init");
	for (p = 0; p < PARTS; p++)
		CHECK(prof_buckets_init(&part[p], NODES, max) == 0, "init");
	for (i = 0; i < n; i++)
		CHECK(prof_buckets_add(&part[samples[i].sa_part],
		    &samples[i].sa_bucket) == 0, "add");
	for (p = 0; p < PARTS; p++) {
		CHECK(prof_buckets_join(&whole, &part[p]) == 0, "join");
		prof_buckets_fini(&part[p]);
	}
	while (max != 0 && plain(samples, n, halved) > max &&
	    !is_one_cell(samples, n, halved))
		halved++;
	CHECK(whole.ce_halved == halved, "%u times, not %u", whole.ce_halved,
	    halved);
	CHECK(whole.ce_n == plain(samples, n, halved), "%zu buckets",
	    whole.ce_n);
	for (i = 0; i < whole.ce_n; i++) {
		const struct prof_bucket *bucket = &whole.ce_bucket[i];

		CHECK(bucket->pc_samples == count[bucket->pc_bucket]
		    [bucket->pc_node][bucket->pc_event], "samples of %zu", i);
		CHECK(bucket->pc_weight == weigh[bucket->pc_bucket]
		    [bucket->pc_node][bucket->pc_event], "weight of %zu", i);
	}
	prof_buckets_fini(&whole);
	*total_halved += halved;
}

int
main(void)
{
	static struct sample samples[20000];
	unsigned round, halved = 0;
	size_t n;

	srandom(42);
	for (round = 0; round < 300; round++) {
		/* Every third has a few samples: parts of none, and of one. */
		n = make(samples, round % 3 == 0 ? 8 : sizeof(samples) /
		    sizeof(samples[0]));
		check_once(samples, n, round % 4 == 0 ? 0 : 1 +
		    (size_t)random() % (1u << random() % 14), &halved);
	}
	CHECK(halved > 200, "%u", halved);
	OK("300 sets of samples in %d parts, halved %u times", PARTS, halved);
	return (0);
}
