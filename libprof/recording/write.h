/* SPDX-License-Identifier: ISC */
/* The writer of recordings. */
#ifndef PROF_WRITE_H
#define PROF_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/record.h"

/*
 * Appends a recording.  prof_writer_add may be called for every record, in
 * order of time for samples; it copies what it needs.  Compression and
 * write(2) happen in a thread of the writer.
 */
struct prof_writer;
struct prof_writer *prof_writer_open(const char *path,
	    struct prof_err *error);

/* What is kept in memory at most. */
struct prof_ring_limits {
	uint64_t	rl_bytes;
	uint64_t	rl_ns;		/* age of samples; 0: any */
};

/* To no file: the newest samples are kept until prof_writer_dump. */
struct prof_writer *prof_writer_open_ring(
	    const struct prof_ring_limits *limits, struct prof_err *error);
/* To the first of several files, see prof_writer_next. */
struct prof_writer *prof_writer_open_first(const char *path,
	    struct prof_err *error);
/* Into a file of memory, which stays the caller's. */
struct prof_writer *prof_writer_open_memory(int fd, struct prof_err *error);
/* Mostly before the first record; the last value of a key counts. */
int	prof_writer_info(struct prof_writer *writer, const char *key,
	    const char *value);
int	prof_writer_event(struct prof_writer *writer,
	    const struct prof_event_info *info);
int	prof_writer_add(struct prof_writer *writer,
	    const struct prof_record *record);
/* A sample like the one before but for its time; for stacks of user space. */
int	prof_writer_again(struct prof_writer *writer,
	    const struct prof_record *record);
/* The accounting so far, of all events on one CPU (cpu -1: of no CPU). */
int	prof_writer_accounting(struct prof_writer *writer, int cpu,
	    const struct prof_accounting *accounting, size_t nevents);
/* The functions of a module, see recording/table.h; at the end. */
int	prof_writer_symbols(struct prof_writer *writer, const void *body,
	    size_t len);
/*
 * The numbers of the stacks of the last sample, 0: none.  The innermost
 * frame is not part of a stack.
 */
void	prof_writer_stacks(const struct prof_writer *writer,
	    uint64_t *kernel, uint64_t *user);
/* Write out what is buffered (each second, and before a long pause). */
int	prof_writer_flush(struct prof_writer *writer);
uint64_t prof_writer_bytes(struct prof_writer *writer);
uint64_t prof_writer_written(struct prof_writer *writer, size_t event);
const struct prof_err *prof_writer_error(const struct prof_writer *writer);
/* Samples in the files so far; known for good after the end. */
uint64_t prof_writer_samples(struct prof_writer *writer);
/* Index and END; 0 when the file is whole, and on the disk. */
int	prof_writer_end(struct prof_writer *writer, struct prof_err *error);
/* The same where it has not come to its end.  Frees the writer. */
int	prof_writer_close(struct prof_writer *writer, struct prof_err *error);
/* Give up: close, remove the file, and put the previous ones back. */
void	prof_writer_discard(struct prof_writer *writer);
/* It will not be discarded: what that would put back may go, before a kill. */
void	prof_writer_keep(struct prof_writer *writer);
/* Store chunks as they are, for tests; right after open. */
void	prof_writer_raw(struct prof_writer *writer);

/* ----------------------------------------------------- what is kept */

/* A file of what is kept: what was asked for, and what came of it. */
struct prof_dump {
	char		*du_path;
	char		*du_reason;
	uint64_t	 du_requested_ns;
	uint64_t	 du_end_ns;	/* of the last samples */
	uint32_t	 du_counter[PROF_MAX_VALUES];	/* in others' samples */
	size_t		 du_ncounters;
	uint64_t	 du_from_ns;	/* older chunks are left out */
	/* Known when it is done. */
	struct prof_err	 du_error;
	uint64_t	 du_first_ns;	/* of the first samples */
	uint64_t	 du_samples;
	uint64_t	 du_unwritten;	/* others: there was no room */
	uint64_t	 du_overwritten;
	uint64_t	 du_bytes;
	struct prof_dump *du_next;	/* among those that are done */
};

/* A ring keeps less from now on.  -1: failed. */
int	prof_writer_shrink(struct prof_writer *writer, uint64_t bytes);
/* Of the oldest sample that is kept now; 0: none. */
uint64_t prof_writer_first_ns(struct prof_writer *writer);

struct prof_dump *prof_dump_new(const char *path, const char *reason);
void	prof_dump_free(struct prof_dump *dump);
/*
 * After a flush: a file, of what is kept and then what was added since, which
 * is in this file alone.  The dump is the writer's until it is done, also if
 * this fails.
 */
int	prof_writer_dump(struct prof_writer *writer, struct prof_dump *dump);
/*
 * Open another file to go on in.  Once it is there (prof_writer_has_next), end
 * the first: what was added belongs to it, and its result is that of a dump,
 * which is the writer's as above.  A file that cannot be opened is such a
 * result, too.
 */
int	prof_writer_next(struct prof_writer *writer, const char *path);
bool	prof_writer_has_next(struct prof_writer *writer);
/* Does the file take no more, so that samples are dropped until then?  Why. */
bool	prof_writer_cut(struct prof_writer *writer, struct prof_err *why);
int	prof_writer_rotate(struct prof_writer *writer, struct prof_dump *dump);
/* One that is done, now the caller's; NULL: none. */
struct prof_dump *prof_writer_dumped(struct prof_writer *writer);

#endif /* PROF_WRITE_H */
