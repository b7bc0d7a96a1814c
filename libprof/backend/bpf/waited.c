/* SPDX-License-Identifier: ISC */
/*
 * What a thread waits for, as text: the arguments lock, file and holder of the
 * event off-cpu, which are numbers in the record (sys/abi/dtp_object.h).
 * What is not known is "-".
 *
 * The kernel gave the inode of a file, and /proc gives its path: only if the
 * process still has the same inode at this descriptor.  The file itself is not
 * looked at, because looking could wait as long as the thread does.
 *
 * A holder is a thread that had this ID, in the same process, when the wait
 * began: the recorder sees threads come and go in order of time.
 *
 * Called by the drain for samples of waits, and by backend.c.
 */
#include <sys/stat.h>

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/dtp_object.h"
#include "backend/bpf/bpf_impl.h"
#include "base/grow.h"
#include "base/intern.h"

#define UNKNOWN	"-"
#define ENDED	4096	/* threads that ended and are known still */

struct thread {
	uint64_t	th_fork_ns;	/* 0: before the recording */
	uint64_t	th_exit_ns;	/* UINT64_MAX: it is alive */
	uint32_t	th_pid;
	uint32_t	th_tid;
	char		th_comm[DTP_COMM_LEN];
};

struct prof_waited {
	struct prof_map	 wd_by_tid;
	struct thread	*wd_thread;	/* by its number there */
	size_t		 wd_n;
	size_t		 wd_cap;
	size_t		 wd_ended;	/* of them */
};

struct prof_waited *
prof_waited_new(void)
{
	return (calloc(1, sizeof(struct prof_waited)));
}

void
prof_waited_free(struct prof_waited *waited)
{
	if (waited == NULL)
		return;
	prof_map_free(&waited->wd_by_tid);
	free(waited->wd_thread);
	free(waited);
}

/* ------------------------------------------------------------- files */

/* Does the descriptor belong to this inode? */
static bool
is_inode(uint32_t pid, uint32_t fd, uint64_t inode)
{
	char path[64], *line = NULL;
	size_t size = 0;
	uint64_t found;
	bool is_same = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%u", pid, fd);
	if ((file = fopen(path, "re")) == NULL)
		return (false);
	while (!is_same && getline(&line, &size, file) != -1)
		is_same = sscanf(line, "ino: %" SCNu64, &found) == 1 &&
		    found == inode;
	free(line);
	fclose(file);
	return (is_same);
}

/* Its path, as far as there is room: of a longer one the end is "...". */
static void
path_text(const struct prof_record *record, uint32_t fd, uint64_t inode,
    char *text, size_t size)
{
	static const char cut[] = "...";
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", record->pr_pid, fd);
	length = readlink(path, text, size);
	if (length <= 0 || !is_inode(record->pr_pid, fd, inode))
		snprintf(text, size, UNKNOWN);
	else if ((size_t)length < size)
		text[length] = '\0';
	else
		memcpy(text + size - sizeof(cut), cut, sizeof(cut));
}

/* Pipes and sockets have no path, and are called as /proc calls them. */
static void
file_text(const struct prof_record *record, const uint64_t *object,
    char *text, size_t size)
{
	const uint32_t fd = (uint32_t)(object[0] >> DTP_OBJECT_SHIFT);
	const uint64_t inode = object[1];
	const mode_t mode = (mode_t)object[2];

	if (S_ISSOCK(mode))
		snprintf(text, size, "socket:[%" PRIu64 "]", inode);
	else if (S_ISFIFO(mode))
		snprintf(text, size, "pipe:[%" PRIu64 "]", inode);
	else
		path_text(record, fd, inode, text, size);
}

static void
peer_text(const uint64_t *object, char *text, size_t size)
{
	const bool is_ip6 = (object[0] & DTP_OBJECT_KIND) == DTP_O_PEER6;
	char address[INET6_ADDRSTRLEN];

	if (inet_ntop(is_ip6 ? AF_INET6 : AF_INET, &object[1], address,
	    sizeof(address)) != NULL)
		snprintf(text, size, is_ip6 ? "[%s]:%u" : "%s:%u", address,
		    (unsigned)(object[0] >> DTP_OBJECT_SHIFT));
}

/* ------------------------------------------------------------- locks */

/* Only threads that are alive stay: a recording can outlast millions. */
static void
threads_forget(struct prof_waited *waited)
{
	bool is_new;

	prof_map_clear(&waited->wd_by_tid);
	waited->wd_ended = 0;
	for (size_t n = 0; n < waited->wd_n; n++) {
		const struct thread thread = waited->wd_thread[n];

		/* There is room: the map had more of them. */
		if (thread.th_exit_ns == UINT64_MAX)
			waited->wd_thread[prof_map_find(&waited->wd_by_tid,
			    thread.th_tid, &is_new)] = thread;
	}
	waited->wd_n = waited->wd_by_tid.mp_count;
}

static void
thread_exit(struct prof_waited *waited, const struct prof_record *record)
{
	const uint32_t n = prof_map_peek(&waited->wd_by_tid, record->pr_tid);
	struct thread *thread;

	if (n == PROF_INTERN_FAILED)
		return;
	thread = &waited->wd_thread[n];
	waited->wd_ended += thread->th_exit_ns == UINT64_MAX;
	thread->th_exit_ns = record->pr_time_ns;
	if (waited->wd_ended > ENDED && waited->wd_ended > waited->wd_n / 2)
		threads_forget(waited);
}

int
prof_waited_observe(struct prof_waited *waited,
    const struct prof_record *record)
{
	struct thread *thread;
	bool is_new;
	uint32_t n;

	if (record->pr_type == PROF_R_EXIT)
		thread_exit(waited, record);
	if (record->pr_type != PROF_R_TASK && record->pr_type != PROF_R_FORK &&
	    record->pr_type != PROF_R_EXEC && record->pr_type != PROF_R_COMM)
		return (0);
	n = prof_map_get(&waited->wd_by_tid, record->pr_tid, &is_new);
	if (n == PROF_INTERN_FAILED || (n == waited->wd_n &&
	    prof_grow(&waited->wd_thread, &waited->wd_n, &waited->wd_cap,
	    sizeof(*thread)) == NULL))
		return (-1);
	thread = &waited->wd_thread[n];
	waited->wd_ended -= !is_new && thread->th_exit_ns != UINT64_MAX;
	if (record->pr_type == PROF_R_FORK)
		thread->th_fork_ns = record->pr_time_ns;
	thread->th_exit_ns = UINT64_MAX;
	thread->th_pid = record->pr_pid;
	thread->th_tid = record->pr_tid;
	snprintf(thread->th_comm, sizeof(thread->th_comm), "%s",
	    record->pr_comm);
	return (0);
}

/* The thread that had this ID when the wait began; NULL: none is known. */
static const struct thread *
thread_at(const struct prof_waited *waited, uint32_t tid, uint64_t time_ns)
{
	const uint32_t n = prof_map_peek(&waited->wd_by_tid, tid);
	const struct thread *thread;

	if (n == PROF_INTERN_FAILED)
		return (NULL);
	thread = &waited->wd_thread[n];
	return (thread->th_fork_ns <= time_ns && time_ns < thread->th_exit_ns ?
	    thread : NULL);
}

/* A name and a thread ID; a thread of another process only if it may be. */
static void
holder_text(const struct prof_waited *waited,
    const struct prof_record *record, uint64_t holder, char *text, size_t size)
{
	const uint32_t tid = (uint32_t)holder;
	const struct thread *thread = thread_at(waited, tid,
	    record->pr_time_ns - record->pr_weight);

	if (thread != NULL && (thread->th_pid == record->pr_pid ||
	    (holder & DTP_HOLDER_SHARED) != 0))
		snprintf(text, size, "%s %u", thread->th_comm, tid);
}

void
prof_waited_take(const struct prof_waited *waited,
    struct prof_stream *stream, uint32_t first)
{
	struct prof_record *record = &stream->sm_record;
	char (*text)[PROF_OBJECT_SIZE] = stream->sm_object;
	uint64_t object[DTP_OBJECT_ARGS];

	memcpy(object, record->pr_args + first, sizeof(object));
	for (uint32_t n = 0; n < DTP_OBJECT_ARGS; n++) {
		snprintf(text[n], sizeof(text[n]), UNKNOWN);
		record->pr_args[first + n] = 0;
		record->pr_strs[first + n] = text[n];
	}
	switch (object[0] & DTP_OBJECT_KIND) {
	case DTP_O_FUTEX:
		snprintf(text[0], sizeof(text[0]), "0x%" PRIx64, object[1]);
		holder_text(waited, record, object[2], text[2],
		    sizeof(text[2]));
		return;
	case DTP_O_FILE:
		file_text(record, object, text[1], sizeof(text[1]));
		return;
	case DTP_O_PEER4:
	case DTP_O_PEER6:
		peer_text(object, text[1], sizeof(text[1]));
		return;
	default:
		return;
	}
}
