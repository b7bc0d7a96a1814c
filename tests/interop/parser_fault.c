/* SPDX-License-Identifier: ISC */
/*
 * What a hostile file might make a parser do: see prof_parser_fault in
 * libprof/broker/parser.h.  A file does so that ends with a mark, "FAULT:" and
 * a word, filled up with 0 to 16 bytes.  And which capability is missing, see
 * prof_privileges_fault in privilege.h.  Linked into dtprof_faulty, and
 * included by unit tests; dtprof itself has nothing of it.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/tables.h"
#include "confine/confine.h"
#include "confine/privilege.h"
#include "confine/wire.h"

#define MARK		"FAULT:"
#define NOTHING		40	/* status: no attempt succeeded */
#define MARK_BYTES	16

/* Each is to fail.  What succeeds is the status, less NOTHING. */
static long
attempt(int n)
{
	static const struct sockaddr address = { .sa_family = AF_UNIX };
	struct iovec iov = { 0 };

	switch (n) {
	case 1: return (open("/etc/passwd", O_RDONLY));
	case 2: return (syscall(SYS_openat, AT_FDCWD, "/", O_PATH));
	case 3: return (syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0));
	case 4: return (socket(AF_INET, SOCK_STREAM, 0));
	case 5: return (socket(AF_UNIX, SOCK_STREAM, 0));
	case 6: return (connect(0, &address, sizeof(address)));
	case 7: return (ptrace(PTRACE_TRACEME, 0, 0, 0));
	case 8: return (ptrace(PTRACE_ATTACH, getppid(), 0, 0));
	case 9: return (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	case 10: return (syscall(SYS_clone3, NULL, 0));
	case 11: return (execve("/bin/true", (char *[]){ NULL }, NULL));
	case 12: return (kill(getpid(), 0));
	case 13: return (syscall(SYS_process_vm_readv, getppid(), &iov, 1UL,
		    &iov, 1UL, 0UL));
	case 14: return (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	case 15: return (syscall(SYS_setuid, 0));
	case 16: return (syscall(SYS_bpf, 0, NULL, 0));
	case 17: return (syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	case 18: return (syscall(SYS_unlinkat, AT_FDCWD, "x", 0));
	case 19: return (syscall(SYS_memfd_create, "x", 0));
	case 20: return (mprotect((void *)((uintptr_t)attempt &
		    ~(uintptr_t)4095), 4096, PROT_READ | PROT_EXEC));
	case 21: return (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE |
		    MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
	case 22: return (syscall(SYS_io_uring_setup, 1, NULL));
	case 23: return (syscall(SYS_pidfd_open, getppid(), 0));
	case 24: return (syscall(SYS_unshare, 0));
	case 25: return (syscall(SYS_dup3, 0, 20, 0));
	case 26: return (syscall(SYS_execveat, 0, "", NULL, NULL,
		    AT_EMPTY_PATH));
	case 27: return (fchmod(0, 0777));
	case 28: return (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL,
		    &iov));
	case 29: return (syscall(SYS_statx, AT_FDCWD, "/etc", 0, 0, NULL));
	}
	return (-2);
}

static int
attempt_all(void)
{
	long rv;
	int n;

	for (n = 1; (rv = attempt(n)) != -2; n++)
		if (rv != -1 || errno != EPERM)
			return (NOTHING + n);
	return (NOTHING);
}

/* An answer that no file has, before the true one. */
static void
lie(void)
{
	struct prof_wire head = { PROF_WIRE_DONE, 0, 4000 };
	uint8_t bytes[4000];
	struct stat st;
	int fd = 0;

	memset(bytes, 0x41, sizeof(bytes));
	while (fstat(fd, &st) == -1 || !S_ISSOCK(st.st_mode))
		fd++;
	(void)prof_wire_send(fd, &head, sizeof(head), -1, NULL);
	(void)prof_wire_send(fd, bytes, sizeof(bytes), -1, NULL);
}

/* A capability, by its number, that is not kept where it would be. */
uint64_t
prof_privileges_fault(void)
{
	const char *number = getenv("DTPROF_WITHOUT");

	return (number == NULL ? 0 : 1ULL << (strtoul(number, NULL, 10) & 63));
}

/* Called in the parser for each file. */
void
prof_parser_fault(int fd)
{
	char text[MARK_BYTES + 1] = "";
	char *memory;

	if (lseek(fd, -MARK_BYTES, SEEK_END) == -1 ||
	    read(fd, text, MARK_BYTES) != MARK_BYTES ||
	    strncmp(text, MARK, sizeof(MARK) - 1) != 0)
		return;
	switch (text[sizeof(MARK) - 1]) {
	case 't':
		_exit(attempt_all());
	case 'c':
		__builtin_trap();
		break;
	case 's':
		for (;;)
			continue;
	case 'l':
		lie();
		break;
	case 'm':
		memory = malloc(2 * PROF_PARSER_BYTES);
		_exit(memory == NULL ? NOTHING : NOTHING + 1);
	}
}
