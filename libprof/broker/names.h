/* SPDX-License-Identifier: ISC */
/*
 * Functions by way of a parser, at the end of a recording: what names.c asks
 * and checks, and parse_names.c answers.
 */
#ifndef PROF_NAMES_H
#define PROF_NAMES_H

#include "broker.h"
#include "image/module.h"
#include "recording/table.h"

/* The request begins so; behind it the places, by number. */
struct prof_named_ask {
	uint64_t	na_n;		/* places */
	uint64_t	na_most;	/* MAP: bytes of memory it may take */
	/* NAMES: what the file is to be, as images.h has it */
	uint64_t	na_dev;
	uint64_t	na_ino;
	uint64_t	na_written_ns;
	uint32_t	na_is_vdso;	/* the parser's own is read */
	uint32_t	na_id_len;
	uint8_t		na_id[24];
};

/* The answer begins so; behind it functions, as in a SYMBOL chunk. */
struct prof_named_head {
	uint32_t	nh_why;		/* why others have no name */
	uint32_t	nh_nsegments;
	uint64_t	nh_dropped;	/* places there was no room for */
	uint64_t	nh_left;	/* MAP: of na_most; 0: it took more */
	uint64_t	nh_segment[PROF_TABLE_SEGMENTS][3];
};

#define PROF_NAMES_BYTES	(8u << 20)	/* of functions */

/* What is wanted, and what came. */
struct prof_naming {
	/* in */
	struct prof_broker *ng_broker;
	const char	*ng_name;	/* of the file, for people */
	int		 ng_fd;		/* the caller's; -1: the vDSO */
	const uint64_t	*ng_place;	/* ascending */
	size_t		 ng_n;
	const char	*ng_debug_dirs;
	uint64_t	 ng_left;	/* in and out: as na_most, nh_left */
	/* in and out: kind, path and so on in, why and segments out */
	struct prof_table *ng_table;
	/* out */
	struct prof_buf	 ng_body;	/* to be freed by the caller */
	uint32_t	 ng_functions;
	uint64_t	 ng_dropped;
	uint64_t	 ng_cpu_ns;
};

/*
 * A SYMBOL chunk of the functions at the places.  false: the file cost a
 * parser, or there is none, and ng_body has no functions.
 */
bool	prof_names_ask(struct prof_naming *naming, uint64_t written_ns);

#endif /* PROF_NAMES_H */
