/* SPDX-License-Identifier: ISC */
/*
 * The reader's insides, shared by read.c (open, describe, close), scan.c
 * (find the chunks, decode what is kept), decode.c (samples of a chunk) and
 * expand.c (samples in order, with their frames).
 *
 * Kept in memory: descriptions, accounting, process events, the tree of
 * stacks, where the SAMPLE chunks are, and one SAMPLE chunk decoded.  What
 * is kept is charged to a budget that the size of the file sets, so a small
 * file cannot claim a large memory.
 *
 * Included by recording/ alone.
 */
#ifndef PROF_READER_H
#define PROF_READER_H

#include <zstd.h>

#include "batch.h"
#include "elapsed.h"
#include "query.h"
#include "source.h"

/* A growing array, charged to the reader's budget. */
struct prof_array {
	void		*ar_items;
	size_t		 ar_count;
	size_t		 ar_cap;
};

struct prof_pair {
	const char	*pa_key;
	const char	*pa_value;
};

/*
 * A record of a LIFE chunk.  There may be as many of them as samples, so what
 * is kept is when it was, and where in rd_life_bytes the rest lies: type, which
 * fields are not 0, these, and the build-id; a third of what it would take
 * unpacked.  Records lie in the order of the file.
 */
struct prof_life {
	uint64_t	li_time_ns;
	uint32_t	li_at;
};

/* The same, unpacked.  Strings are places in rd_strings; 0 is "". */
struct prof_life_fields {
	uint64_t	lf_field[PROF_LF_NFIELDS];
	uint8_t		lf_type;
	uint8_t		lf_build_id[20];
};

/*
 * Stacks as a tree: a node is a frame and the number of its caller's node,
 * 0 being above all.  So a stack costs what its chunk said about it, however
 * much it shares.
 */
struct prof_node {
	uint64_t	nd_pc;
	uint32_t	nd_caller;
	uint32_t	nd_depth;
};

/* The stacks of one STACK chunk: numbers sg_first to sg_first + sg_count. */
struct prof_segment {
	uint64_t	sg_first;
	uint32_t	sg_count;
	uint32_t	sg_leaf;	/* place of the first in rd_leaves */
};

struct prof_sample_chunk {
	size_t		sc_offset;
	uint64_t	sc_count;
	uint32_t	sc_number;
	bool		sc_damaged;	/* its decoder says it */
	bool		sc_counted;	/* in rd_missing */
};

/* Where the samples have come to; decode.c. */
struct prof_shape {
	uint16_t	sh_bits;
	uint8_t		sh_kstatus;
	uint8_t		sh_ustatus;
	uint8_t		sh_nargs;
	uint8_t		sh_nvalues;
	uint32_t	sh_event;
	uint32_t	sh_strings;
};

struct prof_task {
	uint32_t	tk_pid;
	uint32_t	tk_tid;
};

/* The body of a SYMBOL chunk: owned. */
struct prof_kept {
	uint8_t		*kp_bytes;
	size_t		 kp_len;
};

/* What decompresses, and the chunk that it has decompressed. */
struct prof_inflate {
	ZSTD_DCtx	*if_zstd;
	struct prof_buf	 if_raw;
};

/* One chunk of samples being decoded. */
struct prof_decoder {
	const struct prof_reader *de_reader;
	struct prof_err	*de_error;
	struct prof_buf	 de_stored;	/* the chunk as it is in the file */
	struct prof_inflate de_inflate;
	size_t		 de_budget;	/* bytes that tables may grow by */
	struct prof_cur	 de_columns[PROF_SS_END];
	struct prof_sample_chunk *de_chunk;
	uint64_t	 de_left;	/* samples left in it */
	uint64_t	 de_time;
	struct prof_array de_shapes;	/* struct prof_shape */
	struct prof_array de_tasks;	/* struct prof_task */
	struct prof_array de_addrs;	/* uint64_t */
	struct prof_array de_words;	/* const char * */
	struct prof_previous *de_previous;	/* per event */
	struct prof_sample de_sample;
	bool		 de_is_elapsed;
};

/* A record, and its public form, which points into both (entry.c). */
struct prof_reader_entry {
	struct prof_entry re_public;
	struct prof_entry_sample re_sample;
	struct prof_entry_process re_process;
	struct prof_entry_mapping re_mapping;
	struct prof_entry_lost re_lost;
	struct prof_record re_record;
};

struct prof_reader {
	struct prof_err	 rd_error;
	struct prof_source rd_source;
	struct prof_buf	 rd_stored;	/* the chunk that the scan is at */
	size_t		 rd_scan_at;	/* and where it is */
	size_t		 rd_budget;	/* bytes that may still be kept */
	char		*rd_cut;
	struct prof_inflate rd_inflate;
	/* descriptions */
	struct prof_array rd_texts;	/* char *: owned */
	struct prof_array rd_pairs;	/* struct prof_pair */
	struct prof_dict rd_by_key;	/* their numbers */
	struct prof_event_info **rd_events;
	size_t		 rd_nevents;
	struct prof_event_info rd_unknown;
	struct prof_syscall **rd_calls;	/* [DTP_MAX_SYSCALL], or NULL */
	/* accounting */
	struct prof_array rd_rows;	/* struct prof_row, sorted */
	struct prof_array rd_tallies;	/* struct prof_tally, sorted */
	struct prof_array rd_cpus;	/* int */
	uint64_t	 rd_side_said;	/* sum of LOST of the sideband */
	/* LIFE chunks: process events, mappings, markers */
	struct prof_array rd_life_records;	/* struct prof_life, by time */
	struct prof_array rd_life_bytes; /* char */
	struct prof_array rd_strings;	/* char, each different one once */
	struct prof_dict rd_by_string;
	struct prof_array rd_places;	/* uint32_t: of those, by number */
	size_t		 rd_life_at;
	size_t		 rd_life_budget; /* bytes that more of them may take */
	uint64_t	 rd_left_out;	/* process events beyond it ... */
	uint64_t	 rd_left_out_ns; /* ... and when the first one was */
	uint64_t	 rd_names_left_out; /* tables of names, too */
	struct prof_array rd_symbols;	/* struct prof_kept */
	/* stacks */
	struct prof_array rd_nodes;	/* struct prof_node */
	struct prof_array rd_leaves;	/* uint32_t: a node */
	struct prof_array rd_segments;	/* struct prof_segment, sorted */
	uint32_t	*rd_place;	/* of a stack in rd_frames, 0: not */
	uint64_t	*rd_frames;
	size_t		 rd_nframes;
	size_t		 rd_cap_frames;
	size_t		 rd_segment_at;	/* the last that had a stack */
	/* what the scan found */
	struct prof_array rd_samples;	/* struct prof_sample_chunk */
	uint64_t	 rd_nsamples;
	uint32_t	 rd_nchunks;
	uint32_t	 rd_next_sequence;
	uint32_t	 rd_missing;	/* chunks that are damaged or gone */
	size_t		 rd_first_damage;
	size_t		 rd_end;	/* of what was read */
	bool		 rd_tail_torn;
	bool		 rd_ended;	/* there is an END */
	uint32_t	 rd_end_reason;
	size_t		 rd_resync;	/* bytes that resync may hash */
	/* the samples in order */
	struct prof_decoder *rd_decoder;
	size_t		 rd_sample_at;	/* next of rd_samples */
	const struct prof_record *rd_sample; /* the next one, the decoder's */
	struct prof_record rd_life;	/* the last one that was borrowed */
	struct prof_reader_entry rd_entry;
	uint64_t	 rd_alone[2];	/* stacks of one frame */
	uint64_t	*rd_twin;	/* a stack that is used twice */
	struct prof_elapsed rd_elapsed;
};

/* ------------------------------------------------------------ read.c */
/* Take memory off the budget; false: so much is not left, rd_error says so. */
bool	prof_reader_charge(struct prof_reader *reader, size_t bytes);
/* More than a file of its size can hold: -1, with the error set. */
int	prof_reader_exceeded(struct prof_err *error);
/* Room for one more item, zeroed; NULL: rd_error says why. */
void	*prof_array_add(struct prof_reader *reader, struct prof_array *array,
	    size_t size);
/* count more, not zeroed; the first of them. */
void	*prof_array_extend(struct prof_reader *reader,
	    struct prof_array *array, size_t size, size_t count);
/* A copy that lives as long as the reader. */
const char *prof_reader_text(struct prof_reader *reader, const char *text);

/* ------------------------------------------------------------ scan.c */
int	prof_scan(struct prof_reader *reader);
/*
 * The whole chunk at an offset, checked, which lies in buf or in memory.  1,
 * 0: there is none (any more), -1: no memory.
 */
int	prof_scan_chunk(const struct prof_reader *reader, size_t at,
	    struct prof_chunk *chunk, struct prof_buf *buf);
/* The body, decompressed when it must be.  1, 0: damaged, -1: no memory. */
int	prof_inflate_body(struct prof_inflate *inflate,
	    const struct prof_chunk *chunk, struct prof_cur *body);
void	prof_inflate_free(struct prof_inflate *inflate);

/* ------------------------------------------------------------ keep.c */
/* Decode what is kept.  1, 0: damaged, -1: failed. */
int	prof_keep(struct prof_reader *reader, const struct prof_chunk *chunk);
/* What prof_keep packed. */
void	prof_life_unpack(const struct prof_reader *reader,
	    const struct prof_life *life, struct prof_life_fields *fields);
uint8_t	prof_life_type(const struct prof_reader *reader,
	    const struct prof_life *life);
/* There are n events at least. */
int	prof_keep_events(struct prof_reader *reader, uint32_t n);

/* ----------------------------------------------------- keep_counts.c */
int	prof_keep_samples(struct prof_reader *reader,
	    const struct prof_chunk *chunk);
int	prof_keep_rows(struct prof_reader *reader, struct prof_cur *body);
int	prof_keep_end(struct prof_reader *reader, struct prof_cur *body);
/* Sort it, when all chunks were seen. */
int	prof_keep_done(struct prof_reader *reader);
/* After that: system calls, from INFO; -1: no memory. */
int	prof_keep_calls(struct prof_reader *reader);
void	prof_keep_calls_free(struct prof_reader *reader);

/* ------------------------------------------------------------ decode.c */
/* Give up what is left of the chunk. */
void	prof_decoder_skip(struct prof_decoder *decoder);

/* ------------------------------------------------------------ expand.c */
/* Make rd_sample the next sample, NULL if there is none; -1: failed. */
int	prof_expand_next(struct prof_reader *reader);
void	prof_expand_rewind(struct prof_reader *reader);

#endif /* PROF_READER_H */
