/* SPDX-License-Identifier: ISC */
/*
 * Where the code of a profile lay in memory, as one process would have it:
 * mappings that do not overlap, and addresses within them.
 *
 * Included by output/ alone.
 */
#ifndef PROF_CODE_MAP_H
#define PROF_CODE_MAP_H

#include "flame.h"
#include "process/symbols_impl.h"

/* Its range is empty where the recording does not have it. */
struct prof_code_mapping {
	const char	*cm_path;	/* borrowed from the symbols */
	const struct prof_image *cm_image;	/* NULL: no file */
	uint64_t	 cm_start;
	uint64_t	 cm_limit;
	uint64_t	 cm_offset;	/* in the file, of cm_start */
};

struct prof_code_map;

/* Owned by caller; NULL: no memory. */
struct prof_code_map *prof_code_map_new(const struct prof_flame *flame);
/*
 * The number, from 1 on and in order of first use, of the mapping that a
 * label is in, and the address that was sampled there (0: not known).
 * 0: it is in none; UINT32_MAX: no memory.
 */
uint32_t prof_code_map_find(struct prof_code_map *map,
	    const struct prof_label *label, uint64_t *address);
/* NULL: there are no more.  Borrowed until the next find. */
const struct prof_code_mapping *prof_code_map_at(
	    const struct prof_code_map *map, uint32_t number);
void	prof_code_map_free(struct prof_code_map *map);

#endif /* PROF_CODE_MAP_H */
