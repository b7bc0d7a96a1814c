/* SPDX-License-Identifier: ISC */
/*
 * What a perf.data file says of itself: names of events, build-ids, machine,
 * command.  In a file these are sections behind the records; in a pipe they
 * come as records, with the same bodies.
 */
#include <sys/utsname.h>

#include <stdlib.h>
#include <string.h>

#include "perfdata.h"
#include "profile/profile_impl.h"

enum {
	FEATURE_BUILD_ID = 2, FEATURE_HOSTNAME, FEATURE_OSRELEASE,
	FEATURE_VERSION, FEATURE_ARCH, FEATURE_NRCPUS, FEATURE_CPUDESC,
	FEATURE_CMDLINE = 11, FEATURE_EVENT_DESC
};

#define MISC_BUILD_ID_SIZE	(1u << 15)
#define MAX_WORDS		4096

/* u32 length, with padding, and the text; NULL: it is not there. */
static const char *
take_string(struct cursor *cu)
{
	uint64_t length = cursor_fixed(cu, 4);
	const char *text = (const char *)cu->cu_at;

	cursor_skip(cu, length);
	if (cu->cu_over || length == 0 ||
	    memchr(text, '\0', length) == NULL)
		return (NULL);
	return (text);
}

/* copy: also kept there, whole or not at all; may be NULL. */
static int
say_string(struct perf_data *data, const char *key, struct cursor *body,
    char *copy, size_t size)
{
	const char *text = take_string(body);

	if (text == NULL)
		return (0);
	if (copy != NULL && strlen(text) < size)
		memcpy(copy, text, strlen(text) + 1);
	return (prof_import_info(data->pd_import, key, text));
}

static int
take_cpus(struct perf_data *data, struct cursor *body)
{
	char text[32];

	(void)cursor_fixed(body, 4);	/* those that there may be */
	(void)snprintf(text, sizeof(text), "%llu",
	    (unsigned long long)cursor_fixed(body, 4));
	return (body->cu_over ? 0 :
	    prof_import_info(data->pd_import, "machine.cpus", text));
}

/* Stacks can only be walked on a machine with the same registers. */
static int
take_arch(struct perf_data *data, struct cursor *body)
{
	const char *arch = take_string(body);
	struct utsname here;

	if (arch == NULL)
		return (0);
	data->pd_foreign = uname(&here) == -1 ||
	    strcmp(here.machine, arch) != 0;
	return (prof_import_info(data->pd_import, "machine.arch", arch));
}

/* perf's own command line; what it ran stands behind "--" at most. */
static int
take_command(struct perf_data *data, struct cursor *body)
{
	uint64_t n = cursor_fixed(body, 4), i;
	struct prof_buf line = { 0 };
	const char *word;
	int rv = 0;

	for (i = 0; i < n && i < MAX_WORDS; i++) {
		word = take_string(body);
		if (word == NULL)
			break;
		prof_buf_bytes(&line, " ", i > 0);
		prof_buf_bytes(&line, word, strlen(word));
	}
	prof_buf_bytes(&line, "", 1);
	if (!line.bf_failed)
		rv = prof_import_info(data->pd_import, "command",
		    (const char *)line.bf_data);
	prof_buf_free(&line);
	return (rv);
}

/* In the order of the events; one that is alone may have no id to find it. */
static int
take_events(struct perf_data *data, struct cursor *body)
{
	uint64_t n = cursor_fixed(body, 4), size = cursor_fixed(body, 4);
	uint64_t ids, i;
	const char *name;

	for (i = 0; i < n && !body->cu_over; i++) {
		cursor_skip(body, size);
		ids = cursor_fixed(body, 4);
		name = take_string(body);
		if (name == NULL)
			break;
		if (ids > 0 &&
		    perf_attr_name(data, cursor_fixed(body, 8), name) == -1)
			return (-1);
		if (ids == 0 && i < data->pd_nattrs)
			perf_attr_call(&data->pd_attr[i], name);
		cursor_skip(body, ids > 0 ? (ids - 1) * 8 : 0);
	}
	return (0);
}

/* ---------------------------------------------------------- build-ids */

int
perf_build_id_add(struct perf_data *data, const struct perf_record *record)
{
	struct cursor cu = perf_cursor(record, 0);
	struct perf_build_id *entry, new = { .pb_len = 20 };
	const uint8_t *id;

	(void)cursor_fixed(&cu, 4);	/* whose it is */
	id = cu.cu_at;
	cursor_skip(&cu, 24);
	new.pb_path = perf_text(&cu);
	if (cu.cu_over)
		return (0);
	if (record->pc_misc & MISC_BUILD_ID_SIZE)
		new.pb_len = id[20];
	if (new.pb_len > sizeof(new.pb_id))
		return (0);
	memcpy(new.pb_id, id, new.pb_len);
	entry = prof_grow((void **)&data->pd_build_id, &data->pd_nbuild_ids,
	    &data->pd_cap_build_ids, sizeof(*entry));
	if (entry == NULL)
		return (prof_fail_nomem(&data->pd_import->im_error));
	*entry = new;
	return (0);
}

/* Mappings ask, of which there may be many; so they are sorted first. */
static int
path_compare(const void *a, const void *b)
{
	const struct perf_build_id *ba = a, *bb = b;

	return (strcmp(ba->pb_path, bb->pb_path));
}

const struct perf_build_id *
perf_build_id_find(const struct perf_data *data, const char *path)
{
	const struct perf_build_id key = { .pb_path = path };

	return (data->pd_nbuild_ids == 0 ? NULL : bsearch(&key,
	    data->pd_build_id, data->pd_nbuild_ids, sizeof(key),
	    path_compare));
}

/* Headers with a length each, as records have. */
static int
take_build_ids(struct perf_data *data, struct cursor *body)
{
	struct perf_event_header head;
	struct perf_record record;
	size_t left;

	while ((left = (size_t)(body->cu_end - body->cu_at)) >=
	    sizeof(head)) {
		memcpy(&head, body->cu_at, sizeof(head));
		if (head.size < sizeof(head) || head.size > left)
			break;
		record.pc_type = head.type;
		record.pc_misc = head.misc;
		record.pc_size = head.size;
		record.pc_bytes = body->cu_at;
		if (perf_build_id_add(data, &record) == -1)
			return (-1);
		cursor_skip(body, head.size);
	}
	return (0);
}

/* ------------------------------------------------------------ features */

int
perf_feature(struct perf_data *data, uint64_t feature, struct cursor body)
{
	switch (feature) {
	case FEATURE_BUILD_ID:
		return (take_build_ids(data, &body));
	case FEATURE_HOSTNAME:
		return (say_string(data, "machine.host", &body,
		    data->pd_host, sizeof(data->pd_host)));
	case FEATURE_OSRELEASE:
		return (say_string(data, "machine.kernel", &body,
		    data->pd_release, sizeof(data->pd_release)));
	case FEATURE_VERSION:
		return (say_string(data, "import.version", &body, NULL, 0));
	case FEATURE_ARCH:
		return (take_arch(data, &body));
	case FEATURE_NRCPUS:
		return (take_cpus(data, &body));
	case FEATURE_CPUDESC:
		return (say_string(data, "machine.cpu_model", &body, NULL,
		    0));
	case FEATURE_CMDLINE:
		return (take_command(data, &body));
	case FEATURE_EVENT_DESC:
		return (take_events(data, &body));
	}
	return (0);
}

int
perf_features(struct perf_data *data, uint64_t at, const uint64_t bits[4])
{
	const struct prof_import *import = data->pd_import;
	struct cursor table, body;
	uint64_t offset, size;
	unsigned feature;

	if (at > import->im_length)
		return (0);
	table.cu_at = import->im_bytes + at;
	table.cu_end = import->im_bytes + import->im_length;
	table.cu_over = false;
	for (feature = 0; feature < 256; feature++) {
		if (!(bits[feature / 64] >> feature % 64 & 1))
			continue;
		offset = cursor_fixed(&table, 8);
		size = cursor_fixed(&table, 8);
		if (table.cu_over || offset > import->im_length ||
		    size > import->im_length - offset)
			break;
		body.cu_at = import->im_bytes + offset;
		body.cu_end = body.cu_at + size;
		body.cu_over = false;
		if (perf_feature(data, feature, body) == -1)
			return (-1);
	}
	return (0);
}

void
perf_build_id_sort(struct perf_data *data)
{
	if (data->pd_nbuild_ids > 1)
		qsort(data->pd_build_id, data->pd_nbuild_ids,
		    sizeof(*data->pd_build_id), path_compare);
}
