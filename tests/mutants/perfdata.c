/* SPDX-License-Identifier: ISC */
/*
 * perf.data: the header's tables and the records.  A record is changed inside,
 * or removed, or stands twice, and keeps a size that leads to the next one.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "mutants.h"

#define HEADER		104	/* of a file */
#define PIPE_HEADER	16
#define DATA_OFFSET	40	/* where it says where records are */

struct place {
	size_t	pl_at;
	size_t	pl_size;
};

static void
place_of_records(const struct prof_buf *buf, struct place *place)
{
	const uint8_t *bytes = buf->bf_data;

	place->pl_at = PIPE_HEADER;
	place->pl_size = buf->bf_len - PIPE_HEADER;
	if (prof_get_le(bytes + 8, 8) != HEADER)
		return;
	place->pl_at = prof_get_le(bytes + DATA_OFFSET, 8);
	place->pl_size = prof_get_le(bytes + DATA_OFFSET + 8, 8);
	if (place->pl_at > buf->bf_len ||
	    place->pl_size > buf->bf_len - place->pl_at)
		place->pl_at = place->pl_size = 0;
}

/* The n-th record, as far as sizes lead. */
static bool
record_of(const struct prof_buf *buf, const struct place *place, size_t n,
    struct place *record)
{
	const size_t end = place->pl_at + place->pl_size;
	struct perf_event_header head;

	record->pl_at = place->pl_at;
	do {
		if (end - record->pl_at < sizeof(head))
			return (false);
		memcpy(&head, buf->bf_data + record->pl_at, sizeof(head));
		record->pl_size = head.size;
		if (head.size < sizeof(head) ||
		    head.size > end - record->pl_at)
			return (false);
		record->pl_at += n > 0 ? head.size : 0;
	} while (n-- > 0);
	return (true);
}

/* As large as before where it is not the last change. */
static void
change_record(struct chance *chance, struct prof_buf *buf,
    const struct place *record)
{
	struct perf_event_header head;
	uint64_t value = chance_value(chance);
	size_t at, n = 1 + chance_below(chance, 4);

	memcpy(&head, buf->bf_data + record->pl_at, sizeof(head));
	while (n-- > 0 && record->pl_size > sizeof(head)) {
		at = sizeof(head) + chance_below(chance, record->pl_size -
		    sizeof(head));
		at -= chance_is(chance, 2) ? at % 8 : 0;
		memcpy(buf->bf_data + record->pl_at + at, &value,
		    record->pl_size - at < 8 ? record->pl_size - at :
		    (size_t)1 << chance_below(chance, 4));
	}
	if (chance_is(chance, 8))
		head.type = (uint32_t)chance_below(chance, 90);
	if (chance_is(chance, 16))
		head.misc = (uint16_t)chance_value(chance);
	if (chance_is(chance, 16))
		head.size = (uint16_t)chance_value(chance);
	memcpy(buf->bf_data + record->pl_at, &head, sizeof(head));
}

/* Twice or not at all; the header says how much there is. */
static void
change_records(struct chance *chance, struct prof_buf *buf,
    const struct place *record)
{
	const bool is_file = prof_get_le(buf->bf_data + 8, 8) == HEADER;
	struct prof_buf copy = { 0 };
	uint64_t size = prof_get_le(buf->bf_data + DATA_OFFSET + 8, 8);

	prof_buf_bytes(&copy, buf->bf_data + record->pl_at, record->pl_size);
	if (chance_is(chance, 2)) {
		bytes_replace(buf, record->pl_at, record->pl_size, "", 0);
		size -= record->pl_size;
	} else {
		bytes_replace(buf, record->pl_at, 0, copy.bf_data,
		    copy.bf_len);
		size += record->pl_size;
	}
	if (is_file)
		prof_put_le(buf->bf_data + DATA_OFFSET + 8, size, 8);
	prof_buf_free(&copy);
}

static void
perfdata_mutate(struct chance *chance, const struct prof_buf *seed,
    struct prof_buf *out)
{
	struct place place, record;
	size_t n;

	prof_buf_bytes(out, seed->bf_data, seed->bf_len);
	for (n = chance_below(chance, 5); n > 0 && out->bf_len > HEADER; n--) {
		place_of_records(out, &place);
		if (!record_of(out, &place, chance_below(chance, 40),
		    &record))
			continue;
		if (chance_is(chance, 4))
			change_records(chance, out, &record);
		else
			change_record(chance, out, &record);
	}
	/* Events, features and the header; perhaps the door. */
	if (chance_is(chance, 4) && out->bf_len > HEADER)
		out->bf_data[16 + chance_below(chance, out->bf_len - 16)] =
		    (uint8_t)chance_value(chance);
	if (chance_is(chance, 16))
		bytes_mutate(chance, out);
}

const struct format format_perfdata = { "perfdata", perfdata_mutate,
    reading_import };
