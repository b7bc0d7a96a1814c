/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: on a disk of 4 MiB that fills up, under a limit of the size of a
 * file, and where no room can be reserved, the recording still gets its last
 * accounting and END, says why it was cut, reads without damage, and what was
 * read from the streams minus what is in the file is exactly what was lost.
 *
 * Easy to get wrong: the accounting claims what was queued but not written,
 * a half-written chunk in front of END, SIGXFSZ ends the recorder.
 */
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>

#include "recording-lib.h"
#include "recording/format.h"

#define MANY	3000000

/* What is done to whom. */
struct how {
	const char	*ho_why;	/* the reader says it */
	uint32_t	 ho_flush_every;
	rlim_t		 ho_limit;	/* set when the file is open */
	bool		 ho_keeps_all;	/* no chunk is given up for the end */
	bool		 ho_quiet;
};

/* Noise does not compress. */
static uint64_t
fill(const char *path, const struct how *how, uint64_t *given)
{
	struct prof_record sample = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = 1, .pr_nargs = 2 };
	struct prof_accounting rows[MADE_EVENTS];
	struct prof_writer *writer;
	struct prof_err error = { 0 };
	uint64_t i, written;

	writer = prof_writer_open(path, &error);
	if (writer == NULL)
		CHECK_OK(-1, &error);
	if (how->ho_limit != 0) {
		struct rlimit limit = { how->ho_limit, RLIM_INFINITY };

		CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	}
	made_events(writer);
	memset(rows, 0, sizeof(rows));
	for (i = 1; i <= MANY; i++) {
		sample.pr_time_ns = i * 1000;
		sample.pr_cpu = (uint32_t)i & 1;
		sample.pr_args[0] = rnd();
		sample.pr_args[1] = rnd();
		rows[1].pa_read = i;
		if (i % 10000 == 0)
			(void)prof_writer_accounting(writer, -1, rows,
			    MADE_EVENTS);
		if (prof_writer_add(writer, &sample) == -1)
			break;
		if (i % how->ho_flush_every == 0)
			(void)prof_writer_flush(writer);
	}
	CHECK(i < MANY);
	written = prof_writer_written(writer, 1);
	CHECK(written < i);
	/* What was taken from the stream after the failure counts, too. */
	*given = rows[1].pa_read = i + 7;
	CHECK(prof_writer_accounting(writer, -1, rows, MADE_EVENTS) == -1);
	CHECK(prof_writer_close(writer, &error) == -1);
	CHECK(error.pe_code == PROF_E_IO && error.pe_cure[0] != '\0');
	if (!how->ho_quiet)
		printf("%s\n", error.pe_text);
	return (written);
}

/* The last 32 bytes count the same, and point to an INDEX or nowhere. */
static void
check_end(const char *path, uint64_t nsamples)
{
	struct prof_chunk chunk;
	size_t length, at;
	uint8_t *bytes = file_bytes(path, &length), *end;
	uint32_t n = 0;

	end = bytes + length - PROF_END_LEN;
	CHECK(prof_get_le(end + 8, 8) == nsamples);
	at = (size_t)prof_get_le(end + 16, 8);
	CHECK(at == 0 || (at < length && prof_chunk_parse(bytes + at,
	    length - at, &chunk) && chunk.ck_type == PROF_C_INDEX));
	for (at = PROF_FILE_HEADER; at < length; n++) {
		CHECK(prof_chunk_parse(bytes + at, length - at, &chunk));
		CHECK(chunk.ck_sequence == n);
		at += PROF_CHUNK_HEADER + chunk.ck_stored;
	}
	CHECK(prof_get_le(end + 4, 4) == n - 1);
	free(bytes);
}

static void
check_file(const char *path, const struct how *how)
{
	uint64_t given, written = fill(path, how, &given);
	struct prof_accounting row;
	struct prof_reader *reader;
	struct prof_record record;
	struct prof_err error;
	uint64_t n = 0;

	reader = prof_reader_open(path, &error);
	if (reader == NULL)
		CHECK_OK(-1, &error);
	CHECK(prof_reader_cut(reader) != NULL);
	CHECK(strstr(prof_reader_cut(reader), how->ho_why) != NULL);
	CHECK(strstr(prof_reader_cut(reader), "damaged") == NULL);
	while (prof_reader_record(reader, &record) == 1) {
		n++;
		CHECK(record.pr_time_ns == n * 1000);
	}
	CHECK(n == prof_reader_nsamples(reader));
	CHECK(n > 2000);
	check_end(path, n);
	CHECK(how->ho_keeps_all ? n == written : n <= written);
	CHECK(prof_reader_accounting(reader, 1, -1, &row) == 0);
	CHECK(row.pa_written == n && row.pa_read == given);
	if (!how->ho_quiet)
		printf("%s: %" PRIu64 " samples in the file, %" PRIu64
		    " lost\n", prof_reader_cut(reader), n,
		    row.pa_read - row.pa_written);
	prof_reader_close(reader);
}

/* A system call fails as on a file system without it. */
static void
forbid(uint32_t call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static int
in_child(void (*run)(const char *), const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		run(path);
		(void)fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return (status);
}

/* At whatever byte the limit lies, the end finds its place. */
#define LIMIT_FIRST	100000
#define LIMIT_LAST	107000
#define LIMIT_STEP	113

static void
with_limit(const char *path)
{
	struct how how = { "file size limit", 300, 0, true, true };
	struct rlimit limit = { LIMIT_LAST, LIMIT_LAST };

	for (; limit.rlim_cur > LIMIT_FIRST; limit.rlim_cur -= LIMIT_STEP) {
		CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
		check_file(path, &how);
	}
	printf("each limit that is known\n");
}

/* The limit comes as a surprise, and with it SIGXFSZ. */
static void
with_sudden_limit(const char *path)
{
	struct how how = { "file size limit", 300, LIMIT_LAST, false, true };
	struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	for (; how.ho_limit > LIMIT_FIRST; how.ho_limit -= LIMIT_STEP) {
		check_file(path, &how);
		if (setrlimit(RLIMIT_FSIZE, &none) == -1)
			break;	/* once is all that we may */
	}
	printf("each limit that comes suddenly\n");
}

static void
on_disk(const char *path)
{
	static const struct how how = { "disk was full", 20000, 0, true,
	    false };

	check_file(path, &how);
}

static void
without_fallocate(const char *path)
{
	forbid(SYS_fallocate);
	on_disk(path);
}

/* Full to the last byte: the last chunk has to make room. */
static void
without_warning(const char *path)
{
	static const struct how how = { "disk was full", 300, 0, false,
	    false };

	forbid(SYS_fallocate);
	forbid(SYS_fstatfs);
	check_file(path, &how);
}

/* A mount that only this process sees, and that goes with it. */
static int
small_disk(const char *dir)
{
	if (unshare(CLONE_NEWNS) == -1 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1)
		return (-1);
	(void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	return (mount("tmpfs", dir, "tmpfs", 0, "size=4m"));
}

int
main(void)
{
	char path[400];

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(in_child(with_limit, work_path("limit.dtp")) == 0);
	CHECK(in_child(with_sudden_limit, work_path("limit.dtp")) == 0);
	CHECK(mkdir(work_path("disk"), 0700) == 0);
	if (small_disk(work_dir) == -1) {
		printf("SKIP: no mount of its own: %s\n", strerror(errno));
		return (77);
	}
	(void)snprintf(path, sizeof(path), "%s/full.dtp", work_dir);
	CHECK(in_child(on_disk, path) == 0);
	CHECK(unlink(path) == 0);
	CHECK(in_child(without_fallocate, path) == 0);
	CHECK(unlink(path) == 0);
	CHECK(in_child(without_warning, path) == 0);
	CHECK(umount2(work_dir, MNT_DETACH) == 0);
	return (0);
}
