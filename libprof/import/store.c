/* SPDX-License-Identifier: ISC */
/*
 * Answers of a store (store/select.c) made into a recording: what recordings
 * say of themselves, events with their accounting, samples, stacks; each the
 * rows of a query in RowBinary, behind its length.  Names have places
 * (places.h).  A row of n samples becomes n samples a nanosecond apart, from
 * the begin of its ten seconds on.
 *
 * Called by import.c.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_abi.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "base/intern.h"
#include "import.h"
#include "places.h"
#include "recording/frame.h"
#include "recording/table.h"
#include "store/store.h"

#define MAX_EVENTS	1024
#define MAX_FRAMES	4096
#define MAX_TEXT	65536
#define MAX_SAMPLES	(1ULL << 32)
#define NS_PER_S	1000000000ULL

enum part { PART_INFO, PART_EVENTS, PART_SAMPLES, PART_STACKS, PARTS };

struct stack {
	uint64_t	 st_number;
	uint64_t	*st_word;	/* kernel, user, script */
	uint32_t	 st_nkernel;
	uint32_t	 st_nuser;
	uint32_t	 st_nscript;
	uint8_t		 st_kstatus;
	uint8_t		 st_ustatus;
};

struct event {
	char		*ev_name;
	uint64_t	 ev_samples;	/* in its accounts */
	uint64_t	 ev_found;	/* in the samples */
};

struct task {
	uint32_t	 ta_pid;
	uint32_t	 ta_tid;
	char		 ta_comm[16];
};

/* A frame as the store has it. */
struct frame {
	struct prof_places_text fr_name, fr_module, fr_build, fr_kind,
			 fr_unresolved;
};

struct store {
	struct prof_import *so_import;
	struct prof_places *so_places;
	struct cursor	 so_part[PARTS];
	struct event	 so_event[MAX_EVENTS];
	struct prof_accounting so_sum[MAX_EVENTS];
	size_t		 so_nevents;
	struct prof_dict so_by_event;
	struct prof_dict so_by_task;
	struct task	*so_task;
	size_t		 so_ntasks;
	size_t		 so_cap_tasks;
	struct stack	*so_stack;	/* by number */
	size_t		 so_nstacks;
	size_t		 so_cap_stacks;
	struct prof_dict so_codes;
	struct prof_buf	 so_code_table;
	uint64_t	 so_from_ns;
	uint64_t	 so_to_ns;
	uint64_t	 so_recordings;
	uint64_t	 so_hosts;
	uint64_t	 so_no_stack;	/* samples whose stack is missing */
	struct frame	 so_frame[MAX_FRAMES];
	uint64_t	 so_word[3][MAX_FRAMES + 1];
};

static int
no_memory(struct store *store)
{
	return (prof_fail_nomem(&store->so_import->im_error));
}

static int
answer_refuse(struct store *store)
{
	return (prof_fail(&store->so_import->im_error, PROF_E_FORMAT,
	    "the answer of the store is malformed"));
}

/* -------------------------------------------------------------- values */

static struct prof_places_text
text_take(struct cursor *cursor)
{
	uint64_t length = cursor_uleb(cursor);
	struct prof_places_text text = { cursor->cu_at, length };

	if (length > MAX_TEXT)
		cursor->cu_over = true;
	cursor_skip(cursor, length);
	if (cursor->cu_over)
		text = (struct prof_places_text){ "", 0 };
	return (text);
}

static char *
text_copy(struct prof_places_text text)
{
	return (strndup(text.px_at, text.px_length));
}

static bool
text_is(struct prof_places_text text, const char *what)
{
	return (text.px_length == strlen(what) &&
	    memcmp(text.px_at, what, text.px_length) == 0);
}

static bool
has_more(const struct cursor *cursor)
{
	return (!cursor->cu_over && cursor->cu_at < cursor->cu_end);
}

static int
parts_find(struct store *store)
{
	const struct prof_import *import = store->so_import;
	struct cursor all = { import->im_bytes + PROF_STORE_MAGIC_LEN,
	    import->im_bytes + import->im_length, false };

	for (unsigned n = 0; n < PARTS; n++) {
		const uint64_t length = cursor_fixed(&all, 8);

		store->so_part[n].cu_at = all.cu_at;
		cursor_skip(&all, length);
		store->so_part[n].cu_end = all.cu_at;
	}
	return (all.cu_over ? answer_refuse(store) : 0);
}

/* ------------------------------------------------------- infos, events */

static int
infos_take(struct store *store)
{
	struct cursor *cursor = &store->so_part[PART_INFO];
	struct prof_import *import = store->so_import;
	int rv = 0;

	while (rv == 0 && has_more(cursor)) {
		char *key = text_copy(text_take(cursor));
		char *value = text_copy(text_take(cursor));

		if (key == NULL || value == NULL)
			rv = no_memory(store);
		else if (!cursor->cu_over && strcmp(key, "import") != 0)
			rv = prof_import_info(import, key, value);
		free(key);
		free(value);
	}
	return (rv == 0 && cursor->cu_over ? answer_refuse(store) : rv);
}

static void
counters_take(struct cursor *cursor, struct prof_accounting *sum)
{
#define PROF_COUNTER(bit, name, type, role, source, text) \
	sum->pa_##name = (type)cursor_fixed(cursor, 8);
#define PROF_COUNTER_STACK(bit, name, status) \
	sum->pa_##name[PROF_STACK_##status] = cursor_fixed(cursor, 8);
#include "counters.def"
	sum->pa_has_count = sum->pa_enabled_ns > 0;
}

static uint64_t
larger_of(uint64_t a, uint64_t b)
{
	return (a > b ? a : b);
}

static void
times_take(struct store *store, struct cursor *cursor)
{
	const uint64_t from_ns = cursor_fixed(cursor, 8);
	const uint64_t to_ns = cursor_fixed(cursor, 8);

	if (store->so_from_ns == 0 || from_ns < store->so_from_ns)
		store->so_from_ns = from_ns;
	if (to_ns > store->so_to_ns)
		store->so_to_ns = to_ns;
	store->so_recordings = larger_of(store->so_recordings,
	    cursor_fixed(cursor, 8));
	store->so_hosts = larger_of(store->so_hosts, cursor_fixed(cursor, 8));
}

static int
event_say(struct store *store, struct cursor *cursor, const char *name)
{
	struct prof_event_info info = {
		.pi_name = name,
		.pi_parts = DTP_P_KSTACK | DTP_P_USTACK | DTP_P_WEIGHT |
		    DTP_P_COMM,
	};
	char *text[3];
	uint64_t most;
	int rv;

	for (unsigned n = 0; n < 3; n++)
		text[n] = text_copy(text_take(cursor));
	info.pi_probe = text[0];
	info.pi_provider = text[1];
	info.pi_unit = text[2];
	info.pi_period = cursor_fixed(cursor, 8);
	most = cursor_fixed(cursor, 8);
	if (info.pi_period != most)
		info.pi_period = 0;
	info.pi_frequency_hz = cursor_fixed(cursor, 8);
	rv = text[0] == NULL || text[1] == NULL || text[2] == NULL ?
	    no_memory(store) : prof_import_event(store->so_import, &info);
	for (unsigned n = 0; n < 3; n++)
		free(text[n]);
	return (rv);
}

static int
event_take(struct store *store, struct cursor *cursor)
{
	struct event *event = &store->so_event[store->so_nevents];
	bool is_new;

	if (store->so_nevents == MAX_EVENTS)
		return (prof_fail(&store->so_import->im_error, PROF_E_FORMAT,
		    "the store has more than %d events", MAX_EVENTS));
	event->ev_name = text_copy(text_take(cursor));
	if (event->ev_name == NULL || prof_dict_find(&store->so_by_event,
	    event->ev_name, strlen(event->ev_name), &is_new) ==
	    PROF_INTERN_FAILED)
		return (no_memory(store));
	(void)cursor_fixed(cursor, 4);
	if (!is_new)
		return (answer_refuse(store));
	if (event_say(store, cursor, event->ev_name) == -1)
		return (-1);
	times_take(store, cursor);
	event->ev_samples = cursor_fixed(cursor, 8);
	(void)cursor_fixed(cursor, 8);
	counters_take(cursor, &store->so_sum[store->so_nevents++]);
	return (cursor->cu_over ? answer_refuse(store) : 0);
}

static int
events_take(struct store *store)
{
	struct cursor *cursor = &store->so_part[PART_EVENTS];

	if (!has_more(cursor)) {
		prof_fail(&store->so_import->im_error, PROF_E_FORMAT, "the "
		    "store has no samples that match the time range and "
		    "filter");
		return (prof_cure(&store->so_import->im_error, "run dtprof "
		    "store status to see what the store has, or use another "
		    "--filter"));
	}
	while (has_more(cursor))
		if (event_take(store, cursor) == -1)
			return (-1);
	return (0);
}

/* --------------------------------------------------------------- stacks */

static uint8_t
status_of(struct prof_places_text text)
{
	for (unsigned n = 0; n < PROF_STACK_NSTATUS; n++)
		if (text_is(text, prof_stack_status_name(n)))
			return ((uint8_t)n);
	return (PROF_STACK_NONE);
}

static unsigned
kind_of(struct prof_places_text text)
{
	for (unsigned kind = 0; kind < PROF_FRAME_NKINDS; kind++)
		if (text_is(text, prof_frame_kind_name(kind)))
			return (kind);
	return (PROF_FRAME_NATIVE);
}

/* Where there is no file, the pc says why (process/symbols.c). */
static uint64_t
pc_of(struct store *store, const struct frame *frame, bool in_kernel)
{
	static const struct prof_places_text none = { "", 0 };
	static const enum prof_unnamed nowhere[] = {
		PROF_UNNAMED_NOPROC, PROF_UNNAMED_NOMAP, PROF_UNNAMED_ANON,
		PROF_UNNAMED_OVER
	};
	const struct prof_places_text why = frame->fr_unresolved;
	uint32_t module;

	for (size_t n = 0; n < sizeof(nowhere) / sizeof(nowhere[0]); n++)
		if (text_is(why, prof_unnamed_name(nowhere[n])))
			return ((uint64_t)nowhere[n] << 4 | 8);
	module = prof_places_module(store->so_places, frame->fr_module,
	    frame->fr_build);
	return (module == UINT32_MAX ? 0 : prof_places_pc(store->so_places,
	    module, in_kernel, why.px_length > 0 ? none : frame->fr_name));
}

static int
code_word(struct store *store, const struct frame *frame, unsigned kind,
    uint64_t *word)
{
	const struct prof_table head = { .tb_kind = PROF_TABLE_SCRIPT };
	struct prof_table_code code = { .tc_line = 0 };
	struct prof_buf key = { 0 };
	char *name, *file;
	bool is_new;

	prof_buf_varint(&key, kind);
	prof_buf_varint(&key, frame->fr_name.px_length);
	prof_buf_bytes(&key, frame->fr_name.px_at, frame->fr_name.px_length);
	prof_buf_bytes(&key, frame->fr_module.px_at,
	    frame->fr_module.px_length);
	code.tc_number = key.bf_failed ? PROF_INTERN_FAILED : prof_dict_find(
	    &store->so_codes, key.bf_data, key.bf_len, &is_new);
	prof_buf_free(&key);
	if (code.tc_number >= 1u << 24)
		return (no_memory(store));
	*word = (uint64_t)kind << 56 | (uint64_t)code.tc_number <<
	    PROF_FRAME_INSTRUCTION_BITS;
	if (!is_new || frame->fr_unresolved.px_length > 0)
		return (0);
	code.tc_name = name = text_copy(frame->fr_name);
	code.tc_file = file = text_copy(frame->fr_module);
	if (store->so_code_table.bf_len == 0)
		prof_table_pack(&store->so_code_table, &head);
	if (name != NULL && file != NULL)
		prof_table_pack_code(&store->so_code_table, &code);
	else
		store->so_code_table.bf_failed = true;
	free(name);
	free(file);
	return (store->so_code_table.bf_failed ? no_memory(store) : 0);
}

/* A run of script frames stands for one native frame, which is made up. */
static int
run_end(struct store *store, struct stack *stack)
{
	const struct prof_places_text name = { "[interpreter]", 13 };
	const struct frame frame = { .fr_name = name, .fr_module = name };
	const uint64_t pc = pc_of(store, &frame, false);

	store->so_word[1][stack->st_nuser++] = pc;
	store->so_word[2][stack->st_nscript++] =
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_INTERPRETER, stack->st_nuser);
	return (pc == 0 ? -1 : 0);
}

/* Frames lie outermost first, records have them innermost first. */
static int
words_make(struct store *store, struct stack *stack, size_t n)
{
	bool is_run = false;
	unsigned kind;
	uint64_t word = 0;

	while (n-- > 0) {
		const struct frame *frame = &store->so_frame[n];

		kind = kind_of(frame->fr_kind);
		if (kind >= PROF_FRAME_PYTHON && kind < PROF_FRAME_BOUNDARY) {
			if (code_word(store, frame, kind, &word) == -1)
				return (-1);
			store->so_word[2][stack->st_nscript++] = word;
			is_run = true;
			continue;
		}
		if (is_run && run_end(store, stack) == -1)
			return (-1);
		is_run = false;
		word = kind == PROF_FRAME_BOUNDARY ? PROF_WORD_GAP :
		    pc_of(store, frame, kind == PROF_FRAME_KERNEL);
		if (word == 0)
			return (-1);
		if (kind == PROF_FRAME_KERNEL)
			store->so_word[0][stack->st_nkernel++] = word;
		else
			store->so_word[1][stack->st_nuser++] = word;
	}
	return (is_run ? run_end(store, stack) : 0);
}

static int
stack_keep(struct store *store, struct stack *stack)
{
	const size_t n[3] = { stack->st_nkernel, stack->st_nuser,
	    stack->st_nscript };
	struct stack *kept = prof_grow((void **)&store->so_stack,
	    &store->so_nstacks, &store->so_cap_stacks, sizeof(*kept));
	uint64_t *at;

	at = stack->st_word = calloc(n[0] + n[1] + n[2] + 1, sizeof(*at));
	if (kept == NULL || at == NULL) {
		free(at);
		return (no_memory(store));
	}
	for (unsigned list = 0; list < 3; at += n[list++])
		memcpy(at, store->so_word[list], n[list] * sizeof(*at));
	*kept = *stack;
	return (0);
}

static int
stack_take(struct store *store, struct cursor *cursor)
{
	struct stack stack = { .st_number = cursor_fixed(cursor, 8) };
	const size_t at[] = { offsetof(struct frame, fr_name),
	    offsetof(struct frame, fr_module),
	    offsetof(struct frame, fr_build),
	    offsetof(struct frame, fr_kind),
	    offsetof(struct frame, fr_unresolved) };
	uint64_t n = 0, first = 0;

	memset(store->so_frame, 0, sizeof(store->so_frame[0]));
	for (unsigned c = 0; c < 5; c++) {
		n = cursor_uleb(cursor);
		if (c == 0)
			first = n;
		if (n > MAX_FRAMES / 2 || n != first)
			return (answer_refuse(store));
		for (uint64_t i = 0; i < n; i++)
			*(struct prof_places_text *)((char *)
			    &store->so_frame[i] + at[c]) = text_take(cursor);
	}
	stack.st_kstatus = status_of(text_take(cursor));
	stack.st_ustatus = status_of(text_take(cursor));
	if (cursor->cu_over || (store->so_nstacks > 0 && store->so_stack[
	    store->so_nstacks - 1].st_number >= stack.st_number))
		return (answer_refuse(store));
	return (words_make(store, &stack, n) == -1 ? -1 :
	    stack_keep(store, &stack));
}

static const struct stack *
stack_find(const struct store *store, uint64_t number)
{
	size_t low = 0, high = store->so_nstacks, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (store->so_stack[middle].st_number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return (low < store->so_nstacks &&
	    store->so_stack[low].st_number == number ? &store->so_stack[low] :
	    NULL);
}

/* -------------------------------------------------------------- samples */

/* Keep the last name of each thread: tasks_say writes it before samples. */
static int
task_take(struct store *store, const struct prof_record *sample)
{
	const struct task key = { sample->pr_pid, sample->pr_tid, "" };
	struct task *task;
	bool is_new;
	const uint32_t n = prof_dict_find(&store->so_by_task, &key,
	    offsetof(struct task, ta_comm), &is_new);

	task = n == PROF_INTERN_FAILED ? NULL : !is_new ?
	    &store->so_task[n] : prof_grow((void **)&store->so_task,
	    &store->so_ntasks, &store->so_cap_tasks, sizeof(*task));
	if (task == NULL)
		return (no_memory(store));
	*task = key;
	(void)strncpy(task->ta_comm, sample->pr_comm,
	    sizeof(task->ta_comm) - 1);
	return (0);
}

static int
tasks_say(struct store *store)
{
	struct prof_record record = { .pr_type = PROF_R_TASK,
	    .pr_time_ns = store->so_from_ns, .pr_path = "" };

	for (size_t n = 0; n < store->so_ntasks; n++) {
		record.pr_pid = store->so_task[n].ta_pid;
		record.pr_tid = store->so_task[n].ta_tid;
		record.pr_comm = store->so_task[n].ta_comm;
		if (prof_import_add(store->so_import, &record) == -1)
			return (-1);
	}
	return (0);
}

static void
sample_stack(struct store *store, struct prof_record *record, uint64_t number,
    uint64_t n)
{
	const struct stack *stack = stack_find(store, number);

	if (stack == NULL) {
		store->so_no_stack += n;
		return;
	}
	record->pr_nkernel = stack->st_nkernel;
	record->pr_nuser = stack->st_nuser;
	record->pr_nscript = stack->st_nscript;
	record->pr_kernel = stack->st_word;
	record->pr_user = stack->st_word + stack->st_nkernel;
	record->pr_script = record->pr_user + stack->st_nuser;
	record->pr_kstatus = stack->st_kstatus;
	record->pr_ustatus = stack->st_ustatus;
	record->pr_in_kernel = stack->st_nkernel > 0;
	record->pr_ip = stack->st_nkernel + stack->st_nuser > 0 ?
	    stack->st_word[0] : 0;
}

/* Take a row: its thread (is_task), or its samples. */
static int
sample_take(struct store *store, struct cursor *cursor, bool is_task,
    uint64_t *time_ns)
{
	const uint64_t at_ns = cursor_fixed(cursor, 4) * NS_PER_S;
	const struct prof_places_text name = text_take(cursor);
	struct prof_accounting ignored = { 0 };
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_path = "" };
	uint64_t stack, n;
	char *comm;
	int rv;

	record.pr_event = prof_dict_peek(&store->so_by_event, name.px_at,
	    name.px_length);
	record.pr_pid = (uint32_t)cursor_fixed(cursor, 4);
	record.pr_tid = (uint32_t)cursor_fixed(cursor, 4);
	record.pr_cpu = (uint32_t)cursor_fixed(cursor, 2);
	record.pr_comm = comm = text_copy(text_take(cursor));
	stack = cursor_fixed(cursor, 8);
	record.pr_weight = cursor_fixed(cursor, 8);
	n = cursor_fixed(cursor, 8);
	if (comm == NULL)
		return (no_memory(store));
	if (cursor->cu_over || record.pr_event == PROF_INTERN_FAILED ||
	    n > MAX_SAMPLES - store->so_import->im_samples)
		rv = answer_refuse(store);
	else if (is_task)
		rv = task_take(store, &record);
	else {
		if (at_ns > *time_ns)
			*time_ns = at_ns;
		store->so_event[record.pr_event].ev_found += n;
		sample_stack(store, &record, stack, n);
		rv = prof_import_repeat(store->so_import, &record, n,
		    &ignored, time_ns);
	}
	free(comm);
	return (rv);
}

static int
samples_take(struct store *store, bool is_task)
{
	struct cursor cursor = store->so_part[PART_SAMPLES];
	uint64_t time_ns = store->so_from_ns;

	while (has_more(&cursor))
		if (sample_take(store, &cursor, is_task, &time_ns) == -1)
			return (-1);
	if (!is_task && time_ns >= store->so_to_ns)
		store->so_to_ns = time_ns + 1;
	return (0);
}

/* ------------------------------------------------------------------ all */

static int
notes_say(struct store *store)
{
	struct prof_import *import = store->so_import;
	uint64_t wanted = 0, found = 0;

	for (size_t n = 1; n < store->so_nevents; n++) {
		wanted += store->so_event[n].ev_samples;
		found += store->so_event[n].ev_found;
	}
	if (wanted != found && prof_import_say(import, "the store has %llu "
	    "samples, but its accounts table says %llu samples",
	    (unsigned long long)found, (unsigned long long)wanted) == -1)
		return (-1);
	if (store->so_no_stack > 0 && prof_import_say(import, "the store has "
	    "no stacks for %llu samples",
	    (unsigned long long)store->so_no_stack) == -1)
		return (-1);
	return (store->so_recordings < 2 ? 0 : prof_import_say(import,
	    "%llu recordings of %llu hosts: processes with the same ID on "
	    "different hosts are not distinguished",
	    (unsigned long long)store->so_recordings,
	    (unsigned long long)store->so_hosts));
}

static int
mark_say(struct store *store, enum prof_record_type type, uint64_t time_ns)
{
	const struct prof_record record = { .pr_type = type, .pr_comm = "",
	    .pr_path = "", .pr_time_ns = time_ns };

	return (prof_import_add(store->so_import, &record));
}

/* "path" is the back end's: what was recorded is a store's now. */
static int
answers_convert(struct store *store)
{
	struct prof_import *import = store->so_import;
	struct cursor *stacks = &store->so_part[PART_STACKS];

	if (parts_find(store) == -1 || infos_take(store) == -1 ||
	    prof_import_info(import, "store", "clickhouse") == -1 ||
	    events_take(store) == -1)
		return (-1);
	while (has_more(stacks))
		if (stack_take(store, stacks) == -1)
			return (-1);
	if (samples_take(store, true) == -1 || tasks_say(store) == -1 ||
	    prof_places_say_memory(
	    store->so_places, PROF_PLACES_PID, store->so_from_ns) == -1 ||
	    mark_say(store, PROF_R_START, store->so_from_ns) == -1 ||
	    samples_take(store, false) == -1 ||
	    mark_say(store, PROF_R_STOP, store->so_to_ns) == -1 ||
	    prof_places_say_tables(store->so_places) == -1 ||
	    notes_say(store) == -1)
		return (-1);
	if (store->so_code_table.bf_len > 0 && prof_import_symbols(import,
	    store->so_code_table.bf_data, store->so_code_table.bf_len) == -1)
		return (-1);
	return (prof_import_accounting(import, store->so_sum,
	    store->so_nevents));
}

int
prof_import_store(struct prof_import *import)
{
	struct store *store = calloc(1, sizeof(*store));
	int rv = -1;

	if (store == NULL)
		return (prof_fail_nomem(&import->im_error));
	store->so_import = import;
	store->so_places = prof_places_new(import);
	if (store->so_places != NULL)
		rv = answers_convert(store);
	for (size_t n = 0; n <= store->so_nevents && n < MAX_EVENTS; n++)
		free(store->so_event[n].ev_name);
	for (size_t n = 0; n < store->so_nstacks; n++)
		free(store->so_stack[n].st_word);
	free(store->so_stack);
	prof_dict_free(&store->so_by_event);
	prof_dict_free(&store->so_by_task);
	free(store->so_task);
	prof_dict_free(&store->so_codes);
	prof_buf_free(&store->so_code_table);
	prof_places_free(store->so_places);
	free(store);
	return (rv);
}

bool
prof_import_is_store(const uint8_t *bytes, size_t length)
{
	return (length >= PROF_STORE_MAGIC_LEN && memcmp(bytes,
	    PROF_STORE_MAGIC, PROF_STORE_MAGIC_LEN) == 0);
}
