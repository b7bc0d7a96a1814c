/* SPDX-License-Identifier: ISC */
/*
 * Recordings as rows of a store, ClickHouse, in three tables:
 *
 *	stacks		what the numbers of stacks mean
 *	samples		how often each was sampled, by time, thread and CPU
 *	accounts	what the samples of a minute are worth: written last,
 *			a row commits the minute
 *
 * doc/FLEET.md documents the tables for users.  A minute of the wall clock is
 * a batch; its number is that of the minute, so whoever sends a recording
 * again makes the same batches.  Each sending is an attempt with a number of
 * its own, in every row: readers take one that is committed, so nothing
 * counts twice, whatever was sent how often.  Accounts say of which batch of
 * which recording an attempt was; samples need not repeat it.
 *
 *	schema.c	the tables, and rows of them in RowBinary
 *	rows.c		from a recording to rows
 *	batch.c		rows gathered into a batch
 *	columns.c	rows of samples, as columns
 *	stacks.c	numbers and names of stacks
 *	select.c	what is asked of the tables
 *	client.c	both over HTTP
 *
 * Included by store/, import/ and, through prof_command.h, by commands.
 */
#ifndef PROF_STORE_H
#define PROF_STORE_H

#include "recording/format.h"

#define PROF_STORE_BUCKET_S	10	/* samples are told apart by this */
#define PROF_STORE_BATCH_S	60
#define PROF_STORE_ROWS		200000u	/* of a part of a batch */
#define PROF_STORE_PARTS	256u	/* of a minute */

/* Answers of a store, one behind the other, that import reads. */
#define PROF_STORE_MAGIC	"dtprof-store 1\n\n"
#define PROF_STORE_MAGIC_LEN	16

/* ------------------------------------------------------------ schema.c */

enum prof_store_table {
	PROF_STORE_STACKS, PROF_STORE_SAMPLES, PROF_STORE_ACCOUNTS,
	PROF_STORE_TABLES
};

const char *prof_store_table_name(enum prof_store_table table);
/* CREATE TABLE IF NOT EXISTS ...; appended. */
void	prof_store_create(struct prof_buf *sql, enum prof_store_table table);
/* As a server lists its columns: table, name and type; appended. */
void	prof_store_columns(struct prof_buf *text, enum prof_store_table table);
/* INSERT INTO ... (columns) FORMAT Native, of samples; RowBinary. */
void	prof_store_insert(struct prof_buf *sql, enum prof_store_table table);

/* What of a row is the same all over a recording. */
struct prof_store_labels {
	const char	*sl_host;
	const char	*sl_boot;
	const char	*sl_service;
	const char	*sl_version;
	const char	*sl_build_id;	/* NULL: that of each process */
	const char	**sl_keys;	/* others, as the user calls them */
	const char	**sl_values;
	size_t		 sl_n;
};

/* ------------------------------------------------------------- rows.c */

/* Rows of one table, as they are sent. */
struct prof_store_rows {
	struct prof_buf	 sr_bytes;
	size_t		*sr_attempt;	/* where the attempt has to be */
	size_t		 sr_n;
	bool		 sr_is_columns;	/* attempts lie together, at [0] */
	size_t		 sr_cap;
};

/* A batch, or a part of a large one. */
struct prof_store_batch {
	uint64_t	 sb_recording;
	uint64_t	 sb_number;
	uint32_t	 sb_day;	/* since 1970 */
	uint64_t	 sb_samples;
	struct prof_store_rows sb_rows[PROF_STORE_TABLES];
};

/* Before it is sent, each time. */
void	prof_store_batch_number(struct prof_store_batch *batch,
	    uint64_t attempt);
/* What it has; its memory stays for the next one. */
void	prof_store_batch_clear(struct prof_store_batch *batch);
void	prof_store_batch_free(struct prof_store_batch *batch);

/*
 * Takes a batch, which it may change and which ends with the call.  Returns 0
 * if the batch was sent, 1 if its stacks were not, -1 if it failed.  After 1 or
 * -1, later batches send these stacks again.
 */
typedef int	prof_store_put_fn(void *arg, struct prof_store_batch *batch);

struct prof_store_writer;

/* Owned by caller; NULL: no memory. */
struct prof_store_writer *prof_store_writer_new(
	    const struct prof_store_labels *labels);
/*
 * Batches of a recording from where the last call ended; of one that is still
 * being written, those that lie before its last minute.  0; -1: put failed,
 * or error is set.
 */
int	prof_store_write(struct prof_store_writer *writer,
	    struct prof_reader *reader, prof_store_put_fn *put, void *arg,
	    struct prof_err *error);
/* The number of the recording, as its rows have it; 0, -1: error is set. */
int	prof_store_writer_recording(struct prof_store_writer *writer,
	    struct prof_reader *reader, uint64_t *number,
	    struct prof_err *error);
void	prof_store_writer_free(struct prof_store_writer *writer);

#endif /* PROF_STORE_H */
