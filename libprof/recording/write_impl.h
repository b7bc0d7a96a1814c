/* SPDX-License-Identifier: ISC */
/*
 * What the files of the writer share: write.c (batches and the thread), and
 * write_base.c (recordings that begin anew).
 */
#ifndef PROF_WRITE_IMPL_H
#define PROF_WRITE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "batch.h"
#include "write.h"

/*
 * I: set by open, c: the calling thread's, m: under wr_mutex,
 * t: the writer's thread's, a: set once by the thread, then read by all
 */
struct prof_writer {
	struct prof_output *wr_output;	/* [t] others under wr_mutex */
	struct prof_packer wr_packer;	/* [c] */
	struct prof_batch *wr_batch;	/* [c] being filled */
	size_t		 wr_batch_bytes; /* [I] then it is full */
	struct prof_err	 wr_error;	/* [c]; [t] at the end */
	pthread_t	 wr_thread;	/* [I] */
	pthread_mutex_t	 wr_mutex;
	pthread_cond_t	 wr_work;	/* a batch waits, or wr_closing */
	pthread_cond_t	 wr_room;	/* a batch was taken */
	struct prof_batch *wr_first;	/* [m] waiting */
	struct prof_batch *wr_last;	/* [m] */
	struct prof_batch *wr_spare;	/* [m] */
	struct prof_dump *wr_dumped;	/* [m] done */
	unsigned	 wr_nspare;	/* [m] */
	size_t		 wr_queued;	/* [m] bytes waiting */
	bool		 wr_closing;	/* [m] */
	struct prof_row	*wr_rows;	/* [c] the accounting; [t] at the end */
	size_t		 wr_nrows;	/* [c] */
	size_t		 wr_cap_rows;	/* [c] */
	bool		 wr_has_news;	/* [c] rows that were not sent yet */
	struct prof_row	*wr_earlier;	/* [c] rows of the files before */
	size_t		 wr_nearlier;	/* [c] */
	uint64_t	 wr_earlier_samples; /* [m] */
	struct prof_lasting *wr_lasting; /* [c] NULL: the file has it all */
	bool		 wr_is_base;	/* [c] that is being written */
	bool		 wr_is_due;	/* [c] it is to be written */
	size_t		 wr_base_bytes;	/* [c] of the last one */
	char		*wr_next_path;	/* [m] a file to open; or NULL */
	struct prof_output *wr_next;	/* [m] that is open; or NULL */
	struct prof_err	 wr_cut;	/* [m] the file takes no more; or OK */
	uint64_t	 wr_taken;	/* [t] samples that were for the file */
	struct prof_ring_limits wr_limits; /* [c] 0: there is no ring */
	uint64_t	 wr_packed;	/* [c] since the last generation */
	uint64_t	 wr_renewed_ns;	/* [c] it began after this sample */
	bool		 wr_ended;	/* [c] the thread is gone */
	struct prof_err	 wr_thread_error; /* [a] */
	atomic_bool	 wr_failed;	/* wr_thread_error is set */
};

/* In the writer's thread: the file is cut short, and the next is awaited. */
static inline bool
prof_writer_is_cut(const struct prof_writer *writer)
{
	return (writer->wr_cut.pe_code != PROF_OK);
}

/* -------------------------------------------------------------- write.c */

/* Hand on what is packed; flush: with the accounting so far. */
int	prof_writer_send(struct prof_writer *writer, bool flush);
/* The rows so far go with the batch. */
void	prof_writer_add_rows(struct prof_writer *writer);
/* Hand the batch to the thread and begin another one. */
int	prof_writer_hand(struct prof_writer *writer);
int	prof_writer_nomem(struct prof_writer *writer);
/* A dump is done.  Called in the writer's thread. */
void	prof_writer_done(struct prof_writer *writer, struct prof_dump *dump);
/* In the writer's thread: nothing is written any more. */
void	prof_writer_failed(struct prof_writer *writer,
	    const struct prof_err *error);

/* --------------------------------------------------------- write_base.c */

/* Where samples are given up, so are stacks and what was known before. */
void	prof_writer_renew(struct prof_writer *writer,
	    const struct prof_batch *batch);
/* What the next samples need of the time before.  -1: the error says why. */
int	prof_writer_base(struct prof_writer *writer);
/* Of the file that is written now: less than those of the files before. */
void	prof_writer_rows(const struct prof_writer *writer,
	    struct prof_row *rows, size_t nrows);
/* In the writer's thread: open the next file; go on in it. */
void	prof_writer_open_next(struct prof_writer *writer);
/* In the writer's thread: to the file, and in it, unless another follows. */
void	prof_writer_file_failed(struct prof_writer *writer,
	    const struct prof_err *error);
/* A file in which nobody goes on. */
void	prof_writer_drop(struct prof_output *output);
void	prof_writer_go_on(struct prof_writer *writer,
	    struct prof_batch *batch);

#endif /* PROF_WRITE_IMPL_H */
