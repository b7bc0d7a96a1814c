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

struct thread {
	uint64_t	th_fork_ns;	/* 0: before the recording */
	uint64_t	th_exit_ns;
	uint32_t	th_pid;
	char		th_comm[DTP_COMM_LEN];
};

struct prof_waited {
	struct prof_map	 wd_by_tid;
	struct thread	*wd_thread;	/* by its number there */
	size_t		 wd_n;
	size_t		 wd_cap;
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

/* Pipes and sockets have no path, and are called as /proc calls them. */
static void
file_text(const struct prof_record *record, const uint64_t *object,
    char *text, size_t size)
{
	const uint32_t fd = (uint32_t)(object[0] >> DTP_OBJECT_SHIFT);
	const uint64_t inode = object[1];
	const mode_t mode = (mode_t)object[2];
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", record->pr_pid, fd);
	length = readlink(path, text, size - 1);
	if (length > 0 && is_inode(record->pr_pid, fd, inode)) {
		text[length] = '\0';
		return;
	}
	if (S_ISSOCK(mode))
		snprintf(text, size, "socket:[%" PRIu64 "]", inode);
	else if (S_ISFIFO(mode))
		snprintf(text, size, "pipe:[%" PRIu64 "]", inode);
	else
		snprintf(text, size, UNKNOWN);
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

int
prof_waited_observe(struct prof_waited *waited,
    const struct prof_record *record)
{
	struct thread *thread;
	bool is_new;
	uint32_t n;

	if (record->pr_type != PROF_R_TASK && record->pr_type != PROF_R_FORK &&
	    record->pr_type != PROF_R_EXEC && record->pr_type != PROF_R_COMM &&
	    record->pr_type != PROF_R_EXIT)
		return (0);
	n = prof_map_get(&waited->wd_by_tid, record->pr_tid, &is_new);
	if (n == PROF_INTERN_FAILED || (n == waited->wd_n &&
	    prof_grow(&waited->wd_thread, &waited->wd_n, &waited->wd_cap,
	    sizeof(*thread)) == NULL))
		return (-1);
	thread = &waited->wd_thread[n];
	if (record->pr_type == PROF_R_EXIT) {
		thread->th_exit_ns = record->pr_time_ns;
		return (0);
	}
	if (record->pr_type == PROF_R_FORK)
		thread->th_fork_ns = record->pr_time_ns;
	thread->th_exit_ns = UINT64_MAX;
	thread->th_pid = record->pr_pid;
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
