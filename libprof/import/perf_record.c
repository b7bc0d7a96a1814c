/* SPDX-License-Identifier: ISC */
/*
 * One record of perf.data taken apart.  Samples hold what their event asked
 * for, in the order of perf_event_open(2); what stands behind the stack is
 * not looked at.  What perf made up of a process that ran already has no
 * time, and becomes a TASK and its mappings.
 */
#include <sys/mman.h>

#include <asm/perf_regs.h>

#include <string.h>

#include "perfdata.h"

#define BRANCH_HW_INDEX	(1u << 17)
#define BRANCH_COUNTERS	(1u << 19)
#define FORMAT_LOST	(1u << 4)
#define MISC_BPF_FILTER	(1u << 15)

/* What a sample brings to be walked. */
struct copied {
	const uint8_t	*cp_regs;	/* NULL: none */
	uint64_t	 cp_mask;
	const uint8_t	*cp_stack;
	uint64_t	 cp_size;
	uint64_t	 cp_used;
};

/* ------------------------------------------------------------- samples */

/* Counts of a group, or of one event; nothing here needs them. */
static void
skip_counts(struct cursor *cu, uint64_t format)
{
	const uint64_t times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8 :
	    0) + (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8 : 0);
	const uint64_t each = 8 + (format & PERF_FORMAT_ID ? 8 : 0) +
	    (format & FORMAT_LOST ? 8 : 0);
	uint64_t n = format & PERF_FORMAT_GROUP ? cursor_fixed(cu, 8) : 1;

	if (n > UINT16_MAX)
		cu->cu_over = true;
	else
		cursor_skip(cu, times + n * each);
}

static void
skip_branches(struct cursor *cu, uint64_t how)
{
	uint64_t n = cursor_fixed(cu, 8);

	if (n > UINT16_MAX) {
		cu->cu_over = true;
		return;
	}
	cursor_skip(cu, (how & BRANCH_HW_INDEX ? 8 : 0) + n * 24 +
	    (how & BRANCH_COUNTERS ? n * 8 : 0));
}

/* Frames behind marks, the largest numbers, which say whose they are. */
static void
take_chain(struct perf_data *data, struct cursor *cu,
    struct prof_record *record)
{
	enum { NOBODY, KERNEL, USER } whose = NOBODY;
	uint64_t n = cursor_fixed(cu, 8), pc;

	while (n-- > 0 && !cu->cu_over) {
		pc = cursor_fixed(cu, 8);
		if (pc == (uint64_t)PERF_CONTEXT_KERNEL)
			whose = KERNEL;
		else if (pc == (uint64_t)PERF_CONTEXT_USER)
			whose = USER;
		else if (pc >= (uint64_t)PERF_CONTEXT_MAX)
			whose = NOBODY;
		else if (whose == KERNEL && record->pr_nkernel <
		    PERF_MAX_CHAIN)
			data->pd_kframe[record->pr_nkernel++] = pc;
		else if (whose == USER && record->pr_nuser < PERF_MAX_CHAIN)
			data->pd_uframe[record->pr_nuser++] = pc;
	}
	record->pr_kernel = data->pd_kframe;
	record->pr_user = data->pd_uframe;
}

/*
 * Frame pointers do not say where a stack ends: OK is perf's own word.  The
 * most frames that there may be are those of both stacks together.
 */
static void
rate_chain(const struct perf_attr *attr, struct prof_record *record)
{
	const uint32_t most = attr->pa_attr.sample_max_stack != 0 ?
	    attr->pa_attr.sample_max_stack : PERF_MAX_STACK_DEPTH;

	if (record->pr_nkernel > 0)
		record->pr_kstatus = record->pr_nkernel >= most ?
		    PROF_STACK_DEEP : PROF_STACK_OK;
	if (record->pr_nuser > 0)
		record->pr_ustatus = record->pr_nkernel + record->pr_nuser >=
		    most ? PROF_STACK_DEEP : PROF_STACK_OK;
}

static void
take_head(const struct perf_attr *attr, struct cursor *cu,
    struct prof_record *record)
{
	const uint64_t type = attr->pa_attr.sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_skip(cu, 8);
	if (type & PERF_SAMPLE_IP)
		record->pr_ip = cursor_fixed(cu, 8);
	if (type & PERF_SAMPLE_TID) {
		record->pr_pid = (uint32_t)cursor_fixed(cu, 4);
		record->pr_tid = (uint32_t)cursor_fixed(cu, 4);
	}
	cursor_skip(cu, (type & PERF_SAMPLE_TIME ? 8 : 0) +
	    (type & PERF_SAMPLE_ADDR ? 8 : 0) +
	    (type & PERF_SAMPLE_ID ? 8 : 0) +
	    (type & PERF_SAMPLE_STREAM_ID ? 8 : 0));
	if (type & PERF_SAMPLE_CPU) {
		record->pr_cpu = (uint32_t)cursor_fixed(cu, 4);
		cursor_skip(cu, 4);
	}
	if (type & PERF_SAMPLE_PERIOD)
		record->pr_weight = cursor_fixed(cu, 8);
}

static void
take_copied(const struct perf_attr *attr, struct cursor *cu,
    struct copied *copied)
{
	const uint64_t type = attr->pa_attr.sample_type;
	const uint64_t mask = attr->pa_attr.sample_regs_user;

	if ((type & PERF_SAMPLE_REGS_USER) && cursor_fixed(cu, 8) ==
	    PERF_SAMPLE_REGS_ABI_64) {
		copied->cp_regs = cu->cu_at;
		copied->cp_mask = mask;
		cursor_skip(cu, 8ULL * (unsigned)__builtin_popcountll(mask));
	}
	if (!(type & PERF_SAMPLE_STACK_USER) || copied->cp_regs == NULL)
		return;
	copied->cp_size = cursor_fixed(cu, 8);
	copied->cp_stack = cu->cu_at;
	cursor_skip(cu, copied->cp_size);
	if (copied->cp_size > 0)
		copied->cp_used = cursor_fixed(cu, 8);
}

static int
take_sample(struct perf_data *data, struct perf_attr *attr,
    const struct perf_record *from, struct prof_record *record,
    struct copied *copied)
{
	const uint64_t type = attr->pa_attr.sample_type;
	struct cursor cu = perf_cursor(from, 0);

	record->pr_type = PROF_R_SAMPLE;
	record->pr_event = (uint32_t)(attr - data->pd_attr) + 1;
	record->pr_weight = attr->pa_attr.freq ? 1 :
	    attr->pa_attr.sample_period;
	record->pr_in_kernel = (from->pc_misc &
	    PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	take_head(attr, &cu, record);
	if (type & PERF_SAMPLE_READ)
		skip_counts(&cu, attr->pa_attr.read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_chain(data, &cu, record);
	if (type & PERF_SAMPLE_RAW)
		cursor_skip(&cu, cursor_fixed(&cu, 4));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(&cu, attr->pa_attr.branch_sample_type);
	take_copied(attr, &cu, copied);
	rate_chain(attr, record);
	return (cu.cu_over ? -1 : 1);
}

/* ------------------------------------------------------------- walking */

/* The DWARF number of a register of perf's; PROF_REGS: it has none. */
static unsigned
dwarf_number(unsigned n)
{
#if defined(__x86_64__)
	static const uint8_t low[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16 };

	if (n < sizeof(low))
		return (low[n]);
	return (n >= PERF_REG_X86_R8 && n <= PERF_REG_X86_R15 ?
	    n - PERF_REG_X86_R8 + 8 : PROF_REGS);
#else
	return (n < PROF_REGS ? n : PROF_REGS);
#endif
}

void
perf_record_unwind(struct perf_data *data, const struct perf_attr *attr,
    const struct perf_record *from, struct prof_record *record)
{
	struct prof_snapshot snapshot = { 0 };
	struct copied copied = { 0 };
	struct prof_record again = *record;
	const uint8_t *at;
	unsigned n, reg;

	if (take_sample(data, (struct perf_attr *)attr, from, &again,
	    &copied) != 1 || copied.cp_stack == NULL ||
	    copied.cp_used > copied.cp_size)
		return;
	at = copied.cp_regs;
	for (n = 0; n < 64; n++) {
		if (!(copied.cp_mask >> n & 1))
			continue;
		reg = dwarf_number(n);
		if (reg < PROF_REGS) {
			memcpy(&snapshot.sn_reg[reg], at, 8);
			snapshot.sn_known |= 1ULL << reg;
		}
		at += 8;
	}
	if (snapshot.sn_known != PROF_ALL_REGS)
		return;
	snapshot.sn_base = snapshot.sn_reg[PROF_REG_SP];
	snapshot.sn_stack = copied.cp_stack;
	snapshot.sn_bytes = copied.cp_used;
	snapshot.sn_cut = copied.cp_used == copied.cp_size;
	/* Unless it is walked: of this process nothing may be known. */
	if (record->pr_ustatus == PROF_STACK_NONE)
		record->pr_ustatus = PROF_STACK_NOPROC;
	prof_snapshots_finish(data->pd_snapshots, record, 0, &snapshot);
	data->pd_unwound++;
}

/* ------------------------------------------------------ process events */

/* What the kernel calls them: "[kernel.kallsyms]", "[ext4]". */
static void
kernel_path(struct perf_data *data, struct prof_record *record)
{
	static const char whole[] = "[kernel.kallsyms]";
	const char *base = strrchr(record->pr_path, '/');

	record->pr_pid = record->pr_tid = UINT32_MAX;
	if (strncmp(record->pr_path, whole, sizeof(whole) - 1) == 0) {
		record->pr_path = whole;
		data->pd_kernel = record->pr_addr;
	} else if (base != NULL) {
		(void)snprintf(data->pd_module, sizeof(data->pd_module),
		    "[%.*s]", (int)strcspn(base + 1, "."), base + 1);
		record->pr_path = data->pd_module;
	}
}

/* What stands in the record itself goes before what perf found later. */
static void
find_build_id(const struct perf_data *data, const char *path,
    struct prof_record *record)
{
	const struct perf_build_id *id = record->pr_build_id_len != 0 ? NULL :
	    perf_build_id_find(data, path);

	if (id == NULL)
		return;
	record->pr_build_id_len = id->pb_len;
	memcpy(record->pr_build_id, id->pb_id, id->pb_len);
}

static void
take_file(struct perf_data *data, const struct perf_record *from,
    struct cursor *cu, struct prof_record *record)
{
	const uint8_t *at = cu->cu_at;
	uint64_t major, minor;

	/* While others ask for build-ids the kernel sets it for all of us. */
	if ((from->pc_misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0 &&
	    data->pd_asked_ids) {
		cursor_skip(cu, 24);
		if (!cu->cu_over && at[0] <= sizeof(record->pr_build_id)) {
			record->pr_build_id_len = at[0];
			memcpy(record->pr_build_id, at + 4, at[0]);
			data->pd_has_ids = true;
		}
	} else {
		major = cursor_fixed(cu, 4);
		minor = cursor_fixed(cu, 4);
		record->pr_dev = major << 32 | minor;
		record->pr_ino = cursor_fixed(cu, 8);
		cursor_skip(cu, 8);
	}
	record->pr_prot = (uint32_t)cursor_fixed(cu, 4);
	cursor_skip(cu, 4);
}

static int
take_mapping(struct perf_data *data, const struct perf_record *from,
    struct cursor *cu, struct prof_record *record)
{
	const unsigned mode = from->pc_misc & PERF_RECORD_MISC_CPUMODE_MASK;

	record->pr_type = PROF_R_MMAP;
	record->pr_pid = (uint32_t)cursor_fixed(cu, 4);
	record->pr_tid = (uint32_t)cursor_fixed(cu, 4);
	record->pr_addr = cursor_fixed(cu, 8);
	record->pr_len = cursor_fixed(cu, 8);
	record->pr_offset = cursor_fixed(cu, 8);
	record->pr_prot = PROT_READ | PROT_EXEC;
	if (from->pc_type == PERF_RECORD_MMAP2)
		take_file(data, from, cu, record);
	record->pr_path = perf_text(cu);
	if (cu->cu_over)
		return (-1);
	/* Of the kernel perf does not always say that it is code. */
	if (mode == PERF_RECORD_MISC_KERNEL)
		record->pr_prot = PROT_READ | PROT_EXEC;
	if ((record->pr_prot & PROT_EXEC) == 0 ||
	    (from->pc_misc & PERF_RECORD_MISC_MMAP_DATA) != 0 ||
	    (mode != PERF_RECORD_MISC_USER && mode !=
	    PERF_RECORD_MISC_KERNEL))
		return (0);
	find_build_id(data, record->pr_path, record);
	if (mode == PERF_RECORD_MISC_KERNEL) {
		kernel_path(data, record);
		find_build_id(data, record->pr_path, record);
		if (record->pr_path[0] == '[' && record->pr_path[1] == 'k' &&
		    record->pr_addr == data->pd_kernel)
			memcpy(data->pd_kernel_id, record->pr_build_id,
			    sizeof(data->pd_kernel_id));
	}
	return (1);
}

static int
take_comm(const struct perf_record *from, bool is_made_up, struct cursor *cu,
    struct prof_record *record)
{
	record->pr_pid = (uint32_t)cursor_fixed(cu, 4);
	record->pr_tid = (uint32_t)cursor_fixed(cu, 4);
	record->pr_comm = perf_text(cu);
	if (cu->cu_over)
		return (-1);
	record->pr_type = is_made_up ? PROF_R_TASK : PROF_R_COMM;
	if ((from->pc_misc & PERF_RECORD_MISC_COMM_EXEC) != 0) {
		record->pr_type = PROF_R_EXEC;
		record->pr_ptid = record->pr_tid;
		record->pr_path = "";
	}
	return (1);
}

/* Who was there already did not inherit what perf then says it has mapped. */
static int
take_life(const struct perf_record *from, bool is_made_up, struct cursor *cu,
    struct prof_record *record)
{
	record->pr_pid = (uint32_t)cursor_fixed(cu, 4);
	record->pr_ppid = (uint32_t)cursor_fixed(cu, 4);
	record->pr_tid = (uint32_t)cursor_fixed(cu, 4);
	record->pr_ptid = (uint32_t)cursor_fixed(cu, 4);
	cursor_skip(cu, 8);
	if (cu->cu_over)
		return (-1);
	record->pr_type = PROF_R_FORK;
	if (from->pc_type == PERF_RECORD_FORK)
		return (is_made_up ? 0 : 1);
	record->pr_type = PROF_R_EXIT;
	record->pr_ppid = record->pr_ptid = 0;
	record->pr_group_dead = record->pr_pid == record->pr_tid;
	record->pr_code = -1;
	return (1);
}

static int
take_ksymbol(struct cursor *cu, struct prof_record *record)
{
	uint64_t flags;

	record->pr_type = PROF_R_KSYMBOL;
	record->pr_pid = record->pr_tid = UINT32_MAX;
	record->pr_addr = cursor_fixed(cu, 8);
	record->pr_len = cursor_fixed(cu, 4);
	cursor_skip(cu, 2);
	flags = cursor_fixed(cu, 2);
	if ((flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0)
		record->pr_len = 0;
	record->pr_path = perf_text(cu);
	return (cu->cu_over ? -1 : 1);
}

/*
 * A ring says when it had room again and what it lost until then, of whichever
 * event.  From 6.1 on perf asks at its end what each event lost, the same
 * once more, and writes that down without a time; so one of both counts.
 */
static int
take_lost(struct perf_data *data, struct perf_attr *attr,
    const struct perf_record *from, bool is_made_up, struct cursor *cu,
    struct prof_record *record)
{
	if (from->pc_type == PERF_RECORD_LOST)
		cursor_skip(cu, 8);
	record->pr_type = PROF_R_LOST;
	record->pr_event = (uint32_t)(attr - data->pd_attr) + 1;
	record->pr_addr = data->pd_first_ns != 0 ? data->pd_first_ns : 1;
	record->pr_weight = cursor_fixed(cu, 8);
	if (cu->cu_over)
		return (-1);
	if (from->pc_type == PERF_RECORD_LOST) {
		attr->pa_ring_lost += record->pr_weight;
		return (1);
	}
	/* What perf's own filter left out was not wanted. */
	if ((from->pc_misc & MISC_BPF_FILTER) != 0)
		return (0);
	attr->pa_sum.pa_full += record->pr_weight;
	data->pd_counts_lost = data->pd_counts_lost || is_made_up;
	return (is_made_up ? 0 : 1);
}

int
perf_record_take(struct perf_data *data, struct perf_attr *attr,
    const struct perf_record *from, struct prof_record *record)
{
	const bool is_made_up = perf_attr_time(attr, from) == 0;
	struct cursor cu = perf_cursor(from, perf_attr_trailer(attr));
	struct copied copied = { 0 };

	memset(record, 0, sizeof(*record));
	record->pr_comm = record->pr_path = "";
	switch (from->pc_type) {
	case PERF_RECORD_SAMPLE:
		return (take_sample(data, attr, from, record, &copied));
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return (take_mapping(data, from, &cu, record));
	case PERF_RECORD_COMM:
		return (take_comm(from, is_made_up, &cu, record));
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return (take_life(from, is_made_up, &cu, record));
	case PERF_RECORD_KSYMBOL:
		return (take_ksymbol(&cu, record));
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return (take_lost(data, attr, from, is_made_up, &cu, record));
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		record->pr_type = from->pc_type == PERF_RECORD_THROTTLE ?
		    PROF_R_THROTTLE : PROF_R_UNTHROTTLE;
		record->pr_event = (uint32_t)(attr - data->pd_attr) + 1;
		record->pr_cpu = perf_attr_cpu(attr, from);
		return (1);
	}
	return (0);
}
