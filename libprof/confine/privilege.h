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
/* The kernel's own names, at the end, where no BPF program asks for them. */
#define PROF_CAPS_KALLSYMS	PROF_CAP(SYSLOG)
/* Files of dumps, in directories of others, for who called sudo. */
#define PROF_CAPS_DUMP		(PROF_CAP(DAC_OVERRIDE) | PROF_CAP(CHOWN))
/* Slabs for tables; counters with another period. */
#define PROF_CAPS_BPF		(PROF_CAP(BPF) | PROF_CAP(PERFMON))
/* The same counters, where a distribution's kernel wants more for that. */
#define PROF_CAPS_REOPEN	PROF_CAP(SYS_ADMIN)
/* Who else's programs sit on a tracepoint, at the end. */
#define PROF_CAPS_COUNT		PROF_CAP(PERFMON)
/* Waiting for programs to end, where membarrier(2) does not do it. */
#define PROF_CAPS_WAIT		PROF_CAP(BPF)
/* Whether targets still live, where /proc shows them to few. */
#define PROF_CAPS_LOOK		PROF_CAP(SYS_PTRACE)
/*
 * For who reads: files of others, the kernel's names, sources as their owner;
 * and outputs where who calls wants them, which are given to him.
 */
#define PROF_CAPS_HELPER	(PROF_CAP(DAC_OVERRIDE) |		\
	PROF_CAP(SYSLOG) | PROF_CAP(SETUID) | PROF_CAP(SETGID) |	\
	PROF_CAP(FOWNER) | PROF_CAP(CHOWN))
/* An interrupt is passed on to a command that is another user's. */
#define PROF_CAPS_COMMAND	PROF_CAP(KILL)

/*
 * The calling thread, and threads that it will start, keep of their
 * capabilities only these, and no program that they start gets more.  -1: a
 * sandbox keeps us from giving them up.
 */
int	prof_privileges_keep(uint64_t capabilities);
/* The same, but programs that it starts get what they would have got. */
int	prof_privileges_limit(uint64_t capabilities);
/* All, of a process that has any; without, nothing changes. */
void	prof_privileges_drop(void);
/*
 * For tests, which link a function of that name: what of these is not to be
 * kept, to see what it is needed for.  The library has none.
 */
uint64_t prof_privileges_fault(void) __attribute__((weak));
/* A thread of ours, called so, that needs no more than these. */
void	prof_privileges_thread(const char *name, uint64_t capabilities);

#endif /* PROF_PRIVILEGE_H */
