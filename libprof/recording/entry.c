/* SPDX-License-Identifier: ISC */
/*
 * The public form of a record: what all have, and behind it what its type
 * has.  The reader fills one for each record that it hands out; nothing is
 * copied but numbers.
 *
 * Called through prof.h alone; libprof itself uses struct prof_record.
 */
#include "filter/filter.h"
#include "query.h"
#include "reader.h"

static void
entry_sample(struct prof_reader_entry *entry)
{
	const struct prof_record *record = &entry->re_record;

	entry->re_sample = (struct prof_entry_sample){
		.es_weight = record->pr_weight,
		.es_ip = record->pr_ip,
		.es_in_kernel = record->pr_in_kernel,
		.es_nested = record->pr_nested,
		.es_kstatus = record->pr_kstatus,
		.es_ustatus = record->pr_ustatus,
		.es_nkernel = record->pr_nkernel,
		.es_nuser = record->pr_nuser,
		.es_kernel = record->pr_kernel,
		.es_user = record->pr_user,
		.es_nscript = record->pr_nscript,
		.es_script = record->pr_script,
		.es_nargs = record->pr_nargs,
		.es_args = record->pr_args,
		.es_strs = record->pr_strs,
		.es_comm = record->pr_comm,
		.es_nvalues = record->pr_nvalues,
		.es_values = record->pr_values,
		.es_values_ns = record->pr_values_ns,
		.es_values_running_ns = record->pr_values_running_ns,
	};
	entry->re_public.en_sample = &entry->re_sample;
}

static void
entry_process(struct prof_reader_entry *entry)
{
	const struct prof_record *record = &entry->re_record;

	entry->re_process = (struct prof_entry_process){
		.ep_ppid = record->pr_ppid,
		.ep_ptid = record->pr_ptid,
		.ep_status = record->pr_code,
		.ep_is_last = record->pr_group_dead,
		.ep_comm = record->pr_comm,
		.ep_path = record->pr_path,
	};
	entry->re_public.en_process = &entry->re_process;
}

static void
entry_mapping(struct prof_reader_entry *entry)
{
	const struct prof_record *record = &entry->re_record;

	entry->re_mapping = (struct prof_entry_mapping){
		.em_addr = record->pr_addr,
		.em_len = record->pr_len,
		.em_offset = record->pr_offset,
		.em_dev = record->pr_dev,
		.em_ino = record->pr_ino,
		.em_prot = record->pr_prot,
		.em_build_id_len = record->pr_build_id_len,
		.em_build_id = record->pr_build_id,
		.em_path = record->pr_path,
	};
	entry->re_public.en_mapping = &entry->re_mapping;
}

static void
entry_lost(struct prof_reader_entry *entry)
{
	entry->re_lost = (struct prof_entry_lost){
		.el_count = entry->re_record.pr_weight,
		.el_since_ns = entry->re_record.pr_addr,
	};
	entry->re_public.en_lost = &entry->re_lost;
}

static void
entry_fill(struct prof_reader_entry *entry)
{
	const struct prof_record *record = &entry->re_record;

	entry->re_public = (struct prof_entry){
		.en_type = record->pr_type,
		.en_event = record->pr_event,
		.en_time_ns = record->pr_time_ns,
		.en_cpu = record->pr_cpu,
		.en_pid = record->pr_pid,
		.en_tid = record->pr_tid,
	};
	switch (record->pr_type) {
	case PROF_R_SAMPLE:
		entry_sample(entry);
		break;
	case PROF_R_FORK:
	case PROF_R_EXEC:
	case PROF_R_EXIT:
	case PROF_R_COMM:
	case PROF_R_TASK:
		entry_process(entry);
		break;
	case PROF_R_MMAP:
	case PROF_R_KSYMBOL:
		entry_mapping(entry);
		break;
	case PROF_R_LOST:
	case PROF_R_TURNS:
		entry_lost(entry);
		break;
	case PROF_R_MARK:
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		entry->re_public.en_text = record->pr_path;
		break;
	default:
		break;
	}
}

const struct prof_record *
prof_entry_record(const struct prof_entry *entry)
{
	return (&((const struct prof_reader_entry *)(const void *)
	    ((const char *)entry - offsetof(struct prof_reader_entry,
	    re_public)))->re_record);
}

int
prof_reader_next(struct prof_reader *reader, const struct prof_entry **entry)
{
	struct prof_reader_entry *mine = &reader->rd_entry;
	int rv = prof_reader_record(reader, &mine->re_record);

	*entry = NULL;
	if (rv == 1) {
		entry_fill(mine);
		*entry = &mine->re_public;
	}
	return (rv);
}

const struct prof_syscall *
prof_event_call(const struct prof_event_info *info,
    const struct prof_entry *entry)
{
	return (prof_record_call(info, prof_entry_record(entry)));
}

int
prof_event_argument(const struct prof_event_info *info,
    const struct prof_entry *entry, const char *name)
{
	return (prof_record_argument(info, prof_entry_record(entry), name));
}

int
prof_filter_matches(const struct prof_filter *filter,
    const struct prof_entry *entry, const char *comm)
{
	return (prof_filter_holds(filter, prof_entry_record(entry), comm));
}
