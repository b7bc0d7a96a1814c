/*
 * ASSERTION: A counter that a thread opens counts what this thread does, no
 * more and no less, and reads the same in the thread, in another thread and in
 * a forked child.  An event without a counter of the PMU is read by a system
 * call and says so; a group and an unknown event are refused.
 *
 * Easy to get wrong: the page of the counter is the thread's own, and is not
 * there after fork.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/mman.h>
#include <sys/wait.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "prof.h"

#define PAGES	100

#define CHECK(what) do {						\
	if (!(what)) {							\
		printf("FAIL: line %d: %s\n", __LINE__, #what);		\
		exit(1);						\
	}								\
} while (0)

static struct prof_counter *counter;

static uint64_t
value_of(struct prof_counter *of)
{
	struct prof_counter_value value;

	CHECK(prof_counter_read(of, &value) == 0);
	CHECK(value.cr_is_exact && value.cr_running == 1);
	CHECK(!value.cr_is_direct);
	return (value.cr_count);
}

/* So many page faults, and none of a sanitizer. */
__attribute__((noinline, no_sanitize("address"))) static void
pages_touch(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t n = 0; n < PAGES; n++)
		((volatile char *)memory)[n * page] = 1;
	munmap(memory, PAGES * page);
}

/*
 * What the counter gains while the pages are touched.  Other pages can have
 * faults meanwhile, for example the first write after a fork, so the least of
 * five counts.
 */
static uint64_t
pages_counted(void)
{
	uint64_t before, now, least = UINT64_MAX;

	for (int n = 0; n < 5; n++) {
		before = value_of(counter);
		pages_touch();
		now = value_of(counter) - before;
		if (now < least)
			least = now;
	}
	return (least);
}

static void *
other_thread(void *arg)
{
	(void)arg;
	pages_touch();
	return ((void *)(uintptr_t)value_of(counter));
}

static void
check_refused(const char *spec, int code)
{
	struct prof_err error = { 0 };

	CHECK(prof_counter_open(spec, &error) == NULL);
	CHECK(error.pe_code == code);
}

int
main(void)
{
	struct prof_err error = { 0 };
	uint64_t before, after;
	void *elsewhere;
	pthread_t thread;
	pid_t child;
	int status;

	counter = prof_counter_open("page-faults:u", &error);
	if (counter == NULL) {
		printf("SKIP: %s\n", error.pe_text);
		return (77);
	}
	CHECK(pages_counted() == PAGES);
	after = value_of(counter);
	CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0);
	CHECK(pthread_join(thread, &elsewhere) == 0);
	CHECK((uintptr_t)elsewhere - after < PAGES);
	before = value_of(counter);
	child = fork();
	if (child == 0) {
		pages_touch();
		if (value_of(counter) - before >= PAGES)
			_exit(1);
		prof_counter_close(counter);
		_exit(0);
	}
	CHECK(child != -1 && waitpid(child, &status, 0) == child);
	CHECK(status == 0);
	CHECK(pages_counted() == PAGES);
	prof_counter_close(counter);
	check_refused("{page-faults,task-clock}", PROF_E_USAGE);
	check_refused("no-such-event", PROF_E_EVENT_UNKNOWN);
	printf("ok: %d faults here and none of others\n", PAGES);
	return (0);
}
