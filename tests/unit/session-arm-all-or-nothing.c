/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Arming makes everything or leaves nothing: whichever of its
 * calls to perf_event_open or bpf fails, on whichever CPU, afterwards there
 * are as many descriptors as before, no file, and arming again works.
 *
 * Easy to get wrong: the failures that matter come late, when half of the
 * CPUs already have their counter and its link.  So the system call itself is
 * replaced here and fails at its first, second, third, ... use, one after
 * the other, until arming gets through.  Whether it then works is tried after
 * every fourth failure, with ACCEPT after each.  Where LOOPS asks for less,
 * as under the sanitizers, only every third use fails.
 */
#include <sys/syscall.h>

#include <errno.h>
#include <stdarg.h>

#include "session.h"

static long fail_number;	/* of the system call */
static long fail_at;		/* at which of its uses; 0: never */
static long uses;
static long again_each = 4;

/* Seen by libbpf too, in place of libc's own. */
__attribute__((visibility("default"))) long syscall(long number, ...);

static long
real_syscall(long n, const long *a)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];
	long rv;

	__asm__ volatile("syscall" : "=a"(rv) : "0"(n), "D"(a[0]), "S"(a[1]),
	    "d"(a[2]), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n;
	register long rv __asm__("x0") = a[0];
	register long x1 __asm__("x1") = a[1];
	register long x2 __asm__("x2") = a[2];
	register long x3 __asm__("x3") = a[3];
	register long x4 __asm__("x4") = a[4];
	register long x5 __asm__("x5") = a[5];

	__asm__ volatile("svc 0" : "+r"(rv) : "r"(x8), "r"(x1), "r"(x2),
	    "r"(x3), "r"(x4), "r"(x5) : "memory");
#endif
	if (rv < 0 && rv >= -4095) {
		errno = (int)-rv;
		return (-1);
	}
	return (rv);
}

/* It reads six, however many there are. */
__attribute__((no_sanitize_address)) long
syscall(long number, ...)
{
	long argument[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(ap, long);
	va_end(ap);
	if (number == fail_number && ++uses == fail_at) {
		errno = ENOSPC;
		return (-1);
	}
	return (real_syscall(number, argument));
}

/* 1: armed, the failure never came; 0: it came and nothing is left. */
static int
arm_once(long number, long at)
{
	struct prof_options options = session_options();
	struct prof_session *session;
	int before, rv;

	session = session_open(&options);
	before = session_count_fds();
	fail_number = number;
	fail_at = at;
	uses = 0;
	rv = prof_session_arm(session);
	fail_number = 0;
	if (rv == 0 && uses < at) {
		prof_session_close(session);
		return (1);
	}
	if (rv == 0) {
		/* A failure that arming can live without: then it works. */
		CHECK(prof_session_start(session) == 0);
		CHECK(prof_session_stop(session) == 0);
		prof_session_close(session);
		unlink(session_file);
		return (0);
	}
	CHECK(session_code(session) != PROF_OK);
	CHECK(session_count_fds() == before);
	CHECK(access(session_file, F_OK) == -1);
	if (at % again_each == 1 % again_each) {
		CHECK(prof_session_arm(session) == 0);
		CHECK(prof_session_start(session) == 0);
		CHECK(prof_session_stop(session) == 0);
	}
	prof_session_close(session);
	unlink(session_file);
	return (0);
}

static long
fail_each(long number, const char *name)
{
	const long step = getenv("LOOPS") != NULL ? 3 : 1;
	long at;

	for (at = 1; arm_once(number, at) == 0; at += step)
		CHECK(at < 500);
	printf("ok: %s failed at one in %ld of its uses, below %ld; nothing "
	    "stayed\n", name, step, at);
	return (at - 1);
}

int
main(void)
{
	struct prof_options options = session_options();
	struct prof_session *session = session_open(&options);
	long ncpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (getenv("ACCEPT") != NULL)
		again_each = 1;
	session_arm_or_skip(session);
	prof_session_close(session);
	unlink(session_file);
	/* The side band and the counter have one on every CPU. */
	CHECK(fail_each(SYS_perf_event_open, "perf_event_open") >= 2 * ncpus);
	CHECK(fail_each(SYS_bpf, "bpf") >= 10);
	return (0);
}
