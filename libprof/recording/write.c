/* SPDX-License-Identifier: ISC */
/*
 * The writer: takes records from the thread that drains the streams, packs
 * them into batches, and hands these to a thread of its own that compresses
 * and writes, so that a slow disk delays nobody until QUEUE_BYTES wait.
 *
 *	caller: add -> pack -> batch --queue--> thread: chunks -> file
 *	                         ^------------- spare --------------'
 *
 * A batch goes off when it is large enough, and at prof_writer_flush.  The
 * first failure of the thread sticks: later batches are dropped, the caller
 * sees -1, and close still writes accounting and END.  Where another file can
 * follow, the failure is that of the file.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/grow.h"
#include "confine/privilege.h"
#include "lasting.h"
#include "ring.h"
#include "write_impl.h"

#define BATCH_BYTES	(256u << 10)
#define QUEUE_BYTES	(64u << 20)
#define SYNC_SECONDS	5
#define MAX_SPARE	8
#define RING_BATCHES	16	/* in a ring, before they are compressed */

static void	*writer_main(void *);
static int	writer_start(struct prof_writer *);
static int	writer_check(struct prof_writer *);
static bool	writer_take(struct prof_writer *, bool, struct prof_batch **);
static void	writer_write(struct prof_writer *, struct prof_batch *);
static void	writer_return(struct prof_writer *, struct prof_batch *);
static void	writer_free(struct prof_writer *);

/* With an output, or NULL and the error. */
static struct prof_writer *
writer_open(struct prof_output *output, const char *name,
    const struct prof_ring_limits *limits, struct prof_err *error)
{
	struct prof_writer *writer;
	pthread_condattr_t monotonic;

	if (output == NULL)
		return (NULL);
	writer = calloc(1, sizeof(*writer));
	if (writer == NULL) {
		prof_fail_nomem(error);
		prof_output_remove(output);
		prof_output_close(output);
		return (NULL);
	}
	writer->wr_output = output;
	writer->wr_batch_bytes = BATCH_BYTES;
	if (limits != NULL) {
		writer->wr_limits = *limits;
		/* A ring gives up one at a time. */
		if (limits->rl_bytes != 0 &&
		    limits->rl_bytes / RING_BATCHES < BATCH_BYTES)
			writer->wr_batch_bytes = limits->rl_bytes /
			    RING_BATCHES;
		writer->wr_lasting = prof_lasting_new(limits->rl_bytes == 0);
	}
	pthread_mutex_init(&writer->wr_mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->wr_work, &monotonic);
	pthread_cond_init(&writer->wr_room, NULL);
	pthread_condattr_destroy(&monotonic);
	writer->wr_batch = prof_batch_new();
	if (writer->wr_batch == NULL || (limits != NULL &&
	    writer->wr_lasting == NULL)) {
		prof_fail_nomem(error);
		goto failed;
	}
	prof_packer_begin(&writer->wr_packer, writer->wr_batch);
	if (writer_start(writer) == 0)
		return (writer);
	prof_fail(error, PROF_E_NOMEM, "%s: cannot start the writer thread",
	    name);
failed:
	prof_output_remove(writer->wr_output);
	writer_free(writer);
	return (NULL);
}

struct prof_writer *
prof_writer_open(const char *path, struct prof_err *error)
{
	return (writer_open(prof_output_open(path, -1, error), path, NULL,
	    error));
}

struct prof_writer *
prof_writer_open_first(const char *path, struct prof_err *error)
{
	static const struct prof_ring_limits none = { 0, 0 };

	return (writer_open(prof_output_open(path, -1, error), path, &none,
	    error));
}

struct prof_writer *
prof_writer_open_memory(int fd, struct prof_err *error)
{
	return (writer_open(prof_output_open("memory", fd, error), "memory",
	    NULL, error));
}

struct prof_writer *
prof_writer_open_ring(const struct prof_ring_limits *limits,
    struct prof_err *error)
{
	return (writer_open(prof_output_ring(limits, error), "memory", limits,
	    error));
}

/* One that nobody will write. */
static void
batch_drop(struct prof_batch *batch)
{
	prof_writer_drop(batch->ba_output);
	prof_dump_free(batch->ba_dump);
}

/* The thread takes no signals: they are the caller's, SIGXFSZ nobody's. */
static int
writer_start(struct prof_writer *writer)
{
	sigset_t all, before;
	int rv;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rv = pthread_create(&writer->wr_thread, NULL, writer_main, writer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return (rv == 0 ? 0 : -1);
}

static void
writer_free(struct prof_writer *writer)
{
	struct prof_batch *batch;
	struct prof_dump *dump;

	prof_output_close(writer->wr_output);
	prof_writer_drop(writer->wr_next);
	prof_lasting_free(writer->wr_lasting);
	free(writer->wr_next_path);
	free(writer->wr_earlier);
	while ((dump = prof_writer_dumped(writer)) != NULL)
		prof_dump_free(dump);
	while ((batch = writer->wr_spare) != NULL) {
		writer->wr_spare = batch->ba_next;
		prof_batch_free(batch);
	}
	if (writer->wr_batch != NULL)
		batch_drop(writer->wr_batch);
	prof_batch_free(writer->wr_batch);
	prof_packer_fini(&writer->wr_packer);
	pthread_mutex_destroy(&writer->wr_mutex);
	pthread_cond_destroy(&writer->wr_work);
	pthread_cond_destroy(&writer->wr_room);
	free(writer->wr_rows);
	free(writer);
}

/* ------------------------------------------------------ what callers do */

static int
writer_check(struct prof_writer *writer)
{
	if (atomic_load_explicit(&writer->wr_failed, memory_order_acquire))
		return (-1);
	return (writer->wr_error.pe_code == PROF_OK ? 0 : -1);
}

int
prof_writer_nomem(struct prof_writer *writer)
{
	return (prof_fail_nomem(&writer->wr_error));
}

/* What is added now will be needed again. */
static bool
writer_keeps(const struct prof_writer *writer)
{
	return (writer->wr_lasting != NULL && !writer->wr_is_base);
}

int
prof_writer_info(struct prof_writer *writer, const char *key,
    const char *value)
{
	if (writer_check(writer) == -1)
		return (-1);
	prof_pack_info(writer->wr_batch, key, value);
	if (writer->wr_batch->ba_info.bf_failed || (writer_keeps(writer) &&
	    prof_lasting_info(writer->wr_lasting, key, value) == -1))
		return (prof_writer_nomem(writer));
	if (prof_batch_size(writer->wr_batch) < writer->wr_batch_bytes)
		return (0);
	return (prof_writer_send(writer, false));
}

int
prof_writer_event(struct prof_writer *writer,
    const struct prof_event_info *info)
{
	const struct prof_buf *events = &writer->wr_batch->ba_event;
	const size_t before = events->bf_len;

	if (writer_check(writer) == -1)
		return (-1);
	if (writer->wr_packer.pk_nevents >= PROF_MAX_EVENTS)
		return (prof_fail(&writer->wr_error, PROF_E_LIMIT,
		    "%s: a recording holds at most %u events", info->pi_name,
		    PROF_MAX_EVENTS));
	if (prof_pack_event(&writer->wr_packer, writer->wr_batch, info) == -1 ||
	    (writer_keeps(writer) && prof_lasting_event(writer->wr_lasting,
	    events->bf_data + before, events->bf_len - before) == -1))
		return (prof_writer_nomem(writer));
	if (prof_batch_size(writer->wr_batch) < writer->wr_batch_bytes)
		return (0);
	return (prof_writer_send(writer, false));
}

int
prof_writer_add(struct prof_writer *writer, const struct prof_record *record)
{
	struct prof_batch *batch = writer->wr_batch;
	int rv;

	if (writer_check(writer) == -1)
		return (-1);
	if (record->pr_type != PROF_R_SAMPLE) {
		rv = prof_pack_life(&writer->wr_packer, batch, record);
		if (rv == 0 && writer_keeps(writer))
			rv = prof_lasting_record(writer->wr_lasting, record);
	} else if (record->pr_event >= writer->wr_packer.pk_nevents) {
		return (prof_fail(&writer->wr_error, PROF_E_USAGE,
		    "the sample has an unknown event: %u", record->pr_event));
	} else {
		rv = prof_pack_sample(&writer->wr_packer, batch, record);
	}
	if (rv == -1)
		return (prof_writer_nomem(writer));
	if (prof_batch_size(batch) < writer->wr_batch_bytes)
		return (0);
	return (prof_writer_send(writer, false));
}

int
prof_writer_again(struct prof_writer *writer, const struct prof_record *record)
{
	int rv;

	writer->wr_packer.pk_again = true;
	rv = prof_writer_add(writer, record);
	writer->wr_packer.pk_again = false;
	return (rv);
}

int
prof_writer_symbols(struct prof_writer *writer, const void *body, size_t len)
{
	if (writer_check(writer) == -1)
		return (-1);
	if (len > PROF_MAX_RAW)
		return (0);	/* no chunk holds so much */
	prof_pack_symbols(writer->wr_batch, body, len);
	if (writer_keeps(writer) && prof_lasting_symbols(writer->wr_lasting,
	    body, len) == -1)
		return (prof_writer_nomem(writer));
	if (prof_batch_size(writer->wr_batch) < writer->wr_batch_bytes)
		return (0);
	return (prof_writer_send(writer, false));
}

void
prof_writer_stacks(const struct prof_writer *writer, uint64_t *kernel,
    uint64_t *user)
{
	*kernel = writer->wr_packer.pk_kstack;
	*user = writer->wr_packer.pk_ustack;
}

int
prof_writer_flush(struct prof_writer *writer)
{
	if (writer_check(writer) == -1)
		return (-1);
	return (prof_writer_send(writer, true));
}

/* The rows of a CPU as they were with fewer events are no more. */
static void
writer_forget(struct prof_writer *writer, uint32_t cpu, size_t nevents)
{
	size_t at = 0, n;

	while (at < writer->wr_nrows) {
		n = writer->wr_rows[at].rw_next;
		if (writer->wr_rows[at].rw_cpu != cpu || n == nevents) {
			at += n;
			continue;
		}
		memmove(&writer->wr_rows[at], &writer->wr_rows[at + n],
		    (writer->wr_nrows - at - n) * sizeof(*writer->wr_rows));
		writer->wr_nrows -= n;
	}
}

/* Also after a failure: the last accounting says what was lost. */
int
prof_writer_accounting(struct prof_writer *writer, int cpu,
    const struct prof_accounting *accounting, size_t nevents)
{
	struct prof_row *row;
	size_t i, at;

	writer_forget(writer, (uint32_t)(cpu + 1), nevents);
	for (at = 0; at < writer->wr_nrows; at += writer->wr_rows[at].rw_next)
		if (writer->wr_rows[at].rw_cpu == (uint32_t)(cpu + 1))
			break;
	if (!prof_room(&writer->wr_rows, &writer->wr_cap_rows, at + nevents,
	    sizeof(*row)))
		return (prof_writer_nomem(writer));
	if (at == writer->wr_nrows)
		writer->wr_nrows += nevents;
	for (i = 0; i < nevents; i++) {
		row = &writer->wr_rows[at + i];
		memset(row, 0, sizeof(*row));
		row->rw_cpu = (uint32_t)(cpu + 1);
		row->rw_event = (uint32_t)i;
		row->rw_next = (uint32_t)nevents;
		row->rw_accounting = accounting[i];
	}
	writer->wr_has_news = true;
	return (writer_check(writer));
}

uint64_t
prof_writer_bytes(struct prof_writer *writer)
{
	uint64_t bytes;

	pthread_mutex_lock(&writer->wr_mutex);
	bytes = prof_output_bytes(writer->wr_output);
	pthread_mutex_unlock(&writer->wr_mutex);
	return (bytes);
}

uint64_t
prof_writer_first_ns(struct prof_writer *writer)
{
	const struct prof_ring *ring;
	uint64_t first_ns;

	pthread_mutex_lock(&writer->wr_mutex);
	ring = prof_output_kept(writer->wr_output);
	first_ns = ring == NULL ? 0 : prof_ring_first_ns(ring);
	pthread_mutex_unlock(&writer->wr_mutex);
	return (first_ns);
}

uint64_t
prof_writer_samples(struct prof_writer *writer)
{
	uint64_t samples;

	pthread_mutex_lock(&writer->wr_mutex);
	samples = writer->wr_earlier_samples +
	    prof_output_samples(writer->wr_output);
	pthread_mutex_unlock(&writer->wr_mutex);
	return (samples);
}

uint64_t
prof_writer_written(struct prof_writer *writer, size_t event)
{
	uint64_t written;

	pthread_mutex_lock(&writer->wr_mutex);
	written = prof_output_written(writer->wr_output, event);
	pthread_mutex_unlock(&writer->wr_mutex);
	return (written);
}

const struct prof_err *
prof_writer_error(const struct prof_writer *writer)
{
	if (atomic_load_explicit(&writer->wr_failed, memory_order_acquire))
		return (&writer->wr_thread_error);
	return (&writer->wr_error);
}

void
prof_writer_raw(struct prof_writer *writer)
{
	prof_output_raw(writer->wr_output);
}

/* The rows so far go with the batch. */
void
prof_writer_add_rows(struct prof_writer *writer)
{
	struct prof_buf *rows = &writer->wr_batch->ba_rows;

	prof_buf_bytes(rows, writer->wr_rows,
	    writer->wr_nrows * sizeof(*writer->wr_rows));
	prof_writer_rows(writer, (void *)rows->bf_data,
	    rows->bf_len / sizeof(*writer->wr_rows));
	writer->wr_has_news = false;
}

/* Hand the batch to the thread and begin another one. */
int
prof_writer_hand(struct prof_writer *writer)
{
	struct prof_batch *batch = writer->wr_batch, *next;

	if (prof_batch_failed(batch))
		return (prof_writer_nomem(writer));
	batch->ba_bytes = prof_batch_size(batch);
	batch->ba_is_base = writer->wr_is_base;
	prof_writer_renew(writer, batch);
	pthread_mutex_lock(&writer->wr_mutex);
	while (writer->wr_queued > QUEUE_BYTES)
		pthread_cond_wait(&writer->wr_room, &writer->wr_mutex);
	next = writer->wr_spare;
	if (next != NULL) {
		writer->wr_spare = next->ba_next;
		writer->wr_nspare--;
	}
	if (writer->wr_last != NULL)
		writer->wr_last->ba_next = batch;
	else
		writer->wr_first = batch;
	writer->wr_last = batch;
	writer->wr_queued += batch->ba_bytes;
	pthread_cond_signal(&writer->wr_work);
	pthread_mutex_unlock(&writer->wr_mutex);
	writer->wr_batch = next != NULL ? next : prof_batch_new();
	if (writer->wr_batch == NULL)
		return (prof_writer_nomem(writer));
	prof_batch_reset(writer->wr_batch);
	prof_packer_begin(&writer->wr_packer, writer->wr_batch);
	return (writer->wr_is_due ? prof_writer_base(writer) : 0);
}

int
prof_writer_send(struct prof_writer *writer, bool flush)
{
	if (flush && writer->wr_has_news)
		prof_writer_add_rows(writer);
	return (prof_batch_empty(writer->wr_batch) ? 0 :
	    prof_writer_hand(writer));
}

/* Let the thread come to its end, with or without what waits. */
static void
writer_join(struct prof_writer *writer)
{
	pthread_mutex_lock(&writer->wr_mutex);
	writer->wr_closing = true;
	pthread_cond_signal(&writer->wr_work);
	pthread_mutex_unlock(&writer->wr_mutex);
	pthread_join(writer->wr_thread, NULL);
}

int
prof_writer_end(struct prof_writer *writer, struct prof_err *error)
{
	struct prof_err why;

	writer->wr_ended = true;
	if (writer_check(writer) == 0)
		(void)prof_writer_send(writer, true);
	writer_join(writer);
	if (prof_output_finish(writer->wr_output, &why) == -1)
		prof_writer_failed(writer, &why);
	if (writer_check(writer) == 0)
		return (0);
	if (error != NULL)
		*error = *prof_writer_error(writer);
	return (-1);
}

int
prof_writer_close(struct prof_writer *writer, struct prof_err *error)
{
	int rv = writer->wr_ended ? 0 : prof_writer_end(writer, error);

	writer_free(writer);
	return (rv);
}

void
prof_writer_discard(struct prof_writer *writer)
{
	struct prof_err dropped = { .pe_code = PROF_E_BUSY };

	/* The thread drops what waits, once it has failed. */
	prof_writer_failed(writer, &dropped);
	writer_join(writer);
	prof_output_remove(writer->wr_output);
	writer_free(writer);
}

void
prof_writer_keep(struct prof_writer *writer)
{
	prof_output_keep(writer->wr_output);
}

int
prof_writer_dump(struct prof_writer *writer, struct prof_dump *dump)
{
	if (writer_check(writer) == -1) {
		prof_dump_free(dump);
		return (-1);
	}
	prof_writer_add_rows(writer);
	writer->wr_batch->ba_dump = dump;
	return (prof_writer_hand(writer));
}

struct prof_dump *
prof_writer_dumped(struct prof_writer *writer)
{
	struct prof_dump *dump;

	pthread_mutex_lock(&writer->wr_mutex);
	dump = writer->wr_dumped;
	if (dump != NULL)
		writer->wr_dumped = dump->du_next;
	pthread_mutex_unlock(&writer->wr_mutex);
	return (dump);
}

/* ---------------------------------------------------------- the thread */

static int64_t
seconds_now(void)
{
	struct timespec now = { 0, 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec);
}

static void *
writer_main(void *arg)
{
	struct prof_writer *writer = arg;
	struct prof_batch *batch;
	struct prof_err error;
	int64_t synced = seconds_now();
	bool dirty = false;

	/* What it writes to is open, but for dumps and files that follow. */
	prof_privileges_thread("dtprof-writer",
	    writer->wr_lasting != NULL ? PROF_CAPS_DUMP : PROF_CAPS_NONE);
	while (writer_take(writer, dirty, &batch)) {
		prof_writer_open_next(writer);
		if (batch != NULL) {
			writer_write(writer, batch);
			writer_return(writer, batch);
			dirty = true;
		}
		if (!dirty || seconds_now() - synced < SYNC_SECONDS)
			continue;
		if (!prof_writer_is_cut(writer) &&
		    prof_output_sync(writer->wr_output, &error) == -1)
			prof_writer_file_failed(writer, &error);
		synced = seconds_now();
		dirty = false;
	}
	/* The caller waits for this thread, so rows and error are ours. */
	prof_writer_rows(writer, writer->wr_rows, writer->wr_nrows);
	if (writer->wr_error.pe_code != PROF_OK)
		prof_output_broken(writer->wr_output);
	if (prof_writer_is_cut(writer))
		prof_writer_failed(writer, &writer->wr_cut);
	if (prof_output_end(writer->wr_output, writer->wr_rows,
	    writer->wr_nrows, &error) == -1)
		prof_writer_failed(writer, &error);
	return (NULL);
}

/*
 * The next batch, or NULL when it is time to look at the clock.  False when
 * the writer closes and nothing waits any more.
 */
static bool
writer_take(struct prof_writer *writer, bool dirty,
    struct prof_batch **batchp)
{
	struct timespec until;
	struct prof_batch *batch;
	bool more;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += SYNC_SECONDS;
	pthread_mutex_lock(&writer->wr_mutex);
	while (writer->wr_first == NULL && !writer->wr_closing &&
	    writer->wr_next_path == NULL) {
		if (!dirty)
			pthread_cond_wait(&writer->wr_work,
			    &writer->wr_mutex);
		else if (pthread_cond_timedwait(&writer->wr_work,
		    &writer->wr_mutex, &until) != 0)
			break;
	}
	batch = writer->wr_first;
	if (batch != NULL) {
		writer->wr_first = batch->ba_next;
		if (writer->wr_first == NULL)
			writer->wr_last = NULL;
	}
	more = batch != NULL || !writer->wr_closing;
	pthread_mutex_unlock(&writer->wr_mutex);
	*batchp = batch;
	return (more);
}

static void
writer_write(struct prof_writer *writer, struct prof_batch *batch)
{
	struct prof_err error;

	if (atomic_load_explicit(&writer->wr_failed, memory_order_acquire)) {
		batch_drop(batch);
		return;
	}
	writer->wr_taken += batch->ba_nsamples;
	if (batch->ba_dump != NULL &&
	    prof_output_kept(writer->wr_output) == NULL) {
		prof_writer_go_on(writer, batch);
	} else if (batch->ba_dump != NULL) {
		/* A file that fails costs nothing of what is kept. */
		prof_output_dump(writer->wr_output, batch);
		prof_writer_done(writer, batch->ba_dump);
	} else if (!prof_writer_is_cut(writer) &&
	    prof_output_batch(writer->wr_output, batch, &error) == -1) {
		prof_writer_file_failed(writer, &error);
	}
}

void
prof_writer_done(struct prof_writer *writer, struct prof_dump *dump)
{
	struct prof_dump **last;

	pthread_mutex_lock(&writer->wr_mutex);
	for (last = &writer->wr_dumped; *last != NULL;
	    last = &(*last)->du_next)
		continue;
	*last = dump;
	pthread_mutex_unlock(&writer->wr_mutex);
}

/* The batch counts as waiting until it is written: that bounds memory. */
static void
writer_return(struct prof_writer *writer, struct prof_batch *batch)
{
	size_t bytes = batch->ba_bytes;

	prof_batch_reset(batch);
	pthread_mutex_lock(&writer->wr_mutex);
	writer->wr_queued -= bytes;
	if (writer->wr_nspare < MAX_SPARE) {
		batch->ba_next = writer->wr_spare;
		writer->wr_spare = batch;
		writer->wr_nspare++;
		batch = NULL;
	}
	pthread_cond_signal(&writer->wr_room);
	pthread_mutex_unlock(&writer->wr_mutex);
	prof_batch_free(batch);
}

/* Partner of the acquiring loads of wr_failed: the text is there first. */
void
prof_writer_failed(struct prof_writer *writer, const struct prof_err *error)
{
	pthread_mutex_lock(&writer->wr_mutex);
	if (!atomic_load_explicit(&writer->wr_failed, memory_order_relaxed)) {
		writer->wr_thread_error = *error;
		atomic_store_explicit(&writer->wr_failed, true,
		    memory_order_release);
	}
	pthread_mutex_unlock(&writer->wr_mutex);
}
