/* SPDX-License-Identifier: ISC */
/*
 * May we use BPF, and if not, why: what a refusal means, and whether what
 * BPF would record could be used.  Tried with the smallest map and program,
 * which leave nothing behind.
 *
 * Called by the session to choose its path, by the counting of processes,
 * wherever something is loaded, and by doctor.c.
 */
#include <sys/syscall.h>

#include <linux/bpf.h>
#include <linux/capability.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cpus.h"
#include "facts.h"
#include "permission.h"

int
prof_user_namespace_explain(struct prof_err *error)
{
	prof_fail(error, PROF_E_PERMISSION, "BPF needs CAP_BPF and CAP_PERFMON "
	    "of the host; capabilities of a user namespace do not suffice");
	return (prof_cure(error, "run outside this user namespace (a rootless "
	    "container), as root"));
}

/*
 * BPF programs name processes as the machine does, /proc as the namespace
 * does: what they record would be nobody's.
 */
int
prof_pid_namespace_explain(struct prof_err *error)
{
	prof_fail(error, PROF_E_PERMISSION, "BPF programs do not see the "
	    "process IDs of this PID namespace");
	return (prof_cure(error, "run in the PID namespace of the host "
	    "(docker: --pid=host)"));
}

/* EPERM or EACCES, and no filter of a sandbox. */
static int
explain_bpf_access(struct prof_err *error)
{
	if (prof_is_locked_down())
		return (prof_lockdown_explain(error, "BPF programs may not "
		    "read kernel memory"));
	if (prof_in_user_namespace())
		return (prof_user_namespace_explain(error));
	if (prof_is_capable(CAP_BPF) && prof_is_capable(CAP_PERFMON)) {
		prof_fail(error, PROF_E_PERMISSION, "a security module refuses "
		    "BPF despite CAP_BPF and CAP_PERFMON");
		return (prof_cure(error, "check the audit log of SELinux or "
		    "AppArmor"));
	}
	prof_fail(error, PROF_E_PERMISSION, "BPF needs CAP_BPF and "
	    "CAP_PERFMON (kernel.unprivileged_bpf_disabled is %ld)",
	    prof_proc_number("/proc/sys/kernel/unprivileged_bpf_disabled",
	    -1));
	return (prof_cure(error, geteuid() == 0 ? "give dtprof both "
	    "capabilities (docker: --cap-add BPF --cap-add "
	    "PERFMON)" : "run as root, or setcap cap_bpf,cap_perfmon+ep on "
	    "dtprof"));
}

int
prof_bpf_explain(struct prof_err *error, int error_number)
{
	if ((error_number == EPERM || error_number == EACCES ||
	    error_number == ENOSYS) && prof_is_filtered(SYS_bpf))
		return (prof_seccomp_explain(error, "bpf"));
	if (error_number == ENOSYS) {
		prof_fail(error, PROF_E_KERNEL,
		    "this kernel was built without BPF");
		return (prof_cure(error,
		    "use a kernel with CONFIG_BPF_SYSCALL"));
	}
	if (error_number == EMFILE)
		return (prof_open_files_explain(error, "BPF"));
	if (error_number == ENOMEM || error_number == EAGAIN) {
		prof_fail(error, PROF_E_NOMEM, "the kernel has no memory for "
		    "BPF, or the locked memory limit is reached");
		return (prof_cure(error, "raise ulimit -l, or record fewer "
		    "events or with a smaller --buffer"));
	}
	if (error_number != EPERM && error_number != EACCES)
		return (prof_fail(error, PROF_E_KERNEL,
		    "the kernel rejected the BPF program: %s",
		    strerror(error_number)));
	return (explain_bpf_access(error));
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

/* libbpf looks for the kernel's types where distributions keep them, too. */
bool
prof_btf_there(struct prof_err *why)
{
	libbpf_print_fn_t print;
	struct btf *btf;

	if (access(PROF_BTF, R_OK) == 0)
		return (true);
	print = libbpf_set_print(NULL);
	btf = btf__load_vmlinux_btf();
	libbpf_set_print(print);
	if (libbpf_get_error(btf) == 0 && btf != NULL) {
		btf__free(btf);
		return (true);
	}
	prof_fail(why, PROF_E_KERNEL, "kernel types are not available: cannot "
	    "read " PROF_BTF);
	prof_cure(why, "use a kernel with CONFIG_DEBUG_INFO_BTF, and mount "
	    "sysfs at /sys");
	return (false);
}

bool
prof_bpf_allowed(struct prof_err *why)
{
	int fd;

	fd = tiny_map();
	if (fd != -1) {
		close(fd);
		fd = tiny_program();
	}
	if (fd == -1) {
		prof_bpf_explain(why, errno);
		return (false);
	}
	close(fd);
	return (true);
}

/* The walk loops by a helper, which is the newest that the programs need. */
static bool
helpers_there(struct prof_err *why)
{
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop,
	    NULL) != 0)
		return (true);
	prof_fail(why, PROF_E_KERNEL, "this kernel is too old for the BPF "
	    "programs (no bpf_loop)");
	prof_cure(why, "use Linux 5.17 or newer");
	return (false);
}

const char *
prof_record_reach(int with_bpf, enum prof_target target)
{
	const bool all = target == PROF_TARGET_ALL;

	if (with_bpf && all)
		return ("all processes, kernel and user space");
	if (all && prof_in_pid_namespace())
		return ("all processes, user space only; addresses outside "
		    "this PID namespace are unresolved");
	if (all)
		return ("all processes, user space only");
	/* Whoever may look into others may name them as a target. */
	if (prof_is_capable(CAP_PERFMON))
		return (with_bpf ? "any target process, kernel and user space" :
		    "any target process, user space only");
	return ("own processes, user space only");
}

/* All of it, and what would be recorded means something here. */
bool
prof_bpf_usable(struct prof_err *why)
{
	if (!prof_bpf_allowed(why) || !prof_btf_there(why) ||
	    !helpers_there(why))
		return (false);
	return (!prof_in_pid_namespace() ||
	    prof_pid_namespace_explain(why) == 0);
}
