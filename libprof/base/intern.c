/* SPDX-License-Identifier: ISC */
/*
 * The tables of intern.h.  They grow by doubling, so that no sample pays for
 * more than its share, and never shrink.  The dictionary trusts its 128-bit
 * hash: it does not keep the bytes.  Each table has a seed of its own, so that
 * nobody can prepare two stacks that fall together, or a million keys that
 * stand in one place; the numbers given out do not depend on it.
 */
#define XXH_INLINE_ALL
#include <sys/random.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "intern.h"

#define FIRST_SLOTS	256

static uint64_t
hash_mix(const struct prof_map *map, uint64_t key)
{
	key ^= map->mp_seed;
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15ULL;
	return (key ^ (key >> 29));
}

/* Without one the tables work all the same. */
static uint64_t
new_seed(void)
{
	uint64_t seed = 0;

	return (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) ==
	    (ssize_t)sizeof(seed) ? seed : 0);
}

static int
map_grow(struct prof_map *map)
{
	uint32_t slots, i, at;
	struct prof_map_slot *old = map->mp_slots, *new;

	slots = old == NULL ? FIRST_SLOTS : 2 * (map->mp_mask + 1);
	new = calloc(slots, sizeof(*new));
	if (slots == 0 || new == NULL) {
		free(new);
		return (-1);
	}
	if (old == NULL)
		map->mp_seed = new_seed();
	for (i = 0; old != NULL && i <= map->mp_mask; i++) {
		if (old[i].ms_generation != map->mp_generation)
			continue;
		at = (uint32_t)hash_mix(map, old[i].ms_key) & (slots - 1);
		while (new[at].ms_generation != 0)
			at = (at + 1) & (slots - 1);
		new[at] = old[i];
		new[at].ms_generation = 1;
	}
	free(old);
	map->mp_slots = new;
	map->mp_mask = slots - 1;
	map->mp_generation = 1;
	return (0);
}

uint32_t
prof_map_find(struct prof_map *map, uint64_t key, bool *is_new)
{
	struct prof_map_slot *slot;
	uint32_t at;

	*is_new = false;
	if ((map->mp_slots == NULL || map->mp_count > map->mp_mask / 2) &&
	    map_grow(map) == -1)
		return (PROF_INTERN_FAILED);
	at = (uint32_t)hash_mix(map, key) & map->mp_mask;
	for (;;) {
		slot = &map->mp_slots[at];
		if (slot->ms_generation != map->mp_generation)
			break;
		if (slot->ms_key == key)
			return (slot->ms_value);
		at = (at + 1) & map->mp_mask;
	}
	slot->ms_key = key;
	slot->ms_value = map->mp_count++;
	slot->ms_generation = map->mp_generation;
	*is_new = true;
	return (slot->ms_value);
}

uint32_t
prof_map_peek(const struct prof_map *map, uint64_t key)
{
	const struct prof_map_slot *slot;
	uint32_t at;

	if (map->mp_slots == NULL)
		return (PROF_INTERN_FAILED);
	at = (uint32_t)hash_mix(map, key) & map->mp_mask;
	for (;; at = (at + 1) & map->mp_mask) {
		slot = &map->mp_slots[at];
		if (slot->ms_generation != map->mp_generation)
			return (PROF_INTERN_FAILED);
		if (slot->ms_key == key)
			return (slot->ms_value);
	}
}

void
prof_map_clear(struct prof_map *map)
{
	map->mp_count = 0;
	map->mp_last_valid = false;
	if (map->mp_slots == NULL)
		return;
	if (++map->mp_generation != 0)
		return;
	memset(map->mp_slots, 0,
	    ((size_t)map->mp_mask + 1) * sizeof(*map->mp_slots));
	map->mp_generation = 1;
}

void
prof_map_free(struct prof_map *map)
{
	free(map->mp_slots);
	memset(map, 0, sizeof(*map));
}

static int
dict_grow(struct prof_dict *dict)
{
	uint32_t slots, i, at;
	struct prof_dict_slot *old = dict->dt_slots, *new;

	slots = old == NULL ? FIRST_SLOTS : 2 * (dict->dt_mask + 1);
	new = calloc(slots, sizeof(*new));
	if (slots == 0 || new == NULL) {
		free(new);
		return (-1);
	}
	if (old == NULL)
		dict->dt_seed = new_seed();
	for (i = 0; old != NULL && i <= dict->dt_mask; i++) {
		if (old[i].ds_generation != dict->dt_generation)
			continue;
		at = (uint32_t)old[i].ds_low & (slots - 1);
		while (new[at].ds_generation != 0)
			at = (at + 1) & (slots - 1);
		new[at] = old[i];
		new[at].ds_generation = 1;
	}
	free(old);
	dict->dt_slots = new;
	dict->dt_mask = slots - 1;
	dict->dt_generation = 1;
	return (0);
}

uint32_t
prof_dict_find(struct prof_dict *dict, const void *bytes, size_t len,
    bool *is_new)
{
	struct prof_dict_slot *slot;
	XXH128_hash_t hash;
	uint32_t at;

	*is_new = false;
	if ((dict->dt_slots == NULL || dict->dt_count > dict->dt_mask / 2) &&
	    dict_grow(dict) == -1)
		return (PROF_INTERN_FAILED);
	hash = XXH3_128bits_withSeed(bytes, len, dict->dt_seed);
	at = (uint32_t)hash.low64 & dict->dt_mask;
	for (;;) {
		slot = &dict->dt_slots[at];
		if (slot->ds_generation != dict->dt_generation)
			break;
		if (slot->ds_low == hash.low64 && slot->ds_high == hash.high64)
			return (slot->ds_value);
		at = (at + 1) & dict->dt_mask;
	}
	slot->ds_low = hash.low64;
	slot->ds_high = hash.high64;
	slot->ds_value = dict->dt_count++;
	slot->ds_generation = dict->dt_generation;
	*is_new = true;
	return (slot->ds_value);
}

uint32_t
prof_dict_peek(const struct prof_dict *dict, const void *bytes, size_t len)
{
	const struct prof_dict_slot *slot;
	XXH128_hash_t hash;
	uint32_t at;

	if (dict->dt_slots == NULL)
		return (PROF_INTERN_FAILED);
	hash = XXH3_128bits_withSeed(bytes, len, dict->dt_seed);
	at = (uint32_t)hash.low64 & dict->dt_mask;
	for (;; at = (at + 1) & dict->dt_mask) {
		slot = &dict->dt_slots[at];
		if (slot->ds_generation != dict->dt_generation)
			return (PROF_INTERN_FAILED);
		if (slot->ds_low == hash.low64 && slot->ds_high == hash.high64)
			return (slot->ds_value);
	}
}

void
prof_dict_clear(struct prof_dict *dict)
{
	dict->dt_count = 0;
	if (dict->dt_slots == NULL)
		return;
	if (++dict->dt_generation != 0)
		return;
	memset(dict->dt_slots, 0,
	    ((size_t)dict->dt_mask + 1) * sizeof(*dict->dt_slots));
	dict->dt_generation = 1;
}

void
prof_dict_free(struct prof_dict *dict)
{
	free(dict->dt_slots);
	memset(dict, 0, sizeof(*dict));
}
