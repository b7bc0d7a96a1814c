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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/perf/rings.h"
#include "events/event.h"
#include "os/cpus.h"
#include "os/pmu_kinds.h"

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
	event.ev_has_period = true;
	event.ev_cpu = -1;
	event.ev_attr.type = PERF_TYPE_SOFTWARE;
	event.ev_attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	event.ev_attr.sample_period = period;
	return (event);
}

/*
 * So many page faults in user mode, each on a page of its own, with the pc in
 * a section of its own.  Other faults of a child (of code, or of what it
 * shares with its parent) come and go with the state of the machine.
 */
__attribute__((noinline, section("touching"), no_sanitize("address"),
    no_sanitize("undefined"), unused)) static void
touch(volatile char *memory, size_t npages, size_t page)
{
	for (size_t n = 0; n < npages; n++)
		memory[n * page] = 1;
}

extern const char __start_touching[], __stop_touching[];

static inline bool
is_touching(uint64_t pc)
{
	return (pc >= (uintptr_t)__start_touching &&
	    pc < (uintptr_t)__stop_touching);
}

static inline void
fault_pages(size_t npages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t len = (npages + 1) * page;
	void *memory;

	memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(99);
	/* One page at a time, whatever the machine's huge pages do. */
	(void)madvise(memory, len, MADV_NOHUGEPAGE);
	touch(memory, npages, page);
	munmap(memory, len);
}

/* A child that runs body once told through go. */
struct child {
	int	ch_pid;
	int	ch_go;
};

/* It has run body(0) already when this returns: its code is in memory. */
static inline struct child
child_new(void (*body)(size_t), size_t arg)
{
	int go[2], ready[2];
	struct child child;
	char byte = 0;

	fflush(stdout);
	CHECK(pipe(go) == 0 && pipe(ready) == 0, "%s", strerror(errno));
	child.ch_pid = fork();
	CHECK(child.ch_pid != -1, "%s", strerror(errno));
	if (child.ch_pid == 0) {
		close(go[1]);
		body(0);
		if (write(ready[1], &byte, 1) != 1 ||
		    read(go[0], &byte, 1) != 1)
			_exit(98);
		body(arg);
		_exit(0);
	}
	close(go[0]);
	close(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1, "the child has ended");
	close(ready[0]);
	child.ch_go = go[1];
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
	static const struct prof_pmu_kinds alike = { .ks_n = 0 };
	struct prof_err error;
	int *cpus;

	memset(options, 0, sizeof(*options));
	CHECK(prof_cpus_online(&cpus, &options->ro_ncpus, &error) == 0, "%s",
	    error.pe_text);
	options->ro_cpus = cpus;
	options->ro_kinds = &alike;
}

/* All that has come, as a round of a session does it. */
static inline int
rings_drain(struct prof_rings *rings, uint64_t until_ns, prof_record_fn *fn,
    void *arg)
{
	prof_rings_look(rings, 0);
	return (prof_rings_drain(rings, until_ns, fn, arg));
}

#endif /* TESTS_RINGS_H */
