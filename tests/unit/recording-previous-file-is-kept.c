/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: the previous recording becomes NAME.old only when the new one
 * could be opened, comes back when the new one is discarded, and so does the
 * one that was NAME.old before; nothing is written through links, pipes or
 * into directories, a failure leaves no file, and the file is the caller's
 * own, mode 0600.
 */
#include <sys/file.h>

#include <dirent.h>
#include <fcntl.h>

#include "recording-lib.h"

static void
put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool
holds(const char *path, const char *text)
{
	size_t length;
	uint8_t *bytes;
	bool same;

	if (access(path, F_OK) == -1)
		return (false);
	bytes = file_bytes(path, &length);
	same = length == strlen(text) && memcmp(bytes, text, length) == 0;
	free(bytes);
	return (same);
}

static void
refused(const char *path, int code, const char *text)
{
	struct prof_err error = { 0 };

	CHECK(prof_writer_open(path, &error) == NULL);
	if (error.pe_code != code || strstr(error.pe_text, text) == NULL ||
	    strstr(error.pe_text, path) == NULL || error.pe_cure[0] == '\0') {
		printf("%s: got %s: %s\n", path,
		    prof_code_name(error.pe_code), error.pe_text);
		exit(1);
	}
}

/* No descriptor of a writer survives exec. */
static void
check_descriptors(const char *path)
{
	struct dirent *entry;
	char name[300], target[400];
	DIR *dir = opendir("/proc/self/fd");
	ssize_t n;
	int seen = 0;

	CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL) {
		(void)snprintf(name, sizeof(name), "/proc/self/fd/%s",
		    entry->d_name);
		n = readlink(name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		if (strcmp(target, path) != 0)
			continue;
		seen++;
		CHECK(fcntl(atoi(entry->d_name), F_GETFD) & FD_CLOEXEC);
	}
	(void)closedir(dir);
	CHECK(seen == 1);
}

static void
keep_and_discard(const char *path, const char *old)
{
	struct prof_writer *writer;
	struct prof_err error;
	struct stat st;

	put_file(path, "first");
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK(holds(old, "first"));
	CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
	check_descriptors(path);
	prof_writer_discard(writer);
	CHECK(holds(path, "first"));
	CHECK(access(old, F_OK) == -1);

	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	made_events(writer);
	CHECK_OK(prof_writer_close(writer, &error), &error);
	CHECK(holds(old, "first"));
	CHECK(!holds(path, "first"));
	/* Once more: .old is the one before, not the one before that. */
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK_OK(prof_writer_close(writer, &error), &error);
	CHECK(!holds(old, "first"));
	CHECK(unlink(path) == 0 && unlink(old) == 0);

	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	prof_writer_discard(writer);
	CHECK(access(path, F_OK) == -1 && access(old, F_OK) == -1);
}

/* Files in the test's directory. */
static int
nfiles(void)
{
	DIR *dir = opendir(work_dir);
	struct dirent *entry;
	int n = 0;

	CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	(void)closedir(dir);
	return (n);
}

/* Two are there.  The older goes when the third stays, not before. */
static void
older_comes_back(const char *path, const char *old)
{
	struct prof_writer *writer;
	struct prof_err error;
	char target[16];

	put_file(old, "first");
	put_file(path, "second");
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK(holds(old, "second") && nfiles() == 3);
	prof_writer_discard(writer);
	CHECK(holds(path, "second") && holds(old, "first") && nfiles() == 2);

	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	prof_writer_keep(writer);
	CHECK(holds(old, "second") && nfiles() == 2);
	made_events(writer);
	CHECK_OK(prof_writer_close(writer, &error), &error);
	CHECK(holds(old, "second") && nfiles() == 2);

	/* A link is put back as the link that it was. */
	CHECK(unlink(old) == 0 && symlink("nowhere", old) == 0);
	put_file(path, "fourth");
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK(holds(old, "fourth"));
	prof_writer_discard(writer);
	CHECK(holds(path, "fourth"));
	CHECK(readlink(old, target, sizeof(target)) == 7);
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK_OK(prof_writer_close(writer, &error), &error);
	CHECK(holds(old, "fourth") && nfiles() == 2);
	CHECK(unlink(path) == 0 && unlink(old) == 0);
	printf("both previous ones come back\n");
}

/* Nor do they where nothing may be made, or the name is no file's. */
static void
older_stays(const char *path, const char *old)
{
	put_file(old, "first");
	put_file(path, "second");
	if (geteuid() != 0) {
		CHECK(chmod(work_dir, 0500) == 0);
		refused(path, PROF_E_PERMISSION, "not writable");
		CHECK(chmod(work_dir, 0700) == 0);
	}
	CHECK(unlink(path) == 0 && symlink("x.dtp.old", path) == 0);
	refused(path, PROF_E_IO, "symbolic link");
	CHECK(holds(old, "first") && nfiles() == 2);
	CHECK(unlink(path) == 0 && unlink(old) == 0);
}

/* What somebody else put there meanwhile is not removed. */
static void
discard_spares_others(const char *path)
{
	struct prof_writer *writer;
	struct prof_err error;

	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK(unlink(path) == 0);
	put_file(path, "another");
	prof_writer_discard(writer);
	CHECK(holds(path, "another"));
	CHECK(unlink(path) == 0);
}

static void
give_to_caller(const char *path)
{
	struct prof_writer *writer;
	struct prof_err error;
	struct stat st;

	if (geteuid() != 0)
		return;
	CHECK(setenv("SUDO_UID", "12345", 1) == 0);
	CHECK(setenv("SUDO_GID", "23456", 1) == 0);
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK(stat(path, &st) == 0);
	CHECK(st.st_uid == 12345 && st.st_gid == 23456);
	prof_writer_discard(writer);
	CHECK(setenv("SUDO_UID", "12x", 1) == 0);
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK(stat(path, &st) == 0 && st.st_uid == 0);
	prof_writer_discard(writer);
	printf("given to the caller of sudo\n");
}

int
main(void)
{
	char path[420], old[420], other[420];
	struct prof_writer *writer;
	struct prof_err error;

	(void)snprintf(path, sizeof(path), "%s", work_path("x.dtp"));
	(void)snprintf(old, sizeof(old), "%s", work_path("x.dtp.old"));
	keep_and_discard(path, old);
	older_comes_back(path, old);
	older_stays(path, old);
	discard_spares_others(path);
	give_to_caller(path);

	refused("/dev/full", PROF_E_IO, "no space left");
	refused(work_dir, PROF_E_IO, "is a directory");
	refused(work_path("no/such/dir.dtp"), PROF_E_IO, "no such directory");
	CHECK(mkfifo(work_path("pipe"), 0600) == 0);
	refused(work_path("pipe"), PROF_E_IO, "not a regular file");
	(void)snprintf(other, sizeof(other), "%s", work_path("target"));
	put_file(other, "precious");
	CHECK(symlink("target", work_path("link")) == 0);
	refused(work_path("link"), PROF_E_IO, "symbolic link");
	CHECK(holds(other, "precious"));
	/* The name of the old one is taken by a directory. */
	put_file(path, "first");
	CHECK(mkdir(old, 0700) == 0);
	refused(path, PROF_E_IO, "is a directory");
	CHECK(holds(path, "first"));

	writer = prof_writer_open("/dev/null", &error);
	CHECK(writer != NULL);
	made_events(writer);
	CHECK_OK(prof_writer_close(writer, &error), &error);
	CHECK(access("/dev/null.old", F_OK) == -1);
	printf("kept, restored, refused\n");
	return (0);
}
