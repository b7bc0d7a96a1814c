/* SPDX-License-Identifier: ISC */
/*
 * refuse NAME[,NAME] command [argument ...]: run a command for which a
 * filter refuses system calls (bpf, perf_event_open, membarrier) with EPERM, as
 * the profile of a container does; with nosys, as if the kernel did not have
 * them; none: a filter that refuses nothing that anybody calls.  Exit
 * status: the command's; 125 when this could not be set up.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Refuse one system call; filters add up. */
static int
refuse(unsigned number, unsigned error_number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	return (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

int
main(int argc, char **argv)
{
	unsigned error_number;

	if (argc < 3) {
		fprintf(stderr, "usage: refuse bpf,perf,membarrier,nosys,none "
		    "command ...\n");
		return (125);
	}
	error_number = strstr(argv[1], "nosys") != NULL ? ENOSYS : EPERM;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    (strstr(argv[1], "bpf") != NULL &&
	    refuse(SYS_bpf, error_number) == -1) ||
	    (strstr(argv[1], "perf") != NULL &&
	    refuse(SYS_perf_event_open, error_number) == -1) ||
	    (strstr(argv[1], "membarrier") != NULL &&
	    refuse(SYS_membarrier, error_number) == -1) ||
	    (strstr(argv[1], "none") != NULL &&
	    refuse(SYS_acct, error_number) == -1)) {
		perror("refuse");
		return (125);
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return (125);
}
