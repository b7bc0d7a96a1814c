/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Why a thread waits: the argument 'reason' of the event off-cpu.  The
 * recorder says which system call has which reason (dc_call); the kernel's
 * state of the thread gives the other reasons (sys/reason.bpf.h).
 */
#ifndef DTP_REASON_H
#define DTP_REASON_H

#include <linux/types.h>

#define DTP_REASON_LEN	16	/* of the text, with its NUL */

/* The first five are reasons of runnable threads, UNKNOWN is of both. */
#define DTP_REASONS(X)							\
	X(UNKNOWN, "unknown")						\
	X(PREEMPTED, "preempted")					\
	X(WAKEUP, "wake-up latency")					\
	X(YIELD, "yield")						\
	X(THROTTLED, "throttled")					\
	X(KERNEL, "kernel thread")					\
	X(STOPPED, "stopped")						\
	X(TRACED, "traced")						\
	X(FROZEN, "frozen")						\
	X(EXIT, "exit")							\
	X(FAULT, "page fault")						\
	X(CALL, "system call")						\
	X(FUTEX, "futex")						\
	X(EPOLL, "epoll")						\
	X(POLL, "poll")							\
	X(SELECT, "select")						\
	X(SLEEP, "sleep")						\
	X(SIGNAL, "signal")						\
	X(CHILD, "child process")					\
	X(READ, "read")							\
	X(WRITE, "write")						\
	X(FSYNC, "fsync")						\
	X(SOCKET, "socket")						\
	X(FILE_LOCK, "file lock")					\
	X(FILE, "file")							\
	X(URING, "io_uring")						\
	X(AIO, "aio")							\
	X(SEMAPHORE, "semaphore")					\
	X(MESSAGE, "message queue")					\
	X(MEMORY, "memory")

enum dtp_reason {
#define DTP_REASON(name, text)	DTP_W_##name,
	DTP_REASONS(DTP_REASON)
#undef DTP_REASON
	DTP_W_N
};

#define DTP_REASON_MASK	0x3f	/* of dc_call */

#define DTP_THROTTLED	256	/* cgroups whose quota was used up */

/*
 * Waits for the CPU quota of a cgroup, by BPF programs, and what the kernel
 * counts for the cgroup: before the first of these waits, and after the last.
 */
struct dtp_throttled {
	__u64	tt_ns;
	__u64	tt_waits;
	__u64	tt_quota_ns;		/* of each period */
	__u64	tt_period_ns;
	__u64	tt_periods_before;	/* nr_throttled of cpu.stat */
	__u64	tt_periods;
	__u64	tt_kernel_before_ns;	/* throttled_usec of cpu.stat */
	__u64	tt_kernel_ns;
	__u64	tt_is_known;		/* the six members above are set */
};

#endif /* DTP_REASON_H */
