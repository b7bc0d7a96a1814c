/* SPDX-License-Identifier: ISC */
/*
 * What threads wait for in system calls: the reason of a wait, by the number of
 * the call, and whether its first argument is a descriptor or a futex.  A call
 * that is not here has the reason 'system call'.  Called by wait.c and wall.c.
 */
#include <string.h>

#include "abi/dtp_object.h"
#include "abi/dtp_reason.h"
#include "events/names.h"
#include "events/provider/wait/reasons.h"

#define FD	DTP_CALL_HAS_FD
#define FUTEX	DTP_CALL_HAS_FUTEX

/* Calls of architectures that do not have them are left out. */
static const struct {
	const char	*rs_call;
	uint8_t		 rs_reason;
} reasons[] = {
	{ "sched_yield", DTP_W_YIELD }, { "futex", DTP_W_FUTEX | FUTEX },
	{ "futex_waitv", DTP_W_FUTEX }, { "futex_wait", DTP_W_FUTEX },
	{ "epoll_wait", DTP_W_EPOLL }, { "epoll_pwait", DTP_W_EPOLL },
	{ "epoll_pwait2", DTP_W_EPOLL }, { "poll", DTP_W_POLL },
	{ "ppoll", DTP_W_POLL }, { "select", DTP_W_SELECT },
	{ "pselect6", DTP_W_SELECT }, { "nanosleep", DTP_W_SLEEP },
	{ "clock_nanosleep", DTP_W_SLEEP }, { "pause", DTP_W_SIGNAL },
	{ "rt_sigsuspend", DTP_W_SIGNAL }, { "rt_sigtimedwait", DTP_W_SIGNAL },
	{ "wait4", DTP_W_CHILD }, { "waitid", DTP_W_CHILD },
	{ "vfork", DTP_W_CHILD }, { "read", DTP_W_READ | FD },
	{ "readv", DTP_W_READ | FD }, { "pread64", DTP_W_READ | FD },
	{ "preadv", DTP_W_READ | FD }, { "preadv2", DTP_W_READ | FD },
	{ "write", DTP_W_WRITE | FD }, { "writev", DTP_W_WRITE | FD },
	{ "pwrite64", DTP_W_WRITE | FD }, { "pwritev", DTP_W_WRITE | FD },
	{ "pwritev2", DTP_W_WRITE | FD }, { "fsync", DTP_W_FSYNC | FD },
	{ "fdatasync", DTP_W_FSYNC | FD },
	{ "sync_file_range", DTP_W_FSYNC | FD }, { "msync", DTP_W_FSYNC },
	{ "sync", DTP_W_FSYNC }, { "syncfs", DTP_W_FSYNC | FD },
	{ "recvfrom", DTP_W_SOCKET | FD }, { "recvmsg", DTP_W_SOCKET | FD },
	{ "recvmmsg", DTP_W_SOCKET | FD }, { "sendto", DTP_W_SOCKET | FD },
	{ "sendmsg", DTP_W_SOCKET | FD }, { "sendmmsg", DTP_W_SOCKET | FD },
	{ "accept", DTP_W_SOCKET | FD }, { "accept4", DTP_W_SOCKET | FD },
	{ "connect", DTP_W_SOCKET | FD }, { "flock", DTP_W_FILE_LOCK | FD },
	{ "fcntl", DTP_W_FILE_LOCK | FD }, { "open", DTP_W_FILE },
	{ "openat", DTP_W_FILE }, { "openat2", DTP_W_FILE },
	{ "close", DTP_W_FILE | FD }, { "stat", DTP_W_FILE },
	{ "lstat", DTP_W_FILE }, { "newfstatat", DTP_W_FILE },
	{ "statx", DTP_W_FILE }, { "getdents64", DTP_W_FILE | FD },
	{ "rename", DTP_W_FILE }, { "renameat", DTP_W_FILE },
	{ "renameat2", DTP_W_FILE }, { "unlink", DTP_W_FILE },
	{ "unlinkat", DTP_W_FILE }, { "mkdir", DTP_W_FILE },
	{ "mkdirat", DTP_W_FILE }, { "ftruncate", DTP_W_FILE | FD },
	{ "fallocate", DTP_W_FILE | FD }, { "io_uring_enter", DTP_W_URING },
	{ "io_getevents", DTP_W_AIO }, { "io_pgetevents", DTP_W_AIO },
	{ "semop", DTP_W_SEMAPHORE }, { "semtimedop", DTP_W_SEMAPHORE },
	{ "msgrcv", DTP_W_MESSAGE }, { "msgsnd", DTP_W_MESSAGE },
	{ "mq_timedreceive", DTP_W_MESSAGE },
	{ "mq_timedsend", DTP_W_MESSAGE }, { "mmap", DTP_W_MEMORY },
	{ "munmap", DTP_W_MEMORY }, { "mprotect", DTP_W_MEMORY },
	{ "mremap", DTP_W_MEMORY }, { "madvise", DTP_W_MEMORY },
	{ "brk", DTP_W_MEMORY },
};

void
prof_wait_reasons(uint8_t of_call[DTP_MAX_SYSCALL])
{
	for (size_t n = 0; n < sizeof(reasons) / sizeof(reasons[0]); n++) {
		const unsigned nr = prof_syscall_number(reasons[n].rs_call);

		if (nr < DTP_MAX_SYSCALL)
			of_call[nr] = reasons[n].rs_reason;
	}
}
