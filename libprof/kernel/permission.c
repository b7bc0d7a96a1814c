/* SPDX-License-Identifier: ISC */
/*
 * May we, and if not, why: perf_event_open and bpf, and what their refusals
 * mean.  An error number alone says little: EACCES can be a knob, another
 * user's process or a kernel that refuses everything, EPERM a sandbox.  So
 * the knob's present value, the sandbox and the target are looked at before
 * a sentence is made.
 *
 * Called wherever an event or a program is opened, and by the session to
 * choose its path.  Asks the kernel only for the smallest things, and leaves
 * nothing behind.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/bpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prof_impl.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define MAX_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define CAP_PERFMON_BIT	38
#define CAP_BPF_BIT	39
#define CAP_ADMIN_BIT	21

static bool	files_raise(void);
static uint64_t	status_number(const char *, int);
static bool	is_seccomp(void);
static bool	has_cap(int);
static bool	refuses_everything(void);
static const char *name_of(const struct prof_event *);
static int	explain_access(struct prof_err *, const struct prof_event *,
		    int, int);
static int	explain_target(struct prof_err *, const char *, int, bool);
static int	explain_missing(struct prof_err *, const struct prof_event *,
		    int, int);
static int	explain_invalid(struct prof_err *,
		    const struct prof_event *);
static int	explain_files(struct prof_err *, const struct prof_event *,
		    int);
static int	explain_seccomp(struct prof_err *, const char *);
static bool	is_locked_down(void);
static long	bpf_call(int, union bpf_attr *, size_t);
static int	tiny_map(void);
static int	tiny_program(void);

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
prof_perf_open(struct perf_event_attr *attr, int pid, int cpu, int group,
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

/* -------------------------------------------------------------- facts */

/* The line of /proc/self/status that begins with a key, as a number. */
static uint64_t
status_number(const char *key, int base)
{
	char line[256];
	uint64_t number = 0;
	size_t len = strlen(key);
	FILE *status;

	status = fopen("/proc/self/status", "re");
	if (status == NULL)
		return (0);
	while (fgets(line, sizeof(line), status) != NULL) {
		if (strncmp(line, key, len) != 0)
			continue;
		number = strtoull(line + len, NULL, base);
		break;
	}
	fclose(status);
	return (number);
}

static bool
is_seccomp(void)
{
	return (status_number("Seccomp:", 10) == 2);
}

static bool
has_cap(int bit)
{
	uint64_t caps = status_number("CapEff:", 16);

	return ((caps >> bit & 1) != 0 || (caps >> CAP_ADMIN_BIT & 1) != 0);
}

/* Some distributions refuse even the least that mainline always allows. */
static bool
refuses_everything(void)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	fd = prof_perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd == -1)
		return (errno == EACCES || errno == EPERM);
	close(fd);
	return (false);
}

static bool
is_locked_down(void)
{
	char text[128];

	/* "none [integrity] confidentiality": the one in force in brackets. */
	return (prof_proc_read("/sys/kernel/security/lockdown", text,
	    sizeof(text)) > 0 && strstr(text, "[confidentiality]") != NULL);
}

static const char *
name_of(const struct prof_event *event)
{
	return (event == NULL ? "perf events" : event->ev_name);
}

/* ----------------------------------------------------- perf_event_open */

static int
explain_seccomp(struct prof_err *error, const char *call)
{
	prof_fail(error, PROF_E_SECCOMP,
	    "%s is forbidden by the seccomp filter of this container or "
	    "sandbox", call);
	return (prof_cure(error, "allow %s in its seccomp profile (docker: "
	    "--security-opt seccomp=FILE, or --cap-add PERFMON), or record "
	    "outside of it", call));
}

/*
 * EACCES or EPERM.  In the order of what would have to change first: the
 * sandbox, a kernel that refuses all, the whole machine, the kernel's own
 * code, another user's process.
 */
static int
explain_access(struct prof_err *error, const struct prof_event *event,
    int error_number, int pid)
{
	long paranoid = prof_proc_number(PARANOID, 2);
	const char *name = name_of(event);
	bool capable = has_cap(CAP_PERFMON_BIT);

	if (is_seccomp() && (error_number == EPERM || refuses_everything()))
		return (explain_seccomp(error, "perf_event_open"));
	if (!capable && paranoid > 2 && refuses_everything()) {
		prof_fail(error, PROF_E_PERMISSION, "%s: "
		    "kernel.perf_event_paranoid is %ld, and this kernel then "
		    "refuses every event to ordinary users", name, paranoid);
		return (prof_cure(error, "sysctl "
		    "kernel.perf_event_paranoid=2, or run as root or with "
		    "CAP_PERFMON"));
	}
	if (!capable && pid == -1 && paranoid > 0) {
		prof_fail(error, PROF_E_PERMISSION, "%s: all processes of "
		    "the machine may not be watched at "
		    "kernel.perf_event_paranoid %ld", name, paranoid);
		return (prof_cure(error, "sysctl "
		    "kernel.perf_event_paranoid=0, or run as root or with "
		    "CAP_PERFMON, or record one command or -p PID"));
	}
	if (!capable && event != NULL && !event->ev_attr.exclude_kernel &&
	    paranoid > 1) {
		prof_fail(error, PROF_E_PERMISSION, "%s: the kernel's own "
		    "code may not be sampled at kernel.perf_event_paranoid "
		    "%ld", name, paranoid);
		return (prof_cure(error, "use %s:u, or sysctl "
		    "kernel.perf_event_paranoid=1, or run as root or with "
		    "CAP_PERFMON", name));
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

	if (is_locked_down()) {
		prof_fail(error, PROF_E_PERMISSION, "%s: the kernel is "
		    "locked down (confidentiality)", name);
		return (prof_cure(error, "boot without "
		    "lockdown=confidentiality"));
	}
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (pid > 0 && stat(path, &st) == 0 && st.st_uid != geteuid()) {
		prof_fail(error, PROF_E_PERMISSION, "%s: process %d belongs "
		    "to another user (uid %u), or is protected", name, pid,
		    (unsigned)st.st_uid);
		return (prof_cure(error, "run as that user, or as root"));
	}
	if (pid > 0 && !capable) {
		prof_fail(error, PROF_E_PERMISSION, "%s: process %d is "
		    "protected: it has changed its user, or its file may not "
		    "be read", name, pid);
		return (prof_cure(error, "run as root or with CAP_PERFMON "
		    "and CAP_SYS_PTRACE"));
	}
	prof_fail(error, PROF_E_PERMISSION, "%s: a security module of the "
	    "kernel refuses it (kernel.perf_event_paranoid is %ld)", name,
	    prof_proc_number(PARANOID, 2));
	return (prof_cure(error, "see the audit log of SELinux or AppArmor"));
}

/* ENOENT, ENODEV, EOPNOTSUPP, ENXIO: there is no such thing to count. */
static int
explain_missing(struct prof_err *error, const struct prof_event *event,
    int error_number, int cpu)
{
	const char *name = name_of(event);
	char path[80], online[8];
	uint32_t type = event == NULL ? PERF_TYPE_SOFTWARE :
	    event->ev_attr.type;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
	    cpu);
	if (error_number == ENODEV && cpu >= 0 && prof_proc_read(path, online,
	    sizeof(online)) > 0 && online[0] == '0') {
		prof_fail(error, PROF_E_TARGET, "%s: CPU %d is offline",
		    name, cpu);
		return (prof_cure(error, "leave it out of -C"));
	}
	if (error_number == EOPNOTSUPP) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: this "
		    "processor counts it, but cannot interrupt at every n-th "
		    "(or not as precisely as asked for)", name);
		return (prof_cure(error, "leave out the modifier :p, or use "
		    "-e cpu-clock"));
	}
	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE ||
	    type == PERF_TYPE_RAW) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: this machine "
		    "has no hardware counter for it (a virtual machine often "
		    "has none)", name);
		return (prof_cure(error, "use -e cpu-clock, which every "
		    "machine has"));
	}
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: this kernel does not "
	    "have the event", name);
	return (-1);
}

static int
explain_invalid(struct prof_err *error, const struct prof_event *event)
{
	long rate = prof_proc_number(MAX_RATE, 100000);

	if (event != NULL && event->ev_attr.freq &&
	    event->ev_attr.sample_freq > (uint64_t)rate) {
		prof_fail(error, PROF_E_LIMIT, "%s: %llu a second is above "
		    "the kernel's limit of %ld", name_of(event),
		    (unsigned long long)event->ev_attr.sample_freq, rate);
		return (prof_cure(error, "use -F max, or raise "
		    "kernel.perf_event_max_sample_rate"));
	}
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: the kernel does not "
	    "accept the event with these settings", name_of(event));
	return (prof_cure(error, "leave out modifiers, or try another "
	    "period"));
}

static int
explain_files(struct prof_err *error, const struct prof_event *event,
    int error_number)
{
	struct rlimit limit;

	if (error_number == ENFILE) {
		prof_fail(error, PROF_E_LIMIT, "%s: the whole machine has no "
		    "open file left", name_of(event));
		return (prof_cure(error, "raise fs.file-max (now %ld)",
		    prof_proc_number("/proc/sys/fs/file-max", -1)));
	}
	memset(&limit, 0, sizeof(limit));
	getrlimit(RLIMIT_NOFILE, &limit);
	prof_fail(error, PROF_E_LIMIT, "%s: the limit of %llu open files is "
	    "reached; each event takes one for each CPU and thread",
	    name_of(event), (unsigned long long)limit.rlim_cur);
	return (prof_cure(error, "raise ulimit -Hn, or record fewer events "
	    "or CPUs (-C)"));
}

int
prof_perf_explain(struct prof_err *error, const struct prof_event *event,
    int error_number, int pid, int cpu)
{
	switch (error_number) {
	case EACCES:
	case EPERM:
		return (explain_access(error, event, error_number, pid));
	case ENOSYS:
		if (is_seccomp())
			return (explain_seccomp(error, "perf_event_open"));
		prof_fail(error, PROF_E_KERNEL,
		    "this kernel is built without perf events");
		return (prof_cure(error,
		    "use a kernel with CONFIG_PERF_EVENTS"));
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return (explain_missing(error, event, error_number, cpu));
	case EINVAL:
		return (explain_invalid(error, event));
	case EMFILE:
	case ENFILE:
		return (explain_files(error, event, error_number));
	case EBUSY:
	case ENOSPC:
		prof_fail(error, PROF_E_KERNEL, "%s: all counters that could "
		    "take it are in use", name_of(event));
		return (prof_cure(error, "record fewer events at once, end "
		    "other profilers, or sysctl kernel.nmi_watchdog=0"));
	case ESRCH:
		prof_fail(error, PROF_E_TARGET, "%s: process %d does not "
		    "exist, or has ended", name_of(event), pid);
		return (prof_cure(error, "check the pid with ps"));
	case EOVERFLOW:
		prof_fail(error, PROF_E_LIMIT, "%s: stacks of that depth are "
		    "above kernel.perf_event_max_stack (now %ld)",
		    name_of(event), prof_proc_number(
		    "/proc/sys/kernel/perf_event_max_stack", -1));
		return (prof_cure(error,
		    "raise kernel.perf_event_max_stack"));
	case ENOMEM:
		return (prof_fail_nomem(error));
	}
	return (prof_fail(error, PROF_E_KERNEL, "%s: the kernel refused it: "
	    "%s", name_of(event), strerror(error_number)));
}

/* ---------------------------------------------------------------- bpf */

int
prof_bpf_explain(struct prof_err *error, int error_number)
{
	long unprivileged = prof_proc_number(
	    "/proc/sys/kernel/unprivileged_bpf_disabled", -1);

	if ((error_number == EPERM || error_number == EACCES ||
	    error_number == ENOSYS) && is_seccomp())
		return (explain_seccomp(error, "bpf"));
	if (error_number == ENOSYS) {
		prof_fail(error, PROF_E_KERNEL,
		    "this kernel is built without BPF");
		return (prof_cure(error,
		    "use a kernel with CONFIG_BPF_SYSCALL"));
	}
	if (error_number == ENOMEM || error_number == EAGAIN) {
		prof_fail(error, PROF_E_NOMEM, "the kernel has no memory left "
		    "for BPF, or the limit of locked memory is reached");
		return (prof_cure(error, "raise ulimit -l, or record fewer "
		    "events or with a smaller --buffer"));
	}
	if (error_number != EPERM && error_number != EACCES)
		return (prof_fail(error, PROF_E_KERNEL,
		    "the kernel refused the BPF program: %s",
		    strerror(error_number)));
	if (is_locked_down()) {
		prof_fail(error, PROF_E_PERMISSION, "BPF may not read the "
		    "kernel's memory: the kernel is locked down "
		    "(confidentiality)");
		return (prof_cure(error, "boot without "
		    "lockdown=confidentiality"));
	}
	if (has_cap(CAP_BPF_BIT) && has_cap(CAP_PERFMON_BIT)) {
		prof_fail(error, PROF_E_PERMISSION, "BPF is refused although "
		    "CAP_BPF and CAP_PERFMON are there: a security module or "
		    "the user namespace refuses");
		return (prof_cure(error, "record outside of the container, "
		    "or see the audit log"));
	}
	prof_fail(error, PROF_E_PERMISSION, "BPF needs CAP_BPF and "
	    "CAP_PERFMON (kernel.unprivileged_bpf_disabled is %ld)",
	    unprivileged);
	return (prof_cure(error, "run as root, or setcap "
	    "cap_bpf,cap_perfmon+ep on dtprof"));
}

static long
bpf_call(int command, union bpf_attr *attr, size_t size)
{
	return (syscall(SYS_bpf, command, attr, size));
}

/* Memory that we may map: the kind of map that the streams are. */
static int
tiny_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 8;
	attr.max_entries = 1;
	attr.map_flags = BPF_F_MMAPABLE;
	return ((int)bpf_call(BPF_MAP_CREATE, &attr, sizeof(attr)));
}

/* "return 0" for a perf event: the kind of program that samples. */
static int
tiny_program(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uint64_t)(uintptr_t)"Dual BSD/GPL";
	return ((int)bpf_call(BPF_PROG_LOAD, &attr, sizeof(attr)));
}

bool
prof_bpf_allowed(struct prof_err *why)
{
	int fd;

	fd = tiny_map();
	if (fd == -1) {
		prof_bpf_explain(why, errno);
		return (false);
	}
	close(fd);
	fd = tiny_program();
	if (fd == -1) {
		prof_bpf_explain(why, errno);
		return (false);
	}
	close(fd);
	return (true);
}
