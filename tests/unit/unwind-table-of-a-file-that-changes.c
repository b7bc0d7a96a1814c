/*
 * ASSERTION: A program file that another process cuts while its unwind table
 * is made costs that table, and never the recorder.
 *
 * Easy to get wrong: a mapping of a file that became shorter kills whoever
 * looks at it.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "elf/unwind_table.h"

static char *
whole(size_t *size)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	char *bytes;

	CHECK(fd != -1 && fstat(fd, &st) == 0, "/proc/self/exe");
	*size = (size_t)st.st_size;
	bytes = malloc(*size);
	CHECK(bytes != NULL && read(fd, bytes, *size) == st.st_size, "read");
	close(fd);
	return (bytes);
}

/* Rows of the table of what the file now is; 0: none could be made. */
static size_t
rows_of(int fd, size_t cut)
{
	struct prof_unwind_table *table;
	struct prof_elf elf;
	size_t rows = 0;

	if (prof_elf_open(&elf, fd) == -1)
		return (0);
	if (cut != SIZE_MAX)
		CHECK(ftruncate(fd, (off_t)cut) == 0, "ftruncate");
	table = prof_unwind_table_new(&elf);
	if (table != NULL)
		rows = table->ut_nrows;
	prof_unwind_table_free(table);
	prof_elf_close(&elf);
	return (rows);
}

/* Somebody who cuts and restores it all the time. */
static pid_t
vandal(int fd, const char *bytes, size_t size)
{
	pid_t pid = fork();

	CHECK(pid != -1, "fork");
	while (pid == 0)
		if (ftruncate(fd, 0) == -1 ||
		    pwrite(fd, bytes, size, 0) != (ssize_t)size)
			_exit(1);
	return (pid);
}

int
main(void)
{
	char name[] = "/tmp/dtprof-test.XXXXXX";
	size_t size, rows, n, made = 0;
	int fd = mkstemp(name);
	char *bytes = whole(&size);
	pid_t pid;

	CHECK(fd != -1, "mkstemp");
	unlink(name);
	for (n = 0; n < 64; n++) {
		CHECK(pwrite(fd, bytes, size, 0) == (ssize_t)size, "write");
		rows = rows_of(fd, size / 64 * n);
		CHECK(n > 0 || rows == 0, "%zu rows of nothing", rows);
		made += rows > 0;
	}
	OK("%zu of 64 cut files still had a table", made);
	CHECK(pwrite(fd, bytes, size, 0) == (ssize_t)size, "write");
	rows = rows_of(fd, SIZE_MAX);
	CHECK(rows > 50, "%zu rows of the whole file", rows);
	OK("%zu rows of the whole file", rows);
	pid = vandal(fd, bytes, size);
	for (n = made = 0; n < 2000; n++)
		made += rows_of(fd, SIZE_MAX) > 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	OK("alive after 2000 tables of a changing file, %zu with rows", made);
	free(bytes);
	return (0);
}
