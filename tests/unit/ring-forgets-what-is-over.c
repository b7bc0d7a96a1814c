/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a ring through which 200,000 processes pass takes no more memory
 * after the last of them than after a quarter; a dump then has each process
 * that lives, what it has mapped, also by a parent that has gone, and the name
 * with which its exec began, once each, and the start of the recording.
 *
 * Easy to get wrong: a daemon has the mappings of the process that made it; a
 * name that is given later is not the one with which the exec began; a pid is
 * used again; each part of a ring begins with the same processes.
 */
#include <malloc.h>

#include "recording-lib.h"

#define PROCESSES	200000u
#define PIDS		30000u
#define RING		(1u << 20)
#define KEEPER		10u
#define PARENT		20u
#define DAEMON		21u

int	main(void);

static uint64_t now_ns = 1000000000;

static void
add(struct prof_writer *writer, struct prof_record record)
{
	now_ns += 100000;
	record.pr_time_ns = now_ns;
	if (record.pr_tid == 0)
		record.pr_tid = record.pr_pid;
	if (record.pr_path == NULL)
		record.pr_path = "";
	if (record.pr_comm == NULL)
		record.pr_comm = "";
	CHECK_OK(prof_writer_add(writer, &record), prof_writer_error(writer));
}

static void
add_mapping(struct prof_writer *writer, uint32_t pid, uint64_t addr,
    const char *path)
{
	add(writer, (struct prof_record){ .pr_type = PROF_R_MMAP,
	    .pr_pid = pid, .pr_addr = addr, .pr_len = 8192, .pr_ino = pid,
	    .pr_path = path });
}

static void
add_exec(struct prof_writer *writer, uint32_t pid, const char *path)
{
	add(writer, (struct prof_record){ .pr_type = PROF_R_COMM,
	    .pr_pid = pid, .pr_comm = path + 1 });
	add_mapping(writer, pid, 0x400000, path);
	add(writer, (struct prof_record){ .pr_type = PROF_R_EXEC,
	    .pr_pid = pid, .pr_path = path, .pr_comm = path + 1 });
}

static void
add_fork(struct prof_writer *writer, uint32_t pid, uint32_t parent)
{
	add(writer, (struct prof_record){ .pr_type = PROF_R_FORK,
	    .pr_pid = pid, .pr_ppid = parent, .pr_ptid = parent });
}

static void
add_exit(struct prof_writer *writer, uint32_t pid)
{
	add(writer, (struct prof_record){ .pr_type = PROF_R_EXIT,
	    .pr_pid = pid, .pr_group_dead = 1 });
}

static void
add_sample(struct prof_writer *writer, uint32_t pid)
{
	const uint64_t user[] = { 0x400000 + (rnd() & 4095), 0x400100 + pid };

	add(writer, (struct prof_record){ .pr_type = PROF_R_SAMPLE,
	    .pr_pid = pid, .pr_weight = rnd() >> 40, .pr_nuser = 2,
	    .pr_ip = user[0], .pr_user = user,
	    .pr_ustatus = PROF_STACK_OK });
}

static void
add_first(struct prof_writer *writer)
{
	const struct prof_event_info event = { .pi_name = "e", .pi_probe = "e",
	    .pi_provider = "test", .pi_unit = "events" };

	CHECK_OK(prof_writer_info(writer, "key", "value"),
	    prof_writer_error(writer));
	CHECK_OK(prof_writer_event(writer, &event),
	    prof_writer_error(writer));
	add(writer, (struct prof_record){ .pr_type = PROF_R_START });
	add_fork(writer, KEEPER, 1);
	add_exec(writer, KEEPER, "/keeper");
	add(writer, (struct prof_record){ .pr_type = PROF_R_COMM,
	    .pr_pid = KEEPER, .pr_comm = "renamed" });
	add_fork(writer, PARENT, 1);
	add_exec(writer, PARENT, "/daemon");
	add_fork(writer, DAEMON, PARENT);
	add_exit(writer, PARENT);
}

/* Bytes that are allocated when the writer's thread has nothing to do. */
static uint64_t
bytes_used(struct prof_writer *writer)
{
	struct prof_dump *dump = prof_dump_new("/dev/null", "x"), *done;
	struct mallinfo2 info;

	CHECK_OK(prof_writer_flush(writer), prof_writer_error(writer));
	CHECK_OK(prof_writer_dump(writer, dump), prof_writer_error(writer));
	while ((done = prof_writer_dumped(writer)) == NULL)
		usleep(1000);
	CHECK(done == dump);
	prof_dump_free(done);
	info = mallinfo2();
	return (info.uordblks + info.hblkhd);
}

/* How many records of a dump are of a kind, of a process, with a text. */
static unsigned
count(struct prof_reader *reader, enum prof_record_type type, uint32_t pid,
    const char *text)
{
	const struct prof_record *record;
	unsigned n = 0;
	int rv;

	CHECK(prof_reader_rewind(reader) == 0);
	while ((rv = prof_reader_borrow(reader, &record)) == 1)
		n += record->pr_type == type && record->pr_pid == pid &&
		    (text == NULL || strcmp(type == PROF_R_COMM ?
		    record->pr_comm : record->pr_path, text) == 0);
	CHECK(rv == 0);
	return (n);
}

static void
check_dump(struct prof_writer *writer)
{
	struct prof_dump *dump = prof_dump_new("ring.dtp", "test"), *done;
	struct prof_reader *reader;
	struct prof_err error;
	uint64_t left;

	CHECK_OK(prof_writer_flush(writer), prof_writer_error(writer));
	CHECK_OK(prof_writer_dump(writer, dump), prof_writer_error(writer));
	while ((done = prof_writer_dumped(writer)) == NULL)
		usleep(1000);
	CHECK_OK(done->du_error.pe_code == PROF_OK ? 0 : -1, &done->du_error);
	left = done->du_samples;
	prof_dump_free(done);
	reader = prof_reader_open("ring.dtp", &error);
	CHECK_OK(reader == NULL ? -1 : 0, &error);
	CHECK(count(reader, PROF_R_START, 0, NULL) == 1);
	CHECK(count(reader, PROF_R_FORK, KEEPER, NULL) == 1);
	CHECK(count(reader, PROF_R_COMM, KEEPER, "keeper") == 1);
	CHECK(count(reader, PROF_R_COMM, KEEPER, "renamed") == 1);
	CHECK(count(reader, PROF_R_EXEC, KEEPER, "/keeper") == 1);
	CHECK(count(reader, PROF_R_MMAP, KEEPER, "/keeper") == 1);
	CHECK(count(reader, PROF_R_FORK, DAEMON, NULL) == 1);
	CHECK(count(reader, PROF_R_MMAP, PARENT, "/daemon") == 1);
	CHECK(count(reader, PROF_R_EXIT, PARENT, NULL) == 1);
	CHECK(strcmp(prof_reader_info(reader, "key"), "value") == 0);
	CHECK(left > 0 && left < PROCESSES);
	printf("ok: a dump of %" PRIu64 " samples has the processes that "
	    "live\n", left);
	prof_reader_close(reader);
	CHECK(unlink("ring.dtp") == 0);
}

int
main(void)
{
	const struct prof_ring_limits limits = { .rl_bytes = RING };
	uint64_t quarter = 0, all;
	struct prof_err error;
	struct prof_writer *writer;
	char path[32];

	writer = prof_writer_open_ring(&limits, &error);
	CHECK_OK(writer == NULL ? -1 : 0, &error);
	add_first(writer);
	for (uint32_t n = 0; n < PROCESSES; n++) {
		const uint32_t pid = 1000 + n % PIDS;

		(void)snprintf(path, sizeof(path), "/job%u", n);
		add_fork(writer, pid, KEEPER);
		add_exec(writer, pid, path);
		add_sample(writer, pid);
		add_exit(writer, pid);
		add_sample(writer, n % 2 == 0 ? KEEPER : DAEMON);
		if (n == PROCESSES / 4)
			quarter = bytes_used(writer);
	}
	all = bytes_used(writer);
	CHECK(all < quarter + quarter / 4 + (1 << 20));
	printf("ok: %u processes, %.1f MB then %.1f MB\n", PROCESSES,
	    (double)quarter / 1e6, (double)all / 1e6);
	check_dump(writer);
	CHECK_OK(prof_writer_close(writer, &error), &error);
	return (0);
}
