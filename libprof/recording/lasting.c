/* SPDX-License-Identifier: ISC */
/*
 * See lasting.h.  Process events are a log in the order in which they came.
 * From time to time the log is read backwards, and what is over is dropped:
 *
 *	EXIT		of a process: everything of it before, unless a child
 *			that lives still has its mappings
 *	EXEC, COMM	those before it, but for the name with which an exec
 *			begins: by it the reader knows what the exec mapped
 *	MMAP		what it replaces
 *
 * A process that exited just now is kept for a while, for samples that come
 * with its last steps in the kernel.
 *
 * There is room for a number of mappings and of bytes of symbols, for which
 * the oldest make way.
 *
 * Called by write.c and write_base.c, in the thread that packs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/intern.h"
#include "lasting.h"

#define LAG_NS		1000000000ULL	/* an exit this new is not over */
#define FIRST		4096u		/* records before the first look */
#define MAX_MAPPINGS	(1u << 17)
#define MAX_SYMBOLS	(16u << 20)	/* bytes */

/* Members of struct prof_record, without those of samples. */
struct entry {
	uint64_t	 en_time_ns;
	uint64_t	 en_addr;
	uint64_t	 en_len;
	uint64_t	 en_offset;
	uint64_t	 en_dev;
	uint64_t	 en_ino;
	uint64_t	 en_weight;
	char		*en_path;	/* comm follows its NUL; owned */
	uint32_t	 en_event;
	uint32_t	 en_cpu;
	uint32_t	 en_pid;
	uint32_t	 en_tid;
	uint32_t	 en_ppid;
	uint32_t	 en_ptid;
	uint32_t	 en_prot;
	int		 en_code;
	uint8_t		 en_type;
	uint8_t		 en_build_id_len;
	uint8_t		 en_build_id[20];
	bool		 en_group_dead;
	bool		 en_is_kept;	/* by prof_lasting_compact */
};

struct pair {
	char		*pr_key;
	char		*pr_value;
};

struct body {
	void		*bo_bytes;
	size_t		 bo_length;
};

struct prof_lasting {
	bool		 la_has_symbols;
	struct pair	*la_pair;
	size_t		 la_npairs;
	struct prof_buf	 la_events;	/* as ba_event */
	struct entry	*la_entry;
	size_t		 la_n;
	size_t		 la_cap;
	size_t		 la_look;	/* so many: time to compact */
	struct body	*la_symbols;
	size_t		 la_nsymbols;
	size_t		 la_symbol_cap;
	size_t		 la_symbol_bytes;
};

struct prof_lasting *
prof_lasting_new(bool has_symbols)
{
	struct prof_lasting *lasting = calloc(1, sizeof(*lasting));

	if (lasting == NULL)
		return (NULL);
	lasting->la_has_symbols = has_symbols;
	lasting->la_look = FIRST;
	return (lasting);
}

void
prof_lasting_free(struct prof_lasting *lasting)
{
	if (lasting == NULL)
		return;
	for (size_t n = 0; n < lasting->la_npairs; n++) {
		free(lasting->la_pair[n].pr_key);
		free(lasting->la_pair[n].pr_value);
	}
	for (size_t n = 0; n < lasting->la_n; n++)
		free(lasting->la_entry[n].en_path);
	for (size_t n = 0; n < lasting->la_nsymbols; n++)
		free(lasting->la_symbols[n].bo_bytes);
	prof_buf_free(&lasting->la_events);
	free(lasting->la_pair);
	free(lasting->la_entry);
	free(lasting->la_symbols);
	free(lasting);
}

/* ------------------------------------------------------- descriptions */

int
prof_lasting_info(struct prof_lasting *lasting, const char *key,
    const char *value)
{
	char *copy = strdup(value);
	struct pair *pair = NULL;

	if (copy == NULL)
		return (-1);
	for (size_t n = 0; n < lasting->la_npairs; n++)
		if (strcmp(lasting->la_pair[n].pr_key, key) == 0)
			pair = &lasting->la_pair[n];
	if (pair != NULL) {
		free(pair->pr_value);
		pair->pr_value = copy;
		return (0);
	}
	pair = prof_append(&lasting->la_pair, &lasting->la_npairs,
	    sizeof(*pair));
	if (pair != NULL && (pair->pr_key = strdup(key)) != NULL) {
		pair->pr_value = copy;
		return (0);
	}
	lasting->la_npairs -= pair != NULL;
	free(copy);
	return (-1);
}

int
prof_lasting_event(struct prof_lasting *lasting, const void *body,
    size_t length)
{
	prof_buf_bytes(&lasting->la_events, body, length);
	return (lasting->la_events.bf_failed ? -1 : 0);
}

bool
prof_lasting_info_at(const struct prof_lasting *lasting, size_t n,
    const char **key, const char **value)
{
	if (n >= lasting->la_npairs)
		return (false);
	*key = lasting->la_pair[n].pr_key;
	*value = lasting->la_pair[n].pr_value;
	return (true);
}

const struct prof_buf *
prof_lasting_events(const struct prof_lasting *lasting)
{
	return (&lasting->la_events);
}

/* ------------------------------------------------------------ symbols */

/* The oldest go when they are too many. */
int
prof_lasting_symbols(struct prof_lasting *lasting, const void *body,
    size_t length)
{
	struct body *symbols;
	size_t gone = 0;
	void *copy;

	if (!lasting->la_has_symbols)
		return (0);
	if ((copy = malloc(length + 1)) == NULL)
		return (-1);
	memcpy(copy, body, length);
	symbols = prof_grow(&lasting->la_symbols, &lasting->la_nsymbols,
	    &lasting->la_symbol_cap, sizeof(*symbols));
	if (symbols == NULL) {
		free(copy);
		return (-1);
	}
	*symbols = (struct body){ copy, length };
	lasting->la_symbol_bytes += length;
	while (lasting->la_symbol_bytes > MAX_SYMBOLS &&
	    gone + 1 < lasting->la_nsymbols) {
		lasting->la_symbol_bytes -=
		    lasting->la_symbols[gone].bo_length;
		free(lasting->la_symbols[gone++].bo_bytes);
	}
	lasting->la_nsymbols -= gone;
	memmove(lasting->la_symbols, lasting->la_symbols + gone,
	    lasting->la_nsymbols * sizeof(*symbols));
	return (0);
}

const void *
prof_lasting_symbols_at(const struct prof_lasting *lasting, size_t n,
    size_t *length)
{
	if (n >= lasting->la_nsymbols)
		return (NULL);
	*length = lasting->la_symbols[n].bo_length;
	return (lasting->la_symbols[n].bo_bytes);
}

/* ----------------------------------------------------- process events */

static bool
record_lasts(const struct prof_record *record)
{
	switch (record->pr_type) {
	case PROF_R_TASK:
	case PROF_R_FORK:
	case PROF_R_EXEC:
	case PROF_R_EXIT:
	case PROF_R_COMM:
	case PROF_R_MMAP:
	case PROF_R_KSYMBOL:
	case PROF_R_START:
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		return (true);
	case PROF_R_LOST:
		return (record->pr_addr == 0);	/* of the sideband */
	default:
		return (false);
	}
}

/* Path and name in one piece of memory. */
static char *
texts_copy(const struct prof_record *record)
{
	const char *path = record->pr_path == NULL ? "" : record->pr_path;
	const char *comm = record->pr_comm == NULL ? "" : record->pr_comm;
	const size_t length = strlen(path) + 1;
	char *copy = malloc(length + strlen(comm) + 1);

	if (copy != NULL) {
		memcpy(copy, path, length);
		strcpy(copy + length, comm);
	}
	return (copy);
}

static void
entry_fill(struct entry *entry, const struct prof_record *record)
{
	*entry = (struct entry){
		.en_type = (uint8_t)record->pr_type,
		.en_time_ns = record->pr_time_ns,
		.en_event = record->pr_event,
		.en_cpu = record->pr_cpu,
		.en_pid = record->pr_pid,
		.en_tid = record->pr_tid,
		.en_weight = record->pr_weight,
		.en_ppid = record->pr_ppid,
		.en_ptid = record->pr_ptid,
		.en_code = record->pr_code,
		.en_group_dead = record->pr_group_dead != 0,
		.en_addr = record->pr_addr,
		.en_len = record->pr_len,
		.en_offset = record->pr_offset,
		.en_prot = record->pr_prot,
		.en_dev = record->pr_dev,
		.en_ino = record->pr_ino,
		.en_build_id_len =
		    record->pr_build_id_len < sizeof(entry->en_build_id) ?
		    (uint8_t)record->pr_build_id_len :
		    (uint8_t)sizeof(entry->en_build_id),
	};
	memcpy(entry->en_build_id, record->pr_build_id,
	    sizeof(entry->en_build_id));
}

int
prof_lasting_record(struct prof_lasting *lasting,
    const struct prof_record *record)
{
	struct entry *entry;
	char *texts;

	if (!record_lasts(record))
		return (0);
	if (lasting->la_n >= lasting->la_look &&
	    prof_lasting_compact(lasting) == -1)
		return (-1);
	if ((texts = texts_copy(record)) == NULL)
		return (-1);
	entry = prof_grow(&lasting->la_entry, &lasting->la_n,
	    &lasting->la_cap, sizeof(*entry));
	if (entry == NULL) {
		free(texts);
		return (-1);
	}
	entry_fill(entry, record);
	entry->en_path = texts;
	return (0);
}

bool
prof_lasting_record_at(const struct prof_lasting *lasting, size_t n,
    struct prof_record *record)
{
	const struct entry *entry;

	if (n >= lasting->la_n)
		return (false);
	entry = &lasting->la_entry[n];
	*record = (struct prof_record){
		.pr_type = (enum prof_record_type)entry->en_type,
		.pr_time_ns = entry->en_time_ns,
		.pr_event = entry->en_event,
		.pr_cpu = entry->en_cpu,
		.pr_pid = entry->en_pid,
		.pr_tid = entry->en_tid,
		.pr_weight = entry->en_weight,
		.pr_ppid = entry->en_ppid,
		.pr_ptid = entry->en_ptid,
		.pr_code = entry->en_code,
		.pr_group_dead = entry->en_group_dead,
		.pr_addr = entry->en_addr,
		.pr_len = entry->en_len,
		.pr_offset = entry->en_offset,
		.pr_prot = entry->en_prot,
		.pr_dev = entry->en_dev,
		.pr_ino = entry->en_ino,
		.pr_build_id_len = entry->en_build_id_len,
		.pr_path = entry->en_path,
		.pr_comm = entry->en_path + strlen(entry->en_path) + 1,
	};
	memcpy(record->pr_build_id, entry->en_build_id,
	    sizeof(entry->en_build_id));
	return (true);
}

/* ------------------------------------------------------- what is over */

/* Of a process, from the end of the log to where it is being read. */
struct process {
	size_t		 po_exit;	/* record + 1 that ends it; 0: none */
	bool		 po_is_over;	/* nobody needs what was before */
	bool		 po_has_exec;
	uint32_t	 po_epoch;	/* what is mapped replaces this alone */
};

struct thread {
	bool		 th_is_over;
	bool		 th_has_name;
	bool		 th_has_begin;
};

struct look {
	struct prof_lasting *lo_lasting;
	uint64_t	 lo_newest_ns;
	struct prof_map	 lo_pids;
	struct prof_map	 lo_tids;
	struct prof_dict lo_mapped;
	struct process	*lo_process;
	size_t		 lo_nprocesses;
	size_t		 lo_process_cap;
	struct thread	*lo_thread;
	size_t		 lo_nthreads;
	size_t		 lo_thread_cap;
	size_t		 lo_nmapped;
	bool		 lo_has_start;
	bool		 lo_has_pause;
	bool		 lo_has_lost;
};

/* NULL: no memory.  Those of processes are borrowed until the next call. */
static struct process *
process_of(struct look *look, uint32_t pid)
{
	bool is_new;
	const uint32_t n = prof_map_find(&look->lo_pids, pid, &is_new);

	if (n == PROF_INTERN_FAILED || (is_new && prof_grow(&look->lo_process,
	    &look->lo_nprocesses, &look->lo_process_cap,
	    sizeof(*look->lo_process)) == NULL))
		return (NULL);
	return (&look->lo_process[n]);
}

static struct thread *
thread_of(struct look *look, uint32_t tid)
{
	bool is_new;
	const uint32_t n = prof_map_find(&look->lo_tids, tid, &is_new);

	if (n == PROF_INTERN_FAILED || (is_new && prof_grow(&look->lo_thread,
	    &look->lo_nthreads, &look->lo_thread_cap,
	    sizeof(*look->lo_thread)) == NULL))
		return (NULL);
	return (&look->lo_thread[n]);
}

static void
look_exit(struct look *look, size_t n, struct process *process,
    struct thread *thread)
{
	struct entry *entry = &look->lo_lasting->la_entry[n];

	if (entry->en_time_ns + LAG_NS > look->lo_newest_ns)
		entry->en_is_kept = true;
	else if (entry->en_group_dead)
		*process = (struct process){ .po_exit = n + 1,
		    .po_is_over = true };
	else
		*thread = (struct thread){ .th_is_over = true };
}

/* A child that has made no exec since has what its parent had mapped. */
static int
look_parent(struct look *look, uint32_t pid)
{
	struct process *parent = process_of(look, pid);

	if (parent == NULL)
		return (-1);
	parent->po_is_over = parent->po_has_exec = false;
	parent->po_epoch++;
	if (parent->po_exit != 0)
		look->lo_lasting->la_entry[parent->po_exit - 1].en_is_kept =
		    true;
	return (0);
}

static int
look_task(struct look *look, struct entry *entry, struct process *process,
    struct thread *thread)
{
	const bool is_process = entry->en_pid == entry->en_tid;
	const bool has_exec = process->po_has_exec;

	if (process->po_is_over || thread->th_has_begin ||
	    (thread->th_is_over && !is_process))
		return (0);
	entry->en_is_kept = thread->th_has_begin = true;
	if (entry->en_type != PROF_R_FORK || !is_process || has_exec)
		return (0);
	return (look_parent(look, entry->en_ppid));
}

static int
look_mapping(struct look *look, struct entry *entry, struct process *process)
{
	const uint64_t key[] = { (uint64_t)entry->en_pid << 32 |
	    process->po_epoch, entry->en_addr, entry->en_len };
	bool is_new;

	if (process->po_is_over || look->lo_nmapped >= MAX_MAPPINGS)
		return (0);
	if (prof_dict_find(&look->lo_mapped, key, sizeof(key), &is_new) ==
	    PROF_INTERN_FAILED)
		return (-1);
	entry->en_is_kept = is_new;
	look->lo_nmapped += is_new;
	return (0);
}

static void
look_exec(struct entry *entry, struct process *process,
    struct thread *thread)
{
	if (process->po_is_over || process->po_has_exec)
		return;
	entry->en_is_kept = process->po_has_exec = true;
	process->po_epoch++;
	thread->th_has_name = false;
}

/* The last of a kind. */
static bool
look_once(bool *seen)
{
	const bool is_last = !*seen;

	*seen = true;
	return (is_last);
}

static int
look_at(struct look *look, size_t n)
{
	struct entry *entry = &look->lo_lasting->la_entry[n];
	struct thread *thread = thread_of(look, entry->en_tid);
	struct process *process = process_of(look, entry->en_pid);

	if (process == NULL || thread == NULL)
		return (-1);
	switch (entry->en_type) {
	case PROF_R_EXIT:
		look_exit(look, n, process, thread);
		return (0);
	case PROF_R_FORK:
	case PROF_R_TASK:
		return (look_task(look, entry, process, thread));
	case PROF_R_EXEC:
		look_exec(entry, process, thread);
		return (0);
	case PROF_R_COMM:
		entry->en_is_kept = !process->po_is_over &&
		    (!thread->th_is_over || entry->en_pid == entry->en_tid) &&
		    look_once(&thread->th_has_name);
		return (0);
	case PROF_R_MMAP:
	case PROF_R_KSYMBOL:
		return (look_mapping(look, entry, process));
	case PROF_R_START:
		entry->en_is_kept = look_once(&look->lo_has_start);
		return (0);
	case PROF_R_LOST:
		entry->en_is_kept = look_once(&look->lo_has_lost);
		return (0);
	default:	/* a pause that goes on */
		entry->en_is_kept = look_once(&look->lo_has_pause) &&
		    entry->en_type == PROF_R_PAUSE;
		return (0);
	}
}

static void
entries_keep(struct prof_lasting *lasting)
{
	size_t kept = 0;

	for (size_t n = 0; n < lasting->la_n; n++)
		if (lasting->la_entry[n].en_is_kept)
			lasting->la_entry[kept++] = lasting->la_entry[n];
		else
			free(lasting->la_entry[n].en_path);
	lasting->la_n = kept;
	lasting->la_look = 2 * kept + FIRST;
}

static void
look_free(struct look *look)
{
	prof_map_free(&look->lo_pids);
	prof_map_free(&look->lo_tids);
	prof_dict_free(&look->lo_mapped);
	free(look->lo_process);
	free(look->lo_thread);
}

int
prof_lasting_compact(struct prof_lasting *lasting)
{
	struct look look = { .lo_lasting = lasting };
	size_t n;
	int rv = 0;

	for (n = 0; n < lasting->la_n; n++) {
		lasting->la_entry[n].en_is_kept = false;
		if (lasting->la_entry[n].en_time_ns > look.lo_newest_ns)
			look.lo_newest_ns = lasting->la_entry[n].en_time_ns;
	}
	while (n-- > 0 && rv == 0)
		rv = look_at(&look, n);
	look_free(&look);
	if (rv == 0)
		entries_keep(lasting);
	return (rv);
}

void
prof_lasting_restart(struct prof_lasting *lasting)
{
	for (size_t n = 0; n < lasting->la_n; n++) {
		const uint8_t type = lasting->la_entry[n].en_type;

		lasting->la_entry[n].en_is_kept = type != PROF_R_START &&
		    type != PROF_R_PAUSE && type != PROF_R_RESUME;
	}
	entries_keep(lasting);
}
