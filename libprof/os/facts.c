/* SPDX-License-Identifier: ISC */
/*
 * What is in the way of this process, apart from the knobs: capabilities,
 * system calls that a sandbox keeps from the kernel, namespaces, lockdown.
 * Each is asked of the kernel in a way that nothing else can answer, so that
 * a refusal is blamed on what refused.
 *
 * Called by permission.c, which makes sentences of it, and by doctor.c.
 */
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "facts.h"
#include "procfs.h"

/* Inodes of the namespaces that the kernel begins with. */
#define INITIAL_USER	0xEFFFFFFDU
#define INITIAL_PID	0xEFFFFFFCU
#define BEYOND_A_PAGE	(1U << 20)

/* Without /proc nothing is known, and the ordinary is assumed. */
static bool
is_other_namespace(const char *path, ino_t initial)
{
	struct stat st;

	return (stat(path, &st) == 0 && st.st_ino != initial);
}

bool
prof_in_user_namespace(void)
{
	return (is_other_namespace("/proc/self/ns/user", INITIAL_USER));
}

bool
prof_in_pid_namespace(void)
{
	return (is_other_namespace("/proc/self/ns/pid", INITIAL_PID));
}

/*
 * In force, or CAP_SYS_ADMIN, which holds most; one's own user namespace's
 * count for nothing that belongs to the machine.
 */
bool
prof_is_capable(int capability)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2];
	const int admin = CAP_SYS_ADMIN;

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &head, data) == -1 ||
	    prof_in_user_namespace())
		return (false);
	return ((data[capability / 32].effective >> capability % 32 & 1) ||
	    (data[admin / 32].effective >> admin % 32 & 1));
}

/*
 * A call that the kernel itself always refuses, with an error that comes
 * before any question of permission: another one was a filter's.
 */
bool
prof_is_filtered(long call)
{
	int expected;

	if (prctl(PR_GET_SECCOMP) != SECCOMP_MODE_FILTER)
		return (false);
	if (call == SYS_bpf) {
		expected = E2BIG;
		syscall(call, BPF_OBJ_GET_INFO_BY_FD, NULL, BEYOND_A_PAGE);
	} else {
		expected = EINVAL;
		syscall(call, NULL, 0, -1, -1, ~0UL);
	}
	return (errno != expected);
}

static bool
sys_usable(struct prof_err *why)
{
	if (access("/sys/devices/system/cpu/online", R_OK) == 0)
		return (true);
	prof_fail(why, PROF_E_KERNEL, "/sys is not mounted");
	prof_cure(why, "mount -t sysfs sysfs /sys");
	return (false);
}

/* Without these, or with another namespace's, everything read is wrong. */
bool
prof_proc_usable(struct prof_err *why)
{
	char self[32];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	if (n != -1 && strtol(self, NULL, 10) == getpid())
		return (sys_usable(why));
	if (n == -1)
		prof_fail(why, PROF_E_KERNEL, "/proc is not mounted");
	else
		prof_fail(why, PROF_E_KERNEL, "/proc belongs to another PID "
		    "namespace, in which dtprof is process %s, not %ld", self,
		    (long)getpid());
	prof_cure(why, "mount -t proc proc /proc");
	return (false);
}

bool
prof_is_locked_down(void)
{
	char text[128];

	/* "none [integrity] confidentiality": the one in force in brackets. */
	return (prof_proc_read("/sys/kernel/security/lockdown", text,
	    sizeof(text)) > 0 && strstr(text, "[confidentiality]") != NULL);
}
