/* SPDX-License-Identifier: ISC */
/*
 * See confine.h.  Called by keeper.c, parser.c, reading.c and network/child.c
 * in processes with a single thread, which is why one thread's credentials are
 * the process's.
 *
 * The filter is a list of what may be called.  All else fails with EPERM
 * rather than ends the process: a C library of tomorrow may try something new
 * and do without it, and what a hostile file makes of that is no more.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"
#include "privilege.h"

#define NOBODY		65534
#define PARSER_FILES	32
#define SLACK_S		5

#if defined(__x86_64__)
#define ARCHITECTURE	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE	AUDIT_ARCH_AARCH64
#endif

/* Sanitizers map terabytes, and call what no list should hold ... */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED	1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED	1
#endif
#endif
/* ... and counters of what was executed are written to files at the end. */
#if !defined(SANITIZED) && defined(PROF_COVERAGE)
#define SANITIZED	1
#endif
#ifndef SANITIZED
#define SANITIZED	0
#endif

/* A call that may be made, where (argument & mask) is the value. */
struct allowed {
	unsigned	al_call;
	unsigned	al_argument;
	uint32_t	al_mask;	/* 0: whatever the arguments are */
	uint32_t	al_value;
};

#define ANY(name)	{ __NR_##name, 0, 0, 0 }
/* As fork() of the C library asks for it, and no thread. */
#define FORK_MASK	(~(uint32_t)(CLONE_CHILD_SETTID | \
			    CLONE_CHILD_CLEARTID))

/* Memory, time, an end, and what is open already. */
static const struct allowed parser_calls[] = {
	ANY(recvmsg), ANY(sendmsg), ANY(read), ANY(write), ANY(close),
	ANY(ppoll), ANY(pread64), ANY(lseek), ANY(fstat), ANY(brk),
	ANY(munmap), ANY(mremap), ANY(madvise), ANY(futex),
	ANY(clock_gettime), ANY(getrandom), ANY(getpid), ANY(gettid),
	ANY(exit), ANY(exit_group), ANY(rt_sigreturn),
	ANY(rt_sigprocmask), ANY(restart_syscall), ANY(sysinfo),
	ANY(clock_nanosleep),
	{ __NR_mmap, 2, PROT_EXEC, 0 },
	{ __NR_mprotect, 2, PROT_EXEC, 0 },
	/* What fstat is to some C libraries. */
	{ __NR_newfstatat, 3, ~(uint32_t)0, AT_EMPTY_PATH },
	{ __NR_fcntl, 1, ~(uint32_t)0, F_DUPFD_CLOEXEC },
#ifdef __NR_poll
	ANY(poll),
#endif
};

/* The keeper besides: what it may not, those it forks may not either. */
static const struct allowed keeper_calls[] = {
	ANY(wait4), ANY(kill), ANY(prctl), ANY(seccomp),
	ANY(prlimit64), ANY(set_robust_list), ANY(getppid),
	ANY(sched_yield), ANY(setitimer),
	{ __NR_clone, 0, FORK_MASK, SIGCHLD },
#ifdef __NR_fork
	ANY(fork),
#endif
#ifdef __NR_rseq
	ANY(rseq),
#endif
};

/* Threads, and no process; what is written is open already. */
#define THREAD_FLAGS	(CLONE_VM | CLONE_FS | CLONE_FILES | \
			    CLONE_SIGHAND | CLONE_THREAD)

/* A reader besides. */
static const struct allowed reader_calls[] = {
	ANY(memfd_create), ANY(ftruncate), ANY(pwrite64), ANY(writev),
	ANY(flock), ANY(fsync), ANY(set_robust_list), ANY(sched_yield),
	ANY(sched_getaffinity), ANY(rt_sigaction), ANY(getrusage),
	ANY(geteuid), ANY(getuid), ANY(getegid), ANY(getgid), ANY(uname),
	{ __NR_clone, 0, THREAD_FLAGS, THREAD_FLAGS },
	{ __NR_ioctl, 1, ~(uint32_t)0, TCGETS },
	{ __NR_ioctl, 1, ~(uint32_t)0, TIOCGWINSZ },
	{ __NR_fcntl, 1, ~(uint32_t)0, F_GETFL },
	{ __NR_fcntl, 1, ~(uint32_t)0, F_GETFD },
	{ __NR_fcntl, 1, ~(uint32_t)0, F_SETFD },
#ifdef __NR_rseq
	ANY(rseq),
#endif
};

/*
 * Who speaks to servers besides: sockets, files for reading, threads, and code
 * of the C library's modules, which look up the names of hosts.
 */
static const struct allowed network_calls[] = {
	ANY(socket), ANY(connect), ANY(bind), ANY(getsockname),
	ANY(getpeername), ANY(setsockopt), ANY(getsockopt), ANY(sendto),
	ANY(recvfrom), ANY(sendmmsg), ANY(shutdown), ANY(socketpair),
	ANY(eventfd2), ANY(pipe2), ANY(fcntl), ANY(ioctl), ANY(writev),
	ANY(readv), ANY(memfd_create), ANY(mmap), ANY(mprotect), ANY(uname),
	ANY(newfstatat), ANY(getdents64), ANY(faccessat), ANY(readlinkat),
	ANY(statfs), ANY(geteuid), ANY(getuid), ANY(getegid), ANY(getgid),
	ANY(set_robust_list), ANY(sched_yield), ANY(sched_getaffinity),
	ANY(rt_sigaction), ANY(clock_getres), ANY(sigaltstack), ANY(prctl),
	{ __NR_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	{ __NR_clone, 0, THREAD_FLAGS, THREAD_FLAGS },
#ifdef __NR_open
	{ __NR_open, 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	ANY(stat), ANY(access), ANY(readlink), ANY(lstat),
#endif
#ifdef __NR_rseq
	ANY(rseq),
#endif
};

#define COUNT(list)	(sizeof(list) / sizeof((list)[0]))
#define MAX_CODE	(10 + 6 * (COUNT(parser_calls) + \
			    COUNT(keeper_calls) + COUNT(reader_calls) + \
			    COUNT(network_calls)))

/* ... and so does valgrind, which makes code of ours. */
bool
prof_confine_is_instrumented(void)
{
	const char *preload = secure_getenv("LD_PRELOAD");

	return (SANITIZED || (preload != NULL &&
	    strstr(preload, "/vgpreload_") != NULL));
}

/* ---------------------------------------------------------- limits */

static void
limit_to(int what, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) == -1)
		return;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(what, &limit);
}

/* What the process has now, of which most is the caller's; 0: not known. */
static rlim_t
memory_now(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL)
		return (0);
	if (fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return ((rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE));
}

/* ---------------------------------------------------------- rights */

/* In a namespace without that user, or without the right to become it: no. */
static bool
user_nobody(void)
{
	if (geteuid() != 0 && getuid() != 0)
		return (true);
	return (setgroups(0, NULL) == 0 &&
	    setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	    setresuid(NOBODY, NOBODY, NOBODY) == 0);
}

unsigned
prof_confine_rights(enum prof_confined who)
{
	const rlim_t memory = memory_now();
	unsigned lacks = 0;

	/* To become nobody takes some of them. */
	(void)prof_privileges_keep(PROF_CAP(SETUID) | PROF_CAP(SETGID) |
	    PROF_CAP(SETPCAP));
	if (!user_nobody())
		lacks |= PROF_LACKS_USER;
	if (prof_privileges_keep(PROF_CAPS_NONE) == -1)
		lacks |= PROF_LACKS_CAPS;
	/* Nobody else's debugger either; a change of user has undone it. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	limit_to(RLIMIT_CORE, 0);
	if (who != PROF_CONFINED_READER && memory != 0 &&
	    !prof_confine_is_instrumented())
		limit_to(RLIMIT_AS, memory + PROF_PARSER_BYTES);
	return (lacks);
}

/* ---------------------------------------------------------- filter */

struct code {
	struct sock_filter cd_insn[MAX_CODE];
	unsigned short	cd_n;
};

static void
code_emit(struct code *code, uint16_t what, uint32_t value, uint8_t yes,
    uint8_t no)
{
	code->cd_insn[code->cd_n++] = (struct sock_filter){ what, yes, no,
	    value };
}

#define LOAD(code, member)	code_emit(code, BPF_LD | BPF_W | BPF_ABS, \
	(uint32_t)offsetof(struct seccomp_data, member), 0, 0)
#define RETURN(code, what)	code_emit(code, BPF_RET | BPF_K, what, 0, 0)
#define REFUSED			(SECCOMP_RET_ERRNO | EPERM)

/* Arguments that are looked at are ints: their lower halves, both little. */
static void
emit_allowed(struct code *code, const struct allowed *allowed)
{
	const uint32_t at = (uint32_t)(offsetof(struct seccomp_data, args) +
	    allowed->al_argument * sizeof(uint64_t));

	code_emit(code, BPF_JMP | BPF_JEQ | BPF_K, allowed->al_call, 0,
	    allowed->al_mask == 0 ? 1 : 5);
	if (allowed->al_mask == 0) {
		RETURN(code, SECCOMP_RET_ALLOW);
		return;
	}
	code_emit(code, BPF_LD | BPF_W | BPF_ABS, at, 0, 0);
	code_emit(code, BPF_ALU | BPF_AND | BPF_K, allowed->al_mask, 0, 0);
	code_emit(code, BPF_JMP | BPF_JEQ | BPF_K, allowed->al_value, 0, 1);
	RETURN(code, SECCOMP_RET_ALLOW);
	/* Another line may allow another argument. */
	LOAD(code, nr);
}

static void
emit_list(struct code *code, const struct allowed *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		emit_allowed(code, &calls[i]);
}

static bool
filter_on(enum prof_confined who)
{
	struct code code = { .cd_n = 0 };
	struct sock_fprog program = { .filter = code.cd_insn };

	LOAD(&code, arch);
	code_emit(&code, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	RETURN(&code, SECCOMP_RET_KILL_PROCESS);
	LOAD(&code, nr);
	/* The numbers of x32 are above all of these, and so refused. */
	emit_list(&code, parser_calls, COUNT(parser_calls));
	if (who == PROF_CONFINED_KEEPER)
		emit_list(&code, keeper_calls, COUNT(keeper_calls));
	if (who == PROF_CONFINED_READER)
		emit_list(&code, reader_calls, COUNT(reader_calls));
	if (who == PROF_CONFINED_NETWORK)
		emit_list(&code, network_calls, COUNT(network_calls));
	if (who == PROF_CONFINED_READER || who == PROF_CONFINED_NETWORK) {
		/* Its flags cannot be looked at; a C library has another. */
		code_emit(&code, BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 0, 1);
		RETURN(&code, SECCOMP_RET_ERRNO | ENOSYS);
	}
	RETURN(&code, REFUSED);
	program.len = code.cd_n;
	return (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) ==
	    0);
}

unsigned
prof_confine_calls(enum prof_confined who)
{
	if (prof_confine_is_instrumented())
		return (PROF_LACKS_SECCOMP);
	if (who == PROF_CONFINED_PARSER) {
		limit_to(RLIMIT_NOFILE, PARSER_FILES);
		limit_to(RLIMIT_FSIZE, 0);
		limit_to(RLIMIT_NPROC, 0);
		limit_to(RLIMIT_CPU, PROF_PARSER_CPU_S + SLACK_S);
	}
	return (filter_on(who) ? 0 : PROF_LACKS_SECCOMP);
}
