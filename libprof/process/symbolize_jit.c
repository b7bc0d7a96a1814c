/* SPDX-License-Identifier: ISC */
/*
 * The maps that JITs leave in /tmp/perf-PID.map, as their process sees /tmp.
 *
 * Anybody can write there, so a map is believed only when it is a regular
 * file of the process's own user or of root, not older than the process (a
 * pid comes again), and, of a process that has ended, not changed since.
 * Links are followed within the root of the process alone, and not at all
 * for the file itself.  Opening has no effects: it is looked at first.
 *
 * Also the dumps of a JIT, jit-PID.dump, which it maps so that profilers find
 * them: the mapping says whose they are.  Where a process leaves a map and a
 * dump, the map is used.  A dump is kept open while its process lives, and
 * longer if samples met its code.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/procfs.h"
#include "symbolize_impl.h"

#define MAX_ALIVE	128u		/* descriptors */
#define SLACK_NS	20000000u	/* clocks of files and of processes */

static uint64_t
now_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

static uint64_t
changed_ns(const struct stat *st)
{
	return ((uint64_t)st->st_mtim.tv_sec * 1000000000 +
	    (uint64_t)st->st_mtim.tv_nsec);
}

/* When a process began, by its /proc/PID/stat; 0: not known. */
static uint64_t
born_ns(uint32_t pid)
{
	char path[64], text[1024], *at;
	const long ticks = sysconf(_SC_CLK_TCK);
	uint64_t age_ns, started;
	int field;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (ticks <= 0 || prof_proc_read(path, text, sizeof(text)) <= 0 ||
	    (at = strrchr(text, ')')) == NULL)
		return (0);
	/* Behind the name comes field 3; it is field 22. */
	for (field = 2; field < 22 && at != NULL; field++)
		at = strchr(at + 1, ' ');
	if (at == NULL)
		return (0);
	started = strtoull(at, NULL, 10) * (1000000000 / (uint64_t)ticks);
	age_ns = now_ns(CLOCK_BOOTTIME) - started;
	return (now_ns(CLOCK_REALTIME) - age_ns);
}

/* A number of /proc/PID/status: the n-th behind a key, UINT32_MAX: last. */
static uint32_t
status_number(const char *status, const char *key, uint32_t n,
    uint32_t otherwise)
{
	const char *at = strstr(status, key);
	uint32_t number = otherwise;
	char *end;

	if (at == NULL)
		return (otherwise);
	for (at += strlen(key); *at == '\t' || *at == ' '; at = end) {
		number = (uint32_t)strtoul(at, &end, 10);
		if (end == at || n-- == 0)
			break;
	}
	return (number);
}

/*
 * What a process has as /tmp; -1: it is gone.  The directory itself is kept
 * open, since what is mounted there leaves the root with its namespace.
 */
static int
open_tmp(const char *root_path)
{
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC), tmp;

	if (root == -1)
		return (-1);
	tmp = (int)syscall(SYS_openat2, root, "tmp", &how, sizeof(how));
	close(root);
	return (tmp);
}

/*
 * Whose it is, while it is there.  Of one that has ended already: a map in
 * our own /tmp that is ours or root's may be its.
 */
static void
jit_identify(struct prof_noted *noted, struct noted_jit *jit)
{
	char path[64], status[4096];
	uint64_t born;

	jit->nj_inner_pid = jit->nj_pid;
	jit->nj_uid = (uint32_t)geteuid();
	jit->nj_born_ns = jit->nj_since_ns + noted->nt_realtime_ns;
	snprintf(path, sizeof(path), "/proc/%u/root", jit->nj_pid);
	jit->nj_tmp = open_tmp(path);
	snprintf(path, sizeof(path), "/proc/%u/status", jit->nj_pid);
	if (jit->nj_tmp == -1 ||
	    prof_proc_read(path, status, sizeof(status)) <= 0) {
		if (jit->nj_tmp != -1)
			close(jit->nj_tmp);
		jit->nj_tmp = open_tmp("/");
		return;
	}
	jit->nj_inner_pid = status_number(status, "\nNSpid:", UINT32_MAX,
	    jit->nj_pid);
	jit->nj_uid = status_number(status, "\nUid:", 1, 0);
	born = born_ns(jit->nj_pid);
	if (born != 0)
		jit->nj_born_ns = born;
}

uint32_t
prof_noted_jit(struct prof_noted *noted, uint32_t pid, uint64_t since_ns,
    uint64_t time_ns)
{
	struct noted_jit *jit;
	uint32_t n;

	/* The latest is the likeliest. */
	for (n = noted->nt_njits; n-- > 0; ) {
		jit = &noted->nt_jit[n];
		if (jit->nj_pid == pid && jit->nj_since_ns == since_ns)
			return (n);
	}
	if (noted->nt_njits == 0)
		noted->nt_jit = calloc(NOTED_MAX_JITS, sizeof(*noted->nt_jit));
	if (noted->nt_jit == NULL || noted->nt_njits >= NOTED_MAX_JITS ||
	    noted->nt_nalive >= MAX_ALIVE)
		return (UINT32_MAX);
	jit = &noted->nt_jit[noted->nt_njits];
	jit->nj_pid = pid;
	jit->nj_since_ns = since_ns;
	jit->nj_time_ns = time_ns;
	jit->nj_map = -1;
	jit_identify(noted, jit);
	noted->nt_nalive += jit->nj_tmp != -1;
	return (noted->nt_njits++);
}

/* Opened only when it is what may be believed; -1: it is not. */
static int
open_map(const struct noted_jit *jit)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	char path[64];
	struct stat st;
	int at, fd;

	snprintf(path, sizeof(path), "perf-%u.map", jit->nj_inner_pid);
	at = (int)syscall(SYS_openat2, jit->nj_tmp, path, &how,
	    sizeof(how));
	if (at == -1)
		return (-1);
	if (fstat(at, &st) == -1 || !S_ISREG(st.st_mode) ||
	    (st.st_uid != 0 && st.st_uid != jit->nj_uid) ||
	    changed_ns(&st) + SLACK_NS < jit->nj_born_ns) {
		close(at);
		return (-1);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	close(at);
	return (fd);
}

static bool
is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t length;

	if (name == NULL || strncmp(++name, "jit-", 4) != 0)
		return (false);
	length = strlen(name);
	return (length > 9 && strcmp(name + length - 5, ".dump") == 0);
}

/* The one of this file, if it is there: a mapping may be reported twice. */
static struct noted_dump *
dump_find(struct prof_noted *noted, uint32_t pid, const struct stat *file)
{
	struct stat st;
	uint32_t n;

	for (n = 0; n < noted->nt_ndumps; n++)
		if (noted->nt_dump[n].nd_pid == pid &&
		    fstat(noted->nt_dump[n].nd_fd, &st) == 0 &&
		    st.st_dev == file->st_dev && st.st_ino == file->st_ino)
			return (&noted->nt_dump[n]);
	return (NULL);
}

void
prof_noted_jit_dump(struct prof_noted *noted,
    const struct prof_record *mapping)
{
	struct noted_dump *known = NULL;
	bool is_its = false;
	struct stat st;
	int fd;

	if (!is_dump(mapping->pr_path) ||
	    (fd = prof_mapped_file_open(mapping)) == -1)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (mapping->pr_ino == 0 || mapping->pr_ino == st.st_ino)) {
		known = dump_find(noted, mapping->pr_pid, &st);
		is_its = true;
	}
	if (known != NULL)
		known->nd_last_ns = mapping->pr_time_ns;
	else if (is_its && noted->nt_ndumps < NOTED_MAX_DUMPS) {
		noted->nt_dump[noted->nt_ndumps++] = (struct noted_dump){
		    mapping->pr_pid, fd, mapping->pr_time_ns,
		    mapping->pr_time_ns };
		return;
	} else if (is_its)
		noted->nt_dumps_over++;
	close(fd);
}

/* The last one that a process mapped until then, once more; -1: none. */
static int
dump_of(const struct prof_noted *noted, const struct noted_jit *jit,
    uint64_t until_ns)
{
	const struct noted_dump *dump, *last = NULL;
	uint32_t n;

	for (n = 0; n < noted->nt_ndumps; n++) {
		dump = &noted->nt_dump[n];
		if (dump->nd_pid == jit->nj_pid &&
		    dump->nd_last_ns >= jit->nj_since_ns &&
		    dump->nd_first_ns <= until_ns &&
		    (last == NULL || dump->nd_first_ns >= last->nd_first_ns))
			last = dump;
	}
	return (last == NULL ? -1 : fcntl(last->nd_fd, F_DUPFD_CLOEXEC, 0));
}

static void
dumps_end(struct prof_noted *noted, uint32_t pid, uint64_t time_ns)
{
	struct noted_dump *dump;
	uint32_t n;

	for (n = noted->nt_ndumps; n-- > 0; ) {
		dump = &noted->nt_dump[n];
		if (dump->nd_pid != pid || dump->nd_last_ns > time_ns)
			continue;
		close(dump->nd_fd);
		*dump = noted->nt_dump[--noted->nt_ndumps];
	}
}

void
prof_noted_jit_end(struct prof_noted *noted, uint32_t pid, uint64_t time_ns)
{
	struct noted_jit *jit;
	struct stat st;
	uint32_t n;

	for (n = 0; n < noted->nt_njits; n++) {
		jit = &noted->nt_jit[n];
		if (jit->nj_pid != pid || jit->nj_tmp == -1)
			continue;
		jit->nj_map = open_map(jit);
		if (jit->nj_map == -1)
			jit->nj_map = dump_of(noted, jit, time_ns);
		if (jit->nj_map != -1 && fstat(jit->nj_map, &st) == 0)
			jit->nj_changed_ns = changed_ns(&st);
		close(jit->nj_tmp);
		jit->nj_tmp = -1;
		noted->nt_nalive--;
	}
	dumps_end(noted, pid, time_ns);
}

int
prof_noted_jit_map(const struct prof_noted *noted,
    const struct noted_jit *jit)
{
	struct stat st;
	int fd;

	if (jit->nj_tmp != -1) {
		fd = open_map(jit);
		return (fd != -1 ? fd : dump_of(noted, jit, UINT64_MAX));
	}
	if (jit->nj_map == -1 || fstat(jit->nj_map, &st) == -1 ||
	    changed_ns(&st) != jit->nj_changed_ns)
		return (-1);
	return (fcntl(jit->nj_map, F_DUPFD_CLOEXEC, 0));
}

void
prof_noted_jit_free(struct prof_noted *noted)
{
	uint32_t n;

	for (n = 0; n < noted->nt_njits; n++) {
		if (noted->nt_jit[n].nj_tmp != -1)
			close(noted->nt_jit[n].nj_tmp);
		if (noted->nt_jit[n].nj_map != -1)
			close(noted->nt_jit[n].nj_map);
	}
	free(noted->nt_jit);
	for (n = 0; n < noted->nt_ndumps; n++)
		close(noted->nt_dump[n].nd_fd);
}
