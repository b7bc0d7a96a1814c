/*
 * ASSERTION: A snapshot has each thread with its name, and each executable
 * mapping with the file's true name (blanks, line breaks, " (deleted)"), its
 * address, offset and inode, and the build-id of the file that is mapped, not
 * of the one that has taken its name.  A list that is longer than asked for is
 * told from one that is not.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>

#include "elf/build_id.h"
#include "os/procfs.h"
#include "rings.h"

#define THREAD_NAME	"a) S 1 (b"

static char dir[] = "/tmp/dtprof-maps.XXXXXX";

/* What is looked for, and what was found. */
struct find {
	const void	*fi_addr;
	int		 fi_nfound;
	int		 fi_nnamed;
	int		 fi_ntasks;
	struct prof_record fi_record;
	char		 fi_path[512];
};

static int
look(void *arg, const struct prof_record *record)
{
	struct find *find = arg;

	if (record->pr_type == PROF_R_TASK) {
		CHECK(record->pr_pid == (uint32_t)getpid() &&
		    record->pr_ppid == (uint32_t)getppid(), "whose?");
		find->fi_ntasks++;
		find->fi_nnamed += strcmp(record->pr_comm, THREAD_NAME) == 0;
		return (0);
	}
	CHECK(record->pr_type == PROF_R_MMAP && record->pr_time_ns == 7 &&
	    (record->pr_prot & PROT_EXEC) != 0, "an odd record");
	if (record->pr_addr != (uintptr_t)find->fi_addr)
		return (0);
	find->fi_nfound++;
	find->fi_record = *record;
	snprintf(find->fi_path, sizeof(find->fi_path), "%s",
	    record->pr_path);
	return (0);
}

static struct find
find_at(const void *addr)
{
	struct find find;

	memset(&find, 0, sizeof(find));
	find.fi_addr = addr;
	CHECK(prof_procfs_snapshot_pid(getpid(), 7, look, &find) == 0,
	    "snapshot");
	return (find);
}

/* A copy of our own program under a name. */
static int
copy_self(const char *path)
{
	static char bytes[65536];
	int in = open("/proc/self/exe", O_RDONLY);
	int out = open(path, O_CREAT | O_EXCL | O_RDWR, 0700);
	ssize_t n;

	CHECK(in != -1 && out != -1, "%s: %s", path, strerror(errno));
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		CHECK(write(out, bytes, (size_t)n) == n, "%s",
		    strerror(errno));
	close(in);
	return (out);
}

static void
a_file(const char *name)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t id[20], other[20];
	struct find find;
	struct stat st;
	char path[256];
	uint32_t len;
	void *map;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = copy_self(path);
	CHECK(fstat(fd, &st) == 0, "%s", strerror(errno));
	len = prof_build_id_of_file(fd, id);
	map = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
	    (off_t)page);
	if (map == MAP_FAILED)
		skip("/tmp does not allow executable mappings");
	close(fd);
	find = find_at(map);
	CHECK(find.fi_nfound == 1 && strcmp(find.fi_path, path) == 0,
	    "'%s' instead of '%s'", find.fi_path, path);
	CHECK(find.fi_record.pr_len == page && find.fi_record.pr_offset ==
	    page && find.fi_record.pr_ino == st.st_ino, "its place");
	CHECK(find.fi_record.pr_build_id_len == len &&
	    memcmp(find.fi_record.pr_build_id, id, 20) == 0, "its build-id");
	/* Another program takes its name. */
	unlink(path);
	fd = open("/bin/sh", O_RDONLY);
	CHECK(fd != -1 && prof_build_id_of_file(fd, other) != 0, "/bin/sh");
	close(fd);
	snprintf(path, sizeof(path), "cp /bin/sh '%s/%s'", dir, name);
	CHECK(system(path) == 0, "%s", path);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	find = find_at(map);
	CHECK(find.fi_nfound == 1 && strcmp(find.fi_path, path) == 0,
	    "deleted: '%s' instead of '%s'", find.fi_path, path);
	CHECK(find.fi_record.pr_build_id_len == 0 ||
	    memcmp(find.fi_record.pr_build_id, id, 20) == 0,
	    "deleted: the build-id of another file");
	unlink(path);
	munmap(map, page);
}

static void
no_file(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct find find;
	void *map;

	map = mmap(NULL, page, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED, "%s", strerror(errno));
	find = find_at(map);
	CHECK(find.fi_nfound == 1 && strcmp(find.fi_path, "//anon") == 0 &&
	    find.fi_record.pr_build_id_len == 0, "'%s'", find.fi_path);
	munmap(map, page);
}

static void *
named(void *arg)
{
	pthread_barrier_t *barrier = arg;

	pthread_setname_np(pthread_self(), THREAD_NAME);
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return (NULL);
}

/* Joined is who no longer uses its memory; the kernel may still list it. */
static void
await_alone(void)
{
	int looks, n = 0;
	DIR *tasks;

	for (looks = 0; looks < 60000 && n != 3; looks++) {
		usleep(1000);
		tasks = opendir("/proc/self/task");
		CHECK(tasks != NULL, "%s", strerror(errno));
		for (n = 0; readdir(tasks) != NULL; n++)
			continue;	/* . and .., too */
		closedir(tasks);
	}
}

static void
threads(void)
{
	pthread_barrier_t barrier;
	pthread_t thread[5];
	struct find find;
	int n;

	pthread_barrier_init(&barrier, NULL, 6);
	for (n = 0; n < 5; n++)
		CHECK(pthread_create(&thread[n], NULL, named, &barrier) == 0,
		    "thread");
	pthread_barrier_wait(&barrier);
	find = find_at(NULL);
	pthread_barrier_wait(&barrier);
	for (n = 0; n < 5; n++)
		pthread_join(thread[n], NULL);
	CHECK(find.fi_ntasks == 6 && find.fi_nnamed == 5, "%d threads, %d "
	    "with the name", find.fi_ntasks, find.fi_nnamed);
	/* Alone, the name comes from a line in which it ends with ')'. */
	await_alone();
	pthread_setname_np(pthread_self(), THREAD_NAME);
	find = find_at(NULL);
	CHECK(find.fi_ntasks == 1 && find.fi_nnamed == 1, "%d threads when "
	    "alone, %d with the name", find.fi_ntasks, find.fi_nnamed);
}

static int
count(void *arg, const struct prof_record *record)
{
	CHECK(record->pr_type == PROF_R_MMAP, "not a mapping");
	++*(int *)arg;
	return (0);
}

/* Half of the lines are not all. */
static void
limits(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned nlines = 0;
	int c, all = 0, some = 0, none = 0;

	CHECK(maps != NULL, "%s", strerror(errno));
	while ((c = getc(maps)) != EOF)
		nlines += c == '\n';
	fclose(maps);
	/* What is read with may be mapped only now. */
	CHECK(prof_procfs_maps(getpid(), 7, false, nlines + 64, count, &all) ==
	    0 && all > 0, "%d mappings", all);
	CHECK(prof_procfs_maps(getpid(), 7, false, nlines / 2, count,
	    &some) == PROF_MAPS_MORE && some < all, "%d of %d mappings", some,
	    all);
	CHECK(prof_procfs_maps(getpid(), 7, false, 0, count, &none) ==
	    PROF_MAPS_MORE && none == 0, "%d mappings of none", none);
}

static void
lines(void)
{
	static const char *const bad[] = { "", "\n", "zz-1 r-xp 0 0:0 0",
	    "1000-2000", "2000-1000 r-xp 0 0:0 0", "1000-2000 r-x 0 0:0 0",
	    "1000-2000 r-xp 0 0 0", "1000-2000 r-xp 0 0:0",
	    "1000-2000 r-xp 0 0:0 x", "1000 2000 r-xp 0 0:0 0",
	    "fffffffffffffffff-1 r-xp 0 0:0 0" };
	char line[128] = "1000-3000 rwxs 00000400 fd:01 42   /a b\\012c\n";
	struct prof_record record;
	size_t n;

	CHECK(prof_maps_parse(line, &record) && record.pr_addr == 0x1000 &&
	    record.pr_len == 0x2000 && record.pr_prot == 7 &&
	    record.pr_offset == 0x400 && record.pr_ino == 42 &&
	    record.pr_dev == 0xfd00000001 &&
	    strcmp(record.pr_path, "/a b\nc") == 0, "a good line");
	for (n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		snprintf(line, sizeof(line), "%s", bad[n]);
		CHECK(!prof_maps_parse(line, &record), "'%s'", bad[n]);
	}
}

int
main(void)
{
	CHECK(mkdtemp(dir) != NULL, "%s", strerror(errno));
	a_file("plain");
	a_file("with blank");
	a_file("with\nline break");
	a_file("really so (deleted)");
	rmdir(dir);
	no_file();
	threads();
	limits();
	lines();
	printf("ok: names, places and build-ids of mappings; threads\n");
	return (0);
}
