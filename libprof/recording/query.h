/* SPDX-License-Identifier: ISC */
/* What a reader answers within the library, beyond prof_recording.h. */
#ifndef PROF_QUERY_H
#define PROF_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"

/* As prof_reader_next, prof_event_call and prof_event_argument. */
int	prof_reader_record(struct prof_reader *reader,
	    struct prof_record *record);
/* The same without a copy: borrowed until the next call. */
int	prof_reader_borrow(struct prof_reader *reader,
	    const struct prof_record **record);
const struct prof_syscall *prof_record_call(
	    const struct prof_event_info *info,
	    const struct prof_record *record);
int	prof_record_argument(const struct prof_event_info *info,
	    const struct prof_record *record, const char *name);
/* The record of an entry that a reader gave. */
const struct prof_record *prof_entry_record(const struct prof_entry *entry);

/* A system call by number; NULL: the recording does not describe it. */
const struct prof_syscall *prof_reader_call(const struct prof_reader *reader,
	    uint64_t number);

/* As prof_reader_open, of what it takes over; of path only messages speak. */
struct prof_source;
struct prof_reader *prof_reader_open_source(struct prof_source *source,
	    const char *path, struct prof_err *error);
/*
 * The process in whose memory all code lies that an import of perf script has
 * names of; no process has such a number.
 */
#define PROF_PLACES_PID	((1u << 22) + 1)

/* Does a recorder hold its file?  As of now, not as it was opened. */
bool	prof_reader_is_written(const struct prof_reader *reader);
/* Bytes of the file. */
uint64_t prof_reader_length(const struct prof_reader *reader);
/* Everything but samples, by time: n below prof_reader_nlife. */
size_t	prof_reader_nlife(const struct prof_reader *reader);
void	prof_reader_life(const struct prof_reader *reader, size_t n,
	    struct prof_record *record);
/* Type and time of the same, without unpacking the rest. */
enum prof_record_type prof_reader_life_type(const struct prof_reader *reader,
	    size_t n, uint64_t *time_ns);
/* Body n of those that prof_writer_symbols was given; NULL: no more. */
const void *prof_reader_symbols(const struct prof_reader *reader, size_t n,
	    size_t *len);

/* When START was; false: it is missing. */
bool	prof_reader_start(const struct prof_reader *reader,
	    uint64_t *start_ns);

/* Those that there was no room for. */
uint64_t prof_reader_symbols_left_out(const struct prof_reader *reader);

/* What is over a memory budget, in every output. */
#define PROF_OVER_NAME	"[over the memory budget]"

#endif /* PROF_QUERY_H */
