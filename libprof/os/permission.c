/* SPDX-License-Identifier: ISC */
/*
 * May we, and if not, why: perf_event_open, and what its refusals mean.  An
 * error number alone says little: EACCES can be a knob, another user's
 * process or a kernel that refuses everything, EPERM a sandbox.  So the
 * knob's present value, the sandbox and the target are looked at before a
 * sentence is made.
 *
 * Called wherever an event is opened, and by doctor.c.  Asks the kernel only
 * for the smallest things, and leaves nothing behind.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/capability.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cpus.h"
#include "facts.h"
#include "permission.h"
#include "procfs.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define NOT_KNOWN	(-100L)	/* no value of a knob */
#define MAX_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"

static bool	files_raise(void);
static bool	refuses_everything(void);
static const char *who_may(void);
static const char *who_is_admin(void);
static int	explain_access(struct prof_err *,
		    const struct prof_perf_try *);
static int	explain_target(struct prof_err *, const char *, int, bool);
static int	explain_missing(struct prof_err *,
		    const struct prof_perf_try *, int);
static int	explain_invalid(struct prof_err *,
		    const struct prof_perf_try *);
static int	explain_files(struct prof_err *, const struct prof_perf_try *,
		    int);

/*
 * The soft limit of open files is raised to the hard one only when it is
 * reached: a command that we start should find the limits it always has.
 */
static bool
files_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1 ||
	    limit.rlim_cur >= limit.rlim_max)
		return (false);
	limit.rlim_cur = limit.rlim_max;
	return (setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

int
prof_perf_open(const struct perf_event_attr *attr, int pid, int cpu, int group,
    unsigned long flags)
{
	long fd;

	for (;;) {
		fd = syscall(SYS_perf_event_open, attr, pid, cpu, group,
		    flags);
		if (fd != -1)
			return ((int)fd);
		if (errno == EINTR)
			continue;
		if (errno != EMFILE)
			return (-1);
		if (!files_raise()) {
			errno = EMFILE;
			return (-1);
		}
	}
}

int
prof_perf_probe(const struct perf_event_attr *attr)
{
	const int fd = prof_perf_open(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd == -1)
		return (errno);
	(void)close(fd);
	return (0);
}

bool
prof_perf_wants_admin(void)
{
	return (prof_proc_number(PARANOID, NOT_KNOWN) > 2);
}

/* It happens in the kernel, so user space alone never sees one. */
bool
prof_perf_always_zero(const struct perf_event_attr *attr)
{
	return (attr->type == PERF_TYPE_SOFTWARE && attr->exclude_kernel &&
	    (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	    attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
	    attr->config == PERF_COUNT_SW_CGROUP_SWITCHES));
}

/* -------------------------------------------------------------- facts */

/* Some distributions refuse even the least that mainline always allows. */
static bool
refuses_everything(void)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1,
		.exclude_hv = 1, .disabled = 1,
	};
	const int refused = prof_perf_probe(&attr);

	return (refused == EACCES || refused == EPERM);
}

/* Root of a user namespace, or without capabilities, is an ordinary user. */
static const char *
who_may(void)
{
	return (prof_in_user_namespace() ? "run outside this user namespace (a "
	    "rootless container), as root or with CAP_PERFMON" :
	    geteuid() == 0 ? "give dtprof CAP_PERFMON (docker: --cap-add "
	    "PERFMON)" : "run as root or with CAP_PERFMON");
}

static const char *
who_is_admin(void)
{
	return (prof_in_user_namespace() ? "run outside this user namespace (a "
	    "rootless container), as root" : geteuid() == 0 ? "give dtprof "
	    "CAP_SYS_ADMIN (docker: --cap-add SYS_ADMIN)" : "run as root");
}

/* ----------------------------------------------------- perf_event_open */

int
prof_seccomp_explain(struct prof_err *error, const char *calls)
{
	prof_fail(error, PROF_E_SECCOMP, "the seccomp filter of this container "
	    "or sandbox blocks %s", calls);
	return (prof_cure(error, "allow %s in the seccomp profile (docker: "
	    "--cap-add PERFMON --cap-add BPF, or --security-opt seccomp=FILE), "
	    "or record outside the container", calls));
}

int
prof_lockdown_explain(struct prof_err *error, const char *what)
{
	prof_fail(error, PROF_E_PERMISSION, "%s: the kernel is locked down "
	    "(confidentiality)", what);
	return (prof_cure(error, "boot without lockdown=confidentiality"));
}

int
prof_open_files_explain(struct prof_err *error, const char *what)
{
	struct rlimit limit;

	memset(&limit, 0, sizeof(limit));
	getrlimit(RLIMIT_NOFILE, &limit);
	prof_fail(error, PROF_E_LIMIT, "%s: the limit of %llu open files is "
	    "reached; each event needs one file per CPU and thread", what,
	    (unsigned long long)limit.rlim_max);
	return (prof_cure(error, "raise ulimit -Hn, or record fewer events "
	    "or CPUs (-C)"));
}

int
prof_locked_memory_cure(struct prof_err *error)
{
	return (prof_cure(error, "raise kernel.perf_event_mlock_kb (now %ld) "
	    "or ulimit -l, or end other recordings",
	    prof_proc_number("/proc/sys/kernel/perf_event_mlock_kb", -1)));
}

/*
 * EACCES or EPERM.  In the order of what would have to change first: the
 * sandbox, a kernel that refuses all, the whole machine, the kernel's own
 * code, another user's process.
 */
static int
explain_access(struct prof_err *error, const struct prof_perf_try *try)
{
	const int pid = try->pt_pid;
	long paranoid = prof_proc_number(PARANOID, NOT_KNOWN);
	const char *name = try->pt_name;
	bool capable = prof_is_capable(CAP_PERFMON);

	if (prof_is_filtered(SYS_perf_event_open))
		return (prof_seccomp_explain(error, "perf_event_open"));
	if (!capable && paranoid == NOT_KNOWN) {
		prof_fail(error, PROF_E_PERMISSION, "%s: permission denied, "
		    "reason unknown: cannot read " PARANOID, name);
		return (prof_cure(error, "mount -t proc proc /proc, or %s",
		    who_may()));
	}
	if (prof_perf_wants_admin() && !prof_is_capable(CAP_SYS_ADMIN) &&
	    refuses_everything()) {
		prof_fail(error, PROF_E_PERMISSION, "%s: with "
		    "kernel.perf_event_paranoid=%ld, this kernel refuses all "
		    "events without CAP_SYS_ADMIN", name, paranoid);
		return (prof_cure(error, "sysctl "
		    "kernel.perf_event_paranoid=2, or %s", who_is_admin()));
	}
	if (!capable && pid == -1 && paranoid > 0) {
		prof_fail(error, PROF_E_PERMISSION, "%s: "
		    "kernel.perf_event_paranoid=%ld does not permit recording "
		    "all processes", name, paranoid);
		return (prof_cure(error, "sysctl "
		    "kernel.perf_event_paranoid=0, or %s, or record one "
		    "command or -p PID", who_may()));
	}
	if (!capable && try->pt_attr != NULL && !try->pt_attr->exclude_kernel &&
	    paranoid > 1) {
		prof_fail(error, PROF_E_PERMISSION, "%s: "
		    "kernel.perf_event_paranoid=%ld does not permit sampling "
		    "the kernel", name, paranoid);
		return (prof_cure(error, "use %s:u, or sysctl "
		    "kernel.perf_event_paranoid=1, or %s", name, who_may()));
	}
	return (explain_target(error, name, pid, capable));
}

/* No knob of perf is in the way: the task itself, or a security module. */
static int
explain_target(struct prof_err *error, const char *name, int pid,
    bool capable)
{
	char path[64];
	struct stat st;

	if (prof_is_locked_down())
		return (prof_lockdown_explain(error, name));
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (pid > 0 && stat(path, &st) == 0 && st.st_uid != geteuid()) {
		prof_fail(error, PROF_E_PERMISSION, "%s: process %d belongs to "
		    "another user (uid %u), or is protected", name, pid,
		    (unsigned)st.st_uid);
		return (prof_cure(error, "run as that user, or as root"));
	}
	if (pid > 0 && !capable) {
		prof_fail(error, PROF_E_PERMISSION, "%s: process %d is "
		    "protected: the process changed its user, or its program "
		    "is not readable", name, pid);
		return (prof_cure(error, "run as root or with CAP_PERFMON "
		    "and CAP_SYS_PTRACE"));
	}
	prof_fail(error, PROF_E_PERMISSION, "%s: a security module refused the "
	    "event (kernel.perf_event_paranoid is %ld)", name,
	    prof_proc_number(PARANOID, 2));
	return (prof_cure(error, "check the audit log of SELinux or AppArmor"));
}

/* ENOENT, ENODEV, EOPNOTSUPP, ENXIO: there is no such thing to count. */
static int
explain_missing(struct prof_err *error, const struct prof_perf_try *try,
    int error_number)
{
	const int cpu = try->pt_cpu;
	const char *name = try->pt_name;
	char path[80], online[8];
	uint32_t type = try->pt_attr == NULL ? PERF_TYPE_SOFTWARE :
	    try->pt_attr->type;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
	    cpu);
	if (error_number == ENODEV && cpu >= 0 && prof_proc_read(path, online,
	    sizeof(online)) > 0 && online[0] == '0') {
		prof_fail(error, PROF_E_TARGET, "%s: CPU %d is offline",
		    name, cpu);
		return (prof_cure(error, "leave the CPU out of -C"));
	}
	if (error_number == EOPNOTSUPP) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: this CPU can "
		    "count but not sample the event (or not with this "
		    "precision)",
		    name);
		return (prof_cure(error, "leave out modifier :p, or use -e "
		    "cpu-clock"));
	}
	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE ||
	    type == PERF_TYPE_RAW) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: no hardware "
		    "counter on this machine (virtual machines often have "
		    "none)", name);
		return (prof_cure(error, "use -e cpu-clock, or enable a PMU in "
		    "the virtual machine"));
	}
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: this kernel does not "
	    "support the event", name);
	return (-1);
}

static int
explain_invalid(struct prof_err *error, const struct prof_perf_try *try)
{
	long rate = prof_proc_number(MAX_RATE, 100000);

	if (try->pt_attr != NULL && try->pt_attr->freq &&
	    try->pt_attr->sample_freq > (uint64_t)rate) {
		prof_fail(error, PROF_E_LIMIT, "%s: %llu Hz is above the "
		    "kernel's limit of %ld Hz", try->pt_name,
		    (unsigned long long)try->pt_attr->sample_freq, rate);
		return (prof_cure(error, "use -F max, or raise "
		    "kernel.perf_event_max_sample_rate"));
	}
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: the kernel rejected "
	    "the event with these settings", try->pt_name);
	return (prof_cure(error, "leave out modifiers, or use another period"));
}

static int
explain_files(struct prof_err *error, const struct prof_perf_try *try,
    int error_number)
{
	if (error_number != ENFILE)
		return (prof_open_files_explain(error, try->pt_name));
	prof_fail(error, PROF_E_LIMIT, "%s: the system limit of open files is "
	    "reached", try->pt_name);
	return (prof_cure(error, "raise fs.file-max (now %ld)",
	    prof_proc_number("/proc/sys/fs/file-max", -1)));
}

int
prof_perf_refused(struct prof_err *error, const struct prof_perf_try *try,
    int error_number)
{
	switch (error_number) {
	case EACCES:
	case EPERM:
		return (explain_access(error, try));
	case ENOSYS:
		if (prof_is_filtered(SYS_perf_event_open))
			return (prof_seccomp_explain(error, "perf_event_open"));
		prof_fail(error, PROF_E_KERNEL,
		    "this kernel was built without perf events");
		return (prof_cure(error,
		    "use a kernel with CONFIG_PERF_EVENTS"));
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return (explain_missing(error, try, error_number));
	case EINVAL:
		return (explain_invalid(error, try));
	case EMFILE:
	case ENFILE:
		return (explain_files(error, try, error_number));
	case EBUSY:
	case ENOSPC:
		prof_fail(error, PROF_E_KERNEL, "%s: all suitable hardware "
		    "counters are in use", try->pt_name);
		return (prof_cure(error, "record fewer events at once, end "
		    "other profilers, or sysctl kernel.nmi_watchdog=0"));
	case ESRCH:
		prof_fail(error, PROF_E_TARGET, "%s: process %d does not exist "
		    "or has exited", try->pt_name, try->pt_pid);
		return (prof_cure(error, "find the pid with ps"));
	case EOVERFLOW:
		prof_fail(error, PROF_E_LIMIT, "%s: the stack depth exceeds "
		    "kernel.perf_event_max_stack (now %ld)",
		    try->pt_name, prof_proc_number(
		    "/proc/sys/kernel/perf_event_max_stack", -1));
		return (prof_cure(error,
		    "raise kernel.perf_event_max_stack"));
	case ENOMEM:
		return (prof_fail_nomem(error));
	}
	return (prof_fail(error, PROF_E_KERNEL, "%s: the kernel refused the "
	    "event: %s",
	    try->pt_name, strerror(error_number)));
}
