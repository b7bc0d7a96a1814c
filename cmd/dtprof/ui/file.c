/* SPDX-License-Identifier: ISC */
/*
 * Pictures and pages as files: in place of the old one at once, or not at
 * all; under sudo they belong to who called it.  Called by the commands that
 * write some; recordings are written by libprof.  And directories for a
 * moment, for what other programs or the library want as files.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helper/helper.h"

static int
write_all(int fd, const char *bytes, size_t length)
{
	ssize_t n;

	for (; length > 0; bytes += n, length -= (size_t)n) {
		n = write(fd, bytes, length);
		if (n == -1 && errno == EINTR)
			n = 0;
		if (n == -1)
			return (-1);
	}
	return (0);
}

/* A number that sudo left in the environment; 0: none. */
unsigned
file_sudo_id(const char *name)
{
	const char *text = getenv(name);
	uint64_t id;

	return (text != NULL && opt_number(text, &id) == 0 &&
	    id < UINT32_MAX ? (unsigned)id : 0);
}

void
file_give(int fd)
{
	const unsigned uid = file_sudo_id("SUDO_UID"),
	    gid = file_sudo_id("SUDO_GID");

	if (geteuid() == 0 && uid != 0 && fchown(fd, uid, gid) == -1)
		return;
}

int
file_stat(const char *path, struct stat *st)
{
	return (helper_is_there() ? helper_stat(path, st) : stat(path, st));
}

/* By its name, if that still is the same file. */
static int
open_same(const char *path, const struct stat *wanted)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY |
	    O_NONBLOCK);
	struct stat st;

	if (fd == -1 || (fstat(fd, &st) == 0 && st.st_dev == wanted->st_dev &&
	    st.st_ino == wanted->st_ino))
		return (fd);
	(void)close(fd);
	errno = ESTALE;
	return (-1);
}

/*
 * The type first: to open a device or a pipe can do something, or wait.  What
 * was looked at is what is opened.
 */
int
file_open_regular(const char *path)
{
	int fd, rv = -1, error_number;
	char same[32];
	struct stat st;

	if (helper_is_there())
		return (helper_open_regular(path));
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd == -1)
		return (-1);
	snprintf(same, sizeof(same), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) == -1)
		error_number = errno;
	else if (!S_ISREG(st.st_mode))
		error_number = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	else {
		rv = open(same, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		/* In another's name /proc is closed to us (owner.c). */
		if (rv == -1 && errno == EACCES)
			rv = open_same(path, &st);
		error_number = errno;
	}
	(void)close(fd);
	errno = error_number;
	return (rv);
}

/* ------------------------------------------------------------ as root */

/*
 * Root follows a link only where nobody else can have made it, such as
 * /dev/stdout: in a directory that belongs to root and that nobody else may
 * write to.
 */
static bool
may_follow(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash == NULL ? strdup(".") :
	    strndup(path, slash == path ? 1 : (size_t)(slash - path));
	struct stat st;
	bool may = geteuid() != 0 || (parent != NULL &&
	    stat(parent, &st) == 0 && st.st_uid == 0 &&
	    (st.st_mode & 022) == 0);

	free(parent);
	return (may);
}

/*
 * Root writes into a file that is there only where it belongs to root or to
 * who called sudo, and has no other name: else it is somebody's trap.
 */
static int
check_existing(int fd)
{
	struct stat st;

	if (geteuid() != 0)
		return (0);
	if (fstat(fd, &st) == -1)
		return (-1);
	if (!S_ISREG(st.st_mode) || (st.st_nlink == 1 && (st.st_uid == 0 ||
	    st.st_uid == file_sudo_id("SUDO_UID"))))
		return (0);
	errno = EPERM;
	return (-1);
}

static int
open_existing(const char *path, int flags)
{
	const int fd = open(path, flags | O_CLOEXEC | O_NOCTTY |
	    (may_follow(path) ? 0 : O_NOFOLLOW));
	int error_number;

	if (fd == -1 || check_existing(fd) == 0)
		return (fd);
	error_number = errno;
	(void)close(fd);
	errno = error_number;
	return (-1);
}

int
file_create(const char *path, int flags, bool *made)
{
	int fd = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (made != NULL)
		*made = fd != -1;
	if (fd != -1)
		file_give(fd);
	else if (errno == EEXIST)
		fd = open_existing(path, flags);
	return (fd);
}

/* --------------------------------------------------------------- modes */

/* What all inputs let others do; whose group it is. */
static mode_t input_mode = 0666;
static gid_t input_group;
static bool has_input;

void
file_narrow(const char *path)
{
	struct stat st;

	if (helper_is_there()) {
		helper_narrow(path);
		return;
	}
	if (stat(path, &st) == -1 || !S_ISREG(st.st_mode))
		return;
	if (has_input && st.st_gid != input_group)
		input_mode &= (mode_t)~060;
	input_group = st.st_gid;
	has_input = true;
	input_mode &= st.st_mode | 0600;
}

/*
 * What other people may read is for the umask to say, and for the files that
 * it was made of.
 */
static mode_t
usual_mode(int fd)
{
	const mode_t mask = umask(077);
	mode_t mode = input_mode & 0666;
	struct stat st;

	(void)umask(mask);
	if (has_input && (fstat(fd, &st) == -1 || st.st_gid != input_group) &&
	    (mode & 06) == 0)
		mode &= (mode_t)~060;
	return (mode & ~mask);
}

#define MAX_TMPDIR	400

int
file_scratch(const char *command, char path[FILE_SCRATCH])
{
	const char *tmp = getenv("TMPDIR");

	if (tmp == NULL || tmp[0] != '/' || strlen(tmp) > MAX_TMPDIR)
		tmp = "/tmp";
	snprintf(path, FILE_SCRATCH, "%s/dtprof.XXXXXX", tmp);
	if (mkdtemp(path) != NULL)
		return (0);
	path[0] = '\0';
	return (msg_fail(command, "set TMPDIR to a writable directory",
	    "%s: %s", tmp, strerror(errno)));
}

/* A pipe, a link, /dev/stdout: nothing to put another in the place of. */
static int
write_through(const char *path, const char *bytes, size_t length)
{
	struct stat st;
	int fd, rv;

	fd = open_existing(path, O_WRONLY);
	if (fd == -1)
		return (-1);
	rv = write_all(fd, bytes, length);
	if (rv == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		rv = ftruncate(fd, (off_t)length);
	(void)close(fd);
	return (rv);
}

/*
 * Beside the file first, then in its place: who looks sees the old one or
 * the new one.
 */
int
file_replace(const char *command, const char *path, const char *bytes,
    size_t length)
{
	char *beside = NULL;
	struct stat st;
	int fd = -1, rv = -1, error_number;

	if (helper_is_there())
		return (helper_replace(command, path, bytes, length));
	/* The link itself: below /dev, what it leads to may be a file. */
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		rv = write_through(path, bytes, length);
		goto out;
	}
	if (asprintf(&beside, "%s.XXXXXX", path) == -1) {
		beside = NULL;
		goto out;
	}
	fd = mkstemp(beside);
	if (fd == -1)
		goto out;
	file_give(fd);
	if (write_all(fd, bytes, length) == 0 &&
	    fchmod(fd, usual_mode(fd)) == 0 && rename(beside, path) == 0) {
		rv = 0;
		goto out;
	}
	error_number = errno;
	(void)unlink(beside);
	errno = error_number;
out:
	if (rv == -1)
		msg_fail(command, "write to another file with -o", "%s: %s",
		    path, errno == ELOOP ? "is a symbolic link" :
		    strerror(errno));
	if (fd != -1)
		(void)close(fd);
	free(beside);
	return (rv);
}

int
file_write(const char *command, const char *path, const char *bytes,
    size_t length)
{
	struct out out;

	if (strcmp(path, "-") != 0)
		return (file_replace(command, path, bytes, length));
	out_init(&out, STDOUT_FILENO);
	out_mem(&out, bytes, length);
	return (out_end(&out, command) == 0 ? 0 : -1);
}

int
file_append(const char *command, const char *path, const char *bytes,
    size_t length)
{
	struct stat st = { 0 };
	bool is_ours;
	int fd, why = 0;

	if (helper_is_there())
		return (helper_append(command, path, bytes, length));
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
	    O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0666);
	is_ours = fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_nlink == 1;
	if (fd == -1 || (is_ours && write_all(fd, bytes, length) == -1))
		why = errno;
	else if (!is_ours)
		why = EINVAL;
	if (fd != -1 && close(fd) == -1 && why == 0)
		why = errno;
	if (why != 0)
		msg_fail(command, "name another file", "%s: %s", path,
		    why == ELOOP ? "is a symbolic link" : strerror(why));
	return (why == 0 ? 0 : -1);
}

static int
put_by(const char *command, const char *path,
    void (*put)(const void *, struct out *), const void *arg,
    int (*to)(const char *, const char *, const char *, size_t))
{
	const int fd = memfd_create("page", MFD_CLOEXEC);
	int rv = -1;
	void *bytes = MAP_FAILED;
	struct stat st;
	struct out out;

	if (fd != -1) {
		out_init(&out, fd);
		put(arg, &out);
		out_flush(&out);
		if (out.ou_errno == 0 && fstat(fd, &st) == 0)
			bytes = mmap(NULL, (size_t)st.st_size, PROT_READ,
			    MAP_PRIVATE, fd, 0);
	}
	if (bytes == MAP_FAILED) {
		msg_fail(command, "free memory", "%s: %s", path,
		    strerror(errno));
	} else {
		rv = to(command, path, bytes, (size_t)st.st_size);
		(void)munmap(bytes, (size_t)st.st_size);
	}
	if (fd != -1)
		(void)close(fd);
	return (rv);
}

int
file_append_by(const char *command, const char *path,
    void (*put)(const void *, struct out *), const void *arg)
{
	return (put_by(command, path, put, arg, file_append));
}

int
file_replace_by(const char *command, const char *path,
    void (*put)(const void *, struct out *), const void *arg)
{
	struct out out;

	if (strcmp(path, "-") != 0)
		return (put_by(command, path, put, arg, file_replace));
	out_init(&out, STDOUT_FILENO);
	put(arg, &out);
	return (out_end(&out, command) == 0 ? 0 : -1);
}

bool
file_find_program(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	size_t length;

	if (strchr(name, '/') != NULL)
		return ((size_t)snprintf(path, size, "%s", name) < size &&
		    access(path, X_OK) == 0);
	for (; dirs != NULL; dirs = dirs[length] == ':' ? dirs + length + 1 :
	    NULL) {
		length = strcspn(dirs, ":");
		if ((size_t)snprintf(path, size, "%.*s/%s", (int)length,
		    length == 0 ? "." : dirs, name) < size &&
		    access(path, X_OK) == 0)
			return (true);
	}
	return (false);
}

const char *
file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}
