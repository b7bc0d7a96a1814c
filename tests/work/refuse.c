/* SPDX-License-Identifier: ISC */
/*
 * refuse NAME[,NAME] command [argument ...]: run a command for which the
 * kernel refuses system calls (bpf, perf_event_open) with EPERM, as the
 * profile of a container does.  Exit status: the command's; 125 when this
 * could not be set up.
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
refuse(unsigned number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	return (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

int
main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: refuse bpf,perf command ...\n");
		return (125);
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    (strstr(argv[1], "bpf") != NULL && refuse(SYS_bpf) == -1) ||
	    (strstr(argv[1], "perf") != NULL &&
	    refuse(SYS_perf_event_open) == -1)) {
		perror("refuse");
		return (125);
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return (125);
}
