/*
 * ASSERTION: What reads a recording as root is nobody, has no capability, and
 * whatever a hostile file makes of it, it opens nothing, speaks to nobody,
 * traces, signals or forks nobody and becomes nobody else; its helper gives it
 * the content of programs and of what the user named, of no other file, core
 * or kernel memory, writes nothing that the user did not name, and ends as
 * the reader does.
 *
 * Easy to get wrong: the reader cannot open /etc/shadow itself, but need only
 * ask for it by the name of a program.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "../interop/parser_fault.c"
#include "confine/reading.h"
#include "image/images.h"

#define CLONE3		10	/* in parser_fault.c: as if there were none */
#define MEMFD		19	/* where it writes: allowed */
#define OWN		(PROF_READING_OWN + 3)

static char dir[] = "/tmp/dtprof-reading.XXXXXX";
static char named[64], secret[64], script[64], other[64];

static int
may(void *arg, const char *path)
{
	(void)arg;
	return (strcmp(path, named) == 0);
}

static int
serve(void *arg, unsigned what, char *bytes, size_t size, int fd, int *give)
{
	(void)arg;
	(void)fd;
	(void)give;
	if (what != OWN || size != 4 || strcmp(bytes, "ask") != 0)
		return (-1);
	strcpy(bytes, "got");
	return (7);
}

static void *
thread(void *arg)
{
	*(bool *)arg = true;
	return (NULL);
}

static void
tries(void)
{
	bool ran = false;
	pthread_t one;
	char c = 'x';
	long rv;
	int n;

	for (n = 1; (rv = attempt(n)) != -2; n++) {
		if (n == MEMFD)
			continue;
		CHECK(rv == -1 && errno == (n == CLONE3 ? ENOSYS : EPERM),
		    "attempt %d: %ld, %s", n, rv, strerror(errno));
	}
	CHECK(ioctl(0, TIOCSTI, &c) == -1 && errno == EPERM, "types");
	CHECK(ptrace(PTRACE_ATTACH, getpid(), 0, 0) == -1 && errno == EPERM,
	    "traces");
	CHECK(pthread_create(&one, NULL, thread, &ran) == 0 &&
	    pthread_join(one, NULL) == 0 && ran, "no thread");
	OK("%d attempts fail, a thread works", n);
}

/* Whether a byte of it can be read. */
static bool
is_read(int fd)
{
	char byte;
	bool is = fd != -1 && pread(fd, &byte, 1, 0) == 1;

	if (fd != -1)
		close(fd);
	return (is);
}

static void
asks(void)
{
	struct prof_debug_want want = { .dw_next = 0 };
	struct prof_err error = { 0 };
	char bytes[4] = "ask", long_name[20000];
	int memory = memfd_create("x", MFD_CLOEXEC), fd;

	fd = prof_image_open("/proc/self/exe");
	CHECK(is_read(fd), "a program is not read");
	fd = prof_image_open(secret);
	CHECK(fd != -1 && !is_read(fd), "a file of root's is read");
	CHECK(!is_read(prof_image_open("/proc/kcore")), "memory is read");
	CHECK(!is_read(prof_image_open(dir)), "a directory is read");
	fd = prof_image_open("/proc/self/exe");
	snprintf(want.dw_link, sizeof(want.dw_link), "%s", "../../etc/shadow");
	CHECK(prof_reading_debug(&want, fd, NULL) == -1, "a link leads out");
	CHECK(!is_read(prof_reading_beside(secret, fd)), "beside");
	close(fd);
	CHECK(is_read(prof_reading_open(named, 0)), "%s", named);
	CHECK(prof_reading_open(secret, 0) == -1 && errno == EPERM, "%s",
	    secret);
	CHECK(prof_reading_recording(other, memory, &error) == -1,
	    "what nobody named is written");
	CHECK(prof_reading_recording(named, memory, &error) == 0, "%s",
	    error.pe_text);
	CHECK(prof_reading_ask(OWN, bytes, 4, -1, NULL) == 7 &&
	    strcmp(bytes, "got") == 0, "%s", bytes);
	CHECK(prof_reading_ask(OWN, bytes, 4, -1, NULL) == -1, "twice");
	/* Helpless from then on. */
	CHECK(prof_reading_ask(OWN, long_name, sizeof(long_name), -1, NULL) ==
	    -1, "too long");
	CHECK(prof_image_open("/proc/self/exe") == -1, "after nonsense");
	OK("the helper opens what it should");
}

static void
crash(void)
{
	__builtin_trap();
}

static void
leave(void)
{
	exit(42);
}

/* What wait says of a helper whose reader does so. */
static int
reading(void (*todo)(void))
{
	const struct prof_reading how = { .rg_size = sizeof(how),
	    .rg_may_read = may, .rg_may_write = may, .rg_serve = serve };
	struct prof_err error;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		CHECK(prof_reading_confine(&how, &error) == 0, "%s",
		    error.pe_text);
		CHECK(prof_reading_is_confined(), "not confined");
		todo();
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid, "wait");
	return (status);
}

static void
file(const char *name, mode_t mode)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, mode);

	CHECK(fd != -1 && write(fd, "text\n", 5) == 5, "%s", name);
	close(fd);
}

int
main(void)
{
	int status;

	if (geteuid() != 0) {
		printf("SKIP: not root\n");
		return (77);
	}
	if (prof_confine_is_instrumented()) {
		OK("one process in such a build");
		return (0);
	}
	CHECK(mkdtemp(dir) != NULL, "%s", dir);
	snprintf(named, sizeof(named), "%s/named", dir);
	snprintf(secret, sizeof(secret), "%s/secret", dir);
	snprintf(script, sizeof(script), "%s/script", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	file(named, 0600);
	file(secret, 0600);
	CHECK(reading(tries) == 0, "tries");
	CHECK(reading(asks) == 0, "asks");
	CHECK(access(other, F_OK) == -1, "%s", other);
	status = reading(crash);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL,
	    "%d after a crash", status);
	status = reading(leave);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42,
	    "%d after 42", status);
	OK("the helper ends as the reader does");
	CHECK(system("rm -r /tmp/dtprof-reading.??????") == 0, "%s", dir);
	return (0);
}
