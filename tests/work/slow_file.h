/* SPDX-License-Identifier: ISC */
/*
 * A file whose reads and fsyncs take as long as is asked: a file system of one
 * file, served by threads of a process of its own, all named "slow file".
 * Included by seeded_waits.c.
 */
#ifndef SLOW_FILE_H
#define SLOW_FILE_H

#include <linux/fuse.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Where reads are those of read(2), and where those of page faults. */
#define SLOW_READ_AT	0
#define SLOW_FAULT_AT	(16 << 20)
#define SLOW_APART	(1 << 20)
#define SLOW_SIZE	(32 << 20)
#define SLOW_MOST	(128 << 10)	/* that a read may ask for */
#define SLOW_THREADS	3

enum slow_call { SLOW_NONE, SLOW_READ, SLOW_FSYNC, SLOW_FAULT, SLOW_CALLS };

static struct slow_file {
	atomic_long	sf_us[SLOW_CALLS];
} *slow_file;
static int slow_device;

/* The next such call takes so long. */
static void
slow_file_delay(enum slow_call call, long us)
{
	atomic_store(&slow_file->sf_us[call], us);
}

static void
slow_file_nap(enum slow_call call)
{
	const long us = atomic_load(&slow_file->sf_us[call]);
	const struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* What a request is answered; returns its size, or a negative error. */
static int
slow_file_answer(const struct fuse_in_header *in, const void *body,
    char *answer)
{
	const struct fuse_read_in *read_in = body;
	const struct fuse_write_in *write_in = body;

	switch (in->opcode) {
	case FUSE_INIT:
		*(struct fuse_init_out *)(void *)answer =
		    (struct fuse_init_out){ .major = FUSE_KERNEL_VERSION,
		    .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096,
		    .max_background = 16, .congestion_threshold = 12 };
		return (sizeof(struct fuse_init_out));
	case FUSE_GETATTR:
		*(struct fuse_attr_out *)(void *)answer =
		    (struct fuse_attr_out){ .attr_valid = 1000, .attr = {
		    .ino = 1, .size = SLOW_SIZE, .mode = S_IFREG | 0600,
		    .nlink = 1, .blksize = 4096 } };
		return (sizeof(struct fuse_attr_out));
	case FUSE_OPEN:
		return (sizeof(struct fuse_open_out));
	case FUSE_READ:
		slow_file_nap(read_in->offset >= SLOW_FAULT_AT ? SLOW_FAULT :
		    SLOW_READ);
		return (read_in->size <= SLOW_MOST ? (int)read_in->size :
		    -EIO);
	case FUSE_WRITE:
		((struct fuse_write_out *)(void *)answer)->size =
		    write_in->size;
		return (sizeof(struct fuse_write_out));
	case FUSE_FSYNC:
		slow_file_nap(SLOW_FSYNC);
		return (0);
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		return (0);
	default:
		return (-ENOSYS);
	}
}

static void *
slow_file_serve(void *arg)
{
	static _Thread_local char request[65536]
	    __attribute__((aligned(8)));
	static _Thread_local char answer[SLOW_MOST + 4096]
	    __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const void *)request;
	struct fuse_out_header *out = (void *)answer;
	int size;

	prctl(PR_SET_NAME, "slow file");
	while (read(slow_device, request, sizeof(request)) > 0) {
		if (in->opcode == FUSE_FORGET || in->opcode ==
		    FUSE_BATCH_FORGET || in->opcode == FUSE_INTERRUPT)
			continue;
		memset(answer, 0, 4096);
		size = slow_file_answer(in, in + 1, answer + sizeof(*out));
		out->unique = in->unique;
		out->error = size < 0 ? size : 0;
		out->len = (uint32_t)(sizeof(*out) + (size_t)(size < 0 ? 0 :
		    size));
		/* Who asked may have gone. */
		if (write(slow_device, answer, out->len) == -1 &&
		    errno != ENOENT)
			break;
	}
	return (arg);
}

/* The process that serves; it ends with its parent. */
static void
slow_file_process(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int n = 1; n < SLOW_THREADS; n++)
		if (pthread_create(&thread, NULL, slow_file_serve, NULL) != 0)
			_exit(1);
	slow_file_serve(NULL);
	_exit(0);
}

/* Mount it over this file, for this process and its children; -1: errno. */
static int
slow_file_mount(const char *path)
{
	struct stat status;
	char options[128];
	pid_t pid;
	int file;

	slow_file = mmap(NULL, sizeof(*slow_file), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	slow_device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (slow_file == MAP_FAILED || slow_device == -1 ||
	    unshare(CLONE_NEWNS) == -1 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1)
		return (-1);
	snprintf(options, sizeof(options),
	    "fd=%d,rootmode=100600,user_id=0,group_id=0", slow_device);
	if (mount("slow", path, "fuse", MS_NOSUID | MS_NODEV, options) == -1 ||
	    (pid = fork()) == -1)
		return (-1);
	if (pid == 0)
		slow_file_process();
	close(slow_device);
	/* The kernel asks for its size. */
	file = open(path, O_RDWR | O_CLOEXEC);
	return (file == -1 || fstat(file, &status) == -1 ? -1 : file);
}

#endif /* SLOW_FILE_H */
