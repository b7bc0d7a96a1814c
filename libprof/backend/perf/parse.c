/* SPDX-License-Identifier: ISC */
/*
 * Takes apart one record of a perf ring.
 *
 * Every event is opened with the same trailer (RING_TRAILER), so any record
 * but a sample ends with
 *
 *	| pid, tid | time | cpu, 0 | id |
 *
 * (a symbol of the kernel has it behind its name)
 *
 * and a sample begins with
 *
 *	| header | id | ip | pid, tid | time | cpu, 0 | period? | chain? |
 *
 * Called by drain.c, and by the fuzzer with anything at all: no
 * length, count or string in a record is believed.  Nothing is copied but
 * numbers; nothing is read outside of the given bytes.
 */
#include <sys/mman.h>

#include <string.h>

#include "os/procfs.h"
#include "rings_impl.h"

#define TRAILER_SIZE	32
#define SAMPLE_SIZE	48	/* up to the cpu */

static uint32_t	u32_at(const void *, size_t);
static uint64_t	u64_at(const void *, size_t);
static uint16_t	u16_at(const void *, size_t);
static const char *get_text(const void *, size_t, size_t);
static int	parse_sample(const void *, size_t,
		    const struct prof_ring_layout *, struct prof_record *);
static bool	parse_chain(const uint64_t *, uint64_t, uint32_t,
		    struct prof_record *);
static int	parse_mmap(const void *, size_t, struct prof_record *);
static int	parse_comm(const void *, size_t, struct prof_record *);
static int	parse_life(const void *, size_t, struct prof_record *);
static int	parse_ksymbol(const void *, size_t, struct prof_record *);
static int	parse_other(const void *, size_t, struct prof_record *);

static uint16_t
u16_at(const void *bytes, size_t at)
{
	uint16_t value;

	memcpy(&value, (const uint8_t *)bytes + at, sizeof(value));
	return (value);
}

static uint32_t
u32_at(const void *bytes, size_t at)
{
	uint32_t value;

	memcpy(&value, (const uint8_t *)bytes + at, sizeof(value));
	return (value);
}

static uint64_t
u64_at(const void *bytes, size_t at)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)bytes + at, sizeof(value));
	return (value);
}

/* Text from "at" that ends before "end"; NULL: it does not. */
static const char *
get_text(const void *bytes, size_t at, size_t end)
{
	const char *text = (const char *)bytes + at;

	if (at >= end || memchr(text, '\0', end - at) == NULL)
		return (NULL);
	return (text);
}

size_t
prof_ksymbol_body(const void *bytes, size_t size)
{
	const size_t name = 24;

	return (size <= name ? size : name + (strnlen((const char *)bytes +
	    name, size - name) + 8) / 8 * 8);
}

/* Where the trailer begins; 0: nowhere. */
static uint32_t
trailer_at(const void *bytes, uint32_t type, uint32_t size)
{
	size_t at = size - TRAILER_SIZE;

	if (size < sizeof(struct perf_event_header) + TRAILER_SIZE)
		return (0);
	if (type == PERF_RECORD_KSYMBOL)
		at = prof_ksymbol_body(bytes, size);
	return (at + TRAILER_SIZE <= size ? (uint32_t)at : 0);
}

bool
prof_ring_head(const void *bytes, size_t len, struct ring_head *head)
{
	if (len < sizeof(struct perf_event_header))
		return (false);
	head->rh_type = u32_at(bytes, 0);
	head->rh_size = u16_at(bytes, 6);
	head->rh_id = head->rh_time_ns = head->rh_subject = 0;
	head->rh_tid = head->rh_end = 0;
	if (head->rh_size < sizeof(struct perf_event_header) ||
	    head->rh_size % 8 != 0 || head->rh_size > len)
		return (false);
	if (head->rh_type == PERF_RECORD_SAMPLE) {
		if (head->rh_size < SAMPLE_SIZE)
			return (false);
		head->rh_id = u64_at(bytes, 8);
		head->rh_tid = u32_at(bytes, 28);
		head->rh_time_ns = u64_at(bytes, 32);
		return (true);
	}
	head->rh_end = trailer_at(bytes, head->rh_type, head->rh_size);
	if (head->rh_end == 0)
		return (false);
	head->rh_tid = u32_at(bytes, head->rh_end + 4);
	head->rh_time_ns = u64_at(bytes, head->rh_end + 8);
	head->rh_id = u64_at(bytes, head->rh_end + 24);
	if ((head->rh_type == PERF_RECORD_THROTTLE ||
	    head->rh_type == PERF_RECORD_UNTHROTTLE) && head->rh_size >= 64)
		head->rh_subject = u64_at(bytes, 16);
	if (head->rh_type == PERF_RECORD_LOST && head->rh_size >= 56)
		head->rh_subject = u64_at(bytes, 8);
	return (true);
}

/*
 * Frames behind markers: marks are the largest numbers, and say whose frames
 * follow.  Each side's frames are contiguous, so they are not copied.
 */
static bool
parse_chain(const uint64_t *chain, uint64_t n, uint32_t max_stack,
    struct prof_record *record)
{
	enum { NOBODY, KERNEL, USER } whose = NOBODY;
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			whose = chain[i] == (uint64_t)PERF_CONTEXT_USER ?
			    USER : chain[i] == (uint64_t)PERF_CONTEXT_KERNEL ?
			    KERNEL : NOBODY;
			/* A side twice would not be contiguous. */
			if ((whose == USER && record->pr_user != NULL) ||
			    (whose == KERNEL && record->pr_kernel != NULL))
				return (false);
			if (whose == USER)
				record->pr_user = &chain[i + 1];
			else if (whose == KERNEL)
				record->pr_kernel = &chain[i + 1];
		} else if (whose == USER)
			record->pr_nuser++;
		else if (whose == KERNEL)
			record->pr_nkernel++;
	}
	if (record->pr_nkernel == 0)
		record->pr_kernel = NULL;
	else
		record->pr_kstatus = record->pr_nkernel >= max_stack ?
		    PROF_STACK_DEEP : PROF_STACK_OK;
	if (record->pr_nuser == 0)
		record->pr_user = NULL;
	else
		record->pr_ustatus = record->pr_nuser >= max_stack ?
		    PROF_STACK_DEEP : PROF_STACK_OK;
	return (true);
}

static int
parse_sample(const void *bytes, size_t size,
    const struct prof_ring_layout *layout, struct prof_record *record)
{
	size_t at = SAMPLE_SIZE;
	uint64_t n;

	record->pr_type = PROF_R_SAMPLE;
	record->pr_event = layout->ly_event;
	record->pr_ip = u64_at(bytes, 16);
	record->pr_pid = u32_at(bytes, 24);
	record->pr_tid = u32_at(bytes, 28);
	record->pr_cpu = u32_at(bytes, 40);
	record->pr_weight = layout->ly_period;
	record->pr_in_kernel = (u16_at(bytes, 4) &
	    PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	if (layout->ly_has_period) {
		if (size - at < 8)
			return (-1);
		record->pr_weight = u64_at(bytes, at);
		at += 8;
	}
	if (layout->ly_has_chain) {
		if (size - at < 8)
			return (-1);
		n = u64_at(bytes, at);
		at += 8;
		if (n > (size - at) / 8 || !parse_chain(
		    (const uint64_t *)(const void *)((const uint8_t *)bytes +
		    at), n, layout->ly_max_stack, record))
			return (-1);
	}
	return (1);
}

static int
parse_mmap(const void *bytes, size_t end, struct prof_record *record)
{
	const uint8_t *build_id = (const uint8_t *)bytes + 44;
	uint8_t len;

	record->pr_type = PROF_R_MMAP;
	record->pr_path = get_text(bytes, 72, end);
	if (record->pr_path == NULL)
		return (-1);
	record->pr_pid = u32_at(bytes, 8);
	record->pr_tid = u32_at(bytes, 12);
	record->pr_addr = u64_at(bytes, 16);
	record->pr_len = u64_at(bytes, 24);
	record->pr_offset = u64_at(bytes, 32);
	record->pr_prot = u32_at(bytes, 64);
	if ((record->pr_prot & PROT_EXEC) == 0)
		return (0);
	if ((u16_at(bytes, 4) & PERF_RECORD_MISC_MMAP_BUILD_ID) == 0) {
		record->pr_dev = (uint64_t)u32_at(bytes, 40) << 32 |
		    u32_at(bytes, 44);
		record->pr_ino = u64_at(bytes, 48);
		return (1);
	}
	memcpy(&len, (const uint8_t *)bytes + 40, 1);
	if (len > sizeof(record->pr_build_id))
		return (-1);
	record->pr_build_id_len = len;
	memcpy(record->pr_build_id, build_id, len);
	return (1);
}

/* The kernel says exec by a new name; the path comes with the mapping. */
static int
parse_comm(const void *bytes, size_t end, struct prof_record *record)
{
	record->pr_comm = get_text(bytes, 16, end);
	if (record->pr_comm == NULL)
		return (-1);
	record->pr_pid = u32_at(bytes, 8);
	record->pr_tid = u32_at(bytes, 12);
	record->pr_type = PROF_R_COMM;
	if ((u16_at(bytes, 4) & PERF_RECORD_MISC_COMM_EXEC) != 0) {
		record->pr_type = PROF_R_EXEC;
		record->pr_ptid = record->pr_tid;
		record->pr_path = "";
	}
	return (1);
}

/*
 * The kernel does not say how a task ended, nor that it was its process's
 * last; the leader's end stands for the process's.
 */
static int
parse_life(const void *bytes, size_t end, struct prof_record *record)
{
	if (end < 32)
		return (-1);
	record->pr_pid = u32_at(bytes, 8);
	record->pr_tid = u32_at(bytes, 16);
	record->pr_type = PROF_R_EXIT;
	if (u32_at(bytes, 0) == PERF_RECORD_FORK) {
		record->pr_type = PROF_R_FORK;
		record->pr_ppid = u32_at(bytes, 12);
		record->pr_ptid = u32_at(bytes, 20);
		return (1);
	}
	record->pr_group_dead = record->pr_pid == record->pr_tid;
	record->pr_code = -1;
	return (1);
}

/* A symbol that goes has length 0. */
static int
parse_ksymbol(const void *bytes, size_t end, struct prof_record *record)
{
	record->pr_type = PROF_R_KSYMBOL;
	record->pr_path = get_text(bytes, 24, end);
	if (record->pr_path == NULL)
		return (-1);
	record->pr_pid = record->pr_tid = UINT32_MAX;
	record->pr_addr = u64_at(bytes, 8);
	if ((u16_at(bytes, 22) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) == 0)
		record->pr_len = u32_at(bytes, 16);
	return (1);
}

static int
parse_other(const void *bytes, size_t end, struct prof_record *record)
{
	switch (u32_at(bytes, 0)) {
	case PERF_RECORD_LOST:
		if (end < 24)
			return (-1);
		record->pr_type = PROF_R_LOST;
		record->pr_weight = u64_at(bytes, 16);
		return (1);
	case PERF_RECORD_LOST_SAMPLES:
		if (end < 16)
			return (-1);
		record->pr_type = PROF_R_LOST;
		record->pr_weight = u64_at(bytes, 8);
		return (1);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		if (end < 32)
			return (-1);
		record->pr_type = u32_at(bytes, 0) == PERF_RECORD_THROTTLE ?
		    PROF_R_THROTTLE : PROF_R_UNTHROTTLE;
		return (1);
	}
	return (0);
}

/* Those of all processes name the other thread, too, which has its own. */
bool
prof_ring_switch(const void *bytes, const struct ring_head *head,
    struct ring_switch *to)
{
	const uint16_t misc = u16_at(bytes, 4);

	if (head->rh_type != PERF_RECORD_SWITCH &&
	    head->rh_type != PERF_RECORD_SWITCH_CPU_WIDE)
		return (false);
	*to = (struct ring_switch){
		.rw_time_ns = head->rh_time_ns,
		.rw_pid = u32_at(bytes, head->rh_end),
		.rw_tid = head->rh_tid,
		.rw_cpu = u32_at(bytes, head->rh_end + 16),
		.rw_is_out = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0,
		.rw_is_preempted = (misc &
		    PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
	};
	return (true);
}

int
prof_ring_parse(const void *bytes, size_t len,
    const struct prof_ring_layout *layout, struct prof_record *record)
{
	struct ring_head head;
	uint32_t end;

	memset(record, 0, sizeof(*record));
	record->pr_comm = "";
	if (!prof_ring_head(bytes, len, &head))
		return (-1);
	record->pr_time_ns = head.rh_time_ns;
	if (head.rh_type == PERF_RECORD_SAMPLE)
		return (layout == NULL ? -1 :
		    parse_sample(bytes, head.rh_size, layout, record));
	end = head.rh_end;
	record->pr_pid = u32_at(bytes, end);
	record->pr_tid = u32_at(bytes, end + 4);
	record->pr_cpu = u32_at(bytes, end + 16);
	switch (head.rh_type) {
	case PERF_RECORD_MMAP2:
		return (parse_mmap(bytes, end, record));
	case PERF_RECORD_COMM:
		return (parse_comm(bytes, end, record));
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return (parse_life(bytes, end, record));
	case PERF_RECORD_KSYMBOL:
		return (parse_ksymbol(bytes, end, record));
	}
	return (parse_other(bytes, end, record));
}
