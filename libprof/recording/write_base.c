/* SPDX-License-Identifier: ISC */
/*
 * The writer where a recording begins anew, with a dictionary of its own and
 * with what lasts (lasting.h), so that nothing from before is needed:
 *
 *	a ring		each part of it: the oldest part can be given up
 *	rotation	each file
 *
 *	next -> thread opens -> rotate -> thread ends the file, goes on
 *
 * A file that cannot be written to its end, as the disk is full, keeps what it
 * has; samples are dropped until there is another one.
 *
 * The accounting of each file is that of its own time.  Called by write.c.
 */
#include <stdlib.h>
#include <string.h>

#include "accounting.h"
#include "base/error.h"
#include "lasting.h"
#include "ring.h"
#include "write_impl.h"

#define GENERATIONS	4	/* in what a ring keeps */
#define BASES		4	/* a part is so many times its beginning */

/*
 * A few times until all samples that are kept are others, and seldom enough
 * for what is repeated to be little.
 */
void
prof_writer_renew(struct prof_writer *writer, const struct prof_batch *batch)
{
	const struct prof_ring_limits *limits = &writer->wr_limits;

	if (writer->wr_is_base) {
		writer->wr_base_bytes += batch->ba_bytes;
		return;
	}
	writer->wr_packed += batch->ba_bytes;
	if (limits->rl_bytes == 0 ||
	    writer->wr_packed < BASES * writer->wr_base_bytes ||
	    (writer->wr_packed < limits->rl_bytes / GENERATIONS &&
	    (limits->rl_ns == 0 || batch->ba_nsamples == 0 ||
	    batch->ba_last_ns - writer->wr_renewed_ns <
	    limits->rl_ns / GENERATIONS)))
		return;
	if (batch->ba_nsamples > 0)
		writer->wr_renewed_ns = batch->ba_last_ns;
	prof_packer_renew(&writer->wr_packer);
	writer->wr_is_due = true;
}

static int
base_descriptions(struct prof_writer *writer)
{
	const struct prof_lasting *lasting = writer->wr_lasting;
	const struct prof_buf *events = prof_lasting_events(lasting);
	const char *key, *value;

	for (size_t n = 0; prof_lasting_info_at(lasting, n, &key, &value); n++)
		if (prof_writer_info(writer, key, value) == -1)
			return (-1);
	prof_buf_bytes(&writer->wr_batch->ba_event, events->bf_data,
	    events->bf_len);
	return (0);
}

static int
base_records(struct prof_writer *writer)
{
	const struct prof_lasting *lasting = writer->wr_lasting;
	struct prof_record record;
	const void *body;
	size_t length;

	for (size_t n = 0; prof_lasting_record_at(lasting, n, &record); n++)
		if (prof_writer_add(writer, &record) == -1)
			return (-1);
	for (size_t n = 0; (body = prof_lasting_symbols_at(lasting, n,
	    &length)) != NULL; n++)
		if (prof_writer_symbols(writer, body, length) == -1)
			return (-1);
	return (0);
}

int
prof_writer_base(struct prof_writer *writer)
{
	int rv = -1;

	writer->wr_is_due = false;
	writer->wr_is_base = true;
	writer->wr_packed = writer->wr_base_bytes = 0;
	if (prof_lasting_compact(writer->wr_lasting) == -1)
		rv = prof_writer_nomem(writer);
	else if (base_descriptions(writer) == 0 && base_records(writer) == 0)
		rv = prof_writer_send(writer, false);
	writer->wr_is_base = false;
	return (rv);
}

/* ------------------------------------------------------ file after file */

/* Those of a CPU and an event, if they are known of the files before. */
static const struct prof_row *
row_earlier(const struct prof_writer *writer, size_t guess,
    const struct prof_row *row)
{
	const struct prof_row *earlier = writer->wr_earlier;

	for (size_t n = 0; n < writer->wr_nearlier; n++) {
		const size_t at = (guess + n) % writer->wr_nearlier;

		if (earlier[at].rw_cpu == row->rw_cpu &&
		    earlier[at].rw_event == row->rw_event)
			return (&earlier[at]);
	}
	return (NULL);
}

void
prof_writer_rows(const struct prof_writer *writer, struct prof_row *rows,
    size_t nrows)
{
	const struct prof_row *earlier;

	for (size_t n = 0; n < nrows && writer->wr_nearlier > 0; n++)
		if ((earlier = row_earlier(writer, n, &rows[n])) != NULL)
			prof_accounting_subtract(&rows[n].rw_accounting,
			    &earlier->rw_accounting);
}

int
prof_writer_next(struct prof_writer *writer, const char *path)
{
	char *copy = strdup(path);

	if (copy == NULL)
		return (prof_writer_nomem(writer));
	pthread_mutex_lock(&writer->wr_mutex);
	free(writer->wr_next_path);
	writer->wr_next_path = copy;
	pthread_cond_signal(&writer->wr_work);
	pthread_mutex_unlock(&writer->wr_mutex);
	return (0);
}

bool
prof_writer_has_next(struct prof_writer *writer)
{
	bool has_next;

	pthread_mutex_lock(&writer->wr_mutex);
	has_next = writer->wr_next != NULL && writer->wr_next_path == NULL;
	pthread_mutex_unlock(&writer->wr_mutex);
	return (has_next);
}

bool
prof_writer_cut(struct prof_writer *writer, struct prof_err *why)
{
	pthread_mutex_lock(&writer->wr_mutex);
	*why = writer->wr_cut;
	pthread_mutex_unlock(&writer->wr_mutex);
	return (why->pe_code != PROF_OK);
}

void
prof_writer_drop(struct prof_output *output)
{
	if (output == NULL)
		return;
	prof_output_remove(output);
	prof_output_close(output);
}

void
prof_writer_open_next(struct prof_writer *writer)
{
	struct prof_output *next, *unused = NULL;
	struct prof_dump *failed;
	struct prof_err error;
	char *path;

	pthread_mutex_lock(&writer->wr_mutex);
	path = writer->wr_next_path;
	if (path != NULL) {
		unused = writer->wr_next;
		writer->wr_next = NULL;
		writer->wr_next_path = NULL;
	}
	pthread_mutex_unlock(&writer->wr_mutex);
	if (path == NULL)
		return;
	prof_writer_drop(unused);
	next = prof_output_open(path, -1, &error);
	if (next == NULL && (failed = prof_dump_new(path, "")) != NULL) {
		failed->du_error = error;
		prof_writer_done(writer, failed);
	}
	free(path);
	pthread_mutex_lock(&writer->wr_mutex);
	writer->wr_next = next;
	pthread_mutex_unlock(&writer->wr_mutex);
}

int
prof_writer_rotate(struct prof_writer *writer, struct prof_dump *dump)
{
	const size_t bytes = writer->wr_nrows * sizeof(*writer->wr_rows);
	struct prof_row *earlier = malloc(bytes + 1);

	if (earlier == NULL) {
		prof_dump_free(dump);
		return (prof_writer_nomem(writer));
	}
	prof_writer_add_rows(writer);
	memcpy(earlier, writer->wr_rows, bytes);
	free(writer->wr_earlier);
	writer->wr_earlier = earlier;
	writer->wr_nearlier = writer->wr_nrows;
	writer->wr_batch->ba_dump = dump;
	/* From here on another one may be opened. */
	pthread_mutex_lock(&writer->wr_mutex);
	writer->wr_batch->ba_output = writer->wr_next;
	writer->wr_next = NULL;
	pthread_mutex_unlock(&writer->wr_mutex);
	prof_packer_renew(&writer->wr_packer);
	prof_lasting_restart(writer->wr_lasting);
	writer->wr_is_due = true;
	return (prof_writer_hand(writer));
}

int
prof_writer_shrink(struct prof_writer *writer, uint64_t bytes)
{
	writer->wr_limits.rl_bytes = bytes;
	pthread_mutex_lock(&writer->wr_mutex);
	prof_ring_limit(prof_output_kept(writer->wr_output), bytes);
	pthread_mutex_unlock(&writer->wr_mutex);
	return (prof_writer_flush(writer));
}

/* Where another file can follow, the failure is that of the file. */
void
prof_writer_file_failed(struct prof_writer *writer,
    const struct prof_err *error)
{
	if (writer->wr_lasting == NULL ||
	    prof_output_kept(writer->wr_output) != NULL) {
		prof_writer_failed(writer, error);
		return;
	}
	pthread_mutex_lock(&writer->wr_mutex);
	writer->wr_cut = *error;
	pthread_mutex_unlock(&writer->wr_mutex);
}

/* The file before has its end, or its error. */
static void
output_end(struct prof_writer *writer, struct prof_batch *batch)
{
	struct prof_output *output = writer->wr_output;
	struct prof_dump *dump = batch->ba_dump;
	const struct prof_row *rows = (const void *)batch->ba_rows.bf_data;
	const size_t nrows = batch->ba_rows.bf_len / sizeof(*rows);
	struct prof_err *error = &dump->du_error, later;
	int rv = -1;

	/* The rows come last. */
	batch->ba_rows.bf_len = 0;
	*error = writer->wr_cut;
	if (!prof_writer_is_cut(writer))
		rv = prof_output_batch(output, batch, error);
	if (prof_output_end(output, rows, nrows, rv == 0 ? error : &later) ==
	    -1)
		rv = -1;
	(void)prof_output_finish(output, rv == 0 ? error : &later);
	dump->du_samples = prof_output_samples(output);
	dump->du_unwritten = writer->wr_taken - dump->du_samples;
	dump->du_bytes = prof_output_bytes(output);
}

void
prof_writer_go_on(struct prof_writer *writer, struct prof_batch *batch)
{
	struct prof_output *output = writer->wr_output;

	output_end(writer, batch);
	writer->wr_taken = 0;
	pthread_mutex_lock(&writer->wr_mutex);
	writer->wr_cut = (struct prof_err){ 0 };
	writer->wr_output = batch->ba_output;
	writer->wr_earlier_samples += batch->ba_dump->du_samples;
	pthread_mutex_unlock(&writer->wr_mutex);
	prof_output_keep(writer->wr_output);
	prof_output_close(output);
	prof_writer_done(writer, batch->ba_dump);
}
