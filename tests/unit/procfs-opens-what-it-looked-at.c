/*
 * ASSERTION: While a name is a file at one moment and a FIFO, or a link to a
 * device, at the next, whatever is opened by it is a regular file.
 *
 * Easy to get wrong: to look at the name and then to open the name are two
 * moments, and whoever owns the directory has the time between them: the
 * recorder, as root, then opens a device, or waits for a writer.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/stat.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "cli-check.h"
#include "image/images.h"
#include "os/procfs.h"

#define TRIES	100000
#define FEW	100	/* of each kind, at least */

static char dir[] = "/tmp/dtprof-swap.XXXXXX";
static char name[64], other[64];
static atomic_bool is_over;

/* What has the name changes as often as can be. */
static void *
swap(void *arg)
{
	(void)arg;
	while (!atomic_load(&is_over))
		CHECK(renameat2(AT_FDCWD, name, AT_FDCWD, other,
		    RENAME_EXCHANGE) == 0, "%s", name);
	return (NULL);
}

static int
by_mapping(void)
{
	const struct prof_record record = { .pr_type = PROF_R_MMAP,
	    .pr_pid = (uint32_t)getpid(), .pr_path = name };

	return (prof_mapped_file_open(&record));
}

static int
by_name(void)
{
	return (prof_image_open(name));
}

static void
race(const char *how, int (*open_it)(void))
{
	unsigned n, opened = 0, refused = 0;
	pthread_t thread;
	struct stat st;
	int fd;

	atomic_store(&is_over, false);
	CHECK(pthread_create(&thread, NULL, swap, NULL) == 0, "no thread");
	for (n = 0; n < TRIES; n++) {
		fd = open_it();
		if (fd == -1) {
			refused++;
			continue;
		}
		CHECK(fstat(fd, &st) == 0 && S_ISREG(st.st_mode),
		    "%s, try %u: mode %o was opened", how, n, st.st_mode);
		close(fd);
		opened++;
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	CHECK(opened >= FEW && refused >= FEW,
	    "%s: %u files and %u others is no race", how, opened, refused);
	OK("%s: %u times a file, %u times none", how, opened, refused);
}

int
main(void)
{
	int fd;

	CHECK(mkdtemp(dir) != NULL, "%s", dir);
	snprintf(name, sizeof(name), "%s/name", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK(fd != -1 && write(fd, "x", 1) == 1, "%s", name);
	close(fd);
	CHECK(mkfifo(other, 0600) == 0, "%s", other);
	race("a mapping's file, or a FIFO", by_mapping);
	race("a file, or a FIFO", by_name);
	CHECK(unlink(other) == 0 && unlink(name) == 0, "%s", dir);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK(fd != -1 && symlink("/dev/null", other) == 0, "%s", other);
	close(fd);
	race("a mapping's file, or a device", by_mapping);
	unlink(other);
	unlink(name);
	rmdir(dir);
	return (0);
}
