/* SPDX-License-Identifier: ISC */
/*
 * A profile of pprof (perftools.profiles.Profile), taken apart.
 *
 *	pprof_read.c	from bytes to the tables of its parts
 *	pprof.c		from these to a recording
 *
 * Ids and numbers of strings are whatever the file says; who looks one up
 * must bear that there is nothing.
 */
#ifndef PROF_PPROF_H
#define PROF_PPROF_H

#include "base/intern.h"
#include "import.h"

#define PPROF_TYPES	32	/* values of a sample */

/* Bytes of the file, not NUL-ended. */
struct pprof_text {
	const uint8_t	*pt_at;
	size_t		 pt_length;
};

struct pprof_mapping {
	uint64_t	pm_file;	/* numbers of strings */
	uint64_t	pm_build_id;
};

struct pprof_function {
	uint64_t	pn_name;
};

struct pprof_location {
	uint64_t	 pl_mapping;	/* its id */
	struct pprof_text pl_message;	/* lines are in it */
};

struct pprof_type {
	uint64_t	py_type;	/* numbers of strings */
	uint64_t	py_unit;
};

/* A table of parts, and which id stands where. */
struct pprof_table {
	struct prof_map	 pb_ids;
	void		*pb_part;
	size_t		 pb_n;
	size_t		 pb_cap;
};

struct pprof_file {
	struct pprof_text pf_whole;
	struct pprof_table pf_strings;	/* by number, not by id */
	struct pprof_table pf_mappings;
	struct pprof_table pf_functions;
	struct pprof_table pf_locations;
	struct pprof_type pf_type[PPROF_TYPES];
	unsigned	 pf_ntypes;
};

struct pprof_sample {
	uint64_t	*ps_location;	/* ids, the innermost first */
	size_t		 ps_nlocations;
	size_t		 ps_cap;
	int64_t		 ps_value[PPROF_TYPES];
	unsigned	 ps_nvalues;
};

/* What is in gzip, up to a size that no profile has.  0 or -1. */
int	prof_pprof_inflate(struct prof_import *import, struct prof_buf *out);
/* All parts but samples.  -1: not such a file, or no memory (in error). */
int	prof_pprof_read(struct pprof_file *file, const uint8_t *bytes,
	    size_t length, struct prof_err *error);
void	prof_pprof_fini(struct pprof_file *file);
/* "" where there is none. */
struct pprof_text prof_pprof_string(const struct pprof_file *file,
	    uint64_t number);
bool	prof_pprof_begins(struct pprof_text text, const char *with);
/* NULL: nothing has this id. */
const struct pprof_mapping *prof_pprof_mapping(struct pprof_file *file,
	    uint64_t id);
const struct pprof_function *prof_pprof_function(struct pprof_file *file,
	    uint64_t id);
const struct pprof_location *prof_pprof_location(struct pprof_file *file,
	    uint64_t id);
/* The next line of a location: 1, and the id of its function; or 0. */
int	prof_pprof_line(struct pprof_text *rest, uint64_t *function);
/* The next sample: 1, 0: none left, -1: no memory.  Arrays are reused. */
int	prof_pprof_sample(struct pprof_text *rest,
	    struct pprof_sample *sample);

#endif /* PROF_PPROF_H */
