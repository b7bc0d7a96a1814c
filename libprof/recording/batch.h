/* SPDX-License-Identifier: ISC */
/*
 * The writer's unit of work: everything that was added since the last one
 * was handed to the writer's thread.
 *
 *	prof_writer_add -> pack_*.c -> struct prof_batch -> queue -> thread
 *	    -> batch.c: chunks INFO EVENT LIFE STACK SAMPLE ACCOUNTING
 *	    -> output.c: compress, reserve room, write, recover
 *
 * A stack always stands in a chunk before the samples that use it, because
 * STACK precedes SAMPLE in a batch and batches are written in order.
 *
 * Included by recording/ alone.
 */
#ifndef PROF_BATCH_H
#define PROF_BATCH_H

#include "base/intern.h"
#include "format.h"
#include "base/record.h"

/* A new stack: its frames lie in ba_frames, innermost first. */
struct prof_new_stack {
	uint32_t	ns_id;
	uint32_t	ns_count;
	size_t		ns_first;
};

/* How many samples of an event on a CPU. */
struct prof_tally {
	uint32_t	ty_event;
	uint32_t	ty_cpu;
	uint64_t	ty_count;
};

struct prof_output;

struct prof_batch {
	struct prof_batch *ba_next;
	struct prof_dump *ba_dump;	/* what is kept goes there; or NULL */
	struct prof_output *ba_output;	/* to go on in; or NULL */
	bool		 ba_is_base;	/* repeats what was known before */
	size_t		 ba_bytes;	/* charged to the queue */
	struct prof_buf	 ba_info;	/* body of an INFO chunk */
	struct prof_buf	 ba_event;	/* 4-byte length, body; repeated */
	struct prof_buf	 ba_life_strings;
	struct prof_buf	 ba_life;
	uint32_t	 ba_nlife;
	uint64_t	 ba_life_time;
	struct prof_buf	 ba_stacks;	/* of struct prof_new_stack */
	struct prof_buf	 ba_frames;	/* of uint64_t */
	uint32_t	 ba_stack_base;
	uint32_t	 ba_generation;	/* of the dictionary of stacks */
	struct prof_buf	 ba_columns[PROF_SS_END];
	struct prof_buf	 ba_tallies;	/* of struct prof_tally */
	uint32_t	 ba_nsamples;
	uint32_t	 ba_nvalued;	/* those with values of counters */
	uint64_t	 ba_first_ns;	/* smallest time of a sample */
	uint64_t	 ba_last_ns;	/* largest */
	uint64_t	 ba_time;	/* of the last sample */
	struct prof_buf	 ba_rows;	/* of struct prof_row */
	struct prof_buf	 ba_symbols;	/* as ba_event */
};

/* What an event's samples are coded against, anew in each batch. */
struct prof_previous {
	uint64_t	pv_weight;
	uint64_t	pv_args[PROF_MAX_ARGS];
	uint64_t	pv_running_ns;
	uint64_t	pv_off_ns;
};

/* What numbers the parts of a batch; belongs to the calling thread. */
struct prof_packer {
	struct prof_dict pk_stacks;	/* lives as long as the recording */
	uint32_t	 pk_stack_base;	/* stacks numbered before these */
	uint32_t	 pk_generation;	/* of pk_stacks */
	struct prof_dict pk_strings;	/* the rest: per batch */
	struct prof_dict pk_life_strings;
	struct prof_map	 pk_shapes;
	struct prof_map	 pk_tasks;
	struct prof_map	 pk_addrs;
	struct prof_map	 pk_pairs;	/* event and CPU -> tally */
	struct prof_previous *pk_previous;
	size_t		 pk_nevents;
	uint64_t	 pk_last_addr;	/* of the table of addresses */
	uint32_t	 pk_kstack;	/* of the last sample, 0: none */
	uint32_t	 pk_ustack;
	struct prof_buf	 pk_script;	/* script frames being packed */
	bool		 pk_again;	/* has the last sample's user stack */
};

/* One row of the accounting. */
struct prof_row {
	uint32_t	 rw_cpu;	/* CPU + 1, 0: of no CPU */
	uint32_t	 rw_event;
	uint32_t	 rw_next;	/* rows of this CPU, in the writer */
	struct prof_accounting rw_accounting;
};

/* -------------------------------------------------- batch.c */
struct prof_batch *prof_batch_new(void);
void	prof_batch_reset(struct prof_batch *batch);
void	prof_batch_free(struct prof_batch *batch);
bool	prof_batch_empty(const struct prof_batch *batch);
bool	prof_batch_failed(const struct prof_batch *batch);
/* Bytes that it will take before compression, about. */
size_t	prof_batch_size(const struct prof_batch *batch);

/* -------------------------------------------------- pack_sample.c, ... */
int	prof_pack_sample(struct prof_packer *packer, struct prof_batch *batch,
	    const struct prof_record *record);
int	prof_pack_life(struct prof_packer *packer, struct prof_batch *batch,
	    const struct prof_record *record);
void	prof_pack_info(struct prof_batch *batch, const char *key,
	    const char *value);
int	prof_pack_event(struct prof_packer *packer, struct prof_batch *batch,
	    const struct prof_event_info *info);
/* The body of a SYMBOL chunk, see table.h. */
void	prof_pack_symbols(struct prof_batch *batch, const void *body,
	    size_t len);
void	prof_pack_row(struct prof_buf *buf, const struct prof_row *row);
bool	prof_unpack_row(struct prof_cur *cur, struct prof_row *row);
/* A new batch begins. */
void	prof_packer_begin(struct prof_packer *packer,
	    struct prof_batch *batch);
/* Between batches: no later sample has a stack of those before. */
void	prof_packer_renew(struct prof_packer *packer);
void	prof_packer_fini(struct prof_packer *packer);

/* -------------------------------------------------- output.c */
struct prof_ring_chunk;
struct prof_ring_limits;
/* memory: of prof_writer_open_memory; -1: by path. */
struct prof_output *prof_output_open(const char *path, int memory,
	    struct prof_err *error);
/* No file: what is newest is kept in memory. */
struct prof_output *prof_output_ring(const struct prof_ring_limits *limits,
	    struct prof_err *error);
/* What that keeps; NULL: it is a file. */
struct prof_ring *prof_output_kept(const struct prof_output *output);
/* A chunk that was kept goes into a file. */
int	prof_output_copy(struct prof_output *output,
	    const struct prof_ring_chunk *chunk, struct prof_err *error);
/* The body of an INFO chunk; empty: none. */
int	prof_output_info(struct prof_output *output,
	    const struct prof_buf *info, struct prof_err *error);
int	prof_output_batch(struct prof_output *output,
	    struct prof_batch *batch, struct prof_err *error);
int	prof_output_sync(struct prof_output *output, struct prof_err *error);
/* What was to come did not: END says so. */
void	prof_output_broken(struct prof_output *output);
/* On the disk and closed, under its name; nothing is written any more. */
int	prof_output_finish(struct prof_output *output,
	    struct prof_err *error);
/* The last rows, INDEX and END, also after a failure. */
int	prof_output_end(struct prof_output *output,
	    const struct prof_row *rows, size_t nrows,
	    struct prof_err *error);
uint64_t prof_output_samples(struct prof_output *output);
uint64_t prof_output_bytes(const struct prof_output *output);
uint64_t prof_output_written(struct prof_output *output, size_t event);
void	prof_output_close(struct prof_output *output);
void	prof_output_remove(struct prof_output *output);
void	prof_output_keep(struct prof_output *output);
void	prof_output_raw(struct prof_output *output);	/* no compression */

/* -------------------------------------------------- dump.c */
/* The batch is its last; the result is in ba_dump. */
void	prof_output_dump(struct prof_output *output,
	    struct prof_batch *batch);

#endif /* PROF_BATCH_H */
