/* SPDX-License-Identifier: ISC */
/*
 * What a reader answers, once a recording is open: its descriptions, its
 * accounting, and its records in order of time.  The number of samples in the
 * file comes from the chunks that are there, never from what was claimed.
 */
#include <stdlib.h>

#include "abi/dtp_abi.h"
#include "accounting.h"
#include "base/error.h"
#include "base/search.h"
#include "reader.h"

const struct prof_err *
prof_reader_error(const struct prof_reader *reader)
{
	return (&reader->rd_error);
}

uint64_t
prof_reader_length(const struct prof_reader *reader)
{
	return (reader->rd_source.so_length);
}

size_t
prof_reader_nevents(const struct prof_reader *reader)
{
	return (reader->rd_nevents);
}

const struct prof_event_info *
prof_reader_event(const struct prof_reader *reader, size_t n)
{
	return (n < reader->rd_nevents ? reader->rd_events[n] : NULL);
}

const struct prof_syscall *
prof_record_call(const struct prof_event_info *info,
    const struct prof_record *record)
{
	if (!info->pi_is_syscall || record->pr_nargs == 0 ||
	    record->pr_strs[0] != NULL ||
	    record->pr_args[0] >= info->pi_ncalls)
		return (NULL);
	return (info->pi_calls[record->pr_args[0]]);
}

/* Behind the number of a call and its result come the call's own. */
int
prof_record_argument(const struct prof_event_info *info,
    const struct prof_record *record, const char *name)
{
	const struct prof_syscall *call;
	const uint32_t first = 2;

	for (uint32_t n = 0; n < info->pi_nargs && n < record->pr_nargs; n++)
		if (strcmp(info->pi_arg_names[n], name) == 0)
			return ((int)n);
	call = info->pi_is_call ? prof_record_call(info, record) : NULL;
	for (uint32_t n = 0; call != NULL && n < call->cl_nargs &&
	    first + n < record->pr_nargs; n++)
		if (strcmp(call->cl_arg_names[n], name) == 0)
			return ((int)(first + n));
	return (-1);
}

const char *
prof_reader_task_0(const struct prof_reader *reader)
{
	return (prof_reader_info(reader, "pid.namespace") != NULL ?
	    "[outside this PID namespace]" : "swapper");
}

const struct prof_syscall *
prof_reader_call(const struct prof_reader *reader, uint64_t number)
{
	return (reader->rd_calls != NULL && number < DTP_MAX_SYSCALL ?
	    reader->rd_calls[number] : NULL);
}

const char *
prof_reader_info(const struct prof_reader *reader, const char *key)
{
	const struct prof_pair *pairs = reader->rd_pairs.ar_items;
	size_t n = reader->rd_pairs.ar_count;

	while (n-- > 0)
		if (strcmp(pairs[n].pa_key, key) == 0)
			return (pairs[n].pa_value);
	return (NULL);
}

int
prof_reader_info_at(const struct prof_reader *reader, size_t n,
    const char **key, const char **value)
{
	const struct prof_pair *pairs = reader->rd_pairs.ar_items;

	if (n >= reader->rd_pairs.ar_count)
		return (0);
	*key = pairs[n].pa_key;
	*value = pairs[n].pa_value;
	return (1);
}

const char *
prof_reader_cut(const struct prof_reader *reader)
{
	return (reader->rd_cut);
}

int
prof_reader_in_progress(const struct prof_reader *reader)
{
	return (reader->rd_source.so_is_written && !reader->rd_ended);
}

bool
prof_reader_is_written(const struct prof_reader *reader)
{
	return (reader->rd_source.so_fd != -1 &&
	    prof_source_is_written(reader->rd_source.so_fd));
}

uint64_t
prof_reader_nsamples(const struct prof_reader *reader)
{
	return (reader->rd_nsamples);
}

int
prof_reader_cpu(const struct prof_reader *reader, size_t n)
{
	const int *cpus = reader->rd_cpus.ar_items;

	return (n < reader->rd_cpus.ar_count ? cpus[n] : -1);
}

/* ----------------------------------------------------- accounting */

/*
 * Tallies and rows are in order of events: with a thousand events on a hundred
 * CPUs, to look at all of them for each event would take too long.
 */

/* Samples of an event in the file, on one CPU or (-1) on all. */
static uint64_t
samples_of(const struct prof_reader *reader, size_t event, int cpu)
{
	const struct prof_tally *tallies = reader->rd_tallies.ar_items;
	uint64_t sum = 0;
	size_t i = PROF_BEFORE(n, reader->rd_tallies.ar_count,
	    tallies[n].ty_event < event);

	for (; i < reader->rd_tallies.ar_count &&
	    tallies[i].ty_event == event; i++)
		if (cpu == -1 || tallies[i].ty_cpu == (uint32_t)cpu)
			sum += tallies[i].ty_count;
	return (sum);
}

/* Add to the sum; false: the recording has no accounting of it. */
static bool
accounting_sum(const struct prof_reader *reader, size_t event, int cpu,
    struct prof_accounting *sum)
{
	const struct prof_row *rows = reader->rd_rows.ar_items;
	bool found = false;
	size_t i = PROF_BEFORE(n, reader->rd_rows.ar_count,
	    rows[n].rw_event < event);

	for (; i < reader->rd_rows.ar_count && rows[i].rw_event == event;
	    i++) {
		if (cpu != -1 && rows[i].rw_cpu != (uint32_t)cpu + 1)
			continue;
		prof_accounting_add(sum, &rows[i].rw_accounting);
		found = true;
	}
	if (found)
		sum->pa_written += samples_of(reader, event, cpu);
	return (found);
}

int
prof_reader_accounting_sized(const struct prof_reader *reader,
    size_t event, int cpu, struct prof_accounting *accounting, size_t size)
{
	const struct prof_elapsed *elapsed = &reader->rd_elapsed;
	struct prof_accounting sum = { 0 };
	bool found;

	if (elapsed->el_event == 0 || event != elapsed->el_event) {
		found = accounting_sum(reader, event, cpu, &sum);
	} else {
		found = accounting_sum(reader, elapsed->el_waits, cpu, &sum);
		if (elapsed->el_running != 0)
			(void)accounting_sum(reader, elapsed->el_running, cpu,
			    &sum);
	}
	prof_struct_give(accounting, size, &sum, sizeof(sum));
	return (found ? 0 : -1);
}

double
prof_lost_share(uint64_t stored, uint64_t lost)
{
	return (lost == 0 ? 0 :
	    (double)lost / ((double)stored + (double)lost));
}

uint64_t
prof_reader_side_stored(const struct prof_reader *reader)
{
	struct prof_accounting pa;

	(void)prof_reader_accounting(reader, 0, -1, &pa);
	return (pa.pa_sideband_read + pa.pa_stored);
}

/* Older recordings, and those that were cut, have the LOST records alone. */
uint64_t
prof_reader_side_lost(const struct prof_reader *reader)
{
	struct prof_accounting pa;

	(void)prof_reader_accounting(reader, 0, -1, &pa);
	if (pa.pa_sideband_lost < reader->rd_side_said)
		pa.pa_sideband_lost = reader->rd_side_said;
	return (pa.pa_sideband_lost + prof_accounting_lost(&pa));
}

/* -------------------------------------------------- records in order */

static void
record_of_life(const struct prof_reader *reader, const struct prof_life *life,
    struct prof_record *record)
{
	const char *strings = reader->rd_strings.ar_items;
	const uint64_t *fields;
	struct prof_life_fields unpacked;

	prof_life_unpack(reader, life, &unpacked);
	fields = unpacked.lf_field;
	memset(record, 0, sizeof(*record));
	record->pr_type = (enum prof_record_type)unpacked.lf_type;
	record->pr_time_ns = life->li_time_ns;
	record->pr_event = (uint32_t)fields[PROF_LF_EVENT];
	record->pr_cpu = (uint32_t)fields[PROF_LF_CPU];
	record->pr_pid = (uint32_t)fields[PROF_LF_PID];
	record->pr_tid = (uint32_t)fields[PROF_LF_TID];
	record->pr_weight = fields[PROF_LF_WEIGHT];
	record->pr_comm = strings + fields[PROF_LF_COMM];
	record->pr_path = strings + fields[PROF_LF_PATH];
	record->pr_ppid = (uint32_t)fields[PROF_LF_PPID];
	record->pr_ptid = (uint32_t)fields[PROF_LF_PTID];
	record->pr_code = (int)prof_unzigzag(fields[PROF_LF_CODE]);
	record->pr_group_dead = fields[PROF_LF_GROUP_DEAD] != 0;
	record->pr_addr = fields[PROF_LF_ADDR];
	record->pr_len = fields[PROF_LF_LEN];
	record->pr_offset = fields[PROF_LF_OFFSET];
	record->pr_prot = (uint32_t)fields[PROF_LF_PROT];
	record->pr_dev = fields[PROF_LF_DEV];
	record->pr_ino = fields[PROF_LF_INO];
	record->pr_build_id_len = (uint32_t)fields[PROF_LF_BUILD_ID];
	memcpy(record->pr_build_id, unpacked.lf_build_id,
	    sizeof(record->pr_build_id));
}

size_t
prof_reader_nlife(const struct prof_reader *reader)
{
	return (reader->rd_life_records.ar_count);
}

uint64_t
prof_reader_left_out(const struct prof_reader *reader,
    uint64_t *from_ns)
{
	*from_ns = reader->rd_left_out == 0 ? UINT64_MAX :
	    reader->rd_left_out_ns;
	return (reader->rd_left_out);
}

void
prof_reader_life(const struct prof_reader *reader, size_t n,
    struct prof_record *record)
{
	record_of_life(reader,
	    (struct prof_life *)reader->rd_life_records.ar_items + n, record);
}

enum prof_record_type
prof_reader_life_type(const struct prof_reader *reader, size_t n,
    uint64_t *time_ns)
{
	const struct prof_life *life =
	    (const struct prof_life *)reader->rd_life_records.ar_items + n;

	*time_ns = life->li_time_ns;
	return ((enum prof_record_type)prof_life_type(reader, life));
}

bool
prof_reader_start(const struct prof_reader *reader, uint64_t *start_ns)
{
	uint64_t time_ns;

	for (size_t n = 0; n < prof_reader_nlife(reader); n++)
		if (prof_reader_life_type(reader, n, &time_ns) ==
		    PROF_R_START) {
			*start_ns = time_ns;
			return (true);
		}
	return (false);
}

uint64_t
prof_reader_symbols_left_out(const struct prof_reader *reader)
{
	return (reader->rd_names_left_out);
}

const void *
prof_reader_symbols(const struct prof_reader *reader, size_t n, size_t *len)
{
	const struct prof_kept *kept = reader->rd_symbols.ar_items;

	if (n >= reader->rd_symbols.ar_count)
		return (NULL);
	*len = kept[n].kp_len;
	return (kept[n].kp_bytes);
}

/* Lives come before samples of the same time: a mapping before its use. */
int
prof_reader_borrow(struct prof_reader *reader,
    const struct prof_record **record)
{
	const struct prof_life *records = reader->rd_life_records.ar_items;
	const struct prof_life *life = NULL;

	if (reader->rd_sample == NULL && prof_expand_next(reader) == -1)
		return (-1);
	if (reader->rd_life_at < reader->rd_life_records.ar_count)
		life = &records[reader->rd_life_at];
	if (life != NULL && (reader->rd_sample == NULL ||
	    life->li_time_ns <= reader->rd_sample->pr_time_ns)) {
		record_of_life(reader, life, &reader->rd_life);
		reader->rd_life_at++;
		*record = &reader->rd_life;
		return (1);
	}
	*record = reader->rd_sample;
	reader->rd_sample = NULL;
	return (*record != NULL);
}

int
prof_reader_record(struct prof_reader *reader, struct prof_record *record)
{
	const struct prof_record *borrowed;
	const int rv = prof_reader_borrow(reader, &borrowed);

	if (rv == 1)
		*record = *borrowed;
	return (rv);
}

int
prof_reader_rewind(struct prof_reader *reader)
{
	reader->rd_life_at = 0;
	reader->rd_sample = NULL;
	prof_expand_rewind(reader);
	return (0);
}
