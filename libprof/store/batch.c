/* SPDX-License-Identifier: ISC */
/*
 * A batch, or a part of one: what rows.c has gathered, in the form in which it
 * is sent.  Where a row has the number of its attempt is remembered, as each
 * sending has another one.  Called by rows.c and client.c.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"
#include "store_impl.h"

#define DAY_S		86400u

/* ------------------------------------------------------------ batches */

static struct prof_buf *
row_begin(struct prof_store_rows *rows)
{
	if (!prof_room(&rows->sr_attempt, &rows->sr_cap, rows->sr_n + 1,
	    sizeof(*rows->sr_attempt))) {
		rows->sr_bytes.bf_failed = true;
		return (&rows->sr_bytes);
	}
	/* Behind recording and batch. */
	rows->sr_attempt[rows->sr_n++] = rows->sr_bytes.bf_len + 16;
	return (&rows->sr_bytes);
}

void
prof_store_batch_number(struct prof_store_batch *batch, uint64_t attempt)
{
	for (unsigned t = PROF_STORE_SAMPLES; t <= PROF_STORE_ACCOUNTS; t++) {
		struct prof_store_rows *rows = &batch->sb_rows[t];

		for (size_t n = 0; n < rows->sr_n; n++)
			prof_put_le(rows->sr_bytes.bf_data + (
			    rows->sr_is_columns ? rows->sr_attempt[0] + 8 * n :
			    rows->sr_attempt[n]), attempt, 8);
	}
}

void
prof_store_batch_clear(struct prof_store_batch *batch)
{
	for (unsigned t = 0; t < PROF_STORE_TABLES; t++) {
		struct prof_store_rows *rows = &batch->sb_rows[t];

		rows->sr_n = rows->sr_bytes.bf_len = 0;
		rows->sr_is_columns = false;
		if (rows->sr_bytes.bf_failed)
			prof_buf_free(&rows->sr_bytes);
	}
	batch->sb_samples = 0;
}

void
prof_store_batch_free(struct prof_store_batch *batch)
{
	for (unsigned t = 0; t < PROF_STORE_TABLES; t++) {
		prof_buf_free(&batch->sb_rows[t].sr_bytes);
		free(batch->sb_rows[t].sr_attempt);
	}
	*batch = (struct prof_store_batch){ .sb_number = 0 };
}

/* -------------------------------------------------------------- the rows */

/* Number of the batch: minute and part. */
static uint64_t
batch_number(const struct prof_store_writer *writer)
{
	return (writer->sw_minute << 8 | writer->sw_part);
}

static uint32_t
day_of(const struct prof_store_writer *writer)
{
	return ((uint32_t)(writer->sw_minute * PROF_STORE_BATCH_S / DAY_S));
}

static void
head_put(struct prof_store_writer *writer, struct prof_buf *row)
{
	const struct prof_store_labels *labels = &writer->sw_labels;

	prof_row_uint(row, writer->sw_id, 8);
	prof_row_uint(row, batch_number(writer), 8);
	prof_row_uint(row, 0, 8);
	prof_row_text(row, labels->sl_host);
	prof_row_text(row, labels->sl_boot);
	prof_row_text(row, labels->sl_service);
	prof_row_text(row, labels->sl_version);
	/* Of each process, with its samples. */
	prof_row_text(row, labels->sl_build_id);
	/* Containers and pods, which are not known yet. */
	prof_row_text(row, "");
	prof_row_text(row, "");
	prof_row_texts(row, labels->sl_keys, labels->sl_n);
	prof_row_texts(row, labels->sl_values, labels->sl_n);
	prof_row_uint(row, day_of(writer), 2);
}

/* None: a table takes no block of no rows. */
static void
samples_put(struct prof_store_writer *writer, struct prof_store_batch *batch)
{
	struct prof_store_rows *rows = &batch->sb_rows[PROF_STORE_SAMPLES];

	for (size_t n = 0; n < writer->sw_nrows; n++) {
		const struct prof_row *row = &writer->sw_row[n];

		writer->sw_account[row->ro_key.ke_event].ac_rows++;
		batch->sb_samples += row->ro_n;
	}
	if (writer->sw_nrows == 0 || row_begin(rows)->bf_failed)
		return;
	rows->sr_n = writer->sw_nrows;
	rows->sr_is_columns = true;
	prof_store_columns_put(writer, &rows->sr_bytes, batch->sb_day,
	    rows->sr_attempt);
}

/* What the recording says of itself, with its first event alone. */
static void
info_put(struct prof_store_writer *writer, struct prof_buf *row, bool is_there)
{
	const char *key, *value;
	size_t n = 0;

	while (is_there && prof_reader_info_at(writer->sw_reader, n, &key,
	    &value) != 0)
		n++;
	prof_buf_varint(row, n);
	for (size_t i = 0; i < n; i++) {
		(void)prof_reader_info_at(writer->sw_reader, i, &key, &value);
		prof_row_text(row, key);
	}
	prof_buf_varint(row, n);
	for (size_t i = 0; i < n; i++) {
		(void)prof_reader_info_at(writer->sw_reader, i, &key, &value);
		prof_row_text(row, value);
	}
}

/* In the order of counters.def, as the columns are. */
static void
counters_put(struct prof_buf *row, const struct prof_accounting *sum)
{
#define PROF_COUNTER(bit, name, type, role, source, text) \
	prof_row_uint(row, (uint64_t)sum->pa_##name, 8);
#define PROF_COUNTER_STACK(bit, name, status) \
	prof_row_uint(row, sum->pa_##name[PROF_STACK_##status], 8);
#include "counters.def"
}

static void
account_put(struct prof_store_writer *writer, struct prof_store_rows *rows,
    uint32_t event, uint64_t to_ns, bool is_last)
{
	const struct prof_event_info *info = prof_reader_event(
	    writer->sw_reader, event);
	const struct prof_row_account *account = &writer->sw_account[event];
	struct prof_accounting sum = { 0 };
	struct prof_buf *row = row_begin(rows);

	head_put(writer, row);
	prof_row_uint(row, writer->sw_minute * PROF_STORE_BATCH_S, 4);
	prof_row_text(row, info->pi_name);
	prof_row_uint(row, event, 4);
	prof_row_text(row, info->pi_probe);
	prof_row_text(row, info->pi_provider);
	prof_row_text(row, info->pi_unit);
	prof_row_uint(row, info->pi_period, 8);
	prof_row_uint(row, info->pi_frequency_hz, 8);
	prof_row_uint(row, writer->sw_elapsed_ns, 8);
	prof_row_uint(row, writer->sw_first_ns, 8);
	prof_row_uint(row, to_ns, 8);
	prof_row_uint(row, is_last, 1);
	prof_row_uint(row, account->ac_rows, 8);
	prof_row_uint(row, account->ac_samples, 8);
	prof_row_uint(row, account->ac_weight, 8);
	prof_row_uint(row, account->ac_lost, 8);
	info_put(writer, row, event == 0);
	if (is_last)
		(void)prof_reader_accounting(writer->sw_reader, event, -1,
		    &sum);
	counters_put(row, &sum);
}

/* Hand on what was gathered up to a time; then it begins anew. */
int
prof_store_part_end(struct prof_store_writer *writer, uint64_t to_ns,
    bool is_last)
{
	const size_t nevents = prof_reader_nevents(writer->sw_reader);
	struct prof_store_batch *batch = &writer->sw_batch;
	struct prof_store_rows *rows = batch->sb_rows;
	bool failed;
	int rv;

	batch->sb_recording = writer->sw_id;
	batch->sb_number = batch_number(writer);
	batch->sb_day = day_of(writer);
	samples_put(writer, batch);
	for (uint32_t event = 0; event < nevents; event++)
		account_put(writer, &rows[PROF_STORE_ACCOUNTS], event, to_ns,
		    is_last);
	rv = prof_stacks_rows(writer->sw_stacks, batch->sb_day,
	    &rows[PROF_STORE_STACKS]);
	failed = rv == -1 || rows[PROF_STORE_SAMPLES].sr_bytes.bf_failed ||
	    rows[PROF_STORE_ACCOUNTS].sr_bytes.bf_failed;
	rv = failed ? prof_fail_nomem(writer->sw_error) :
	    writer->sw_put(writer->sw_arg, batch);
	if (rv != 0)
		prof_stacks_unsend(writer->sw_stacks);
	prof_store_batch_clear(batch);
	prof_dict_clear(&writer->sw_by_key);
	writer->sw_nrows = 0;
	writer->sw_elapsed_ns = 0;
	memset(writer->sw_account, 0, nevents * sizeof(*writer->sw_account));
	writer->sw_part++;
	return (rv == -1 ? -1 : 0);
}
