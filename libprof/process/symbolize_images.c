/* SPDX-License-Identifier: ISC */
/*
 * Forgets images while recording: a build server maps new files all day, and
 * most of them no sample ever meets.  Where there are NOTED_MANY_IMAGES, those
 * stay that a process has mapped or that hold a place that was met; all get
 * new numbers.  What cannot go stays, up to NOTED_MAX_IMAGES; mappings of
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
	return ((place & NOTED_JIT) != 0 ? PROF_IMAGE_ANON :
	    (uint32_t)(place >> NOTED_OFFSET_BITS));
}

/* Descriptors go with their image. */
static void
renumber_held(struct prof_noted *noted, const uint32_t *number, uint32_t before)
{
	uint32_t n;

	for (n = 1; n < before && n < noted->nt_held_cap; n++) {
		const int held = noted->nt_held[n];
		const bool used = noted->nt_used[n];

		noted->nt_held[n] = 0;
		noted->nt_used[n] = false;
		if (number[n] != 0) {
			noted->nt_held[number[n]] = held;
			noted->nt_used[number[n]] = used;
		} else if (held != 0) {
			close(held - 1);
			noted->nt_nheld--;
		}
	}
}

/* -1: no memory; then places are forgotten, not mistaken. */
static int
renumber_places(struct prof_noted *noted, const uint32_t *number)
{
	struct noted_set *set = &noted->nt_places;
	const uint32_t n = set->ns_n;
	uint32_t i, image;
	uint64_t place;

	prof_map_free(&set->ns_map);
	set->ns_n = 0;
	for (i = 0; i < n; i++) {
		place = set->ns_key[i];
		image = image_of_place(place);
		if (image != PROF_IMAGE_ANON) {
			place &= (1ULL << NOTED_OFFSET_BITS) - 1;
			place |= (uint64_t)number[image] << NOTED_OFFSET_BITS;
		}
		if (!prof_noted_set_add(set, place))
			return (-1);
	}
	return (0);
}

int
prof_noted_forget_images(struct prof_noted *noted)
{
	const uint32_t before = noted->nt_images.is_n;
	uint32_t *number = calloc(before, sizeof(*number)), i;
	int rv;

	if (number == NULL)
		return (-1);
	prof_processes_images(noted->nt_processes, number, false);
	for (i = 0; i < noted->nt_places.ns_n; i++)
		number[image_of_place(noted->nt_places.ns_key[i])] = 1;
	number[PROF_IMAGE_ANON] = 0;
	rv = prof_images_keep(&noted->nt_images, number);
	if (rv == 0) {
		prof_processes_images(noted->nt_processes, number,
		    true);
		renumber_held(noted, number, before);
		rv = renumber_places(noted, number);
	}
	/* Not again before as many have come once more. */
	noted->nt_many_images = noted->nt_images.is_n + NOTED_MANY_IMAGES / 2;
	if (noted->nt_many_images < NOTED_MANY_IMAGES)
		noted->nt_many_images = NOTED_MANY_IMAGES;
	free(number);
	return (rv);
}
