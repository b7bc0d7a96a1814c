/* SPDX-License-Identifier: ISC */
/*
 * What the readers of other tools' files share.
 *
 *	import.c	the public calls; opens, writes, ends
 *	folded.c	folded stacks
 *	store.c		answers of a store
 *	pprof.c		a profile of pprof, taken apart by pprof_read.c
 *	perf_script.c	text of perf script, taken apart by
 *			perf_script_line.c
 *	places.c	where names lie that have no addresses
 *	perfdata.c	a perf.data file: from bytes to records, in order
 *	perf_attr.c	its events, and which of them a record belongs to
 *	perf_feature.c	what it says of itself and of the machine
 *	perf_record.c	one record taken apart
 *	perf_files.c	build-ids of files, where it has none
 *
 * The files are anybody's: no length, count or string in them is believed.
 *
 * Included by import/ and by the fuzzers.
 */
#ifndef PROF_IMPORT_H
#define PROF_IMPORT_H

#include <linux/perf_event.h>

#include "base/error.h"
#include "recording/query.h"
#include "recording/sink.h"
#include "recording/source.h"

/* ----------------------------------------------------------- import.c */

struct prof_import {
	struct prof_sink im_sink;	/* a writer, or a fuzzer */
	struct prof_err	 im_error;
	const uint8_t	*im_bytes;
	size_t		 im_length;
	struct prof_source im_source;	/* what they are of */
	const char *const *im_inputs;	/* NULL, or what merge.c reads */
	size_t		 im_ninputs;
	uint64_t	 im_written_ns;	/* the file, CLOCK_REALTIME; 0: ? */
	int		 im_memory;	/* goes there without a path; or -1 */
	uint64_t	 im_samples;
	char		**im_notes;
	size_t		 im_nnotes;
};

/* A note for the user and for the recording; -1: no memory. */
int	prof_import_say(struct prof_import *import, const char *fmt, ...)
	    PROF_PRINTF(2, 3);
int	prof_import_info(struct prof_import *import, const char *key,
	    const char *value);
int	prof_import_event(struct prof_import *import,
	    const struct prof_event_info *info);
int	prof_import_add(struct prof_import *import,
	    const struct prof_record *record);
/*
 * n samples alike, a ns after another from time_ns on, accounted for in sum.
 */
int	prof_import_repeat(struct prof_import *import,
	    struct prof_record *record, uint64_t n,
	    struct prof_accounting *sum, uint64_t *time_ns);
/* A table of functions, as prof_writer_symbols takes it. */
int	prof_import_symbols(struct prof_import *import, const void *body,
	    size_t len);
/* Also writes the notes. */
int	prof_import_accounting(struct prof_import *import,
	    const struct prof_accounting *accounting, size_t n);

/* ------------------------------------------------------------ merge.c */

/* im_inputs as one recording. */
int	prof_import_merge(struct prof_import *import);

/* ---------------------- folded.c, pprof.c, perfdata.c, perf_script.c */

int	prof_import_folded(struct prof_import *import);
bool	prof_import_is_folded(const uint8_t *bytes, size_t length);
int	prof_import_perf(struct prof_import *import);
int	prof_import_perf_script(struct prof_import *import);
int	prof_import_pprof(struct prof_import *import);
bool	prof_import_is_pprof(const uint8_t *bytes, size_t length);
/* By the first line that is no comment. */
bool	prof_import_is_perf_script(const uint8_t *bytes, size_t length);
int	prof_import_store(struct prof_import *import);
bool	prof_import_is_store(const uint8_t *bytes, size_t length);
bool	prof_import_is_perf(const uint8_t *bytes, size_t length);

#endif /* PROF_IMPORT_H */
