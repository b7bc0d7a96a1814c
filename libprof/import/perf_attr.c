/* SPDX-License-Identifier: ISC */
/*
 * The events of a perf.data file, and which of them a record belongs to: by
 * an id, which stands first in samples and last in other records, or where
 * the event says.  Fields are in the order of PERF_SAMPLE_*, as
 * perf_event_open(2) describes them.
 */
#include <linux/perf_event.h>

#include <stdlib.h>
#include <string.h>

#include "os/procfs.h"
#include "perfdata.h"
#include "profile/profile_impl.h"

#define MAX_NAME	4096
#define HEAD		sizeof(struct perf_event_header)

/* ---------------------------------------------------------- collecting */

int
perf_attr_add(struct perf_data *data, struct cursor attr, struct cursor ids)
{
	struct perf_attr *slot;
	struct perf_id *id;
	size_t size = (size_t)(attr.cu_end - attr.cu_at);

	slot = prof_grow((void **)&data->pd_attr, &data->pd_nattrs,
	    &data->pd_cap_attrs, sizeof(*slot));
	if (slot == NULL)
		return (prof_fail_nomem(&data->pd_import->im_error));
	memset(slot, 0, sizeof(*slot));
	memcpy(&slot->pa_attr, attr.cu_at, size < sizeof(slot->pa_attr) ?
	    size : sizeof(slot->pa_attr));
	data->pd_asked_ids |= slot->pa_attr.build_id;
	/* Each id is one counter, of a CPU or a thread. */
	slot->pa_sum.pa_instances = (uint64_t)(ids.cu_end - ids.cu_at) / 8;
	while (ids.cu_end - ids.cu_at >= 8) {
		/* Each takes 8 bytes, unless events claim the same ones. */
		if (data->pd_nids >= data->pd_import->im_length / 8)
			return (prof_fail(&data->pd_import->im_error,
			    PROF_E_DAMAGED, "perf.data: the file claims more "
			    "event ids than its size allows"));
		id = prof_grow((void **)&data->pd_id, &data->pd_nids,
		    &data->pd_cap_ids, sizeof(*id));
		if (id == NULL)
			return (prof_fail_nomem(&data->pd_import->im_error));
		id->pi_id = cursor_fixed(&ids, 8);
		id->pi_attr = (uint32_t)(data->pd_nattrs - 1);
	}
	return (0);
}

static int
id_compare(const void *a, const void *b)
{
	const struct perf_id *ia = a, *ib = b;

	return (ia->pi_id < ib->pi_id ? -1 : ia->pi_id > ib->pi_id);
}

static struct perf_attr *
attr_by_id(struct perf_data *data, uint64_t id)
{
	const struct perf_id key = { .pi_id = id }, *found;

	if (id == 0)
		return (NULL);
	if (id != data->pd_last_id) {
		found = data->pd_nids == 0 ? NULL : bsearch(&key, data->pd_id,
		    data->pd_nids, sizeof(*data->pd_id), id_compare);
		if (found == NULL)
			return (NULL);
		data->pd_last_id = id;
		data->pd_last_attr = found->pi_attr;
	}
	return (&data->pd_attr[data->pd_last_attr]);
}

void
perf_attr_call(struct perf_attr *attr, const char *name)
{
	free(attr->pa_name);
	attr->pa_name = strndup(name, MAX_NAME);
}

int
perf_attr_name(struct perf_data *data, uint64_t id, const char *name)
{
	struct perf_name *slot = prof_grow((void **)&data->pd_name,
	    &data->pd_nnames, &data->pd_cap_names, sizeof(*slot));

	if (slot == NULL)
		return (prof_fail_nomem(&data->pd_import->im_error));
	*slot = (struct perf_name){ id, name };
	return (0);
}

void
perf_attr_sort(struct perf_data *data)
{
	struct perf_attr *attr;

	if (data->pd_nids > 1)
		qsort(data->pd_id, data->pd_nids, sizeof(*data->pd_id),
		    id_compare);
	data->pd_last_id = 0;
	for (size_t n = 0; n < data->pd_nnames; n++) {
		attr = attr_by_id(data, data->pd_name[n].pn_id);
		if (attr != NULL)
			perf_attr_call(attr, data->pd_name[n].pn_name);
	}
}

/* ------------------------------------------------------ where things are */

/* How many of some parts a record has. */
static size_t
attrs_count(const struct perf_attr *attr, uint64_t parts)
{
	return ((size_t)__builtin_popcountll(attr->pa_attr.sample_type &
	    parts));
}

#define IN_TRAILER	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
    PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
    PERF_SAMPLE_IDENTIFIER)

size_t
perf_attr_trailer(const struct perf_attr *attr)
{
	return (attr->pa_attr.sample_id_all ? 8 * attrs_count(attr,
	    IN_TRAILER) : 0);
}

/* A number so many bytes from the begin, or 0. */
static uint64_t
number_at(const struct perf_record *record, size_t at)
{
	uint64_t value;

	if (record->pc_size < 8 || at > record->pc_size - 8)
		return (0);
	memcpy(&value, record->pc_bytes + at, sizeof(value));
	return (value);
}

/* Where the trailer ends: where the record does, but of a symbol. */
static size_t
end_of(const struct perf_attr *attr, const struct perf_record *record)
{
	size_t end;

	if (record->pc_type != PERF_RECORD_KSYMBOL)
		return (record->pc_size);
	end = prof_ksymbol_body(record->pc_bytes, record->pc_size) +
	    perf_attr_trailer(attr);
	return (end < record->pc_size ? end : record->pc_size);
}

static uint64_t
number_before_end(const struct perf_attr *attr,
    const struct perf_record *record, size_t before)
{
	const size_t end = end_of(attr, record);

	return (before == 0 || before > end - HEAD ? 0 :
	    number_at(record, end - before));
}

static uint64_t
id_of(const struct perf_attr *attr, const struct perf_record *record)
{
	const uint64_t type = attr->pa_attr.sample_type;
	const bool is_sample = record->pc_type == PERF_RECORD_SAMPLE;

	if (!is_sample && !attr->pa_attr.sample_id_all)
		return (0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		return (is_sample ? number_at(record, HEAD) :
		    number_before_end(attr, record, 8));
	if (!(type & PERF_SAMPLE_ID))
		return (0);
	return (is_sample ? number_at(record, HEAD + 8 * attrs_count(attr,
	    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	    PERF_SAMPLE_ADDR)) : number_before_end(attr, record, 8 * (1 +
	    attrs_count(attr, PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU))));
}

struct perf_attr *
perf_attr_of(struct perf_data *data, const struct perf_record *record)
{
	struct perf_attr *first = data->pd_attr, *attr;
	uint64_t id;

	if (data->pd_nattrs == 0)
		return (NULL);
	if (data->pd_nattrs == 1)
		return (first);
	id = id_of(first, record);
	attr = attr_by_id(data, id);
	/* What perf itself makes up has id 0; so have records without ids. */
	return (attr == NULL && (id == 0 ||
	    record->pc_type != PERF_RECORD_SAMPLE) ? first : attr);
}

uint64_t
perf_attr_time(const struct perf_attr *attr, const struct perf_record *record)
{
	if (!(attr->pa_attr.sample_type & PERF_SAMPLE_TIME))
		return (0);
	if (record->pc_type == PERF_RECORD_SAMPLE)
		return (number_at(record, HEAD + 8 * attrs_count(attr,
		    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
		    PERF_SAMPLE_TID)));
	if (!attr->pa_attr.sample_id_all)
		return (0);
	return (number_before_end(attr, record, 8 * (1 + attrs_count(attr,
	    PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
	    PERF_SAMPLE_IDENTIFIER))));
}

uint32_t
perf_attr_cpu(const struct perf_attr *attr, const struct perf_record *record)
{
	if (!attr->pa_attr.sample_id_all ||
	    !(attr->pa_attr.sample_type & PERF_SAMPLE_CPU))
		return (0);
	return ((uint32_t)number_before_end(attr, record, 8 * (1 +
	    attrs_count(attr, PERF_SAMPLE_IDENTIFIER))));
}

/* ---------------------------------------------------------- describing */

static const char *const hardware_names[] = {
	"cycles", "instructions", "cache-references", "cache-misses",
	"branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend",
	"stalled-cycles-backend", "ref-cycles"
};
static const char *const software_names[] = {
	"cpu-clock", "task-clock", "page-faults", "context-switches",
	"cpu-migrations", "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy", "bpf-output", "cgroup-switches"
};

/* Where the file does not give a name. */
static char *
name_of(const struct perf_event_attr *attr)
{
	const uint64_t config = attr->config;
	char *name;

	if (attr->type == PERF_TYPE_HARDWARE && config <
	    sizeof(hardware_names) / sizeof(hardware_names[0]))
		return (strdup(hardware_names[config]));
	if (attr->type == PERF_TYPE_SOFTWARE && config <
	    sizeof(software_names) / sizeof(software_names[0]))
		return (strdup(software_names[config]));
	if (asprintf(&name, "%s%u:0x%llx",
	    attr->type == PERF_TYPE_TRACEPOINT ? "tracepoint" : "type",
	    attr->type, (unsigned long long)config) == -1)
		return (NULL);
	return (name);
}

/* "sched:sched_switch" is static:sched::sched_switch here. */
static char *
probe_of(const struct perf_event_attr *attr, const char *name)
{
	const char *colon = strchr(name, ':');
	char *probe;
	int n;

	if (attr->type == PERF_TYPE_TRACEPOINT && colon != NULL)
		n = asprintf(&probe, "static:%.*s::%s", (int)(colon - name),
		    name, colon + 1);
	else
		n = asprintf(&probe, "pmc:::%s", name);
	return (n == -1 ? NULL : probe);
}

static bool
is_clock(const struct perf_event_attr *attr)
{
	return (attr->type == PERF_TYPE_SOFTWARE &&
	    (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
	    attr->config == PERF_COUNT_SW_TASK_CLOCK));
}

static int
event_describe(struct perf_data *data, struct perf_attr *attr)
{
	const struct perf_event_attr *pe = &attr->pa_attr;
	struct prof_event_info info = { 0 };
	char *probe = NULL;
	int rv = -1;

	if (attr->pa_name == NULL)
		attr->pa_name = name_of(pe);
	if (attr->pa_name != NULL)
		probe = probe_of(pe, attr->pa_name);
	info.pi_name = attr->pa_name;
	info.pi_probe = probe;
	info.pi_provider = pe->type == PERF_TYPE_TRACEPOINT ? "static" :
	    "pmc";
	info.pi_unit = is_clock(pe) ? "ns" : "events";
	info.pi_period = pe->freq ? 0 : pe->sample_period;
	info.pi_frequency_hz = pe->freq ? pe->sample_freq : 0;
	info.pi_parts = DTP_P_WEIGHT | (pe->sample_type &
	    PERF_SAMPLE_CALLCHAIN ? DTP_P_KSTACK | DTP_P_USTACK : DTP_P_IP);
	rv = probe == NULL ? prof_fail_nomem(&data->pd_import->im_error) :
	    prof_import_event(data->pd_import, &info);
	free(probe);
	return (rv);
}

int
perf_attr_describe(struct perf_data *data)
{
	const struct prof_event_info proc = {
		.pi_name = "proc", .pi_probe = "proc:::", .pi_provider = "proc",
		.pi_unit = "events", .pi_period = 1
	};
	size_t n;

	if (prof_import_event(data->pd_import, &proc) == -1)
		return (-1);
	for (n = 0; n < data->pd_nattrs; n++)
		if (event_describe(data, &data->pd_attr[n]) == -1)
			return (-1);
	return (0);
}
