/* SPDX-License-Identifier: ISC */
/*
 * Profiles of pprof taken apart: a protocol buffer is a sequence of (number
 * of a field, value), and a value may be such a sequence again.  Fields that
 * are not known are passed over; one that ends behind its message makes the
 * file a damaged one.  Nothing is copied: texts and messages stay where they
 * are, and tables are no larger than what the file's bytes can fill.
 *
 * Called by pprof.c and by the fuzzer.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cursor.h"
#include "pprof.h"
#include "profile/profile_impl.h"

#define MAX_PARTS	(1u << 22)	/* of a kind */
#define MAX_BYTES	(256u << 20)	/* once it is inflated */

/* Fields, as the format numbers them. */
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION,
    PROFILE_FUNCTION, PROFILE_STRING };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_BUILD_ID };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME };
enum { WIRE_NUMBER = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct field {
	unsigned	 fd_number;
	bool		 fd_is_bytes;
	uint64_t	 fd_value;
	struct pprof_text fd_bytes;
};

/* 1, 0: the message is over, -1: damaged. */
static int
next_field(struct pprof_text *rest, struct field *field)
{
	struct cursor cu = { rest->pt_at, rest->pt_at + rest->pt_length,
	    false };
	uint64_t key;

	if (rest->pt_length == 0)
		return (0);
	memset(field, 0, sizeof(*field));
	key = cursor_uleb(&cu);
	field->fd_number = key >> 3 < 1000 ? (unsigned)(key >> 3) : 1000;
	switch (key & 7) {
	case WIRE_NUMBER:
		field->fd_value = cursor_uleb(&cu);
		break;
	case WIRE_64:
		field->fd_value = cursor_fixed(&cu, 8);
		break;
	case WIRE_32:
		field->fd_value = cursor_fixed(&cu, 4);
		break;
	case WIRE_BYTES:
		field->fd_is_bytes = true;
		field->fd_bytes.pt_length = cursor_uleb(&cu);
		field->fd_bytes.pt_at = cu.cu_at;
		cursor_skip(&cu, field->fd_bytes.pt_length);
		break;
	default:
		return (-1);
	}
	*rest = (struct pprof_text){ cu.cu_at,
	    (size_t)(cu.cu_end - cu.cu_at) };
	return (cu.cu_over ? -1 : 1);
}

/* ------------------------------------------------------------- tables */

/* Room for a part; NULL: too many, or no memory. */
static void *
add_part(struct pprof_table *table, size_t size)
{
	return (table->pb_n >= MAX_PARTS ? NULL : prof_grow(&table->pb_part,
	    &table->pb_n, &table->pb_cap, size));
}

/* Where the id's part stands; of several of one id the last counts. */
static void *
add_part_of(struct pprof_table *table, uint64_t id, size_t size)
{
	bool is_new;
	const uint32_t n = prof_map_get(&table->pb_ids, id, &is_new);

	if (n == PROF_INTERN_FAILED)
		return (NULL);
	return (n < table->pb_n ? (char *)table->pb_part + n * size :
	    add_part(table, size));
}

static const void *
part_of(struct pprof_table *table, uint64_t id, size_t size)
{
	bool is_new;
	uint32_t n;

	if (id == 0)
		return (NULL);
	n = prof_map_get(&table->pb_ids, id, &is_new);
	return (n < table->pb_n ? (const char *)table->pb_part + n * size :
	    NULL);
}

const struct pprof_mapping *
prof_pprof_mapping(struct pprof_file *file, uint64_t id)
{
	return (part_of(&file->pf_mappings, id,
	    sizeof(struct pprof_mapping)));
}

const struct pprof_function *
prof_pprof_function(struct pprof_file *file, uint64_t id)
{
	return (part_of(&file->pf_functions, id,
	    sizeof(struct pprof_function)));
}

const struct pprof_location *
prof_pprof_location(struct pprof_file *file, uint64_t id)
{
	return (part_of(&file->pf_locations, id,
	    sizeof(struct pprof_location)));
}

struct pprof_text
prof_pprof_string(const struct pprof_file *file, uint64_t number)
{
	const struct pprof_text *text = file->pf_strings.pb_part;

	return (number < file->pf_strings.pb_n ? text[number] :
	    (struct pprof_text){ (const uint8_t *)"", 0 });
}

bool
prof_pprof_begins(struct pprof_text text, const char *with)
{
	const size_t length = strlen(with);

	return (text.pt_length >= length &&
	    memcmp(text.pt_at, with, length) == 0);
}

/* -------------------------------------------------------------- parts */

/* Numbers of a message by field, up to max; -1: damaged. */
static int
take_numbers(struct pprof_text message, uint64_t *values, unsigned max)
{
	struct field field;
	int more;

	memset(values, 0, max * sizeof(*values));
	while ((more = next_field(&message, &field)) == 1)
		if (field.fd_number < max && !field.fd_is_bytes)
			values[field.fd_number] = field.fd_value;
	return (more);
}

static bool
is_message(struct pprof_text text)
{
	uint64_t none[1];

	return (take_numbers(text, none, 1) == 0);
}

static bool
is_numbers(struct pprof_text text)
{
	struct cursor cu = { text.pt_at, text.pt_at + text.pt_length, false };

	while (cu.cu_at < cu.cu_end)
		(void)cursor_uleb(&cu);
	return (!cu.cu_over);
}

/* What is looked at later, when nothing can be refused any more. */
static bool
is_whole(struct pprof_text message, unsigned first, unsigned last,
    bool (*is_good)(struct pprof_text))
{
	struct field field;
	int more;

	while ((more = next_field(&message, &field)) == 1)
		if (field.fd_is_bytes && field.fd_number >= first &&
		    field.fd_number <= last && !is_good(field.fd_bytes))
			return (false);
	return (more == 0);
}

static int
take_mapping(struct pprof_file *file, struct pprof_text message)
{
	uint64_t value[MAPPING_BUILD_ID + 1];
	struct pprof_mapping *mapping;

	if (take_numbers(message, value, MAPPING_BUILD_ID + 1) == -1)
		return (-1);
	mapping = add_part_of(&file->pf_mappings, value[MAPPING_ID],
	    sizeof(*mapping));
	if (mapping == NULL)
		return (-1);
	mapping->pm_file = value[MAPPING_FILE];
	mapping->pm_build_id = value[MAPPING_BUILD_ID];
	return (0);
}

static int
take_function(struct pprof_file *file, struct pprof_text message)
{
	uint64_t value[FUNCTION_NAME + 1];
	struct pprof_function *function;

	if (take_numbers(message, value, FUNCTION_NAME + 1) == -1)
		return (-1);
	function = add_part_of(&file->pf_functions, value[FUNCTION_ID],
	    sizeof(*function));
	if (function == NULL)
		return (-1);
	function->pn_name = value[FUNCTION_NAME];
	return (0);
}

static int
take_location(struct pprof_file *file, struct pprof_text message)
{
	uint64_t value[LOCATION_MAPPING + 1];
	struct pprof_location *location;

	if (take_numbers(message, value, LOCATION_MAPPING + 1) == -1 ||
	    !is_whole(message, LOCATION_LINE, LOCATION_LINE, is_message))
		return (-1);
	location = add_part_of(&file->pf_locations, value[LOCATION_ID],
	    sizeof(*location));
	if (location == NULL)
		return (-1);
	location->pl_mapping = value[LOCATION_MAPPING];
	location->pl_message = message;
	return (0);
}

static int
take_type(struct pprof_file *file, struct pprof_text message)
{
	uint64_t value[TYPE_UNIT + 1];

	if (file->pf_ntypes == PPROF_TYPES ||
	    take_numbers(message, value, TYPE_UNIT + 1) == -1)
		return (-1);
	file->pf_type[file->pf_ntypes++] = (struct pprof_type){
		value[TYPE_TYPE], value[TYPE_UNIT] };
	return (0);
}

static int
take_string(struct pprof_file *file, struct pprof_text text)
{
	struct pprof_text *slot = add_part(&file->pf_strings, sizeof(*slot));

	if (slot == NULL)
		return (-1);
	*slot = text;
	return (0);
}

static int
take_part(struct pprof_file *file, const struct field *field)
{
	if (!field->fd_is_bytes)
		return (0);
	switch (field->fd_number) {
	case PROFILE_TYPE:
		return (take_type(file, field->fd_bytes));
	case PROFILE_SAMPLE:
		return (is_whole(field->fd_bytes, SAMPLE_LOCATION,
		    SAMPLE_VALUE, is_numbers) ? 0 : -1);
	case PROFILE_MAPPING:
		return (take_mapping(file, field->fd_bytes));
	case PROFILE_LOCATION:
		return (take_location(file, field->fd_bytes));
	case PROFILE_FUNCTION:
		return (take_function(file, field->fd_bytes));
	case PROFILE_STRING:
		return (take_string(file, field->fd_bytes));
	default:
		return (0);
	}
}

int
prof_pprof_read(struct pprof_file *file, const uint8_t *bytes, size_t length,
    struct prof_err *error)
{
	struct pprof_text rest = { bytes, length };
	struct field field;
	int more;

	memset(file, 0, sizeof(*file));
	file->pf_whole = rest;
	while ((more = next_field(&rest, &field)) == 1)
		if (take_part(file, &field) == -1)
			break;
	if (more == 0 && file->pf_ntypes > 0 && file->pf_strings.pb_n > 0)
		return (0);
	prof_fail(error, PROF_E_FORMAT, "the file is not a pprof profile, or "
	    "is damaged");
	return (prof_cure(error, "write the profile again with pprof -proto"));
}

static void
table_fini(struct pprof_table *table)
{
	prof_map_free(&table->pb_ids);
	free(table->pb_part);
}

void
prof_pprof_fini(struct pprof_file *file)
{
	table_fini(&file->pf_strings);
	table_fini(&file->pf_mappings);
	table_fini(&file->pf_functions);
	table_fini(&file->pf_locations);
}

/* ------------------------------------------------------------ samples */

int
prof_pprof_line(struct pprof_text *rest, uint64_t *function)
{
	uint64_t value[LINE_FUNCTION + 1];
	struct field field;

	while (next_field(rest, &field) == 1) {
		if (field.fd_number != LOCATION_LINE || !field.fd_is_bytes ||
		    take_numbers(field.fd_bytes, value, LINE_FUNCTION + 1) ==
		    -1)
			continue;
		*function = value[LINE_FUNCTION];
		return (1);
	}
	return (0);
}

static int
add_number(struct pprof_sample *sample, unsigned number, uint64_t value)
{
	uint64_t *slot;

	if (number == SAMPLE_VALUE && sample->ps_nvalues < PPROF_TYPES)
		sample->ps_value[sample->ps_nvalues++] = (int64_t)value;
	if (number != SAMPLE_LOCATION)
		return (0);
	slot = prof_grow((void **)&sample->ps_location,
	    &sample->ps_nlocations, &sample->ps_cap, sizeof(*slot));
	if (slot == NULL)
		return (-1);
	*slot = value;
	return (0);
}

/* Numbers stand alone, or many in one field. */
static int
take_sample(struct pprof_sample *sample, struct pprof_text message)
{
	struct field field;
	struct cursor cu;
	int rv = 0;

	sample->ps_nlocations = sample->ps_nvalues = 0;
	while (rv == 0 && next_field(&message, &field) == 1) {
		if (!field.fd_is_bytes) {
			rv = add_number(sample, field.fd_number,
			    field.fd_value);
			continue;
		}
		if (field.fd_number > SAMPLE_VALUE)
			continue;
		cu = (struct cursor){ field.fd_bytes.pt_at,
		    field.fd_bytes.pt_at + field.fd_bytes.pt_length, false };
		while (rv == 0 && cu.cu_at < cu.cu_end)
			rv = add_number(sample, field.fd_number,
			    cursor_uleb(&cu));
	}
	return (rv);
}

int
prof_pprof_sample(struct pprof_text *rest, struct pprof_sample *sample)
{
	struct field field;

	while (next_field(rest, &field) == 1)
		if (field.fd_number == PROFILE_SAMPLE && field.fd_is_bytes)
			return (take_sample(sample, field.fd_bytes) == -1 ?
			    -1 : 1);
	return (0);
}

/* -------------------------------------------------------------- gzip */

int
prof_pprof_inflate(struct prof_import *import, struct prof_buf *out)
{
	z_stream zs = { .next_in = (uint8_t *)(uintptr_t)import->im_bytes,
	    .avail_in = (uInt)(import->im_length < UINT32_MAX ?
	    import->im_length : UINT32_MAX) };
	int rv = inflateInit2(&zs, 16 + MAX_WBITS);

	if (rv != Z_OK)
		return (prof_fail_nomem(&import->im_error));
	while (rv == Z_OK && out->bf_len < MAX_BYTES) {
		uint8_t *room = prof_buf_room(out, 1 << 20);

		if (room == NULL)
			break;
		zs.next_out = room;
		zs.avail_out = 1 << 20;
		rv = inflate(&zs, Z_NO_FLUSH);
		out->bf_len += (1 << 20) - zs.avail_out;
	}
	inflateEnd(&zs);
	if (rv == Z_STREAM_END)
		return (0);
	prof_fail(&import->im_error, PROF_E_FORMAT, out->bf_len >= MAX_BYTES ?
	    "the file is larger than %u bytes when decompressed" :
	    "the gzip data is truncated or damaged, or has more than %u bytes",
	    MAX_BYTES);
	return (prof_cure(&import->im_error, "fetch the file again"));
}
