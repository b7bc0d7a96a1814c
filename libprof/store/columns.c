/* SPDX-License-Identifier: ISC */
/*
 * Rows of samples in the form Native of ClickHouse: one column behind the
 * other.  Most columns of a batch hold one value, and where they lie together
 * that costs next to nothing, here, compressed, and in the server.  Called by
 * batch.c.
 */
#include <stdlib.h>
#include <string.h>

#include "store_impl.h"

/* The columns of samples, in the order of the table. */
struct columns {
	struct prof_store_writer *cl_writer;
	struct prof_buf	*cl_to;
	unsigned	 cl_next;
	size_t		 cl_n;		/* rows */
};

static void
column_begin(struct columns *columns)
{
	const char *name, *type;

	prof_store_column(PROF_STORE_SAMPLES, columns->cl_next++, &name,
	    &type);
	prof_row_text(columns->cl_to, name);
	prof_row_text(columns->cl_to, type);
}

/* The same bytes in each row. */
static void
bytes_repeat(struct columns *columns, const void *bytes, size_t length)
{
	const size_t all = columns->cl_n * length;
	uint8_t *at = all == 0 ? NULL : prof_buf_room(columns->cl_to, all);

	if (at == NULL)
		return;
	memcpy(at, bytes, length);
	for (size_t done = length, more; done < all; done += more) {
		more = done < all - done ? done : all - done;
		memcpy(at + done, at, more);
	}
	columns->cl_to->bf_len += all;
}

static void
same_uint(struct columns *columns, uint64_t value, unsigned bytes)
{
	uint8_t le[8];

	column_begin(columns);
	prof_put_le(le, value, bytes);
	bytes_repeat(columns, le, bytes);
}

/*
 * A column of few texts: all of them, then which one each row has.
 *
 *	1, of 8 bytes	version
 *	8 bytes		FEW_KEYS, and 0, 1, 2: a row has 1, 2, 4 bytes
 *	8 bytes, texts	how many, and each
 *	8 bytes, numbers	rows, and the text of each, from 0 on
 */
#define FEW_KEYS	0x600u	/* they stand here, and nowhere else */

/* Bytes of a row's number. */
static unsigned
few_begin(struct columns *columns, const struct prof_buf *keys, uint64_t n)
{
	const unsigned width = n <= 1u << 8 ? 0 : n <= 1u << 16 ? 1 : 2;

	column_begin(columns);
	prof_row_uint(columns->cl_to, 1, 8);
	prof_row_uint(columns->cl_to, FEW_KEYS | width, 8);
	prof_row_uint(columns->cl_to, n, 8);
	prof_buf_bytes(columns->cl_to, keys->bf_data, keys->bf_len);
	prof_row_uint(columns->cl_to, columns->cl_n, 8);
	columns->cl_to->bf_failed |= keys->bf_failed;
	return (1u << width);
}

static void
same_text(struct columns *columns, const char *text)
{
	struct prof_buf key = { 0 };

	prof_row_text(&key, text);
	few_begin(columns, &key, 1);
	bytes_repeat(columns, "", 1);
	prof_buf_free(&key);
}

typedef const char *text_of_fn(const struct prof_store_writer *writer,
		    uint32_t number);

static const char *
text_of(const struct prof_store_writer *writer, uint32_t number)
{
	return (writer->sw_text[number]);
}

static const char *
event_of(const struct prof_store_writer *writer, uint32_t number)
{
	return (prof_reader_event(writer->sw_reader, number)->pi_name);
}

/* Of a number below most that each row has, at an offset. */
static void
few_texts(struct columns *columns, size_t offset, size_t most, text_of_fn *of)
{
	const struct prof_store_writer *writer = columns->cl_writer;
	const char *row = (const char *)writer->sw_row + offset;
	uint32_t *key = calloc(most + 1, sizeof(*key)), nkeys = 0, number;
	struct prof_buf keys = { .bf_failed = key == NULL };
	unsigned width;
	uint8_t *at;

	for (size_t n = 0; n < columns->cl_n && key != NULL; n++) {
		memcpy(&number, row + n * sizeof(struct prof_row), 4);
		if (key[number] != 0)
			continue;
		key[number] = ++nkeys;
		prof_row_text(&keys, of(writer, number));
	}
	width = few_begin(columns, &keys, nkeys);
	at = prof_buf_room(columns->cl_to, columns->cl_n * width);
	for (size_t n = 0; n < columns->cl_n && key != NULL && at != NULL;
	    n++) {
		memcpy(&number, row + n * sizeof(struct prof_row), 4);
		prof_put_le(at + n * width, key[number] - 1, width);
	}
	columns->cl_to->bf_len += at == NULL ? 0 : columns->cl_n * width;
	prof_buf_free(&keys);
	free(key);
}

#define FEW(columns, member, most, of)					\
	few_texts(columns, offsetof(struct prof_row, ro_key.member), most, of)

/* An array is where each row's texts end, and then all texts. */
static void
same_texts(struct columns *columns, const char *const *texts, size_t n)
{
	struct prof_buf one = { 0 };

	column_begin(columns);
	for (size_t i = 1; i <= columns->cl_n; i++)
		prof_row_uint(columns->cl_to, i * n, 8);
	for (size_t i = 0; i < n; i++)
		prof_row_text(&one, texts[i]);
	if (n > 0)
		bytes_repeat(columns, one.bf_data, one.bf_len);
	columns->cl_to->bf_failed |= one.bf_failed;
	prof_buf_free(&one);
}

#define UINTS(columns, member, bytes) do {				\
	const struct prof_row *row_ = (columns)->cl_writer->sw_row;	\
	const size_t all_ = (columns)->cl_n * (bytes);			\
	uint8_t *at_;							\
									\
	column_begin(columns);						\
	at_ = prof_buf_room((columns)->cl_to, all_ + 1);		\
	if (at_ == NULL)						\
		break;							\
	for (size_t n_ = 0; n_ < (columns)->cl_n; n_++)			\
		prof_put_le(at_ + n_ * (bytes), row_[n_].member, bytes);\
	(columns)->cl_to->bf_len += all_;				\
} while (0)

static void
head_put(struct columns *columns, uint32_t day, size_t *attempt)
{
	const struct prof_store_writer *writer = columns->cl_writer;
	const struct prof_store_labels *labels = &writer->sw_labels;

	same_uint(columns, 0, 8);
	*attempt = columns->cl_to->bf_len - columns->cl_n * 8;
	same_text(columns, labels->sl_host);
	same_text(columns, labels->sl_boot);
	same_text(columns, labels->sl_service);
	same_text(columns, labels->sl_version);
	if (labels->sl_build_id != NULL)
		same_text(columns, labels->sl_build_id);
	else
		FEW(columns, ke_build, writer->sw_ntexts, text_of);
	/* Containers and pods, which are not known yet. */
	same_text(columns, "");
	same_text(columns, "");
	same_texts(columns, labels->sl_keys, labels->sl_n);
	same_texts(columns, labels->sl_values, labels->sl_n);
	same_uint(columns, day, 2);
}

/* One column behind the other; *attempt: where that of the attempts begins. */
void
prof_store_columns_put(struct prof_store_writer *writer, struct prof_buf *to,
    uint32_t day, size_t *attempt)
{
	struct columns columns = { writer, to, 0, writer->sw_nrows };

	prof_buf_varint(to, prof_store_ncolumns(PROF_STORE_SAMPLES));
	prof_buf_varint(to, columns.cl_n);
	head_put(&columns, day, attempt);
	UINTS(&columns, ro_key.ke_time, 4);
	FEW(&columns, ke_event, prof_reader_nevents(writer->sw_reader),
	    event_of);
	UINTS(&columns, ro_key.ke_pid, 4);
	UINTS(&columns, ro_key.ke_tid, 4);
	UINTS(&columns, ro_key.ke_cpu, 2);
	FEW(&columns, ke_comm, writer->sw_ntexts, text_of);
	UINTS(&columns, ro_key.ke_renames, 4);
	same_text(&columns, "");	/* the reason of a wait */
	UINTS(&columns, ro_key.ke_stack, 8);
	UINTS(&columns, ro_key.ke_weight, 8);
	UINTS(&columns, ro_n, 4);
}
