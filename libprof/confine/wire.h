/* SPDX-License-Identifier: ISC */
/*
 * What goes over the socket between a recorder and a child of its: a head,
 * bytes behind it, and with a head at most one descriptor.  Whoever asks
 * waits for the answer, so there is never more than one message on its way.
 *
 * The child's side waits as long as it takes; the recorder's has a deadline,
 * in time and in the child's CPU time, since the child may be a hostile
 * file's by now.  Nothing that is received is trusted here or later.
 */
#ifndef PROF_WIRE_H
#define PROF_WIRE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To the child: enum prof_parse.  From the child: one of these. */
enum prof_wire_kind {
	PROF_WIRE_DONE = 1,	/* the answer */
	PROF_WIRE_ASK		/* open something: struct prof_wire_want */
};

struct prof_wire {
	uint32_t	wi_kind;
	uint32_t	wi_can_wait;	/* asked: it may be done slowly */
	uint64_t	wi_bytes;	/* behind the head */
};

/* Until when: a moment, and so much of another process's CPU time. */
struct prof_wire_limit {
	uint64_t	wl_until_ns;	/* CLOCK_MONOTONIC; 0: no limit */
	pid_t		wl_pid;
	uint64_t	wl_cpu_until_ns;
	const uint32_t	*wl_slow;	/* not 0: there is more time; or NULL */
	uint64_t	*wl_slept_ns;	/* with wl_slow: how much more so far */
};

/* All of it.  fd: -1 or one that goes along.  false: errno. */
bool	prof_wire_send(int sock, const void *bytes, size_t size, int fd,
	    const struct prof_wire_limit *limit);
/* All of it; *fd: what came along, or -1.  NULL: nothing may. */
bool	prof_wire_recv(int sock, void *bytes, size_t size, int *fd,
	    const struct prof_wire_limit *limit);
/* The CPU time of a process; 0: it is gone. */
uint64_t prof_wire_cpu_ns(pid_t pid);

#endif /* PROF_WIRE_H */
