/* SPDX-License-Identifier: ISC */
/*
 * What exists when a recording begins: threads, their names and executable
 * mappings, kernel text and modules, read from /proc and /sys and handed over
 * as the records that the streams would have brought had they been watching.
 *
 * Called by the session after the hooks for new processes are in place and
 * before the first sample; by targets for the children of a process.  A
 * process may vanish at any line: what it left unread is no failure.  What
 * cannot be read for lack of permission is left out here; permission.c says
 * why.  Lists of CPUs are in cpus.c, the kernel in procfs_kernel.c.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/record.h"
#include "confine/reading.h"
#include "elf/build_id.h"
#include "procfs.h"

#define MAPS_BUFFER	65536
#define DELETED		" (deleted)"

/* One walk over processes: where records go, and what it has learnt. */
struct walk {
	prof_record_fn	*wk_fn;
	void		*wk_arg;
	uint64_t	 wk_time_ns;
	bool		 wk_is_bare;	/* without build-ids */
	unsigned	 wk_most;	/* mappings of a process */
	struct prof_build_ids *wk_ids;
	char		*wk_buffer;	/* of stdio, for maps */
	char		*wk_line;	/* of getline */
	size_t		 wk_line_size;
};

/* The members of /proc/PID/stat that matter. */
struct stat_line {
	char		sl_comm[64];
	char		sl_state;
	uint32_t	sl_ppid;
	long		sl_nthreads;
};

static int	walk_init(struct walk *, uint64_t, prof_record_fn *, void *);
static void	walk_fini(struct walk *);
static int	walk_pid(struct walk *, int);
static int	walk_threads(struct walk *, int, const struct stat_line *);
static int	walk_maps(struct walk *, int);
static int	emit_task(struct walk *, int, int, uint32_t, const char *);
static bool	stat_read(int, struct stat_line *);
static char	*field_next(char **);
static bool	hex_parse(char **, char, uint64_t *);
static void	path_unescape(char *);
static void	path_undelete(char *, int, uint64_t);
static void	map_build_id(struct walk *, struct prof_record *);
static int	append_pid(int, int **, size_t *, size_t *);
static int	children_of_task(int, const char *, int **, size_t *,
		    size_t *, bool *);
static int	children_by_scan(int, int **, size_t *, size_t *);

/* Read a small file whole, NUL-ended; its length, or -1. */
ssize_t
prof_proc_read(const char *path, char *out, size_t size)
{
	size_t len = 0;
	ssize_t got;
	int fd;

	fd = prof_reading_kernel(path);
	if (fd == -1)
		return (-1);
	while (len < size - 1) {
		got = read(fd, out + len, size - 1 - len);
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	close(fd);
	out[len] = '\0';
	return ((ssize_t)len);
}

/* A name of digits alone is a pid; else -1. */
int
prof_proc_pid(const char *name)
{
	char *end;
	long pid;

	if (!isdigit((unsigned char)name[0]))
		return (-1);
	errno = 0;
	pid = strtol(name, &end, 10);
	if (*end != '\0' || errno != 0 || pid <= 0 || pid > INT_MAX)
		return (-1);
	return ((int)pid);
}

/* ------------------------------------------------------------ threads */

/*
 * "1234 (any text) S 1 ...": a name may hold blanks and parentheses, so the
 * last one closes it.
 */
static bool
stat_read(int pid, struct stat_line *line)
{
	char path[64], text[1024], *open, *close;
	size_t len;

	/* /proc/PID/stat has sums over all threads, which take long. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, pid);
	if (prof_proc_read(path, text, sizeof(text)) <= 0)
		return (false);
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (open == NULL || close == NULL || close < open)
		return (false);
	len = (size_t)(close - open - 1);
	if (len >= sizeof(line->sl_comm))
		len = sizeof(line->sl_comm) - 1;
	memcpy(line->sl_comm, open + 1, len);
	line->sl_comm[len] = '\0';
	/* After the name: state, ppid, 15 numbers, number of threads. */
	return (sscanf(close + 1, " %c %u %*d %*d %*d %*d %*u %*u %*u %*u "
	    "%*u %*u %*u %*d %*d %*d %*d %ld", &line->sl_state,
	    &line->sl_ppid, &line->sl_nthreads) == 3);
}

/*
 * Also finds a thread by its own id, which the listing hides.  Who has ended
 * stays a zombie until its parent looks; so does a first thread that ends
 * before the others, and then the process goes on.  What is hidden from us
 * is taken to run.
 */
bool
prof_procfs_exists(int id)
{
	struct stat_line line;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", id);
	if (id <= 0 || access(path, F_OK) == -1)
		return (false);
	return (!stat_read(id, &line) || line.sl_nthreads > 1 ||
	    (line.sl_state != 'Z' && line.sl_state != 'X'));
}

static int
emit_task(struct walk *walk, int pid, int tid, uint32_t ppid,
    const char *comm)
{
	struct prof_record record;

	memset(&record, 0, sizeof(record));
	record.pr_type = PROF_R_TASK;
	record.pr_time_ns = walk->wk_time_ns;
	record.pr_pid = (uint32_t)pid;
	record.pr_tid = (uint32_t)tid;
	record.pr_ppid = ppid;
	record.pr_comm = comm;
	return (walk->wk_fn(walk->wk_arg, &record));
}

static int
walk_threads(struct walk *walk, int pid, const struct stat_line *line)
{
	char path[300], comm[64];
	struct dirent *entry;
	int tid, rv = 0;
	DIR *dir;

	if (line->sl_nthreads == 1)
		return (emit_task(walk, pid, pid, line->sl_ppid,
		    line->sl_comm));
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (dir == NULL)
		return (0);
	while (rv == 0 && (entry = readdir(dir)) != NULL) {
		tid = prof_proc_pid(entry->d_name);
		if (tid == -1)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid,
		    tid);
		if (prof_proc_read(path, comm, sizeof(comm)) <= 0)
			continue;
		comm[strcspn(comm, "\n")] = '\0';
		rv = emit_task(walk, pid, tid, line->sl_ppid, comm);
	}
	closedir(dir);
	return (rv);
}

/* ----------------------------------------------------------- mappings */

static bool
hex_parse(char **at, char end, uint64_t *out)
{
	char *stop;

	if (!isxdigit((unsigned char)**at))
		return (false);
	errno = 0;
	*out = strtoull(*at, &stop, 16);
	if (errno != 0 || *stop != end)
		return (false);
	*at = stop + 1;
	return (true);
}

/* The next word, ended by a NUL; NULL: there is none. */
static char *
field_next(char **at)
{
	char *word = *at + strspn(*at, " ");

	if (*word == '\0')
		return (NULL);
	*at = word + strcspn(word, " ");
	if (**at != '\0')
		*(*at)++ = '\0';
	return (word);
}

/* The kernel writes a newline in a name as \012, and nothing else so. */
static void
path_unescape(char *path)
{
	char *in = path, *out = path;

	while (*in != '\0') {
		if (strncmp(in, "\\012", 4) == 0) {
			*out++ = '\n';
			in += 4;
		} else
			*out++ = *in++;
	}
	*out = '\0';
}

/*
 * One line of /proc/PID/maps into a record; the line is changed, and pr_path
 * points into it.  false: not a line of that form.
 *
 *	55d0c000-55d0e000 r-xp 00002000 fe:00 1234     /usr/bin/a b (deleted)
 */
bool
prof_maps_parse(char *line, struct prof_record *record)
{
	uint64_t end, major, minor;
	char *at = line, *perms, *device, *inode, *stop;

	line[strcspn(line, "\n")] = '\0';
	memset(record, 0, sizeof(*record));
	record->pr_type = PROF_R_MMAP;
	if (!hex_parse(&at, '-', &record->pr_addr) ||
	    !hex_parse(&at, ' ', &end) || end < record->pr_addr ||
	    (perms = field_next(&at)) == NULL || strlen(perms) != 4 ||
	    !hex_parse(&at, ' ', &record->pr_offset) ||
	    (device = field_next(&at)) == NULL ||
	    !hex_parse(&device, ':', &major) ||
	    !hex_parse(&device, '\0', &minor) ||
	    (inode = field_next(&at)) == NULL)
		return (false);
	record->pr_len = end - record->pr_addr;
	record->pr_prot = (perms[0] == 'r' ? PROT_READ : 0) |
	    (perms[1] == 'w' ? PROT_WRITE : 0) |
	    (perms[2] == 'x' ? PROT_EXEC : 0);
	record->pr_dev = major << 32 | minor;
	errno = 0;
	record->pr_ino = strtoull(inode, &stop, 10);
	if (*stop != '\0' || errno != 0)
		return (false);
	at += strspn(at, " ");
	path_unescape(at);
	/* The name that the side band gives to memory without one. */
	record->pr_path = *at == '\0' ? "//anon" : at;
	return (true);
}

/*
 * " (deleted)" is the kernel's remark, unless the file is really called so.
 */
static void
path_undelete(char *path, int pid, uint64_t ino)
{
	size_t len = strlen(path), mark = sizeof(DELETED) - 1;
	char full[PATH_MAX + 32];
	struct stat st;

	if (path[0] != '/' || len <= mark ||
	    strcmp(path + len - mark, DELETED) != 0)
		return;
	snprintf(full, sizeof(full), "/proc/%d/root%s", pid, path);
	if (stat(full, &st) == -1 || st.st_ino != ino)
		path[len - mark] = '\0';
}

/*
 * The mapped file itself where we may (also when it was deleted or replaced
 * since), else what now has its name; the caller checks the inode.  Only
 * regular files are opened: opening a device can have effects.
 */
int
prof_mapped_file_open(const struct prof_record *record)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx",
	    record->pr_pid, (unsigned long long)record->pr_addr,
	    (unsigned long long)(record->pr_addr + record->pr_len));
	fd = prof_image_open(path);
	if (fd != -1)
		return (fd);
	snprintf(path, sizeof(path), "/proc/%u/root%s", record->pr_pid,
	    record->pr_path);
	return (prof_image_open(path));
}

void
prof_mapping_build_id(struct prof_build_ids *ids, struct prof_record *record)
{
	int fd;

	if (strcmp(record->pr_path, "[vdso]") == 0)
		record->pr_build_id_len = prof_build_id_of_vdso(
		    record->pr_addr, record->pr_len, record->pr_build_id);
	if (record->pr_path[0] != '/' || record->pr_path[1] == '/')
		return;
	fd = prof_mapped_file_open(record);
	if (fd == -1)
		return;
	record->pr_build_id_len = prof_build_ids_of_file(ids, fd,
	    record->pr_ino, record->pr_build_id);
	close(fd);
}

/*
 * Within one walk a mapping's device and inode are enough: no system call
 * for the libraries that every process has.
 */
static void
map_build_id(struct walk *walk, struct prof_record *record)
{
	const struct prof_file_key key = { .fk_dev = record->pr_dev,
	    .fk_ino = record->pr_ino };

	if (record->pr_ino == 0) {
		prof_mapping_build_id(walk->wk_ids, record);
		return;
	}
	if (prof_build_ids_find(walk->wk_ids, &key, record->pr_build_id,
	    &record->pr_build_id_len))
		return;
	prof_mapping_build_id(walk->wk_ids, record);
	/* None may mean that this process, not the file, was unreadable. */
	if (record->pr_build_id_len != 0)
		prof_build_ids_add(walk->wk_ids, &key, record->pr_build_id,
		    record->pr_build_id_len);
}

static int
walk_maps(struct walk *walk, int pid)
{
	struct prof_record record;
	char path[64];
	unsigned lines = 0;
	FILE *maps;
	int rv = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (maps == NULL)
		return (0);
	setvbuf(maps, walk->wk_buffer, _IOFBF, MAPS_BUFFER);
	while (rv == 0 &&
	    getline(&walk->wk_line, &walk->wk_line_size, maps) > 0) {
		if (++lines > walk->wk_most) {
			rv = PROF_MAPS_MORE;
			break;
		}
		if (!prof_maps_parse(walk->wk_line, &record) ||
		    (record.pr_prot & PROT_EXEC) == 0)
			continue;
		if (record.pr_ino != 0)
			path_undelete((char *)(uintptr_t)record.pr_path, pid,
			    record.pr_ino);
		record.pr_pid = record.pr_tid = (uint32_t)pid;
		record.pr_time_ns = walk->wk_time_ns;
		record.pr_comm = "";
		if (!walk->wk_is_bare)
			map_build_id(walk, &record);
		rv = walk->wk_fn(walk->wk_arg, &record);
	}
	fclose(maps);
	return (rv);
}

/* -------------------------------------------------------------- walks */

static int
walk_init(struct walk *walk, uint64_t time_ns, prof_record_fn *fn, void *arg)
{
	memset(walk, 0, sizeof(*walk));
	walk->wk_fn = fn;
	walk->wk_arg = arg;
	walk->wk_time_ns = time_ns;
	walk->wk_most = UINT_MAX;
	walk->wk_ids = prof_build_ids_new();
	walk->wk_buffer = malloc(MAPS_BUFFER);
	if (walk->wk_ids == NULL || walk->wk_buffer == NULL) {
		walk_fini(walk);
		return (-1);
	}
	return (0);
}

static void
walk_fini(struct walk *walk)
{
	prof_build_ids_free(walk->wk_ids);
	free(walk->wk_buffer);
	free(walk->wk_line);
}

static int
walk_pid(struct walk *walk, int pid)
{
	struct stat_line line;
	int rv;

	if (!stat_read(pid, &line))
		return (0);
	rv = walk_threads(walk, pid, &line);
	return (rv != 0 ? rv : walk_maps(walk, pid));
}

int
prof_procfs_snapshot_pid(int pid, uint64_t time_ns, prof_record_fn *fn,
    void *arg)
{
	struct walk walk;
	int rv;

	if (walk_init(&walk, time_ns, fn, arg) == -1)
		return (-1);
	rv = walk_pid(&walk, pid);
	walk_fini(&walk);
	return (rv);
}

int
prof_procfs_snapshot_tasks(int pid, uint64_t time_ns, prof_record_fn *fn,
    void *arg)
{
	struct stat_line line;
	struct walk walk;
	int rv = 0;

	if (walk_init(&walk, time_ns, fn, arg) == -1)
		return (-1);
	if (stat_read(pid, &line))
		rv = walk_threads(&walk, pid, &line);
	walk_fini(&walk);
	return (rv);
}

int
prof_procfs_maps(int pid, uint64_t time_ns, bool build_ids,
    unsigned most, prof_record_fn *fn, void *arg)
{
	struct walk walk;
	int rv;

	if (walk_init(&walk, time_ns, fn, arg) == -1)
		return (-1);
	walk.wk_is_bare = !build_ids;
	walk.wk_most = most;
	rv = walk_maps(&walk, pid);
	walk_fini(&walk);
	return (rv);
}

int
prof_procfs_snapshot_all(uint64_t time_ns, prof_record_fn *fn, void *arg)
{
	struct dirent *entry;
	struct walk walk;
	int pid, rv = 0;
	DIR *dir;

	if (walk_init(&walk, time_ns, fn, arg) == -1)
		return (-1);
	dir = opendir("/proc");
	while (dir != NULL && rv == 0 && (entry = readdir(dir)) != NULL) {
		pid = prof_proc_pid(entry->d_name);
		if (pid != -1)
			rv = walk_pid(&walk, pid);
	}
	if (dir != NULL)
		closedir(dir);
	walk_fini(&walk);
	return (rv);
}

/* ----------------------------------------------------------- children */

static int
append_pid(int pid, int **pids, size_t *n, size_t *cap)
{
	int *new = prof_grow(pids, n, cap, sizeof(*new));

	if (new == NULL)
		return (-1);
	*new = pid;
	return (0);
}

/* The children that one thread has started; known: the kernel lists them. */
static int
children_of_task(int pid, const char *tid, int **pids, size_t *n,
    size_t *cap, bool *known)
{
	char path[320];
	FILE *file;
	int child, rv = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, tid);
	file = fopen(path, "re");
	if (file == NULL)
		return (0);
	*known = true;
	while (rv == 0 && fscanf(file, "%d", &child) == 1)
		rv = append_pid(child, pids, n, cap);
	fclose(file);
	return (rv);
}

static int
children_by_scan(int pid, int **pids, size_t *n, size_t *cap)
{
	struct stat_line line;
	struct dirent *entry;
	int child, rv = 0;
	DIR *dir;

	dir = opendir("/proc");
	while (dir != NULL && rv == 0 && (entry = readdir(dir)) != NULL) {
		child = prof_proc_pid(entry->d_name);
		if (child != -1 && stat_read(child, &line) &&
		    line.sl_ppid == (uint32_t)pid)
			rv = append_pid(child, pids, n, cap);
	}
	if (dir != NULL)
		closedir(dir);
	return (rv);
}

int
prof_procfs_children(int pid, int **pids, size_t *n, size_t *cap)
{
	struct dirent *entry;
	bool known = false;
	char path[64];
	int rv = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (dir == NULL)
		return (0);
	while (rv == 0 && (entry = readdir(dir)) != NULL)
		if (prof_proc_pid(entry->d_name) != -1)
			rv = children_of_task(pid, entry->d_name, pids, n,
			    cap, &known);
	closedir(dir);
	if (rv == 0 && !known)
		rv = children_by_scan(pid, pids, n, cap);
	return (rv);
}

int
prof_procfs_family(const int *ids, size_t nids, bool descendants,
    int (*visit)(void *, int), void *arg)
{
	size_t n = 0, cap = 0, i;
	int *pids = NULL, rv = 0;

	for (i = 0; rv == 0 && i < nids; i++)
		rv = append_pid(ids[i], &pids, &n, &cap);
	/* The array grows while its members' children are added. */
	for (i = 0; rv == 0 && i < n; i++) {
		rv = visit(arg, pids[i]);
		if (rv == 0 && descendants)
			rv = prof_procfs_children(pids[i], &pids, &n, &cap);
	}
	free(pids);
	return (rv);
}
