/*
 * ASSERTION: A file that another process cuts, at any time, while its symbols
 * and lines are read costs names, and never the reader; where a mapping's
 * offset lies is told by the program headers.
 *
 * Easy to get wrong: a mapping of a file that became shorter kills whoever
 * looks at it, and libraries map files by themselves.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "elf/lines.h"
#include "elf/symtab.h"

#define ROUNDS	60

static char	*bytes;
static size_t	 size;

int	main(void);

static void
read_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;

	CHECK(fd != -1 && fstat(fd, &st) == 0, "/proc/self/exe");
	size = (size_t)st.st_size;
	bytes = malloc(size);
	CHECK(bytes != NULL && read(fd, bytes, size) == st.st_size, "read");
	close(fd);
}

static void
restore(int fd)
{
	CHECK(pwrite(fd, bytes, size, 0) == (ssize_t)size, "pwrite");
}

/* Somebody who cuts and restores it all the time. */
static pid_t
vandal(int fd)
{
	unsigned n;
	pid_t pid = fork();

	if (pid != 0)
		return (pid);
	for (n = 1;; n = n * 1103515245 + 12345) {
		if (ftruncate(fd, (off_t)(n % size)) == -1)
			_exit(1);
		if (pwrite(fd, bytes, size, 0) != (ssize_t)size)
			_exit(1);
	}
}

/* Cut between opening and asking, then whole again. */
static size_t
lines_found(int fd, uint64_t address, size_t cut)
{
	struct prof_lines *lines = prof_lines_open(fd, "/nonexistent");
	struct prof_line out[8];
	size_t n, found = 0;

	if (lines == NULL)
		return (0);
	if (cut != SIZE_MAX)
		CHECK(ftruncate(fd, (off_t)cut) == 0, "ftruncate");
	for (n = 0; n < 2000; n += 7)
		found += prof_lines_find(lines, address + n, out, 8);
	prof_lines_close(lines);
	restore(fd);
	return (found);
}

/* The functions of this program, while nobody disturbs. */
static uint64_t
address_of_main(int fd)
{
	struct prof_symtab *table = prof_symtab_of_elf(fd, "/nonexistent");
	struct prof_symbol symbol;
	uint64_t address = 0;
	size_t n;

	CHECK(table != NULL, "no symbols");
	for (n = 0; n < prof_symtab_count(table); n++) {
		prof_symtab_at(table, n, &symbol);
		if (strcmp(symbol.sy_name, "main") == 0)
			address = symbol.sy_address;
	}
	prof_symtab_free(table);
	CHECK(address != 0, "no main");
	return (address);
}

/* What runs at main, says the kernel's list of mappings. */
static void
where_main_is(int fd, uint64_t address)
{
	uint64_t begin, end, offset, found = 0, at;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], x;

	at = (uintptr_t)&where_main_is;
	CHECK(maps != NULL, "maps");
	while (fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64,
		    &begin, &end, &x, &offset) == 4 && begin <= at && at < end)
			CHECK(prof_symtab_file_to_address(fd, offset +
			    (at - begin), &found), "no address");
	fclose(maps);
	/* How far apart they are does not depend on where they are. */
	CHECK(found - address == at - (uintptr_t)&main, "%" PRIx64, found);
	CHECK(!prof_symtab_file_to_address(fd, size, &found), "beyond it");
}

int
main(void)
{
	char path[] = "/tmp/dtprof-test.XXXXXX";
	struct prof_symtab *table;
	size_t n, all, names = 0;
	uint64_t address;
	int fd, status;
	pid_t pid;

	read_self();
	fd = mkstemp(path);
	CHECK(fd != -1, "mkstemp");
	unlink(path);
	restore(fd);
	address = address_of_main(fd);
	where_main_is(fd, address);
	all = lines_found(fd, address, SIZE_MAX);
	CHECK(all > 100, "%zu lines of this program", all);
	for (n = 0; n < ROUNDS; n++)
		CHECK(lines_found(fd, address, size * n / ROUNDS) <= all,
		    "more lines of less");
	pid = vandal(fd);
	CHECK(pid > 0, "fork");
	for (n = 0; n < ROUNDS; n++) {
		table = prof_symtab_of_elf(fd, "/nonexistent");
		if (table != NULL)
			names += prof_symtab_count(table);
		prof_symtab_free(table);
		prof_lines_close(prof_lines_open(fd, "/nonexistent"));
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status), "the other process gave up");
	printf("ok: %zu lines whole, %zu names read meanwhile\n", all, names);
	return (0);
}
