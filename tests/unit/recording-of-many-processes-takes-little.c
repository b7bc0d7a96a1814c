/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: process events take at most twelve times the size of their file
 * in memory when a recording is read, and 30 times with all that a profile by
 * thread makes of them; each is read as it was written.
 *
 * Easy to get wrong: a fork takes six bytes of the file, and 192 with a member
 * for each field that any record can have; and who knows names, mappings and
 * what changed when keeps each of them once more.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "process/symbols.h"
#include "recording-lib.h"

#define PROCESSES	80000u	/* each with four events */
#define MOST		12
#define MOST_OF_PROFILE	30

int	main(void);

/* Number n of the events, as it was written. */
static struct prof_record
event_of(unsigned n)
{
	static char comm[32], path[64];
	const unsigned process = n / 4;
	struct prof_record record = { .pr_time_ns = 1000 * (uint64_t)n,
	    .pr_pid = 1000 + process, .pr_tid = 1000 + process,
	    .pr_comm = "", .pr_path = "", .pr_cpu = process % 7 };

	(void)snprintf(comm, sizeof(comm), "job%u", process % 50);
	(void)snprintf(path, sizeof(path), "/usr/lib/job%u.so", process % 9);
	switch (n % 4) {
	case 0:
		record.pr_type = PROF_R_FORK;
		record.pr_ppid = record.pr_ptid = 1;
		record.pr_comm = "sh";
		break;
	case 1:
		record.pr_type = PROF_R_EXEC;
		record.pr_comm = comm;
		break;
	case 2:
		record.pr_type = PROF_R_MMAP;
		record.pr_path = path;
		record.pr_addr = 0x7f0000000000 + 4096 * (uint64_t)process;
		record.pr_len = 8192;
		record.pr_ino = process % 9;
		break;
	default:
		record.pr_type = PROF_R_EXIT;
		record.pr_group_dead = 1;
		record.pr_code = -(int)(process % 3);
		break;
	}
	return (record);
}

static void
write_file(const char *path, unsigned processes)
{
	struct prof_event_info info = { .pi_name = "e", .pi_probe = "p",
	    .pi_provider = "p", .pi_unit = "events", .pi_period = 1 };
	struct prof_record record;
	struct prof_writer *writer;
	struct prof_err error;

	CHECK((writer = prof_writer_open(path, &error)) != NULL);
	CHECK(prof_writer_event(writer, &info) == 0);
	for (unsigned n = 0; n < 4 * processes; n++) {
		record = event_of(n);
		CHECK(prof_writer_add(writer, &record) == 0);
	}
	CHECK(prof_writer_close(writer, &error) == 0);
}

static void
check_event(unsigned n, const struct prof_record *found)
{
	const struct prof_record record = event_of(n);

	CHECK(found->pr_type == record.pr_type &&
	    found->pr_time_ns == record.pr_time_ns &&
	    found->pr_pid == record.pr_pid &&
	    found->pr_ppid == record.pr_ppid &&
	    found->pr_code == record.pr_code &&
	    found->pr_addr == record.pr_addr &&
	    found->pr_len == record.pr_len &&
	    strcmp(found->pr_comm, record.pr_comm) == 0 &&
	    strcmp(found->pr_path, record.pr_path) == 0);
}

static void
profile(struct prof_reader *reader)
{
	const struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_roots = PROF_ROOT_COMM | PROF_ROOT_TID };
	struct prof_err error;
	struct prof_symbols *symbols = prof_symbols_open(reader, NULL,
	    &error);
	struct prof_profile *made;

	CHECK(symbols != NULL);
	made = prof_profile_new(reader, symbols, &options, &error);
	CHECK(made != NULL && prof_symbols_limit(symbols, 0) == NULL);
	prof_profile_free(made);
	prof_symbols_close(symbols);
}

/* KiB that a process of its own took at most. */
static long
memory_of(const char *path, unsigned events, bool is_profile)
{
	struct prof_reader *reader;
	struct prof_record record;
	struct prof_err error;
	struct rusage usage;
	unsigned n = 0;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		CHECK((reader = prof_reader_open(path, &error)) != NULL);
		while (prof_reader_record(reader, &record) == 1)
			check_event(n++, &record);
		CHECK(n == events);
		if (is_profile)
			profile(reader);
		prof_reader_close(reader);
		exit(0);
	}
	CHECK(wait4(pid, &status, 0, &usage) == pid && status == 0);
	return (usage.ru_maxrss);
}

int
main(void)
{
	char none[] = "/tmp/recording-none.XXXXXX";
	char many[] = "/tmp/recording-many.XXXXXX";
	struct stat st;
	long kib, all;

	CHECK(mkdtemp(none) != NULL && rmdir(none) == 0);
	CHECK(mkdtemp(many) != NULL && rmdir(many) == 0);
	write_file(none, 0);
	write_file(many, PROCESSES);
	CHECK(stat(many, &st) == 0);
	kib = memory_of(many, 4 * PROCESSES, false) -
	    memory_of(none, 0, false);
	all = memory_of(many, 4 * PROCESSES, true) -
	    memory_of(none, 0, true);
	printf("%u events: %lld kB in the file, %ld kB when read, %ld kB with "
	    "a profile\n", 4 * PROCESSES, (long long)st.st_size / 1024, kib,
	    all);
#if !defined(__SANITIZE_ADDRESS__)	/* which takes room of its own */
	CHECK(kib * 1024 < MOST * st.st_size);
	CHECK(all * 1024 < MOST_OF_PROFILE * st.st_size);
#endif
	CHECK(unlink(none) == 0 && unlink(many) == 0);
	return (0);
}
