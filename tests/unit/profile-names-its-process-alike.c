/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: the process of most samples has the same name whether a profile
 * has rows by name or not: that of its parent after a fork without a name, and
 * never that of an earlier process with the same number.
 *
 * Easy to get wrong: perf's records of forks have no name, and without such
 * rows no table of names is made.
 */
#include "recording-lib.h"

#define SERVER	10u
#define WORKER	20u

static void
add(struct prof_writer *writer, enum prof_record_type type, uint64_t time_ns,
    uint32_t pid, uint32_t parent, const char *comm)
{
	struct prof_record record = { .pr_type = type, .pr_time_ns = time_ns,
	    .pr_pid = pid, .pr_tid = pid, .pr_ppid = parent,
	    .pr_ptid = parent, .pr_comm = comm, .pr_path = "",
	    .pr_weight = 1, .pr_group_dead = type == PROF_R_EXIT };

	CHECK(prof_writer_add(writer, &record) == 0);
}

static void
write_file(const char *path)
{
	struct prof_event_info info = { .pi_name = "e", .pi_probe = "p",
	    .pi_provider = "p", .pi_unit = "events", .pi_period = 1 };
	struct prof_writer *writer;
	struct prof_err error;

	CHECK((writer = prof_writer_open(path, &error)) != NULL);
	CHECK(prof_writer_event(writer, &info) == 0);
	add(writer, PROF_R_TASK, 1, SERVER, 0, "server");
	add(writer, PROF_R_EXEC, 2, WORKER, 0, "earlier");
	add(writer, PROF_R_EXIT, 3, WORKER, 0, "");
	add(writer, PROF_R_FORK, 4, WORKER, SERVER, "");
	/* What its parent is called later is not its name. */
	add(writer, PROF_R_COMM, 5, SERVER, 0, "renamed");
	for (uint64_t n = 0; n < 10; n++)
		add(writer, PROF_R_SAMPLE, 10 + n, WORKER, 0, "");
	CHECK(prof_writer_close(writer, &error) == 0);
}

static void
check_name(const char *path, unsigned roots, const char *name)
{
	const struct prof_profile_options options = { .pl_size =
	    sizeof(options), .pl_roots = roots };
	struct prof_symbols *symbols;
	struct prof_profile *profile;
	struct prof_sampled sampled;
	struct prof_reader *reader;
	struct prof_err error;

	CHECK((reader = prof_reader_open(path, &error)) != NULL);
	CHECK((symbols = prof_symbols_open(reader, NULL, &error)) != NULL);
	profile = prof_profile_new(reader, symbols, &options, &error);
	CHECK(profile != NULL);
	prof_profile_sampled(profile, &sampled);
	printf("roots %u: '%s'\n", roots, sampled.sa_comm);
	CHECK(sampled.sa_processes == 1);
	CHECK(strcmp(sampled.sa_comm, name) == 0);
	prof_profile_free(profile);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

int
main(void)
{
	const char *path = work_path("x.dtp");

	write_file(path);
	check_name(path, PROF_ROOT_COMM, "server");
	check_name(path, 0, "server");
	return (0);
}
