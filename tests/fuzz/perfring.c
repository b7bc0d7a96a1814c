/*
 * ASSERTION: Whatever bytes stand in perf rings, nothing is read outside of
 * them, no record points outside of itself, and the drain takes them all.
 *
 * Input: one byte of flags (1: period in samples, 2: call chains, 4: two
 * rings, 8: owners are checked), one byte that says where in the ring the
 * records begin, and the records.  Whatever comes out must lie within what
 * went in; the sanitizers watch.  The path of a mapping is cut, so that no
 * file is looked for.
 */
/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "backend/perf/rings_impl.h"

#define RING_BYTES	8192

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Read all that a record points to. */
static int
touch(void *arg, const struct prof_record *record)
{
	uint64_t *sum = arg;
	uint32_t n;

	*sum += strlen(record->pr_comm);
	if (record->pr_path != NULL)
		*sum += strlen(record->pr_path);
	for (n = 0; n < record->pr_nuser; n++)
		*sum += record->pr_user[n];
	for (n = 0; n < record->pr_nkernel; n++)
		*sum += record->pr_kernel[n];
	if (record->pr_build_id_len > 20 ||
	    record->pr_ustatus >= PROF_STACK_NSTATUS ||
	    record->pr_kstatus >= PROF_STACK_NSTATUS)
		abort();
	return (0);
}

static void
touch_stack(uint64_t *sum, const struct prof_snapshot *snapshot)
{
	size_t n;

	for (n = 0; n < snapshot->sn_bytes; n++)
		*sum += snapshot->sn_stack[n];
}

/* Each record alone, in memory that ends where it ends. */
static void
parse_each(const uint8_t *bytes, size_t len,
    const struct prof_ring_layout *layout)
{
	struct prof_record record;
	struct prof_snapshot snapshot;
	struct ring_switch to;
	struct ring_head head;
	uint64_t sum = 0;
	uint8_t *copy;

	while (prof_ring_head(bytes, len, &head)) {
		copy = malloc(head.rh_size);
		if (copy == NULL)
			return;
		memcpy(copy, bytes, head.rh_size);
		if (prof_ring_parse(copy, head.rh_size, layout, &record) == 1)
			touch(&sum, &record);
		if (prof_ring_switch(copy, &head, &to))
			sum += to.rw_tid + to.rw_pid + to.rw_cpu;
		if (head.rh_type == PERF_RECORD_SAMPLE &&
		    prof_ring_snapshot(copy, head.rh_size, layout, &snapshot))
			touch_stack(&sum, &snapshot);
		free(copy);
		bytes += head.rh_size;
		len -= head.rh_size;
	}
}

/* No file is opened for a mapping: not the file system is fuzzed. */
static void
cut_paths(uint8_t *bytes, size_t len)
{
	struct ring_head head;

	while (prof_ring_head(bytes, len, &head)) {
		if (head.rh_type == PERF_RECORD_MMAP2 && head.rh_size > 80)
			bytes[72] = '[';
		bytes += head.rh_size;
		len -= head.rh_size;
	}
}

static void
drain(const uint8_t *bytes, size_t len, uint8_t flags, uint8_t offset,
    const struct prof_ring_layout *layout)
{
	static uint64_t data[2][RING_BYTES / 8], scratch[8192];
	struct perf_event_mmap_page control[2] = { { 0 } };
	struct ring ring[2] = { { 0 } };
	struct ring_event event = { .re_layout = *layout };
	struct ring_fd fd = { .rf_id = 7 };
	struct ring_task task = { .rt_tid = 9 };
	struct prof_rings rings = { .rs_ring = ring,
	    .rs_nrings = (flags & 4) ? 2 : 1, .rs_fd = &fd, .rs_nfds = 1,
	    .rs_event = &event, .rs_nevents = 1, .rs_task = &task,
	    .rs_ntasks = 1, .rs_at_cap = 1, .rs_scratch = scratch };
	uint64_t sum = 0, start = (uint64_t)offset * 8 + RING_BYTES - 1024;
	size_t i, n;

	rings.rs_at = calloc(1, sizeof(*rings.rs_at));
	rings.rs_ids = prof_build_ids_new();
	rings.rs_doubles = (flags & 8) != 0 &&
	    prof_ring_owners_init(&rings) == 0;
	for (i = 0; i < rings.rs_nrings; i++) {
		ring[i].rg_control = &control[i];
		ring[i].rg_data = (uint8_t *)data[i];
		ring[i].rg_bytes = RING_BYTES;
		ring[i].rg_seen = ring[i].rg_tail = start;
		for (n = 0; n < len; n++)
			ring[i].rg_data[(start + n) % RING_BYTES] = bytes[n];
		control[i].data_tail = start;
		control[i].data_head = start + len;
	}
	prof_rings_look(&rings, 0);
	(void)prof_rings_drain(&rings, 1 << 20, touch, &sum);
	(void)prof_rings_drain(&rings, UINT64_MAX, touch, &sum);
	for (i = 0; i < rings.rs_nrings; i++)
		if (control[i].data_tail != control[i].data_head)
			abort();
	prof_build_ids_free(rings.rs_ids);
	free(rings.rs_owner);
	free(rings.rs_at);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct prof_ring_layout layout = { .ly_event = 1, .ly_period = 1,
	    .ly_max_stack = 127 };
	uint8_t *bytes;

	if (len < 2 || len - 2 > RING_BYTES)
		return (0);
	layout.ly_has_period = (input[0] & 1) != 0;
	layout.ly_has_chain = (input[0] & 2) != 0;
	/* The kernel moves head by whole multiples of 8. */
	len = (len - 2) & ~(size_t)7;
	bytes = malloc(len + 1);
	if (bytes == NULL)
		return (0);
	memcpy(bytes, input + 2, len);
	parse_each(bytes, len, &layout);
	cut_paths(bytes, len);
	drain(bytes, len, input[0], input[1], &layout);
	free(bytes);
	return (0);
}
