/* SPDX-License-Identifier: ISC */
/*
 * What threads of a recorder may keep of its privileges.  doc/PRIVILEGES.md
 * has the same lists with reasons; a test compares them with what runs.
 */
#ifndef PROF_PRIVILEGE_H
#define PROF_PRIVILEGE_H

#include <linux/capability.h>

#include <stdint.h>

/* Newer than some headers. */
#ifndef CAP_PERFMON
#define CAP_PERFMON		38
#endif
#ifndef CAP_BPF
#define CAP_BPF			39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE	40
#endif

#define PROF_CAP(name)		(1ULL << CAP_##name)
#define PROF_CAPS_NONE		0ULL
/* Files that processes of others map, and what /proc tells of them. */
#define PROF_CAPS_OPEN		(PROF_CAP(DAC_READ_SEARCH) |		\
	PROF_CAP(SYS_PTRACE) | PROF_CAP(CHECKPOINT_RESTORE))
/* The kernel's own names, at the end. */
#define PROF_CAPS_RECORD	(PROF_CAPS_OPEN | PROF_CAP(SYSLOG))
/* Slabs for tables; counters with another period. */
#define PROF_CAPS_BPF		(PROF_CAP(BPF) | PROF_CAP(PERFMON))
/* An interrupt is passed on to a command that is another user's. */
#define PROF_CAPS_COMMAND	PROF_CAP(KILL)

/*
 * The calling thread, and threads that it will start, keep of their
 * capabilities only these, and no program that they start gets more.  -1: a
 * sandbox keeps us from giving them up.
 */
int	prof_privileges_keep(uint64_t capabilities);
/* A thread of ours, called so, that needs no more than these. */
void	prof_privileges_thread(const char *name, uint64_t capabilities);

#endif /* PROF_PRIVILEGE_H */
