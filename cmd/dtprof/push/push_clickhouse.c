/* SPDX-License-Identifier: ISC */
/*
 * push to clickhouse+http(s)://: batches of rows, each sent until the store
 * has committed it, has refused it, or time is up.  Called by cmd_push.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "push.h"

#define LONGEST_LIST	(64u << 20)
#define FOLLOW_S	2
#define LATE_S		10	/* until a minute that has ended is written */

struct clickhouse {
	struct prof_store *ch_store;
	struct prof_backoff ch_backoff;
	bool		 ch_is_open;	/* ch_backoff counts */
	uint64_t	*ch_there;	/* batches that the store has */
	size_t		 ch_nthere;
	bool		 ch_is_last;	/* what fails is not tried later */
	bool		 ch_has_failed;	/* so all that is left is counted */
	struct push	*ch_push;
	struct prof_err	 ch_error;
};

static int
clickhouse_open(struct push *push)
{
	struct clickhouse *ch = calloc(1, sizeof(*ch));

	if (ch == NULL)
		return (msg_error("push", "out of memory", "free memory"));
	ch->ch_push = push;
	push->pu_arg = ch;
	if (push->pu_is_dry)
		return (0);
	ch->ch_store = prof_store_open(push->pu_url, push->pu_secret_file,
	    &ch->ch_error);
	return (ch->ch_store == NULL ? msg_prof("push", &ch->ch_error) : 0);
}

static void
clickhouse_close(struct push *push)
{
	struct clickhouse *ch = push->pu_arg;

	prof_store_close(ch->ch_store);
	free(ch->ch_there);
	free(ch);
}

/* ------------------------------------------------------------- labels */

static void
labels_make(const struct push *push, const struct prof_reader *reader,
    struct prof_store_labels *labels, char *service, size_t size)
{
	static const char *const columns[] = { "host", "boot", "service",
	    "version", "build-id" };
	const struct push_labels *own = &push->pu_labels;

	labels->sl_host = push_label(own, "host");
	labels->sl_boot = push_label(own, "boot");
	labels->sl_service = push_label(own, "service");
	labels->sl_version = push_label(own, "version");
	labels->sl_build_id = push_label(own, "build-id");
	if (labels->sl_host == NULL)
		labels->sl_host = prof_reader_info(reader, "machine.host");
	if (labels->sl_boot == NULL)
		labels->sl_boot = prof_reader_info(reader, "machine.boot");
	prof_send_program(reader, service, size);
	if (labels->sl_service == NULL)
		labels->sl_service = service;
	for (size_t n = 0; n < own->pl_n; n++) {
		size_t c = 0;

		while (c < 5 && strcmp(own->pl_key[n], columns[c]) != 0)
			c++;
		if (c < 5)
			continue;
		labels->sl_keys[labels->sl_n] = own->pl_key[n];
		labels->sl_values[labels->sl_n++] = own->pl_value[n];
	}
}

/* -------------------------------------------------------------- batches */

static int
number_compare(const void *a, const void *b)
{
	const uint64_t *na = a, *nb = b;

	return (*na < *nb ? -1 : *na > *nb);
}

/* Those of a recording that the store has committed. */
static int
batches_ask(struct clickhouse *ch, uint64_t recording)
{
	char sql[256];
	off_t length;
	int fd;

	snprintf(sql, sizeof(sql), "SELECT DISTINCT batch FROM accounts WHERE "
	    "recording = %llu FORMAT RowBinary",
	    (unsigned long long)recording);
	free(ch->ch_there);
	ch->ch_there = NULL;
	ch->ch_nthere = 0;
	fd = prof_store_ask(ch->ch_store, sql, LONGEST_LIST, &ch->ch_error);
	if (fd == -1)
		return (-1);
	length = lseek(fd, 0, SEEK_END);
	ch->ch_there = malloc(length > 0 ? (size_t)length : 1);
	if (ch->ch_there != NULL && pread(fd, ch->ch_there, (size_t)length,
	    0) == length)
		ch->ch_nthere = (size_t)length / sizeof(*ch->ch_there);
	(void)close(fd);
	if (ch->ch_there != NULL)
		qsort(ch->ch_there, ch->ch_nthere, sizeof(*ch->ch_there),
		    number_compare);
	return (0);
}

static int
batch_send(struct clickhouse *ch, struct prof_store_batch *batch)
{
	struct prof_answer answer;
	enum prof_store_sent sent;

	if (!ch->ch_is_open)
		ch->ch_backoff = prof_backoff_begin(ch->ch_push->pu_try_ns);
	ch->ch_is_open = true;
	do
		sent = prof_store_send(ch->ch_store, batch, &answer,
		    &ch->ch_error);
	while (sent == PROF_STORE_LATER &&
	    prof_backoff_wait(&ch->ch_backoff, &answer));
	ch->ch_is_open = sent != PROF_STORE_SENT;
	return (sent == PROF_STORE_SENT ? 0 : -1);
}

/*
 * The stacks of a batch that the store has do not count as sent: they may have
 * been sent with fewer function names, and so with other stack numbers.
 */
static int
batch_put(void *arg, struct prof_store_batch *batch)
{
	struct clickhouse *ch = arg;
	struct push_counts *counts = &ch->ch_push->pu_counts;
	const uint64_t rows = batch->sb_rows[PROF_STORE_SAMPLES].sr_n;

	if (bsearch(&batch->sb_number, ch->ch_there, ch->ch_nthere,
	    sizeof(*ch->ch_there), number_compare) != NULL) {
		counts->pc_samples += batch->sb_samples;
		counts->pc_duplicates++;
		return (1);
	}
	if (ch->ch_has_failed || (!ch->ch_push->pu_is_dry &&
	    batch_send(ch, batch) == -1)) {
		*(ch->ch_error.pe_code == PROF_E_BUSY ?
		    &counts->pc_rows_spooled : &counts->pc_rows_dropped) +=
		    rows;
		if (!ch->ch_is_last)
			return (-1);
		ch->ch_has_failed = true;
		counts->pc_samples += batch->sb_samples;
		return (0);
	}
	for (unsigned t = 0; t < PROF_STORE_TABLES; t++)
		counts->pc_bytes += batch->sb_rows[t].sr_bytes.bf_len;
	counts->pc_samples += batch->sb_samples;
	counts->pc_batches++;
	counts->pc_rows += rows;
	return (0);
}

/* The first question is tried again, too: the store may be just starting. */
static int
recording_begin(struct clickhouse *ch, struct prof_store_writer *writer,
    struct prof_reader *reader)
{
	struct prof_backoff backoff =
	    prof_backoff_begin(ch->ch_push->pu_try_ns);
	const struct prof_answer none = { .an_fd = -1 };
	uint64_t recording;

	if (prof_store_writer_recording(writer, reader, &recording,
	    &ch->ch_error) == -1)
		return (-1);
	while (!ch->ch_push->pu_is_dry && batches_ask(ch, recording) == -1)
		if (ch->ch_error.pe_code != PROF_E_BUSY ||
		    !prof_backoff_wait(&backoff, &none))
			return (-1);
	return (0);
}

/*
 * What is complete of a recording that is being written, each time that a
 * minute has ended: before that there is nothing to send.  The recorder never
 * waits for this: we read its file.  What fails stays in it, so only the end
 * of the recording and of our patience is final.
 */
static int
recording_follow(struct clickhouse *ch, struct prof_store_writer *writer,
    const struct prof_reader *first, const char *path)
{
	const struct timespec pause = { FOLLOW_S, 0 };
	time_t minute, sent = (ch->ch_push->pu_opened - LATE_S) /
	    PROF_STORE_BATCH_S;
	bool is_open = true;
	struct prof_reader *reader;
	int rv = -1;

	while (is_open) {
		(void)nanosleep(&pause, NULL);
		minute = (time(NULL) - LATE_S) / PROF_STORE_BATCH_S;
		if (minute == sent && prof_reader_is_written(first))
			continue;
		sent = minute;
		reader = input_read("push", path, &ch->ch_error);
		if (reader == NULL)
			return (-1);
		is_open = prof_reader_in_progress(reader) != 0;
		ch->ch_push->pu_counts.pc_rows_spooled = 0;
		ch->ch_push->pu_counts.pc_rows_dropped = 0;
		ch->ch_is_open = false;
		ch->ch_is_last = !is_open;
		rv = prof_store_write(writer, reader, batch_put, ch,
		    &ch->ch_error);
		prof_reader_close(reader);
	}
	return (rv);
}

static int
clickhouse_file(struct push *push, struct prof_reader *reader,
    const char *path)
{
	const char *keys[PUSH_LABELS], *values[PUSH_LABELS];
	struct prof_store_labels labels = { .sl_keys = keys,
	    .sl_values = values };
	struct clickhouse *ch = push->pu_arg;
	struct prof_store_writer *writer;
	char service[256];
	int rv = -1;

	labels_make(push, reader, &labels, service, sizeof(service));
	writer = prof_store_writer_new(&labels);
	if (writer == NULL)
		return (msg_error("push", "out of memory", "free memory"));
	ch->ch_is_last = !push->pu_follows ||
	    !prof_reader_in_progress(reader);
	ch->ch_has_failed = recording_begin(ch, writer, reader) == -1;
	if (!ch->ch_has_failed || ch->ch_is_last)
		rv = prof_store_write(writer, reader, batch_put, ch,
		    &ch->ch_error);
	if (push->pu_follows && prof_reader_in_progress(reader)) {
		ch->ch_has_failed = false;
		rv = recording_follow(ch, writer, reader, path);
	}
	prof_store_writer_free(writer);
	if (rv == 0 && !ch->ch_has_failed)
		return (0);
	return (msg_prof("push", &ch->ch_error));
}

const struct push_kind push_clickhouse = {
	.pk_prefix = "clickhouse+",
	.pk_rows = "rows",
	.pk_open = clickhouse_open,
	.pk_file = clickhouse_file,
	.pk_close = clickhouse_close,
};
