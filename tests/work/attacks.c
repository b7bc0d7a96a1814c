/* SPDX-License-Identifier: ISC */
/*
 * What an ordinary user may do to a recorder that is not his, by files of his
 * and by what he does with them.
 *
 *	attacks KIND [FILE ...]
 *
 *	lease    holds a lease on the perf map of a child that runs JIT code
 *	modules  maps one small program after another, each a new one
 *	hostile  maps what FILEs become when bytes of theirs are changed
 *	maps     runs JIT code beside a perf map of 20 MB
 *	links    runs JIT code beside a perf map that is a link to /etc/shadow
 *	fifos    does so beside a FIFO, and puts FIFOs where mapped files were
 *	victim   calls getpriority(2), says how often, until SIGTERM
 *
 * In the directory at hand, until it is killed.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_FILE	(4 << 20)
#define MAP_LINES	1000000

static volatile sig_atomic_t is_over;
static uint64_t state = 88172645463325252ULL;

static uint64_t
chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state);
}

static void
check(int has_worked)
{
	if (!has_worked)
		abort();
}

/* Code that returns at once, where no file is; called for a while. */
static void
run_jit(void)
{
#if defined(__aarch64__)
	static const unsigned char code[] = { 0xc0, 0x03, 0x5f, 0xd6 };
#else
	static const unsigned char code[] = { 0xc3 };
#endif
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*fn)(void);
	int n;

	check(at != MAP_FAILED);
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, at + sizeof(code));
	memcpy(&fn, &at, sizeof(fn));
	for (n = 0; n < 30000000; n++)
		fn();
}

/* A child whose map is made before it runs, by what makes it. */
static void
with_map(void (*make)(const char *))
{
	char path[64];
	int go[2];
	pid_t pid;
	char byte;

	check(pipe(go) == 0);
	pid = fork();
	check(pid != -1);
	if (pid == 0) {
		close(go[1]);
		check(read(go[0], &byte, 1) == 1);
		run_jit();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	make(path);
	check(write(go[1], "", 1) == 1);
	close(go[0]);
	close(go[1]);
	check(waitpid(pid, NULL, 0) == pid);
	unlink(path);
}

static void
asked(int number)
{
	(void)number;
}

/* The lease stays for as long as the kernel lets it. */
static void
make_lease(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);

	check(fd != -1 && write(fd, "1000 10 f\n", 10) == 10);
	signal(SIGIO, asked);
	check(fcntl(fd, F_SETLEASE, F_WRLCK) == 0);
}

static void
make_large(const char *path)
{
	FILE *file = fopen(path, "w");
	int n;

	check(file != NULL);
	for (n = 0; n < MAP_LINES; n++)
		fprintf(file, "%x 10 function%d\n", n * 16, n);
	fclose(file);
}

static void
make_link(const char *path)
{
	check(symlink("/etc/shadow", path) == 0);
}

static void
make_fifo(const char *path)
{
	check(mkfifo(path, 0644) == 0);
}

/* Mapped as a program is, then its name is another thing's. */
static void
map_file(const char *bytes, size_t size, int is_fifo)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0755);
	char *at;

	check(fd != -1 && write(fd, bytes, size) == (ssize_t)size);
	at = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	check(at != MAP_FAILED);
	unlink("file");
	if (is_fifo)
		check(mkfifo("file", 0644) == 0);
	usleep(200);
	munmap(at, size);
	close(fd);
	unlink("file");
}

static char *
read_file(const char *path, size_t *size)
{
	char *bytes = malloc(MAX_FILE);
	int fd = open(path, O_RDONLY);
	ssize_t n;

	check(bytes != NULL && fd != -1);
	n = read(fd, bytes, MAX_FILE);
	check(n > 0);
	close(fd);
	*size = (size_t)n;
	return (bytes);
}

/* Each with another build-id, where it has one, and another inode. */
static void
modules(const char *path, int is_fifo)
{
	size_t size, n;
	char *bytes = read_file(path, &size), *note = NULL;

	for (n = 0; n + 16 < size && note == NULL; n++)
		if (memcmp(bytes + n, "\3\0\0\0GNU", 8) == 0)
			note = bytes + n + 8;
	for (;;) {
		if (note != NULL)
			memcpy(note, &(uint64_t){ chance() }, 8);
		map_file(bytes, size, is_fifo);
	}
}

static void
hostile(char **paths)
{
	size_t size, n, changes;
	char *bytes, **path;

	for (;;)
		for (path = paths; *path != NULL; path++) {
			bytes = read_file(*path, &size);
			changes = chance() % 32;
			for (n = 0; n < changes; n++)
				bytes[64 + chance() % (size - 64)] =
				    (char)chance();
			/* Headers are where most is decided. */
			if (changes > 16)
				bytes[chance() % 64 + 16] = (char)chance();
			map_file(bytes, size, 0);
			free(bytes);
		}
}

static void
over(int number)
{
	(void)number;
	is_over = 1;
}

static void
victim(void)
{
	const struct timespec pause = { 0, 200000 };
	uint64_t n = 0;

	signal(SIGTERM, over);
	while (!is_over) {
		(void)syscall(SYS_getpriority, PRIO_PROCESS, 0);
		n++;
		nanosleep(&pause, NULL);
	}
	printf("%llu\n", (unsigned long long)n);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void	(*make)(const char *);
	} makes[] = { { "lease", make_lease }, { "maps", make_large },
	    { "links", make_link }, { "fifos", make_fifo } };
	size_t n;

	check(argc > 1);
	if (strcmp(argv[1], "victim") == 0) {
		victim();
		return (0);
	}
	if (strcmp(argv[1], "modules") == 0)
		modules(argv[2], 0);
	if (strcmp(argv[1], "hostile") == 0)
		hostile(argv + 2);
	for (n = 0; n < sizeof(makes) / sizeof(makes[0]); n++)
		if (strcmp(argv[1], makes[n].name) == 0)
			break;
	check(n < sizeof(makes) / sizeof(makes[0]));
	if (argc > 2 && fork() == 0)
		modules(argv[2], 1);
	for (;;)
		with_map(makes[n].make);
}
