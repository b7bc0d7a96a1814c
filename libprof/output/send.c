/* SPDX-License-Identifier: ISC */
/*
 * Requests that have a profile in them, and answers of OpenTelemetry's
 * receivers, which may hold anything.  Called by dtprof push.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flame.h"
#include "recording/format.h"
#include "send.h"

/* Labels have names of letters, digits and underscores there. */
static void
put_name(struct prof_buf *out, const char *key)
{
	char name[65];
	size_t n = 0;

	for (; n < sizeof(name) - 1 && key[n] != '\0'; n++)
		name[n] = (key[n] >= 'a' && key[n] <= 'z') ||
		    (key[n] >= 'A' && key[n] <= 'Z') || key[n] == '_' ||
		    (n > 0 && key[n] >= '0' && key[n] <= '9') ? key[n] : '_';
	name[n] = '\0';
	prof_put_json(out, name);
}

static void
put_labels(struct prof_buf *out, const char *const *labels)
{
	prof_put_str(out, "[");
	for (size_t n = 0; labels[n] != NULL; n += 2) {
		prof_put_str(out, n > 0 ? ",{\"name\":" : "{\"name\":");
		put_name(out, labels[n]);
		prof_put_str(out, ",\"value\":");
		prof_put_json(out, labels[n + 1]);
		prof_put_str(out, "}");
	}
	prof_put_str(out, "]");
}

char *
prof_send_series(bool is_parca, const char *const *labels,
    const void *profile, size_t bytes, size_t *length)
{
	struct prof_buf out = { 0 };

	prof_put_str(&out, "{\"series\":[{\"labels\":");
	prof_put_str(&out, is_parca ? "{\"labels\":" : "");
	put_labels(&out, labels);
	prof_put_str(&out, is_parca ? "}" : "");
	prof_put_str(&out, ",\"samples\":[{\"rawProfile\":\"");
	prof_put_base64(&out, profile, bytes);
	prof_put_str(&out, "\"}]}]}");
	*length = out.bf_len;
	if (!out.bf_failed)
		return ((char *)out.bf_data);
	prof_buf_free(&out);
	return (NULL);
}

/* A field of a message: its number and its value, or its bytes. */
struct field {
	unsigned	 fi_number;
	uint64_t	 fi_value;
	struct prof_cur	 fi_bytes;
	bool		 fi_is_bytes;
};

static bool
field_read(struct prof_cur *cur, struct field *field)
{
	const uint64_t tag = prof_cur_varint(cur);

	*field = (struct field){ .fi_number = (unsigned)(tag >> 3) };
	switch (tag & 7) {
	case 0:
		field->fi_value = prof_cur_varint(cur);
		break;
	case 1:
		(void)prof_cur_take(cur, 8);
		break;
	case 2:
		field->fi_bytes = prof_cur_take(cur, prof_cur_varint(cur));
		field->fi_is_bytes = true;
		break;
	case 5:
		(void)prof_cur_take(cur, 4);
		break;
	default:
		return (false);
	}
	return (!cur->cu_bad && !field->fi_bytes.cu_bad &&
	    field->fi_number != 0);
}

/* ExportProfilesPartialSuccess: rejected_profiles 1, error_message 2 */
static bool
partial_read(struct prof_cur cur, uint64_t *rejected, char *text,
    size_t size)
{
	struct field field;

	while (prof_cur_left(&cur) > 0) {
		if (!field_read(&cur, &field) ||
		    field.fi_is_bytes != (field.fi_number == 2))
			return (false);
		if (field.fi_number == 1)
			*rejected = field.fi_value;
		else if (field.fi_number == 2)
			(void)snprintf(text, size, "%.*s",
			    (int)prof_cur_left(&field.fi_bytes),
			    (const char *)field.fi_bytes.cu_at);
	}
	return (*rejected <= INT64_MAX);
}

/* ExportProfilesServiceResponse: partial_success 1 */
int
prof_send_rejected(const void *answer, size_t length, uint64_t *rejected,
    char *text, size_t size)
{
	struct prof_cur cur = prof_cur_of(answer, length);
	struct field field;

	*rejected = 0;
	text[0] = '\0';
	while (prof_cur_left(&cur) > 0)
		if (!field_read(&cur, &field) || (field.fi_number == 1 &&
		    (!field.fi_is_bytes || !partial_read(field.fi_bytes,
		    rejected, text, size)))) {
			*rejected = 0;
			text[0] = '\0';
			return (-1);
		}
	return (0);
}
