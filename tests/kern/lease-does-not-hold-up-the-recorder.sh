#!/bin/sh
# ASSERTION: the recorder goes on at once where an ordinary user holds a lease
# on the perf-PID.map of a process of his that ends: an open that waits for the
# lease stands still as long as the kernel gives its holder, 45 seconds by
# default, and meanwhile every ring of the machine runs full.
. "${SRC:=$PWD}/tests/kern/lib-names.sh"
[ "$(uname -m)" = x86_64 ] || skip "its code is for x86-64"
cat >lease.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* mov %edi,%ecx; dec %ecx; jnz -4; ret */
static const unsigned char code[] =
	{ 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
/* The signal that an open is waiting, or would be. */
static void told(int number)
{
	(void)number;
	(void)!write(1, "asked\n", 6);
}
static void run(int go)
{
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), byte;
	void (*fn)(int) = (void *)at;
	struct timespec ts;

	memcpy(at, code, sizeof(code));
	(void)!read(go, &byte, 1);
	do {
		fn(20000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while (ts.tv_nsec < 100000000 && ts.tv_sec == 0);
	_exit(0);
}
int main(void)
{
	char path[64];
	int go[2], fd;
	pid_t pid;

	if (pipe(go) == -1 || (pid = fork()) == -1)
		return 1;
	if (pid == 0)
		run(go[0]);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);
	signal(SIGIO, told);
	if (fd == -1 || write(fd, "1000 10 f\n", 10) != 10)
		return 2;
	if (fcntl(fd, F_SETLEASE, F_WRLCK) == -1)
		return 3;
	dprintf(1, "%s %d\n", path, getpid());
	(void)!write(go[1], "", 1);
	for (;;)
		pause();
}
END
cc -O1 -o lease lease.c || fail "cc"
record_begin -o a.dtp -F 997 -a
as_user ./lease >told &
await "the map is opened" grep -q asked told
await_recording "$recorder"
read -r map lease <told
kill_at_end "$lease"
rm -f "$map"
grep -Eq "LEASE +BREAKING +[A-Z]+ +$lease " /proc/locks ||
    fail "the recorder stood still until the lease was gone"
record_end 0
ok "marks were answered while the lease was held"
