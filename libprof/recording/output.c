/* SPDX-License-Identifier: ISC */
/*
 * Chunks into the file.  Runs in the writer's thread (open and close aside):
 * compresses, keeps room ahead for the last chunks, appends, and when the
 * file takes no more cuts it back to its last whole chunk and still writes
 * accounting, INDEX and END.
 *
 *	| header | chunk | chunk | ... | chunk |  room for the end  |
 *	0                                   ou_pos             ou_room
 *
 * The room is asked for with fallocate, beyond the end of the file.  Where the
 * file system has no such call the free space is looked at instead, and when
 * others took that the last chunk is given up.
 *
 * Chunks can also be kept in a ring (ring.c) until they are asked for.
 */
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/error.h"
#include "output.h"
#include "place.h"
#include "ring.h"
#include "tallied.h"

#define ZSTD_LEVEL	1
#define MIN_COMPRESS	96	/* not worth it below */
#define ROOM_FIRST	16384	/* for the end, before it is known */
#define ROOM_AHEAD	(1u << 20)
#define MAX_INDEX	(12u << 20)
#define MAX_ROWS	(4u << 20)	/* bytes of rows in one chunk */

struct prof_output {
	struct prof_place ou_place;	/* of no file: a ring */
	struct prof_ring *ou_ring;	/* changes under ou_mutex */
	uint64_t	 ou_pos;	/* end of the last whole chunk */
	uint64_t	 ou_room;	/* asked for up to here */
	uint64_t	 ou_limit;	/* RLIMIT_FSIZE */
	bool		 ou_can_reserve;
	bool		 ou_raw;
	enum prof_end_reason ou_reason;
	ZSTD_CCtx	*ou_zstd;
	struct prof_body ou_body;
	struct prof_buf	 ou_chunk;	/* header, head, body as stored */
	struct prof_buf	 ou_index;
	size_t		 ou_rows_len;	/* the accounting took this much */
	uint32_t	 ou_nchunks;
	uint32_t	 ou_generation;	/* of the last batch */
	bool		 ou_is_base;	/* that batch */
	struct prof_tallied ou_tallied;	/* samples that are in it */
	/* What the last chunk added, to be able to take it back. */
	uint64_t	 ou_last_pos;
	size_t		 ou_last_index;
	struct prof_buf	 ou_last_tallies;
	pthread_mutex_t	 ou_mutex;	/* for ou_ring */
	_Atomic uint64_t ou_bytes;
};

static struct prof_output *output_new(struct prof_err *);
static int	output_header(struct prof_output *, struct prof_err *);
static int	output_put(struct prof_output *, enum prof_chunk_type,
		    const struct prof_batch *, bool);
static int	output_store(struct prof_output *);
static int	output_file(struct prof_output *, enum prof_chunk_type,
		    const struct prof_batch *, bool);
static int	output_keep(struct prof_output *, enum prof_chunk_type,
		    const struct prof_batch *);
static int	output_room(struct prof_output *, size_t, bool);
static int	output_free(const struct prof_output *, uint64_t);
static int	output_append(struct prof_output *, const void *, size_t);
static void	output_index(struct prof_output *, enum prof_chunk_type,
		    const struct prof_batch *, size_t);
static void	output_done(struct prof_output *, const struct prof_batch *,
		    size_t);
static void	output_take_back(struct prof_output *);
static int	output_rows(struct prof_output *, const struct prof_row *,
		    size_t, bool);
static int	output_final(struct prof_output *, const struct prof_row *,
		    size_t, bool);
static int	output_fail(struct prof_output *, int, struct prof_err *);

static struct prof_output *
output_new(struct prof_err *error)
{
	struct prof_output *output = calloc(1, sizeof(*output));

	if (output == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	pthread_mutex_init(&output->ou_mutex, NULL);
	prof_tallied_init(&output->ou_tallied);
	output->ou_place.pl_fd = -1;
	output->ou_limit = UINT64_MAX;
	output->ou_zstd = ZSTD_createCCtx();
	if (output->ou_zstd != NULL)
		return (output);
	prof_fail_nomem(error);
	prof_output_close(output);
	return (NULL);
}

struct prof_output *
prof_output_open(const char *path, int memory, struct prof_err *error)
{
	struct prof_output *output = output_new(error);
	struct rlimit limit;

	if (output == NULL)
		return (NULL);
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY)
		output->ou_limit = limit.rlim_cur;
	if ((memory != -1 ? prof_place_memory(&output->ou_place, memory,
	    error) : prof_place_open(&output->ou_place, path, error)) == -1 ||
	    output_header(output, error) == -1) {
		prof_place_undo(&output->ou_place);
		prof_output_close(output);
		return (NULL);
	}
	return (output);
}

struct prof_output *
prof_output_ring(const struct prof_ring_limits *limits,
    struct prof_err *error)
{
	struct prof_output *output = output_new(error);

	if (output == NULL)
		return (NULL);
	output->ou_ring = prof_ring_new(limits);
	if (output->ou_ring != NULL)
		return (output);
	prof_fail_nomem(error);
	prof_output_close(output);
	return (NULL);
}

static int
output_header(struct prof_output *output, struct prof_err *error)
{
	uint8_t header[PROF_FILE_HEADER];

	prof_file_header(header);
	output->ou_can_reserve = output->ou_place.pl_regular;
	if (output->ou_limit < sizeof(header) + ROOM_FIRST)
		return (output_fail(output, EFBIG, error));
	if (output_room(output, sizeof(header), false) == -1 ||
	    output_append(output, header, sizeof(header)) == -1)
		return (output_fail(output, errno, error));
	return (0);
}

/* Remember why the file ends, and say it. */
static int
output_fail(struct prof_output *output, int error_number,
    struct prof_err *error)
{
	if (output->ou_reason == PROF_END_WHOLE)
		output->ou_reason = error_number == ENOSPC ||
		    error_number == EDQUOT ? PROF_END_DISK_FULL :
		    error_number == EFBIG ? PROF_END_FILE_LIMIT : PROF_END_IO;
	if (error_number == ENOMEM)
		return (prof_fail_nomem(error));
	return (prof_place_fail(error, output->ou_ring != NULL ? "memory" :
	    output->ou_place.pl_path, error_number));
}

/* ------------------------------------------------- batches and rows */

/* Bodies one after another, each with its length: a chunk of each. */
static int
output_bodies(struct prof_output *output, const struct prof_buf *bodies,
    enum prof_chunk_type type)
{
	struct prof_cur cur = prof_cur_of(bodies->bf_data, bodies->bf_len);
	uint32_t len;

	while (prof_cur_left(&cur) >= 4) {
		len = (uint32_t)prof_get_le(cur.cu_at, 4);
		cur.cu_at += 4;
		prof_buf_bytes(&output->ou_body.bd_buf, cur.cu_at, len);
		cur.cu_at += len;
		if (output_put(output, type, NULL, false) == -1)
			return (-1);
	}
	return (0);
}

int
prof_output_info(struct prof_output *output, const struct prof_buf *info,
    struct prof_err *error)
{
	if (info->bf_len == 0)
		return (0);
	prof_buf_bytes(&output->ou_body.bd_buf, info->bf_data, info->bf_len);
	return (output_put(output, PROF_C_INFO, NULL, false) == -1 ?
	    output_fail(output, errno, error) : 0);
}

int
prof_output_batch(struct prof_output *output, struct prof_batch *batch,
    struct prof_err *error)
{
	struct prof_body *body = &output->ou_body;

	output->ou_generation = batch->ba_generation;
	output->ou_is_base = batch->ba_is_base;
	if (prof_output_info(output, &batch->ba_info, error) == -1)
		return (-1);
	if (output_bodies(output, &batch->ba_event, PROF_C_EVENT) == -1)
		return (output_fail(output, errno, error));
	if (batch->ba_nlife > 0) {
		prof_body_life(body, batch);
		if (output_put(output, PROF_C_LIFE, NULL, false) == -1)
			return (output_fail(output, errno, error));
	}
	if (batch->ba_stacks.bf_len > 0) {
		prof_body_stacks(body, batch);
		if (output_put(output, PROF_C_STACK, NULL, false) == -1)
			return (output_fail(output, errno, error));
	}
	if (batch->ba_nsamples > 0) {
		prof_body_samples(body, batch);
		if (output_put(output, PROF_C_SAMPLE, batch, false) == -1)
			return (output_fail(output, errno, error));
	}
	if (output_bodies(output, &batch->ba_symbols, PROF_C_SYMBOL) == -1)
		return (output_fail(output, errno, error));
	/* None when nothing was accounted since the last ones. */
	if (output->ou_ring == NULL && output_rows(output,
	    (const void *)batch->ba_rows.bf_data,
	    batch->ba_rows.bf_len / sizeof(struct prof_row), false) == -1)
		return (output_fail(output, errno, error));
	return (0);
}

static int
output_rows(struct prof_output *output, const struct prof_row *rows,
    size_t nrows, bool last)
{
	struct prof_body *body = &output->ou_body;
	size_t i, total = 0;

	for (i = 0; i < nrows; i++) {
		prof_pack_row(&body->bd_buf, &rows[i]);
		if (body->bd_buf.bf_len < MAX_ROWS && i + 1 < nrows)
			continue;
		total += body->bd_buf.bf_len;
		if (output_put(output, PROF_C_ACCOUNTING, NULL, last) == -1)
			return (-1);
	}
	if (total > output->ou_rows_len)
		output->ou_rows_len = total;
	return (0);
}

int
prof_output_sync(struct prof_output *output, struct prof_err *error)
{
	if (!output->ou_place.pl_regular || output->ou_place.pl_memory ||
	    fdatasync(output->ou_place.pl_fd) == 0)
		return (0);
	return (output_fail(output, errno, error));
}

/* ---------------------------------------------------------- the end */

void
prof_output_broken(struct prof_output *output)
{
	if (output->ou_reason == PROF_END_WHOLE)
		output->ou_reason = PROF_END_IO;
}

int
prof_output_end(struct prof_output *output, const struct prof_row *rows,
    size_t nrows, struct prof_err *error)
{
	unsigned tries;

	if (output->ou_ring != NULL)
		return (0);
	/* All; all, for the last chunk; no INDEX; nothing but END. */
	for (tries = 0; tries < 4; tries++) {
		if (output_final(output, rows, tries < 3 ? nrows : 0,
		    tries < 2) == 0)
			return (tries == 0 ? 0 : -1);
		output_fail(output, errno, error);
		if (tries == 0)
			output_take_back(output);
	}
	return (-1);
}

/* What was asked for beyond the end goes back. */
int
prof_output_finish(struct prof_output *output, struct prof_err *error)
{
	if ((output->ou_place.pl_regular &&
	    ftruncate(output->ou_place.pl_fd, (off_t)output->ou_pos) == -1) ||
	    prof_place_finish(&output->ou_place) == -1)
		return (prof_place_fail(error, output->ou_place.pl_path,
		    errno));
	return (0);
}

static int
output_final(struct prof_output *output, const struct prof_row *rows,
    size_t nrows, bool with_index)
{
	struct prof_buf *body = &output->ou_body.bd_buf;
	uint64_t start = output->ou_pos, index = 0;
	size_t index_len = output->ou_index.bf_len;
	size_t last_index = output->ou_last_index;
	uint32_t nchunks = output->ou_nchunks;
	uint8_t end[PROF_END_LEN] = { 0 };
	int error_number;

	if (output_rows(output, rows, nrows, true) == -1)
		goto failed;
	if (with_index) {
		index = output->ou_pos;
		prof_buf_bytes(body, output->ou_index.bf_data,
		    output->ou_index.bf_len);
		if (output_put(output, PROF_C_INDEX, NULL, true) == -1)
			goto failed;
	}
	prof_put_le(end, output->ou_reason, 4);
	prof_put_le(end + 4, output->ou_nchunks, 4);
	prof_put_le(end + 8, prof_tallied_all(&output->ou_tallied), 8);
	prof_put_le(end + 16, index, 8);
	prof_buf_bytes(body, end, sizeof(end));
	if (output_put(output, PROF_C_END, NULL, true) == -1)
		goto failed;
	return (0);
failed:
	error_number = errno;
	if (output->ou_place.pl_regular &&
	    ftruncate(output->ou_place.pl_fd, (off_t)start) == 0) {
		output->ou_pos = start;
		output->ou_nchunks = nchunks;
		output->ou_index.bf_len = index_len;
		output->ou_last_index = last_index;
	}
	errno = error_number;
	return (-1);
}

/* Give up the last chunk, so that the end finds room. */
static void
output_take_back(struct prof_output *output)
{
	if (!output->ou_place.pl_regular || output->ou_last_pos == 0 ||
	    output->ou_last_pos >= output->ou_pos ||
	    ftruncate(output->ou_place.pl_fd, (off_t)output->ou_last_pos) ==
	    -1)
		return;
	output->ou_pos = output->ou_last_pos;
	output->ou_index.bf_len = output->ou_last_index;
	output->ou_nchunks--;
	prof_tallied_remove(&output->ou_tallied, &output->ou_last_tallies);
	output->ou_last_pos = 0;
}

/* ----------------------------------------------------------- chunks */

/* Store ou_body as a chunk, and empty it.  -1: errno says why. */
static int
output_put(struct prof_output *output, enum prof_chunk_type type,
    const struct prof_batch *batch, bool last)
{
	struct prof_body *body = &output->ou_body;
	struct prof_buf *out = &output->ou_chunk;
	uint8_t header[PROF_CHUNK_HEADER] = { 0 };
	struct prof_chunk chunk = { .ck_type = (uint16_t)type };
	int rv = -1;

	out->bf_len = 0;
	prof_buf_bytes(out, header, sizeof(header));
	prof_buf_bytes(out, body->bd_head.bf_data, body->bd_head.bf_len);
	chunk.ck_head = (uint32_t)body->bd_head.bf_len;
	chunk.ck_raw = (uint32_t)body->bd_buf.bf_len;
	chunk.ck_codec = (uint8_t)output_store(output);
	chunk.ck_stored = (uint32_t)(out->bf_len - sizeof(header));
	chunk.ck_sequence = output->ou_nchunks;
	errno = ENOMEM;
	if (body->bd_head.bf_failed || body->bd_buf.bf_failed ||
	    out->bf_failed)
		goto out;
	errno = EFBIG;
	if (chunk.ck_raw > PROF_MAX_RAW || chunk.ck_stored > PROF_MAX_STORED)
		goto out;
	chunk.ck_payload = out->bf_data + sizeof(header);
	prof_chunk_header(&chunk, out->bf_data);
	rv = output->ou_ring != NULL ? output_keep(output, type, batch) :
	    output_file(output, type, batch, last);
out:
	body->bd_head.bf_len = body->bd_buf.bf_len = 0;
	body->bd_ncuts = 0;
	/* For the next there may be memory; END comes yet. */
	body->bd_head.bf_failed = body->bd_buf.bf_failed = false;
	out->bf_failed = false;
	return (rv);
}

/* ou_chunk goes into the file. */
static int
output_file(struct prof_output *output, enum prof_chunk_type type,
    const struct prof_batch *batch, bool last)
{
	const struct prof_buf *out = &output->ou_chunk;

	if (output_room(output, out->bf_len, last) == -1 ||
	    output_append(output, out->bf_data, out->bf_len) == -1)
		return (-1);
	output_index(output, type, batch, out->bf_len);
	if (!last)
		output_done(output, batch, out->bf_len);
	return (0);
}

int
prof_output_copy(struct prof_output *output,
    const struct prof_ring_chunk *kept, struct prof_err *error)
{
	const struct prof_batch samples = {
		.ba_nsamples = kept->rc_nsamples,
		.ba_first_ns = kept->rc_first_ns,
		.ba_last_ns = kept->rc_last_ns,
		.ba_tallies = kept->rc_tallies,
	};
	struct prof_buf *out = &output->ou_chunk;
	struct prof_chunk chunk;

	out->bf_len = 0;
	prof_buf_bytes(out, kept->rc_bytes, kept->rc_length);
	errno = ENOMEM;
	if (!out->bf_failed && prof_chunk_parse(out->bf_data, out->bf_len,
	    &chunk)) {
		chunk.ck_sequence = output->ou_nchunks;
		prof_chunk_header(&chunk, out->bf_data);
		if (output_file(output, kept->rc_type,
		    kept->rc_nsamples > 0 ? &samples : NULL, false) == 0)
			return (0);
	}
	out->bf_failed = false;
	return (output_fail(output, errno, error));
}

/* ou_chunk goes into the ring. */
static int
output_keep(struct prof_output *output, enum prof_chunk_type type,
    const struct prof_batch *batch)
{
	const struct prof_ring_part part = { batch, output->ou_generation,
	    output->ou_is_base };
	uint64_t bytes;
	int rv;

	if (batch != NULL)
		prof_tallied_add(&output->ou_tallied, &batch->ba_tallies);
	pthread_mutex_lock(&output->ou_mutex);
	rv = prof_ring_add(output->ou_ring, type, &part, &output->ou_chunk);
	bytes = prof_ring_bytes(output->ou_ring);
	pthread_mutex_unlock(&output->ou_mutex);
	atomic_store_explicit(&output->ou_bytes, bytes, memory_order_relaxed);
	errno = ENOMEM;
	return (rv);
}

/* Append the body to ou_chunk, compressed when that pays; its codec. */
static int
output_store(struct prof_output *output)
{
	const struct prof_body *body = &output->ou_body;
	struct prof_buf *out = &output->ou_chunk;
	size_t raw = body->bd_buf.bf_len, room, left;
	ZSTD_outBuffer to = { NULL, 0, 0 };
	ZSTD_inBuffer from = { body->bd_buf.bf_data, 0, 0 };
	unsigned cut;

	/* A little more for the ends of blocks. */
	room = ZSTD_compressBound(raw) + 64 * PROF_MAX_CUTS;
	to.dst = prof_buf_room(out, room);
	to.size = room;
	if (output->ou_raw || raw < MIN_COMPRESS || to.dst == NULL)
		goto plain;
	ZSTD_CCtx_reset(output->ou_zstd, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(output->ou_zstd, ZSTD_c_compressionLevel,
	    ZSTD_LEVEL);
	for (cut = 0; cut < body->bd_ncuts; cut++) {
		from.size = body->bd_cuts[cut];
		left = ZSTD_compressStream2(output->ou_zstd, &to, &from,
		    ZSTD_e_flush);
		if (left != 0)	/* an error, or out of room */
			goto plain;
	}
	from.size = raw;
	left = ZSTD_compressStream2(output->ou_zstd, &to, &from, ZSTD_e_end);
	if (left != 0 || to.pos >= raw)
		goto plain;
	out->bf_len += to.pos;
	return (PROF_CODEC_ZSTD);
plain:
	prof_buf_bytes(out, body->bd_buf.bf_data, raw);
	return (PROF_CODEC_NONE);
}

/*
 * See that len bytes, and after them the end of the recording, will find
 * room.  The last chunks use what was kept for them.
 */
static int
output_room(struct prof_output *output, size_t len, bool last)
{
	uint64_t end = output->ou_pos + len, want;
	int fd = output->ou_place.pl_fd;

	want = end + (last ? 0 : ROOM_FIRST + output->ou_index.bf_len +
	    output->ou_rows_len + output->ou_rows_len / 4);
	errno = EFBIG;
	if (want > output->ou_limit)
		return (-1);
	if (!output->ou_place.pl_regular || last)
		return (0);
	if (!output->ou_can_reserve)
		return (output_free(output, want - output->ou_pos));
	if (want <= output->ou_room)
		return (0);
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)output->ou_room,
	    (off_t)(want + ROOM_AHEAD - output->ou_room)) == 0) {
		output->ou_room = want + ROOM_AHEAD;
		return (0);
	}
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)output->ou_room,
	    (off_t)(want - output->ou_room)) == 0) {
		output->ou_room = want;
		return (0);
	}
	if (errno == ENOSPC || errno == EDQUOT)
		return (-1);
	output->ou_can_reserve = false;
	return (output_free(output, want - output->ou_pos));
}

/* Is there room?  Others may take it, so this only helps. */
static int
output_free(const struct prof_output *output, uint64_t need)
{
	struct statvfs fs;

	if (output->ou_place.pl_memory ||
	    fstatvfs(output->ou_place.pl_fd, &fs) == -1 ||
	    fs.f_frsize == 0 || need / fs.f_frsize < fs.f_bavail)
		return (0);
	errno = ENOSPC;
	return (-1);
}

/* All of it, or none of it and errno. */
static int
output_append(struct prof_output *output, const void *bytes, size_t len)
{
	int fd = output->ou_place.pl_fd, error_number;
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pwrite(fd, (const char *)bytes + done, len - done,
		    (off_t)(output->ou_pos + done));
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0) {
			error_number = n == 0 ? ENOSPC : errno;
			if (output->ou_place.pl_regular &&
			    ftruncate(fd, (off_t)output->ou_pos) == -1)
				error_number = errno;
			output->ou_room = output->ou_pos;
			errno = error_number;
			return (-1);
		}
		done += (size_t)n;
	}
	output->ou_pos += len;
	atomic_store_explicit(&output->ou_bytes, output->ou_pos,
	    memory_order_relaxed);
	return (0);
}

static void
output_index(struct prof_output *output, enum prof_chunk_type type,
    const struct prof_batch *batch, size_t len)
{
	struct prof_buf *index = &output->ou_index;

	output->ou_nchunks++;
	output->ou_last_index = index->bf_len;
	if (type == PROF_C_INDEX || type == PROF_C_END ||
	    index->bf_len >= MAX_INDEX)
		return;
	prof_buf_varint(index, type);
	prof_buf_varint(index, output->ou_pos - len);
	prof_buf_varint(index, len);
	prof_buf_varint(index, batch ? batch->ba_nsamples : 0);
	prof_buf_varint(index, batch ? batch->ba_first_ns : 0);
	prof_buf_varint(index, batch ? batch->ba_last_ns : 0);
}

/* A chunk is in the file: count it, and remember how to take it back. */
static void
output_done(struct prof_output *output, const struct prof_batch *batch,
    size_t len)
{
	output->ou_last_pos = output->ou_pos - len;
	output->ou_last_tallies.bf_len = 0;
	if (batch == NULL)
		return;
	prof_buf_bytes(&output->ou_last_tallies, batch->ba_tallies.bf_data,
	    batch->ba_tallies.bf_len);
	prof_tallied_add(&output->ou_tallied, &batch->ba_tallies);
}

struct prof_ring *
prof_output_kept(const struct prof_output *output)
{
	return (output->ou_ring);
}

uint64_t
prof_output_samples(struct prof_output *output)
{
	return (prof_tallied_all(&output->ou_tallied));
}

uint64_t
prof_output_bytes(const struct prof_output *output)
{
	return (atomic_load_explicit(&output->ou_bytes,
	    memory_order_relaxed));
}

uint64_t
prof_output_written(struct prof_output *output, size_t event)
{
	uint64_t written = prof_tallied_event(&output->ou_tallied, event);

	if (output->ou_ring == NULL)
		return (written);
	pthread_mutex_lock(&output->ou_mutex);
	written -= prof_ring_overwritten(output->ou_ring, event);
	pthread_mutex_unlock(&output->ou_mutex);
	return (written);
}

void
prof_output_raw(struct prof_output *output)
{
	output->ou_raw = true;
}

void
prof_output_remove(struct prof_output *output)
{
	prof_place_undo(&output->ou_place);
}

void
prof_output_keep(struct prof_output *output)
{
	prof_place_keep(&output->ou_place);
}

void
prof_output_close(struct prof_output *output)
{
	prof_place_close(&output->ou_place);
	prof_ring_free(output->ou_ring);
	ZSTD_freeCCtx(output->ou_zstd);
	prof_buf_free(&output->ou_body.bd_head);
	prof_buf_free(&output->ou_body.bd_buf);
	prof_buf_free(&output->ou_chunk);
	prof_buf_free(&output->ou_index);
	prof_buf_free(&output->ou_last_tallies);
	prof_tallied_fini(&output->ou_tallied);
	pthread_mutex_destroy(&output->ou_mutex);
	free(output);
}
