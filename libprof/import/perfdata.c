/* SPDX-License-Identifier: ISC */
/*
 * From a perf.data file to a recording:
 *
 *	header, events		perf_attr.c
 *	features		perf_feature.c
 *	what is compressed	one zstd stream through all its records
 *	places, by time		the file has CPU after CPU
 *	records			perf_record.c
 *	files, the kernel	perf_files.c, perf_kernel.c
 *
 * A file and a pipe differ in where events and features stand, and in
 * nothing else.  perf's own clock is kept: times are only compared.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "perfdata.h"
#include "process/processes.h"
#include "profile/profile_impl.h"
#include "recording/accounting.h"

#define MAGIC		"PERFILE2"
#define MAGIC_SWAPPED	"2ELIFREP"
#define MAGIC_LEN	8
#define HEADER_PIPE	16
#define HEADER_FILE	104
#define AT_INFLATED	(1ULL << 63)	/* pl_at is in pd_inflated */
/* What is compressed may become so large, and no larger. */
#define INFLATE_FIRST	(64u << 20)
#define INFLATE_PER_BYTE 128

/* A record seen on the way; -1 ends it. */
typedef int record_fn(struct perf_data *data,
	    const struct perf_record *record, uint64_t at);

static int
file_damaged(struct perf_data *data, const char *what)
{
	return (prof_fail(&data->pd_import->im_error, PROF_E_DAMAGED,
	    "perf.data: %s", what));
}

bool
prof_import_is_perf(const uint8_t *bytes, size_t length)
{
	return (length >= MAGIC_LEN &&
	    (memcmp(bytes, MAGIC, MAGIC_LEN) == 0 ||
	    memcmp(bytes, MAGIC_SWAPPED, MAGIC_LEN) == 0));
}

/* ------------------------------------------------------------- walking */

static bool
record_at(const uint8_t *bytes, size_t length, size_t at,
    struct perf_record *record)
{
	struct perf_event_header head;

	if (length - at < sizeof(head))
		return (false);
	memcpy(&head, bytes + at, sizeof(head));
	if (head.size < sizeof(head) || head.size > length - at)
		return (false);
	record->pc_type = head.type;
	record->pc_misc = head.misc;
	record->pc_size = head.size;
	record->pc_bytes = bytes + at;
	return (true);
}

/* Bytes that follow a record without being one. */
static uint64_t
payload_of(const struct perf_record *record)
{
	struct cursor cu = perf_cursor(record, 0);

	if (record->pc_type == PERF_AUXTRACE)
		return (cursor_fixed(&cu, 8));
	return (record->pc_type == PERF_TRACING_DATA ? cursor_fixed(&cu, 4) :
	    0);
}

/* 1: to the end, 0: what follows is no record, -1: failed. */
static int
records_walk(struct perf_data *data, const uint8_t *bytes, size_t begin,
    size_t end, uint64_t mark, record_fn *fn)
{
	struct perf_record record;
	uint64_t payload;
	size_t at = begin;

	while (at < end) {
		if (!record_at(bytes, end, at, &record))
			return (0);
		if (fn(data, &record, at | mark) == -1)
			return (-1);
		at += record.pc_size;
		payload = payload_of(&record);
		if (payload > end - at)
			return (0);
		at += payload;
	}
	return (1);
}

/* ----------------------------------------------------- what comes first */

/* Events and features of a pipe. */
static int
take_header(struct perf_data *data, const struct perf_record *record,
    uint64_t at)
{
	struct cursor cu = perf_cursor(record, 0), ids;
	uint64_t size, feature;

	(void)at;
	switch (record->pc_type) {
	case PERF_HEADER_ATTR:
		ids = cu;
		cursor_skip(&ids, 4);
		size = cursor_fixed(&ids, 4);
		ids = cu;
		cursor_skip(&ids, size);
		if (ids.cu_over)
			return (0);
		cu.cu_end = ids.cu_at;
		return (perf_attr_add(data, cu, ids));
	case PERF_EVENT_UPDATE:
		/* 2: a name, and of whom */
		if (cursor_fixed(&cu, 8) == 2) {
			feature = cursor_fixed(&cu, 8);
			if (!cu.cu_over && perf_text(&cu) != NULL)
				return (perf_attr_name(data, feature,
				    (const char *)record->pc_bytes + 24));
		}
		return (0);
	case PERF_BUILD_ID:
		return (perf_build_id_add(data, record));
	case PERF_HEADER_FEATURE:
		feature = cursor_fixed(&cu, 8);
		return (cu.cu_over ? 0 : perf_feature(data, feature, cu));
	}
	return (0);
}

static int
read_attrs(struct perf_data *data, uint64_t entry, uint64_t at, uint64_t size)
{
	const struct prof_import *import = data->pd_import;
	const uint8_t *bytes = import->im_bytes;
	struct cursor attr, section, ids;
	uint64_t offset, length;

	if (entry < 16 + PERF_ATTR_SIZE_VER0 || at > import->im_length ||
	    size > import->im_length - at)
		return (file_damaged(data, "missing events"));
	for (; size >= entry; size -= entry, at += entry) {
		attr = (struct cursor){ bytes + at, bytes + at + entry - 16,
		    false };
		section = (struct cursor){ attr.cu_end, attr.cu_end + 16,
		    false };
		offset = cursor_fixed(&section, 8);
		length = cursor_fixed(&section, 8);
		if (offset > import->im_length ||
		    length > import->im_length - offset)
			return (file_damaged(data, "the ids of an event are "
			    "missing"));
		ids = (struct cursor){ bytes + offset,
		    bytes + offset + length, false };
		if (perf_attr_add(data, attr, ids) == -1)
			return (-1);
	}
	return (0);
}

/* perf fills in the size of the records when it ends. */
static int
read_file_header(struct perf_data *data)
{
	struct prof_import *import = data->pd_import;
	struct cursor cu = { import->im_bytes + 16, import->im_bytes +
	    HEADER_FILE, false };
	uint64_t entry, attrs, nattrs, begin, size, bits[4];
	unsigned n;

	entry = cursor_fixed(&cu, 8);
	attrs = cursor_fixed(&cu, 8);
	nattrs = cursor_fixed(&cu, 8);
	begin = cursor_fixed(&cu, 8);
	size = cursor_fixed(&cu, 8);
	cursor_skip(&cu, 16);
	for (n = 0; n < 4; n++)
		bits[n] = cursor_fixed(&cu, 8);
	if (begin > import->im_length)
		return (file_damaged(data, "missing records"));
	data->pd_begin = begin;
	data->pd_end = import->im_length;
	if (read_attrs(data, entry, attrs, nattrs) == -1)
		return (-1);
	if (size == 0 || size > import->im_length - begin)
		return (prof_import_say(import, "perf was killed, or the file "
		    "was cut: dtprof reads the part that exists"));
	data->pd_end = begin + size;
	return (perf_features(data, data->pd_end, bits));
}

static int
read_header(struct perf_data *data)
{
	struct prof_import *import = data->pd_import;
	uint64_t size = 0;

	if (!prof_import_is_perf(import->im_bytes, import->im_length))
		return (prof_fail(&import->im_error, PROF_E_FORMAT,
		    "not a perf recording"));
	if (memcmp(import->im_bytes, MAGIC, MAGIC_LEN) != 0) {
		prof_fail(&import->im_error, PROF_E_FORMAT, "perf.data is from "
		    "a machine with a different byte order");
		return (prof_cure(&import->im_error,
		    "use perf script -i FILE | dtprof import -"));
	}
	if (import->im_length >= HEADER_PIPE)
		memcpy(&size, import->im_bytes + 8, sizeof(size));
	if (size == HEADER_PIPE) {
		data->pd_begin = HEADER_PIPE;
		data->pd_end = import->im_length;
	} else if (size != HEADER_FILE || import->im_length < HEADER_FILE)
		return (file_damaged(data, "truncated header"));
	else if (read_file_header(data) == -1)
		return (-1);
	/* Also in a file: newer perfs write some of them there. */
	return (records_walk(data, import->im_bytes, data->pd_begin,
	    data->pd_end, 0, take_header) == -1 ? -1 : 0);
}

/* ------------------------------------------------------- decompression */

struct inflating {
	ZSTD_DCtx	*if_zstd;
	size_t		 if_limit;
};

static int
inflate_bytes(struct perf_data *data, struct inflating *inflating,
    struct cursor *cu)
{
	struct prof_buf *buf = &data->pd_inflated;
	ZSTD_inBuffer in = { cu->cu_at, (size_t)(cu->cu_end - cu->cu_at), 0 };
	ZSTD_outBuffer out;
	size_t rv;

	do {
		out.dst = prof_buf_room(buf, ZSTD_DStreamOutSize());
		if (out.dst == NULL)
			return (prof_fail_nomem(&data->pd_import->im_error));
		out.size = ZSTD_DStreamOutSize();
		out.pos = 0;
		rv = ZSTD_decompressStream(inflating->if_zstd, &out, &in);
		if (ZSTD_isError(rv))
			return (file_damaged(data,
			    "the records of the file cannot be decompressed"));
		buf->bf_len += out.pos;
		if (buf->bf_len > inflating->if_limit)
			return (file_damaged(data,
			    "the file claims more data than a file of its size "
			    "can hold"));
	} while (in.pos < in.size || out.pos == out.size);
	return (0);
}

static int
inflate_record(struct perf_data *data, struct inflating *inflating,
    const struct perf_record *record)
{
	struct cursor cu = perf_cursor(record, 0);
	uint64_t size;

	if (record->pc_type != PERF_COMPRESSED &&
	    record->pc_type != PERF_COMPRESSED2)
		return (0);
	if (record->pc_type == PERF_COMPRESSED2) {
		size = cursor_fixed(&cu, 8);
		if (size > (uint64_t)(cu.cu_end - cu.cu_at))
			return (file_damaged(data,
			    "truncated compressed record"));
		cu.cu_end = cu.cu_at + size;
	}
	return (inflate_bytes(data, inflating, &cu));
}

static int
inflate_all(struct perf_data *data)
{
	const struct prof_import *import = data->pd_import;
	struct inflating inflating = { .if_zstd = ZSTD_createDCtx() };
	struct perf_record record;
	size_t at = data->pd_begin;
	int rv = 0;

	if (inflating.if_zstd == NULL)
		return (prof_fail_nomem(&data->pd_import->im_error));
	inflating.if_limit = INFLATE_FIRST;
	if (import->im_length < SIZE_MAX / (2 * INFLATE_PER_BYTE))
		inflating.if_limit += import->im_length * INFLATE_PER_BYTE;
	while (rv == 0 && at < data->pd_end && record_at(import->im_bytes,
	    data->pd_end, at, &record)) {
		rv = inflate_record(data, &inflating, &record);
		at += record.pc_size;
		if (payload_of(&record) > data->pd_end - at)
			break;
		at += payload_of(&record);
	}
	ZSTD_freeDCtx(inflating.if_zstd);
	return (rv);
}

/* --------------------------------------------------------------- order */

static int
take_place(struct perf_data *data, const struct perf_record *record,
    uint64_t at)
{
	const struct perf_attr *attr;
	struct perf_place *place;

	if (record->pc_type >= PERF_HEADER_ATTR)
		return (0);
	attr = perf_attr_of(data, record);
	if (attr == NULL) {
		data->pd_unknown++;
		return (0);
	}
	place = prof_grow((void **)&data->pd_place, &data->pd_nplaces,
	    &data->pd_cap_places, sizeof(*place));
	if (place == NULL)
		return (prof_fail_nomem(&data->pd_import->im_error));
	place->pl_time_ns = perf_attr_time(attr, record);
	place->pl_at = at;
	if (place->pl_time_ns == 0)
		return (0);
	if (data->pd_first_ns == 0 || place->pl_time_ns < data->pd_first_ns)
		data->pd_first_ns = place->pl_time_ns;
	if (place->pl_time_ns > data->pd_last_ns)
		data->pd_last_ns = place->pl_time_ns;
	return (0);
}

static int
place_compare(const void *a, const void *b)
{
	const struct perf_place *pa = a, *pb = b;

	if (pa->pl_time_ns != pb->pl_time_ns)
		return (pa->pl_time_ns < pb->pl_time_ns ? -1 : 1);
	return (pa->pl_at < pb->pl_at ? -1 : pa->pl_at > pb->pl_at);
}

static int
find_places(struct perf_data *data)
{
	const struct prof_import *import = data->pd_import;
	const struct prof_buf *buf = &data->pd_inflated;
	int rv, more = 1;
	size_t n;

	rv = records_walk(data, import->im_bytes, data->pd_begin, data->pd_end,
	    0, take_place);
	if (rv != -1 && buf->bf_len > 0)
		more = records_walk(data, buf->bf_data, 0, buf->bf_len,
		    AT_INFLATED, take_place);
	if (rv == -1 || more == -1)
		return (-1);
	if ((rv == 0 || more == 0) && prof_import_say(data->pd_import,
	    "truncated record") == -1)
		return (-1);
	for (n = 1; n < data->pd_nplaces; n++)
		if (data->pd_place[n].pl_time_ns <
		    data->pd_place[n - 1].pl_time_ns)
			break;
	if (n < data->pd_nplaces)
		qsort(data->pd_place, data->pd_nplaces,
		    sizeof(*data->pd_place), place_compare);
	return (0);
}

static void
record_of(const struct perf_data *data, uint64_t at,
    struct perf_record *record)
{
	if (at & AT_INFLATED)
		(void)record_at(data->pd_inflated.bf_data,
		    data->pd_inflated.bf_len, at & ~AT_INFLATED, record);
	else
		(void)record_at(data->pd_import->im_bytes, data->pd_end, at,
		    record);
}

/* ------------------------------------------------------------- records */

static int
count_sample(struct perf_data *data, struct perf_attr *attr,
    const struct prof_record *record)
{
	struct prof_accounting *sum = &attr->pa_sum;

	sum->pa_stored++;
	sum->pa_kstack[record->pr_kstatus]++;
	sum->pa_ustack[record->pr_ustatus]++;
	return (__builtin_add_overflow(sum->pa_weight, record->pr_weight,
	    &sum->pa_weight) ? file_damaged(data, "the sum of sample weights "
	    "exceeds 64 bits") : 0);
}

static int
take_record(struct perf_data *data, const struct perf_place *place)
{
	struct prof_record record;
	struct perf_record from;
	struct perf_attr *attr;
	int rv;

	record_of(data, place->pl_at, &from);
	attr = perf_attr_of(data, &from);
	rv = perf_record_take(data, attr, &from, &record);
	if (rv != 1) {
		data->pd_malformed += rv == -1;
		return (0);
	}
	if (record.pr_type == PROF_R_MMAP &&
	    perf_files_id(data, &record) == -1)
		return (-1);
	record.pr_time_ns = place->pl_time_ns != 0 ? place->pl_time_ns :
	    data->pd_first_ns;
	if (record.pr_type == PROF_R_SAMPLE) {
		if (data->pd_snapshots != NULL)
			perf_record_unwind(data, attr, &from, &record);
		if (count_sample(data, attr, &record) == -1)
			return (-1);
	} else if (data->pd_snapshots != NULL && prof_snapshots_observe(
	    data->pd_snapshots, &record) == -1)
		return (prof_fail_nomem(&data->pd_import->im_error));
	return (prof_import_add(data->pd_import, &record));
}

static int
add_bound(struct perf_data *data, enum prof_record_type type,
    uint64_t time_ns)
{
	const struct prof_record record = {
		.pr_type = type,
		.pr_time_ns = time_ns,
		.pr_comm = "",
		.pr_path = "",
	};

	return (prof_import_add(data->pd_import, &record));
}

/* Copied stacks need this machine's registers. */
static int
open_snapshots(struct perf_data *data)
{
	size_t n;

	for (n = 0; n < data->pd_nattrs; n++)
		if (data->pd_attr[n].pa_attr.sample_type &
		    PERF_SAMPLE_STACK_USER)
			break;
	if (n == data->pd_nattrs)
		return (0);
	if (data->pd_foreign)
		return (prof_import_say(data->pd_import, "the stack copies are "
		    "from another architecture and were not unwound: use perf "
		    "script -i FILE | dtprof import -"));
	data->pd_snapshots = prof_snapshots_new(PROF_PROCESSES_PERF, false);
	if (data->pd_snapshots == NULL)
		return (prof_fail_nomem(&data->pd_import->im_error));
	prof_snapshots_later(data->pd_snapshots, perf_begin_ns(data));
	return (0);
}

static int
take_records(struct perf_data *data)
{
	size_t n;

	if (open_snapshots(data) == -1 || add_bound(data, PROF_R_START,
	    data->pd_first_ns) == -1)
		return (-1);
	for (n = 0; n < data->pd_nplaces; n++)
		if (take_record(data, &data->pd_place[n]) == -1)
			return (-1);
	return (add_bound(data, PROF_R_STOP, data->pd_last_ns));
}

/* ----------------------------------------------------------------- end */

static int
say_losses(struct perf_data *data)
{
	struct prof_import *import = data->pd_import;
	uint64_t lost = 0;

	for (size_t n = 0; n < data->pd_nattrs; n++) {
		struct perf_attr *attr = &data->pd_attr[n];

		if (!data->pd_counts_lost)
			attr->pa_sum.pa_full += attr->pa_ring_lost;
		lost += attr->pa_sum.pa_full;
	}
	if (lost > 0 && prof_import_say(import, "perf lost %llu records%s",
	    (unsigned long long)lost, data->pd_nattrs > 1 &&
	    !data->pd_counts_lost ? " of unknown events; dtprof counts these "
	    "records as lost for the events whose rings were full" :
	    ", which may be mapping events or samples") == -1)
		return (-1);
	if (data->pd_unknown > 0 && prof_import_say(import, "%llu samples have "
	    "an unknown event and were left out",
	    (unsigned long long)data->pd_unknown) == -1)
		return (-1);
	if (data->pd_malformed > 0 && prof_import_say(import, "%llu records "
	    "are damaged and were left out",
	    (unsigned long long)data->pd_malformed) == -1)
		return (-1);
	return (perf_files_say(data));
}

static int
recording_finish(struct perf_data *data)
{
	struct prof_accounting *sums, *sum;
	size_t n;
	int rv;

	if (perf_kernel_say(data) == -1 || say_losses(data) == -1)
		return (-1);
	sums = calloc(data->pd_nattrs + 1, sizeof(*sums));
	if (sums == NULL)
		return (prof_fail_nomem(&data->pd_import->im_error));
	for (n = 0; n < data->pd_nattrs; n++) {
		sum = &sums[n + 1];
		*sum = data->pd_attr[n].pa_sum;
		sum->pa_read = sum->pa_stored;
		sum->pa_lost_ring = sum->pa_full;
		sum->pa_fired = prof_accounting_sum(sum);
	}
	rv = prof_import_accounting(data->pd_import, sums,
	    data->pd_nattrs + 1);
	free(sums);
	return (rv);
}

static void
data_free(struct perf_data *data)
{
	size_t n;

	for (n = 0; n < data->pd_nattrs; n++)
		free(data->pd_attr[n].pa_name);
	free(data->pd_attr);
	free(data->pd_id);
	free(data->pd_name);
	free(data->pd_build_id);
	free(data->pd_place);
	prof_buf_free(&data->pd_inflated);
	prof_snapshots_free(data->pd_snapshots);
	perf_files_fini(data);
	free(data);
}

int
prof_import_perf(struct prof_import *import)
{
	struct perf_data *data = calloc(1, sizeof(*data));
	int rv = -1;

	if (data == NULL)
		return (prof_fail_nomem(&import->im_error));
	data->pd_import = import;
	if (prof_import_info(import, "import", "perf.data") == -1 ||
	    prof_import_info(import, "path", "perf") == -1 ||
	    read_header(data) == -1)
		goto out;
	perf_attr_sort(data);
	perf_build_id_sort(data);
	if (data->pd_nattrs == 0) {
		(void)file_damaged(data, "the file has no events");
		goto out;
	}
	if (inflate_all(data) == 0 && find_places(data) == 0 &&
	    perf_attr_describe(data) == 0 && take_records(data) == 0)
		rv = recording_finish(data);
out:
	data_free(data);
	return (rv);
}
