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

/* Of texts of at most 511 bytes, to where a part may begin. */
#define MISSING_ROOM	180
#define ROOM		320
#define ADVICE_ROOM	320

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

static bool
is_of(const struct file *file, bool are_known)
{
	return (file->fl_runtime.rt_language != 0 &&
	    (file->fl_runtime.rt_is_known != 0) == are_known);
}

/* Those that are shown, or not, as long as there is room; how many. */
static size_t
runtimes_print(const struct files *files, bool are_known, long room,
    FILE *out)
{
	const struct file *file = files->fs_file;
	size_t n, count = 0, more = 0;

	for (n = 0; n < files->fs_n; n++, file++) {
		if (!is_of(file, are_known))
			continue;
		count++;
		if (ftell(out) > room) {
			more++;
			continue;
		}
		(void)fprintf(out, "%s%s (%s, %u process%s)",
		    count > 1 ? ", " : are_known ?
		    "dtprof shows functions of " :
		    "dtprof does not show functions of ",
		    file->fl_runtime.rt_name,
		    file->fl_path, file->fl_processes,
		    file->fl_processes == 1 ? "" : "es");
	}
	if (more > 0)
		(void)fprintf(out, " and %zu more", more);
	return (count);
}

/* "": none is needed, or none helps. */
static const char *
advice_of(const struct file *file)
{
	return (is_of(file, false) ? prof_runtime_advice(&file->fl_runtime) :
	    "");
}

/* Has one before it the same advice, and, if that is asked, name? */
static bool
is_said(const struct files *files, size_t n, bool by_name)
{
	const struct file *file = &files->fs_file[n], *before = files->fs_file;

	while (before < file && (strcmp(advice_of(before),
	    advice_of(file)) != 0 || (by_name && strcmp(
	    before->fl_runtime.rt_name, file->fl_runtime.rt_name) != 0)))
		before++;
	return (before < file);
}

/* What helps, once each, and whom. */
static void
advice_print(const struct files *files, FILE *out)
{
	for (size_t n = 0; n < files->fs_n; n++) {
		const char *advice = advice_of(&files->fs_file[n]);

		if (advice[0] == '\0' || is_said(files, n, false) ||
		    ftell(out) > ADVICE_ROOM)
			continue;
		for (size_t i = n; i < files->fs_n; i++)
			if (strcmp(advice_of(&files->fs_file[i]), advice) ==
			    0 && !is_said(files, i, true))
				(void)fprintf(out, "%s%s", i > n ? ", " :
				    ftell(out) > 0 ? "; " : "",
				    files->fs_file[i].fl_runtime.rt_name);
		(void)fputs(advice, out);
	}
}

static char *
text_make(void (*print)(const struct files *, FILE *),
    const struct files *files)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return (NULL);
	print(files, out);
	if (fclose(out) != 0) {
		free(text);
		return (NULL);
	}
	return (text);
}

/* What is missing comes first. */
static void
found_print(const struct files *files, FILE *out)
{
	if (runtimes_print(files, false, MISSING_ROOM, out) > 0)
		(void)fprintf(out, "; ");
	if (runtimes_print(files, true, ROOM, out) == 0)
		(void)fprintf(out, "no interpreter is running whose functions "
		    "dtprof can show%s", geteuid() == 0 ? "" :
		    " (searched only processes that dtprof may read)");
}

static void
files_tell(const struct files *files, struct prof_check *check)
{
	struct prof_err *error = &check->ck_error;
	char *found = text_make(found_print, files);
	char *advice = text_make(advice_print, files);

	if (found == NULL || advice == NULL)
		(void)prof_fail_nomem(error);
	else if (advice[0] != '\0') {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s", found);
		prof_cure(error, "%s", advice);
	} else {
		check->ck_state = PROF_CHECK_OK;
		(void)snprintf(error->pe_text, sizeof(error->pe_text), "%s",
		    found);
	}
	free(found);
	free(advice);
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
