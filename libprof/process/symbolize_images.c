/* SPDX-License-Identifier: ISC */
/*
 * Forgets images while recording: a build server maps new files all day, and
 * most of them no sample ever meets.  Where there are HITS_MANY_IMAGES, those
 * stay that a process has mapped or that hold a place that was met; all get
 * new numbers.  What cannot go stays, up to HITS_MAX_IMAGES; mappings of
 * further files are passed over, and counted.
 *
 * Called by symbolize.c at the end of a round, when nothing waits that has a
 * number.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize_impl.h"

static uint32_t
image_of_place(uint64_t place)
{
	return ((place & HITS_JIT) != 0 ? PROF_IMAGE_ANON :
	    (uint32_t)(place >> HITS_OFFSET_BITS));
}

/* Descriptors go with their image. */
static void
renumber_held(struct prof_hits *hits, const uint32_t *number, uint32_t before)
{
	uint32_t n;

	for (n = 1; n < before && n < hits->ht_held_cap; n++) {
		const int held = hits->ht_held[n];
		const bool used = hits->ht_used[n];

		hits->ht_held[n] = 0;
		hits->ht_used[n] = false;
		if (number[n] != 0) {
			hits->ht_held[number[n]] = held;
			hits->ht_used[number[n]] = used;
		} else if (held != 0) {
			close(held - 1);
			hits->ht_nheld--;
		}
	}
}

/* -1: no memory; then places are forgotten, not mistaken. */
static int
renumber_places(struct prof_hits *hits, const uint32_t *number)
{
	struct hits_set *set = &hits->ht_places;
	const uint32_t n = set->hs_n;
	uint32_t i, image;
	uint64_t place;

	prof_map_free(&set->hs_map);
	set->hs_n = 0;
	for (i = 0; i < n; i++) {
		place = set->hs_key[i];
		image = image_of_place(place);
		if (image != PROF_IMAGE_ANON) {
			place &= (1ULL << HITS_OFFSET_BITS) - 1;
			place |= (uint64_t)number[image] << HITS_OFFSET_BITS;
		}
		if (!prof_hits_set_add(set, place))
			return (-1);
	}
	return (0);
}

int
prof_hits_forget_images(struct prof_hits *hits)
{
	const uint32_t before = hits->ht_images.is_n;
	uint32_t *number = calloc(before, sizeof(*number)), i;
	int rv;

	if (number == NULL)
		return (-1);
	prof_processes_images(hits->ht_processes, number, false);
	for (i = 0; i < hits->ht_places.hs_n; i++)
		number[image_of_place(hits->ht_places.hs_key[i])] = 1;
	number[PROF_IMAGE_ANON] = 0;
	rv = prof_images_keep(&hits->ht_images, number);
	if (rv == 0) {
		prof_processes_images(hits->ht_processes, number,
		    true);
		renumber_held(hits, number, before);
		rv = renumber_places(hits, number);
	}
	/* Not again before as many have come once more. */
	hits->ht_many_images = hits->ht_images.is_n + HITS_MANY_IMAGES / 2;
	if (hits->ht_many_images < HITS_MANY_IMAGES)
		hits->ht_many_images = HITS_MANY_IMAGES;
	free(number);
	return (rv);
}
