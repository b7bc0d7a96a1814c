/* SPDX-License-Identifier: ISC */
/*
 * The locations of a profile, as pprof and OTLP have them: a location is a
 * place in a function of the symbol table with what was inlined into it there.
 *
 * Included by output/ alone.
 */
#ifndef PROF_LOCATIONS_H
#define PROF_LOCATIONS_H

#include "base/intern.h"
#include "code_map.h"

/* A location as it grows inwards: its function, then what is inlined. */
struct prof_location {
	uint32_t	ch_outer;	/* chain + 1; 0: the function itself */
	uint32_t	ch_label;
	uint32_t	ch_number;	/* as a location; 0: it is none */
};

struct prof_locations {
	const struct prof_flame *lo_flame;
	struct prof_code_map *lo_code;
	struct prof_map	 lo_functions;	/* by struct or label */
	struct prof_map	 lo_chains;
	struct prof_location *lo_chain;
	size_t		 lo_nchains;
	size_t		 lo_cap_chains;
	uint32_t	*lo_location;	/* chains, by number - 1 */
	size_t		 lo_nlocations;
	size_t		 lo_cap_locations;
	uint32_t	*lo_of_node;	/* its chain; the root's is none */
	const uint64_t	**lo_samples;	/* by event */
	const uint64_t	**lo_weights;
	bool		 lo_has_lines;
	bool		 lo_failed;	/* no memory */
};

/* 0, or -1: no memory.  The flame is borrowed. */
int	prof_locations_init(struct prof_locations *locations,
	    const struct prof_flame *flame);
void	prof_locations_fini(struct prof_locations *locations);
/*
 * The locations of a node's stack, from the leaf outwards, as varints; what
 * names its thread is in none, and returned; NULL: nothing does.
 */
const struct prof_label *prof_locations_stack(
	    struct prof_locations *locations, uint32_t node,
	    struct prof_buf *packed);
/* The number of the mapping of a label, from 1, and the address there. */
uint32_t prof_locations_mapping(struct prof_locations *locations,
	    const struct prof_label *label, uint64_t *address);
/* The function of a label: its number, from 1, and what is said of it. */
struct prof_location_function {
	uint64_t	 lf_number;
	const char	*lf_name;
	const char	*lf_raw;	/* in the symbol table */
	char		*lf_file;	/* owned by caller; NULL: not known */
	unsigned	 lf_line;
	bool		 lf_is_new;
};
void	prof_locations_function(struct prof_locations *locations,
	    uint32_t label, struct prof_location_function *function);

#endif /* PROF_LOCATIONS_H */
