/*
 * ASSERTION: Each refusal is explained by its real cause and names what to
 * change: the knob, the other user, the missing process, the limit, the
 * sandbox; and never by an error number alone.
 *
 * Provoked, not made up: as an ordinary user, with a full table of files, and
 * under a seccomp filter; what cannot be provoked here is asked for directly.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <stddef.h>

#include "os/permission.h"
#include "rings.h"

static void
expect(const struct prof_err *error, int code, const char *text,
    const char *cure)
{
	CHECK(error->pe_code == code, "%s, not %s: %s; %s",
	    prof_code_name(error->pe_code), prof_code_name(code),
	    error->pe_text, error->pe_cure);
	CHECK(strstr(error->pe_text, text) != NULL, "'%s' lacks '%s'",
	    error->pe_text, text);
	CHECK(strstr(error->pe_cure, cure) != NULL, "'%s' lacks '%s'",
	    error->pe_cure, cure);
	printf("ok: %s; %s\n", error->pe_text, error->pe_cure);
}

static struct prof_err
explained(struct prof_event *event, int error_number, int pid, int cpu)
{
	struct prof_err error;

	memset(&error, 0, sizeof(error));
	CHECK(prof_perf_explain(&error, event, error_number, pid, cpu) == -1,
	    "not -1");
	return (error);
}

/* Try it for real. */
static struct prof_err
refused(struct prof_event *event, int pid, int cpu)
{
	struct perf_event_attr attr = event->ev_attr;
	int fd;

	attr.size = sizeof(attr);
	fd = prof_perf_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	CHECK(fd == -1, "pid %d, cpu %d was not refused", pid, cpu);
	return (explained(event, errno, pid, cpu));
}

static bool
is_open_to_all(struct prof_event *event)
{
	struct perf_event_attr attr = event->ev_attr;
	int fd;

	attr.size = sizeof(attr);
	fd = prof_perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd != -1)
		close(fd);
	return (fd != -1);
}

static void
asked_for(void)
{
	struct prof_event event = page_faults(1);
	struct prof_err error;
	static const int all[] = { EPERM, EACCES, ENOENT, ENODEV, EINVAL,
	    EMFILE, ENFILE, EBUSY, ENOSPC, ESRCH, ENOSYS, EOPNOTSUPP,
	    EOVERFLOW, E2BIG, ENOMEM };
	size_t n;

	for (n = 0; n < sizeof(all) / sizeof(all[0]); n++) {
		error = explained(&event, all[n], 1, 0);
		CHECK(error.pe_code != PROF_OK && error.pe_text[0] != '\0' &&
		    error.pe_cure[0] != '\0', "errno %d", all[n]);
		error = explained(NULL, all[n], -1, 0);
		CHECK(error.pe_code != PROF_OK && error.pe_text[0] != '\0',
		    "errno %d of the side band", all[n]);
		prof_bpf_explain(&error, all[n]);
		CHECK(error.pe_code != PROF_OK && error.pe_text[0] != '\0' &&
		    error.pe_cure[0] != '\0', "errno %d of bpf", all[n]);
	}
	event.ev_attr.type = PERF_TYPE_HARDWARE;
	error = explained(&event, ENOENT, 0, -1);
	expect(&error, PROF_E_EVENT_UNSUPPORTED, "no hardware counter",
	    "cpu-clock");
	event.ev_attr.freq = 1;
	event.ev_attr.sample_freq = 100000000;
	error = explained(&event, EINVAL, 0, -1);
	expect(&error, PROF_E_LIMIT, "100000000",
	    "kernel.perf_event_max_sample_rate");
	error = explained(&event, EBUSY, 0, -1);
	expect(&error, PROF_E_KERNEL, "in use", "nmi_watchdog");
}

static void
without_files(void)
{
	struct prof_event event = page_faults(1);
	struct rlimit limit = { 20, 30 };
	struct perf_event_attr attr = event.ev_attr;
	struct prof_err error;
	int fd, last = -1;

	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "%s", strerror(errno));
	attr.size = sizeof(attr);
	attr.exclude_kernel = 1;
	while ((fd = prof_perf_open(&attr, 0, -1, -1, 0)) != -1)
		last = fd;
	error = explained(&event, errno, 0, -1);
	CHECK(last == 29, "the soft limit was not raised: %d", last);
	while (last > 2)
		close(last--);
	expect(&error, PROF_E_LIMIT, "30 open files", "ulimit -Hn");
}

static void
in_a_sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1,
		    0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 5, filter };
	struct prof_event event = page_faults(1);
	struct prof_err error;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == -1)
		skip("seccomp filters are not to be had");
	error = refused(&event, 0, -1);
	expect(&error, PROF_E_SECCOMP, "perf_event_open", "seccomp");
	memset(&error, 0, sizeof(error));
	CHECK(!prof_bpf_allowed(&error), "bpf was not refused");
	expect(&error, PROF_E_SECCOMP, "bpf", "seccomp");
}

int
main(void)
{
	long paranoid = prof_proc_number(
	    "/proc/sys/kernel/perf_event_paranoid", 2);
	struct prof_event event = page_faults(1);
	struct prof_err error;

	asked_for();
	become_ordinary();
	event.ev_attr.exclude_kernel = 1;
	if (paranoid > 2 && !is_open_to_all(&event)) {
		error = refused(&event, 0, -1);
		expect(&error, PROF_E_PERMISSION, "refuses all events",
		    "kernel.perf_event_paranoid=2");
		in_a_sandbox();
		return (0);
	}
	event.ev_attr.exclude_kernel = 0;
	if (paranoid >= 1) {
		error = refused(&event, -1, 0);
		expect(&error, PROF_E_PERMISSION, "all processes",
		    "kernel.perf_event_paranoid=0");
	}
	if (paranoid >= 2) {
		error = refused(&event, 0, -1);
		expect(&error, PROF_E_PERMISSION, "sampling the kernel",
		    "page-faults:u");
	}
	event.ev_attr.exclude_kernel = 1;
	error = refused(&event, 2147483647, -1);
	expect(&error, PROF_E_TARGET, "2147483647", "ps");
	error = refused(&event, 1, -1);
	expect(&error, PROF_E_PERMISSION, "another user", "root");
	memset(&error, 0, sizeof(error));
	if (prof_proc_number("/proc/sys/kernel/unprivileged_bpf_disabled",
	    2) != 0) {
		CHECK(!prof_bpf_allowed(&error), "bpf was not refused");
		expect(&error, PROF_E_PERMISSION, "CAP_BPF", "root");
	}
	without_files();
	in_a_sandbox();
	return (0);
}
