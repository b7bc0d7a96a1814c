/* SPDX-License-Identifier: ISC */
/*
 * The interpreters that processes run now, and whether functions of scripts are
 * shown.  Their files are read by a parser, as while recording.
 *
 * Called by doctor.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "broker/tables.h"
#include "doctor_impl.h"
#include "os/procfs.h"

#define MAX_FILES	4096u

/* A file that is mapped as code. */
struct file {
	uint64_t	fl_dev;
	uint64_t	fl_ino;
	uint32_t	fl_pid;		/* the last process that was seen */
	uint32_t	fl_processes;
	struct prof_runtime fl_runtime;
	char		fl_path[96];
};

struct files {
	struct prof_broker *fs_broker;
	struct file	*fs_file;
	size_t		 fs_n;
	size_t		 fs_cap;
};

static struct file *
file_find(struct files *files, const struct prof_record *record)
{
	struct file *file;

	for (size_t n = 0; n < files->fs_n; n++) {
		file = &files->fs_file[n];
		if (file->fl_dev == record->pr_dev &&
		    file->fl_ino == record->pr_ino)
			return (file);
	}
	return (NULL);
}

/* -1: no memory. */
static int
file_add(struct files *files, const struct prof_record *record)
{
	struct file *file = prof_grow(&files->fs_file, &files->fs_n,
	    &files->fs_cap, sizeof(*file));
	struct stat st;
	int fd;

	if (file == NULL)
		return (-1);
	file->fl_dev = record->pr_dev;
	file->fl_ino = record->pr_ino;
	file->fl_pid = record->pr_pid;
	file->fl_processes = 1;
	(void)snprintf(file->fl_path, sizeof(file->fl_path), "%s",
	    record->pr_path);
	fd = prof_mapped_file_open(record);
	/* Not what has its name now; another process may tell of it. */
	if (fd != -1 && fstat(fd, &st) == 0 && st.st_ino == record->pr_ino)
		prof_runtime_ask(files->fs_broker, fd, file->fl_path,
		    &file->fl_runtime);
	else
		files->fs_n--;
	if (fd != -1)
		close(fd);
	return (0);
}

static int
mapping_take(void *arg, const struct prof_record *record)
{
	struct files *files = arg;
	struct file *file;

	if (record->pr_type != PROF_R_MMAP || record->pr_path == NULL ||
	    record->pr_path[0] != '/')
		return (0);
	file = file_find(files, record);
	if (file == NULL)
		return (files->fs_n == MAX_FILES ? 0 :
		    file_add(files, record));
	if (file->fl_pid != record->pr_pid) {
		file->fl_pid = record->pr_pid;
		file->fl_processes++;
	}
	return (0);
}

/* Those that are known, or not, behind a text; how many there are. */
static size_t
runtimes_print(const struct files *files, bool are_known, const char *text,
    FILE *out)
{
	const struct file *file = files->fs_file;
	size_t n, count = 0;

	for (n = 0; n < files->fs_n; n++, file++) {
		if (file->fl_runtime.rt_language == 0 ||
		    (file->fl_runtime.rt_is_known != 0) != are_known)
			continue;
		(void)fprintf(out, "%s%s (%s, %u process%s)",
		    count++ == 0 ? text : ", ", file->fl_runtime.rt_name,
		    file->fl_path, file->fl_processes,
		    file->fl_processes == 1 ? "" : "es");
	}
	return (count);
}

/* The known versions of those that are not. */
static void
versions_print(const struct files *files, FILE *out)
{
	const struct prof_runtime *runtime;
	bool is_said[16] = { false };

	for (size_t n = 0; n < files->fs_n; n++) {
		runtime = &files->fs_file[n].fl_runtime;
		if (runtime->rt_language == 0 || runtime->rt_is_known ||
		    is_said[runtime->rt_language & 15])
			continue;
		is_said[runtime->rt_language & 15] = true;
		(void)fprintf(out, "; known of %s: %s", prof_language_at(
		    runtime->rt_language)->la_name, prof_language_at(
		    runtime->rt_language)->la_versions);
	}
}

static void
files_tell(const struct files *files, struct prof_check *check)
{
	struct prof_err *error = &check->ck_error;
	char *text = NULL;
	size_t size, n;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL) {
		(void)prof_fail_nomem(error);
		return;
	}
	if (runtimes_print(files, true, "functions are shown of ", out) == 0)
		(void)fprintf(out, "no interpreter whose functions are shown "
		    "runs%s", geteuid() == 0 ? "" : " in processes that may "
		    "be read");
	n = runtimes_print(files, false, "; functions are not shown of ", out);
	versions_print(files, out);
	if (fclose(out) != 0)
		(void)prof_fail_nomem(error);
	else if (n > 0) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s", text);
		prof_cure(error, "run such programs with a known version");
	} else {
		check->ck_state = PROF_CHECK_OK;
		(void)snprintf(error->pe_text, sizeof(error->pe_text), "%s",
		    text);
	}
	free(text);
}

void
prof_check_runtimes(struct prof_check *check)
{
	struct files files = { 0 };

	check->ck_state = PROF_CHECK_LESS;
	files.fs_broker = prof_broker_new(&check->ck_error);
	if (files.fs_broker == NULL)
		return;
	if (prof_procfs_snapshot_all(0, mapping_take, &files) == -1)
		(void)prof_fail_nomem(&check->ck_error);
	else
		files_tell(&files, check);
	prof_broker_free(files.fs_broker);
	free(files.fs_file);
}
