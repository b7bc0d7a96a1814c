/* SPDX-License-Identifier: ISC */
/* See source.h.  Called by read.c, scan.c, decode.c and import.c. */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "source.h"

#define PIECE	65536

void
prof_source_memory(struct prof_source *source, const void *bytes,
    size_t length)
{
	source->so_fd = -1;
	source->so_bytes = bytes;
	source->so_owned = NULL;
	source->so_length = length;
	source->so_is_written = false;
}

int
prof_source_stream(struct prof_source *source, int fd)
{
	struct prof_buf buf = { 0 };
	uint8_t *at;
	ssize_t n;

	prof_source_memory(source, NULL, 0);
	do {
		at = prof_buf_room(&buf, PIECE);
		if (at == NULL) {
			prof_buf_free(&buf);
			return (ENOMEM);
		}
		n = read(fd, at, PIECE);
		if (n > 0)
			buf.bf_len += (size_t)n;
	} while (n > 0 || (n == -1 && errno == EINTR));
	if (n == -1) {
		prof_buf_free(&buf);
		return (errno);
	}
	prof_source_memory(source, buf.bf_data, buf.bf_len);
	source->so_owned = buf.bf_data;
	return (0);
}

bool
prof_source_is_written(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
		(void)flock(fd, LOCK_UN);
		return (false);
	}
	return (errno == EWOULDBLOCK);
}

int
prof_source_open(struct prof_source *source, int fd)
{
	struct stat st;

	prof_source_memory(source, NULL, 0);
	/* Before its length: the recorder may end meanwhile (place.c). */
	source->so_is_written = prof_source_is_written(fd);
	if (fstat(fd, &st) == -1)
		return (errno);
	if (S_ISDIR(st.st_mode))
		return (EISDIR);
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return (prof_source_stream(source, fd));
	source->so_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (source->so_fd == -1)
		return (errno);
	source->so_length = (size_t)st.st_size;
	return (0);
}

/* How many bytes there are now, at most length; -1 with errno. */
static ssize_t
read_at(int fd, uint8_t *to, size_t length, size_t at)
{
	size_t done = 0;
	ssize_t n;

	while (done < length) {
		n = pread(fd, to + done, length - done, (off_t)(at + done));
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return (-1);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return ((ssize_t)done);
}

int
prof_source_whole(struct prof_source *source)
{
	const bool is_written = source->so_is_written;
	uint8_t *bytes;
	ssize_t n;

	if (source->so_fd == -1)
		return (0);
	bytes = malloc(source->so_length);
	if (bytes == NULL)
		return (ENOMEM);
	n = read_at(source->so_fd, bytes, source->so_length, 0);
	if (n == -1) {
		free(bytes);
		return (errno);
	}
	(void)close(source->so_fd);
	prof_source_memory(source, bytes, (size_t)n);
	source->so_owned = bytes;
	source->so_is_written = is_written;
	return (0);
}

const uint8_t *
prof_source_at(const struct prof_source *source, size_t at, size_t length,
    struct prof_buf *buf)
{
	uint8_t *bytes;

	if (at > source->so_length || length > source->so_length - at)
		return (NULL);
	if (source->so_fd == -1)
		return (source->so_bytes + at);
	/* There may be memory again. */
	buf->bf_failed = false;
	buf->bf_len = 0;
	bytes = prof_buf_room(buf, length);
	if (bytes == NULL || read_at(source->so_fd, bytes, length, at) !=
	    (ssize_t)length)
		return (NULL);
	return (bytes);
}

void
prof_source_close(struct prof_source *source)
{
	if (source->so_fd != -1)
		(void)close(source->so_fd);
	free(source->so_owned);
	prof_source_memory(source, NULL, 0);
}
