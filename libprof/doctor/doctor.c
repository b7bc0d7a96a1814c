/* SPDX-License-Identifier: ISC */
/*
 * What works here and what does not: one small check for each thing that
 * recording, counting or naming needs.  A check tries the real thing where
 * that leaves nothing behind, and asks the files that explain refusals for
 * the sentence, so that it says what a command says that fails for it.
 *
 * Called by dtprof doctor.  Changes nothing, and decides nothing: sessions
 * try for themselves (session/arm.c).
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <linux/capability.h>
#include <linux/seccomp.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/perf/rings.h"
#include "base/error.h"
#include "broker/broker.h"
#include "confine/confine.h"
#include "doctor_impl.h"
#include "elf/debug_file.h"
#include "events/event.h"
#include "os/cpus.h"
#include "os/facts.h"
#include "os/permission.h"
#include "os/procfs.h"
#include "os/tracefs.h"

#define SYSCTL		"/proc/sys/kernel/"
#define OLDEST_MAJOR	6	/* the oldest kernel that is tried */
#define OLDEST_MINOR	1
#define USUAL_HZ	999
#define MOST_COUNTERS	16
#define FILES_ALWAYS	64	/* beside those of each CPU */
#define FILES_PER_CPU	8

struct row {
	const char	*ro_name;
	void		(*ro_check)(struct prof_check *check);
	const char	*ro_loss;
};

static void	check_kernel(struct prof_check *);
static void	check_proc(struct prof_check *);
static void	check_container(struct prof_check *);
static void	check_seccomp(struct prof_check *);
static void	check_lockdown(struct prof_check *);
static void	check_perf_events(struct prof_check *);
static void	check_paranoid(struct prof_check *);
static void	check_bpf(struct prof_check *);
static void	check_btf(struct prof_check *);
static void	check_tracefs(struct prof_check *);
static void	check_pmu(struct prof_check *);
static void	check_watchdog(struct prof_check *);
static void	check_sample_rate(struct prof_check *);
static void	check_locked_memory(struct prof_check *);
static void	check_open_files(struct prof_check *);
static void	check_kptr(struct prof_check *);
static void	check_debug(struct prof_check *);
static void	check_readers(struct prof_check *);

/* The first causes first: what is below often follows from what is above. */
static const struct row rows[] = {
	{ "kernel", check_kernel, "unknown: dtprof is not tested on this "
	    "kernel" },
	{ "proc", check_proc, "everything: dtprof cannot find "
	    "processes and CPUs" },
	{ "container", check_container, "everything that needs BPF" },
	{ "seccomp", check_seccomp, "all events if perf_event_open is blocked, "
	    "everything that needs BPF if bpf is blocked" },
	{ "lockdown", check_lockdown, "BPF, tracepoints and kernel samples" },
	{ "perf_events", check_perf_events, "everything: nothing can be "
	    "recorded or counted" },
	{ "perf_event_paranoid", check_paranoid, "recording with -a, and "
	    "kernel samples of your own processes" },
	{ "bpf", check_bpf, "tracepoints, system calls, filters, cgroups and "
	    "kernel stacks; everything else is recorded with perf rings" },
	{ "btf", check_btf, "everything that needs BPF" },
	{ "tracefs", check_tracefs, "groups of tracepoints in dtprof list and "
	    "in event names" },
	{ "pmu", check_pmu, "cycles, cache misses and other hardware events; "
	    "dtprof record then samples cpu-clock" },
	{ "nmi_watchdog", check_watchdog, "one hardware counter of each CPU" },
	{ "sample_rate", check_sample_rate, "the sampling rate of "
	    "dtprof record" },
	{ "locked_memory", check_locked_memory, "the size of perf rings: "
	    "samples may be lost in bursts (and counted as lost)" },
	{ "open_files", check_open_files, "recordings of many events or CPUs" },
	{ "kptr_restrict", check_kptr, "kernel symbols" },
	{ "debug_symbols", check_debug, "source lines and inlined functions of "
	    "the C library, perhaps of other libraries too" },
	{ "runtimes", prof_check_runtimes, "script functions: the time "
	    "of these functions is attributed to the interpreter" },
	{ "file_readers", check_readers, "part of the protection from hostile "
	    "program files" },
};

int
prof_check_run_sized(size_t n, struct prof_check *check, size_t size)
{
	const bool is_there = n < sizeof(rows) / sizeof(rows[0]);
	struct prof_check made = { 0 };

	if (is_there) {
		made.ck_name = rows[n].ro_name;
		made.ck_loss = rows[n].ro_loss;
		rows[n].ro_check(&made);
	}
	prof_struct_give(check, size, &made, sizeof(made));
	return (is_there);
}

/* It works; what was found. */
static void PROF_PRINTF(2, 3)
check_passed(struct prof_check *check, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(check->ck_error.pe_text, sizeof(check->ck_error.pe_text),
	    fmt, ap);
	va_end(ap);
	check->ck_state = PROF_CHECK_OK;
}

/* ------------------------------------------------------- surroundings */

static void
check_kernel(struct prof_check *check)
{
	struct utsname un;
	int major = 0, minor = 0;

	uname(&un);
	(void)sscanf(un.release, "%d.%d", &major, &minor);
	check_passed(check, "Linux %s", un.release);
	if (major > OLDEST_MAJOR ||
	    (major == OLDEST_MAJOR && minor >= OLDEST_MINOR))
		return;
	check->ck_state = PROF_CHECK_LESS;
	prof_fail(&check->ck_error, PROF_E_KERNEL, "Linux %s is older than "
	    "%d.%d, the oldest that dtprof is tested on", un.release,
	    OLDEST_MAJOR, OLDEST_MINOR);
	prof_cure(&check->ck_error, "use Linux %d.%d or later", OLDEST_MAJOR,
	    OLDEST_MINOR);
}

static void
check_proc(struct prof_check *check)
{
	check->ck_state = PROF_CHECK_NO;
	if (prof_proc_usable(&check->ck_error))
		check_passed(check, "/proc and /sys are mounted");
}

static void
check_container(struct prof_check *check)
{
	const bool marked = access("/.dockerenv", F_OK) == 0 ||
	    access("/run/.containerenv", F_OK) == 0 ||
	    getenv("container") != NULL;

	check->ck_state = PROF_CHECK_LESS;
	if (prof_in_user_namespace())
		prof_user_namespace_explain(&check->ck_error);
	else if (prof_in_pid_namespace())
		prof_pid_namespace_explain(&check->ck_error);
	else if (access("/proc/self/ns", F_OK) == -1)
		check_passed(check, "unknown without /proc");
	else
		check_passed(check, "%s, in the user and PID namespaces of the "
		    "host", marked ? "in a container" : "not in a container");
}

static void
check_seccomp(struct prof_check *check)
{
	const bool perf = prof_is_filtered(SYS_perf_event_open),
	    bpf = prof_is_filtered(SYS_bpf);

	check->ck_state = perf ? PROF_CHECK_NO : PROF_CHECK_LESS;
	if (perf || bpf)
		prof_seccomp_explain(&check->ck_error, perf && bpf ?
		    "perf_event_open and bpf" : perf ? "perf_event_open" :
		    "bpf");
	else
		check_passed(check,
		    prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER ?
		    "the seccomp filter allows perf_event_open and bpf" :
		    "no seccomp filter");
}

static void
check_lockdown(struct prof_check *check)
{
	check->ck_state = PROF_CHECK_NO;
	if (prof_is_locked_down())
		prof_lockdown_explain(&check->ck_error,
		    "perf events and BPF");
	else
		check_passed(check, "lockdown does not block perf events or "
		    "BPF");
}

/* -------------------------------------------------------------- events */

/* Opened and closed again: 0, or -1 with the reason in the check. */
static int
try_event(struct prof_check *check, const char *name, uint32_t type,
    uint64_t config, bool all)
{
	char *copy = strdup(name);
	struct prof_event event = { .ev_name = copy };
	int fd, cpu = -1, *cpus = NULL, rv = -1;
	size_t ncpus;

	if (copy == NULL) {
		prof_fail_nomem(&check->ck_error);
		return (-1);
	}
	event.ev_attr.size = sizeof(event.ev_attr);
	event.ev_attr.type = type;
	event.ev_attr.config = config;
	event.ev_attr.disabled = 1;
	event.ev_attr.exclude_kernel = event.ev_attr.exclude_hv = !all;
	if (all && prof_cpus_online(&cpus, &ncpus, &check->ck_error) == -1)
		goto out;
	if (all)
		cpu = cpus[0];
	fd = prof_perf_open(&event.ev_attr, all ? -1 : 0, cpu, -1,
	    PERF_FLAG_FD_CLOEXEC);
	if (fd != -1) {
		close(fd);
		rv = 0;
	} else
		prof_perf_explain(&check->ck_error, &event, errno, all ? -1 :
		    0, cpu);
out:
	free(cpus);
	free(copy);
	return (rv);
}

static void
check_perf_events(struct prof_check *check)
{
	check->ck_state = PROF_CHECK_NO;
	if (try_event(check, "cpu-clock", PERF_TYPE_SOFTWARE,
	    PERF_COUNT_SW_CPU_CLOCK, false) == 0)
		check_passed(check, "your own processes can be sampled and "
		    "counted");
}

static void
check_paranoid(struct prof_check *check)
{
	const long paranoid = prof_proc_number(SYSCTL "perf_event_paranoid",
	    -2);
	struct prof_err none = { 0 };
	char text[32] = "not readable";

	check->ck_state = PROF_CHECK_LESS;
	if (paranoid != -2)
		(void)snprintf(text, sizeof(text), "%ld", paranoid);
	if (try_event(check, "cpu-clock", PERF_TYPE_SOFTWARE,
	    PERF_COUNT_SW_CPU_CLOCK, true) == 0)
		check_passed(check, "%s%s: %s", text,
		    prof_is_capable(CAP_PERFMON) ? ", with CAP_PERFMON" :
		    "", prof_record_reach(prof_bpf_usable(&none),
		    PROF_TARGET_ALL));
}

static void
check_bpf(struct prof_check *check)
{
	check->ck_state = PROF_CHECK_LESS;
	if (prof_bpf_allowed(&check->ck_error))
		check_passed(check, "BPF maps and programs can be loaded");
}

static void
check_btf(struct prof_check *check)
{
	check->ck_state = PROF_CHECK_LESS;
	if (prof_btf_there(&check->ck_error))
		check_passed(check, "kernel type information is readable");
}

static void
check_tracefs(struct prof_check *check)
{
	int fd = prof_tracefs_open(&check->ck_error);

	check->ck_state = PROF_CHECK_LESS;
	if (fd == -1)
		return;
	close(fd);
	check_passed(check, "tracepoints can be listed");
}

/* ------------------------------------------------------------ counters */

/* How many events of one kind the PMU counts at the same time. */
static size_t
counters_at_once(uint64_t config)
{
	struct perf_event_attr attr[MOST_COUNTERS];
	size_t n;

	memset(attr, 0, sizeof(attr));
	for (n = 0; n < MOST_COUNTERS; n++) {
		attr[n].size = sizeof(attr[n]);
		attr[n].type = PERF_TYPE_HARDWARE;
		attr[n].config = config;
		attr[n].exclude_kernel = attr[n].exclude_hv = 1;
		attr[n].read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
		    PERF_FORMAT_TOTAL_TIME_RUNNING;
		if (!prof_perf_group_fits(attr, n + 1))
			break;
	}
	return (n);
}

static void
check_pmu(struct prof_check *check)
{
	check->ck_state = PROF_CHECK_LESS;
	if (try_event(check, "cycles", PERF_TYPE_HARDWARE,
	    PERF_COUNT_HW_CPU_CYCLES, false) == 0)
		check_passed(check, "cycles can be counted; %zu counters can "
		    "count instructions at the same time",
		    counters_at_once(PERF_COUNT_HW_INSTRUCTIONS));
}

static void
check_watchdog(struct prof_check *check)
{
	struct prof_check pmu = { 0 };

	if (prof_proc_number(SYSCTL "nmi_watchdog", 0) != 1) {
		check_passed(check, "the NMI watchdog uses no hardware "
		    "counter");
		return;
	}
	check_pmu(&pmu);
	if (pmu.ck_state != PROF_CHECK_OK) {
		check_passed(check, "the NMI watchdog is on, but there are no "
		    "hardware counters");
		return;
	}
	check->ck_state = PROF_CHECK_LESS;
	prof_fail(&check->ck_error, PROF_E_COUNTERS,
	    "the NMI watchdog uses one hardware counter of each CPU");
	prof_cure(&check->ck_error, "sysctl kernel.nmi_watchdog=0");
}

static void
check_sample_rate(struct prof_check *check)
{
	const long rate = prof_proc_number(SYSCTL
	    "perf_event_max_sample_rate", -1);

	if (rate == -1 || rate >= USUAL_HZ) {
		check_passed(check, rate == -1 ? "unknown" : "the kernel "
		    "allows up to %ld Hz", rate);
		return;
	}
	check->ck_state = PROF_CHECK_LESS;
	prof_fail(&check->ck_error, PROF_E_LIMIT, "the kernel allows %ld "
	    "samples per second (the kernel lowers this limit when sampling "
	    "takes long)",
	    rate);
	prof_cure(&check->ck_error,
	    "sysctl kernel.perf_event_max_sample_rate=100000");
}

/* -------------------------------------------------------------- limits */

static size_t
count_cpus(void)
{
	struct prof_err error;
	int *cpus = NULL;
	size_t n = 1;

	if (prof_cpus_online(&cpus, &n, &error) == -1)
		n = 1;
	free(cpus);
	return (n);
}

/* Beside the limit of the process each user may lock so much for rings. */
static void
check_locked_memory(struct prof_check *check)
{
	const long kb = prof_proc_number(SYSCTL "perf_event_mlock_kb", -1);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const uint64_t wanted = (PROF_RING_BYTES + page) / 1024;
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t there;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	there = limit.rlim_cur / 1024 / count_cpus() + (kb > 0 ?
	    (uint64_t)kb : 0);
	if (kb == -1 || limit.rlim_cur == RLIM_INFINITY || there >= wanted ||
	    prof_is_capable(CAP_IPC_LOCK)) {
		check_passed(check, "enough locked memory for the perf "
		    "rings of all CPUs");
		return;
	}
	check->ck_state = PROF_CHECK_LESS;
	prof_fail(&check->ck_error, PROF_E_LIMIT, "%llu KiB may be locked per "
	    "CPU, but the perf ring of a CPU needs %llu KiB",
	    (unsigned long long)there, (unsigned long long)wanted);
	prof_locked_memory_cure(&check->ck_error);
}

static void
check_open_files(struct prof_check *check)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	const uint64_t wanted = FILES_ALWAYS + FILES_PER_CPU * count_cpus();

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= wanted) {
		check_passed(check, "up to %llu open files",
		    (unsigned long long)limit.rlim_max);
		return;
	}
	check->ck_state = PROF_CHECK_LESS;
	prof_open_files_explain(&check->ck_error, "perf events");
}

/* --------------------------------------------------------------- names */

static void
check_kptr(struct prof_check *check)
{
	check->ck_state = PROF_CHECK_LESS;
	if (prof_kernel_names_shown(&check->ck_error))
		check_passed(check, "kernel symbols are readable");
}

/* Of the C library, since every program has it. */
static bool
has_lines(const char *path)
{
	struct prof_elf elf;
	bool has = false;
	int debug, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return (false);
	if (prof_elf_open(&elf, fd) == 0) {
		has = prof_elf_has(&elf, ".debug_info");
		debug = has ? -1 : prof_debug_file_open(&elf, fd, NULL);
		if (debug != -1) {
			has = true;
			close(debug);
		}
		prof_elf_close(&elf);
	}
	close(fd);
	return (has);
}

static void
check_debug(struct prof_check *check)
{
	Dl_info info = { .dli_fname = NULL };

	if (dladdr((void *)(uintptr_t)&getpid, &info) == 0 ||
	    info.dli_fname == NULL || has_lines(info.dli_fname)) {
		check_passed(check, "the C library has debug symbols");
		return;
	}
	check->ck_state = PROF_CHECK_LESS;
	prof_fail(&check->ck_error, PROF_E_EVENT_UNSUPPORTED, "%s has no "
	    "debug file in /usr/lib/debug", info.dli_fname);
	prof_cure(&check->ck_error, "install the debug symbols (on Debian "
	    "libc6-dbg, and PACKAGE-dbgsym)");
}

/* One that is asked nothing: what it can be kept from shows all the same. */
static void
check_readers(struct prof_check *check)
{
	struct prof_call call = { .ca_what = PROF_PARSE_NOTHING,
	    .ca_fd = -1 };
	struct prof_broker_stats stats;
	struct prof_broker *broker;
	char how[PROF_BROKER_HOW];

	check->ck_state = PROF_CHECK_LESS;
	broker = prof_broker_new(&check->ck_error);
	if (broker == NULL)
		return;
	if (prof_broker_call(broker, &call) != PROF_CALLED) {
		prof_fail(&check->ck_error, PROF_E_LIMIT, "cannot start a file "
		    "reader process");
		prof_cure(&check->ck_error, "raise the process limit (ulimit "
		    "-u)");
		prof_broker_free(broker);
		return;
	}
	prof_broker_stats(broker, &stats);
	prof_broker_how(&stats, how, sizeof(how));
	prof_broker_free(broker);
	if (stats.bs_lacks == 0) {
		check_passed(check, "%s", how);
		return;
	}
	prof_fail(&check->ck_error, PROF_E_PERMISSION, "file reader "
	    "processes have %s",
	    how);
	prof_cure(&check->ck_error, stats.bs_lacks & PROF_LACKS_SECCOMP ?
	    "use a kernel with CONFIG_SECCOMP_FILTER" :
	    "allow setuid, setgid and capset in this container");
}
