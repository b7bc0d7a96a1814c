/* SPDX-License-Identifier: ISC */
/*
 * From a recording to batches.  All of its records are read in order of time;
 * samples that are alike but for their time within ten seconds become a row.
 * At the end of a minute its rows are handed on, with an account of each
 * event: how many samples, of what weight, in how much recorded time, and how
 * many were lost.  The counters of the whole recording are in its last batch,
 * so that sums over its accounts are those of the recording.
 *
 * Called by prof_store_write for a file, whole or still being written; in the
 * latter case again and again, each time from where it ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/grow.h"
#include "process/symbols.h"
#include "profile/profile_impl.h"
#include "recording/query.h"
#include "store_impl.h"

#define NS_PER_S	1000000000ULL
#define BATCH_NS	(PROF_STORE_BATCH_S * NS_PER_S)

static const struct prof_store_labels no_labels = { .sl_n = 0 };

/* ---------------------------------------------------------------- texts */

/* The number of a text; UINT32_MAX: no memory. */
static uint32_t
text_number(struct prof_store_writer *writer, const char *text)
{
	bool is_new;
	const uint32_t n = prof_dict_find(&writer->sw_by_text, text,
	    strlen(text), &is_new);
	char **slot;

	if (n == PROF_INTERN_FAILED || !is_new)
		return (n);
	slot = prof_grow((void **)&writer->sw_text, &writer->sw_ntexts,
	    &writer->sw_cap_texts, sizeof(*slot));
	if (slot == NULL || (*slot = strdup(text)) == NULL)
		return (PROF_INTERN_FAILED);
	return (n);
}

/* What has run until here belongs to the minute at hand. */
static void
elapsed_add(struct prof_store_writer *writer, uint64_t now_ns)
{
	if (writer->sw_is_running && now_ns > writer->sw_from_ns)
		writer->sw_elapsed_ns += now_ns - writer->sw_from_ns;
	writer->sw_from_ns = now_ns;
}

/* Minutes that end before a time; those that an earlier call had, are left. */
static int
minutes_end(struct prof_store_writer *writer, uint64_t now_ns)
{
	const uint64_t minute = now_ns / BATCH_NS;

	if (writer->sw_minute == 0)
		writer->sw_minute = minute;
	while (writer->sw_minute < minute) {
		const uint64_t end_ns = (writer->sw_minute + 1) * BATCH_NS;

		elapsed_add(writer, end_ns);
		if (writer->sw_minute < writer->sw_next) {
			writer->sw_elapsed_ns = 0;
		} else if (prof_store_part_end(writer, end_ns, false) == -1) {
			return (-1);
		} else {
			writer->sw_next = writer->sw_minute + 1;
		}
		writer->sw_minute++;
		writer->sw_part = 0;
	}
	return (0);
}

/* -------------------------------------------------------------- records */

static int
no_memory(struct prof_store_writer *writer)
{
	return (prof_fail_nomem(writer->sw_error));
}

static struct prof_row_program *
program_of(struct prof_store_writer *writer, uint32_t pid)
{
	struct prof_row_program *program;
	bool is_new;
	uint32_t n;

	n = prof_map_find(&writer->sw_by_pid, pid, &is_new);
	if (n == PROF_INTERN_FAILED)
		return (NULL);
	if (!is_new)
		return (&writer->sw_program[n]);
	program = prof_grow((void **)&writer->sw_program,
	    &writer->sw_nprograms, &writer->sw_cap_programs,
	    sizeof(*program));
	return (program);
}

/* Every build of every process is a text; "": it has none. */
static uint32_t
build_text(struct prof_store_writer *writer, const struct prof_record *record)
{
	char build[41] = "";

	for (uint32_t i = 0; i < record->pr_build_id_len && i < 20; i++)
		snprintf(build + 2 * i, 3, "%02x", record->pr_build_id[i]);
	return (text_number(writer, build));
}

static void
who_forget(struct prof_store_writer *writer)
{
	for (size_t n = 0; n < PROF_STORE_CACHE; n++)
		writer->sw_cache[n].ca_valid = false;
}

/*
 * The kernel maps a program, its loader and the vDSO, and then says that it
 * was executed; libraries come later.  Of a process that was there before,
 * the first mapping is its program.
 */
static int
mapping_take(struct prof_store_writer *writer,
    const struct prof_record *record)
{
	struct prof_row_program *program = program_of(writer, record->pr_pid);
	const char *base = strrchr(record->pr_path, '/');

	if (program == NULL ||
	    prof_stacks_map(writer->sw_stacks, record) == -1)
		return (no_memory(writer));
	if (base == NULL || strstr(base, ".so") != NULL)
		return (0);
	program->pg_candidate = build_text(writer, record);
	if (program->pg_candidate == PROF_INTERN_FAILED)
		return (no_memory(writer));
	if (!program->pg_is_known)
		program->pg_build = program->pg_candidate;
	program->pg_is_known = true;
	who_forget(writer);
	return (0);
}

static int
task_take(struct prof_store_writer *writer, const struct prof_record *record)
{
	struct prof_row_program *program, parent;

	program = program_of(writer, record->pr_pid);
	if (program == NULL)
		return (no_memory(writer));
	who_forget(writer);
	if (record->pr_type == PROF_R_EXEC)
		program->pg_build = program->pg_candidate;
	if (record->pr_type != PROF_R_FORK ||
	    record->pr_ppid == record->pr_pid)
		return (0);
	program = program_of(writer, record->pr_ppid);
	if (program == NULL)
		return (no_memory(writer));
	parent = *program;
	*program_of(writer, record->pr_pid) = parent;
	return (0);
}

/* Of its samples, what it was called between two of them is not seen. */
static int
name_take(struct prof_store_writer *writer, uint32_t tid,
    struct prof_row_cached *cached)
{
	struct prof_row_name *name;
	bool is_new;
	const uint32_t n = prof_map_find(&writer->sw_by_tid, tid, &is_new);

	name = n == PROF_INTERN_FAILED ? NULL : !is_new ?
	    &writer->sw_name[n] : prof_grow((void **)&writer->sw_name,
	    &writer->sw_nnames, &writer->sw_cap_names, sizeof(*name));
	if (name == NULL)
		return (-1);
	if (!is_new && name->nm_comm != cached->ca_comm)
		name->nm_renames++;
	name->nm_comm = cached->ca_comm;
	cached->ca_renames = name->nm_renames;
	return (0);
}

static struct prof_row_cached *
who_find(struct prof_store_writer *writer, const struct prof_record *record)
{
	struct prof_row_cached *cached =
	    &writer->sw_cache[record->pr_tid % PROF_STORE_CACHE];
	struct prof_moment *moment = &cached->ca_moment;
	const struct prof_row_program *program;

	if (cached->ca_valid && cached->ca_tid == record->pr_tid &&
	    cached->ca_pid == record->pr_pid &&
	    record->pr_time_ns >= moment->mo_from_ns &&
	    record->pr_time_ns < moment->mo_to_ns)
		return (cached);
	prof_history_at(writer->sw_history, record->pr_tid,
	    record->pr_time_ns, moment);
	moment->mo_space = prof_symbols_space_while(writer->sw_symbols,
	    record->pr_pid, record->pr_time_ns, &moment->mo_from_ns,
	    &moment->mo_to_ns);
	program = program_of(writer, record->pr_pid);
	cached->ca_comm = text_number(writer, moment->mo_comm);
	if (program == NULL || cached->ca_comm == PROF_INTERN_FAILED ||
	    name_take(writer, record->pr_tid, cached) == -1)
		return (NULL);
	cached->ca_build = program->pg_build;
	cached->ca_pid = record->pr_pid;
	cached->ca_tid = record->pr_tid;
	cached->ca_valid = true;
	return (cached);
}

static int
row_add(struct prof_store_writer *writer, const struct prof_row_key *key)
{
	struct prof_row *row;
	bool is_new;
	uint32_t n;

	n = prof_dict_find(&writer->sw_by_key, key, sizeof(*key), &is_new);
	if (n == PROF_INTERN_FAILED)
		return (no_memory(writer));
	if (!is_new) {
		writer->sw_row[n].ro_n++;
		return (0);
	}
	row = prof_grow((void **)&writer->sw_row, &writer->sw_nrows,
	    &writer->sw_cap_rows, sizeof(*row));
	if (row == NULL)
		return (no_memory(writer));
	*row = (struct prof_row){ .ro_key = *key, .ro_n = 1 };
	return (0);
}

static int
sample_take(struct prof_store_writer *writer,
    const struct prof_record *record, uint64_t now_ns)
{
	const struct prof_row_cached *who = who_find(writer, record);
	struct prof_row_account *account =
	    &writer->sw_account[record->pr_event];
	const uint32_t seconds = (uint32_t)(now_ns / NS_PER_S);
	struct prof_row_key key = {
		.ke_weight = record->pr_weight,
		.ke_time = seconds - seconds % PROF_STORE_BUCKET_S,
		.ke_event = record->pr_event, .ke_pid = record->pr_pid,
		.ke_tid = record->pr_tid, .ke_cpu = record->pr_cpu,
	};

	if (who == NULL || prof_stacks_number(writer->sw_stacks, record,
	    who->ca_moment.mo_space, &key.ke_stack) == -1)
		return (no_memory(writer));
	key.ke_build = who->ca_build;
	key.ke_comm = who->ca_comm;
	key.ke_renames = who->ca_renames;
	account->ac_samples++;
	account->ac_weight += record->pr_weight;
	if (row_add(writer, &key) == -1)
		return (-1);
	if (writer->sw_nrows < PROF_STORE_ROWS ||
	    writer->sw_part + 1 >= PROF_STORE_PARTS)
		return (0);
	elapsed_add(writer, now_ns);
	return (prof_store_part_end(writer, now_ns, false));
}

static void
mark_take(struct prof_store_writer *writer, const struct prof_record *record,
    uint64_t now_ns)
{
	const enum prof_record_type type = record->pr_type;

	elapsed_add(writer, now_ns);
	if (type == PROF_R_START && writer->sw_first_ns == 0)
		writer->sw_first_ns = now_ns;
	if (type == PROF_R_START || type == PROF_R_RESUME)
		writer->sw_is_running = true;
	if (type == PROF_R_STOP || type == PROF_R_PAUSE)
		writer->sw_is_running = false;
}

static int
record_take(struct prof_store_writer *writer,
    const struct prof_record *record, uint64_t now_ns)
{
	const bool is_new = writer->sw_minute >= writer->sw_next;

	switch (record->pr_type) {
	case PROF_R_SAMPLE:
		return (!is_new || record->pr_event >= prof_reader_nevents(
		    writer->sw_reader) ? 0 :
		    sample_take(writer, record, now_ns));
	case PROF_R_LOST:
		if (is_new && record->pr_event < prof_reader_nevents(
		    writer->sw_reader))
			writer->sw_account[record->pr_event].ac_lost +=
			    record->pr_weight;
		return (0);
	case PROF_R_MMAP:
		return (mapping_take(writer, record));
	case PROF_R_FORK:
	case PROF_R_EXEC:
		return (task_take(writer, record));
	case PROF_R_START:
	case PROF_R_STOP:
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		mark_take(writer, record, now_ns);
		return (0);
	default:
		return (0);
	}
}

/* What is known before START lies in its minute; mappings, for example. */
static int
records_take(struct prof_store_writer *writer)
{
	const bool is_open = prof_reader_in_progress(writer->sw_reader);
	const struct prof_record *record;
	uint64_t now_ns = 0, at_ns;
	bool is_begun = false;
	int rv;

	while ((rv = prof_reader_borrow(writer->sw_reader, &record)) == 1) {
		at_ns = record->pr_time_ns + writer->sw_shift_ns;
		is_begun |= record->pr_type == PROF_R_START ||
		    record->pr_type == PROF_R_SAMPLE;
		if (is_begun && at_ns > now_ns)
			now_ns = at_ns;
		if ((is_begun && minutes_end(writer, now_ns) == -1) ||
		    record_take(writer, record, at_ns) == -1)
			return (-1);
	}
	if (rv == -1)
		*writer->sw_error = *prof_reader_error(writer->sw_reader);
	if (rv == -1 || is_open)
		return (rv);
	if (writer->sw_minute == 0)
		writer->sw_minute = writer->sw_shift_ns / BATCH_NS;
	elapsed_add(writer, now_ns);
	writer->sw_is_done = true;
	return (prof_store_part_end(writer, now_ns, true));
}

/* ------------------------------------------------------------ public */

struct prof_store_writer *
prof_store_writer_new(const struct prof_store_labels *labels)
{
	struct prof_store_writer *writer = calloc(1, sizeof(*writer));

	if (writer == NULL)
		return (NULL);
	writer->sw_labels = labels == NULL ? no_labels : *labels;
	writer->sw_stacks = prof_stacks_new();
	if (writer->sw_stacks != NULL &&
	    text_number(writer, "") != PROF_INTERN_FAILED)
		return (writer);
	prof_store_writer_free(writer);
	return (NULL);
}

void
prof_store_writer_free(struct prof_store_writer *writer)
{
	if (writer == NULL)
		return;
	prof_stacks_free(writer->sw_stacks);
	prof_store_batch_free(&writer->sw_batch);
	prof_dict_free(&writer->sw_by_text);
	prof_dict_free(&writer->sw_by_key);
	prof_map_free(&writer->sw_by_pid);
	prof_map_free(&writer->sw_by_tid);
	free(writer->sw_name);
	while (writer->sw_ntexts > 0)
		free(writer->sw_text[--writer->sw_ntexts]);
	free(writer->sw_text);
	free(writer->sw_row);
	free(writer->sw_program);
	free(writer);
}

/* The number of a recording: who made it, when, of what. */
static int
recording_identify(struct prof_store_writer *writer, struct prof_err *error)
{
	static const char *const keys[] = { "machine.host", "machine.boot",
	    "time.realtime_ns", "time.monotonic_ns", "command" };
	const char *real, *mono, *value;
	struct prof_buf text = { 0 };

	real = prof_reader_info(writer->sw_reader, "time.realtime_ns");
	mono = prof_reader_info(writer->sw_reader, "time.monotonic_ns");
	if (real == NULL || mono == NULL)
		return (prof_fail(error, PROF_E_FORMAT, "the recording does "
		    "not contain its date and time"));
	writer->sw_shift_ns = strtoull(real, NULL, 10) -
	    strtoull(mono, NULL, 10);
	for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); n++) {
		value = prof_reader_info(writer->sw_reader, keys[n]);
		prof_row_text(&text, value == NULL ? "" : value);
	}
	if (text.bf_failed)
		return (prof_fail_nomem(error));
	writer->sw_id = XXH3_64bits(text.bf_data, text.bf_len);
	prof_buf_free(&text);
	return (0);
}

int
prof_store_writer_recording(struct prof_store_writer *writer,
    struct prof_reader *reader, uint64_t *number, struct prof_err *error)
{
	writer->sw_reader = reader;
	if (recording_identify(writer, error) == -1)
		return (-1);
	*number = writer->sw_id;
	return (0);
}

static void
call_begin(struct prof_store_writer *writer)
{
	writer->sw_minute = writer->sw_first_ns = 0;
	writer->sw_elapsed_ns = writer->sw_from_ns = 0;
	writer->sw_part = 0;
	writer->sw_is_running = false;
	writer->sw_nrows = writer->sw_nprograms = writer->sw_nnames = 0;
	prof_dict_clear(&writer->sw_by_key);
	prof_map_clear(&writer->sw_by_pid);
	prof_map_clear(&writer->sw_by_tid);
	memset(writer->sw_cache, 0, sizeof(writer->sw_cache));
	prof_stacks_begin(writer->sw_stacks, writer->sw_symbols);
}

int
prof_store_write(struct prof_store_writer *writer, struct prof_reader *reader,
    prof_store_put_fn *put, void *arg, struct prof_err *error)
{
	int rv = -1;

	if (writer->sw_is_done)
		return (0);
	writer->sw_reader = reader;
	writer->sw_put = put;
	writer->sw_arg = arg;
	writer->sw_error = error;
	if (recording_identify(writer, error) == -1)
		return (-1);
	writer->sw_symbols = prof_symbols_open(reader, NULL, error);
	writer->sw_history = writer->sw_symbols == NULL ? NULL :
	    prof_history_new(reader, true, error);
	writer->sw_account = calloc(prof_reader_nevents(reader) + 1,
	    sizeof(*writer->sw_account));
	if (writer->sw_account == NULL)
		prof_fail_nomem(error);
	else if (writer->sw_history != NULL) {
		call_begin(writer);
		rv = prof_reader_rewind(reader) == -1 ? -1 :
		    records_take(writer);
	}
	free(writer->sw_account);
	prof_history_free(writer->sw_history);
	prof_symbols_close(writer->sw_symbols);
	return (rv);
}
