/* SPDX-License-Identifier: ISC */
/*
 * Two tables that number what they are shown, in order of first appearance:
 * prof_map by a 64-bit key, prof_dict by a 128-bit hash of bytes.  The writer
 * keeps one for each thing that a sample names by number, analysis one for
 * each thing that it wants to look at just once.  Both are open
 * addressing with linear probing, at most half full; forgetting all is one
 * increment, because a slot counts only in its generation.
 *
 * Included by recording/ and analysis/.
 */
#ifndef PROF_INTERN_H
#define PROF_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_map_slot {
	uint64_t	ms_key;
	uint32_t	ms_value;
	uint32_t	ms_generation;	/* 0: never used */
};

struct prof_map {
	struct prof_map_slot *mp_slots;
	uint32_t	 mp_mask;
	uint32_t	 mp_count;
	uint32_t	 mp_generation;
	uint32_t	 mp_last_value;	/* of the last key asked for */
	uint64_t	 mp_last_key;
	uint64_t	 mp_seed;
	bool		 mp_last_valid;
};

struct prof_dict_slot {
	uint64_t	ds_low;
	uint64_t	ds_high;
	uint32_t	ds_value;
	uint32_t	ds_generation;
};

struct prof_dict {
	struct prof_dict_slot *dt_slots;
	uint32_t	 dt_mask;
	uint32_t	 dt_count;
	uint32_t	 dt_generation;
	uint64_t	 dt_seed;
};

#define PROF_INTERN_FAILED	UINT32_MAX	/* no memory */

/* The number of key; *is_new when it had none. */
uint32_t prof_map_find(struct prof_map *map, uint64_t key, bool *is_new);
/* The same, but nothing gets a number: PROF_INTERN_FAILED when it has none. */
uint32_t prof_map_peek(const struct prof_map *map, uint64_t key);
void	prof_map_clear(struct prof_map *map);
void	prof_map_free(struct prof_map *map);

uint32_t prof_dict_find(struct prof_dict *dict, const void *bytes, size_t len,
	    bool *is_new);
uint32_t prof_dict_peek(const struct prof_dict *dict, const void *bytes,
	    size_t len);
void	prof_dict_clear(struct prof_dict *dict);
void	prof_dict_free(struct prof_dict *dict);

/* Runs of equal keys are common: look at the last one first. */
static inline uint32_t
prof_map_get(struct prof_map *map, uint64_t key, bool *is_new)
{
	uint32_t value;

	if (map->mp_last_valid && map->mp_last_key == key) {
		*is_new = false;
		return (map->mp_last_value);
	}
	value = prof_map_find(map, key, is_new);
	map->mp_last_key = key;
	map->mp_last_value = value;
	map->mp_last_valid = value != PROF_INTERN_FAILED;
	return (value);
}

#endif /* PROF_INTERN_H */
