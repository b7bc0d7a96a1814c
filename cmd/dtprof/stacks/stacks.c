/* SPDX-License-Identifier: ISC */
/*
 * From samples to threads: of each thread the best look at it, what it did
 * then, and what it waited in.  Called by cmd_stacks.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/dtp_abi.h"
#include "stacks.h"

/* How good a look is. */
enum { RANK_NONE, RANK_STATE, RANK_STACK, RANK_COMPLETE };

/* The kernel's bits of a state. */
#define KERNEL_STOPPED	0x4
#define KERNEL_TRACED	0x8
#define KERNEL_FROZEN	0x8000

/* ---------------------------------------------------------- one look */

static bool
is_look(const struct prof_record *record)
{
	return (record->pr_event == STACKS_LOOK &&
	    record->pr_nargs == DTP_TH_ARGS);
}

static unsigned
rank_of(const struct prof_record *record)
{
	const uint64_t about = is_look(record) ?
	    record->pr_args[DTP_TH_ABOUT] : 0;

	if (about & DTP_TH_MOVED)
		return (RANK_NONE);
	if (about & DTP_TH_ON_CPU)
		return (RANK_STATE);
	return (record->pr_ustatus == PROF_STACK_OK ||
	    record->pr_ustatus == PROF_STACK_NONE ? RANK_COMPLETE :
	    RANK_STACK);
}

static enum stacks_state
state_of(const struct prof_record *record)
{
	const uint64_t about = is_look(record) ?
	    record->pr_args[DTP_TH_ABOUT] : DTP_TH_ON_CPU;
	const uint64_t state = is_look(record) ?
	    record->pr_args[DTP_TH_STATE] : 0;

	if (about & DTP_TH_EXITED)
		return (STACKS_EXITED);
	if (about & DTP_TH_ON_CPU)
		return (STACKS_RUNNING);
	if (about & DTP_TH_QUEUED)
		return (STACKS_RUNNABLE);
	return (state & (KERNEL_STOPPED | KERNEL_TRACED | KERNEL_FROZEN) ?
	    STACKS_STOPPED : STACKS_BLOCKED);
}

static const char *
reason_of(const struct stacks_thread *thread)
{
	const struct prof_record *record = &thread->th_record;
	const uint64_t state = record->pr_args[DTP_TH_STATE];

	if (thread->th_state == STACKS_STOPPED)
		return (state & KERNEL_TRACED ? "tracer" :
		    state & KERNEL_STOPPED ? "signal" : "freezer");
	if (thread->th_state != STACKS_BLOCKED ||
	    record->pr_args[DTP_TH_CALL] >= DTP_MAX_SYSCALL)
		return (NULL);
	return (prof_syscall_name((unsigned)record->pr_args[DTP_TH_CALL]));
}

/* ------------------------------------------------------------- files */

/* Calls that wait for the file that is their first argument. */
static bool
is_of_file(const char *call)
{
	static const char *const names[] = {
		"read", "readv", "pread64", "preadv", "preadv2", "write",
		"writev", "pwrite64", "pwritev", "pwritev2", "recvfrom",
		"recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg",
		"accept", "accept4", "connect", "epoll_wait", "epoll_pwait",
		"epoll_pwait2", "fsync", "fdatasync", "sync_file_range",
		"flock", "ioctl", "fallocate", "ftruncate", "getdents64"
	};

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (strcmp(call, names[n]) == 0)
			return (true);
	return (false);
}

/* Is it in the same call still? */
static bool
is_still_in(const struct prof_record *record)
{
	char path[64];
	uint64_t first = 0;
	long number = -1;
	FILE *file;
	int n;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall",
	    record->pr_pid, record->pr_tid);
	if ((file = fopen(path, "re")) == NULL)
		return (false);
	n = fscanf(file, "%ld %" SCNx64, &number, &first);
	fclose(file);
	return (n == 2 && (uint64_t)number == record->pr_args[DTP_TH_CALL] &&
	    first == record->pr_args[DTP_TH_ARG]);
}

/* What the descriptor is, as long as the thread waits for it. */
static char *
file_of(const struct stacks_thread *thread)
{
	const struct prof_record *record = &thread->th_record;
	char path[64], target[PATH_MAX];
	ssize_t length;

	if (thread->th_reason == NULL || thread->th_state !=
	    STACKS_BLOCKED || !is_of_file(thread->th_reason))
		return (NULL);
	snprintf(path, sizeof(path), "/proc/%u/fd/%d", record->pr_pid,
	    (int)record->pr_args[DTP_TH_ARG]);
	length = readlink(path, target, sizeof(target) - 1);
	if (length == -1 || !is_still_in(record))
		return (NULL);
	return (strndup(target, (size_t)length));
}

/* ----------------------------------------------------------- threads */

static struct stacks_thread *
thread_of(struct stacks *stacks, const struct prof_record *record)
{
	struct stacks_thread *thread;

	for (size_t n = 0; n < stacks->sa_n; n++)
		if (stacks->sa_thread[n].th_record.pr_tid == record->pr_tid &&
		    stacks->sa_thread[n].th_record.pr_pid == record->pr_pid)
			return (&stacks->sa_thread[n]);
	thread = prof_grow(&stacks->sa_thread, &stacks->sa_n,
	    &stacks->sa_cap, sizeof(*thread));
	if (thread == NULL)
		return (NULL);
	memset(thread, 0, sizeof(*thread));
	thread->th_record.pr_pid = record->pr_pid;
	thread->th_record.pr_tid = record->pr_tid;
	return (thread);
}

/* Frames of a record are the reader's. */
static int
thread_keep(struct stacks_thread *thread, const struct prof_record *record)
{
	const size_t kernel = record->pr_nkernel, user = record->pr_nuser;
	const size_t script = record->pr_nscript;
	uint64_t *frames = calloc(kernel + user + script + 1,
	    sizeof(*frames));

	if (frames == NULL)
		return (-1);
	free(thread->th_frames);
	thread->th_frames = frames;
	thread->th_record = *record;
	thread->th_record.pr_kernel = frames;
	thread->th_record.pr_user = frames + kernel;
	thread->th_record.pr_script = frames + kernel + user;
	for (size_t n = 0; n < kernel; n++)
		frames[n] = record->pr_kernel[n];
	for (size_t n = 0; n < user; n++)
		frames[kernel + n] = record->pr_user[n];
	for (size_t n = 0; n < script; n++)
		frames[kernel + user + n] = record->pr_script[n];
	snprintf(thread->th_comm, sizeof(thread->th_comm), "%s",
	    record->pr_comm == NULL ? "" : record->pr_comm);
	thread->th_record.pr_comm = "";
	/* Of one that moved meanwhile no stack is true. */
	if (thread->th_rank == RANK_NONE)
		thread->th_record.pr_nkernel = thread->th_record.pr_nuser =
		    thread->th_record.pr_nscript = thread->th_record.
		    pr_kstatus = thread->th_record.pr_ustatus = 0;
	return (0);
}

static bool
is_wanted(const struct stacks *stacks, const struct prof_record *record)
{
	for (size_t n = 0; n < stacks->sa_npids; n++)
		if ((uint32_t)stacks->sa_pid[n] == record->pr_pid)
			return (record->pr_event == STACKS_CLOCK ||
			    is_look(record));
	return (false);
}

/* The first that is complete, else the last: unwind tables are made. */
static int
sample_take(void *arg, const struct prof_record *record)
{
	struct stacks *stacks = arg;
	const unsigned rank = rank_of(record);
	struct stacks_thread *thread;

	if (!is_wanted(stacks, record))
		return (0);
	thread = thread_of(stacks, record);
	if (thread == NULL)
		return (-1);
	if (thread->th_rank == RANK_COMPLETE || rank < thread->th_rank)
		return (0);
	thread->th_rank = rank;
	return (thread_keep(thread, record));
}

static int
other_take(void *arg, const struct prof_record *record)
{
	(void)arg;
	(void)record;
	return (0);
}

static int
thread_compare(const void *a, const void *b)
{
	const struct prof_record *one = &((const struct stacks_thread *)a)->
	    th_record, *two = &((const struct stacks_thread *)b)->th_record;

	if (one->pr_pid != two->pr_pid)
		return (one->pr_pid < two->pr_pid ? -1 : 1);
	return (one->pr_tid < two->pr_tid ? -1 : one->pr_tid > two->pr_tid);
}

static bool
is_seen(const struct stacks *stacks, int pid)
{
	for (size_t n = 0; n < stacks->sa_n; n++)
		if (stacks->sa_thread[n].th_record.pr_pid == (uint32_t)pid)
			return (true);
	return (false);
}

/* Some kernels hide processes from BPF; -1: none of the processes was seen. */
static int
unseen_report(const struct stacks *stacks)
{
	for (size_t n = 0; n < stacks->sa_npids; n++) {
		const int pid = stacks->sa_pid[n];
		const char *why = kill(pid, 0) == -1 && errno == ESRCH ?
		    "the process has ended" :
		    "the process exists, but BPF does not find it";

		if (is_seen(stacks, pid))
			continue;
		if (stacks->sa_n > 0)
			msg_warning("stacks", "no thread of process %d is "
			    "shown: %s", pid, why);
		else
			msg_fail("stacks", "choose another process",
			    "no thread of process %d was seen: %s", pid, why);
	}
	return (stacks->sa_n > 0 ? 0 : -1);
}

int
stacks_gather(struct stacks *stacks, struct prof_reader *reader)
{
	const struct prof_sink sink = { .sk_arg = stacks,
	    .sk_sample = sample_take, .sk_lost = other_take };

	stacks->sa_reader = reader;
	if (prof_reader_send(reader, &sink) == -1)
		return (prof_reader_error(reader)->pe_code != PROF_OK ?
		    msg_prof("stacks", prof_reader_error(reader)) :
		    msg_error("stacks", "out of memory", "free memory"));
	if (unseen_report(stacks) == -1)
		return (-1);
	qsort(stacks->sa_thread, stacks->sa_n, sizeof(*stacks->sa_thread),
	    thread_compare);
	for (size_t n = 0; n < stacks->sa_n; n++) {
		struct stacks_thread *thread = &stacks->sa_thread[n];

		thread->th_state = thread->th_rank == RANK_NONE ?
		    STACKS_UNKNOWN : state_of(&thread->th_record);
		thread->th_reason = reason_of(thread);
		thread->th_file = file_of(thread);
	}
	return (0);
}

void
stacks_fini(struct stacks *stacks)
{
	for (size_t n = 0; n < stacks->sa_n; n++) {
		free(stacks->sa_thread[n].th_frames);
		free(stacks->sa_thread[n].th_file);
	}
	free(stacks->sa_thread);
}
