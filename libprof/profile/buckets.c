/* SPDX-License-Identifier: ISC */
/*
 * What was when: buckets of time and node.  Where there would be more than are
 * wanted, each becomes twice as long, and again: so memory is bounded however
 * long was recorded.  How long they are then depends on what is in the
 * recording alone, not on who saw which part of it: a part never has more
 * buckets than the whole.
 *
 *	first ..|..|..|..|..|..|..|..|	what is the same is added up now and
 *	then   .....|.....|.....|.....|	then, not at each sample: a node's last
 *					bucket is all that is looked at
 *
 * Called by profile.c and gather.c; order.c sums up for all.
 */
#include <stdlib.h>

#include "profile_impl.h"

#define NONE	UINT32_MAX

int
prof_buckets_init(struct prof_buckets *buckets, size_t nnodes, size_t max)
{
	buckets->ce_nnodes = nnodes;
	buckets->ce_max = max;
	buckets->ce_fit_at = max != 0 ? 2 * max : SIZE_MAX;
	buckets->ce_last = malloc((nnodes + 1) * sizeof(*buckets->ce_last));
	if (buckets->ce_last == NULL)
		return (-1);
	memset(buckets->ce_last, 0xff, nnodes * sizeof(*buckets->ce_last));
	return (0);
}

void
prof_buckets_fini(struct prof_buckets *buckets)
{
	free(buckets->ce_bucket);
	free(buckets->ce_last);
}

/* -------------------------------------------------------------- sums */

static inline uint8_t
bucket_byte(const struct prof_bucket *bucket, unsigned n)
{
	uint32_t value = n < 4 ? bucket->pc_event : n < 8 ? bucket->pc_node :
	    bucket->pc_bucket;

	return ((uint8_t)(value >> n % 4 * 8));
}

/* By bucket, node and event, from the last byte to the first. */
static int
sort_buckets(struct prof_bucket **buckets, size_t n)
{
	struct prof_bucket *from = *buckets, *to, *swap;
	size_t count[257], i;
	unsigned byte;

	to = calloc(n + 1, sizeof(*to));
	if (to == NULL)
		return (-1);
	for (byte = 0; byte < 12; byte++) {
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[bucket_byte(&from[i], byte) + 1]++;
		if (n == 0 || count[bucket_byte(&from[0], byte) + 1] == n)
			continue;
		for (i = 1; i < 257; i++)
			count[i] += count[i - 1];
		for (i = 0; i < n; i++)
			to[count[bucket_byte(&from[i], byte)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	free(to);
	*buckets = from;
	return (0);
}

int
prof_buckets_sum(struct prof_bucket **buckets, size_t *count)
{
	struct prof_bucket *bucket, *last;
	size_t n = 0, i;

	if (sort_buckets(buckets, *count) == -1)
		return (-1);
	bucket = *buckets;
	for (i = 0; i < *count; i++) {
		last = n > 0 ? &bucket[n - 1] : NULL;
		if (last != NULL && last->pc_bucket == bucket[i].pc_bucket &&
		    last->pc_node == bucket[i].pc_node &&
		    last->pc_event == bucket[i].pc_event) {
			last->pc_samples += bucket[i].pc_samples;
			last->pc_weight += bucket[i].pc_weight;
		} else {
			bucket[n++] = bucket[i];
		}
	}
	*count = n;
	return (0);
}

/* -------------------------------------------------------------- time */

/* The array that comes back has room for what went in. */
static int
buckets_sum(struct prof_buckets *buckets)
{
	buckets->ce_cap = buckets->ce_n;
	return (prof_buckets_sum(&buckets->ce_bucket, &buckets->ce_n));
}

static void
buckets_halve(struct prof_buckets *buckets)
{
	size_t i;

	for (i = 0; i < buckets->ce_n; i++)
		buckets->ce_bucket[i].pc_bucket /= 2;
	buckets->ce_halved++;
}

/* Add up, and then so again with longer ones, until they fit. */
static int
buckets_fit(struct prof_buckets *buckets)
{
	memset(buckets->ce_last, 0xff, buckets->ce_nnodes *
	    sizeof(*buckets->ce_last));
	if (buckets_sum(buckets) == -1)
		return (-1);
	while (buckets->ce_max != 0 && buckets->ce_n > buckets->ce_max &&
	    buckets->ce_bucket[buckets->ce_n - 1].pc_bucket > 0) {
		buckets_halve(buckets);
		if (buckets_sum(buckets) == -1)
			return (-1);
	}
	return (0);
}

static int
buckets_append(struct prof_buckets *buckets, const struct prof_bucket *bucket)
{
	if (!prof_room(&buckets->ce_bucket, &buckets->ce_cap, buckets->ce_n + 1,
	    sizeof(*bucket)))
		return (-1);
	buckets->ce_bucket[buckets->ce_n++] = *bucket;
	return (0);
}

int
prof_buckets_add(struct prof_buckets *buckets, const struct prof_bucket *given)
{
	struct prof_bucket *last, bucket = *given;
	uint32_t n = buckets->ce_last[bucket.pc_node];

	bucket.pc_bucket >>= buckets->ce_halved;
	if (n != NONE) {
		last = &buckets->ce_bucket[n];
		if (last->pc_bucket == bucket.pc_bucket &&
		    last->pc_event == bucket.pc_event) {
			last->pc_samples += bucket.pc_samples;
			last->pc_weight += bucket.pc_weight;
			return (0);
		}
	}
	/* Half of them may be the same ones again. */
	if (buckets->ce_n >= buckets->ce_fit_at) {
		if (buckets_fit(buckets) == -1)
			return (-1);
		/* One length of time may have more than are wanted. */
		if (buckets->ce_n > buckets->ce_max)
			buckets->ce_fit_at = 2 * buckets->ce_n;
		bucket.pc_bucket = given->pc_bucket >> buckets->ce_halved;
	}
	buckets->ce_last[bucket.pc_node] = (uint32_t)buckets->ce_n;
	return (buckets_append(buckets, &bucket));
}

int
prof_buckets_join(struct prof_buckets *to, struct prof_buckets *from)
{
	struct prof_bucket *bucket;
	size_t i;

	while (to->ce_halved < from->ce_halved)
		buckets_halve(to);
	for (i = 0; i < from->ce_n; i++) {
		bucket = &from->ce_bucket[i];
		bucket->pc_bucket >>= to->ce_halved - from->ce_halved;
		if (buckets_append(to, bucket) == -1)
			return (-1);
	}
	return (buckets_fit(to));
}
