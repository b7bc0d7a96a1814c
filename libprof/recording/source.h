/* SPDX-License-Identifier: ISC */
/*
 * Where the bytes of an input are: in memory, or in a file, of which just the
 * part that is looked at is read.  Files belong to others, who may cut them at
 * any time, and a mapping of one that was cut kills whoever looks at it.
 *
 * Included by recording/ and import/.
 */
#ifndef PROF_SOURCE_H
#define PROF_SOURCE_H

#include "format.h"

struct prof_source {
	int		 so_fd;		/* -1: in memory */
	const uint8_t	*so_bytes;	/* in memory */
	void		*so_owned;	/* the same, to be freed; or NULL */
	size_t		 so_length;	/* as it was when it was opened */
	bool		 so_is_written;	/* its recorder holds a lock then */
};

void	prof_source_memory(struct prof_source *source, const void *bytes,
	    size_t length);
/*
 * What cannot be read at any place, such as a pipe, is read whole.  0, or an
 * errno; the descriptor stays the caller's.
 */
int	prof_source_open(struct prof_source *source, int fd);
/* Does a recorder hold it? */
bool	prof_source_is_written(int fd);
/* From where it stands, whatever it is. */
int	prof_source_stream(struct prof_source *source, int fd);
/* All of it into memory, once.  0, or an errno. */
int	prof_source_whole(struct prof_source *source);
/*
 * length bytes from at on, as they are now, until the next call with this
 * buffer.  NULL: they are not there (any more), or (bf_failed) no memory.
 */
const uint8_t *prof_source_at(const struct prof_source *source, size_t at,
	    size_t length, struct prof_buf *buf);
void	prof_source_close(struct prof_source *source);

#endif /* PROF_SOURCE_H */
