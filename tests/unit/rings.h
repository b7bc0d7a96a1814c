/* SPDX-License-Identifier: ISC */
/*
 * What the tests of the perf rings share: a checked condition, an ordinary
 * user, a page-faults event of period 1, and children that wait until told.
 */
#ifndef TESTS_RINGS_H
#define TESTS_RINGS_H

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prof_impl.h"

#define CHECK(cond, ...) do {						\
	if (!(cond)) {							\
		printf("FAIL: %s:%d: %s: ", __FILE__, __LINE__, #cond);	\
		printf(__VA_ARGS__);					\
		printf("\n");						\
		exit(1);						\
	}								\
} while (0)

static inline void
skip(const char *why)
{
	printf("SKIP: %s\n", why);
	exit(77);
}

/* From root to an ordinary user; already one: stay. */
static inline void
become_ordinary(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) == -1 ||
	    setresgid(65534, 65534, 65534) == -1 ||
	    setresuid(65534, 65534, 65534) == -1))
		skip("cannot become an ordinary user");
	/* Who has changed user is protected, and so are its children. */
	prctl(PR_SET_DUMPABLE, 1);
}

static inline struct prof_event
page_faults(uint64_t period)
{
	struct prof_event event;

	memset(&event, 0, sizeof(event));
	event.ev_name = (char *)(uintptr_t)"page-faults";
	event.ev_id = 1;
	event.ev_kind = PROF_KIND_PERF;
	event.ev_cpu = -1;
	event.ev_attr.type = PERF_TYPE_SOFTWARE;
	event.ev_attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	event.ev_attr.sample_period = period;
	return (event);
}

/*
 * So many page faults in user mode, each on a page of its own.  What else
 * faults here (code, the stack) is the same for any number, 0 included.
 */
static inline void
fault_pages(size_t npages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n;
	size_t len = (npages + 1) * page;
	volatile char *memory;

	memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(99);
	/* One page at a time, whatever the machine's huge pages do. */
	(void)madvise((void *)(uintptr_t)memory, len, MADV_NOHUGEPAGE);
	for (n = 0; n < npages; n++)
		memory[n * page] = 1;
	munmap((void *)(uintptr_t)memory, len);
}

/* A child that runs body once told through go. */
struct child {
	int	ch_pid;
	int	ch_go;
};

static inline struct child
child_new(void (*body)(size_t), size_t arg)
{
	struct child child;
	int ends[2];
	char byte;

	fflush(stdout);
	CHECK(pipe(ends) == 0, "%s", strerror(errno));
	child.ch_pid = fork();
	CHECK(child.ch_pid != -1, "%s", strerror(errno));
	if (child.ch_pid == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(98);
		body(arg);
		_exit(0);
	}
	close(ends[0]);
	child.ch_go = ends[1];
	return (child);
}

static inline void
child_go(const struct child *child)
{
	CHECK(write(child->ch_go, "x", 1) == 1, "%s", strerror(errno));
}

static inline void
child_end(const struct child *child)
{
	int status;

	CHECK(waitpid(child->ch_pid, &status, 0) == child->ch_pid, "%s",
	    strerror(errno));
	CHECK(status == 0, "status %#x", status);
	close(child->ch_go);
}

/* Open rings, or skip where this machine forbids it even to us. */
static inline struct prof_rings *
rings_open(const struct prof_rings_options *options)
{
	static struct prof_err error;
	struct prof_rings *rings = prof_rings_open(options, &error);

	if (rings == NULL && (error.pe_code == PROF_E_PERMISSION ||
	    error.pe_code == PROF_E_SECCOMP)) {
		printf("SKIP: %s; %s\n", error.pe_text, error.pe_cure);
		exit(77);
	}
	CHECK(rings != NULL, "%s", error.pe_text);
	return (rings);
}

static inline void
rings_online(struct prof_rings_options *options)
{
	struct prof_err error;
	int *cpus;

	memset(options, 0, sizeof(*options));
	CHECK(prof_cpus_online(&cpus, &options->ro_ncpus, &error) == 0, "%s",
	    error.pe_text);
	options->ro_cpus = cpus;
}

#endif /* TESTS_RINGS_H */
